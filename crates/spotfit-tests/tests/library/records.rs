//! Records of how tables were made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use spotfit::record::{InputFile, Origin, Record, State};

fn record() -> Record {
    let mut record = Record::new("localize", Path::new("out/cells.hdf5"));
    record.options.insert("box".to_owned(), json!(7));
    record.origin = Some(Origin::Corner);
    record.pixel_size = Some(100.0);
    record
}

/// Proves that a record is read as it was written, in every state, and that any other file is refused and not ours.
#[test]
fn records_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("cells.hdf5");
    let path = Record::path(&table);
    assert_eq!(path, folder.path().join("cells.hdf5.spotfit.json"));
    assert_eq!(Record::read(&path).expect("nothing"), None);
    fs::write(&table, "a table").expect("a file");
    let mut own = record();
    own.inputs.push(InputFile::new("table", &table).expect("a file"));
    let counts = BTreeMap::from([("frames".to_owned(), 3)]);
    for state in [State::Begun, State::Done { counts }, State::Failed { error: "x".to_owned() }] {
        own.state = state;
        fs::write(&path, own.text()).expect("a file");
        assert_eq!(Record::read(&path).expect("a record").as_ref(), Some(&own));
        assert_eq!(Record::beside(&table).as_ref(), Some(&own));
    }
    // Of a table that has none, and no record.
    assert_eq!(Record::beside(&folder.path().join("others.hdf5")), None);
    for other in ["", "{}", "[1]", "not mine", &own.text().replace("record 1", "record 9")] {
        fs::write(&path, other).expect("a file");
        assert!(!Record::is_ours(&path) && Record::read(&path).is_err(), "{other}");
        assert_eq!(Record::beside(&table), None);
    }
    fs::remove_file(&path).expect("a file");
    fs::create_dir(&path).expect("a folder");
    assert!(Record::read(&path).is_err());
}

/// Proves that differences of options, outputs and files are told, and that neither versions nor hashes matter.
#[test]
fn differences_are_told() {
    let then = record();
    let mut now = record();
    now.spotfit = "9.9".to_owned();
    now.options.insert("roi".to_owned(), Value::Null);
    assert_eq!(then.unlike(&now), None);
    now.options.insert("box".to_owned(), json!(9));
    let told = then.unlike(&now).expect("unlike");
    assert_eq!(told, "made with other options (`box` 7 then, 9 now)");
    now = record();
    now.output = "cells.csv".to_owned();
    assert_eq!(then.unlike(&now).expect("unlike"), "made as cells.hdf5 then, cells.csv now");
    let folder = tempfile::tempdir().expect("a folder");
    let movie = folder.path().join("a.tif");
    fs::write(&movie, "frames").expect("a file");
    let (mut then, mut now) = (record(), record());
    then.inputs.push(InputFile::new("movie", &movie).expect("a file"));
    now.inputs.push(InputFile::stamp("movie", &movie).expect("a file"));
    assert_eq!(then.unlike(&now), None);
    now.inputs[0].bytes += 1;
    assert_eq!(then.unlike(&now).expect("unlike"), "made before a.tif was changed");
}

/// Proves that a table which is about to be replaced by one with another origin has none that anybody could go by.
#[test]
fn a_kill_leaves_no_wrong_origin() {
    let own = record();
    assert_eq!(own.begun(None, false).origin, Some(Origin::Corner));
    // A table without a record has the usual origin.
    assert_eq!(own.begun(None, true).origin, None);
    assert_eq!(own.begun(Some(&own), true).origin, Some(Origin::Corner));
    let unknown = own.begun(None, true);
    assert_eq!(own.begun(Some(&unknown), true).origin, None);
}
