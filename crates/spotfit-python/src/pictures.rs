//! Pictures of localizations.

use std::io::{self, Cursor};

use numpy::ndarray::{Array2, Array3};
use numpy::{PyArray2, PyArray3, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spotfit::render::Picture;
use spotfit::steps::render::{Image, Rendered};

use crate::error;
use crate::options::choose;
use crate::work::aside;

/// A picture (height, width, 3), its shades of grey of 16 bits if it has no other colours, its density if it was asked for, and the
/// side of a pixel in nanometres if it is known.
pub(crate) type Shown<'py> = (
    Bound<'py, PyArray3<u8>>,
    Option<Bound<'py, PyArray2<u16>>>,
    Option<Bound<'py, PyArray2<f32>>>,
    Option<f64>,
);

/// A picture as Python has it.
pub(crate) fn shown<'py>(py: Python<'py>, rendered: &Rendered) -> PyResult<Shown<'py>> {
    let drawn;
    let (picture, grey, density) = match &rendered.image {
        Image::Colour { picture, grey } => (picture, grey.as_ref(), None),
        Image::Density(canvas, contrast) => {
            drawn = py.detach(|| canvas.picture(contrast)).map_err(error::wrong)?;
            let light = canvas.density();
            // Colours of a value have three numbers a pixel, whose sum is the density.
            let each = light.len() / drawn.pixels().len().max(1);
            let density = light.chunks_exact(each.max(1)).map(|light| light.iter().sum::<f32>());
            (&drawn, None, Some(density.collect::<Vec<_>>()))
        }
        _ => return Err(PyValueError::new_err("a picture of this kind is not known")),
    };
    let (height, width) = (picture.height(), picture.width());
    let bytes = py.detach(|| picture.pixels().as_flattened().to_vec());
    let pixels = Array3::from_shape_vec((height, width, 3), bytes).map_err(error::wrong)?;
    let grey = grey.map(|grey| Array2::from_shape_vec((height, width), grey.pixels().to_vec()));
    let density = density.map(|density| Array2::from_shape_vec((height, width), density));
    Ok((
        PyArray3::from_owned_array(py, pixels),
        grey.transpose().map_err(error::wrong)?.map(|grey| PyArray2::from_owned_array(py, grey)),
        density.transpose().map_err(error::wrong)?.map(|of| PyArray2::from_owned_array(py, of)),
        rendered.nanometres,
    ))
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
                Picture::from_pixels(width, grey).write_tiff(&mut file, nanometres)?;
            }
        }
        Ok(file.into_inner())
    })??;
    Ok(PyBytes::new(py, &bytes))
}
