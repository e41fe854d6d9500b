//! Plots of calibrations.

use spotfit::astigmatism::calibrate::WidthCalibration;
use spotfit::psf::Psf;
use spotfit::report::svg::{Axis, Chart, Series};

/// The widths against z.
pub(super) fn widths(calibration: &WidthCalibration) -> String {
    let [low, high] = calibration.curve.range();
    let line = |axis: usize| -> Vec<(f64, f64)> {
        let at = |step: u32| low + (high - low) * f64::from(step) / 200.0;
        (0..=200).map(|step| (at(step), calibration.curve.widths(at(step))[axis])).collect()
    };
    let points =
        |axis: usize| calibration.table.iter().map(|row| (row.z, row.sigma[axis])).collect();
    let series = vec![
        Series::line("σx", line(0)),
        Series::line("σy", line(1)),
        Series::points("", points(0)),
        Series::points("", points(1)),
    ];
    let title = format!("Widths of {} slices", calibration.used);
    Chart::new(&title, Axis::new("z (nm)"), Axis::new("σ (px)"), series).svg()
}

/// The Cramér–Rao bounds against z.
pub(super) fn bounds(psf: &Psf, pixel_size: Option<f64>) -> String {
    let [low, high] = psf.range();
    let size = psf.extent().map(|extent| extent - 1);
    let (scale, unit) = pixel_size.map_or((1000.0, "10⁻³ px; z: nm"), |size| (size, "nm"));
    let at = |step: u32| low + (high - low) * f64::from(step) / 200.0;
    let line = |parameter: usize, scale: f64| -> Vec<(f64, f64)> {
        let bound = |step: u32| psf.bound(at(step), 1000.0, 10.0, size);
        (0..=200).filter_map(|step| Some((at(step), bound(step)?[parameter] * scale))).collect()
    };
    let series = vec![
        Series::line("x", line(0, scale)),
        Series::line("y", line(1, scale)),
        Series::line("z", line(2, 1.0)),
    ];
    let label = format!("smallest error ({unit})");
    Chart::new(
        "1000 photons on a background of 10",
        Axis::new("z (nm)"),
        Axis::new(&label).from(0.0),
        series,
    )
    .svg()
}
