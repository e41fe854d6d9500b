//! Tables of positions as they are read: no table takes more memory than it should.

use std::io::{self, Read};

use spotfit::storm::{TableError, read_positions};

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
        let error = read_positions(&mut endless).expect_err("an error");
        assert!(matches!(error, TableError::LongRow { line: found } if found == line), "{error}");
        assert!(error.to_string().contains("no row ends within 64 KiB"), "{error}");
        assert!(endless.count < 100_000, "{} bytes read", endless.count);
    }
}

/// Proves that the longest row that is allowed is read, with and without an end of its line.
#[test]
fn the_longest_row_is_read() {
    let row = |length: usize| format!("frame,x,y,name\n0,1,2,{}", "n".repeat(length - 6));
    let read = |text: String| read_positions(text.as_bytes()).map(|positions| positions.len());
    assert_eq!(read(row((1 << 16) - 1) + "\n").unwrap(), 1);
    assert_eq!(read(row(1 << 16)).unwrap(), 1);
    assert_eq!(read(row((1 << 16) - 1) + "\n0,3,4,short\n").unwrap(), 2);
    assert!(read(row(1 << 16) + "\n").is_err());
}

/// Proves that an error repeats no more than the beginning of a long value.
#[test]
fn errors_are_short() {
    let text = format!("frame,x,y\n0,{},2\n", "long".repeat(5000));
    let said = read_positions(text.as_bytes()).unwrap_err().to_string();
    assert!(said.contains("'longlong") && said.contains('…') && said.len() < 150, "{said}");
}
