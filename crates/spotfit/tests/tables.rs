//! Tables as they are read: what they hold, and that no table takes more memory than it should.

use std::io::{self, Read};

use spotfit::storm::{Point, PointReader, TableError, read_positions};

/// A text, then the same bytes again and again without an end; counts what is read.
struct Endless<'a> {
    begin: &'a [u8],
    again: &'a [u8],
    count: u64,
}

impl<'a> Endless<'a> {
    fn new(begin: &'a str, again: &'a str) -> Self {
        Self { begin: begin.as_bytes(), again: again.as_bytes(), count: 0 }
    }
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(self.count < 1 << 30, "nobody stops reading");
        for byte in buffer.iter_mut() {
            let at = self.count as usize;
            let begin = self.begin.get(at).copied();
            *byte = begin.unwrap_or(self.again[(at - self.begin.len().min(at)) % self.again.len()]);
            self.count += 1;
        }
        Ok(buffer.len())
    }
}

fn points(text: &str) -> PointReader<&[u8]> {
    PointReader::new(text.as_bytes()).expect("a header")
}

/// Proves that points are read one by one, in either unit, and that failed fits are left out and counted.
#[test]
fn points_are_read_one_by_one() {
    let text = "id,\"x [nm]\",\"y [nm]\",\"uncertainty_xy [nm]\"\n1,2.5,3,0.5\n2,NaN,1,1\n3,1,2,inf\n\n4,-1,0,2\n";
    let mut reader = points(text);
    assert!(reader.nanometres());
    let first = Point { x: 2.5, y: 3.0, uncertainty: 0.5 };
    assert_eq!(reader.next().unwrap().unwrap(), first);
    assert_eq!(reader.left_out(), 0);
    assert_eq!(reader.next().unwrap().unwrap(), Point { x: -1.0, y: 0.0, uncertainty: 2.0 });
    assert!(reader.next().is_none());
    assert_eq!(reader.left_out(), 2);

    let mut reader = points("\u{feff}y,x\n1,2\n3,four\n5,6\n");
    assert!(!reader.nanometres());
    assert_eq!(reader.next().unwrap().unwrap(), Point { x: 2.0, y: 1.0, uncertainty: 0.0 });
    let said = reader.next().unwrap().unwrap_err().to_string();
    assert_eq!(said, "line 3: x = 'four' is not a number");
    assert!(reader.next().is_none(), "it ends after an error");
    assert!(matches!(PointReader::new(&b"x,z\n"[..]), Err(TableError::Column(_))));
}

/// Proves that a row without an end is refused after 64 KiB, with its line, wherever it begins: in the
/// header, further down, or as a quotation over many lines. (`/dev/zero` is such a row.)
#[test]
fn endless_rows_are_refused() {
    let cases = [
        ("", "\0", 1),
        ("frame,x,y\n", "\0", 2),
        ("frame,x,y\n0,1,2\n0,3,", "4", 3),
        ("frame,x,y\n0,1,2\n0,3,4\n\"", "short lines\n", 4),
        ("frame,x,y\n", ",", 2),
    ];
    for (begin, again, line) in cases {
        let mut endless = Endless::new(begin, again);
        let read: Result<Vec<_>, _> = PointReader::new(&mut endless).and_then(Iterator::collect);
        let error = read.expect_err("an error");
        assert!(matches!(error, TableError::LongRow { line: found } if found == line), "{error}");
        assert!(error.to_string().contains("no row ends within 64 KiB"), "{error}");
        assert!(endless.count < 100_000, "{} bytes read", endless.count);
        let mut endless = Endless::new(begin, again);
        let error = read_positions(&mut endless).expect_err("an error");
        assert!(matches!(error, TableError::LongRow { line: found } if found == line), "{error}");
        assert!(endless.count < 100_000, "{} bytes read", endless.count);
    }
}

/// Proves that the longest row that is allowed is read, with and without an end of its line.
#[test]
fn the_longest_row_is_read() {
    let row = |length: usize| format!("x,y,name\n1,2,{}", "n".repeat(length - 4));
    let read = |text: String| points(&text).collect::<Result<Vec<_>, _>>();
    assert_eq!(read(row((1 << 16) - 1) + "\n").unwrap().len(), 1);
    assert_eq!(read(row(1 << 16)).unwrap().len(), 1);
    assert_eq!(read(row((1 << 16) - 1) + "\n3,4,short\n").unwrap().len(), 2);
    assert!(read(row(1 << 16) + "\n").is_err());
}

/// Proves that an error repeats no more than the beginning of a long value.
#[test]
fn errors_are_short() {
    let text = format!("x,y\n{},2\n", "long".repeat(5000));
    let said = points(&text).next().unwrap().unwrap_err().to_string();
    assert!(said.contains("'longlong") && said.contains('…') && said.len() < 150, "{said}");
}
