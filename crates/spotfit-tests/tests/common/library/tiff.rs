//! TIFF files made by hand.

use std::io::Cursor;

use spotfit::movie::{Movie, MovieError, MovieLimits};

pub fn limits() -> MovieLimits {
    MovieLimits::default()
}

pub fn open_tiff(file: Vec<u8>) -> Result<Movie, MovieError> {
    Movie::of_reader("tif", Box::new(Cursor::new(file)), &limits().into())
}

/// A TIFF file by hand: its byte order, its directories as (tag, type, value), and its pixels.
pub fn handmade(
    big_endian: bool,
    directories: &[Vec<(u16, u16, u32)>],
    text: &str,
    data: &[u8],
) -> Vec<u8> {
    let short = |v: u16| if big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
    let long = |v: u32| if big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
    let mut file = if big_endian { b"MM\0*".to_vec() } else { b"II*\0".to_vec() };
    let text_at = 8;
    let data_at = text_at + text.len() as u32;
    let mut at = data_at + data.len() as u32;
    file.extend(long(at));
    file.extend(text.as_bytes());
    file.extend(data);
    for (i, tags) in directories.iter().enumerate() {
        file.extend(short(tags.len() as u16));
        for &(tag, kind, value) in tags {
            file.extend(short(tag));
            file.extend(short(kind));
            // MetaMorph's tag has an item for each plane.
            let count = match tag {
                270 => text.len() as u32,
                33629 => value,
                _ => 1,
            };
            file.extend(long(count));
            let value = match tag {
                270 => text_at,
                273 => data_at + value,
                _ => value,
            };
            if kind == 3 {
                file.extend(short(value as u16));
                file.extend([0; 2]);
            } else {
                file.extend(long(value));
            }
        }
        at += 2 + 12 * tags.len() as u32 + 4;
        file.extend(long(if i + 1 == directories.len() { 0 } else { at }));
    }
    file
}

/// The tags of a frame of the given kind: width, height, bits, sample format, offset.
pub fn tags(width: u32, height: u32, bits: u32, format: u32, offset: u32) -> Vec<(u16, u16, u32)> {
    vec![
        (256, 3, width),
        (257, 3, height),
        (258, 3, bits),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, offset),
        (277, 3, 1),
        (278, 3, height),
        (279, 4, width * height * bits / 8),
        (339, 3, format),
    ]
}
