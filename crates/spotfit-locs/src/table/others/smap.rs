//! SMAP's tables, `_sml.mat`: files of MATLAB 7.3 with a structure `saveloc`, whose `loc` has the columns.

use std::io::{Read, Seek};

use spotfit_files::hdf5::H5Reader;
use spotfit_files::private::excerpt;

use super::field::{Fields, known};
use super::parts::{Parts, is_no_column};
use super::{Found, odd, take_size, whole};
use crate::table::{Info, Meaning, TableError};

pub(in crate::table) const PROGRAM: &str = "SMAP";

/// Names there and here.
pub(super) const NAMES: [(&str, &str); 15] = [
    ("frame", "frame"),
    ("xnm", "x [nm]"),
    ("ynm", "y [nm]"),
    ("znm", "z [nm]"),
    ("phot", "intensity [photon]"),
    ("photerr", "intensity_error [photon]"),
    ("bg", "offset [photon]"),
    ("locprecnm", "uncertainty_xy [nm]"),
    ("locprecznm", "uncertainty_z [nm]"),
    ("xnmerr", "uncertainty_x [nm]"),
    ("ynmerr", "uncertainty_y [nm]"),
    ("znmerr", "uncertainty_z [nm]"),
    ("PSFxnm", "sigma1 [nm]"),
    ("PSFynm", "sigma2 [nm]"),
    ("iterations", "iterations"),
];

const LOCS: &str = "saveloc/loc";
const INFO: &str = "saveloc/file/info";

pub(super) fn open<R: Read + Seek + Send + 'static>(
    mut file: H5Reader<R>,
) -> Result<Found, TableError> {
    let names = file.names_in(LOCS)?.to_vec();
    let is_there = |wanted: &str| names.iter().any(|name| name == wanted);
    if !is_there("xnm") {
        return Err(odd(PROGRAM, "it has no 'xnm'"));
    }
    let rows = file.columns(&format!("{LOCS}/xnm"), 1)?.count();
    let (mut fields, mut parts, mut left_out) = (Fields::default(), Vec::new(), Vec::new());
    for name in &names {
        let part = match file.columns(&format!("{LOCS}/{name}"), 1) {
            // Texts, or numbers of the whole table.
            Err(error) if is_no_column(&error) => None,
            part => Some(part?).filter(|part| part.count() == rows),
        };
        let Some(part) = part else {
            left_out.push(excerpt(name));
            continue;
        };
        let field = fields.add(name, part.members()[0].kind, known(&NAMES, name, is_there));
        if field.is(Meaning::Frame) {
            field.offset = 1.0;
        }
        parts.push(part);
    }
    let mut notes = Vec::new();
    if !left_out.is_empty() {
        notes.push(format!("left out, as no column: {}", left_out.join(", ")));
    }
    let mut info = Info::default();
    if let Ok((_, sizes)) = file.array(&format!("{INFO}/cam_pixelsize_um"), 2)
        && let Some(&size) = sizes.first()
    {
        if sizes.iter().any(|other| *other != size) {
            let sizes: Vec<_> = sizes.iter().map(|size| format!("{} nm", 1e3 * size)).collect();
            notes.push(format!("its pixels have {}: the size is left open", sizes.join(" by ")));
        } else {
            take_size(1e3 * size, "cam_pixelsize_um", &mut info, &mut notes);
        }
    }
    let mut number = |name: &str| {
        let (_, numbers) = file.array(&format!("{INFO}/{name}"), 1).ok()?;
        whole(*numbers.first()?)
    };
    (info.width, info.height, info.frames) =
        (number("Width"), number("Height"), number("numberOfFrames"));
    Ok(Found { fields, rows: Box::new(Parts::new(file, parts)), info, notes })
}
