//! What a column of a file becomes.

use spotfit_files::hdf5::NumberKind;

use crate::table::read::TableField;
use crate::table::{Kind, Meaning, Unit, names};

/// The columns of a file, each with another name here.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<TableField>);

impl Fields {
    /// Adds a column with its name in the file and what it is, if that is known and no column before it is the same. Any other
    /// keeps its name, unless that means something here.
    pub(super) fn add(
        &mut self,
        header: &str,
        kind: NumberKind,
        known: Option<(Meaning, Unit, f64)>,
    ) -> &mut TableField {
        let kind = match kind {
            NumberKind::F64 => Kind::Double,
            NumberKind::F32 => Kind::Single,
            _ => Kind::Whole,
        };
        let mut field = TableField::copied(header, kind);
        let taken = |name: &str| self.0.iter().any(|other| other.column.name == name);
        match known.filter(|(meaning, ..)| !taken(meaning.name())) {
            Some(known) => field.rename(header, Some(known)),
            None => {
                let mut name = header.to_owned();
                while Meaning::of(&name).is_some() || taken(&name) {
                    name.push('_');
                }
                field.rename(&name, None);
            }
        }
        self.0.push(field);
        self.0.last_mut().expect("it was added")
    }

    pub(super) fn has(&self, meaning: Meaning) -> bool {
        self.0.iter().any(|field| field.is(meaning))
    }

    pub(super) fn into_inner(self) -> Vec<TableField> {
        self.0
    }
}

/// What a column of a program is: its names there and here are pairs, of which the first that the file has counts.
pub(super) fn known(
    pairs: &[(&str, &str)],
    name: &str,
    present: impl Fn(&str) -> bool,
) -> Option<(Meaning, Unit, f64)> {
    let place = pairs.iter().position(|(there, _)| *there == name)?;
    let here = pairs[place].1;
    let before = pairs[..place].iter().any(|(there, other)| *other == here && present(there));
    if before { None } else { names::from_csv(here) }
}
