//! FITS, of astronomers and of some cameras' software: an image, or a cube whose third axis are the frames.
//!
//! Version 4.0 of the FITS standard (2018): blocks of 2880 bytes, headers of cards of 80 characters, numbers with the highest byte first.
//! Rows are read in the order of the file. `BZERO`, `BSCALE` and `BLANK` are minded; pixels that are blank are NaN.

use super::error::wrong;
use super::format::{Format, Read};
use super::header::Header;
use super::raw::Adjust;
use super::{Acquisition, MovieError};
use crate::excerpt::excerpt;
use crate::npy::NumberType;
use crate::place::{Bytes, fill_at};

/// The format.
pub(super) const FORMAT: Format =
    Format::new("FITS", &["fits", "fit", "fts"], Read::Header(header));

/// Length of a block, and of a card in it.
const BLOCK: usize = 2880;
const CARD: usize = 80;
/// The longest header, in blocks: one mebibyte.
const LONGEST: usize = 364;
/// The most parts of a file that are looked at.
const PARTS: usize = 1000;

/// What the header of the first image says.
fn header(bytes: &Bytes) -> Result<Header, MovieError> {
    let mut found: Option<Header> = None;
    let (mut at, mut images) = (0_u64, 0);
    let mut compressed = false;
    for part in 0..PARTS {
        let cards = match Cards::read(bytes, at, part == 0) {
            Ok(Some(cards)) => cards,
            // After the image there may be anything.
            Ok(None) => break,
            Err(_) if found.is_some() => break,
            Err(error) => return Err(error),
        };
        compressed |= cards.is_true("ZIMAGE");
        if cards.is_image()? {
            images += 1;
            if found.is_none() {
                found = Some(cards.image()?);
            }
        }
        let Some(next) = cards.end.checked_add(cards.data()?) else { break };
        at = next;
    }
    let Some(mut header) = found else {
        return Err(wrong(if compressed {
            "its image is compressed; unpack it with 'funpack'"
        } else {
            "it has no image of two or three axes"
        }));
    };
    if images > 1 {
        header.notes.push(format!("has {images} images; the first is read"));
    }
    Ok(header)
}

/// The header of a part of a file.
struct Cards {
    /// Names and values.
    cards: Vec<(String, String)>,
    /// Where its data begin.
    end: u64,
}

impl Cards {
    /// Of the part that begins here, if there is one.
    fn read(bytes: &Bytes, at: u64, first: bool) -> Result<Option<Self>, MovieError> {
        let mut cards = Vec::new();
        let mut block = [0; BLOCK];
        for number in 0..LONGEST {
            let place = at.saturating_add((number * BLOCK) as u64);
            let got = fill_at(&**bytes, place, &mut block)?;
            if number == 0 {
                let begins = if first { &b"SIMPLE  ="[..] } else { b"XTENSION=" };
                if !block.starts_with(begins) || got < BLOCK {
                    return match first {
                        true => Err(wrong("it does not begin with 'SIMPLE'")),
                        false => Ok(None),
                    };
                }
            }
            if got < BLOCK {
                return Err(wrong("it ends within a header"));
            }
            for card in block.chunks_exact(CARD) {
                let text = String::from_utf8_lossy(card);
                let name = text.get(..8).unwrap_or_default().trim_end();
                if name == "END" {
                    return Ok(Some(Self { cards, end: place.saturating_add(BLOCK as u64) }));
                }
                if let Some(value) = text.get(8..).and_then(|rest| rest.strip_prefix("= ")) {
                    cards.push((name.to_owned(), plain(value)));
                }
            }
        }
        Err(wrong(format!("its header has no END within {LONGEST} blocks")))
    }

    /// The value of a card.
    fn value(&self, name: &str) -> Option<&str> {
        self.cards.iter().find(|(of, _)| of == name).map(|(_, value)| &**value)
    }

    fn is_true(&self, name: &str) -> bool {
        self.value(name) == Some("T")
    }

    /// A number; it must be there unless there is one that it is without.
    fn number<T: std::str::FromStr>(
        &self,
        name: &str,
        without: Option<T>,
    ) -> Result<T, MovieError> {
        match self.value(name) {
            // Exponents of double precision may have a D.
            Some(value) => value
                .replace(['D', 'd'], "E")
                .parse()
                .map_err(|_| wrong(format!("'{name}' is not such a number: {}", excerpt(value)))),
            None => without.ok_or_else(|| wrong(format!("'{name}' is missing"))),
        }
    }

    /// How the frames were acquired, by the names that cameras' programs use.
    fn acquisition(&self) -> Acquisition {
        let number = |names: &[&str]| {
            names
                .iter()
                .find_map(|name| self.number(name, None).ok())
                .filter(|value: &f64| value.is_finite())
        };
        let camera = ["HEAD", "CAMERA", "DETECTOR", "INSTRUME"]
            .into_iter()
            .find_map(|name| self.value(name));
        let found = Acquisition {
            camera: camera.map(str::to_owned),
            exposure: number(&["EXPTIME", "EXPOSURE"]),
            frame_time: number(&["KCT"]),
            sensitivity: number(&["EGAIN"]),
            em_gain: number(&["EMGAIN", "EMREALGN"]),
            read_noise: number(&["RDNOISE", "READNOIS"]),
            ..Acquisition::default()
        };
        found.by("the FITS header")
    }

    /// The lengths of its axes.
    fn axes(&self) -> Result<Vec<u64>, MovieError> {
        let count: usize = self.number("NAXIS", None)?;
        if count > 999 {
            return Err(wrong(format!("it has {count} axes")));
        }
        (1..=count).map(|axis| self.number(&format!("NAXIS{axis}"), None)).collect()
    }

    fn is_image(&self) -> Result<bool, MovieError> {
        let axes = self.axes()?;
        let is_table = self.value("XTENSION").is_some_and(|kind| kind != "IMAGE");
        let groups = self.is_true("GROUPS");
        Ok(!is_table && !groups && axes.len() >= 2 && !axes.contains(&0))
    }

    /// The bytes of its data, with what fills the last block.
    fn data(&self) -> Result<u64, MovieError> {
        let mut axes = self.axes()?;
        if axes.is_empty() {
            return Ok(0);
        }
        if self.is_true("GROUPS") && axes[0] == 0 {
            axes.remove(0);
        }
        let bits = self.number::<i64>("BITPIX", None)?.unsigned_abs();
        let (groups, more) =
            (self.number("GCOUNT", Some(1_u64))?, self.number("PCOUNT", Some(0_u64))?);
        let all = axes.iter().try_fold(1_u64, |all, axis| all.checked_mul(*axis));
        let all = all
            .and_then(|all| all.checked_add(more)?.checked_mul(groups)?.checked_mul(bits / 8))
            .and_then(|bytes| bytes.checked_next_multiple_of(BLOCK as u64));
        all.ok_or_else(|| wrong("its axes have more pixels than can be counted"))
    }

    /// The image.
    fn image(&self) -> Result<Header, MovieError> {
        let axes = self.axes()?;
        let axes: Vec<usize> =
            axes.iter().map(|&axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect();
        let frames = axes.get(2).copied().unwrap_or(1);
        if axes.iter().skip(3).any(|&axis| axis != 1) {
            return Err(wrong(format!("its image has {} axes: a movie has three", axes.len())));
        }
        let number = match self.number::<i64>("BITPIX", None)? {
            8 => NumberType::U8,
            16 => NumberType::I16,
            32 => NumberType::I32,
            64 => NumberType::I64,
            -32 => NumberType::F32,
            -64 => NumberType::F64,
            other => return Err(wrong(format!("'BITPIX' is {other}"))),
        };
        let (scale, zero) = (self.number("BSCALE", Some(1.0))?, self.number("BZERO", Some(0.0))?);
        let whole = !matches!(number, NumberType::F32 | NumberType::F64);
        let blank = if whole && self.value("BLANK").is_some() {
            Some(self.number::<i64>("BLANK", None)?)
        } else {
            None
        };
        let finite = |value: f64| value.is_finite();
        if !finite(scale) || !finite(zero) || scale == 0.0 {
            return Err(wrong(format!("'BSCALE' is {scale} and 'BZERO' is {zero}")));
        }
        let (number, adjust) = match (number, scale, zero, blank) {
            (NumberType::I16, 1.0, 32_768.0, None) => (NumberType::U16, Some(Adjust::Upper)),
            (number, 1.0, 0.0, None) => (number, None),
            (number, ..) => (number, Some(Adjust::Scaled { scale, zero, blank })),
        };
        Ok(Header {
            big_endian: true,
            adjust,
            acquisition: self.acquisition(),
            ..Header::new(number, (frames, axes[1], axes[0]), self.end)
        })
    }
}

/// A value without quotes, comment and spaces.
fn plain(value: &str) -> String {
    let value = value.trim_start();
    match value.strip_prefix('\'') {
        Some(text) => text.split('\'').next().unwrap_or_default().trim_end().to_owned(),
        None => value.split('/').next().unwrap_or_default().trim().to_owned(),
    }
}
