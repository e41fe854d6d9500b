//! From bytes to text.

use std::borrow::Cow;

/// The text of a file in the encoding that it has.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return utf_8(rest);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Cow::Owned(utf_16(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return Cow::Owned(utf_16(rest, u16::from_be_bytes));
    }
    // Numbers and delimiters have a zero for their other half.
    let start = &bytes[..bytes.len().min(512) / 2 * 2];
    let zeros = |half: usize| start.iter().skip(half).step_by(2).filter(|&&byte| byte == 0).count();
    let most = 3 * start.len() / 8;
    if most > 0 && zeros(1) > most && zeros(0) == 0 {
        return Cow::Owned(utf_16(bytes, u16::from_le_bytes));
    }
    if most > 0 && zeros(0) > most && zeros(1) == 0 {
        return Cow::Owned(utf_16(bytes, u16::from_be_bytes));
    }
    utf_8(bytes)
}

fn utf_8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // Every byte is a character of Latin-1.
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

fn utf_16(bytes: &[u8], number: impl Fn([u8; 2]) -> u16) -> String {
    let (pairs, _) = bytes.as_chunks::<2>();
    char::decode_utf16(pairs.iter().map(|&pair| number(pair)))
        .map(|symbol| symbol.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}
