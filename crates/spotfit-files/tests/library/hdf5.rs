//! Files that h5py wrote, and files that are written here. The first are made by `tests/scripts/make_h5_fixtures.py`, which
//! also says what they hold.

use std::io::{Cursor, Read};
use std::process::Command;

use fit_sim::Random;
use spotfit_files::hdf5::{H5Array, H5Error, H5Reader, H5Writer, Member, NumberKind, write_arrays};

/// The metadata in the fixtures.
const METADATA: &str = r#"[{"Width": 32, "Height": 24, "Frames": 100, "Camera": "ÅΩ 1"}, {"Pixelsize": 130, "Box Size": 7}]"#;
const ROWS: usize = 40;
const LOCS: [(&str, NumberKind); 5] = [
    ("frame", NumberKind::U32),
    ("x", NumberKind::F32),
    ("y", NumberKind::F32),
    ("iterations", NumberKind::I32),
    ("photons", NumberKind::F32),
];
const ALL: [(&str, NumberKind); 10] = [
    ("i1", NumberKind::I8),
    ("i2", NumberKind::I16),
    ("i4", NumberKind::I32),
    ("i8", NumberKind::I64),
    ("u1", NumberKind::U8),
    ("u2", NumberKind::U16),
    ("u4", NumberKind::U32),
    ("u8", NumberKind::U64),
    ("f4", NumberKind::F32),
    ("f8", NumberKind::F64),
];

fn open(name: &str) -> H5Reader<Cursor<Vec<u8>>> {
    try_open(name).expect("it is an HDF5 file")
}

fn try_open(name: &str) -> Result<H5Reader<Cursor<Vec<u8>>>, H5Error> {
    let path = format!("{}/tests/data/{name}.hdf5.gz", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = Vec::new();
    let packed = std::fs::File::open(path).expect("the fixture is there");
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("it is sound");
    H5Reader::open(Cursor::new(bytes))
}

/// The number of member `place`, of this type, in a row of the fixtures.
fn expected(place: usize, kind: NumberKind, last: bool, row: usize) -> f64 {
    let number = (row * (place + 1)) as f64;
    match kind {
        NumberKind::F32 | NumberKind::F64 if last && row == 7 => f64::NAN,
        NumberKind::F32 | NumberKind::F64 => number / 8.0,
        NumberKind::I8 => f64::from((number as i64 - 20) as i8),
        NumberKind::I16 | NumberKind::I32 | NumberKind::I64 => number - 20.0,
        NumberKind::U8 => f64::from(number as u64 as u8),
        _ => number,
    }
}

/// Compares a table of a fixture with what it should hold, read in blocks of any number of rows.
fn check_table(file: &str, dataset: &str, members: &[(&str, NumberKind)]) {
    for most in [1, 7, 16, 1000] {
        let mut reader = open(file);
        let mut rows = reader.rows(dataset).expect("a table");
        assert_eq!(rows.count(), ROWS as u64);
        let found: Vec<_> = rows.members().iter().map(|m| (m.name.as_str(), m.kind)).collect();
        assert_eq!(found, members, "{file} {dataset}");
        let mut columns = vec![Vec::new(); members.len()];
        loop {
            let before = columns[0].len();
            let count = rows.read(&mut reader, most, &mut columns).expect("rows");
            assert_eq!(count, most.min(ROWS - before));
            if count == 0 {
                break;
            }
        }
        for (place, column) in columns.iter().enumerate() {
            assert_eq!(column.len(), ROWS);
            for (row, value) in column.iter().enumerate() {
                let last = place + 1 == members.len();
                let expected = expected(place, members[place].1, last, row);
                let same = *value == expected || value.is_nan() && expected.is_nan();
                assert!(same, "{file} {dataset}, {}, row {row}: {value}", members[place].0);
            }
        }
    }
}

/// Proves that tables of every storage that h5py knows are read, with every type of number in both orders of bytes, in
/// blocks of any size.
#[test]
fn tables_of_h5py_are_read() {
    check_table("earliest", "locs", &LOCS);
    check_table("latest", "locs", &ALL);
    check_table("chunked", "locs", &ALL);
    check_table("maps", "big", &ALL);
    let compact = [LOCS[0], LOCS[1], ("flag", NumberKind::U8), ("z", NumberKind::F64)];
    check_table("maps", "compact", &compact);
    for dataset in ["fixed", "plain", "extensible", "single", "whole"] {
        check_table("indexes", dataset, &LOCS);
    }
}

/// Proves that arrays are read whole, in their shape, whatever their storage, and only up to the limit.
#[test]
fn arrays_of_h5py_are_read() {
    let mut reader = open("maps");
    let offset: Vec<f64> = (0..12).map(|place| f64::from(place) / 4.0).collect();
    assert_eq!(reader.array("offset", 12).expect("an array"), (vec![3, 4], offset));
    let gain: Vec<f64> = (0..24).map(f64::from).collect();
    assert_eq!(reader.array("gain", 24).expect("an array"), (vec![2, 3, 4], gain));
    let error = reader.array("gain", 23).expect_err("too large").to_string();
    assert_eq!(error, "'gain' has 24 elements; at most 23 are read");
    let error = reader.array("big", 100).expect_err("a table").to_string();
    assert_eq!(error, "'big' is not an array of numbers of one to four dimensions");
}

/// Proves that text is read from datasets and attributes, of fixed and of variable length, and that a missing
/// attribute is told from a missing object.
#[test]
fn texts_of_h5py_are_read() {
    for file in ["earliest", "latest"] {
        assert_eq!(open(file).text("metadata").expect("text"), [METADATA], "{file}");
    }
    let mut latest = open("latest");
    let text = latest.attribute_text("locs", "metadata").expect("text");
    assert_eq!(text.expect("an attribute"), [METADATA]);
    let text = latest.attribute_text("/", "metadata").expect("text");
    assert_eq!(text.expect("an attribute"), ["fixed text"]);
    assert_eq!(latest.attribute_text("/", "other").expect("no attribute"), None);
    let mut maps = open("maps");
    let text = maps.attribute_text("offset", "metadata").expect("text");
    assert_eq!(text.expect("an attribute"), [METADATA]);
    let text = maps.attribute_text("/", "metadata").expect("text");
    assert_eq!(text.expect("an attribute"), ["first", "", "third µ"]);
    assert_eq!(maps.text("fixed").expect("text"), ["one", "three"]);
    assert_eq!(maps.text("padded").expect("text"), ["blank"]);
    let error = maps.attribute_text("none", "metadata").expect_err("no object").to_string();
    assert!(error.starts_with("the HDF5 file has no 'none'; it has: big, compact, "), "{error}");
}

/// Proves that all names at the root are listed, also those in several nodes, and that links in a fractal heap give an
/// error that says so.
#[test]
fn names_are_listed() {
    assert_eq!(open("earliest").names(), ["locs", "metadata"]);
    assert_eq!(open("maps").names(), ["big", "compact", "fixed", "gain", "offset", "padded"]);
    let mut many = open("many_earliest");
    assert_eq!(many.names().len(), 21);
    assert_eq!(many.names()[7], "group 07");
    assert_eq!(many.array("table", 3).expect("an array").1, [0.0, 1.0, 2.0]);
    let error = many.rows("group 03").expect_err("a group").to_string();
    assert_eq!(error, "'group 03' is not a dataset");
    let error = try_open("many_latest").err().expect("no links").to_string();
    assert_eq!(error, "'/' cannot be read: a fractal heap of links is not supported");
}

fn write(
    members: &[(&str, NumberKind)],
    blocks: &[Vec<Vec<f64>>],
    text: Option<(&str, &str)>,
) -> Result<Vec<u8>, H5Error> {
    let members: Vec<Member> =
        members.iter().map(|&(name, kind)| Member { name: name.into(), kind }).collect();
    let mut writer = H5Writer::new(Cursor::new(Vec::new()), "locs", &members)?;
    for block in blocks {
        writer.append(&block.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    }
    writer.finish(text).map(Cursor::into_inner)
}

/// Blocks of random rows within the range of each type.
fn random_blocks(lengths: &[usize]) -> Vec<Vec<Vec<f64>>> {
    let mut random = Random::new(5, 0);
    let mut number = |kind| match kind {
        NumberKind::F32 => f64::from((1000.0 * random.normal()) as f32),
        NumberKind::F64 => random.normal(),
        NumberKind::I8 => (random.uniform() * 256.0).floor() - 128.0,
        NumberKind::I16 => (random.uniform() * 65536.0).floor() - 32768.0,
        NumberKind::I32 => (random.uniform() * 4294967296.0).floor() - 2147483648.0,
        NumberKind::I64 => (random.uniform() * 2f64.powi(54)).floor() - 2f64.powi(53),
        NumberKind::U8 => (random.uniform() * 256.0).floor(),
        NumberKind::U16 => (random.uniform() * 65536.0).floor(),
        NumberKind::U32 => (random.uniform() * 4294967296.0).floor(),
        NumberKind::U64 => (random.uniform() * 2f64.powi(53)).floor(),
    };
    let mut column = |kind, length| (0..length).map(|_| number(kind)).collect();
    lengths.iter().map(|&length| ALL.map(|(_, kind)| column(kind, length)).to_vec()).collect()
}

/// Proves that what is written is read again, bit by bit: every type of number, any number of rows, also none, with
/// and without a text.
#[test]
fn what_is_written_is_read() {
    let long = "ä".repeat(30_000);
    let texts = [None, Some(("metadata", METADATA)), Some(("a", "")), Some(("zz", long.as_str()))];
    for (lengths, text) in [&[][..], &[0, 1], &[3, 20_000, 1, 6], &[5]].into_iter().zip(texts) {
        let blocks = random_blocks(lengths);
        let bytes = write(&ALL, &blocks, text).expect("a file");
        let mut reader = H5Reader::open(Cursor::new(bytes)).expect("an HDF5 file");
        if let Some((name, text)) = text {
            assert_eq!(reader.text(name).expect("text"), [text]);
        }
        let mut rows = reader.rows("locs").expect("a table");
        assert_eq!(rows.count(), lengths.iter().sum::<usize>() as u64);
        let mut columns = vec![Vec::new(); ALL.len()];
        while rows.read(&mut reader, 9_000, &mut columns).expect("rows") > 0 {}
        for (place, column) in columns.iter().enumerate() {
            let all: Vec<f64> = blocks.iter().flat_map(|block| block[place].clone()).collect();
            assert_eq!(*column, all);
        }
    }
}

/// Proves that a value that its member cannot hold is an error that names it, and that everything at the edge of a
/// type's range is accepted.
#[test]
fn values_that_do_not_fit_are_errors() {
    let wrong = [
        (NumberKind::U32, f64::NAN, "NaN cannot be stored as u32"),
        (NumberKind::U32, -1.0, "-1 cannot be stored as u32"),
        (NumberKind::U32, 4294967296.0, "4294967296 cannot be stored as u32"),
        (NumberKind::I32, 0.5, "0.5 cannot be stored as i32"),
        (NumberKind::I8, 128.0, "128 cannot be stored as i8"),
        (NumberKind::I64, 2f64.powi(63), "9223372036854776000 cannot be stored as i64"),
        (NumberKind::U64, f64::INFINITY, "inf cannot be stored as u64"),
        (
            NumberKind::F32,
            -1e39,
            "-1000000000000000000000000000000000000000 cannot be stored as f32",
        ),
    ];
    for (kind, value, message) in wrong {
        let blocks = [vec![vec![0.0; 3], vec![1.0; 3]], vec![vec![0.0; 2], vec![1.0, value]]];
        let error = write(&[("a", kind), ("b", kind)], &blocks, None).expect_err("no fit");
        assert_eq!(error.to_string(), format!("row 4: b = {message}"));
    }
    let right = [
        (NumberKind::I8, -128.0),
        (NumberKind::U8, 255.0),
        (NumberKind::I32, -2147483648.0),
        (NumberKind::U32, 4294967295.0),
        (NumberKind::F32, f64::NEG_INFINITY),
        (NumberKind::F32, f64::from(f32::MAX)),
        (NumberKind::F64, f64::MAX),
    ];
    for (kind, value) in right {
        let bytes = write(&[("a", kind)], &[vec![vec![value]]], None).expect("it fits");
        let mut reader = H5Reader::open(Cursor::new(bytes)).expect("an HDF5 file");
        let mut columns = [Vec::new()];
        reader.rows("locs").expect("a table").read(&mut reader, 1, &mut columns).expect("a row");
        assert_eq!(columns, [[value]]);
    }
}

/// Proves that an integer that `f64` cannot hold is an error that names row and member, instead of another number.
#[test]
fn integers_beyond_f64_are_errors() {
    for (kind, value) in [(NumberKind::U64, 2f64.powi(60)), (NumberKind::I64, -2f64.powi(60))] {
        let blocks = [vec![vec![7.0, 2f64.powi(53), value]]];
        let bytes = write(&[("id", kind)], &blocks, None).expect("a file");
        let mut reader = H5Reader::open(Cursor::new(bytes)).expect("an HDF5 file");
        let mut rows = reader.rows("locs").expect("a table");
        assert_eq!(rows.read(&mut reader, 2, &mut [Vec::new()]).expect("two rows"), 2);
        let error =
            rows.read(&mut reader, 2, &mut [Vec::new()]).expect_err("too large").to_string();
        assert_eq!(error, "'locs', row 2: id is an integer beyond 2^53");
    }
}

/// Proves that columns, names and members that make no table are refused.
#[test]
fn what_makes_no_table_is_refused() {
    let kind = NumberKind::F32;
    let error = |members: &[(&str, NumberKind)], blocks: &[Vec<Vec<f64>>], text| {
        write(members, blocks, text).expect_err("no table").to_string()
    };
    assert_eq!(error(&[], &[], None), "a table without members cannot be written");
    assert_eq!(error(&[("a", kind), ("a", kind)], &[], None), "two members have the name 'a'");
    assert_eq!(error(&[("", kind)], &[], None), "\"\" cannot be a member's name");
    let columns = [vec![vec![1.0]]];
    assert_eq!(
        error(&[("a", kind), ("b", kind)], &columns, None),
        "there are 1 columns for 2 members"
    );
    let columns = [vec![vec![1.0], vec![]]];
    let uneven = "the column of b has 0 rows, the first one has 1";
    assert_eq!(error(&[("a", kind), ("b", kind)], &columns, None), uneven);
    let same = "two datasets have the name 'locs'";
    assert_eq!(error(&[("a", kind)], &[], Some(("locs", "text"))), same);
    let slash = "\"a/b\" cannot be a dataset's name";
    assert_eq!(error(&[("a", kind)], &[], Some(("a/b", "text"))), slash);
}

/// Proves that a file that was not finished is not taken for a whole one.
#[test]
fn an_unfinished_file_is_no_file() {
    let mut bytes = Vec::new();
    let members = [Member { name: "x".into(), kind: NumberKind::F64 }];
    let mut writer = H5Writer::new(Cursor::new(&mut bytes), "locs", &members).expect("a writer");
    writer.append(&[&[1.0; 100]]).expect("rows");
    drop(writer);
    assert_eq!(bytes.len(), 96 + 800);
    assert!(matches!(H5Reader::open(Cursor::new(bytes)), Err(H5Error::Signature)));
}

/// The command that runs Python, if it has h5py.
fn python() -> Option<String> {
    let python = std::env::var("SPOTFIT_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(&python).args(["-c", "import h5py"]).output();
    if output.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("not checked: {python} with h5py is not there");
    None
}

/// Proves that indexes of so many chunks that they have several levels and pages are read, where Python with h5py is
/// there to write such files, which are too large to keep.
#[test]
fn large_indexes_of_h5py_are_read() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let code = "import h5py, numpy, sys\n\
        table = numpy.zeros(150000, [('n', 'u4')])\n\
        table['n'] = numpy.arange(150000) * 7\n\
        for name in ('earliest', 'latest'):\n\
        \x20 with h5py.File(f'{sys.argv[1]}/{name}.hdf5', 'w', libver=name) as file:\n\
        \x20   file.create_dataset('grows', data=table, chunks=(1,), maxshape=(None,))\n\
        \x20   file.create_dataset('fixed', data=table[:5000], chunks=(2,), fletcher32=True)\n";
    let output = Command::new(&python).args(["-c", code]).arg(folder.path()).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["earliest", "latest"] {
        let file = std::fs::File::open(folder.path().join(format!("{name}.hdf5")));
        let mut reader = H5Reader::open(file.expect("a file")).expect("an HDF5 file");
        for (dataset, count) in [("grows", 150_000), ("fixed", 5_000)] {
            let mut columns = [Vec::new()];
            let mut rows = reader.rows(dataset).expect("a table");
            assert_eq!(rows.read(&mut reader, usize::MAX, &mut columns).expect("rows"), count);
            let right = columns[0].iter().enumerate().all(|(row, &n)| n == (7 * row) as f64);
            assert!(right, "{name}, {dataset}");
        }
    }
}

/// Proves that h5py reads what is written, where Python with h5py is there: names, types, every value and the text.
#[test]
fn h5py_reads_what_is_written() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("locs.hdf5");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts/check_written.py");
    for (lengths, text) in [(&[300, 5][..], Some(("metadata", METADATA))), (&[], None)] {
        let blocks = random_blocks(lengths);
        std::fs::write(&path, write(&ALL, &blocks, text).expect("a file")).expect("space");
        let output = Command::new(&python).arg(script).arg(&path).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let members = ALL.map(|(name, _)| {
            let order = if name.ends_with('1') { '|' } else { '<' };
            format!(r#"["{name}", "{order}{name}"]"#)
        });
        assert!(said.contains(&members.join(", ")), "{said}");
        let numbers = blocks.iter().flat_map(|block| {
            (0..block[0].len()).flat_map(|row| block.iter().map(move |column| column[row]))
        });
        let (_, rows) = said.split_once(r#""rows": ["#).expect("rows");
        let mut found = rows.split('"').skip(1).step_by(2).take_while(|word| *word != "metadata");
        for number in numbers {
            let word = found.next().expect("a number");
            assert_eq!(word.parse::<f64>().expect("a number"), number);
        }
        assert_eq!(found.next(), None);
        // Python escapes quotes and what is not ASCII.
        let text = text.map(|(_, text)| text.replace('"', "\\\"").replace("ÅΩ", "\\u00c5\\u03a9"));
        let text = text.map_or("null}".into(), |text| format!("\"{text}\"}}"));
        assert!(said.trim_end().ends_with(&text), "{said}");
    }
}

/// Proves that arrays of one to four dimensions and the attribute are read as they were written, and that what cannot be
/// written is refused.
#[test]
fn arrays_are_written() {
    let values: Vec<f64> = (0..24).map(|number| f64::from(number) / 8.0).collect();
    let array = |name, shape, kind| H5Array { name, shape, kind, values: &values };
    let arrays = [
        array("b", &[2, 3, 2, 2], NumberKind::F32),
        array("a", &[24], NumberKind::F64),
        array("c", &[4, 6], NumberKind::F32),
    ];
    let text = r#"{"Å": 1}"#;
    let file = write_arrays(Vec::new(), &arrays, Some(("metadata", text))).expect("a file");
    let mut reader = H5Reader::open(Cursor::new(file)).expect("a file");
    assert_eq!(reader.names(), ["a", "b", "c"]);
    for H5Array { name, shape, .. } in arrays {
        assert_eq!(reader.array(name, 24).expect("an array"), (shape.to_vec(), values.clone()));
    }
    let read = reader.attribute_text("/", "metadata").expect("an attribute");
    assert_eq!(read, Some(vec![text.to_owned()]));
    let refused = |arrays: &[H5Array<'_>], attribute| {
        write_arrays(Vec::new(), arrays, attribute).expect_err("refused").to_string()
    };
    assert!(refused(&[], None).contains("0 arrays"));
    assert!(refused(&[array("a", &[24], NumberKind::F64); 2], None).contains("'a'"));
    assert!(refused(&[array("a", &[5, 5], NumberKind::F64)], None).contains("[5, 5]"));
    assert!(refused(&[array("a", &[24], NumberKind::U8)], None).contains("row 1"));
    assert!(refused(&arrays, Some(("x", "\0"))).contains("zero byte"));
}
