//! The suite as `cargo xtask bench --quick` runs it.

#[path = "common/page.rs"]
mod page;

use std::fs;
use std::process::Command;

use benches::suite::glossary::meaning;
use benches::suite::record::Record;
use page::Page;

/// Proves that both papers are reproduced in short: every check of accuracy holds, and there is a report that names
/// everything that is missing once.
#[test]
#[cfg_attr(not(long_tests), ignore = "long: SPOTFIT_TESTS=all runs it")]
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
    let page = Page(fs::read_to_string(out.join("report.html")).expect("a report"));
    assert!(page.0.contains("<svg"));
    page.check();
    let record = Record::load(&out).expect("a record");
    for cell in record.cells.iter().filter(|cell| cell.experiment != "bus") {
        assert!(meaning(&cell.method).is_some(), "{} is not explained", cell.method);
    }
    for (name, reason) in &record.about.missing {
        assert_eq!(page.0.matches(reason.as_str()).count(), 1, "{name}: {reason}");
        assert_eq!(said.matches(reason.as_str()).count(), 1, "{name}: {said}");
    }
}
