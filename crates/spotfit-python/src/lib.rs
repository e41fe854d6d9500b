//! The Python package `spotfit`, as far as it is Rust: the module `spotfit._spotfit`.
//!
//! The Python files beside it give its functions their signatures, types and docstrings. Nothing here is an interface of
//! its own.

mod answers;
mod bands;
mod calibrate;
mod camera;
mod curves;
mod defects;
mod device;
mod devices;
mod dlpack;
mod emitters;
mod error;
mod fitter;
mod keywords;
mod lengths;
mod localize;
mod measured_camera;
mod model;
mod noise;
mod numbers;
mod options;
mod outcomes;
mod pictures;
mod pixels;
mod plots;
mod positions;
mod predict;
mod preview;
mod records;
mod ring;
mod rows;
mod shared;
mod simulate;
mod simulate_movies;
mod steps;
mod tables;
mod text_columns;
mod threads;
mod track;
mod work;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What the Python files of the package call.
#[pymodule]
mod _spotfit {
    #[pymodule_export]
    use super::bands::bands_table;
    #[pymodule_export]
    use super::calibrate::{calibrate, calibrate_psf, frames_to_learn, learn_psf};
    #[pymodule_export]
    use super::camera::CameraMap;
    #[pymodule_export]
    use super::defects::Defects;
    #[pymodule_export]
    use super::device::{DeviceArray, Outcomes, device_of};
    #[pymodule_export]
    use super::devices::devices;
    #[pymodule_export]
    use super::emitters::{report_emitters, save_emitters};
    #[pymodule_export]
    use super::fitter::Fitter;
    #[pymodule_export]
    use super::lengths::{in_pixels, recorded_length, region, window_side};
    #[pymodule_export]
    use super::localize::{
        ArrayLocalizer, LocalizeOptions, MovieFile, MovieLocalizer, check_camera, doubts,
        doubts_of_movie, estimates, frames_for_estimates, unusual_pixels,
    };
    #[pymodule_export]
    use super::measured_camera::{MeasuredCamera, camera};
    #[pymodule_export]
    use super::model::{Model, ModelFitter};
    #[pymodule_export]
    use super::outcomes::{report_curves, report_fits, save_curves, save_fits};
    #[pymodule_export]
    use super::pictures::encode_picture;
    #[pymodule_export]
    use super::plots::{draw_curves, draw_drift, plot_format};
    #[pymodule_export]
    use super::positions::Positions;
    #[pymodule_export]
    use super::preview::{Preview, read_preset};
    #[pymodule_export]
    use super::records::{
        FileLock, TableFile, info, method, read_record, record_inputs, unlike, write_file,
    };
    #[pymodule_export]
    use super::ring::{RingReader, RingWriter, ring_now};
    #[pymodule_export]
    use super::shared::fit_shared;
    #[pymodule_export]
    use super::simulate::simulate;
    #[pymodule_export]
    use super::simulate_movies::{simulate_beads, simulate_movie};
    #[pymodule_export]
    use super::steps::{operations, run_step};
    #[pymodule_export]
    use super::tables::{Info, filter_table, read_table, write_table};
    #[pymodule_export]
    use super::text_columns::read_columns;
    #[pymodule_export]
    use super::track::{TrackOptions, Tracker, track};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        rows::init(module.py())?;
        module.add(
            "MOVIE_ENDINGS",
            PyTuple::new(module.py(), spotfit::movie::endings().collect::<Vec<_>>())?,
        )?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
