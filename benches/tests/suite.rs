//! The suite that reproduces the papers: its journal, its reports, and what it says of bad input.

#[path = "common/page.rs"]
mod page;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use benches::suite::claims::{CLAIMS, rows, tally};
use benches::suite::figures::ALL;
use benches::suite::glossary::meaning;
use benches::suite::methods::{Backend, Roster, Use};
use benches::suite::record::{About, Cell, Data, Journal, Record, Timing};
use benches::suite::{SuiteError, render, report};
use page::{Page, numbers};

fn about() -> About {
    About {
        version: "1".to_owned(),
        date: "2026-11-20".to_owned(),
        command: "cargo xtask bench".to_owned(),
        processor: "a processor".to_owned(),
        gpus: vec!["none: no driver".to_owned()],
        compiler: "rustc".to_owned(),
        system: "linux".to_owned(),
        tick: 1e-8,
        budget: 1.0,
        seed: 1,
        quick: false,
        missing: Vec::new(),
    }
}

fn cell(case: &str, data: Data) -> Cell {
    let (experiment, method) = ("bus".to_owned(), "f32".to_owned());
    Cell { experiment, method, case: case.to_owned(), data }
}

/// Proves that a run that was stopped, in the midst of writing a line even, is gone on with, that what was missing is
/// tried again, and that a run is never overwritten nor mixed with another.
#[test]
fn a_journal_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = Journal::open(folder.path(), about(), false).expect("a new journal");
    journal.add(cell("share", Data::Value(0.95))).expect("written");
    journal.add(cell("other", Data::Missing("no GPU".to_owned()))).expect("written");
    journal.add(cell("rate", Data::Value(1e8))).expect("written");
    drop(journal);
    let path = folder.path().join("journal.jsonl");
    let text = fs::read_to_string(&path).expect("the journal");
    fs::write(&path, &text[..text.len() - 7]).expect("cut off");

    let again = Journal::open(folder.path(), about(), false);
    assert!(matches!(again, Err(SuiteError::Exists(_))), "it must be asked for");
    for other in [
        About { seed: 2, ..about() },
        About { quick: true, ..about() },
        About { processor: "another".to_owned(), ..about() },
        About { version: "2".to_owned(), ..about() },
    ] {
        let error = Journal::open(folder.path(), other, true);
        assert!(matches!(error, Err(SuiteError::Other(_))), "another run");
    }
    let later = About { date: "2026-11-21".to_owned(), ..about() };
    let mut journal = Journal::open(folder.path(), later, true).expect("the same run");
    assert_eq!(journal.record.cells, [cell("share", Data::Value(0.95))]);
    assert_eq!(journal.record.about.date, "2026-11-20", "the day it began");
    journal.add(cell("rate", Data::Value(2e8))).expect("written");
    drop(journal);
    let journal = Journal::open(folder.path(), about(), true).expect("the same run");
    assert_eq!(journal.record.cells.len(), 2);
}

/// Proves that a file that is no journal, or no record, is named.
#[test]
fn garbage_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for text in ["", "garbage", "{\"version\": 3}", "[1, 2", "\u{0}\u{1}"] {
        fs::write(folder.path().join("journal.jsonl"), text).expect("written");
        let error = Journal::open(folder.path(), about(), true).err().expect("no journal");
        assert!(error.to_string().contains("journal.jsonl"), "{error}");
        fs::write(folder.path().join("record.json"), text).expect("written");
        let error = Record::load(folder.path()).expect_err("no record");
        assert!(error.to_string().contains("record.json"), "{error}");
    }
    let error = Record::load(Path::new("/nowhere/at/all")).expect_err("no record");
    assert!(error.to_string().contains("nowhere"), "{error}");
}

/// Proves that the stored records give all figures with all of their checks, of which two are known not to hold, in
/// files that are whole: no picture with a number that is none, every figure with something to see or named as left out,
/// and all of it in the archive.
#[test]
fn stored_records_give_whole_reports() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
    for machine in ["amd-epyc-zen5-2-cores", "nvidia-h200"] {
        let record = Record::load(&records.join(machine).join("2026-11-20")).expect("a record");
        let out = tempfile::tempdir().expect("a folder");
        let summary = report(&record, &[], out.path()).expect("a report");
        // The paper's comparison of χ² ends in the rounding of single precision where there is little noise.
        let known = ["gpu-published, SNR 500:", "gpu-published, SNR 1000:"];
        let expected = if machine == "nvidia-h200" { &known[..] } else { &[] };
        assert_eq!(summary.failed.len(), expected.len(), "{machine}: {:?}", summary.failed);
        for (failed, expected) in summary.failed.iter().zip(expected) {
            assert!(failed.contains(expected), "{machine}: {failed}");
        }
        assert!(summary.checks > 80, "{machine}: {}", summary.checks);
        let page = fs::read_to_string(&summary.report).expect("the page");
        for entry in ALL {
            let figure = entry.figure(&record);
            let shown = page.contains(&format!("<section id=\"{}\"", entry.id));
            assert_eq!(shown, !figure.is_empty(), "{machine}: {}", entry.id);
            let title = figure.title.replace('&', "&amp;");
            assert!(shown || page.matches(&title).count() == 1, "{machine}: {title} is left out");
            for (name, svg) in &figure.pictures {
                let whole = svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>");
                assert!(whole && !svg.contains("NaN") && !svg.contains("inf"), "{name}");
            }
        }
        assert!(page.contains("<!doctype html>") && page.trim_end().ends_with("</html>"));
        assert!(!page.contains("src=") && !page.contains("@import"), "it needs nothing else");
        assert!(page.contains(&record.about.processor) && page.contains(&record.about.command));
        for (name, reason) in &record.about.missing {
            assert_eq!(page.matches(reason.as_str()).count(), 1, "{name}: {reason}");
        }
        Page(page).check();
        let csv = fs::read_to_string(out.path().join("figures/lw-table1.csv")).expect("a table");
        assert!(csv.lines().any(|line| line.starts_with("# processor:")), "{csv}");

        let packed = fs::File::open(out.path().join("report.tar.gz")).expect("the archive");
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed));
        let mut names = Vec::new();
        for entry in archive.entries().expect("an archive") {
            let mut entry = entry.expect("an entry");
            let name = entry.path().expect("a path").to_path_buf();
            let mut packed = Vec::new();
            entry.read_to_end(&mut packed).expect("its contents");
            let inside = name.strip_prefix("spotfit-report").expect("one folder");
            assert_eq!(fs::read(out.path().join(inside)).expect("the same file"), packed);
            names.push(name);
        }
        assert!(names.contains(&PathBuf::from("spotfit-report/report.html")), "{names:?}");
        assert!(names.len() > 40, "{names:?}");
    }
}

/// Proves that the report of a stored record does not take the place of that of another run.
#[test]
fn a_run_keeps_its_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let (own, other) = (folder.path().join("own"), folder.path().join("other"));
    drop(Journal::open(&own, about(), false).expect("a journal"));
    let record = Record { about: about(), cells: Vec::new() };
    // One figure is enough: where a report may be written does not hang on what is in it.
    let one = ["lw-fig2".to_owned()];
    report(&record, &one, &own).expect("the report of the run");
    let other_report = render(&own.join("record.json"), &one, &other).expect("a new folder");
    assert_eq!(other_report.report, other.join("report.html"));
    render(&own, &one, &own).expect("its own report again");
    let error = render(&other, &one, &own).expect_err("another run's folder");
    assert!(matches!(&error, SuiteError::Exists(_)), "{error}");
}

/// Proves that figures and libraries that are not there are named, and that a library of another kind is refused.
#[test]
fn what_is_not_there_is_named() {
    let record = Record { about: about(), cells: Vec::new() };
    let out = tempfile::tempdir().expect("a folder");
    let error = report(&record, &["fig99".to_owned()], out.path()).expect_err("no such figure");
    assert!(
        error.to_string().contains("fig99") && error.to_string().contains("lw-fig2"),
        "{error}"
    );
    let peer = |path: &str| {
        Roster::new(&[], &[("peer".to_owned(), path.into())]).err().map(|e| e.to_string())
    };
    let error = peer("/nowhere/libGpufit.so").expect("no such library");
    assert!(error.contains("/nowhere/libGpufit.so"), "{error}");
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let error = peer("libc.so.6").expect("not of that kind");
        assert!(error.contains("neither gpufit nor cpufit"), "{error}");
    }
    // A record without measurements gives a report that says so.
    let summary = report(&record, &[], out.path()).expect("a report");
    let page = fs::read_to_string(summary.report).expect("the page");
    assert!(page.contains("Nothing was measured"), "{page}");
    Page(page).check();
    assert_eq!(tally(&rows(&record)), [0, 0, CLAIMS.len()]);
}

/// Proves that everything that a paper says beside a figure is a claim, that every claim belongs to a figure, and that
/// claims agree with a stored record or not as the record's numbers say.
#[test]
fn claims_follow_from_the_record() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
    let record = Record::load(&records.join("nvidia-h200/2026-11-20")).expect("a record");
    for entry in ALL {
        let claimed = CLAIMS.iter().any(|claim| claim.figure == entry.id);
        assert!(claimed || entry.figure(&record).paper.is_empty(), "{}", entry.id);
    }
    assert!(CLAIMS.iter().all(|claim| ALL.iter().any(|entry| entry.id == claim.figure)));
    let verdict = |record: &Record, text: &str| {
        let all = rows(record);
        let row = all.iter().find(|row| row.claim.text.starts_with(text)).expect("a claim");
        row.agrees()
    };
    assert_eq!(tally(&rows(&record)), [20, 7, 2]);
    let (centre, copies) = ("Mean error of the centre (400:40)", "Copies hardly matter");
    assert_eq!(verdict(&record, centre), Some(true));
    assert_eq!(verdict(&record, copies), Some(false));

    let mut other = record.clone();
    for cell in &mut other.cells {
        match &mut cell.data {
            Data::Errors(errors) if cell.experiment == "table1" => errors.centre[1] *= 1.02,
            Data::Value(seconds) if cell.case.starts_with("copy") => *seconds *= 0.05,
            _ => {}
        }
    }
    assert_eq!(verdict(&other, centre), Some(false));
    assert_eq!(verdict(&other, copies), Some(true));
    other.cells.retain(|cell| cell.method != "gpu");
    assert_eq!(verdict(&other, copies), None);
}

/// Proves that the report explains every method that the stored records name.
#[test]
fn every_method_is_explained() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
    let record = Record::load(&records.join("nvidia-h200/2026-11-20")).expect("a record");
    for cell in record.cells.iter().filter(|cell| cell.experiment != "bus") {
        assert!(meaning(&cell.method).is_some(), "{}", cell.method);
    }
}

/// Proves that whole commands are shown beside others and beside reading and writing alone, by the window or frame, and that a table with too few rows
/// fails its check.
#[test]
fn whole_commands_are_compared() {
    let (fit, movies) = ("fit, f32 to NPY", ["localize, NPY to CSV", "localize, TIFF to CSV"]);
    let add = |method: &str, case: &str, fits: usize, median: f64, each: f64| {
        let (experiment, side) = ("end-to-end".to_owned(), 9);
        let time = Timing { side, fits, runs: 5, calls: 1, median, low: median, high: median };
        let of = |case: String, data: Data| Cell {
            experiment: experiment.clone(),
            method: method.to_owned(),
            case,
            data,
        };
        [of(case.to_owned(), Data::Time(time)), of(format!("{case}: found"), Data::Value(each))]
    };
    let mut cells = add("spotfit", fit, 1_000_000, 0.5, 1.0).to_vec();
    cells.extend(add("picasso", fit, 100_000, 1.0, 1.0));
    cells.extend(add("read and write alone", fit, 1_000_000, 0.25, 0.0));
    cells.extend(movies.iter().flat_map(|case| add("spotfit", case, 2000, 1.0, 14.0)));
    let mut record = Record { about: about(), cells };
    let entry = ALL.iter().find(|entry| entry.id == "end-to-end").expect("the figure");
    let figure = entry.figure(&record);
    let row = |method: &str| {
        let rows = figure.table.1.iter().find(|row| row[0] == fit && row[1] == method);
        rows.expect("a row")[2..5].join(" ")
    };
    assert_eq!(row("spotfit"), "2,000,000 0.5 2");
    assert_eq!(row("picasso"), "100,000 1 40");
    assert_eq!(figure.pictures.len(), 2);
    assert_eq!(figure.checks.iter().map(|(_, holds)| *holds).collect::<Vec<_>>(), [true, true]);
    for (case, value) in [(fit, 0.999), (movies[1], 13.9)] {
        let was = record.clone();
        let cell = record.cells.iter_mut().find(|cell| cell.case == format!("{case}: found"));
        cell.expect("a cell").data = Data::Value(value);
        let holds = entry.figure(&record).checks.iter().filter(|(_, holds)| *holds).count();
        assert_eq!(holds, 1, "{case}");
        record = was;
    }
}

/// Proves that the test of cells can tell one number from two.
#[test]
fn numbers_are_counted() {
    for (text, count) in [
        ("", 0),
        ("gpu-published", 0),
        ("reference f32", 0),
        ("cpu, background ≥ 0", 1),
        ("4.65·10⁶", 1),
        ("100,000", 1),
        ("-0.05 σ", 1),
        ("1.2 / 3.4", 2),
        ("0.0464 0.0550 0.0418", 3),
        ("16 (13–20)", 3),
        ("9×9", 2),
    ] {
        assert_eq!(numbers(text), count, "{text}");
    }
}

/// Proves that where there is no GPU its backends are missing with the reason, and the others are there.
#[test]
fn backends_are_there_or_missing_with_the_reason() {
    let roster = Roster::new(&Backend::ALL, &[]).expect("the backends");
    let timed = || roster.methods.iter().filter(|method| method.is(Use::Timed));
    let there = |name: &str| timed().any(|method| method.name == name);
    assert!(there("reference") && there("cpu") && there("cpu, one core") && there("explicit"));
    for name in ["gpu", "gpu-published"] {
        let missing = roster.missing.iter().find(|(other, _)| other == name);
        assert_ne!(there(name), missing.is_some(), "{name}");
        assert!(missing.is_none_or(|(_, reason)| !reason.is_empty()), "{name}");
    }
}
