//! What a broken library of the NVIDIA driver does to the command.
#![cfg(target_os = "linux")]

use crate::common;

use std::fs;
use std::process::{Command, Output};

use common::{Folder, npy};

/// A library of these functions, under the names by which the driver is looked for. None without a C compiler.
fn library(functions: &str) -> Option<Folder> {
    let folder = Folder::new();
    let source = folder.file("driver.c", functions.as_bytes());
    let to = folder.path("libcuda.so.1");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&to).arg(&source).output();
    match compiled {
        Ok(output) if output.status.success() => {
            fs::copy(&to, folder.path("libcuda.so")).expect("a second name");
            Some(folder)
        }
        other => {
            println!("SKIPPED: no C compiler makes a library here: {other:?}");
            None
        }
    }
}

fn spotfit(library: &Folder, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .args(arguments)
        .env("LD_LIBRARY_PATH", library.0.path())
        .output()
        .expect("the command runs")
}

/// Proves that a driver whose library lacks a function is a reason, not a panic: the answer of `devices`, an error of
/// `--backend gpu`, and nothing to a fit on the CPU.
#[test]
fn a_driver_without_its_functions_is_named() {
    let most = "int cuCtxGetCurrent(void **c) { *c = 0; return 0; }\n\
                int cuCtxSetCurrent(void *c) { return 0; }\n\
                int cuCtxSynchronize(void) { return 0; }\n\
                int cuInit(unsigned f) { return 0; }\n\
                int cuDriverGetVersion(int *v) { *v = 12000; return 0; }\n";
    for (functions, missing) in [("", "cuCtxGetCurrent"), (most, "cuDeviceGet")] {
        let Some(folder) = library(functions) else { return };
        let reason = format!(
            "the NVIDIA driver cannot be used: its library libcuda.so.1 has no function {missing}"
        );
        let output = spotfit(&folder, &["devices"]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains(&format!("gpu: none ({reason})\n")), "{said}");

        let pixels: Vec<u8> = (0..75).map(|i| (i * i % 97) as u8).collect();
        let spots = folder.file("spots.npy", &npy("'|u1'", "False", "(3, 5, 5)", &pixels));
        let spots = spots.to_str().expect("a plain name");
        let output = spotfit(&folder, &["fit", spots, "-o", "-", "--backend", "gpu"]);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, format!("spotfit: the GPU cannot be used: {reason}\n"));
        assert!(spotfit(&folder, &["fit", spots, "-o", "-"]).status.success());
    }
}
