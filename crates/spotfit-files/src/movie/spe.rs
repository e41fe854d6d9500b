//! Princeton Instruments' SPE, version 2, as WinView writes it: a header of 4100 bytes, then the frames, the lowest byte first.
//!
//! Version 3, of LightField, has data between frames that only its XML tells; it is refused.

use super::error::wrong;
use super::format::{Format, Read};
use super::header::Header;
use super::{Acquisition, MovieError};
use crate::npy::NumberType;
use crate::place::{Bytes, fill_at};

/// The format.
pub(super) const FORMAT: Format = Format::new("SPE", &["spe"], Read::Header(header));

/// How long the header is.
const HEADER: usize = 4100;

/// What the header says.
fn header(bytes: &Bytes) -> Result<Header, MovieError> {
    let mut head = [0; HEADER];
    if fill_at(&**bytes, 0, &mut head)? < HEADER {
        return Err(wrong("it is shorter than its header"));
    }
    let u16_at = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
    let f32_at = |at: usize| f64::from(f32::from_bits(u32_at(at)));
    let version = f32_at(1992);
    if !(0.0..3.0).contains(&version) {
        return Err(wrong(match version {
            3.0..4.0 => {
                "it is of version 3, of LightField; export it from there as TIFF or as SPE 2"
                    .to_owned()
            }
            _ => "it does not begin as one".to_owned(),
        }));
    }
    let number = match u16_at(108) {
        0 => NumberType::F32,
        1 => NumberType::I32,
        2 => NumberType::I16,
        3 => NumberType::U16,
        5 => NumberType::F64,
        6 => NumberType::U8,
        8 => NumberType::U32,
        other => return Err(wrong(format!("its pixels are of type {other}, which is unknown"))),
    };
    // Regions of the detector are stored one after the other within a frame.
    let regions = u16_at(1510);
    if regions > 1 {
        let reason =
            format!("its frames have {regions} regions of the detector; movies of one are read");
        return Err(wrong(reason));
    }
    let (width, height, frames) = (u16_at(42).into(), u16_at(656).into(), u32_at(1446));
    let binning = [u16_at(1516), u16_at(1522)].map(u32::from);
    let found = Acquisition {
        exposure: Some(f32_at(10)),
        binning: Some(binning).filter(|_| regions == 1),
        ..Acquisition::default()
    };
    let frames = usize::try_from(frames).unwrap_or(usize::MAX);
    Ok(Header {
        acquisition: found.by("the SPE header"),
        ..Header::new(number, (frames, height, width), HEADER as u64)
    })
}
