//! Says whether the real images are here, and whether the long tests are wanted, so that tests are ignored visibly.

use std::path::PathBuf;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(long_tests)");
    println!("cargo::rerun-if-env-changed=SPOTFIT_TESTS");
    if std::env::var("SPOTFIT_TESTS").is_ok_and(|tests| tests == "all") {
        println!("cargo::rustc-cfg=long_tests");
    }
    println!("cargo::rustc-check-cfg=cfg(real_images)");
    println!("cargo::rerun-if-env-changed=SPOTFIT_DATA");
    println!("cargo::rerun-if-changed=build.rs");
    let folder = std::env::var_os("SPOTFIT_DATA")
        .map_or_else(|| "../../../shared/data".into(), PathBuf::from);
    if folder.is_dir() {
        println!("cargo::rustc-cfg=real_images");
        // A folder that goes is noticed; one that comes is when the variable names it.
        println!("cargo::rerun-if-changed={}", folder.display());
    }
}
