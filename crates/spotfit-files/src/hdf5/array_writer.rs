//! Writing arrays.

use std::io::Write;

use super::writer::{check_name, end, store};
use super::writer_parts::{HeaderMessages, SUPERBLOCK, number_type, superblock};
use super::{H5Error, NumberKind};

/// The most arrays of a file: what one node of symbols holds.
const MOST: usize = 8;

/// An array that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct H5Array<'a> {
    /// Its name at the root.
    pub name: &'a str,
    /// Its dimensions, one to four.
    pub shape: &'a [usize],
    /// The type of its elements. As `f32` they become the nearest numbers that it can hold; integers must be whole and within
    /// its range.
    pub kind: NumberKind,
    /// Its elements, the last dimension running fastest.
    pub values: &'a [f64],
}

/// Writes a file with up to eight arrays, and, if it is given, a text as an attribute of the root: (name, text), as h5py writes a
/// `str`. The format is that of [`H5Writer`](super::H5Writer). The result is `out`, flushed.
///
/// # Errors
///
/// [`H5Error::Wrong`] if a name cannot be one or occurs twice, if there is no array or more than eight, if an array has no
/// or more than four dimensions, or not as many elements as these say, or if the text has a zero byte or more than 64 MiB,
/// or if an element cannot be stored; [`H5Error::Io`].
pub fn write_arrays<W: Write>(
    mut out: W,
    arrays: &[H5Array<'_>],
    attribute: Option<(&str, &str)>,
) -> Result<W, H5Error> {
    let unwritable = |what: String| Err(H5Error::Wrong(what));
    if arrays.is_empty() || arrays.len() > MOST {
        return unwritable(format!("{} arrays; 1 to {MOST} can be written", arrays.len()));
    }
    // All that follows the superblock.
    let mut bytes = Vec::new();
    let mut links: Vec<(&str, u64)> = Vec::new();
    for &H5Array { name, shape, kind, values } in arrays {
        check_name(name)?;
        if links.iter().any(|(other, _)| *other == name) {
            return unwritable(format!("two datasets have the name '{name}'"));
        }
        let count = shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        if !(1..=4).contains(&shape.len()) || count != Some(values.len()) {
            let elements = values.len();
            return unwritable(format!(
                "'{name}' cannot have the shape {shape:?}: it has {elements} elements"
            ));
        }
        let begin = bytes.len();
        let place = (SUPERBLOCK + begin) as u64;
        bytes.resize(begin + values.len() * kind.size(), 0);
        store(kind, values, &mut bytes[begin..], (kind.size(), 0))
            .map_err(|element| H5Error::value(name, element as u64, values[element], kind))?;
        let size = (bytes.len() - begin) as u64;
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        links.push((name, (SUPERBLOCK + bytes.len()) as u64));
        let mut messages = HeaderMessages::default();
        let sizes: Vec<u64> = shape.iter().map(|&size| size as u64).collect();
        messages.dataspace(&sizes);
        messages.datatype(&number_type(kind));
        messages.contiguous(place, size);
        bytes.extend(messages.finish());
    }
    let header = end(&mut bytes, SUPERBLOCK as u64, links, attribute)?;
    out.write_all(&superblock(header, (SUPERBLOCK + bytes.len()) as u64))?;
    out.write_all(&bytes)?;
    out.flush()?;
    Ok(out)
}
