//! Nikon's ND2, as NIS-Elements writes it since version 3: a file of chunks, and a map of them at its end.
//!
//! The format is not public. A chunk has a mark, the lengths of its name and of its data, its name, and its data. The last 40 bytes name the
//! map and its place; the map has the name, the place and the length of each chunk. What the frames are stands in chunks of variants: a
//! type, a name in UTF-16, and a value, which may be a level of more of them. Each frame is a time in milliseconds and its rows, in which the
//! channels of a pixel follow each other. Frames that are compressed are refused.

use std::collections::BTreeMap;

use super::error::wrong;
use super::format::{Format, Read};
use super::placed::{Lie, Planes};
use super::{Acquisition, MovieAxes, MovieError, PixelSize};
use crate::npy::NumberType;
use crate::place::{Bytes, fill_at};

/// The format.
pub(super) const FORMAT: Format = Format::new("ND2", &["nd2"], Read::Planes(planes));

/// Who says what the metadata say.
const METADATA: &str = "the ND2 metadata";
/// What a chunk begins with.
const MAGIC: u32 = 0x0abe_ceda;
/// What old files begin with, those of JPEG 2000.
const JPEG_2000: [u8; 4] = [0, 0, 0, 12];
const MAP: &[u8] = b"ND2 CHUNK MAP SIGNATURE 0000001!";
/// The longest map, and the longest other chunk that is read whole.
const LONGEST_MAP: u64 = 1 << 28;
const LONGEST: u64 = 1 << 24;
/// The most channels of a pixel.
const MOST_CHANNELS: usize = 64;
/// How deep levels may lie in each other, and how many values there may be.
const DEEPEST: usize = 16;
const MOST_VALUES: usize = 1 << 17;

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// Where chunks lie, by their names.
struct Chunks {
    bytes: Bytes,
    places: BTreeMap<Vec<u8>, u64>,
}

impl Chunks {
    fn read(bytes: &Bytes) -> Result<Self, MovieError> {
        let mut start = [0; 4];
        fill_at(&**bytes, 0, &mut start)?;
        if start == JPEG_2000 {
            return Err(wrong(
                "it is one of before 2008, made of JPEG 2000; open it in Fiji with Bio-Formats and save it as TIFF",
            ));
        }
        if u32::from_le_bytes(start) != MAGIC {
            return Err(wrong("it does not begin as one"));
        }
        let no_map = || {
            wrong(
                "it has no map of its chunks at its end, as after a crash; NIS-Elements can recover it",
            )
        };
        let length = bytes.length()?;
        let mut end = [0; 40];
        let got = fill_at(&**bytes, length.saturating_sub(40), &mut end)?;
        if got < 40 || !end.starts_with(MAP) {
            return Err(no_map());
        }
        let place = u64_at(&end, 32).ok_or_else(no_map)?;
        let (_, map) = data(bytes, place, LONGEST_MAP, length)?.ok_or_else(no_map)?;
        let mut places = BTreeMap::new();
        let mut rest = &map[..];
        while let Some(end) = rest.iter().position(|&byte| byte == b'!') {
            let (name, after) = rest.split_at(end + 1);
            if name == MAP {
                break;
            }
            let Some(place) = u64_at(after, 0) else { break };
            places.insert(name.to_vec(), place);
            rest = after.get(16..).unwrap_or_default();
        }
        Ok(Self { bytes: bytes.clone(), places })
    }

    /// The variants of a chunk; none if there is no such chunk.
    fn variants(&self, name: &[u8]) -> Result<Vec<Variant>, MovieError> {
        let Some(&place) = self.places.get(name) else { return Ok(Vec::new()) };
        let length = self.bytes.length()?;
        let Some((_, data)) = data(&self.bytes, place, LONGEST, length)? else {
            return Ok(Vec::new());
        };
        let mut left = MOST_VALUES;
        Ok(variants(&data, u32::MAX, 0, &mut left))
    }
}

/// The place and the length of the data of the chunk at a place.
fn header(bytes: &Bytes, place: u64) -> Result<Option<(u64, u64)>, MovieError> {
    let mut head = [0; 16];
    if fill_at(&**bytes, place, &mut head)? < 16 || u32_at(&head, 0) != Some(MAGIC) {
        return Ok(None);
    }
    let (name, length) = (u32_at(&head, 4).unwrap_or(0), u64_at(&head, 8).unwrap_or(0));
    Ok(place.checked_add(16 + u64::from(name)).map(|start| (start, length)))
}

/// The place of the data of a chunk, and the data, if it is there and not longer than this.
fn data(
    bytes: &Bytes,
    place: u64,
    longest: u64,
    length: u64,
) -> Result<Option<(u64, Vec<u8>)>, MovieError> {
    let Some((start, size)) = header(bytes, place)? else { return Ok(None) };
    let end = start.checked_add(size).filter(|&end| end <= length && size <= longest);
    if end.is_none() {
        return Ok(None);
    }
    let mut data = vec![0; size as usize];
    let got = fill_at(&**bytes, start, &mut data)?;
    Ok((got == data.len()).then_some((start, data)))
}

/// A value with its name.
#[derive(Debug)]
struct Variant {
    name: String,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Whole(i64),
    Number(f64),
    Text(String),
    Bytes(Vec<u8>),
    Level(Vec<Variant>),
}

/// Text in UTF-16 up to a zero, and how many bytes it has with that.
fn text(bytes: &[u8]) -> Option<(String, usize)> {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let units: Vec<u16> = units.take_while(|&unit| unit != 0).collect();
    let size = 2 * units.len() + 2;
    (size <= bytes.len()).then(|| (String::from_utf16_lossy(&units), size))
}

/// The variants in some bytes, at most so many, as far as they can be read.
fn variants(bytes: &[u8], most: u32, depth: usize, left: &mut usize) -> Vec<Variant> {
    let mut all = Vec::new();
    let mut at = 0;
    for _ in 0..most {
        let Some((variant, size)) = variant(&bytes[at..], depth, left) else { break };
        all.extend(variant);
        at += size;
        if at >= bytes.len() {
            break;
        }
    }
    all
}

/// A variant, if it is of a kind that is understood, and how many bytes it has.
fn variant(bytes: &[u8], depth: usize, left: &mut usize) -> Option<(Option<Variant>, usize)> {
    *left = left.checked_sub(1)?;
    let (&kind, &units) = (bytes.first()?, bytes.get(1)?);
    let begin = 2 + 2 * usize::from(units);
    let name = bytes.get(2..begin)?;
    let name = text(name).map_or_else(String::new, |(name, _)| name);
    let rest = bytes.get(begin..)?;
    let (value, size) = match kind {
        1 => (Some(Value::Whole(i64::from(*rest.first()?))), 1),
        2 => (Some(Value::Whole(i64::from(u32_at(rest, 0)? as i32))), 4),
        3 => (Some(Value::Whole(i64::from(u32_at(rest, 0)?))), 4),
        4 | 5 => (Some(Value::Whole(u64_at(rest, 0)? as i64)), 8),
        6 => (Some(Value::Number(f64::from_bits(u64_at(rest, 0)?))), 8),
        7 => (None, 8),
        8 => {
            let (text, size) = text(rest)?;
            (Some(Value::Text(text)), size)
        }
        9 => {
            let end = usize::try_from(u64_at(rest, 0)?).ok()?.checked_add(8)?;
            (Some(Value::Bytes(rest.get(8..end)?.to_vec())), end)
        }
        11 => {
            let (count, length) = (u32_at(rest, 0)?, usize::try_from(u64_at(rest, 4)?).ok()?);
            let inner = bytes.get(begin.checked_add(12)?..length)?;
            let inside = match depth < DEEPEST {
                true => variants(inner, count, depth + 1, left),
                false => Vec::new(),
            };
            // Behind them stands where each of them begins.
            let end = length.checked_add((count as usize).checked_mul(8)?)?;
            (Some(Value::Level(inside)), end.checked_sub(begin)?)
        }
        _ => return None,
    };
    let end = begin.checked_add(size).filter(|&end| end <= bytes.len())?;
    Some((value.map(|value| Variant { name, value }), end))
}

fn find<'a>(all: &'a [Variant], name: &str) -> Option<&'a Value> {
    all.iter().find(|one| one.name == name).map(|one| &one.value)
}

/// The same wherever it is.
fn search<'a>(all: &'a [Variant], name: &str) -> Option<&'a Value> {
    find(all, name).or_else(|| {
        all.iter().find_map(|one| match &one.value {
            Value::Level(inside) => search(inside, name),
            _ => None,
        })
    })
}

fn whole(all: &[Variant], name: &str) -> Option<usize> {
    match find(all, name)? {
        Value::Whole(number) => usize::try_from(*number).ok(),
        _ => None,
    }
}

fn level<'a>(all: &'a [Variant], name: &str) -> Option<&'a [Variant]> {
    match find(all, name)? {
        Value::Level(inside) => Some(inside),
        _ => None,
    }
}

/// How often a loop goes round: as often as it has items that were not left out when it was run.
fn rounds(kind: u64, level_of: &[Variant], parameters: &[Variant]) -> Option<usize> {
    let valid = |all: &[Variant], name: &str| -> Vec<bool> {
        match find(all, name) {
            Some(Value::Bytes(bytes)) => bytes.iter().map(|&byte| byte != 0).collect(),
            Some(Value::Level(items)) => {
                items.iter().map(|item| !matches!(item.value, Value::Whole(0))).collect()
            }
            _ => Vec::new(),
        }
    };
    let count = whole(parameters, "uiCount");
    if kind == POSITIONS {
        let valid = valid(level_of, "pItemValid");
        return match valid.is_empty() {
            true => count,
            false => Some(valid.iter().take(count?).filter(|&&valid| valid).count()),
        };
    }
    let Some(periods) = level(parameters, "pPeriod").filter(|_| kind == PERIODS) else {
        return count;
    };
    let valid = valid(parameters, "pPeriodValid");
    let periods = periods.iter().filter_map(|one| match &one.value {
        Value::Level(period) => Some(period),
        _ => None,
    });
    let run =
        periods.enumerate().filter(|(at, _)| valid.is_empty() || valid.get(*at) == Some(&true));
    run.map(|(_, period)| whole(period, "uiCount"))
        .try_fold(0, |all: usize, one| all.checked_add(one?))
}

/// Loops over positions of the stage, and over periods of time that differ.
const POSITIONS: u64 = 2;
const PERIODS: u64 = 8;

/// What loops make frames, the outermost first, and how often each goes round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loop {
    Times,
    Positions,
    Slices,
}

fn loops(experiment: &[Variant]) -> Option<Vec<(Loop, usize)>> {
    let mut all = Vec::new();
    let mut now = experiment;
    while all.len() < DEEPEST {
        let parameters = level(now, "uLoopPars")?;
        // Some versions have them one level deeper.
        let parameters = match parameters {
            [Variant { name, value: Value::Level(inside) }] if name.starts_with('i') => inside,
            parameters => parameters,
        };
        let number = whole(now, "eType")? as u64;
        let kind = match number {
            1 | PERIODS => Loop::Times,
            POSITIONS => Loop::Positions,
            4 => Loop::Slices,
            // Those of spectra are channels.
            6 => return Some(all),
            _ => return None,
        };
        all.push((kind, rounds(number, now, parameters)?));
        let Some(next) = level(now, "ppNextLevelEx") else { break };
        match next {
            [Variant { value: Value::Level(inside), .. }, ..] => now = inside,
            _ => break,
        }
    }
    Some(all)
}

/// What the file says of its planes.
fn planes(bytes: &Bytes) -> Result<Planes, MovieError> {
    let chunks = Chunks::read(bytes)?;
    let attributes = chunks.variants(b"ImageAttributesLV!")?;
    let attributes = level(&attributes, "SLxImageAttributes")
        .ok_or_else(|| wrong("it does not say what its frames are"))?;
    let number = |name: &str| {
        whole(attributes, name)
            .ok_or_else(|| wrong(format!("it does not say {name} of its frames")))
    };
    let (width, height) = (number("uiWidth")?, number("uiHeight")?);
    let (row, channels) = (number("uiWidthBytes")?, number("uiComp")?);
    let (bits, count) = (number("uiBpcInMemory")?, number("uiSequenceCount")?);
    // Anything but none.
    if number("eCompression")? != 2 {
        return Err(wrong(
            "its frames are compressed; open it in Fiji with Bio-Formats, or in NIS-Elements, and save it as TIFF",
        ));
    }
    let number = match bits {
        8 => NumberType::U8,
        16 => NumberType::U16,
        32 => NumberType::F32,
        _ => return Err(wrong(format!("its pixels have {bits} bits; 8, 16 and 32 are read"))),
    };
    let most = chunks.places.len();
    if !(1..=MOST_CHANNELS).contains(&channels) || count > most {
        let reason =
            format!("it promises {count} frames of {channels} channels, and has {most} chunks");
        return Err(wrong(reason));
    }
    let size = number.size() as u64;
    let pixel_bytes = (channels as u64).saturating_mul(size);
    let lie = Lie { number, width, height, pixel_bytes, row_bytes: row as u64 };
    let mut notes = Vec::new();
    let (positions, slices, order) = order(&chunks, count, &mut notes)?;
    let mut places = vec![None; count.saturating_mul(channels)];
    let mut times = vec![f64::NAN; count];
    for (sequence, plane) in order.into_iter().enumerate() {
        let name = format!("ImageDataSeq|{sequence}!");
        let Some(&place) = chunks.places.get(name.as_bytes()) else { continue };
        let Some((start, _)) = header(bytes, place)? else { continue };
        let mut time = [0; 8];
        if fill_at(&**bytes, start, &mut time)? == 8 {
            times[plane] = f64::from_le_bytes(time) / 1e3;
        }
        for channel in 0..channels {
            let at = start.checked_add(8 + channel as u64 * size);
            places[plane * channels + channel] = at;
        }
    }
    let metadata = chunks.variants(b"ImageMetadataSeqLV|0!")?;
    let number = |name: &str| match search(&metadata, name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    let calibrated = matches!(search(&metadata, "bCalibrated"), Some(Value::Whole(1)));
    let side = number("dCalibration").filter(|_| calibrated).map(|size| size * 1e3);
    let pixel_size = PixelSize::noted(side, METADATA, &mut notes);
    let camera = match search(&metadata, "CameraUserName") {
        Some(Value::Text(name)) => Some(name.clone()),
        _ => None,
    };
    let exposure = number("dExposureTime").map(|time| time / 1e3);
    let significant_bits = whole(attributes, "uiBpcSignificant").map(|bits| bits as u32);
    let acquisition = Acquisition { camera, exposure, significant_bits, ..Acquisition::default() };
    let mut axes = MovieAxes::frames(count / (positions * slices));
    (axes.channels, axes.slices) = (channels, slices);
    Ok(Planes {
        lie,
        axes,
        positions: (1..=positions).map(|number| number.to_string()).collect(),
        places,
        times: Some(times),
        pixel_size,
        acquisition: acquisition.by(METADATA),
        notes,
    })
}

/// The numbers of positions and slices, and which plane each frame is.
fn order(
    chunks: &Chunks,
    count: usize,
    notes: &mut Vec<String>,
) -> Result<(usize, usize, Vec<usize>), MovieError> {
    let metadata = chunks.variants(b"ImageMetadataLV!")?;
    let experiment = level(&metadata, "SLxExperiment");
    let Some(experiment) = experiment else { return Ok((1, 1, (0..count).collect())) };
    let loops = loops(experiment).unwrap_or_default();
    let product = loops.iter().try_fold(1, |all: usize, (_, count)| all.checked_mul(*count));
    let of = |kind: Loop| {
        let counts = loops.iter().filter(|(other, _)| *other == kind).map(|(_, count)| *count);
        counts.product::<usize>()
    };
    let twice = |kind: Loop| loops.iter().filter(|(other, _)| *other == kind).count() > 1;
    let odd = [Loop::Times, Loop::Positions, Loop::Slices].into_iter().any(twice);
    if product != Some(count) || odd || count == 0 {
        notes.push(format!(
            "its loops do not make the {count} frames that it has; they are read one after the other"
        ));
        return Ok((1, 1, (0..count).collect()));
    }
    let (positions, slices, times) = (of(Loop::Positions), of(Loop::Slices), of(Loop::Times));
    let plane = |sequence: usize| {
        let (mut rest, mut at) = (sequence, [0; 3]);
        for (kind, count) in loops.iter().rev() {
            at[*kind as usize] = rest % count;
            rest /= count;
        }
        let [time, position, slice] = at;
        (position * times + time) * slices + slice
    };
    Ok((positions, slices, (0..count).map(plane).collect()))
}
