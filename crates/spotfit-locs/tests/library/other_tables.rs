//! Tables that h5py, PyTables and zipfile wrote: `tests/scripts/make_other_tables.py` makes them and says what they hold.

use std::io::Cursor;
use std::path::PathBuf;

use spotfit_files::hdf5::NumberKind;
use spotfit_locs::table::{Kind, Table, TableError, TableReader, Unit};

const ROWS: usize = 40;

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data", name].iter().collect()
}

fn read(name: &str) -> (Table, Vec<String>) {
    let mut reader = TableReader::open(path(name)).expect("a table");
    let table = reader.read_all(1000).expect("sound");
    (table, reader.notes().to_vec())
}

/// Compares a column with a function of the row.
fn check(table: &Table, name: &str, unit: Unit, expected: impl Fn(f64) -> f64) {
    let column = table.column(name).unwrap_or_else(|| panic!("there is {name}"));
    assert_eq!(column.unit, unit, "{name}");
    for (row, found) in column.values.iter().enumerate() {
        let expected = expected(row as f64);
        assert!(
            (found - expected).abs() <= 1e-6 * expected.abs(),
            "{name}, row {row}: {found}, not {expected}"
        );
    }
}

/// Checks frames and positions in nanometres.
fn check_nanometres(table: &Table) {
    assert_eq!(table.rows(), ROWS);
    check(table, "frame", Unit::None, |row| (row / 4.0).floor());
    check(table, "x", Unit::Nanometre, |row| 1000.0 + 12.5 * row);
    check(table, "y", Unit::Nanometre, |row| 2000.0 + 25.0 * row);
}

/// Proves that every program's columns are found with their units and places, and that what is left out is said.
#[test]
fn tables_of_every_program_are_read() {
    // Pixels of DECODE that are no squares make nanometres of all lengths.
    let (decode, notes) = read("decode.h5");
    assert_eq!((decode.rows(), decode.info.pixel_size), (ROWS, None));
    check(&decode, "frame", Unit::None, |row| (row / 4.0).floor());
    check(&decode, "x", Unit::Nanometre, |row| 120.0 * (10.0 + row / 8.0));
    check(&decode, "y", Unit::Nanometre, |row| 110.0 * (20.0 + row / 4.0));
    check(&decode, "z", Unit::Nanometre, |row| 5.0 * row);
    check(&decode, "uncertainty_x", Unit::Nanometre, |_| 15.0);
    check(&decode, "uncertainty_z", Unit::Nanometre, |_| 0.125);
    check(&decode, "photons", Unit::Photon, |row| 500.0 + row);
    check(&decode, "emitter", Unit::None, |_| -1.0);
    assert!(decode.column("id").is_none() && decode.column("x_cr").is_none());
    assert!(notes[1].contains("120 nm by 110 nm"), "{notes:?}");
    // One localization is no column of three rows.
    let (one, _) = read("decode_nm.h5");
    check(&one, "x", Unit::Nanometre, |_| 1200.0);
    check(&one, "y", Unit::Nanometre, |_| 2200.0);
    let (none, _) = read("decode_empty.h5");
    assert_eq!((none.rows(), none.column("x").is_some()), (0, true));

    let (smap, notes) = read("smap_sml.mat");
    check_nanometres(&smap);
    check(&smap, "z", Unit::Nanometre, |row| 5.0 * row);
    check(&smap, "background", Unit::Photon, |row| 2.0 + row / 16.0);
    check(&smap, "uncertainty", Unit::Nanometre, |_| 12.5);
    assert_eq!((smap.info.pixel_size, smap.info.width), (Some(100.0), Some(64)));
    assert!(notes[1].contains("left out, as no column: comment"), "{notes:?}");

    let (storm, _) = read("storm_analysis.hdf5");
    check(&storm, "frame", Unit::None, |row| (row / 4.0).floor());
    check(&storm, "x", Unit::Pixel, |row| 10.0 + row / 8.0);
    check(&storm, "y", Unit::Pixel, |row| 20.0 + row / 4.0);
    check(&storm, "z", Unit::Nanometre, |row| 5.0 * row);
    check(&storm, "photons", Unit::Photon, |row| 500.0 + row);
    assert_eq!((storm.info.pixel_size, storm.info.height), (Some(100.0), Some(48)));
    assert_eq!(storm.info.frames, Some(12));

    let (fits, _) = read("pyme.h5r");
    check_nanometres(&fits);
    check(&fits, "sigma", Unit::Nanometre, |_| 130.0);
    check(&fits, "uncertainty_x", Unit::Nanometre, |_| 12.5);
    check(&fits, "slicesUsed_y_stop", Unit::None, |_| 0.0);
    assert_eq!(fits.info.pixel_size, Some(100.0));
    let (flat, _) = read("pyme.hdf");
    check_nanometres(&flat);
    check(&flat, "photons", Unit::Photon, |row| 500.0 + row);
    check(&flat, "fitResults_x0", Unit::None, |_| 0.0);

    let (smlm, notes) = read("shareloc.smlm");
    check_nanometres(&smlm);
    check(&smlm, "channel", Unit::None, |row| if row < 20.0 { 1.0 } else { 0.0 });
    let channel = smlm.column("channel").expect("there are two");
    assert_eq!(channel.kind, Kind::Words(vec!["far red".to_owned(), "red".to_owned()]));
    assert!(notes.iter().any(|note| note.ends_with("that are no tables: 1")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("'patch'")), "{notes:?}");
}

/// Proves that fewer columns, names and the first frame are as for other tables.
#[test]
fn readers_take_the_options_of_others() {
    for name in ["decode.h5", "smap_sml.mat", "storm_analysis.hdf5", "pyme.h5r", "shareloc.smlm"] {
        let open = || TableReader::open(path(name)).expect("a table");
        let all = open().read_all(1000).expect("sound");
        let some = open().with_columns(&["y", "frame"]).read_all(1000).expect("sound");
        assert_eq!(some, all.only(&["frame", "y"]), "{name}");
        let shifted = open().with_first_frame(1).read_all(1000).expect("sound");
        let first = if name == "smap_sml.mat" { 0.0 } else { -1.0 };
        assert_eq!(shifted.values("frame").expect("there")[0], first, "{name}");
    }
    let named = TableReader::open(path("smap_sml.mat")).expect("a table");
    let named = named.with_names(&"background_std=channel".parse().expect("names"));
    let named = named.expect("there").read_all(1000).expect("sound");
    check(&named, "background_std", Unit::Photon, |_| 0.0);
    let wrong = TableReader::open(path("pyme.hdf")).expect("a table");
    let wrong = wrong.with_names(&"x=nothing".parse().expect("names")).map(|_| ());
    assert!(matches!(wrong, Err(TableError::Column(_))), "{wrong:?}");
}

/// Proves that what is no table of these programs is refused with a reason.
#[test]
fn malformed_tables_are_refused() {
    let archive = |files: &[(&str, &[u8])]| {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).expect("memory");
            std::io::Write::write_all(&mut zip, bytes).expect("memory");
        }
        Cursor::new(zip.finish().expect("memory").into_inner())
    };
    let manifest = |change: [&str; 2]| {
        let text = r#"{"format_version": "0.2", "formats": {"f": {"mode": "binary", "headers": ["x", "y"], "dtype": ["uint8", "int8"],
            "shape": [1, 1], "units": ["nm", "nm"]}}, "files": [{"name": "a", "type": "table", "format": "f", "rows": 2}]}"#;
        assert!(text.contains(change[0]));
        text.replacen(change[0], change[1], 1)
    };
    let rows: &[u8] = &[1, 2, 3, 254];
    let of = |change, rows: &[u8]| {
        let text = manifest(change);
        let mut reader =
            TableReader::smlm(archive(&[("manifest.json", text.as_bytes()), ("a", rows)]))?;
        reader.read().map(Option::unwrap_or_default)
    };
    let good = of(["", ""], rows).expect("it is sound");
    assert_eq!([good.values("x").unwrap(), good.values("y").unwrap()], [[1.0, 3.0], [2.0, -2.0]]);
    let many = format!("\"shape\": [{}, 1]", 1u64 << 40);
    for (change, expected) in [
        (["0.2", "0.1"], "format_version is '0.1'"),
        (["\"binary\"", "\"text\""], "mode is not 'binary'"),
        (["\"int8\"", "\"bool\""], "the dtype 'bool'"),
        (["\"shape\": [1, 1]", "\"shape\": [1]"], "different lengths"),
        (["\"shape\": [1, 1]", &many], "too large"),
        (["\"shape\": [1, 1]", "\"shape\": [0, 0]"], "no columns"),
        (["\"name\": \"a\"", "\"name\": \"b\""], "has no 'b'"),
        (["\"format\": \"f\"", "\"format\": \"g\""], "no format 'g'"),
        (["\"rows\": 2", "\"rows\": 3"], "before its end"),
        (["\"rows\": 2", "\"rows\": 18446744073709551615"], "before its end"),
        (["\"rows\": 2", "\"rows\": 1"], "another checksum"),
        (["\"nm\", \"nm\"", "\"nm\", \"px\""], "x is in nanometres"),
        (["\"table\"", "\"image\""], "has no table"),
    ] {
        let error = of(change, rows).expect_err(expected).to_string();
        assert!(error.contains(expected), "{change:?}: {error}");
    }
    let error = TableReader::smlm(archive(&[("a", rows)])).expect_err("no manifest").to_string();
    assert!(error.contains("has no 'manifest.json'"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let old = folder.path().join("old.mat");
    std::fs::write(&old, b"MATLAB 5.0 MAT-file").expect("a file");
    let error = TableReader::open(&old).expect_err("it is old").to_string();
    assert!(error.contains("-v7.3"), "{error}");
    // HDF5 of somebody else.
    let other = folder.path().join("other.hdf");
    let array = spotfit_files::hdf5::H5Array {
        name: "array",
        shape: &[1],
        kind: NumberKind::F64,
        values: &[1.0],
    };
    let file = std::fs::File::create(&other).expect("a file");
    spotfit_files::hdf5::write_arrays(file, &[array], None).expect("written");
    let error = TableReader::open(&other).expect_err("it is no table").to_string();
    assert!(error.contains("no table of Picasso") && error.contains("array"), "{error}");
}
