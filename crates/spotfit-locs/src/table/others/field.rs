//! What a column of a file becomes.

use spotfit_files::hdf5::NumberKind;

use super::super::{Column, Dimension, Kind, Meaning, Unit};

/// A column of the file.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Its name in the file.
    pub(super) header: String,
    pub(super) column: Column,
    /// What is subtracted, and what is multiplied by then.
    pub(super) offset: f64,
    pub(super) scale: f64,
    pub(super) wanted: bool,
}

impl Field {
    pub(super) fn is(&self, meaning: Meaning) -> bool {
        self.column.name == meaning.name()
    }

    /// Gives it another name and, if that is known, its unit.
    pub(super) fn rename(&mut self, name: &str, known: Option<(Meaning, Unit, f64)>) {
        let was_frame = self.is(Meaning::Frame);
        let kind = self.column.kind.clone();
        (self.column, self.scale) = match known {
            None => (Column::new(name, Unit::None, kind, Vec::new()), 1.0),
            Some((meaning, unit, scale)) => {
                let kind = match (meaning.dimension(), kind) {
                    (Dimension::Count, _) => Kind::Whole,
                    // Neither single precision nor a whole number holds the product.
                    (_, Kind::Single | Kind::Whole) if scale != 1.0 => Kind::Double,
                    (_, kind) => kind,
                };
                (Column::new(meaning, unit, kind, Vec::new()), scale)
            }
        };
        // What is subtracted is the number of the first frame.
        if !(was_frame && self.is(Meaning::Frame)) {
            self.offset = 0.0;
        }
    }

    /// Lengths in pixels become these.
    pub(super) fn stretch(&mut self, unit: Unit, scale: f64) {
        (self.column.unit, self.scale) = (unit, scale);
        if scale != 1.0 {
            self.column.kind = Kind::Double;
        }
    }

    /// The column of these numbers of the file.
    pub(super) fn column(&self, mut values: Vec<f64>) -> Column {
        if (self.offset, self.scale) != (0.0, 1.0) {
            values.iter_mut().for_each(|value| *value = (*value - self.offset) * self.scale);
        }
        Column { values, ..self.column.clone() }
    }
}

/// The columns of a file, each with another name here.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<Field>);

impl Fields {
    /// Adds a column with its name in the file and what it is, if that is known and no column before it is the same. Any other
    /// keeps its name, unless that means something here.
    pub(super) fn add(
        &mut self,
        header: &str,
        kind: NumberKind,
        known: Option<(Meaning, Unit, f64)>,
    ) -> &mut Field {
        let kind = match kind {
            NumberKind::F64 => Kind::Double,
            NumberKind::F32 => Kind::Single,
            _ => Kind::Whole,
        };
        let column = Column::new(header, Unit::None, kind, Vec::new());
        let mut field =
            Field { header: header.to_owned(), column, offset: 0.0, scale: 1.0, wanted: true };
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

    pub(super) fn into_inner(self) -> Vec<Field> {
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
    if before { None } else { super::names::from_csv(here) }
}
