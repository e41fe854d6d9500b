//! Tells the suite which compiler made it, for its records, and the tests whether the long ones are wanted.

use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(long_tests)");
    println!("cargo::rerun-if-env-changed=SPOTFIT_TESTS");
    if std::env::var("SPOTFIT_TESTS").is_ok_and(|tests| tests == "all") {
        println!("cargo::rustc-cfg=long_tests");
    }
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).arg("--version").output();
    let version = output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    println!("cargo:rustc-env=SPOTFIT_COMPILER={version}");
}
