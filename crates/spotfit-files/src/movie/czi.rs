//! Zeiss' CZI: a file of segments, with a directory of its subblocks, each a plane of some channel, slice, time and scene.
//!
//! By Zeiss' description of the format (ZISRAW, 1.2): segments begin with a name of 16 bytes and two lengths; the first tells where the
//! directory and the metadata, a text of XML, lie. Subblocks that are compressed, in colours, or tiles of a mosaic are refused; those of
//! pyramids are smaller images of others and left out.

use std::collections::BTreeSet;

use super::error::wrong;
use super::format::{Format, Read};
use super::placed::{Lie, Planes, grid};
use super::{Acquisition, MovieAxes, MovieError, PixelSize};
use crate::npy::NumberType;
use crate::place::{Bytes, fill_at};

/// The format.
pub(super) const FORMAT: Format = Format::new("CZI", &["czi"], Read::Planes(planes));

/// Who says what the metadata say.
const METADATA: &str = "the CZI metadata";
/// What a segment begins with: its name and two lengths.
const SEGMENT: u64 = 32;
/// The numbers of a directory before its entries.
const DIRECTORY: u64 = 128;
/// An entry without its dimensions, and one of these.
const ENTRY: usize = 32;
const DIMENSION: usize = 20;
/// The most entries, and dimensions of one.
const MOST: u32 = 1 << 24;
const MOST_DIMENSIONS: u32 = 40;
/// The longest metadata.
const LONGEST: u32 = 1 << 26;

/// Numbers of some bytes, the lowest byte first.
fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let part = bytes.get(at..).and_then(|rest| rest.first_chunk());
    part.copied().unwrap_or([0; N])
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(number(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(number(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(number(bytes, at))
}

/// A plane of the directory.
struct Entry {
    pixel_type: i32,
    compression: i32,
    place: u64,
    /// How many bytes it has, as it stands in its subblock once more.
    size: usize,
    /// Width and height as they are shown and as they are stored.
    shown: [u32; 2],
    stored: [u32; 2],
    /// Channel, slice, time, scene, and what else there may be.
    at: [i32; 4],
    tile: i32,
    others: Vec<(u8, i32)>,
}

impl Entry {
    fn read(bytes: &[u8]) -> Option<Self> {
        let dimensions = u32_at(bytes, 28).min(MOST_DIMENSIONS + 1);
        let size = ENTRY + DIMENSION * dimensions as usize;
        if dimensions > MOST_DIMENSIONS || !bytes.starts_with(b"DV") || bytes.len() < size {
            return None;
        }
        let mut entry = Self {
            pixel_type: i32_at(bytes, 2),
            place: u64_at(bytes, 6),
            compression: i32_at(bytes, 18),
            size,
            shown: [0; 2],
            stored: [0; 2],
            at: [0; 4],
            tile: 0,
            others: Vec::new(),
        };
        for dimension in bytes[ENTRY..size].chunks_exact(DIMENSION) {
            let (start, size) = (i32_at(dimension, 4), u32_at(dimension, 8));
            let stored = u32_at(dimension, 16);
            match dimension[0] {
                b'X' => (entry.shown[0], entry.stored[0]) = (size, stored),
                b'Y' => (entry.shown[1], entry.stored[1]) = (size, stored),
                b'C' => entry.at[0] = start,
                b'Z' => entry.at[1] = start,
                b'T' => entry.at[2] = start,
                b'S' => entry.at[3] = start,
                b'M' => entry.tile = start,
                // An axis of one, as files have it.
                other => entry.others.push((other, start)),
            }
        }
        Some(entry)
    }

    /// Whether it shows others smaller.
    fn is_reduced(&self) -> bool {
        self.stored != [0; 2] && self.stored != self.shown
    }
}

/// The directory.
fn entries(bytes: &Bytes, place: u64) -> Result<Vec<Entry>, MovieError> {
    let length = bytes.length()?;
    let mut head = [0; (SEGMENT + DIRECTORY) as usize];
    let got = fill_at(&**bytes, place, &mut head)?;
    if got < head.len() || !head.starts_with(b"ZISRAWDIRECTORY") {
        return Err(wrong("its directory is missing, as after a crash"));
    }
    let (used, count) = (u64_at(&head, 24), u32_at(&head, SEGMENT as usize));
    let most =
        u64::from(count.min(MOST)) * (ENTRY as u64 + DIMENSION as u64 * u64::from(MOST_DIMENSIONS));
    let begin = place + SEGMENT + DIRECTORY;
    let size = used.saturating_sub(DIRECTORY).min(most).min(length.saturating_sub(begin));
    let mut data = vec![0; usize::try_from(size).unwrap_or(0)];
    let got = fill_at(&**bytes, begin, &mut data)?;
    let mut rest = &data[..got];
    let mut all = Vec::new();
    for _ in 0..count {
        let entry = Entry::read(rest);
        let entry = entry.ok_or_else(|| wrong("its directory is incomplete"))?;
        rest = &rest[entry.size..];
        all.push(entry);
    }
    Ok(all)
}

/// Where the numbers of a subblock begin, and how many bytes they have.
fn numbers(bytes: &Bytes, entry: &Entry) -> Result<Option<(u64, u64)>, MovieError> {
    let mut head = [0; SEGMENT as usize + 16];
    let got = fill_at(&**bytes, entry.place, &mut head)?;
    if got < head.len() || !head.starts_with(b"ZISRAWSUBBLOCK") {
        return Ok(None);
    }
    let (metadata, size) = (u32_at(&head, 32), u64_at(&head, 40));
    let fixed = (16 + entry.size as u64).max(256);
    let start = entry.place.checked_add(SEGMENT + fixed + u64::from(metadata));
    Ok(start.map(|start| (start, size)))
}

/// What the file says of its planes.
fn planes(bytes: &Bytes) -> Result<Planes, MovieError> {
    let mut head = [0; 100];
    let got = fill_at(&**bytes, 0, &mut head)?;
    if got < head.len() || !head.starts_with(b"ZISRAWFILE") {
        return Err(wrong("it does not begin as one"));
    }
    if i32_at(&head, 80) != 0 {
        return Err(wrong("it is one of several files, which are not read"));
    }
    let all = entries(bytes, u64_at(&head, 84))?;
    let reduced = all.iter().filter(|entry| entry.is_reduced()).count();
    let all: Vec<Entry> = all.into_iter().filter(|entry| !entry.is_reduced()).collect();
    let Some(first) = all.first() else { return Err(MovieError::Empty) };
    let save = "save it as OME-TIFF in ZEN, or with Bio-Formats";
    if all.iter().any(|entry| entry.compression != 0) {
        return Err(wrong(format!("its planes are compressed; {save}")));
    }
    if all.iter().any(|entry| entry.tile != first.tile) {
        return Err(wrong(format!("its planes are tiles of a mosaic; {save}")));
    }
    if all.iter().any(|entry| entry.shown != first.shown || entry.pixel_type != first.pixel_type) {
        return Err(wrong(format!("its planes differ in size or type; {save}")));
    }
    if all.iter().any(|entry| entry.others != first.others) {
        return Err(wrong(format!(
            "its planes have axes besides channel, slice, time and scene; {save}"
        )));
    }
    let number = match first.pixel_type {
        0 => NumberType::U8,
        1 => NumberType::U16,
        2 => NumberType::F32,
        12 => NumberType::U32,
        3 | 4 | 8 | 9 => return Err(wrong("its pixels are coloured; save it in grey")),
        other => return Err(wrong(format!("its pixels are of type {other}, which is unknown"))),
    };
    let [width, height] = first.shown.map(|side| usize::try_from(side).unwrap_or(usize::MAX));
    let (lie, frame) = Lie::dense(number, width, height);
    let values = |axis: usize| -> Vec<i32> {
        let values: BTreeSet<i32> = all.iter().map(|entry| entry.at[axis]).collect();
        values.into_iter().collect()
    };
    let axes = [values(0), values(1), values(2), values(3)];
    let counts = [0, 1, 2, 3].map(|axis: usize| axes[axis].len());
    let planes = grid(&counts, all.len())
        .ok_or_else(|| wrong("its planes do not make a grid of channels, slices and times"))?;
    let mut places = vec![None; planes];
    for entry in &all {
        let at = [0, 1, 2, 3]
            .map(|axis: usize| axes[axis].partition_point(|&value| value < entry.at[axis]));
        let [channel, slice, time, scene] = at;
        let plane = ((scene * counts[2] + time) * counts[1] + slice) * counts[0] + channel;
        let place = numbers(bytes, entry)?.filter(|&(_, size)| size >= frame);
        places[plane] = places[plane].or(place.map(|(place, _)| place));
    }
    let mut notes = Vec::new();
    if reduced > 0 {
        let images = match reduced {
            1 => "a smaller image of another, which is left out".to_owned(),
            _ => format!("{reduced} smaller images of others, which are left out"),
        };
        notes.push(format!("has {images}"));
    }
    let text = metadata(bytes, u64_at(&head, 92))?;
    let side = pixel_side(&text).map(|metres| metres * 1e9);
    let pixel_size = PixelSize::noted(side, METADATA, &mut notes);
    let mut movie_axes = MovieAxes::frames(counts[2]);
    (movie_axes.channels, movie_axes.slices) = (counts[0], counts[1]);
    Ok(Planes {
        lie,
        axes: movie_axes,
        positions: (1..=counts[3]).map(|number| number.to_string()).collect(),
        places,
        times: None,
        pixel_size,
        acquisition: acquisition(&text).by(METADATA),
        notes,
    })
}

/// The text of the metadata; empty if there is none.
fn metadata(bytes: &Bytes, place: u64) -> Result<String, MovieError> {
    let mut head = [0; SEGMENT as usize + 4];
    let got = fill_at(&**bytes, place, &mut head)?;
    if place == 0 || got < head.len() || !head.starts_with(b"ZISRAWMETADATA") {
        return Ok(String::new());
    }
    let begin = place + SEGMENT + 256;
    let size = u32_at(&head, SEGMENT as usize).min(LONGEST);
    let size = u64::from(size).min(bytes.length()?.saturating_sub(begin));
    let mut text = vec![0; usize::try_from(size).unwrap_or(0)];
    let got = fill_at(&**bytes, begin, &mut text)?;
    text.truncate(got);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// What stands between the first begin of an element, with these attributes, and its end.
fn inside<'a>(text: &'a str, begin: &str, name: &str) -> Option<&'a str> {
    let rest = text.split_once(begin)?.1.split_once('>')?.1;
    Some(rest.split_once(&format!("</{name}>"))?.0)
}

/// The side of a pixel in metres, if those along x and y are alike.
fn pixel_side(text: &str) -> Option<f64> {
    let scaling = inside(text, "<Scaling", "Scaling")?;
    let side = |axis: &str| -> Option<f64> {
        let distance = inside(scaling, &format!("<Distance Id=\"{axis}\""), "Distance")?;
        inside(distance, "<Value", "Value")?.trim().parse().ok()
    };
    let (x, y) = (side("X")?, side("Y")?);
    ((x - y).abs() <= 1e-3 * x.abs()).then_some(x)
}

/// What the metadata say of the camera.
fn acquisition(text: &str) -> Acquisition {
    let seconds = |text: &str| text.trim().parse::<f64>().ok().map(|time| time / 1e9);
    let sides = |text: &str| {
        let (x, y) = text.trim().split_once([',', 'x'])?;
        Some([x.trim().parse().ok()?, y.trim().parse().ok()?])
    };
    let text = inside(text, "<Information", "Information").unwrap_or_default();
    Acquisition {
        exposure: inside(text, "<ExposureTime", "ExposureTime").and_then(seconds),
        binning: inside(text, "<Binning", "Binning").and_then(sides),
        significant_bits: inside(text, "<ComponentBitCount", "ComponentBitCount")
            .and_then(|text| text.trim().parse().ok()),
        ..Acquisition::default()
    }
}
