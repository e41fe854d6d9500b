//! Drift and pictures of localizations.

use std::io;

use numpy::ndarray::Array3;
use numpy::{PyArray1, PyArray3, PyReadonlyArray1};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spotfit::drift::{Drift, DriftError, DriftOptions, Positions};
use spotfit::render::{
    Blur, Canvas, ColourMap, Colours, Contrast, Point, RenderError, RenderOptions, Survey,
};

use crate::error::room;
use crate::numbers::numbers;
use crate::options::choose;
use crate::threads;

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
    let positions = Positions {
        frames: &numbers,
        x: x.as_slice()?,
        y: y.as_slice()?,
        z: z.as_ref().map(Column::as_slice).transpose()?,
        uncertainty: uncertainty.as_ref().map(Column::as_slice).transpose()?,
        uncertainty_z: uncertainty_z.as_ref().map(Column::as_slice).transpose()?,
    };
    let options = DriftOptions::new(precision.0, precision.1)
        .with_range(range)
        .with_segment(segment)
        .with_knots(knots)
        .with_anyway(anyway);
    let pool = threads::pool()?;
    let found = py.detach(|| pool.install(|| Drift::estimate(&positions, frames, &options)));
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

/// A picture (height, width, 3), left and top edge and side of its pixels, and the PNG file if it was wanted.
type Rendered<'py> = (Bound<'py, PyArray3<u8>>, [f64; 3], Bound<'py, PyBytes>);

/// Renders localizations.
#[pyfunction]
#[pyo3(signature = (
    x, y, uncertainty, value, *, pixel, blur, width, colours, low, high, extent, saturated, gamma, most_pixels, png, nanometres
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
    png: bool,
    nanometres: Option<f64>,
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
    let drawn = py.detach(|| {
        pool.install(|| {
            let mut survey = Survey::default();
            survey.add(&points);
            let mut canvas = Canvas::new(survey.view(&options)?, options.colours)?;
            canvas.add(&points);
            Ok((*canvas.view(), canvas.picture(&options.contrast)?))
        })
    });
    let (view, picture) = drawn.map_err(of_render)?;
    let shape = (picture.height(), picture.width(), 3);
    let (file, bytes) = py.detach(|| -> io::Result<_> {
        let mut file = Vec::new();
        if png {
            picture.write_png(&mut file, nanometres.map(|size| size * view.pixel))?;
        }
        Ok((file, picture.pixels().as_flattened().to_vec()))
    })?;
    let image = Array3::from_shape_vec(shape, bytes)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let file = PyBytes::new(py, &file);
    Ok((PyArray3::from_owned_array(py, image), [view.left, view.top, view.pixel], file))
}
