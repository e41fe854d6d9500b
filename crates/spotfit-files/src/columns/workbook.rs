//! A sheet of a workbook of Excel (`.xlsx`) as text, with tabs between its cells: so it is read as any text is.

use std::io::Cursor;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::ColumnError;
use crate::archive::Archive;
use crate::excerpt::excerpt;

/// The most bytes of a part that are read, and of the text that a sheet becomes.
const MOST: usize = 1 << 28;
/// Columns and rows of a sheet, as Excel has them.
const COLUMNS: usize = 1 << 14;
const ROWS: usize = 1 << 20;

/// Whether a file may be a workbook: it is an archive.
pub(super) fn is_workbook(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// What a cell of a formula holds that was never computed: programs that write workbooks leave that to Excel.
pub(super) const UNCOMPUTED: &str =
    "a formula whose value is not stored: save the workbook with Excel or LibreOffice";

/// The text of the sheet with this name or number from 1, or of the first with cells, and what to say of it. Every row has its line,
/// and begins with the first column that has a cell.
pub(super) fn text(
    bytes: &[u8],
    sheet: Option<&str>,
) -> Result<(String, Vec<String>), ColumnError> {
    let wrong = |reason: String| ColumnError(format!("the workbook cannot be read: {reason}"));
    let mut archive =
        Archive::open(Cursor::new(bytes)).map_err(|error| wrong(error.to_string()))?;
    let mut part = |name: &str| {
        let bytes = archive.read(name, MOST).map_err(|error| wrong(error.to_string()))?;
        String::from_utf8(bytes).map_err(|_| wrong(format!("'{}' is no UTF-8", excerpt(name))))
    };
    let sheets = sheets(&part("xl/workbook.xml")?).map_err(wrong)?;
    let relations = relations(&part("xl/_rels/workbook.xml.rels")?).map_err(wrong)?;
    let of = |found: &dyn Fn(&Relation) -> bool| relations.iter().find(|one| found(one));
    let shared = match of(&|one| one.kind.ends_with("/sharedStrings")) {
        Some(relation) => strings(&part(&relation.path())?).map_err(wrong)?,
        None => Vec::new(),
    };
    let mut read = |(name, id): &(String, String)| {
        let relation = of(&|one| one.id == *id);
        let relation =
            relation.ok_or_else(|| wrong(format!("the sheet '{}' is nowhere", excerpt(name))))?;
        match relation.kind.rsplit('/').next() {
            Some("chartsheet" | "dialogsheet") => Ok(None),
            _ => cells(&part(&relation.path())?, &shared).map_err(wrong).map(Some),
        }
    };
    if let Some(wanted) = sheet {
        let place = sheets.iter().position(|(name, _)| name == wanted);
        let number = || wanted.parse::<usize>().ok()?.checked_sub(1);
        let there: Vec<&str> = sheets.iter().map(|(name, _)| &**name).collect();
        let chosen = place.or_else(number).and_then(|place| sheets.get(place));
        let chosen = chosen.ok_or_else(|| {
            wrong(format!("there is no sheet '{wanted}': it has {}", excerpt(&there.join(", "))))
        })?;
        let no_cells =
            || wrong(format!("the sheet '{}' is a chart, without cells", excerpt(&chosen.0)));
        return Ok((read(chosen)?.ok_or_else(no_cells)?, Vec::new()));
    }
    for sheet in &sheets {
        let Some(text) = read(sheet)?.filter(|text| !text.trim().is_empty()) else { continue };
        let is = match sheets.len() - 1 {
            0 => return Ok((text, Vec::new())),
            1 => "1 other sheet is".to_owned(),
            others => format!("{others} other sheets are"),
        };
        return Ok((
            text,
            vec![format!("the sheet '{}' is read, {is} left out", excerpt(&sheet.0))],
        ));
    }
    Err(wrong("it has no sheet with cells".to_owned()))
}

/// Visits the elements and texts of a part.
fn visit(
    xml: &str,
    mut start: impl FnMut(&str, &BytesStart<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event().map_err(|error| excerpt(&error.to_string()))? {
            Event::Start(element) | Event::Empty(element) => {
                start(element.local_name().as_ref(), &element)?;
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// The value of an attribute, with or without a prefix.
fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| excerpt(&error.to_string()))?;
        if attribute.key.as_ref() == name {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            return Ok(Some(value.map_err(|error| excerpt(&error.to_string()))?.into_owned()));
        }
    }
    Ok(None)
}

/// The names of the sheets, and the numbers of their relations.
fn sheets(xml: &str) -> Result<Vec<(String, String)>, String> {
    let mut sheets = Vec::new();
    visit(xml, |name, element| {
        if name == "sheet"
            && let (Some(name), Some(id)) =
                (attribute(element, "name")?, attribute(element, "r:id")?)
        {
            sheets.push((name, id));
        }
        Ok(())
    })?;
    Ok(sheets)
}

/// A part that the workbook has.
struct Relation {
    id: String,
    kind: String,
    target: String,
}

impl Relation {
    /// Its name in the archive.
    fn path(&self) -> String {
        match self.target.strip_prefix('/') {
            Some(whole) => whole.to_owned(),
            None => format!("xl/{}", self.target),
        }
    }
}

fn relations(xml: &str) -> Result<Vec<Relation>, String> {
    let mut relations = Vec::new();
    visit(xml, |name, element| {
        if name == "Relationship" {
            let [id, kind, target] = ["Id", "Type", "Target"].map(|name| attribute(element, name));
            let [id, kind, target] = [id?, kind?, target?].map(Option::unwrap_or_default);
            relations.push(Relation { id, kind, target });
        }
        Ok(())
    })?;
    Ok(relations)
}

/// The sign that a reference such as `&amp;` stands for.
fn sign(reference: &BytesRef<'_>) -> Option<char> {
    match reference.resolve_char_ref() {
        Ok(Some(sign)) => Some(sign),
        _ => match reference.as_ref() {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => None,
        },
    }
}

/// The texts that cells share. How a text is spoken is no part of it.
fn strings(xml: &str) -> Result<Vec<String>, String> {
    let mut reader = Reader::from_str(xml);
    let (mut strings, mut text, mut spoken) = (Vec::new(), false, false);
    loop {
        match reader.read_event().map_err(|error| excerpt(&error.to_string()))? {
            Event::Start(element) => match element.local_name().as_ref() {
                "si" => strings.push(String::new()),
                "t" => text = !spoken,
                "rPh" => spoken = true,
                _ => {}
            },
            Event::Empty(element) if element.local_name().as_ref() == "si" => {
                strings.push(String::new());
            }
            Event::End(element) => match element.local_name().as_ref() {
                "t" => text = false,
                "rPh" => spoken = false,
                _ => {}
            },
            Event::Text(part) if text => {
                if let Some(string) = strings.last_mut() {
                    string.push_str(&part.xml10_content());
                }
            }
            Event::GeneralRef(part) if text => {
                if let Some(string) = strings.last_mut() {
                    string.extend(sign(&part));
                }
            }
            Event::Eof => return Ok(strings),
            _ => {}
        }
    }
}

/// The column, from 0, and the row, from 1, of a place such as `AB12`.
fn place(reference: &str) -> Option<(usize, usize)> {
    let digits = reference.find(|letter: char| letter.is_ascii_digit())?;
    let (letters, row) = reference.split_at(digits);
    let letter = |all: Option<usize>, letter: u8| {
        let letter = letter.is_ascii_uppercase().then(|| usize::from(letter - b'A') + 1)?;
        Some(all? * 26 + letter).filter(|column| *column <= COLUMNS)
    };
    let column = letters.bytes().fold(Some(0), letter)?.checked_sub(1)?;
    Some((column, row.parse().ok().filter(|row| (1..=ROWS).contains(row))?))
}

/// A text that is written cell by cell.
#[derive(Default)]
struct Lines {
    text: String,
    /// The row, from 1, and the column, from 0, of the cell that comes.
    row: usize,
    column: usize,
    /// The first column of all that has a cell with something in it.
    first: Option<usize>,
}

impl Lines {
    /// The text without the columns before the first that has something.
    fn text(self) -> String {
        let Some(blank) = self.first.filter(|&first| first > 0) else { return self.text };
        let lines = self.text.split('\n').map(|line| line.get(blank..).unwrap_or_default());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Goes on to a row.
    fn go_to_row(&mut self, row: usize) -> Result<(), String> {
        if row <= self.row || row > ROWS {
            return Err(format!("row {row} follows row {}", self.row));
        }
        self.text.extend(std::iter::repeat_n('\n', row - self.row.max(1)));
        (self.row, self.column) = (row, 0);
        Ok(())
    }

    /// Writes a cell, in the column after the one before unless its own is given. What would part cells is a space.
    fn write(&mut self, column: Option<usize>, cell: &str) -> Result<(), String> {
        let column = column.unwrap_or(self.column);
        if column < self.column || column >= COLUMNS || self.row == 0 {
            return Err(format!("row {}: a cell is in no place", self.row));
        }
        let begun = usize::from(self.column > 0);
        self.text.extend(std::iter::repeat_n('\t', column - self.column + begun));
        if !cell.is_empty() {
            self.first = Some(self.first.map_or(column, |first| first.min(column)));
        }
        let plain = |sign: char| if matches!(sign, '\t' | '\n' | '\r') { ' ' } else { sign };
        self.text.extend(cell.chars().filter(|&sign| sign != '"').map(plain));
        self.column = column + 1;
        if self.text.len() > MOST {
            return Err(format!("the sheet has more than {MOST} bytes"));
        }
        Ok(())
    }
}

/// The cells of a sheet.
fn cells(xml: &str, shared: &[String]) -> Result<String, String> {
    let mut reader = Reader::from_str(xml);
    let mut lines = Lines::default();
    // What is known of the cell, and whether its value is being read.
    let (mut kind, mut column, mut value, mut inside) = (String::new(), None, String::new(), false);
    let mut formula = false;
    loop {
        match reader.read_event().map_err(|error| excerpt(&error.to_string()))? {
            Event::Start(element) => match element.local_name().as_ref() {
                "row" => {
                    let row = attribute(&element, "r")?;
                    let row = row.map_or(Some(lines.row + 1), |row| row.parse().ok());
                    lines.go_to_row(row.ok_or("a row has no number")?)?;
                }
                "c" => {
                    kind = attribute(&element, "t")?.unwrap_or_default();
                    column = attribute(&element, "r")?
                        .and_then(|at| place(&at))
                        .map(|(column, _)| column);
                    value.clear();
                    formula = false;
                }
                "f" => formula = true,
                "v" => inside = true,
                "t" => inside = kind == "inlineStr",
                _ => {}
            },
            Event::End(element) => match element.local_name().as_ref() {
                "v" | "t" => inside = false,
                "c" => {
                    let cell = match &*kind {
                        "s" => {
                            let place = value.trim().parse::<usize>().ok();
                            let found = place.and_then(|place| shared.get(place));
                            found.ok_or_else(|| format!("row {}: a text is nowhere", lines.row))?
                        }
                        // Such as #N/A: no number.
                        "e" => "NaN",
                        // Text may be empty.
                        kind if formula && value.is_empty() && kind != "str" => UNCOMPUTED,
                        _ => &*value,
                    };
                    lines.write(column, cell)?;
                }
                _ => {}
            },
            // Blank ones have their places too.
            Event::Empty(element) => match element.local_name().as_ref() {
                "row" => {
                    let row = attribute(&element, "r")?;
                    let row = row.map_or(Some(lines.row + 1), |row| row.parse().ok());
                    lines.go_to_row(row.ok_or("a row has no number")?)?;
                }
                // Formulas that cells share stand in the first of these.
                "f" => formula = true,
                "c" => {
                    let at = attribute(&element, "r")?.and_then(|at| place(&at));
                    lines.write(at.map(|(column, _)| column), "")?;
                }
                _ => {}
            },
            Event::Text(part) if inside => value.push_str(&part.xml10_content()),
            Event::GeneralRef(part) if inside => value.extend(sign(&part)),
            Event::Eof => return Ok(lines.text()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that shared texts are found, as Excel writes them, that cells without a place follow each other, and that what is in no
    /// place is refused.
    #[test]
    fn cells_have_their_places() {
        let shared = strings(
            r"<sst><si><r><t>d</t></r><r><t>o&#115;e</t></r><rPh><t>x</t></rPh></si><si/><si><t>a &lt; b</t></si></sst>",
        );
        let shared = shared.expect("texts");
        let text = |rows: &str| {
            cells(&format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"), &shared)
        };
        let good = r#"<row r="2"><c t="s"><v>0</v></c><c r="C2" t="s"><v>2</v></c></row><row><c><v>1</v></c><c/><c t="b"><v>1</v></c></row>
            <row r="5"><c r="A5"><f>1+1</f><v>2</v></c><c r="C5" t="str"><v>3.5</v></c></row>"#;
        assert_eq!(text(good).as_deref(), Ok("\ndose\t\ta < b\n1\t\t1\n\n2\t\t3.5"));
        let later = r#"<row r="3"><c r="B3"/><c r="C3"><v>1</v></c><c r="D3"><v>2</v></c></row><row r="5"><c r="D5"><f>D3</f></c></row>"#;
        assert_eq!(text(later), Ok(format!("\n\n1\t2\n\n\t{UNCOMPUTED}")));
        for (rows, expected) in [
            (r#"<row r="1048577"/><row r="1048577"></row>"#, "row 1048577 follows"),
            (r#"<row r="2"></row><row r="2"></row>"#, "row 2 follows row 2"),
            (r#"<row r="x"></row>"#, "no number"),
            (r#"<row><c t="s"><v>9</v></c></row>"#, "a text is nowhere"),
            (r#"<row><c r="B1"></c><c r="A1"></c></row>"#, "in no place"),
            ("<c></c>", "in no place"),
            ("<row></c></row>", "expected `</row>`"),
        ] {
            let error = text(rows).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
    }
}
