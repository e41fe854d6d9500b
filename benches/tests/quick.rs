//! The suite as `cargo xtask bench --quick` runs it.

use std::fs;
use std::process::Command;

/// Proves that both papers are reproduced in short: every check of accuracy holds, and there is a report.
#[test]
fn the_papers_in_short() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("bench");
    let suite = Command::new(env!("CARGO_BIN_EXE_suite"))
        .args(["--quick", "--out"])
        .arg(&out)
        .output()
        .expect("the suite runs");
    let said = String::from_utf8_lossy(&suite.stdout) + String::from_utf8_lossy(&suite.stderr);
    assert!(suite.status.success(), "{said}");
    assert!(said.contains("checks of accuracy hold"), "{said}");
    assert!(fs::read_to_string(out.join("report.html")).expect("a report").contains("<svg"));
}
