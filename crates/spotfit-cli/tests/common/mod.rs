//! What the tests of the command share.
#![allow(dead_code, missing_docs, unreachable_pub, unused_imports)] // each test file uses a part of it

#[path = "../../../spotfit/tests/common/mod.rs"]
mod library;

use std::process::{Command, Output};

pub use library::*;

pub fn spotfit(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spotfit"))
        .args(arguments.iter().map(AsRef::as_ref))
        .output()
        .expect("the command runs")
}

#[track_caller]
pub fn succeeds(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let output = spotfit(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The command fails, without a panic, and says all of the given things.
#[track_caller]
pub fn fails(arguments: &[&dyn AsRef<std::ffi::OsStr>], says: &[&str]) {
    let output = spotfit(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it should fail: {said}");
    assert_ne!(output.status.code(), Some(101), "a panic: {said}");
    for part in says {
        assert!(said.contains(part), "'{part}' is missing in: {said}");
    }
}

pub fn rows(csv: &[u8]) -> Vec<Vec<String>> {
    let text = String::from_utf8(csv.to_vec()).expect("text");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}
