//! Says which instruction sets of x86-64 are compiled. Each is a third of this crate's code, and a debug build needs one beside
//! the portable one: AVX-512 where the machine that builds it has that, else AVX2. With `SPOTFIT_TESTS=all`, as in CI, it has all, as a release does.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(lanes_avx512, lanes_avx2)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SPOTFIT_TESTS");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_ARCH") != "x86_64" {
        return;
    }
    let every = variable("PROFILE") != "debug"
        || variable("HOST") != variable("TARGET")
        || variable("SPOTFIT_TESTS") == "all";
    let avx512 = has_avx512();
    if every || avx512 {
        println!("cargo::rustc-cfg=lanes_avx512");
    }
    if every || !avx512 {
        println!("cargo::rustc-cfg=lanes_avx2");
    }
}

/// Whether this machine has it.
fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}
