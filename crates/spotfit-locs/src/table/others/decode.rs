//! DECODE's tables: a group `data` with the columns, of which `xyz` has three, and attributes of `meta` with the unit and the size
//! of pixels, which need not be squares.

use std::io::{Read, Seek};

use spotfit_files::hdf5::H5Reader;
use spotfit_files::private::excerpt;

use super::field::{Fields, known};
use super::parts::{Parts, is_no_column};
use super::{Found, Pixels, odd};
use crate::table::{Info, TableError, Unit};

pub(super) const PROGRAM: &str = "DECODE";

/// Names there and here; x and y have the unit of the table, z has nanometres.
const NAMES: [(&str, &str); 11] = [
    ("frame_ix", "frame"),
    ("x", "x"),
    ("y", "y"),
    ("z", "z [nm]"),
    ("phot", "intensity [photon]"),
    ("bg", "offset [photon]"),
    ("x_sig", "uncertainty_x"),
    ("y_sig", "uncertainty_y"),
    ("z_sig", "uncertainty_z [nm]"),
    ("phot_sig", "intensity_error [photon]"),
    ("bg_sig", "offset_error [photon]"),
];

pub(super) fn open<R: Read + Seek + Send + 'static>(
    mut file: H5Reader<R>,
) -> Result<Found, TableError> {
    let unit = file.attribute_text("meta", "xy_unit")?.map(|texts| texts.join(""));
    let sizes = match file.attribute_numbers("meta", "px_size") {
        Ok(sizes) => sizes.and_then(|sizes| <[f64; 2]>::try_from(sizes).ok()),
        // Where nobody knew it, it is no number.
        Err(error) if is_no_column(&error) => None,
        Err(error) => return Err(error.into()),
    };
    let mut pixels = Pixels::new(sizes);
    match unit.as_deref() {
        Some("px") => {}
        Some("nm") => {
            pixels = Pixels { unit: Unit::Nanometre, scales: [1.0; 2], note: None, ..pixels };
        }
        Some(other) => {
            return Err(odd(
                PROGRAM,
                format!("its xy_unit is '{}', not 'px' or 'nm'", excerpt(other)),
            ));
        }
        None => return Err(odd(PROGRAM, "it has no 'xy_unit'")),
    }
    let mut names = file.names_in("data")?.to_vec();
    // Positions come first, and say how many rows there are.
    let at = names.iter().position(|name| name == "xyz");
    let at = at.ok_or_else(|| odd(PROGRAM, "it has no 'xyz'"))?;
    names[..=at].rotate_right(1);
    let (mut fields, mut parts, mut notes) = (Fields::default(), Vec::new(), Vec::new());
    let mut rows = 0;
    for name in &names {
        let suffix = name.strip_prefix("xyz");
        let read = file.columns(&format!("data/{name}"), if suffix.is_some() { 3 } else { 1 });
        let part = match read {
            Err(error) if is_no_column(&error) && name != "xyz" => {
                notes.push(format!("'{}' is left out: {error}", excerpt(name)));
                continue;
            }
            part => part?,
        };
        if name == "xyz" {
            rows = part.count();
        }
        // What is not known is an empty column.
        if part.count() == 0 && rows > 0 {
            continue;
        }
        if part.count() != rows {
            let reason = format!("'xyz' has {rows} rows, '{}' has {}", excerpt(name), part.count());
            return Err(odd(PROGRAM, reason));
        }
        let headers = match suffix {
            None if name == "id" => vec!["emitter".to_owned()],
            None => vec![name.clone()],
            Some(suffix) => ["x", "y", "z"].map(|axis| format!("{axis}{suffix}")).to_vec(),
        };
        for (axis, header) in headers.iter().enumerate() {
            let known = known(&NAMES, header, |_| false);
            let field = fields.add(header, part.members()[0].kind, known);
            if field.column.unit == Unit::Pixel {
                field.stretch(pixels.unit, pixels.scales[axis.min(1)]);
            }
        }
        parts.push(part);
    }
    notes.extend(pixels.note);
    let info = Info { pixel_size: pixels.size, ..Info::default() };
    Ok(Found { fields, rows: Box::new(Parts::new(file, parts)), info, notes })
}
