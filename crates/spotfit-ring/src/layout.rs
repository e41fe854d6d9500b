//! Where things are in a ring, and which rings there can be.

use std::fmt;
use std::str::FromStr;

use crate::RingError;

pub(crate) const MAGIC: &[u8; 8] = b"SPOTRING";
const ORDER: u32 = 0x0A0B_0C0D;
const VERSION: u32 = 1;
/// The size of the header.
pub(crate) const HEADER: usize = 256;
/// The part of it that never changes.
pub(crate) const FIXED: usize = 128;
/// Where the part that changes begins: `written`, `state`, `heartbeat`.
pub(crate) const WRITTEN: u64 = 128;
pub(crate) const STATE: u64 = 136;
pub(crate) const HEARTBEAT: u64 = 144;
/// The size of the header of a slot.
pub(crate) const SLOT_HEADER: usize = 64;
/// Slots begin at multiples of this.
const ALIGNMENT: u64 = 64;

/// The most slots of a ring.
pub const MOST_SLOTS: u32 = 1 << 16;
/// The most bytes of a frame.
pub const MOST_FRAME_BYTES: u64 = 1 << 30;

/// The type of the pixels of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PixelType {
    /// 8 bits.
    U8 = 1,
    /// 16 bits.
    U16,
    /// Floating point of 32 bits.
    F32,
    /// Floating point of 64 bits: results, such as drifts, rather than pixels.
    F64,
}

/// The types, each of which is its number in the header, with their names.
const TYPES: [(PixelType, &str); 4] = [
    (PixelType::U8, "u8"),
    (PixelType::U16, "u16"),
    (PixelType::F32, "f32"),
    (PixelType::F64, "f64"),
];

impl PixelType {
    /// The bytes of a pixel.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

impl fmt::Display for PixelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TYPES.iter().find(|(own, _)| own == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for PixelType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = TYPES.iter().find(|(_, name)| *name == text);
        found
            .map(|(own, _)| *own)
            .ok_or_else(|| format!("'{text}' is not one of u8, u16, f32, f64"))
    }
}

/// The frames of a ring, and how many it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingLayout {
    width: u32,
    height: u32,
    pixels: PixelType,
    slots: u32,
}

impl RingLayout {
    /// A ring of so many frames of this size.
    ///
    /// # Errors
    /// [`RingError::Layout`]: frames have 1 to [`MOST_FRAME_BYTES`] bytes, and a ring 2 to [`MOST_SLOTS`] of them.
    pub fn new(width: u32, height: u32, pixels: PixelType, slots: u32) -> Result<Self, RingError> {
        let layout = Self { width, height, pixels, slots };
        let pixels = u64::from(width) * u64::from(height);
        let fits = pixels
            .checked_mul(layout.pixels.bytes() as u64)
            .is_some_and(|bytes| bytes <= MOST_FRAME_BYTES);
        if pixels == 0 || !fits {
            let reason = format!(
                "frames of {width}×{height} pixels; they have 1 to {MOST_FRAME_BYTES} bytes"
            );
            return Err(RingError::Layout(reason));
        }
        if !(2..=MOST_SLOTS).contains(&slots) {
            return Err(RingError::Layout(format!("{slots} slots; there are 2 to {MOST_SLOTS}")));
        }
        Ok(layout)
    }

    /// Width of a frame in pixels.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Height of a frame in pixels.
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// The type of the pixels.
    pub const fn pixel_type(&self) -> PixelType {
        self.pixels
    }

    /// The number of slots.
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// Pixels of a frame. It is at most [`MOST_FRAME_BYTES`], by the constructor.
    pub const fn frame_pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Bytes of a frame.
    pub const fn frame_bytes(&self) -> u64 {
        self.frame_pixels() as u64 * self.pixels.bytes() as u64
    }

    /// Bytes from one slot to the next.
    pub(crate) const fn slot_bytes(&self) -> u64 {
        (SLOT_HEADER as u64 + self.frame_bytes()).next_multiple_of(ALIGNMENT)
    }

    /// Bytes of the whole ring.
    pub const fn bytes(&self) -> u64 {
        HEADER as u64 + self.slots as u64 * self.slot_bytes()
    }

    /// Where the slot of a frame is.
    pub(crate) const fn slot_of(&self, frame: u64) -> u64 {
        HEADER as u64 + frame % self.slots as u64 * self.slot_bytes()
    }

    /// The part of the header that never changes.
    pub(crate) fn header(&self, generation: u64) -> [u8; FIXED] {
        let mut header = [0; FIXED];
        header[..8].copy_from_slice(MAGIC);
        let numbers = [
            ORDER,
            VERSION,
            HEADER as u32,
            SLOT_HEADER as u32,
            self.pixels as u32,
            self.width,
            self.height,
            self.slots,
        ];
        for (place, number) in header[8..40].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        let sizes = [self.frame_bytes(), self.slot_bytes(), generation];
        for (place, size) in header[40..64].chunks_exact_mut(8).zip(sizes) {
            place.copy_from_slice(&size.to_ne_bytes());
        }
        header
    }

    /// Reads a header in a file of so many bytes; the error says what is wrong with it.
    pub(crate) fn parse(header: &[u8; FIXED], file: u64) -> Result<Self, String> {
        if header[..8] != *MAGIC {
            return Err("it does not begin with SPOTRING".to_owned());
        }
        let [order, version, header_size, slot_header, kind, width, height, slots] =
            std::array::from_fn(|k| u32_at(header, 8 + 4 * k));
        if order == ORDER.swap_bytes() {
            return Err("it is of a machine with another byte order".to_owned());
        }
        let same = |what: &str, is: u64, needed: u64| {
            if is == needed { Ok(()) } else { Err(format!("{what} is {is}, and not {needed}")) }
        };
        same("the mark of the byte order", order.into(), ORDER.into())?;
        same("the version of the layout", version.into(), VERSION.into())?;
        same("the size of the header", header_size.into(), HEADER as u64)?;
        same("the size of the header of a slot", slot_header.into(), SLOT_HEADER as u64)?;
        let known = TYPES.iter().find(|(own, _)| *own as u32 == kind);
        let (pixels, _) = known.ok_or_else(|| format!("{kind} is no type of pixels"))?;
        let layout = Self::new(width, height, *pixels, slots).map_err(|error| error.to_string())?;
        same("the size of a frame", u64_at(header, 40), layout.frame_bytes())?;
        same("the size of a slot", u64_at(header, 48), layout.slot_bytes())?;
        if file < layout.bytes() {
            return Err(format!("it has {file} bytes, and would need {}", layout.bytes()));
        }
        Ok(layout)
    }
}

/// As a user writes it: `512x512:u16`.
impl fmt::Display for RingLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}:{}", self.width, self.height, self.pixels)
    }
}

/// The number at this place.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(number)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a header says what was written, and that each wrong number is refused with a reason.
    #[test]
    fn headers_come_back() {
        let layout = RingLayout::new(512, 300, PixelType::U16, 16).unwrap();
        let header = layout.header(7);
        assert_eq!(RingLayout::parse(&header, layout.bytes()), Ok(layout));
        assert_eq!(layout.to_string(), "512x300:u16");
        assert!(RingLayout::parse(&header, layout.bytes() - 1).unwrap_err().contains("would need"));
        for at in 0..56 {
            let mut wrong = header;
            wrong[at] ^= 0x40;
            assert!(RingLayout::parse(&wrong, layout.bytes()).is_err(), "byte {at}");
        }
    }

    /// Proves that no size of frames or number of slots overflows, and that those that cannot be are refused.
    #[test]
    fn sizes_are_limited() {
        for (width, height, slots) in [
            (0, 1, 2),
            (1, 0, 2),
            (1, 1, 1),
            (1, 1, MOST_SLOTS + 1),
            (u32::MAX, u32::MAX, 2),
            (1 << 16, 1 << 15, 2),
        ] {
            assert!(
                RingLayout::new(width, height, PixelType::F64, slots).is_err(),
                "{width} {height} {slots}"
            );
        }
        assert!(RingLayout::new(1 << 14, 1 << 13, PixelType::F64, MOST_SLOTS).is_ok());
    }
}
