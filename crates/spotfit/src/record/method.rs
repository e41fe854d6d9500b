//! What the localizations of a movie depend on, by its names.

use std::collections::BTreeMap;

use fit_core::{Camera, Criteria, Estimator, MaxError, PixelProfile, Shape};
use fit_windows::CameraMap;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::input::in_hex;
use crate::astigmatism::find::Finder;
use crate::localize::{Defects, Emitters, LocalizeOptions, Positions, Sigma};
use crate::psf::{Misfit, Psf};

/// The options that the outcome of localizing depends on, all of them, given or not: what means the same looks the same,
/// whoever asked for it. Not among them are threads and devices, which change the time that it takes. Cameras and maps are
/// there by their content, calibrations and PSFs as given or not: see
/// [`calibration`] and [`psf`].
pub fn method(options: &LocalizeOptions) -> BTreeMap<String, Value> {
    let LocalizeOptions { fitter, drop, .. } = options;
    // Nothing that is said of overlapping spots matters where there are none.
    let crowded = options.emitters.are_together();
    let fit = &fitter.fit;
    let criteria = &fit.criteria;
    let [shape, sigma] = match fit.shape {
        Shape::Circular(_) => [json!("circular"), Value::Null],
        Shape::Elliptical(_) => [json!("elliptical"), Value::Null],
        Shape::Rotated(_) => [json!("rotated"), Value::Null],
        Shape::FixedSigma(fixed) => [json!("fixed"), json!([fixed.sigma, fixed.sigma])],
        Shape::FixedSigmas(fixed) => [json!("fixed"), json!([fixed.sigma_x, fixed.sigma_y])],
        _ => [json!("given"), Value::Null],
    };
    let roi = options.roi.map(|roi| [roi.x, roi.y, roi.width, roi.height]);
    let threshold = options.threshold;
    let (preset, named) = preset(criteria);
    // Whoever asks for iterations gets evaluations with them: a word of its own only where they are other than that.
    let usual = preset.max_evaluations.max(criteria.max_iterations.saturating_mul(5));
    let evaluations = Some(criteria.max_evaluations).filter(|&own| own != usual);
    let tolerance = Some(criteria.tolerance).filter(|&own| own != preset.tolerance);
    let all: [(&str, Value); 33] = [
        ("box", json!(options.box_size)),
        ("false_rate", if threshold.is_some() { Value::Null } else { json!(options.false_rate) }),
        ("threshold", json!(threshold)),
        ("roi", json!(roi)),
        ("baseline", json!(options.camera.baseline)),
        ("sensitivity", json!(options.camera.sensitivity)),
        ("em_gain", json!(options.camera.em_gain)),
        ("read_noise", json!(options.camera.read_noise)),
        ("camera", json!(options.map.as_deref().map(of_map))),
        ("defects", json!(options.defects.as_deref().map(of_defects))),
        ("all", json!(options.keep_all)),
        ("flags", json!(options.checks)),
        ("errors", json!(options.errors)),
        ("saturation", json!(options.saturation)),
        ("drop", json!(drop.with_crowd(drop.crowd && crowded).bits())),
        // The files are among the inputs, and their numbers stand in the record.
        ("calibration", json!(options.calibration.is_some())),
        ("psf", json!(options.psf.is_some())),
        ("shape", shape),
        ("fixed_sigma", sigma),
        (
            "profile",
            json!(if fit.profile == PixelProfile::Sampled { "sampled" } else { "integrated" }),
        ),
        ("estimator", json!(if fit.estimator == Estimator::LeastSquares { "lse" } else { "mle" })),
        ("background", json!(format!("{:?}", fit.background).to_lowercase())),
        ("max_iterations", json!(criteria.max_iterations)),
        ("criteria", named),
        ("max_evaluations", json!(evaluations)),
        ("tolerance", json!(tolerance)),
        ("min_delta", json!(criteria.min_delta)),
        ("min_step", json!(criteria.min_step)),
        (
            "max_error",
            match criteria.max_error {
                MaxError::Off => Value::Null,
                other => json!(format!("{other:?}")),
            },
        ),
        ("centre_margin", json!(fit.limits.centre_margin)),
        ("sigma_min", json!(fit.limits.sigma_min)),
        ("sigma_max", json!(fit.limits.sigma_max)),
        ("backend", json!(fitter.backend.to_string())),
    ];
    let mut all: BTreeMap<String, Value> =
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let set = fitter.instruction_set.map(|set| set.to_string());
    all.insert("instruction_set".to_owned(), json!(set));
    if let Some(radius) = options.aperture {
        all.insert("aperture".to_owned(), json!(radius));
        if let Some(correction) = &options.aperture_correction {
            all.insert("aperture_correction".to_owned(), json!(correction.factor));
        }
    }
    if let Some(frames) = options.temporal_background {
        // As many as a window has.
        all.insert("temporal_background".to_owned(), json!(frames | 1));
    }
    if crowded {
        let sigma = if options.sigma == Sigma::Shared { "shared" } else { "free" };
        let emitters = match options.emitters {
            Emitters::UpTo(most) => json!(most),
            _ => json!("auto"),
        };
        all.insert("emitters".to_owned(), emitters);
        all.insert("sigma".to_owned(), json!(sigma));
        all.insert("usual_sigma".to_owned(), json!(options.usual_sigma));
        if let Some(misfit) = &options.misfit {
            let nodes = misfit.nodes().iter().map(|node| (node.shares, node.moment));
            let nodes: Vec<_> = nodes.collect();
            all.insert("misfit".to_owned(), json!(nodes));
        }
    }
    all
}

/// The criteria that these were made of, and what they are called, by what has no option of its own.
fn preset(criteria: &Criteria) -> (Criteria, Value) {
    let all =
        [("default", Criteria::DEFAULT), ("paper", Criteria::PAPER), ("tight", Criteria::TIGHT)];
    let own = |of: &Criteria| (of.step_by_place, of.newton, of.finish);
    match all.into_iter().find(|(_, preset)| own(preset) == own(criteria)) {
        Some((name, preset)) => (preset, json!(name)),
        None => (Criteria::DEFAULT, json!(own(criteria))),
    }
}

/// The camera of these options as numbers.
pub fn camera(options: &LocalizeOptions) -> Value {
    camera_of(&options.camera, options.map.as_deref())
}

/// A camera as numbers, with its maps by their content if it has any.
pub fn camera_of(camera: &Camera, map: Option<&CameraMap>) -> Value {
    let Camera { baseline, sensitivity, em_gain, read_noise, .. } = *camera;
    match map {
        None => json!({
            "baseline": baseline, "sensitivity": sensitivity, "em_gain": em_gain, "read_noise": read_noise
        }),
        Some(map) => json!({ "maps": of_map(map), "em_gain": em_gain }),
    }
}

/// A calibration of widths as numbers: coefficients from the lowest power of z in nanometres to widths in pixels.
pub fn calibration(finder: &Finder) -> Value {
    let curve = finder.curve();
    let [x, y] = curve.coefficients();
    json!({
        "x": x, "y": y, "range": curve.range(), "magnification": curve.magnification(),
        "scatter": finder.options().scatter, "box": finder.box_size()
    })
}

/// A measured PSF by its content.
pub fn psf(psf: &Psf) -> Value {
    json!({ "psf": of_psf(psf) })
}

/// Positions to fit by their content.
pub fn positions(positions: &Positions) -> Value {
    json!(hash(positions.all().iter().flat_map(|place| {
        let [frame, id] = [place.frame as u64, place.id].map(u64::to_le_bytes);
        let [x, y] = [place.x, place.y].map(f64::to_le_bytes);
        [frame, id, x, y]
    })))
}

fn of_psf(psf: &Psf) -> String {
    let coefficients = psf.coefficients();
    let shape = coefficients.shape().iter().map(|&side| side as f64);
    let numbers = shape.chain([psf.step(), psf.zero()]).chain(coefficients.iter().copied());
    let unlike = (!psf.has_heights()).then_some(f64::NAN);
    let misfit = psf.misfit().map(Misfit::nodes).unwrap_or_default();
    let misfit = misfit.iter().flat_map(|node| node.shares.into_iter().chain([node.moment]));
    let field = psf.field().into_iter().flat_map(|field| {
        field.part().into_iter().flatten().chain(field.terms().into_iter().copied())
    });
    let numbers = numbers.chain(unlike).chain(misfit).chain(field);
    hash(numbers.map(f64::to_le_bytes))
}

fn of_defects(defects: &Defects) -> String {
    let (width, height) = defects.size();
    let places = defects.pixels().iter().flat_map(|pixel| [pixel.y, pixel.x]);
    let numbers = [height, width].into_iter().chain(places);
    hash(numbers.map(|number| (number as u64).to_le_bytes()))
}

/// The hash of numbers.
fn hash(numbers: impl Iterator<Item = [u8; 8]>) -> String {
    let mut told = Sha256::new();
    numbers.for_each(|number| told.update(number));
    in_hex(&told.finalize())
}

fn of_map(map: &CameraMap) -> String {
    let mut told = Sha256::new();
    let size = map.size();
    told.update((size.height as u64).to_le_bytes());
    told.update((size.width as u64).to_le_bytes());
    for values in [map.offset(), map.scale(), map.variance()] {
        values.iter().for_each(|value| told.update(value.to_le_bytes()));
    }
    in_hex(&told.finalize())
}
