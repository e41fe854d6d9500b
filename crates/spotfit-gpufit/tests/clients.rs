//! Programs that use the library as they use Gpufit: from C, C++ and Python.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the library is, which is built with the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let name = if cfg!(target_os = "macos") { "libGpufit.dylib" } else { "libGpufit.so" };
    let library = test.parent().expect("it is in a folder").join(name);
    assert!(library.exists(), "{} is built with the tests", library.display());
    library
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs a command; what it prints.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = text(&output.stdout);
    assert!(output.status.success(), "{command:?}: {told}{}", text(&output.stderr));
    told
}

/// Whether a program is there; a test without it says so.
fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        assert!(std::env::var_os("CI").is_none(), "CI needs {program}");
        eprintln!("skipped: there is no {program}");
    }
    there
}

/// Compiles and runs a client beside the library, in an installation as `pkg-config` has it.
fn compiled(compiler: &str, client: &str, flags: &[&str]) {
    if !is_there(compiler) {
        return;
    }
    let prefix = tempfile::tempdir().expect("a folder");
    let at = |path: &str| prefix.path().join(path);
    for folder in ["lib/pkgconfig", "include"] {
        std::fs::create_dir_all(at(folder)).expect("a folder");
    }
    let library = library();
    let name = library.file_name().expect("it has a name");
    std::fs::copy(&library, at("lib").join(name)).expect("the library");
    for header in ["gpufit.h", "cpufit.h"] {
        std::fs::copy(folder("include").join(header), at("include").join(header))
            .expect("a header");
    }
    let package = std::fs::read_to_string(folder("pkgconfig/gpufit.pc")).expect("it is there");
    let prefix_path = prefix.path().to_str().expect("plain text");
    // What pkg-config makes of it.
    let value = |key: &str| -> Vec<String> {
        let line = package.lines().find_map(|line| line.strip_prefix(key)).expect("it says so");
        let line = line
            .replace("${libdir}", "${prefix}/lib")
            .replace("${includedir}", "${prefix}/include");
        line.replace("${prefix}", prefix_path).split_whitespace().map(str::to_owned).collect()
    };
    let program = at("program");
    let mut command = Command::new(compiler);
    command.args(flags).arg(folder("clients").join(client)).arg("-o").arg(&program);
    command.args(value("Cflags:")).args(value("Libs:")).arg("-lm");
    command.arg(format!("-Wl,-rpath,{}", at("lib").display()));
    run(&mut command);
    print!("{}", run(&mut Command::new(&program)));
}

/// Proves that a program in C compiles without a warning, links by the flags of `gpufit.pc`, and fits.
#[test]
fn c() {
    compiled("cc", "spots.c", &["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
}

/// Proves the same of C++, through Cpufit's names and through arrays of pointers.
#[test]
fn cpp() {
    compiled("c++", "lines.cpp", &["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
}

/// Proves that Python's ctypes loads the library and fits with it.
#[test]
fn python() {
    if is_there("python3") {
        print!("{}", run(Command::new("python3").arg(folder("clients/spots.py")).arg(library())));
    }
}

/// Proves that the library exports what the headers declare, and that this is all that Gpufit 1.2 and Cpufit export.
#[test]
fn symbols() {
    let headers = ["gpufit.h", "cpufit.h"].map(|header| {
        std::fs::read_to_string(folder("include").join(header)).expect("it is there")
    });
    let mut declared: Vec<String> = headers
        .iter()
        .flat_map(|header| header.lines())
        .filter(|line| line.starts_with("int ") || line.starts_with("char const *"))
        .map(|line| line.trim_start_matches("int ").trim_start_matches("char const *"))
        .map(|line| line.split('(').next().expect("a name").to_owned())
        .collect();
    declared.sort();
    let mut wanted: Vec<&str> = vec![
        "gpufit",
        "gpufit_constrained",
        "gpufit_cuda_interface",
        "gpufit_constrained_cuda_interface",
        "gpufit_get_last_error",
        "gpufit_cuda_available",
        "gpufit_get_cuda_version",
        "gpufit_portable_interface",
        "gpufit_constrained_portable_interface",
        "cpufit",
        "cpufit_constrained",
        "cpufit_portable_interface",
        "cpufit_constrained_portable_interface",
        "cpufit_get_last_error",
        "spotfit_get_last_error",
    ];
    wanted.sort_unstable();
    assert_eq!(declared, wanted);
    // SAFETY: loading it runs nothing but what the standard library needs.
    let loaded = unsafe { libloading::Library::new(library()) }.expect("it loads");
    for name in wanted {
        // SAFETY: the symbol is not called.
        let symbol = unsafe { loaded.get::<unsafe extern "C" fn()>(name.as_bytes()) };
        assert!(symbol.is_ok(), "{name} is not exported");
    }
}
