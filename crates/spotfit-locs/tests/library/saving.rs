//! Tables in files, with what lies beside them.

use std::path::Path;
use std::process::Command;

use spotfit_files::output::{Output, record};
use spotfit_locs::table::{
    Column, Info, Kind, SaveOptions, Table, TableError, TableOutput, Unit, sidecar,
};

/// A table in nanometres, of pixels of this size.
fn table(pixel_size: f64) -> Table {
    let mut table = Table::new(Info::default().with_movie(Some(pixel_size), [64, 64], 10));
    table.set(Column::new("frame", Unit::None, Kind::Whole, vec![0.0, 1.0]));
    for name in ["x", "y"] {
        let values = vec![10.0 * pixel_size, 20.0 * pixel_size];
        table.set(Column::new(name, Unit::Nanometre, Kind::Double, values));
    }
    table
}

/// Proves that a table which replaces another takes the record of the old one away, also where the old one is reached through a
/// link, and leaves a file of somebody else in the place of a record.
#[test]
fn the_record_of_a_replaced_table_goes_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cells.csv");
    let beside = record::path(&path);
    let own = format!("{{ \"format\": \"{}\", \"origin\": \"corner\" }}", record::FORMAT);
    table(100.0).save(&path).expect("saved");
    std::fs::write(&beside, &own).expect("a record");
    table(200.0).save(&path).expect("saved");
    assert!(!beside.exists());
    for other in ["{}", "not mine", "{ \"format\": \"of somebody else\" }"] {
        std::fs::write(&beside, other).expect("a file");
        table(200.0).save(&path).expect("saved");
        assert_eq!(std::fs::read_to_string(&beside).expect("a file"), other);
    }
    #[cfg(unix)]
    {
        let link = folder.path().join("latest.csv");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        for record in [beside, record::path(&link)] {
            std::fs::write(&record, &own).expect("a record");
            table(200.0).save(&link).expect("saved");
            assert!(!record.exists() && link.is_symlink());
        }
    }
}

/// Proves that a table which is written through a link leaves no YAML file of the old one beside it, with pixels of another size.
#[cfg(unix)]
#[test]
fn links_lead_to_tables_with_their_own_pixels() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, link) = (folder.path().join("run.hdf5"), folder.path().join("latest.hdf5"));
    table(100.0).save(&path).expect("saved");
    std::os::unix::fs::symlink("run.hdf5", &link).expect("a link");
    table(200.0).save(&link).expect("saved");
    for name in [&path, &link] {
        let found = Table::load(name).expect("a table");
        assert_eq!(found.info.pixel_size, Some(200.0), "{}", name.display());
    }
    std::fs::write(sidecar(&path), "Frames: 10\n").expect("a file");
    let refused = table(100.0).save(&link).expect_err("a stranger");
    assert!(matches!(refused, TableError::Stranger { .. }), "{refused}");
    assert_eq!(std::fs::read_to_string(sidecar(&path)).expect("a file"), "Frames: 10\n");
}

/// Proves that a table does not take the YAML file of another, whose pixels would have the wrong size from then on.
#[test]
fn tables_do_not_share_yaml() {
    let folder = tempfile::tempdir().expect("a folder");
    let [long, short] = ["cells.hdf5", "cells.h5"].map(|name| folder.path().join(name));
    table(100.0).save(&long).expect("saved");
    let refused = table(200.0).save(&short).expect_err("it is that of another");
    let said = refused.to_string();
    assert!(said.contains("cells.yaml") && said.contains("cells.hdf5"), "{said}");
    assert!(!short.exists());
    table(150.0).save(&long).expect("its own");
    assert_eq!(Table::load(&long).expect("a table").info.pixel_size, Some(150.0));
    let anyway = SaveOptions::default().with_overwrite(true);
    table(200.0).save_with(&short, anyway).expect("as it was said");
}

/// The names under which a run of this test is told to die: the file, and before which step.
const PATH: &str = "SPOTFIT_TEST_PATH";
const STEP: &str = "SPOTFIT_TEST_STEP";

/// The process that dies; it does nothing in an ordinary run of the tests.
#[test]
fn dies_while_it_saves() {
    let (Some(path), Ok(step)) = (std::env::var_os(PATH), std::env::var(STEP)) else { return };
    let last: usize = step.parse().expect("a number");
    let mut output =
        TableOutput::create(Path::new(&path), SaveOptions::default()).expect("an output");
    output.write(&table(200.0)).expect("written");
    let (outputs, _) = output.finish().expect("ended");
    let mut steps = 0;
    let done = Output::finish_all(outputs, &mut |_| {
        if steps == last {
            std::process::abort();
        }
        steps += 1;
        true
    });
    done.expect("complete");
}

/// Proves that a process that is killed before any of the steps in which a table and its YAML file appear leaves a table
/// with its own size of a pixel: the old one or the new one, and never the rows of one with the pixels of the other.
#[test]
fn a_kill_at_any_step_leaves_right_units() {
    let own = std::env::current_exe().expect("a name");
    let mut seen = Vec::new();
    for step in 0.. {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cells.hdf5");
        table(100.0).save(&path).expect("saved");
        let mut child = Command::new(&own);
        child.args(["saving::dies_while_it_saves", "--exact"]);
        let output = child.env(PATH, &path).env(STEP, step.to_string()).output();
        let output = output.expect("a process");
        let found = Table::load(&path).expect("a table");
        let size = found.info.pixel_size.expect("a size");
        let x = found.lengths("x", Unit::Pixel).expect("x").to_vec();
        assert_eq!(x, [10.0, 20.0], "{step}");
        seen.push(size);
        if output.status.success() {
            assert_eq!(size, 200.0);
            break;
        }
        assert!(step < 20, "it never ends: {output:?}");
    }
    // Before the first, the old table; the YAML file put aside; the new table; and complete.
    assert_eq!(seen, [100.0, 100.0, 200.0, 200.0, 200.0]);
}

/// Proves that the file beside a table never says fewer frames than its rows have, whatever it said before, and that it keeps more.
#[test]
fn movies_are_as_long_as_their_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("locs.hdf5");
    for (said, last, frames) in [(1000, 1999.0, 2000), (1000, 10.0, 1000)] {
        let mut long = table(100.0);
        long.info = Info::default().with_movie(Some(100.0), [64, 64], said);
        long.save(&path).expect("saved");
        let mut long = Table::load(&path).expect("a table");
        assert_eq!(long.info.frames, Some(said));
        long.set(Column::new("frame", Unit::None, Kind::Whole, vec![0.0, last]));
        long.save(&path).expect("saved again");
        let text = std::fs::read_to_string(sidecar(&path)).expect("a file beside it");
        assert!(text.contains(&format!("Frames: {frames}\n")), "{text}");
        assert_eq!(Table::load(&path).expect("a table").info.frames, Some(frames));
    }
}
