//! What the tests of the command share.
#![allow(dead_code, missing_docs, unreachable_pub, unused_imports)] // each test file uses a part of it

#[path = "../../../spotfit/tests/common/mod.rs"]
mod library;

use std::path::Path;
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

/// Localizations beside the molecules that they are of.
pub struct Compared {
    pub count: usize,
    /// Errors of x, y and z, and what is stated of them: rms in nanometres.
    pub errors: [f64; 3],
    pub stated: [f64; 3],
}

impl Compared {
    /// Errors over those stated.
    pub fn ratios(&self) -> [f64; 3] {
        std::array::from_fn(|j| self.errors[j] / self.stated[j])
    }
}

/// Compares a table in nanometres, of pixels of 100 nm, with the truth of a simulated movie: localizations whose z was found and
/// that have one molecule of more than `least` photons within 100 nm in their frame, at a height within ±`reach` nm.
pub fn compared(locs: &Path, truth: &Path, least: f64, reach: f64) -> Compared {
    let read = |path: &Path| rows(&std::fs::read(path).expect("a table"));
    let (table, truth) = (read(locs), read(truth));
    let place = |table: &[Vec<String>], name: &str| {
        let found = table[0].iter().position(|own| own.trim_matches('"') == name);
        found.unwrap_or_else(|| panic!("no {name} in {:?}", table[0]))
    };
    let has_both = table[0].iter().any(|own| own.trim_matches('"') == "uncertainty_x [nm]");
    let both = ["uncertainty_x [nm]", "uncertainty_y [nm]"];
    let [error_x, error_y] = both.map(|own| if has_both { own } else { "uncertainty_xy [nm]" });
    let own = ["frame", "x [nm]", "y [nm]", "z [nm]", error_x, error_y, "uncertainty_z [nm]"];
    let own = own.map(|name| place(&table, name));
    let status = place(&table, "z_status");
    let theirs = ["frame", "x", "y", "z", "signal"].map(|name| place(&truth, name));
    let number = |text: &String| text.parse::<f64>().expect("a number");
    let molecules: Vec<[f64; 5]> =
        truth[1..].iter().map(|spot| theirs.map(|at| number(&spot[at]))).collect();
    let (mut sums, mut count) = ([[0.0; 3]; 2], 0);
    for row in table[1..].iter().filter(|row| row[status] == "found") {
        let [frame, x, y, z, stated @ ..] = own.map(|at| number(&row[at]));
        let near = |spot: &&[f64; 5]| {
            let apart = (100.0 * spot[1] - x).hypot(100.0 * spot[2] - y);
            spot[0] + 1.0 == frame && apart < 100.0 && spot[4] > least
        };
        let near: Vec<_> = molecules.iter().filter(near).collect();
        let [&[_, x0, y0, z0, _]] = near[..] else { continue };
        if z0.abs() < reach {
            let errors = [x - 100.0 * x0, y - 100.0 * y0, z - z0];
            for j in 0..3 {
                sums[0][j] += errors[j] * errors[j];
                sums[1][j] += stated[j] * stated[j];
            }
            count += 1;
        }
    }
    let [errors, stated] = sums.map(|sums| sums.map(|sum| (sum / f64::from(count)).sqrt()));
    println!("{count} heights: errors {errors:.1?} nm rms, stated {stated:.1?} nm");
    Compared { count: count as usize, errors, stated }
}
