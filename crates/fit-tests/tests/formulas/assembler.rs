//! NVIDIA's assembler, which says whether kernels are what it takes.

use std::path::PathBuf;
use std::process::Command;

/// The assembler that the environment variable `PTXAS` names, with a folder of its own.
pub(super) struct Assembler {
    program: std::ffi::OsString,
    folder: PathBuf,
}

impl Assembler {
    pub(super) fn new(name: &str) -> Self {
        let program = std::env::var_os("PTXAS").expect("the environment variable PTXAS names one");
        let folder = std::env::temp_dir().join(format!("spotfit-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self { program, folder }
    }

    /// What it says of a text, which it must take.
    pub(super) fn report(&self, text: &str, architecture: &str, what: &str) -> String {
        assert!(!text.contains("//@"), "{what}: a mark is left");
        let file = self.folder.join("kernel.ptx");
        std::fs::write(&file, text).expect("a file");
        let mut command = Command::new(&self.program);
        command.args(["-v", "-arch", architecture, "-o"]).arg(self.folder.join("cubin")).arg(&file);
        let output = command.output().expect("the assembler runs");
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{what}, {architecture}: {report}");
        report
    }
}

impl Drop for Assembler {
    fn drop(&mut self) {
        // What is left of it harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
