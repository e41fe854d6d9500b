//! From bytes to text.

use std::borrow::Cow;

/// How text is encoded, by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or Latin-1 where it is none.
    Narrow,
    /// UTF-16.
    Wide {
        /// Whether the lower half of a unit is first.
        little: bool,
    },
}

impl Encoding {
    /// The encoding, and the length of the mark that says it.
    pub fn of(bytes: &[u8]) -> (Self, usize) {
        match bytes {
            [0xef, 0xbb, 0xbf, ..] => return (Self::Narrow, 3),
            [0xff, 0xfe, ..] => return (Self::Wide { little: true }, 2),
            [0xfe, 0xff, ..] => return (Self::Wide { little: false }, 2),
            _ => {}
        }
        // Numbers and delimiters have a zero for their other half.
        let start = &bytes[..bytes.len().min(512) / 2 * 2];
        let zeros = |half: usize| start.iter().skip(half).step_by(2).filter(|&&byte| byte == 0);
        let is_other = |half: usize| {
            8 * zeros(half).count() > 3 * start.len() && zeros(1 - half).next().is_none()
        };
        match [1, 0].map(is_other) {
            [true, _] => (Self::Wide { little: true }, 0),
            [_, true] => (Self::Wide { little: false }, 0),
            _ => (Self::Narrow, 0),
        }
    }

    /// Appends the text of these bytes to some of UTF-8, and leaves those that are a part of a sign.
    pub fn decode(self, bytes: &mut Vec<u8>, text: &mut Vec<u8>) {
        let Self::Wide { little } = self else { return text.append(bytes) };
        let unit = |&pair: &[u8; 2]| match little {
            true => u16::from_le_bytes(pair),
            false => u16::from_be_bytes(pair),
        };
        let (pairs, _) = bytes.as_chunks::<2>();
        let is_half = |pair: &[u8; 2]| (0xd800..0xdc00).contains(&unit(pair));
        let whole = pairs.len() - usize::from(pairs.last().is_some_and(is_half));
        for sign in char::decode_utf16(pairs[..whole].iter().map(unit)) {
            let sign = sign.unwrap_or(char::REPLACEMENT_CHARACTER);
            text.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
        }
        bytes.drain(..2 * whole);
    }
}

/// The text of a file in the encoding that it has.
pub(crate) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let (encoding, mark) = Encoding::of(bytes);
    let bytes = &bytes[mark..];
    if encoding == Encoding::Narrow {
        return text_of_bytes(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len() / 2);
    encoding.decode(&mut bytes.to_vec(), &mut text);
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

/// Text of UTF-8 or Latin-1.
pub fn text_of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // Every byte is a character of Latin-1.
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}
