//! CSV tables as people have them: what marks, lines and encodings mean is known, or they are refused.

use spotfit_locs::table::{CsvReader, DecimalMark, Kind, Table, TableError, TextOptions, Unit};

use crate::written::{Form, Style, pick};

fn read(text: impl AsRef<[u8]>) -> Result<Table, TableError> {
    CsvReader::new(text.as_ref())?.read_all(1 << 22)
}

fn noted(text: &str) -> (Table, Vec<String>) {
    let mut reader = CsvReader::new(text.as_bytes()).expect("names");
    (reader.read_all(1 << 20).expect("a table"), reader.notes().to_vec())
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Proves that random tables in all dialects are never read wrong, and that nearly all are read that have one reading.
#[test]
fn tables_of_every_dialect() {
    let count = if crate::nightly() { 100_000 } else { 1000 };
    let mut random = fit_sim::Random::new(66, 1);
    let (mut clear, mut read_right, mut refused) = (0, 0, Vec::new());
    let forms =
        [Form::Decimals(1), Form::Decimals(3), Form::Decimals(3), Form::Shortest, Form::Power];
    for _ in 0..count {
        let mut style = Style::new(&mut random, &[',', ';', '\t']);
        let (form, rows) = (pick(&mut random, &forms), pick(&mut random, &[2, 5, 20]));
        let names = pick(
            &mut random,
            &[
                ["frame", "x [nm]", "y [nm]", "area, µm"],
                ["Frame", "x_nm", "y_nm", "a;b"],
                ["frame", "x", "y", "photons"],
            ],
        );
        let mut lines = vec![names.iter().map(|name| style.cell(name)).collect::<Vec<_>>()];
        let mut values = vec![Vec::new(); 3];
        for row in 0..rows {
            let mut line = Vec::new();
            for (column, values) in values.iter_mut().enumerate() {
                let (value, form) = match column {
                    0 => (1.0 + (row * 700) as f64, Form::Decimals(0)),
                    _ => (10f64.powf(5.0 * random.uniform()) - 3.0, form),
                };
                let (value, cell) = style.number(value, form);
                values.push(value);
                line.push(cell);
            }
            line.push(style.cell(&format!("{row}")));
            lines.push(line);
        }
        let (text, file) = style.file(&lines);
        clear += usize::from(style.has_one_reading());
        match read(&file) {
            Ok(table) => {
                read_right += 1;
                let first = if names[1].contains('[') { 1.0 } else { 0.0 };
                let frames: Vec<f64> = values[0].iter().map(|frame| frame - first).collect();
                assert_eq!(table.values("frame").expect("frames"), frames, "{text}");
                for (name, values) in ["x", "y"].into_iter().zip(&values[1..]) {
                    assert_eq!(table.values(name).expect("a column"), values, "{text}");
                }
                assert_eq!(table.columns().len(), 4, "{text}");
            }
            Err(error) if style.has_one_reading() => refused.push(format!("{error}\n{text}")),
            Err(_) => {}
        }
    }
    println!(
        "{read_right} of {count} are read; {} of {clear} with one reading are refused",
        refused.len()
    );
    assert!(
        100 * refused.len() <= 3 * clear,
        "{} of {clear}, the first: {}",
        refused.len(),
        refused[0]
    );
    assert!(
        clear > count * 8 / 10 && read_right > count * 8 / 10,
        "{clear} {read_right} of {count}"
    );
}

/// Proves that thousands are thousands, that what has two readings is refused unless the mark is said, and that a mark may come late.
#[test]
fn marks_are_those_of_the_whole_table() {
    let x = |text: &str| read(text).map(|table| table.values("x").expect("x").to_vec());
    for (text, expected) in [
        ("frame\tx\ty\n1\t8,937\t0.5\n", [8937.0]),
        ("frame;x;y\n1;8.937;0,5\n", [8937.0]),
        ("frame;x;y\n1;8,937,000;1\n", [8_937_000.0]),
        ("frame,x,y\n1,\"8,937\",0.5\n", [8937.0]),
        ("frame,x,y\n1,\"8,5\",1\n", [8.5]),
        ("frame;x;y\n1;8'937.5;1\n", [8937.5]),
        ("frame;x;y\n1;\u{2212}8,5;1\n", [-8.5]),
        ("frame,x,y\n1,8.937,1\n", [8.937]),
    ] {
        assert_eq!(x(text).expect(text), expected, "{text}");
    }
    // Columns of thousands are known where smaller numbers are in them.
    assert_eq!(x("frame;x;y\n1;250;1\n2;1,250;1\n").expect("thousands"), [250.0, 1250.0]);
    for (text, says) in [
        (
            "frame;x;y\n1;8,937;1\n",
            "'8,937' is 8937 with a decimal point and 8.937 with a decimal comma",
        ),
        ("frame\tx\ty\n1\t8.937\t1\n", "nothing tells which is meant"),
        ("frame;x;y\n1;8.5;1\n2;8,5;1\n", "'8,5' is not a number"),
    ] {
        let error = x(text).expect_err(text).to_string();
        assert!(error.contains(says), "{error}");
    }
    for (mark, expected) in [(DecimalMark::Point, 8937.0), (DecimalMark::Comma, 8.937)] {
        let options = TextOptions::default().with_decimal(Some(mark));
        let text = "frame;x;y\n1;8,937;1\n";
        let mut reader = CsvReader::with_options(text.as_bytes(), options).expect("names");
        assert_eq!(reader.read_all(9).expect("rows").values("x").expect("x"), [expected]);
    }
    // The first blocks of 4 MiB have no mark at all.
    let whole = "1;20;30\n".repeat(1 << 19);
    let late = x(&format!("frame;x;y\n{whole}1;2,5;3\n")).expect("a late mark");
    assert_eq!(late[late.len() - 1], 2.5);
    let error = x(&format!("frame;x;y\n{whole}1;2,125;3\n")).err().map(|error| error.to_string());
    let says = "'2,125' is 2125 with a decimal point and 2.125 with a decimal comma";
    assert!(error.as_ref().is_some_and(|error| error.contains(says)), "{error:?}");
}

/// TrackMate's spots, with four lines of names and units.
const TRACKMATE: &str = "LABEL,ID,TRACK_ID,QUALITY,POSITION_X,POSITION_Y,POSITION_Z,POSITION_T,FRAME,RADIUS\n\
    Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,Radius\n\
    Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,R\n\
    ,,,(quality),(micron),(micron),(micron),(sec),,(micron)\n\
    ID17,17,0,5.25,1.5,2.25,0.5,0,0,0.3\n\
    ID18,18,0,5.75,2.5,3.25,0.5,1,1,0.3\n";

/// Proves that TrackMate's tables are read with their units, that lines can be skipped, and that a row without numbers is none of names.
#[test]
fn lines_of_names_are_known() {
    let (table, notes) = noted(TRACKMATE);
    assert_eq!(table.values("x").expect("x"), [1500.0, 2500.0]);
    assert_eq!(table.column("x").expect("x").unit, Unit::Nanometre);
    assert_eq!(table.values("frame").expect("frames"), [0.0, 1.0]);
    assert!(notes[0].contains("3 lines are taken for more names and units"), "{notes:?}");
    let skipped = format!("made by a program; 2024\n\n{TRACKMATE}");
    let options = TextOptions::default().with_skip_lines(2);
    let mut reader = CsvReader::with_options(skipped.as_bytes(), options).expect("names");
    assert_eq!(reader.read_all(9).expect("rows"), table);
    let names = "x=POSITION_X nm, y=POSITION_Y nm".parse().expect("names");
    let reader = CsvReader::new(TRACKMATE.as_bytes()).expect("names").with_names(&names);
    assert_eq!(
        reader.expect("names").read_all(9).expect("rows").values("x").expect("x"),
        [1.5, 2.5]
    );
    for units in ["(nm)", "[nm]"] {
        let text = format!("frame,x,y\n,{units},{units}\n0,1,2\n");
        let table = read(&text).expect("units below names");
        assert_eq!(table.column("y").expect("y").unit, Unit::Nanometre);
        assert_eq!(table.values("frame").expect("frames"), [0.0]);
    }
    let beyond = TextOptions::default().with_skip_lines(usize::MAX);
    assert!(CsvReader::with_options(TRACKMATE.as_bytes(), beyond).is_err());
    for (text, says) in [
        ("frame,x,y\n1,<0.1,2\n1,2,3\n", "line 2: x = '<0.1' is not a number"),
        ("frame,x,y\nNA,NA,NA\n1,2,3\n", "line 2: frame = 'NA'"),
        ("frame,x,y\n1,1,2\nframe,x,y\n", "line 3: frame = 'frame'"),
        ("##TITLE=a\n##JCAMP-DX=5\n1 2\n", "it is JCAMP-DX"),
    ] {
        let error = read(text).expect_err(text).to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// Proves that the encodings and ends of lines of all systems are read, however few bytes come at a time.
#[test]
fn encodings_are_those_of_curves() {
    struct Slow<'a>(&'a [u8]);
    impl std::io::Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.len().min(buffer.len()).min(1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
    let text = "frame,x [µm],y [µm],name\n1,1.5,2,𝛼\n2,2.5,3,b\n";
    let expected = read(text).expect("a table");
    let latin: Vec<u8> = text.replace('𝛼', "ä").chars().map(|sign| sign as u8).collect();
    let marked = format!("\u{feff}{text}");
    let big: Vec<u8> = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for end in ["\n", "\r\n", "\r", "\r\r\n"] {
        let text = text.replace('\n', end);
        for file in [text.clone().into_bytes(), wide(&text), wide(&format!("\u{feff}{text}"))] {
            assert_eq!(read(&file).expect("a table"), expected, "{end:?}");
            let mut slow = CsvReader::new(Slow(&file)).expect("names");
            assert_eq!(slow.read_all(9).expect("a table"), expected, "{end:?}");
        }
    }
    assert_eq!(read(big).expect("a table"), expected);
    let latin = read(latin).expect("Latin-1");
    assert_eq!(latin.values("x").expect("x"), [1500.0, 2500.0]);
    assert_eq!(
        latin.column("name").expect("names").kind,
        Kind::Words(vec!["ä".into(), "b".into()])
    );
}

/// Proves that a column may have as many words as rows.
#[test]
fn words_may_be_many() {
    let rows = (0..50_000).map(|row| format!("{row},1,2,ID{row}\n")).collect::<String>();
    let table = read(format!("frame,x,y,LABEL\n{rows}")).expect("many words");
    let column = table.column("LABEL").expect("words");
    let Kind::Words(words) = &column.kind else { panic!("words") };
    assert!((0..50_000).all(|row| words[column.values[row] as usize] == format!("ID{row}")));
}

/// Proves that it is told where a table does not say from where its frames are counted.
#[test]
fn frames_do_not_shift_silently() {
    let told = |text: &str| {
        let (table, notes) = noted(text);
        (table.values("frame").expect("frames")[0], notes.join("; "))
    };
    let (frame, note) = told("id,frame,x [nm],y [nm]\n0,3,1,2\n");
    assert!(frame == 3.0 && note.contains("id begins with 0"), "{note}");
    let (frame, note) = told("id,frame,x [nm],y [nm]\n5,3,1,2\n");
    assert!(frame == 2.0 && note.contains("id begins with 5"), "{note}");
    let (frame, note) = told("id,frame,x [nm],y [nm]\n1,3,1,2\n");
    assert!(frame == 2.0 && note.is_empty(), "{note}");
    let (frame, note) = told("id,frame,x,y\n5,3,1,2\n");
    assert!(frame == 3.0 && note.is_empty(), "{note}");
}
