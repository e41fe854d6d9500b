//! Micro-Manager's NDTiff, of versions 2 and 3: TIFF files of planes, and an index of where each plane is and what it shows.
//!
//! By the description of NDTiffStorage: an entry of the index has the axes of a plane as JSON, the name of its file, where its pixels and
//! its metadata begin, their sizes and their type. Pixels are never compressed, and those of 10 to 14 bits have 16.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::wrong;
use super::format::{Format, Read};
use super::micro_manager;
use super::placed::{Lie, Planes, grid};
use super::{Movie, MovieAxes, MovieError, MovieOptions, PixelSize, Reader};
use crate::excerpt::excerpt;
use crate::npy::NumberType;
use crate::place::{Bytes, ReadAt, View, fill_at, shared};

/// The index of NDTiff, as it is called in the folder of every such movie.
pub const INDEX: &str = "NDTiff.index";
/// The folder of those planes that are not made smaller, where there are others.
const FULL: &str = "Full resolution";
/// The longest text of an entry.
const LONGEST: usize = 1 << 12;
/// The most bytes of the metadata of a plane.
const METADATA: u32 = 1 << 17;
/// The most bytes of the metadata of all planes.
const MOST_METADATA: u64 = 1 << 30;
/// The most entries, and files.
const MOST: usize = 1 << 24;
const MOST_FILES: usize = 1 << 12;
/// Where the numbers of a file begin among those of all: places in a file have 32 bits.
const FILE: u64 = 1 << 33;

/// The format.
pub(super) const FORMAT: Format = Format {
    index: |path| folder_of(path).map(|folder| folder.join(INDEX)),
    begins: Some(|path| path.is_dir() || is_first_stack(path)),
    ..Format::new("NDTiff", &[], Read::Path(open))
};

/// Whether a file is called like one of the planes of such a movie.
pub(super) fn is_stack(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains("_NDTiffStack"))
}

/// Whether it is the first of them.
pub(super) fn is_first_stack(path: &Path) -> bool {
    path.to_string_lossy().ends_with("_NDTiffStack.tif")
}

/// The folder with the index, of a folder, an index or a stack beside one.
fn folder_of(path: &Path) -> Option<PathBuf> {
    if path.file_name().is_some_and(|name| name == INDEX) || is_stack(path) {
        let folder = path.parent()?;
        return folder.join(INDEX).is_file().then(|| folder.to_owned());
    }
    let folders = [path.to_owned(), path.join(FULL)];
    folders.into_iter().find(|folder| folder.join(INDEX).is_file())
}

/// Files one after the other, each with room for as many bytes as it may have.
struct Files(Vec<Option<Bytes>>);

impl ReadAt for Files {
    fn read_at(&self, place: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let file = usize::try_from(place / FILE).ok().and_then(|file| self.0.get(file)?.as_ref());
        file.map_or(Ok(0), |file| file.read_at(place % FILE, buffer))
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64 * FILE)
    }
}

/// An entry of the index: axes, the name of the file, and where the pixels begin, their width, height, type and compression, where the
/// metadata begin, their length and compression.
type Entry = (Map<String, Value>, String, [u32; 8]);

/// Reads an entry; nothing at the end, and an error where it is cut off.
fn entry(index: &mut impl io::Read) -> Result<Option<Entry>, MovieError> {
    let mut number = [0; 4];
    let got = index.read(&mut number[..1])?;
    if got == 0 {
        return Ok(None);
    }
    index.read_exact(&mut number[1..])?;
    if number == [0; 4] {
        // Room that was made for entries that were never written.
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    let text = |length: [u8; 4], rest: &mut dyn io::Read| -> Result<String, MovieError> {
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST {
            return Err(wrong(format!("its index has a text of {length} bytes")));
        }
        let mut bytes = vec![0; length];
        rest.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| wrong("its index has a text that is none"))
    };
    let axes = text(number, index)?;
    let Ok(Value::Object(axes)) = serde_json::from_str(&axes) else {
        return Err(wrong("its index has an entry without axes"));
    };
    index.read_exact(&mut number)?;
    let file = text(number, index)?;
    let mut numbers = [0; 8];
    for one in &mut numbers {
        index.read_exact(&mut number)?;
        *one = u32::from_le_bytes(number);
    }
    Ok(Some((axes, file, numbers)))
}

/// A value of an axis.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Number(i64),
    Name(String),
}

/// The values of an axis, as they come.
#[derive(Default)]
struct Axis(Vec<Key>, HashMap<Key, usize>);

impl Axis {
    /// Which of the values it is.
    fn add(&mut self, key: Key) -> usize {
        let Self(keys, known) = self;
        *known.entry(key).or_insert_with_key(|key| {
            keys.push(key.clone());
            keys.len() - 1
        })
    }

    /// The place of each value among all: numbers, and then names, of which those that end in numbers are in the order of these. Planes may
    /// have been written in any order.
    fn places(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.0.len()).collect();
        order.sort_by_cached_key(|&at| match &self.0[at] {
            Key::Number(number) => (false, String::new(), *number),
            Key::Name(name) => {
                let stem = name.trim_end_matches(|one: char| one.is_ascii_digit());
                (true, stem.to_owned(), name[stem.len()..].parse().unwrap_or(-1))
            }
        });
        let mut places = vec![0; order.len()];
        order.into_iter().enumerate().for_each(|(place, at)| places[at] = place);
        places
    }
}

/// What is to be said of time points that have numbers, where some of them are missing.
fn gaps(times: &Axis) -> Option<String> {
    let number = |key: &Key| match key {
        Key::Number(number) => Some(*number),
        Key::Name(_) => None,
    };
    let mut numbers: Vec<i64> = times.0.iter().map(number).collect::<Option<_>>()?;
    numbers.sort_unstable();
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    // As many as there are numbers between them, which may be more than can be counted.
    let missing = i128::from(last) - i128::from(first) + 1 - numbers.len() as i128;
    (missing > 0).then(|| {
        format!(
            "{missing} of the time points {first} to {last} are not there; frames are counted without gaps"
        )
    })
}

/// The axes of an index that have a meaning here, and of which the planes have one value each.
const AXES: [&str; 3] = ["time", "z", "channel"];
/// Those that are a position together.
const PLACES: [&str; 3] = ["position", "row", "column"];

fn key(name: &str, value: Option<&Value>) -> Result<Key, MovieError> {
    match value {
        None => Ok(Key::Number(0)),
        Some(Value::String(name)) => Ok(Key::Name(name.clone())),
        Some(value) => value.as_i64().map(Key::Number).ok_or_else(|| {
            wrong(format!("its axis {} has values that are neither whole nor names", excerpt(name)))
        }),
    }
}

/// The position that a plane has: its name, or a number.
fn position(axes: &Map<String, Value>) -> Result<Key, MovieError> {
    let of = |name: &str| axes.get(name).map(|value| key(name, Some(value))).transpose();
    let text = |key: Option<Key>| match key {
        Some(Key::Name(name)) => name,
        Some(Key::Number(number)) => number.to_string(),
        None => String::new(),
    };
    let [own, row, column] = PLACES;
    match (of(own)?, of(row)?, of(column)?) {
        (own, None, None) => Ok(own.unwrap_or(Key::Number(0))),
        (own, row, column) => {
            let name = format!("{} r{}c{}", text(own), text(row), text(column));
            Ok(Key::Name(name.trim_start().to_owned()))
        }
    }
}

/// A plane, by its entry.
struct Plane {
    /// Its time, slice, channel and position among the values of these.
    at: [usize; 4],
    file: usize,
    place: u32,
    metadata: [u32; 2],
}

/// All entries of an index.
#[derive(Default)]
struct Index {
    planes: Vec<Plane>,
    /// Times, slices, channels and positions.
    axes: [Axis; 4],
    /// Width, height and type of all pixels.
    kind: Option<[u32; 3]>,
    names: Vec<String>,
    notes: Vec<String>,
}

impl Index {
    fn read(index: Bytes, strict: bool) -> Result<Self, MovieError> {
        let (mut found, mut rest) = (Self::default(), BufReader::new(View::new(index, 0)));
        let mut others: HashMap<String, Key> = HashMap::new();
        loop {
            let (axes, file, numbers) = match entry(&mut rest) {
                Ok(Some(entry)) => entry,
                Ok(None) => return Ok(found),
                Err(MovieError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    let note = "its index ends within an entry, as after a crash";
                    if strict {
                        return Err(wrong(note));
                    }
                    found.notes.push(note.to_owned());
                    return Ok(found);
                }
                Err(error) => return Err(error),
            };
            for (name, value) in &axes {
                if !AXES.iter().chain(&PLACES).any(|known| known == name) {
                    let value = key(name, Some(value))?;
                    if others.entry(name.clone()).or_insert_with(|| value.clone()) != &value {
                        let name = excerpt(name);
                        return Err(wrong(format!(
                            "its planes have an axis {name} besides time, z, channel and position"
                        )));
                    }
                }
            }
            let [place, width, height, kind, packed, metadata, length, _] = numbers;
            if packed != 0 {
                return Err(wrong("its planes are compressed"));
            }
            if *found.kind.get_or_insert([width, height, kind]) != [width, height, kind] {
                return Err(wrong("its planes differ in size or type"));
            }
            let file = found.names.iter().rposition(|name| *name == file).unwrap_or_else(|| {
                found.names.push(file);
                found.names.len() - 1
            });
            if found.names.len() > MOST_FILES || found.planes.len() >= MOST {
                return Err(wrong("its index names too many files or planes"));
            }
            let mut at = [0; 4];
            for ((at, axis), name) in at.iter_mut().zip(&mut found.axes).zip(AXES) {
                *at = axis.add(key(name, axes.get(name))?);
            }
            at[3] = found.axes[3].add(position(&axes)?);
            found.planes.push(Plane { at, file, place, metadata: [metadata, length] });
        }
    }
}

impl Movie {
    /// Micro-Manager's NDTiff in memory or anywhere else: its index, and its files by their names.
    ///
    /// # Errors
    /// [`MovieError`].
    pub fn ndtiff(
        index: Reader,
        stacks: Vec<(String, Reader)>,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let stacks = stacks.into_iter().map(|(name, reader)| Ok((name, shared(reader)?.0)));
        let stacks: HashMap<String, Bytes> = stacks.collect::<io::Result<_>>()?;
        Ok(read(shared(index)?.0, options, |name| Ok(stacks.get(name).cloned()))?.0)
    }
}

fn open(path: &Path, options: &MovieOptions) -> Result<Movie, MovieError> {
    let folder = folder_of(path).ok_or(MovieError::NotAFile)?;
    let index = folder.join(INDEX);
    let file = |name: &str| -> io::Result<Option<Bytes>> {
        let path = folder.join(name);
        Ok(if path.is_file() { Some(Arc::new(File::open(path)?)) } else { None })
    };
    let (movie, names) = read(Arc::new(File::open(&index)?), options, file)?;
    let files = std::iter::once(index).chain(names.iter().map(|name| folder.join(name)));
    Ok(Movie { files: files.collect(), ..movie })
}

/// The movie of an index and of the files that can be opened by their names, and the names of those that are there.
fn read(
    index: Bytes,
    options: &MovieOptions,
    open: impl FnMut(&str) -> io::Result<Option<Bytes>>,
) -> Result<(Movie, Vec<String>), MovieError> {
    FORMAT.says(planes(index, options, open).and_then(|(planes, files, names)| {
        Ok((planes.open(FORMAT.name, Arc::new(files), options)?, names))
    }))
}

/// The planes of an index, the files in which they lie, and the names of these.
fn planes(
    index: Bytes,
    options: &MovieOptions,
    mut open: impl FnMut(&str) -> io::Result<Option<Bytes>>,
) -> Result<(Planes, Files, Vec<String>), MovieError> {
    let Index { planes, axes, kind, names, mut notes } = Index::read(index, options.strict)?;
    let Some([width, height, kind]) = kind else { return Err(MovieError::Empty) };
    let number = match kind {
        0 => NumberType::U8,
        // Of 16, 10, 12, 14 and 11 bits.
        1 | 3..=6 => NumberType::U16,
        2 => return Err(wrong("its pixels are coloured")),
        other => return Err(wrong(format!("its pixels are of type {other}, which is unknown"))),
    };
    let [width, height] = [width, height].map(|side| usize::try_from(side).unwrap_or(usize::MAX));
    let (lie, frame) = Lie::dense(number, width, height);
    let mut files: Vec<Option<(Bytes, u64)>> = Vec::new();
    for name in &names {
        // Files elsewhere are never looked for.
        let is_plain = Path::new(name).file_name().is_some_and(|own| own == name.as_str());
        let Some(file) = is_plain.then(|| open(name)).transpose()?.flatten() else {
            notes.push(format!("the file {} is not there", excerpt(name)));
            files.push(None);
            continue;
        };
        let mut head = [0; 12];
        if fill_at(&*file, 0, &mut head)? < head.len() || !head.starts_with(b"II*\0") {
            return Err(wrong(format!("{} is no TIFF file of NDTiff", excerpt(name))));
        }
        let length = file.length()?;
        files.push(Some((file, length)));
    }
    if files.iter().all(Option::is_none) {
        return Err(wrong(notes.swap_remove(notes.len() - 1)));
    }
    let mut order = axes.each_ref().map(Axis::places);
    if axes[2].0.iter().any(|key| matches!(key, Key::Name(_))) {
        // Channels have the order in which they are taken.
        order[2] = (0..order[2].len()).collect();
    }
    let [times, slices, channels, positions] = axes.each_ref().map(|axis| axis.0.len());
    let count = grid(&[times, slices, channels, positions], planes.len()).ok_or_else(|| {
        wrong("its planes do not make a grid of positions, times, slices and channels")
    })?;
    notes.extend(gaps(&axes[0]));
    let mut places = vec![None; count];
    let mut stamps = vec![f64::NAN; count / channels];
    let mut named = vec![String::new(); positions];
    for (key, &place) in axes[3].0.iter().zip(&order[3]) {
        named[place] = match key {
            Key::Number(_) => (place + 1).to_string(),
            Key::Name(name) => name.clone(),
        };
    }
    let mut movie_axes = MovieAxes::frames(times);
    (movie_axes.channels, movie_axes.slices) = (channels, slices);
    // What cannot be chosen is said when the planes are opened.
    let chosen = (options.position_of(&named).ok(), options.channel_of(&movie_axes).ok());
    let (mut acquisition, mut side, mut left) = (None, None, MOST_METADATA);
    for Plane { at, file, place, metadata } in &planes {
        let [time, slice, channel, position] = [0, 1, 2, 3].map(|axis| order[axis][at[axis]]);
        let plane = (position * times + time) * slices + slice;
        let begin = u64::from(*place);
        places[plane * channels + channel] = match &files[*file] {
            Some((_, length)) if begin.saturating_add(frame) <= *length => {
                Some(*file as u64 * FILE + begin)
            }
            // Behind the end of all.
            _ => Some(u64::MAX),
        };
        let Some((bytes, _)) = &files[*file] else { continue };
        let [begin, length] = *metadata;
        let length = length.min(METADATA);
        if chosen != (Some(position), Some(channel)) || left < u64::from(length) {
            continue;
        }
        left -= u64::from(length);
        let mut text = vec![0; length as usize];
        let got = fill_at(&**bytes, begin.into(), &mut text)?;
        let text = String::from_utf8_lossy(&text[..got]);
        stamps[plane] = micro_manager::elapsed(&text).unwrap_or(f64::NAN);
        if acquisition.is_none() {
            acquisition = Some(micro_manager::acquisition(&text));
            side = micro_manager::pixel_size(&text);
        }
    }
    let pixel_size = PixelSize::noted(side, micro_manager::METADATA, &mut notes);
    let mut acquisition = acquisition.unwrap_or_default();
    let of_type = [10, 12, 14, 11].get(kind.wrapping_sub(3) as usize).copied();
    acquisition.significant_bits = acquisition.significant_bits.or(of_type);
    let there = names.into_iter().zip(&files).filter(|(_, file)| file.is_some());
    let names = there.map(|(name, _)| name).collect();
    let planes = Planes {
        lie,
        axes: movie_axes,
        positions: named,
        places,
        times: Some(stamps),
        pixel_size,
        acquisition,
        notes,
    };
    let files = files.into_iter().map(|file| Some(file?.0)).collect();
    Ok((planes, Files(files), names))
}
