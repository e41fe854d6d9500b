//! Finding what compiles kernels, and using it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fit_gpu_kernel::Kernel;

use crate::TaskError;

/// A Rust compiler with the sources of `core`.
pub(crate) struct Compiler {
    cargo: PathBuf,
    rustc: PathBuf,
    /// What it calls itself.
    pub(crate) version: String,
}

/// The flags for a kernel, after which come those that name it.
pub(crate) fn flags(kernel: &Kernel) -> Vec<String> {
    [
        "--emit=asm",
        "-Clinker=true",
        "-Ctarget-cpu=sm_75",
        "-Ctarget-feature=+ptx70",
        &format!("-Cllvm-args=-unroll-threshold={}", kernel.build().unroll_threshold),
    ]
    .map(str::to_owned)
    .to_vec()
}

/// The variable with flags for all crates of the target.
const RUSTFLAGS: &str = "CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS";

/// The target that kernels are compiled for.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

impl Compiler {
    /// The compiler of that version if it is here, so that files stay as they are; else the first of these that
    /// has its sources: rustup's nightly, Debian's `rustc-web`, whatever is on the path.
    pub(crate) fn find(preferred: Option<&str>) -> Result<Self, TaskError> {
        let rustup = |tool: &str| {
            let found =
                text(Command::new("rustup").args(["which", "--toolchain", "nightly", tool]));
            found.map(PathBuf::from)
        };
        let nightly = rustup("cargo").zip(rustup("rustc"));
        let debian = Some((PathBuf::from("/usr/bin/cargo"), PathBuf::from("/usr/bin/rustc")));
        let any = Some((PathBuf::from("cargo"), PathBuf::from("rustc")));
        let mut found: Vec<Self> =
            [nightly, debian, any].into_iter().flatten().filter_map(Self::with_sources).collect();
        let same = |compiler: &Self| Some(compiler.version.as_str()) == preferred;
        let best = found.iter().position(same).unwrap_or(0);
        if found.is_empty() {
            return Err(TaskError::Missing(
                "no Rust compiler with the sources of core is found; install one of\n  \
                 rustup toolchain install nightly --component rust-src\n  \
                 apt-get install rustc-web cargo-web rust-web-src"
                    .to_owned(),
            ));
        }
        Ok(found.swap_remove(best))
    }

    fn with_sources((cargo, rustc): (PathBuf, PathBuf)) -> Option<Self> {
        let sysroot = text(Command::new(&rustc).args(["--print", "sysroot"]))?;
        let sources = Path::new(&sysroot).join("lib/rustlib/src/rust/library/core/src/lib.rs");
        let version = text(Command::new(&rustc).arg("--version"))?;
        sources.is_file().then_some(Self { cargo, rustc, version })
    }

    /// Compiles a kernel, and gives its PTX. `target` is a folder of which nobody else makes use meanwhile.
    pub(crate) fn compile(
        &self,
        root: &Path,
        target: &Path,
        kernel: &Kernel,
    ) -> Result<String, TaskError> {
        let (for_target, for_module): (Vec<_>, Vec<_>) =
            flags(kernel).into_iter().partition(|flag| flag.starts_with("-Ctarget-"));
        let mut command = Command::new(&self.cargo);
        command
            .current_dir(root)
            .env_remove("RUSTUP_TOOLCHAIN")
            .env_remove("RUSTFLAGS")
            // `core` too is compiled for that processor: compilers ask for it since 2026.
            .env(RUSTFLAGS, for_target.join(" "))
            .env("RUSTC", &self.rustc)
            // The target has features that are not stable, for which stable compilers want to be asked.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_PROFILE_RELEASE_LTO", "fat")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .args(["rustc", "--quiet", "--package", "fit-gpu-kernel", "--lib", "--release"])
            .args(["--crate-type", "cdylib", "--target", TARGET, "-Zbuild-std=core"])
            .arg("--target-dir")
            .arg(target)
            .arg("--")
            .args(for_module)
            .args([
                "--cfg",
                &format!("module={:?}", kernel.name),
                "--check-cfg=cfg(module,values(any()))",
            ]);
        run(&format!("compiling {}", kernel.name), &mut command)?;
        let file = target.join(TARGET).join("release/deps/fit_gpu_kernel.s");
        let text = std::fs::read_to_string(&file)
            .map_err(|source| TaskError::File { file: file.display().to_string(), source })?;
        Ok(match kernel.build().most_registers {
            Some(most) => with_few_registers(&text, most),
            None => text,
        })
    }
}

/// Asks for few registers, which Rust has no word for.
fn with_few_registers(ptx: &str, most: usize) -> String {
    ptx.replacen("\n)\n{", &format!("\n)\n.maxnreg {most}\n{{"), 1)
}

/// NVIDIA's assembler.
pub(crate) struct Assembler(PathBuf);

/// What the assembler says of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Registers of a thread.
    pub(crate) registers: u32,
    /// Bytes of a thread that do not fit into registers: stack, and spilled.
    pub(crate) bytes: u32,
}

impl Assembler {
    /// `ptxas` on the path, in the folder of the PyPI package `nvidia-cuda-nvcc`, or where the environment
    /// variable `PTXAS` says.
    pub(crate) fn find() -> Result<Self, TaskError> {
        let named = std::env::var_os("PTXAS").map(PathBuf::from);
        let python = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
        let packages = text(Command::new("python3").args(["-c", python]));
        let packaged = packages.map(|folder| Path::new(&folder).join("nvidia/cu13/bin/ptxas"));
        let candidates = [named, Some(PathBuf::from("ptxas")), packaged];
        let works = |path: &PathBuf| text(Command::new(path).arg("--version")).is_some();
        candidates.into_iter().flatten().find(works).map(Self).ok_or_else(|| {
            TaskError::Missing(
                "ptxas is not found; install it with\n  pip install nvidia-cuda-nvcc\n\
                 or name it in the environment variable PTXAS"
                    .to_owned(),
            )
        })
    }

    /// What it calls itself.
    pub(crate) fn version(&self) -> String {
        let text = text(Command::new(&self.0).arg("--version")).unwrap_or_default();
        text.lines().last().unwrap_or_default().to_owned()
    }

    /// Assembles a module with one kernel for an architecture.
    pub(crate) fn assemble(&self, file: &Path, architecture: &str) -> Result<Usage, TaskError> {
        let mut command = Command::new(&self.0);
        command.args(["-v", "-arch", architecture, "-o", "/dev/null"]).arg(file);
        let what = format!("assembling {} for {architecture}", file.display());
        let output = run(&what, &mut command)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        usage(&text).ok_or(TaskError::Failed { what, output: text })
    }
}

/// Reads the report of `ptxas -v`.
fn usage(text: &str) -> Option<Usage> {
    let number_before = |words: &str| -> Option<u32> {
        let mut numbers = text.match_indices(words).filter_map(|(at, _)| {
            text[..at].trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        });
        let first = numbers.next()?;
        Some(numbers.fold(first, u32::max))
    };
    let registers = number_before(" registers")?;
    let bytes = [" bytes stack frame", " bytes spill stores", " bytes spill loads"];
    let bytes = bytes.into_iter().map(number_before).try_fold(0, |sum, n| Some(sum + n?))?;
    Some(Usage { registers, bytes })
}

/// What a program prints, if it is there and succeeds.
fn text(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

fn run(what: &str, command: &mut Command) -> Result<Output, TaskError> {
    let failed = |output: String| TaskError::Failed { what: what.to_owned(), output };
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the assembler's report is read, spills and all, and that another text is none.
    #[test]
    fn the_report_is_read() {
        let report = "ptxas info    : Compiling entry function 'fit' for 'sm_90'\n\
                      ptxas info    : Function properties for fit\n    \
                      16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n\
                      ptxas info    : Used 254 registers, used 0 barriers\n";
        assert_eq!(usage(report), Some(Usage { registers: 254, bytes: 28 }));
        assert_eq!(usage("ptxas fatal: no such file"), None);
    }
}
