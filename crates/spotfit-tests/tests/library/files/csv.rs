//! CSV tables: what they hold is read and written without loss, and what is wrong with them is said.

use std::io::{self, Read};

use spotfit::table::{Column, CsvReader, CsvWriter, Info, Kind, Table, TableError, Unit};

fn read(text: &str) -> Result<Table, TableError> {
    CsvReader::new(text.as_bytes())?.read_all(1 << 20)
}

fn written(table: &Table) -> String {
    let mut writer = CsvWriter::new(Vec::new());
    writer.write(table).expect("memory");
    String::from_utf8(writer.finish().expect("memory")).expect("text")
}

const STORM: &str = "\"id\",\"frame\",\"x [nm]\",\"y [nm]\",\"sigma [nm]\",\"intensity [photon]\",\"uncertainty_xy [nm]\",\"area\",\"kind\"\n\
    1,1,10.5,20.25,130,512.3333333333334,8.5,0.1,bead\n\
    2,7,NaN,1e-7,131,5,9,Infinity,\"a, b\"\n";

/// Proves that names, units, numbers and words are understood, and that writing gives back what was read.
#[test]
fn tables_come_back() {
    let table = read(STORM).expect("a table");
    assert_eq!(table.frames().expect("frames"), [0, 6]);
    assert_eq!(table.column("photons").expect("photons").unit, Unit::Photon);
    assert_eq!(table.values("x").expect("x")[0], 10.5);
    assert_eq!(
        table.column("kind").expect("kind").kind,
        Kind::Words(vec!["bead".into(), "a, b".into()])
    );
    assert_eq!(written(&table), STORM);
    assert_eq!(written(&read(&written(&table)).expect("again")), STORM);
}

/// Proves that tables of positions count frames from 0 and localizations from 1, and that neither is mistaken.
#[test]
fn frames_are_counted_from_where_the_table_says() {
    let frames = |text| read(text).map(|table| table.frames().expect("frames"));
    assert_eq!(frames("frame,x,y\n0,1,2\n3,1,2\n").unwrap(), [0, 3]);
    assert_eq!(frames("frame,x [px],y [px]\n1,1,2\n").unwrap(), [0]);
    let said = |text| frames(text).unwrap_err().to_string();
    assert_eq!(
        said("frame,x [nm],y [nm]\n0,1,2\n"),
        "line 2: frame = '0' is not the number of a frame, from 1"
    );
    assert_eq!(
        said("frame,x,y\n1,1,2\n\n-1,1,2\n"),
        "line 4: frame = '-1' is not the number of a frame, from 0"
    );
    assert_eq!(
        said("frame,x,y\n0.5,1,2\n"),
        "line 2: frame = '0.5' is not the number of a frame, from 0"
    );
}

/// ThunderSTORM's columns with a word.
const DELIMITED: &str = "\"id\",\"frame\",\"x [nm]\",\"y [nm]\",\"intensity [photon]\",\"kind\"\n\
    1,1,1000.5,2000.25,800.0,a\n2,2,1010.5,2010.25,,b\n3,5,3000,1500.0,7e-1,a\n";

/// Proves that tables are the same with any delimiter and either decimal mark, with empty fields at the end of rows, with a line
/// that says the delimiter, and with names that were quoted twice.
#[test]
fn delimiters_and_decimal_marks_are_found() {
    let table = read(DELIMITED).expect("a table");
    assert_eq!(table.values("x").expect("x"), [1000.5, 1010.5, 3000.0]);
    for (delimiter, mark) in [(";", "."), ("\t", "."), (";", ","), ("\t", ",")] {
        let other = DELIMITED.replace(',', delimiter).replace('.', mark);
        let other = read(&other).unwrap_or_else(|error| panic!("{delimiter:?}, {mark}: {error}"));
        let debug = |table: &Table| format!("{:?}", table.columns());
        assert_eq!(debug(&other), debug(&table), "{delimiter:?}, {mark}");
        let said = format!("sep={delimiter}\r\n{}", DELIMITED.replace(',', delimiter));
        assert_eq!(debug(&read(&said).expect("a table")), debug(&table), "{said}");
    }
    let empty = read("x\ty\tphotons\n1\t2\t\n\t2\t3\n").expect("a table");
    assert!(empty.values("photons").unwrap()[0].is_nan() && empty.values("x").unwrap()[1].is_nan());
    let (names, rows) = DELIMITED.split_once('\n').expect("names");
    let twice = format!("\"{}\"\n{rows}", names[1..].replacen('"', "", 1).replace('"', "\"\""));
    assert_eq!(read(&twice).expect("a table").columns().len(), 6, "{twice}");
    assert_eq!(read("\"\",\"x\",\"y\"\n0,1,2\n").expect("a table").columns().len(), 3);
}

/// Proves that a number has one decimal mark throughout a table, and that a table of one column of words is refused.
#[test]
fn what_is_no_table_is_refused() {
    let said = |text: &str| read(text).expect_err("refused").to_string();
    for text in ["x;y\n1,5;2\n1.5;2\n", "x;y\n1.5;2\n1,5;2\n", "x\ty\n1\t1,2,3\n"] {
        assert!(said(text).contains("is not a number"), "{text}: {}", said(text));
    }
    assert!(said("x y\n1 2\n").contains("one column, 'x y', without numbers"));
    assert!(said("# a comment\n1 2 3\n").contains("commas, semicolons or tabs"));
    assert_eq!(read("area\n1\n2\n").expect("one column of numbers").rows(), 2);
}

/// Proves that x and y never have different units: they get that of x where the size of a pixel is known, as all lengths do, and
/// are refused elsewhere.
#[test]
fn units_are_never_mixed() {
    let text = "frame,x [nm],y [px],sigma [px],uncertainty_xy [nm]\n1,1000,20,1.5,8\n";
    let said = read(text).expect_err("refused").to_string();
    assert_eq!(said, "x is in nanometres, and y is in pixels; the size of a pixel is not known");
    let sized = |text: &str| {
        let reader = CsvReader::new(text.as_bytes()).expect("names");
        let mut reader = reader.with_info(|info| info.pixel_size = Some(100.0));
        assert_eq!(
            reader.layout().length_unit().expect("one unit"),
            reader.layout().columns()[1].unit
        );
        reader.read_all(10).expect("a table")
    };
    let values = |table: &Table| {
        ["x", "y", "sigma", "uncertainty"].map(|name| table.values(name).unwrap()[0])
    };
    let table = sized(text);
    assert_eq!(table.length_unit().expect("one unit"), Unit::Nanometre);
    assert_eq!(values(&table), [1000.0, 2000.0, 150.0, 8.0]);
    let table = sized(&text.replace("x [nm]", "x [px]"));
    assert_eq!(table.length_unit().expect("one unit"), Unit::Pixel);
    assert_eq!(values(&table), [1000.0, 20.0, 1.5, 0.08]);
    // Another length alone is converted when it is asked for, or refused.
    let table = read("frame,x [nm],y [nm],sigma [px]\n1,1000,20,1.5\n").expect("a table");
    assert!(table.lengths("sigma", Unit::Nanometre).is_err());
    let mut mixed = Table::new(Info::default());
    mixed.set(Column::new("x", Unit::Pixel, Kind::Double, vec![1.0]));
    mixed.set(Column::new("y", Unit::Nanometre, Kind::Double, vec![1.0]));
    assert!(matches!(mixed.length_unit(), Err(TableError::MixedUnits { .. })));
}

/// Proves that all lengths in the plane get one unit, in mixed tables too, that other numbers stay, that nothing changes where
/// nothing has to, and that a table without the size of a pixel is refused with the column.
#[test]
fn a_table_is_brought_to_one_unit() {
    let text = "frame,x [nm],y [nm],z [nm],sigma [px],intensity [photon],uncertainty_xy [nm],neighbour [px]\n\
        1,1000,20,55,1.5,700,8,Infinity\n";
    let mut table = read(text).expect("a table");
    let said = table.clone().in_unit(Unit::Nanometre).expect_err("sigma").to_string();
    assert_eq!(
        said,
        "sigma is in pixels, and is needed in nanometres; the size of a pixel is not known"
    );
    let said = table.clone().in_unit(Unit::Photon).expect_err("photons").to_string();
    assert_eq!(said, "lengths are in pixels or nanometres; photons is asked for");
    table.info.pixel_size = Some(100.0);
    let names = ["x", "y", "z", "sigma", "photons", "uncertainty", "neighbour"];
    let values = |table: &Table| names.map(|name| table.values(name).unwrap()[0]);
    let pixels = table.clone().in_unit(Unit::Pixel).expect("pixels");
    assert_eq!(values(&pixels), [10.0, 0.2, 55.0, 1.5, 700.0, 0.08, f64::INFINITY]);
    assert_eq!(
        written(&pixels).lines().next(),
        Some(
            "\"frame\",\"x [px]\",\"y [px]\",\"z [nm]\",\"sigma [px]\",\"intensity [photon]\",\"uncertainty_xy [px]\",\"neighbour [px]\""
        )
    );
    let nanometres = pixels.clone().in_unit(Unit::Nanometre).expect("nanometres");
    assert_eq!(values(&nanometres), [1000.0, 20.0, 55.0, 150.0, 700.0, 8.0, f64::INFINITY]);
    let lengths = pixels.clone().in_unit(Unit::Pixel).expect("as it was");
    assert_eq!(lengths, pixels);
    // Without a length in the plane there is nothing to convert.
    let other = read("frame,area\n1,2\n").expect("a table");
    assert_eq!(other.clone().in_unit(Unit::Nanometre).expect("as it was"), other);
    let mut odd = Table::new(Info::default().with_movie(Some(100.0), [1, 1], 1));
    odd.set(Column::new("x", Unit::None, Kind::Double, vec![1.0]));
    assert!(odd.in_unit(Unit::Pixel).unwrap_err().to_string().starts_with("x is in no unit"));
}

/// Proves that frames count from 0 where the first id is 0, unless something else is said, that this is told, and that such a
/// table is written so that it comes back.
#[test]
fn ids_from_0_go_with_frames_from_0() {
    let text = "id,frame,x [nm],y [nm]\n0,11,1,2\n1,12,1,2\n";
    let mut reader = CsvReader::new(text.as_bytes()).expect("names").with_columns(&["frame", "x"]);
    assert_eq!(reader.read_all(10).expect("rows").frames().expect("frames"), [11, 12]);
    assert_eq!(reader.notes(), ["id begins with 0, so frames are taken to be counted from 0, too"]);
    let mut told = CsvReader::new(text.as_bytes()).expect("names").with_first_frame(1);
    assert_eq!(told.read_all(10).expect("rows").frames().expect("frames"), [10, 11]);
    assert!(told.notes().is_empty());
    let table = read(text).expect("a table");
    assert_eq!(read(&written(&table)).expect("again"), table);
    let mut one = table.clone();
    one.retain(&[false, true]);
    assert_eq!(read(&written(&one)).expect("again"), one);
    // Positions are counted from 0 anyway.
    let mut positions = CsvReader::new("id,frame,x,y\n0,3,1,2\n".as_bytes()).expect("names");
    assert_eq!(positions.read_all(10).expect("rows").frames().expect("frames"), [3]);
    assert!(positions.notes().is_empty());
}

/// Proves that frames come back whatever the kind of their column is.
#[test]
fn frames_of_any_kind_come_back() {
    for kind in [Kind::Whole, Kind::Double, Kind::Single, Kind::Rounded(4)] {
        let mut table = Table::new(Info::default());
        table.set(Column::new("frame", Unit::None, kind, vec![0.0, 4.0]));
        table.set(Column::new("x", Unit::Pixel, Kind::Double, vec![1.0, 2.0]));
        assert_eq!(read(&written(&table)).expect("a table").frames().expect("frames"), [0, 4]);
    }
}

/// Proves that the line and the column of what is wrong are named, also far into a table that many threads read.
#[test]
fn what_is_wrong_is_named() {
    let mut text = "frame,x,y\r\n".to_owned();
    for row in 0..400_000 {
        text.push_str(&format!("{row},{}.125,7\r\n", row % 97));
    }
    assert_eq!(read(&text).expect("a table").rows(), 400_000);
    let wrong = text.clone() + "5,six,7\n";
    let said = read(&wrong).unwrap_err().to_string();
    assert_eq!(said, "line 400002: x = 'six' is not a number");
    let said = read(&(text + "5,6\n")).unwrap_err().to_string();
    assert_eq!(said, "line 400002: 2 fields, but there are 3 columns");
    assert!(read("frame,x,y\n0,1,2,3\n").unwrap_err().to_string().starts_with("line 2: 4 fields"));
    assert!(matches!(read("x,y,x\n"), Err(TableError::TwoColumns(name)) if name == "x"));
    assert!(matches!(read(""), Err(TableError::Header(_))));
    assert!(matches!(read("\u{feff}\n1\n"), Err(TableError::Header(_))));
    let parquet = format!("PAR1\u{4}{}", "x".repeat(200_000));
    assert!(read(&parquet).unwrap_err().to_string().contains("it is Parquet; in Python, pandas"));
    let many: String = (0..10_000).map(|row| format!("word{row},1\n")).collect();
    assert_eq!(read(&("kind,x\n".to_owned() + &many)).expect("many words").rows(), 10_000);
    let rows = read("x,y\n1,2\n3,4\n").expect("a table");
    assert!(matches!(
        CsvReader::new("x,y\n1,2\n3,4\n".as_bytes()).unwrap().read_all(1),
        Err(TableError::ManyRows { most: 1 })
    ));
    assert_eq!(rows.rows(), 2);
}

/// Proves that columns are found in any order after the mark of UTF-8, that an uncertainty is that of both axes, and that failed
/// fits keep their rows.
#[test]
fn what_a_picture_needs_is_found() {
    let table = read("\u{feff}y,x\n1,2\nNaN,4\n").expect("a table");
    assert_eq!(table.values("x").unwrap(), [2.0, 4.0]);
    assert!(table.values("y").unwrap()[1].is_nan());
    assert!(matches!(table.lengths("uncertainty", Unit::Pixel), Err(TableError::Column(_))));
    let text = "x [nm],y [nm],uncertainty_x [nm],uncertainty_y [nm]\n1,2,3,4\n1,2,inf,4\n";
    let table = read(text).expect("a table");
    let uncertainty = table.lengths("uncertainty", Unit::Nanometre).unwrap();
    assert_eq!(uncertainty[..], [12.5f64.sqrt(), f64::INFINITY]);
    let text = "x [nm],y [nm],uncertainty [nm]\n1,2,7\n";
    assert_eq!(read(text).unwrap().lengths("uncertainty", Unit::Nanometre).unwrap()[..], [7.0]);
}

/// Proves that a table without rows has its columns, and that columns that are not wanted may hold anything.
#[test]
fn only_wanted_columns_are_read() {
    let table = read("frame,x,y\n").expect("a table");
    assert_eq!((table.rows(), table.columns().len()), (0, 3));
    let text = "frame,x,y\n1,one,2\n2,two,3\n".as_bytes();
    let mut reader = CsvReader::new(text).unwrap().with_columns(&["y", "frame"]);
    let table = reader.read_all(10).expect("without x");
    assert_eq!(
        table.columns().iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        ["frame", "y"]
    );
    assert_eq!(table.values("y").unwrap(), [2.0, 3.0]);
}

/// A text, then the same bytes again and again without an end; counts what is read.
struct Endless<'a> {
    begin: &'a [u8],
    again: &'a [u8],
    count: usize,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(self.count < 1 << 30, "nobody stops reading");
        for byte in buffer.iter_mut() {
            let begin = self.begin.get(self.count).copied();
            let after = self.count - self.begin.len().min(self.count);
            *byte = begin.unwrap_or(self.again[after % self.again.len()]);
            self.count += 1;
        }
        Ok(buffer.len())
    }
}

/// Proves that a row without an end is refused soon, with its line, wherever it begins. (`/dev/zero` is such a row.)
#[test]
fn endless_rows_are_refused() {
    let cases = [
        ("", "\0", 1),
        ("frame,x,y\n", "\0", 2),
        ("frame,x,y\n0,1,2\n0,3,", "4", 3),
        ("frame,x,y\n", ",", 2),
    ];
    for (begin, again, line) in cases {
        let mut endless = Endless { begin: begin.as_bytes(), again: again.as_bytes(), count: 0 };
        let read = CsvReader::new(&mut endless).and_then(|mut reader| reader.read_all(1 << 20));
        let error = read.expect_err("an error");
        assert!(matches!(error, TableError::LongRow { line: found } if found == line), "{error}");
        assert!(error.to_string().contains("no row ends within 64 KiB"), "{error}");
        assert!(endless.count < 300_000, "{} bytes read", endless.count);
    }
}

/// Proves that the longest row that is allowed is read, with and without an end of its line.
#[test]
fn the_longest_row_is_read() {
    let row = |length: usize| format!("x,y,name\n1,2,{}", "n".repeat(length - 4));
    assert_eq!(read(&(row((1 << 16) - 1) + "\n")).unwrap().rows(), 1);
    assert_eq!(read(&row(1 << 16)).unwrap().rows(), 1);
    assert_eq!(read(&(row((1 << 16) - 1) + "\n3,4,short\n")).unwrap().rows(), 2);
    assert!(read(&(row(1 << 16) + "\n")).is_err());
}

/// Proves that an error repeats no more than the beginning of a long value.
#[test]
fn errors_are_short() {
    let text = format!("x,y\n{},2\n", "long".repeat(5000));
    let said = read(&text).unwrap_err().to_string();
    assert!(said.contains("'longlong") && said.contains('…') && said.len() < 150, "{said}");
}
