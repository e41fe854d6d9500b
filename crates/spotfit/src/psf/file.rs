//! PSFs in files: Picasso's spline coefficients, with our own beside them.

use std::io::{Read, Seek, SeekFrom, Write};

use ndarray::{Array3, Array4, Axis};

use super::measured::MOST;
use fit_crowd::{Misfit, MisfitShares};

use super::metadata::{MISFIT, Metadata};
use super::{Psf, PsfError, PsfField};
use crate::hdf5::{H5Array, H5Reader, NumberKind, write_arrays};
use crate::model::{Spline, SplineAxis};
use crate::yaml::{self, Value};
use spotfit_locs::private::in_nanometres;

/// The polynomials of all pieces, 64 for each, in single precision.
const POLYNOMIALS: &str = "coefficients";
/// The coefficients of the B-spline (z, y, x), in double precision.
const KNOTS: &str = "knots";
/// Those of the terms by which it varies across the frame (term, z, y, x).
const FIELD: &str = "knots_field";
/// JSON, as an attribute of the root.
const METADATA: &str = "metadata";

/// Writes a PSF into an HDF5 file that Picasso reads as a calibration of the model `spline-3d`.
///
/// The dataset `coefficients` and the attribute `metadata` are Picasso's: 64 coefficients for each piece, z downwards,
/// and a peak of 1 at z = 0. The dataset `knots` (z, y, x) contains [`Psf::coefficients`], and `knots_zero` in the
/// metadata contains [`Psf::zero`], `light` [`Psf::light`] below 1, and `heights` is false without [`Psf::has_heights`] (which Picasso does not
/// know: it takes the members for heights): a PSF is read back exactly as it was written. One that
/// [varies](Psf::field) has the dataset `knots_field` (term, z, y, x) and `field_part` (the first and the last pixel along x and y), of which Picasso knows nothing either. `pixel_size`, in nm, is only for
/// Picasso. No length in the file has another unit in Picasso 1.0 than in earlier versions. The file is marked as one of 1.0
/// (`picasso_format`), because that version asks for the size of a pixel where the mark is missing; earlier versions ignore it.
///
/// # Errors
/// If the file cannot be written, or the size of a pixel is not above 0.
pub fn write<W: Write>(out: W, psf: &Psf, pixel_size: Option<f64>) -> Result<W, PsfError> {
    let size = pixel_size.unwrap_or(1.0);
    PsfError::check("the size of a pixel", size, size > 0.0 && size.is_finite(), "above 0 nm")?;
    let [planes, rows, columns] = psf.shape();
    if rows != columns {
        return Err(PsfError::NotSquare { across: columns - 3, down: rows - 3 });
    }
    let sizes = [planes, rows, columns].map(|count| count - 3);
    let [down, across] = psf.extent();
    let middle = [0.5 * (across - 1) as f64, 0.5 * (down - 1) as f64];
    let values = psf.window([middle[0], middle[1], 0.0], [down, across]);
    let peak = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // Picasso's z falls from plane to plane.
    let mut turned = psf.coefficients();
    turned.invert_axis(Axis(0));
    let turned: Vec<f64> = turned.iter().map(|value| value / peak).collect();
    let spline = Spline::from_knots(&sizes.map(SplineAxis::Cubic), &turned);
    let polynomials = spline.expect("as many finite coefficients").to_polynomials();
    let centre = sizes[0] as f64 - psf.zero();
    let metadata = Metadata {
        model: "spline-3d",
        n_data: [sizes[2] + 1, sizes[1] + 1, sizes[0] + 1],
        n_intervals: [sizes[2], sizes[1], sizes[0]],
        oversampling: 1.0,
        lateral_centered: true,
        z_center: centre,
        z_init: centre,
        z_step_nm: psf.step(),
        magnification_factor: 1.0,
        photon_scale: 1.0 / peak,
        side: across.min(down) + 1,
        pixelsize: pixel_size,
        n_channels: 1,
        picasso_format: "1.0",
        knots_zero: psf.zero(),
        light: Some(psf.light()).filter(|&light| light < 1.0),
        heights: (!psf.has_heights()).then_some(false),
        misfit: misfit_numbers(psf),
        field_part: psf.field().map(PsfField::part),
    };
    let metadata = metadata.to_json().map_err(PsfError::Metadata)?;
    let shape = [planes, rows, columns];
    let pieces = [64, sizes[2], sizes[1], sizes[0]];
    let mut arrays = vec![
        H5Array { name: POLYNOMIALS, shape: &pieces, kind: NumberKind::F32, values: &polynomials },
        H5Array { name: KNOTS, shape: &shape, kind: NumberKind::F64, values: psf.knots() },
    ];
    let terms = psf.field().map(|field| [field.terms().dim().0, planes, rows, columns]);
    if let Some((field, shape)) = psf.field().zip(terms.as_ref()) {
        arrays.push(H5Array { name: FIELD, shape, kind: NumberKind::F64, values: field.numbers() });
    }
    Ok(write_arrays(out, &arrays, Some((METADATA, &metadata)))?)
}

/// Reads a PSF from an HDF5 file that [`write()`] or Picasso wrote.
///
/// Only Picasso's files of the model `spline-3d` are read. z is Picasso's z, including the magnification factor;
/// photons are those of all pixels of the box at z = 0, while Picasso's are those at its plane of focus. The
/// polynomials must meet with continuous second derivatives, as those of its natural splines do. Picasso's box of n
/// pixels has n − 1 intervals; the PSF continues for two more on each side, where it falls to 0, so that windows of n
/// pixels can be fitted.
///
/// # Errors
/// If the file cannot be read, is MATLAB's (the message says how to convert it), is incomplete, has another model, if
/// its polynomials are not a C² spline, or if its content is not a PSF.
pub fn read<R: Read + Seek>(mut reader: R) -> Result<Psf, PsfError> {
    let mut begin = Vec::new();
    let io = |error: std::io::Error| PsfError::Hdf5(error.into());
    reader.by_ref().take(7).read_to_end(&mut begin).map_err(io)?;
    if begin == b"MATLAB " {
        return Err(PsfError::Matlab);
    }
    reader.seek(SeekFrom::Start(0)).map_err(io)?;
    let mut reader = H5Reader::open(reader)?;
    let text = reader.attribute_text("/", METADATA)?;
    let text = text.and_then(|texts| texts.into_iter().next());
    let text = text.ok_or_else(|| wrong("the file has no such attribute".into()))?;
    // JSON is YAML, but for characters that it writes as two.
    let metadata = yaml::parse(&paired(&text)).map_err(|error| wrong(error.to_string()))?;
    in_nanometres(&metadata).map_err(|error| wrong(error.to_string()))?;
    let metadata = metadata.into_iter().next().unwrap_or(Value::Null);
    let step = number(&metadata, "z_step_nm", None)?;
    let magnification = number(&metadata, "magnification_factor", Some(1.0))?;
    if magnification == 0.0 {
        return Err(wrong("'magnification_factor' is 0".into()));
    }
    let centre = number(&metadata, "z_center", Some(0.0))?;
    let begin = number(&metadata, "z_init", Some(centre))?;
    // z = (begin − plane)·step·magnification + (centre − begin)·step.
    let zero = begin + (centre - begin) / magnification;
    let scaled = step * magnification;
    if reader.names().iter().any(|name| name == KNOTS) {
        let (shape, values) = reader.array(KNOTS, MOST)?;
        let &[planes, rows, columns] = &shape[..] else {
            return Err(wrong(format!("'{KNOTS}' has {} dimensions, not 3", shape.len())));
        };
        let written = number(&metadata, "knots_zero", None)?;
        let knots = Array3::from_shape_vec((planes, rows, columns), values);
        let knots = knots.map_err(|error| wrong(error.to_string()))?;
        // Our own, in the other direction; unless somebody changed what Picasso reads.
        let pieces = planes.saturating_sub(3) as f64;
        let zero = if zero == pieces - written { written } else { pieces - zero };
        let heights = !matches!(metadata.get("heights"), Some(Value::Bool(false)));
        let light = number(&metadata, "light", Some(1.0))?;
        let psf = if light == 1.0 && heights {
            directed(knots, scaled, zero, 0)?
        } else {
            Psf::of_light(knots, scaled, zero, light, heights)?
        };
        let mut nodes = misfit_nodes(&metadata)?;
        if scaled < 0.0 {
            nodes.reverse();
        }
        let misfit = (!nodes.is_empty()).then(|| Misfit::new(&nodes)).transpose();
        let misfit = misfit.map_err(|error| wrong(error.to_string()))?;
        let field = field_of(&mut reader, &metadata, scaled < 0.0)?;
        return psf.with_misfit(misfit).with_field(field);
    }
    match metadata.get("model").and_then(Value::text) {
        Some("spline-3d") => {}
        model => {
            let model = model.unwrap_or("none");
            return Err(wrong(format!("the model is {model}, and only spline-3d is read")));
        }
    }
    let oversampling = number(&metadata, "oversampling", Some(1.0))?;
    if oversampling != 1.0 {
        return Err(wrong(format!("oversampling is {oversampling}, and only 1 is read")));
    }
    let (shape, polynomials) = reader.array(POLYNOMIALS, 64 * MOST_PIECES)?;
    let &[64, across, down, planes] = &shape[..] else {
        let needed = "(64, x, y, z) is needed";
        return Err(wrong(format!("'{POLYNOMIALS}' has the shape {shape:?}; {needed}")));
    };
    let sizes = [planes, down, across].map(|pieces| pieces.saturating_add(3));
    if sizes.iter().product::<usize>() > MOST {
        let [planes, rows, columns] = sizes;
        return Err(PsfError::Shape { planes, rows, columns });
    }
    let mut knots = joined([planes, down, across], &polynomials)?;
    for axis in [1, 2] {
        knots = longer(&knots, axis);
    }
    knots.invert_axis(Axis(0));
    directed(knots, scaled, planes as f64 - zero, LONGER)
}

/// How a PSF varies across the frame, if it does; with z the other way round.
fn field_of<R: Read + Seek>(
    reader: &mut H5Reader<R>,
    metadata: &Value,
    turned: bool,
) -> Result<Option<PsfField>, PsfError> {
    if !reader.names().iter().any(|name| name == FIELD) {
        return Ok(None);
    }
    let bad = || wrong("'field_part' is no pair of pairs of numbers".into());
    let pair = |value: &Value| match value {
        Value::List(both) => match &both[..] {
            [first, last] => Ok([first.number().ok_or_else(bad)?, last.number().ok_or_else(bad)?]),
            _ => Err(bad()),
        },
        _ => Err(bad()),
    };
    let part = match metadata.get("field_part") {
        Some(Value::List(axes)) if axes.len() == 2 => [pair(&axes[0])?, pair(&axes[1])?],
        _ => return Err(bad()),
    };
    let (shape, values) = reader.array(FIELD, MOST_OF_FIELD)?;
    let &[terms, planes, rows, columns] = &shape[..] else {
        return Err(wrong(format!("'{FIELD}' has {} dimensions, not 4", shape.len())));
    };
    let terms = Array4::from_shape_vec((terms, planes, rows, columns), values);
    let mut terms = terms.map_err(|error| wrong(error.to_string()))?;
    if turned {
        terms.invert_axis(Axis(1));
    }
    PsfField::new(terms, part).map(Some)
}

/// The most coefficients of the terms.
const MOST_OF_FIELD: usize = 14 * MOST;

/// Intervals by which Picasso's tables become longer on each side.
const LONGER: usize = 2;

/// The most pieces of polynomials: 128 MB.
const MOST_PIECES: usize = 1 << 18;

/// The numbers of a PSF's misfit.
fn misfit_numbers(psf: &Psf) -> Vec<[f64; MISFIT]> {
    let nodes = psf.misfit().map(Misfit::nodes).unwrap_or_default();
    let numbers = nodes.iter().map(|node| {
        let mut numbers = [node.moment; MISFIT];
        numbers[..MISFIT - 1].copy_from_slice(&node.shares);
        numbers
    });
    numbers.collect()
}

/// The misfit that the metadata have; nothing if they have none.
fn misfit_nodes(metadata: &Value) -> Result<Vec<MisfitShares>, PsfError> {
    let bad = || wrong(format!("'misfit' has other than lists of {MISFIT} numbers"));
    let nodes = match metadata.get("misfit") {
        None => return Ok(Vec::new()),
        Some(Value::List(nodes)) => nodes,
        Some(_) => return Err(bad()),
    };
    let node = |node: &Value| {
        let Value::List(numbers) = node else { return Err(bad()) };
        let numbers: Option<Vec<f64>> = numbers.iter().map(Value::number).collect();
        let [shares @ .., moment]: [f64; MISFIT] =
            numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(bad)?;
        Ok(MisfitShares::new(shares, moment))
    };
    nodes.iter().map(node).collect()
}

/// A PSF whose z rises from plane to plane if `step` is above 0, and falls otherwise. A rim of so many pixels is not counted among
/// its light.
fn directed(mut knots: Array3<f64>, step: f64, zero: f64, rim: usize) -> Result<Psf, PsfError> {
    if step < 0.0 {
        let pieces = knots.len_of(Axis(0)).saturating_sub(3) as f64;
        knots.invert_axis(Axis(0));
        return Psf::with_rim(knots, -step, pieces - zero, rim);
    }
    Psf::with_rim(knots, step, zero, rim)
}

/// [`LONGER`] coefficients more at both ends of an axis, such that the spline falls to 0.
fn longer(knots: &Array3<f64>, axis: usize) -> Array3<f64> {
    let (axis, count) = (Axis(axis), knots.len_of(Axis(axis)));
    let mut shape = knots.raw_dim();
    shape[axis.index()] += 2 * LONGER;
    let mut all = Array3::zeros(shape);
    all.slice_axis_mut(axis, ndarray::Slice::from(LONGER..count + LONGER)).assign(knots);
    for (end, to) in [(0, LONGER - 1), (count - 1, count + LONGER)] {
        all.index_axis_mut(axis, to).assign(&(0.5 * &knots.index_axis(axis, end)));
    }
    all
}

/// Text of JSON in which each character that is written as two halves (`\ud83d\ude00`) is one.
fn paired(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let unit = |text: &str| -> Option<u16> {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let halves = unit(rest).zip(rest.get(6..).and_then(unit));
        let one = halves.and_then(|(high, low)| {
            let mut all = char::decode_utf16([high, low]).map(Result::ok);
            all.next().flatten().filter(|_| (0xd800..0xdc00).contains(&high))
        });
        // Otherwise what is escaped stays so, a backslash too.
        let length = if one.is_some() { 12 } else { 2.min(rest.len()) };
        match (one, rest.get(..length)) {
            (Some(one), _) => out.push(one),
            (None, Some(escaped)) => out.push_str(escaped),
            (None, None) => break,
        }
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The coefficients of the B-spline of so many pieces along z, y and x.
fn joined(pieces: [usize; 3], polynomials: &[f64]) -> Result<Array3<f64>, PsfError> {
    let [planes, rows, columns] = pieces.map(|count| count.saturating_add(3));
    let spline = Spline::from_polynomials(&pieces.map(SplineAxis::Cubic), polynomials);
    let spline = spline.map_err(|error| wrong(error.to_string()))?;
    let Some(knots) = spline.knots() else {
        let (jump, bend) = jumps(pieces, polynomials);
        let largest = polynomials.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        return Err(PsfError::NotSmooth { jump, bend, largest });
    };
    let knots = Array3::from_shape_vec((planes, rows, columns), knots.to_vec());
    knots.map_err(|error| wrong(error.to_string()))
}

/// The largest jumps of the value and of a second derivative from a piece to the next along an axis, at the corners of pieces.
fn jumps([planes, rows, columns]: [usize; 3], polynomials: &[f64]) -> (f64, f64) {
    let (mut jump, mut bend) = (0.0_f64, 0.0_f64);
    let counts = [planes, rows, columns];
    let steps = [rows * columns, columns, 1];
    for piece in 0..planes * rows * columns {
        for axis in 0..3 {
            if piece / steps[axis] % counts[axis] + 1 == counts[axis] {
                continue;
            }
            let power =
                |piece: usize, power: usize| polynomials[64 * piece + power * [16, 4, 1][axis]];
            let next = piece + steps[axis];
            let value: f64 = (0..4).map(|k| power(piece, k)).sum();
            jump = jump.max((value - power(next, 0)).abs());
            let curvature = 2.0 * power(piece, 2) + 6.0 * power(piece, 3);
            bend = bend.max((curvature - 2.0 * power(next, 2)).abs());
        }
    }
    (jump, bend)
}

fn wrong(what: String) -> PsfError {
    PsfError::Metadata(what)
}

/// A number of the metadata, or what it is where there is none.
fn number(metadata: &Value, name: &str, usual: Option<f64>) -> Result<f64, PsfError> {
    let found = match metadata.get(name) {
        None => usual,
        Some(value) => value.number().filter(|number| number.is_finite()),
    };
    found.ok_or_else(|| wrong(format!("'{name}' is no number, or is not there")))
}
