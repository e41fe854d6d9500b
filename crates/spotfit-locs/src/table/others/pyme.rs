//! PYME's tables: `FitResults` of an analysis (`.h5r`), whose records have records, or a flat table (`.hdf`), such as
//! `Localizations`. Lengths are in nanometres.

use std::io::{Read, Seek};

use spotfit_files::hdf5::{H5Reader, Rows};
use spotfit_files::private::sort_by_key;

use super::field::{Fields, known};
use super::parts::Parts;
use super::{Found, odd, take_size};
use crate::table::{Info, TableError};

pub(super) const PROGRAM: &str = "PYME";

/// Names there and here: those of the flat table come before those of the fits from which PYME makes them.
const NAMES: [(&str, &str); 17] = [
    ("t", "frame"),
    ("tIndex", "frame"),
    ("x", "x [nm]"),
    ("fitResults_x0", "x [nm]"),
    ("y", "y [nm]"),
    ("fitResults_y0", "y [nm]"),
    ("z", "z [nm]"),
    ("fitResults_z0", "z [nm]"),
    ("sig", "sigma [nm]"),
    ("fitResults_sigma", "sigma [nm]"),
    ("error_x", "uncertainty_x [nm]"),
    ("fitError_x0", "uncertainty_x [nm]"),
    ("error_y", "uncertainty_y [nm]"),
    ("fitError_y0", "uncertainty_y [nm]"),
    ("error_z", "uncertainty_z [nm]"),
    ("fitError_z0", "uncertainty_z [nm]"),
    ("nPhotons", "intensity [photon]"),
];

/// The table with positions at the root.
pub(super) fn table<R: Read + Seek>(file: &mut H5Reader<R>) -> Option<Rows> {
    let mut names = file.names().to_vec();
    sort_by_key(&mut names, |name| match &**name {
        "Localizations" => 0,
        "FitResults" => 1,
        _ => 2,
    });
    let mut tables = names.iter().filter_map(|name| file.rows(name).ok());
    tables.find(|rows| {
        let has = |wanted: &str| rows.members().iter().any(|member| member.name == wanted);
        has("x") && has("y") || has("fitResults_x0") && has("fitResults_y0")
    })
}

pub(super) fn open<R: Read + Seek + Send + 'static>(
    mut file: H5Reader<R>,
) -> Result<Found, TableError> {
    let rows = table(&mut file);
    let rows = rows.ok_or_else(|| odd(PROGRAM, "it has no table with x and y"))?;
    let members = rows.members();
    let is_there = |wanted: &str| members.iter().any(|member| member.name == wanted);
    let mut fields = Fields::default();
    for member in members {
        fields.add(&member.name, member.kind, known(&NAMES, &member.name, is_there));
    }
    let mut info = Info::default();
    let mut notes = Vec::new();
    // In micrometres, and only where the camera was known.
    let mut size = |axis: &str| {
        let sizes = file.attribute_numbers("MetaData/voxelsize", axis).ok().flatten()?;
        sizes.first().map(|size| 1e3 * size)
    };
    match [size("x"), size("y")] {
        [Some(x), Some(y)] if x == y => take_size(x, "voxelsize", &mut info, &mut notes),
        [Some(x), Some(y)] => {
            notes.push(format!("its pixels have {x} nm by {y} nm: the size is left open"));
        }
        _ => {}
    }
    Ok(Found { fields, rows: Box::new(Parts::new(file, vec![rows])), info, notes })
}
