//! Files that are no text, told by their first bytes.

/// Within so many bytes each of these that begins with letters has one that no text has.
const HEAD: usize = 128;

/// What a file is that somebody takes for a table in text, with the way to make one of it; `None` if its first bytes do not tell.
pub fn no_text(bytes: &[u8]) -> Option<String> {
    let pandas = |what: &str, reader: &str| {
        format!(
            "it is {what}; in Python, pandas.{reader}('a').to_csv('a.csv', index=False) makes CSV of it"
        )
    };
    // A name of a column may begin like those that are letters.
    let has_control = bytes.iter().take(HEAD).any(|&byte| byte < b'\t');
    let is = |magic: &[u8]| bytes.starts_with(magic) && (has_control || !magic.is_ascii());
    Some(if is_jcamp(bytes) {
        "it is JCAMP-DX; in Python, d = jcamp.jcamp_readfile('a.jdx') and numpy.savetxt('a.txt', numpy.c_[d['x'], d['y']]) \
         make columns of it"
            .to_owned()
    } else if is(b"PAR1") {
        pandas("Parquet", "read_parquet")
    } else if is(b"ARROW1") || is(b"FEA1") {
        pandas("Feather of Apache Arrow", "read_feather")
    } else if is(b"\x80\x04\x95") || is(b"\x80\x05\x95") {
        pandas("a pickle of Python", "read_pickle")
    } else if is(b"\xd0\xcf\x11\xe0") {
        "it is a workbook of Excel before 2007; save its sheet as CSV".to_owned()
    } else if is(b"PK\x03\x04") {
        "it is a ZIP archive or a workbook of Excel; unpack it, or save its sheet as CSV".to_owned()
    } else if is(b"\x1f\x8b") || is(b"\x28\xb5\x2f\xfd") || is(b"BZh") || is(b"\xfd7zXZ") {
        "it is compressed; unpack it first".to_owned()
    } else if is(b"\x89HDF\r\n\x1a\n") {
        "it is HDF5; localizations in HDF5 are read where the name ends with .hdf5, other columns as CSV".to_owned()
    } else if is(b"MATLAB 5") || is(b"MATLAB 7") {
        "it is of MATLAB; write a table with its 'writetable'".to_owned()
    } else if is(b"\x93NUMPY") {
        "it is an array of NumPy; numpy.savetxt makes text of it".to_owned()
    } else if is(b"SQLite format 3") {
        "it is a database of SQLite; export its table as CSV".to_owned()
    } else if [&b"II*\0"[..], b"II+\0", b"MM\0*", b"MM\0+"].iter().any(|magic| is(magic)) {
        "it is a TIFF image".to_owned()
    } else {
        return None;
    })
}

/// Whether one of the first lines names the version of JCAMP-DX, whose numbers are no columns. (McDonald & Wilks 1988, JCAMP-DX: a
/// standard form for exchange of infrared spectra in computer readable form; labels have any capitals, spaces and hyphens.)
fn is_jcamp(bytes: &[u8]) -> bool {
    let lines = bytes[..bytes.len().min(1 << 12)].split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.filter_map(|line| line.trim_ascii_start().strip_prefix(b"##")).any(|line| {
        let label = line.split(|&byte| byte == b'=').next().unwrap_or_default();
        let letters = label.iter().filter(|byte| byte.is_ascii_alphabetic());
        letters.map(u8::to_ascii_uppercase).eq(*b"JCAMPDX")
    })
}
