//! storm-analysis' tables: a group `fr_N` for each frame, from 0, with a dataset for each column. Lengths in the plane are in pixels,
//! and z is in micrometres.

use std::io::{Read, Seek};

use spotfit_files::hdf5::{H5Error, H5Reader, NumberKind};
use spotfit_files::private::excerpt;

use super::field::{Fields, known};
use super::parts::is_no_column;
use super::{BLOCK, Found, odd, take_size, whole};
use crate::table::read::{RowSource, TableHead};
use crate::table::{Info, Table, TableError};

pub(super) const PROGRAM: &str = "storm-analysis";

/// Names there and here.
const NAMES: [(&str, &str); 9] = [
    ("frame", "frame"),
    ("x", "x [px]"),
    ("y", "y [px]"),
    ("z", "z [um]"),
    ("xsigma", "sigma1 [px]"),
    ("ysigma", "sigma2 [px]"),
    ("sum", "intensity [photon]"),
    ("background", "offset [photon]"),
    ("iterations", "iterations"),
];

/// The number of the frame that a group is of.
pub(super) fn frame(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("fr_")?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}

pub(super) fn open<R: Read + Seek + Send + 'static>(
    mut file: H5Reader<R>,
) -> Result<Found, TableError> {
    let mut frames: Vec<(u32, String)> =
        file.names().iter().filter_map(|name| Some((frame(name)?, name.clone()))).collect();
    frames.sort_unstable();
    let (mut fields, mut notes) = (Fields::default(), Vec::new());
    fields.add("frame", NumberKind::U32, known(&NAMES, "frame", |_| false));
    let mut columns = Vec::new();
    // The first frame with localizations tells the columns.
    for (_, group) in &frames {
        let names = file.names_in(group)?.to_vec();
        if !names.iter().any(|name| name == "x")
            || file.columns(&format!("{group}/x"), 1)?.count() == 0
        {
            continue;
        }
        for name in names {
            let kind = match file.columns(&format!("{group}/{name}"), 1) {
                Err(error) if is_no_column(&error) => {
                    notes.push(format!("'{}' is left out: {error}", excerpt(&name)));
                    continue;
                }
                rows => rows?.members()[0].kind,
            };
            fields.add(&name, kind, known(&NAMES, &name, |_| false));
            columns.push(name);
        }
        break;
    }
    if columns.is_empty() {
        for name in ["x", "y"] {
            fields.add(name, NumberKind::F64, known(&NAMES, name, |_| false));
            columns.push(name.to_owned());
        }
    }
    if file.names().iter().any(|name| name == "tracks") {
        notes.push("its tracks are left out; the localizations are read".to_owned());
    }
    let mut info = Info::default();
    let mut number = |name: &str| -> Result<Option<f64>, H5Error> {
        match file.attribute_numbers("/", name) {
            Err(error) if is_no_column(&error) => Ok(None),
            numbers => Ok(numbers?.and_then(|numbers| numbers.first().copied())),
        }
    };
    if let Some(size) = number("pixel_size")? {
        take_size(size, "pixel_size", &mut info, &mut notes);
    }
    info.width = number("movie_x")?.and_then(whole);
    info.height = number("movie_y")?.and_then(whole);
    info.frames = number("movie_l")?.and_then(whole);
    let rows = Box::new(Frames { file, frames, next: 0, columns });
    Ok(Found { fields, rows, info, notes })
}

/// The frames of a file, one after the other.
struct Frames<R> {
    file: H5Reader<R>,
    frames: Vec<(u32, String)>,
    next: usize,
    /// The columns after that of the frames.
    columns: Vec<String>,
}

impl<R: Read + Seek> RowSource for Frames<R> {
    fn read(&mut self, head: &mut TableHead) -> Result<Option<Table>, TableError> {
        head.rows(|wanted, values| {
            let mut count = 0;
            // A frame is read whole, so that the last may go beyond what was asked for.
            while count < BLOCK && self.next < self.frames.len() {
                let (number, group) = &self.frames[self.next];
                self.next += 1;
                let names = self.file.names_in(group)?;
                if !names.iter().any(|name| name == "x") {
                    continue;
                }
                let mut x = self.file.columns(&format!("{group}/x"), 1)?;
                let rows = x.count();
                if rows > 0 && !wanted[1..].contains(&true) {
                    // A damaged file may say that it has any number of rows: these are there.
                    let mut scratch = Vec::new();
                    x.read(&mut self.file, rows as usize, std::slice::from_mut(&mut scratch))?;
                }
                for (place, name) in self.columns.iter().enumerate() {
                    if rows == 0 || !wanted[place + 1] {
                        continue;
                    }
                    let path = format!("{group}/{name}");
                    let mut part = self.file.columns(&path, 1)?;
                    if part.count() != rows {
                        let reason =
                            format!("'{group}/x' has {rows} rows, '{path}' has {}", part.count());
                        return Err(odd(PROGRAM, reason));
                    }
                    let column = std::slice::from_mut(&mut values[place + 1]);
                    part.read(&mut self.file, rows as usize, column)?;
                }
                if wanted[0] {
                    values[0].resize(values[0].len() + rows as usize, f64::from(*number));
                }
                count += rows as usize;
            }
            Ok(count)
        })
    }
}
