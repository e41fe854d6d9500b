//! Reading Picasso's tables.

use std::fmt;
use std::io::{Read, Seek};

use spotfit_files::hdf5::{H5Reader, Member, NumberKind, Rows};
use spotfit_files::yaml::{self, Value};

use super::metadata::{format_mark, info, length_unit, said_sizes};
use super::{ALONE, FORMAT, METADATA, ROWS, words};
use crate::table::read::{RowSource, Sayings, TableField, TableHead, TableReader};
use crate::table::{Column, Kind, Meaning, Table, TableError, Unit, names, powers};

/// Rows of a block.
const BLOCK: usize = 1 << 17;

/// Reads a table of Picasso block by block.
pub type PicassoReader<R> = TableReader<PicassoRows<R>>;

/// The rows of a table of Picasso.
pub struct PicassoRows<R> {
    reader: H5Reader<R>,
    rows: Rows,
    /// The unit of lengths in the plane.
    lengths: Unit,
    /// The power of nanometres that each column is which becomes one of pixels.
    powers: Vec<Option<f64>>,
}

impl<R> fmt::Debug for PicassoRows<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PicassoRows").field("lengths", &self.lengths).finish_non_exhaustive()
    }
}

impl<R: Read + Seek> PicassoReader<R> {
    /// Opens a table. What the YAML file beside it says comes before what is in the table itself, as in Picasso.
    ///
    /// Lengths are in pixels, or in nanometres if the table or the YAML is marked as of Picasso 1.0 (`picasso_format`). One
    /// mark is enough: programs that copy rows may lose the other, and leave the lengths as they are.
    ///
    /// # Errors
    /// [`TableError::Hdf5`]; [`TableError::Unreadable`] for other marks, and if the two differ.
    pub fn new(reader: R, beside: Option<Vec<Value>>) -> Result<Self, TableError> {
        Self::in_file(H5Reader::open(reader)?, beside)
    }

    pub(in crate::table) fn in_file(
        mut reader: H5Reader<R>,
        beside: Option<Vec<Value>>,
    ) -> Result<Self, TableError> {
        let rows = reader.rows(ROWS)?;
        let documents = match beside {
            Some(documents) => documents,
            None if reader.names().iter().any(|name| name == METADATA) => {
                // JSON is YAML. A table whose metadata cannot be read is a table all the same.
                let text = reader.text(METADATA).unwrap_or_default().join("");
                match yaml::parse(&text).ok().as_deref() {
                    Some([Value::List(documents)]) => documents.clone(),
                    Some(documents) => documents.to_vec(),
                    None => Vec::new(),
                }
            }
            None => Vec::new(),
        };
        let own = reader.attribute_text("/", FORMAT)?.map(|texts| texts.join(""));
        let lengths = length_unit(own, format_mark(&documents))?;
        let names: Vec<&str> = rows.members().iter().map(|member| &member.name[..]).collect();
        let in_nanometres = |name: &&str| powers::power(name, &names);
        let powers: Vec<Option<f64>> = match lengths {
            Unit::Nanometre => names.iter().map(in_nanometres).collect(),
            _ => vec![None; names.len()],
        };
        let field = |(member, power): (&Member, &Option<f64>)| {
            let mut column = column(member, lengths);
            if power.is_some() && column.kind == Kind::Whole {
                column.kind = Kind::Double;
            }
            TableField::new(&member.name, column)
        };
        let fields = rows.members().iter().zip(&powers).map(field).collect();
        let notes = said_sizes(&documents).filter_map(Result::err).collect();
        let head = TableHead::new(fields, info(documents), notes, Sayings::Fixed);
        head.check_names()?;
        Ok(Self::of(head, PicassoRows { reader, rows, lengths, powers }))
    }
}

impl<R: Read + Seek> RowSource for PicassoRows<R> {
    /// Brings what steps of filtering say to pixels, like the columns that they filtered: without the size of a pixel, no column may be
    /// read whose unit depends on it.
    fn begin(&self, head: &mut TableHead) -> Result<(), TableError> {
        let needed =
            head.fields.iter().zip(&self.powers).any(|(one, power)| one.wanted && power.is_some());
        match (self.lengths, head.info.pixel_size) {
            (Unit::Nanometre, Some(size)) => {
                let to_pixels = |end: f64, power| end / size.powf(power);
                powers::convert_ranges(&mut head.info.documents, to_pixels);
            }
            (_, None) if needed => return Err(TableError::NoPixelSize),
            _ => {}
        }
        Ok(())
    }

    fn read(&mut self, head: &mut TableHead) -> Result<Option<Table>, TableError> {
        let Self { reader, rows, powers, .. } = self;
        head.rows(|_, values| {
            let count = rows.read(reader, BLOCK, values)?;
            for ((field, values), power) in head.fields.iter().zip(values).zip(&*powers) {
                if let (Some(power), Some(size)) = (power, head.info.pixel_size) {
                    let pixel = size.powf(*power);
                    values.iter_mut().for_each(|value| *value /= pixel);
                }
                if field.wanted {
                    as_here(&field.column, values)?;
                }
            }
            Ok(count)
        })
    }
}

/// Makes the numbers of a column of Picasso what they are here.
fn as_here(column: &Column, values: &mut [f64]) -> Result<(), TableError> {
    match (column.meaning(), &column.kind) {
        (Some(Meaning::Angle), _) => {
            values.iter_mut().for_each(|value| *value = -value.to_radians());
        }
        (Some(Meaning::Neighbour), _) => {
            let alone = values.iter_mut().filter(|value| **value >= ALONE);
            alone.for_each(|value| *value = f64::INFINITY);
        }
        (_, Kind::Words(words)) => {
            let odd = |value: &f64| !(*value >= 0.0 && *value < words.len() as f64);
            if let Some(row) = values.iter().position(odd) {
                return Err(TableError::row(
                    row,
                    &column.name,
                    values[row],
                    "the number of a status",
                ));
            }
        }
        _ => {}
    }
    Ok(())
}

/// The column of a member; lengths in the plane have this unit.
fn column(member: &Member, lengths: Unit) -> Column {
    if let Some(words) =
        words(&member.name).filter(|_| !matches!(member.kind, NumberKind::F32 | NumberKind::F64))
    {
        return Column::new(&member.name, Unit::None, Kind::Words(words), Vec::new());
    }
    let kind = match member.kind {
        NumberKind::F64 => Kind::Double,
        NumberKind::F32 => Kind::Single,
        _ => Kind::Whole,
    };
    let Some(meaning) = names::from_picasso(&member.name) else {
        return Column::new(&member.name, Unit::None, kind, Vec::new());
    };
    // Iterations of linked tables are means.
    let kind = match meaning {
        Meaning::Frame => Kind::Whole,
        // Degrees become radians, which single precision cannot hold.
        Meaning::Angle => Kind::Double,
        _ => kind,
    };
    Column::new(meaning, meaning.dimension().unit(lengths), kind, Vec::new())
}
