//! Drift and pictures of localizations.

use std::io::{self, Cursor};
use std::time::{Duration, Instant};

use numpy::ndarray::{Array2, Array3, ShapeError};
use numpy::{PyArray1, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spotfit::drift::{Drift, DriftError, DriftOptions, Positions};
use spotfit::render::{
    Blur, Canvas, ColourMap, Colours, Contrast, Picture, Point, RenderError, RenderOptions, Survey,
    View,
};

use crate::error::room;
use crate::numbers::numbers;
use crate::options::choose;
use crate::threads;
use crate::work::{Abandoned, aside};

type Column<'py> = PyReadonlyArray1<'py, f64>;

fn column<'py>(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Column<'py>> {
    numbers(name, object, "(n)")
}

/// The same number of values in all columns.
fn same(columns: &[&[f64]]) -> PyResult<()> {
    match columns.iter().all(|column| column.len() == columns[0].len()) {
        true => Ok(()),
        false => Err(PyValueError::new_err("the columns have different lengths")),
    }
}

/// The exception for drift that is not found.
fn of_drift(error: DriftError) -> PyErr {
    let told = error.to_string();
    match error {
        DriftError::Chance { .. } => {
            PyValueError::new_err(format!("{told} (anyway=True takes the drift all the same)"))
        }
        _ => PyValueError::new_err(told),
    }
}

/// The drift (frame) in x, y and z of localizations, and its errors.
#[pyfunction]
#[pyo3(signature = (
    frame, x, y, z, uncertainty, uncertainty_z, *, frames, precision, range, segment, knots, anyway
))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn find_drift<'py>(
    py: Python<'py>,
    frame: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    z: Option<&Bound<'py, PyAny>>,
    uncertainty: Option<&Bound<'py, PyAny>>,
    uncertainty_z: Option<&Bound<'py, PyAny>>,
    frames: u32,
    precision: (f64, f64),
    range: f64,
    segment: Option<u32>,
    knots: Option<u32>,
    anyway: bool,
) -> PyResult<[Bound<'py, PyArray1<f64>>; 6]> {
    let (frame, x, y) = (column("frame", frame)?, column("x", x)?, column("y", y)?);
    let z = z.map(|z| column("z", z)).transpose()?;
    let uncertainty = uncertainty.map(|of| column("uncertainty", of)).transpose()?;
    let uncertainty_z = uncertainty_z.map(|of| column("uncertainty_z", of)).transpose()?;
    let numbers: Option<Vec<u32>> = frame
        .as_slice()?
        .iter()
        .map(|&value| (f64::from(value as u32) == value).then_some(value as u32))
        .collect();
    let numbers =
        numbers.ok_or_else(|| PyValueError::new_err("frame must be whole numbers from 0"))?;
    let own = |of: &Column<'_>| -> PyResult<Vec<f64>> { Ok(of.as_slice()?.to_vec()) };
    let (x, y) = (own(&x)?, own(&y)?);
    let [z, uncertainty, uncertainty_z] =
        [z, uncertainty, uncertainty_z].map(|of| of.as_ref().map(own).transpose());
    let (z, uncertainty, uncertainty_z) = (z?, uncertainty?, uncertainty_z?);
    let options = DriftOptions::new(precision.0, precision.1)
        .with_range(range)
        .with_segment(segment)
        .with_knots(knots)
        .with_anyway(anyway);
    let pool = threads::pool()?;
    let found = aside(py, move |_| {
        let positions = Positions {
            frames: &numbers,
            x: &x,
            y: &y,
            z: z.as_deref(),
            uncertainty: uncertainty.as_deref(),
            uncertainty_z: uncertainty_z.as_deref(),
        };
        pool.install(|| Drift::estimate(&positions, frames, &options))
    })?;
    let Drift { x, y, z, x_error, y_error, z_error } = found.map_err(of_drift)?;
    Ok([x, y, z, x_error, y_error, z_error].map(|values| PyArray1::from_vec(py, values)))
}

/// The exception for a picture that cannot be drawn.
fn of_render(error: RenderError) -> PyErr {
    let told = error.to_string();
    match error {
        RenderError::Memory { .. } => PyMemoryError::new_err(told),
        _ => PyValueError::new_err(told),
    }
}

/// Colours by their names.
const MAPS: [(&str, ColourMap); 6] = [
    ("inferno", ColourMap::Inferno),
    ("magma", ColourMap::Magma),
    ("viridis", ColourMap::Viridis),
    ("grey", ColourMap::Grey),
    ("turbo", ColourMap::Turbo),
    ("sinebow", ColourMap::Sinebow),
];

/// Localizations that are drawn first; more at a time where that takes less than [`BRIEF`].
const FIRST: usize = 1 << 10;
const BRIEF: Duration = Duration::from_millis(50);

/// A picture (height, width, 3), its shades of grey of 16 bits if it has no other colours, and left and top edge and side of its
/// pixels.
type Rendered<'py> = (Bound<'py, PyArray3<u8>>, Option<Bound<'py, PyArray2<u16>>>, [f64; 3]);

/// Renders localizations.
#[pyfunction]
#[pyo3(signature = (
    x, y, uncertainty, value, *, pixel, blur, width, colours, low, high, extent, saturated, gamma, most_pixels
))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn render<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    uncertainty: Option<&Bound<'py, PyAny>>,
    value: Option<&Bound<'py, PyAny>>,
    pixel: Option<f64>,
    blur: &str,
    width: f64,
    colours: &str,
    low: f64,
    high: f64,
    extent: Option<[f64; 4]>,
    saturated: Option<f64>,
    gamma: f64,
    most_pixels: usize,
) -> PyResult<Rendered<'py>> {
    let (x, y) = (column("x", x)?, column("y", y)?);
    let uncertainty = uncertainty.map(|of| column("uncertainty", of)).transpose()?;
    let given = value.map(|value| column("value", value)).transpose()?;
    let (xs, ys) = (x.as_slice()?, y.as_slice()?);
    let [widths, values] = [&uncertainty, &given].map(Option::as_ref);
    let widths = widths.map(Column::as_slice).transpose()?;
    let values = values.map(Column::as_slice).transpose()?;
    same(&[xs, ys, widths.unwrap_or(xs), values.unwrap_or(xs)])?;
    let mut points = room(xs.len(), "points")?;
    let at = |of: Option<&[f64]>, row: usize| of.map_or(0.0, |of| of[row]);
    points.extend((0..xs.len()).map(|row| Point {
        x: xs[row],
        y: ys[row],
        uncertainty: at(widths, row),
        value: at(values, row),
    }));
    let blurs = [
        ("uncertainty", Blur::Uncertainty),
        ("average", Blur::Average),
        ("histogram", Blur::Histogram),
        ("fixed", Blur::Fixed(width)),
    ];
    let map = choose("colours", colours, &MAPS)?;
    let colours = match values {
        Some(_) => Colours::Value { map, low, high },
        None => Colours::Density(map),
    };
    let options = RenderOptions::default()
        .with_pixel(pixel)
        .with_blur(choose("blur", blur, &blurs)?)
        .with_colours(colours)
        .with_extent(extent)
        .with_contrast(Contrast::default().with_saturated(saturated).with_gamma(gamma))
        .with_most_pixels(most_pixels);
    let pool = threads::pool()?;
    let drawn = aside(py, move |abandoned| pool.install(|| draw(&points, &options, abandoned)))?;
    let drawn = drawn.map_err(of_render)?;
    // Only what nobody waits for is not finished.
    let (view, picture, grey) = drawn.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
    let (height, width) = (picture.height(), picture.width());
    let wrong = |error: ShapeError| PyValueError::new_err(error.to_string());
    let bytes = py.detach(|| picture.pixels().as_flattened().to_vec());
    let image = Array3::from_shape_vec((height, width, 3), bytes).map_err(wrong)?;
    let grey = grey.map(|grey| Array2::from_shape_vec((height, width), grey.pixels().to_vec()));
    let grey = grey.transpose().map_err(wrong)?;
    let grey = grey.map(|grey| PyArray2::from_owned_array(py, grey));
    Ok((PyArray3::from_owned_array(py, image), grey, [view.left, view.top, view.pixel]))
}

/// A picture, and its shades of grey of 16 bits if it has no other colours.
type Drawn = (View, Picture, Option<Picture<u16>>);

/// Draws, unless nobody waits for it.
fn draw(
    points: &[Point],
    options: &RenderOptions,
    abandoned: &Abandoned,
) -> Result<Option<Drawn>, RenderError> {
    let mut survey = Survey::default();
    survey.add(points);
    let mut canvas = Canvas::new(survey.view(options)?, options.colours)?;
    let (mut rest, mut count) = (points, FIRST);
    while !rest.is_empty() {
        if abandoned.is() {
            return Ok(None);
        }
        let begun = Instant::now();
        let (now, later) = rest.split_at(count.min(rest.len()));
        canvas.add(now);
        rest = later;
        if begun.elapsed() < BRIEF {
            count = count.saturating_mul(2);
        }
    }
    let is_grey = options.colours == Colours::Density(ColourMap::Grey);
    let grey = is_grey.then(|| canvas.grey(&options.contrast)).transpose()?;
    Ok(Some((*canvas.view(), canvas.picture(&options.contrast)?, grey)))
}

/// The bytes of a picture (height, width, 3) as a PNG or TIFF file, or of shades of grey (height, width) as a TIFF file;
/// `nanometres` is the side of a pixel.
#[pyfunction]
#[pyo3(signature = (pixels, grey, *, format, nanometres))]
pub(crate) fn encode_picture<'py>(
    py: Python<'py>,
    pixels: PyReadonlyArray3<'py, u8>,
    grey: Option<PyReadonlyArray2<'py, u16>>,
    format: &str,
    nanometres: Option<f64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let is_tiff = choose("format", format, &[("png", false), ("tiff", true)])?;
    let (height, width, planes) = pixels.as_array().dim();
    if planes != 3 || height * width == 0 {
        return Err(PyValueError::new_err("pixels must be an array (height, width, 3)"));
    }
    let own: Vec<u8> = pixels.as_array().iter().copied().collect();
    let grey: Option<Vec<u16>> = grey.map(|grey| grey.as_array().iter().copied().collect());
    let bytes = aside(py, move |_| -> io::Result<Vec<u8>> {
        let mut file = Cursor::new(Vec::new());
        let picture = || Picture::from_pixels(width, own.as_chunks().0.to_vec());
        match (is_tiff, grey) {
            (false, _) => picture().write_png(&mut file, nanometres)?,
            (true, None) => picture().write_tiff(&mut file, nanometres)?,
            (true, Some(grey)) => {
                Picture::from_pixels(width, grey).write_tiff(&mut file, nanometres)?
            }
        }
        Ok(file.into_inner())
    })??;
    Ok(PyBytes::new(py, &bytes))
}
