//! Columns of numbers in workbooks.

use std::io::{Cursor, Write};

use spotfit_files::columns::{ColumnOptions, Columns, DataSets};
use zip::write::{SimpleFileOptions, ZipWriter};

/// Proves that a sheet is read as its text would be: names, units, blank cells and errors, by its name or number.
#[test]
fn sheets_of_openpyxl_are_read() {
    let bytes = include_bytes!("../data/decays.xlsx");
    let sets = DataSets::read(bytes, &ColumnOptions::default()).expect("a sheet");
    assert_eq!(
        (&*sets.x_names, &*sets.names),
        (&["Time, s".to_owned()][..], &["Control".to_owned(), "Treated B".to_owned()][..])
    );
    assert_eq!(sets.y.dim(), (2, 13));
    for (point, &y) in sets.y.row(0).iter().take(12).enumerate() {
        // Exponentials of others have other last bits.
        let expected = 10.0 * (-(point as f64) / 7.0).exp() + 1.0;
        assert!((y - expected).abs() < 1e-12, "{y}, not {expected}");
    }
    let missing: Vec<usize> = (0..13).filter(|&point| sets.y[[1, point]].is_nan()).collect();
    assert_eq!((missing, sets.y[[1, 12]]), (vec![4, 5], 2.5));
    assert!(sets.notes[0].contains("'Decays' is read, 1 other sheet"), "{:?}", sets.notes);
    for sheet in ["2", "Other & more"] {
        let options = ColumnOptions::default().with_sheet(Some(sheet.to_owned()));
        let columns = Columns::read(bytes, &options).expect("a sheet");
        assert_eq!(columns.values.row(1).to_vec(), [0.0, 2.0, 4.0]);
        assert!(columns.notes.is_empty(), "{:?}", columns.notes);
    }
    for (bytes, sheet, expected) in [
        (&bytes[..], "3", "there is no sheet '3': it has Decays, Other & more"),
        (bytes, "0", "there is no sheet '0'"),
        (b"1,2\n3,4\n", "1", "without sheets"),
        (&bytes[..3000], "1", "cannot be read"),
    ] {
        let options = ColumnOptions::default().with_sheet(Some(sheet.to_owned()));
        let error = DataSets::read(bytes, &options).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

fn book(strings: &str, rows: &str) -> Vec<u8> {
    book_with(strings, rows, false)
}

/// A workbook, the first sheet of which may be a chart.
fn book_with(strings: &str, rows: &str, chart: bool) -> Vec<u8> {
    let sheets = r#"<workbook xmlns:r="r"><sheets><sheet name="A" r:id="a"/></sheets></workbook>"#;
    let relations = r#"<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/s.xml"/>
        <Relationship Id="b" Type="x/sharedStrings" Target="sharedStrings.xml"/></Relationships>"#;
    let root = r#"<Relationships><Relationship Id="w" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
    let (mut sheets, mut relations) = (sheets.to_owned(), relations.to_owned());
    if chart {
        let first = r#"<sheets><sheet name="Chart1" r:id="c"/>"#;
        sheets = sheets.replace("<sheets>", first);
        let first = r#"<Relationships><Relationship Id="c" Type="x/chartsheet" Target="chartsheets/c.xml"/>"#;
        relations = relations.replace("<Relationships>", first);
    }
    let rows = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        ("_rels/.rels", root),
        ("xl/chartsheets/c.xml", "<chartsheet/>"),
        ("xl/workbook.xml", &sheets),
        ("xl/_rels/workbook.xml.rels", &relations),
        ("xl/sharedStrings.xml", strings),
        ("xl/worksheets/s.xml", &rows),
    ] {
        zip.start_file(name, SimpleFileOptions::default()).expect("memory");
        zip.write_all(text.as_bytes()).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

/// Proves that a sheet is found where the workbook says, with the texts that its cells share, and that what is no sheet is refused.
#[test]
fn sheets_are_where_the_workbook_says() {
    let strings = "<sst><si><t>dose</t></si><si/><si><t>a &lt; b</t></si></sst>";
    let rows = r#"<row r="2"><c t="s"><v>0</v></c><c r="C2" t="s"><v>2</v></c></row><row><c><v>1</v></c><c/><c><v>1</v></c></row>
        <row r="5"><c r="A5"><v>2</v></c><c r="C5" t="str"><v>3.5</v></c></row>"#;
    let read = |rows: &str| Columns::read(&book(strings, rows), &ColumnOptions::default());
    let columns = read(rows).expect("a sheet");
    assert_eq!(columns.names, ["dose", "a < b"]);
    assert_eq!(columns.values.row(0).to_vec(), [1.0, 2.0]);
    assert_eq!(columns.values.row(1).to_vec(), [1.0, 3.5]);
    for (rows, expected) in
        [("<row></c></row>", "cannot be read"), (r#"<row r="x"></row>"#, "no number")]
    {
        let error = read(rows).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Proves that a table is found behind a chart and away from the corner of its sheet, as calamine finds it, and that formulas that were
/// never computed are told.
#[test]
fn tables_are_found_where_they_are() {
    let strings = "<sst><si><t>dose</t></si><si><t>signal</t></si></sst>";
    let head = r#"<row r="3"><c r="C3" t="s"><v>0</v></c><c r="D3" t="s"><v>1</v></c></row>"#;
    let rows = |formula: &str| {
        format!(
            r#"{head}<row r="4"><c r="C4"><v>1</v></c><c r="D4"><f>2*C4</f>{formula}</c></row><row r="5"><c r="C5"><v>2</v></c><c r="D5"><f>2*C5</f>{formula}</c></row>"#
        )
    };
    for chart in [false, true] {
        let file = book_with(strings, &rows("<v>2.5</v>"), chart);
        let columns = Columns::read(&file, &ColumnOptions::default()).expect("a table");
        assert_eq!(columns.names, ["dose", "signal"]);
        assert_eq!(columns.values.row(0).to_vec(), [1.0, 2.0]);
        assert_eq!(columns.values.row(1).to_vec(), [2.5, 2.5]);
        let mut judge: calamine::Xlsx<_> =
            calamine::open_workbook_from_rs(Cursor::new(&file[..])).expect("a workbook");
        let range = calamine::Reader::worksheet_range(&mut judge, "A").expect("a sheet");
        assert_eq!(range.start(), Some((2, 2)));
        for (row, cells) in range.rows().skip(1).enumerate() {
            let cells: Vec<f64> = cells.iter().filter_map(calamine::DataType::as_f64).collect();
            assert_eq!(columns.values.column(row).to_vec(), cells);
        }
        for empty in ["", "<v/>", "<v></v>"] {
            let file = book_with(strings, &rows(empty), chart);
            let error =
                Columns::read(&file, &ColumnOptions::default()).expect_err("formulas").to_string();
            assert!(
                error.starts_with("line 4, column 2: 'a formula whose value is not stored"),
                "{error}"
            );
        }
    }
    let file = book_with(strings, &rows("<v>2.5</v>"), true);
    for (sheet, says) in [
        ("Chart1", "'Chart1' is a chart, without cells"),
        ("1", "is a chart"),
        ("3", "it has Chart1, A"),
    ] {
        let options = ColumnOptions::default().with_sheet(Some(sheet.to_owned()));
        let error = Columns::read(&file, &options).expect_err(sheet).to_string();
        assert!(error.contains(says), "{error}");
    }
    // A workbook has decimal points, whatever its numbers look like.
    let rows = r#"<row><c><v>1.125</v></c><c><v>2.375</v></c></row><row><c><v>3.125</v></c><c><v>4.375</v></c></row>"#;
    let columns = Columns::read(&book("<sst/>", rows), &ColumnOptions::default()).expect("numbers");
    assert_eq!(columns.values.row(0).to_vec(), [1.125, 3.125]);
    let blank = book(strings, r#"<row r="1"><c r="A1"/></row>"#);
    let error = Columns::read(&blank, &ColumnOptions::default()).expect_err("blank").to_string();
    assert!(error.contains("no sheet with cells"), "{error}");
}
