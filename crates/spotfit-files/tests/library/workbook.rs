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
    let sheets = r#"<workbook xmlns:r="r"><sheets><sheet name="A" r:id="a"/></sheets></workbook>"#;
    let relations = r#"<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/s.xml"/>
        <Relationship Id="b" Type="x/sharedStrings" Target="sharedStrings.xml"/></Relationships>"#;
    let rows = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        ("xl/workbook.xml", sheets),
        ("xl/_rels/workbook.xml.rels", relations),
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
