//! Calibrations as charts.

use super::{Calibrated, MeasuredPsf};
use crate::report::figure::Drawing;
use crate::report::svg::{Axis, Chart, Series};
use crate::steps::words::evenly;

/// Places at which a curve is drawn.
const STEPS: u32 = 200;
/// The light whose errors are drawn: photons, and background in each pixel.
const PHOTONS: f64 = 1000.0;
const BACKGROUND: f64 = 10.0;

impl Calibrated {
    /// The widths of the slices and the curves through them, against z.
    pub fn drawing(&self) -> Drawing {
        let calibration = &self.calibration;
        let line = |axis: usize| {
            let at = |z| (z, calibration.curve.widths(z)[axis]);
            evenly(calibration.curve.range(), STEPS).map(at).collect()
        };
        let points =
            |axis: usize| calibration.table.iter().map(|row| (row.z, row.sigma[axis])).collect();
        let series = vec![
            Series::points("", points(0)).styled(0),
            Series::points("", points(1)).styled(1),
            Series::line("σx", line(0)).styled(0),
            Series::line("σy", line(1)).styled(1),
        ];
        let title = format!("Widths of {} slices", calibration.used);
        Chart::new(&title, Axis::new("z (nm)"), Axis::new("σ (px)"), series).drawing()
    }
}

impl MeasuredPsf {
    /// The smallest errors of x, y and z, the Cramér–Rao bounds, of a spot of usual light against z.
    pub fn drawing(&self) -> Drawing {
        let size = self.psf.extent().map(|extent| extent - 1);
        let (scale, unit) =
            self.pixel_size.map_or((1000.0, "x, y: 10⁻³ px; z: nm"), |size| (size, "nm"));
        let line = |parameter: usize, scale: f64| {
            let bound = |z| self.psf.bound(z, PHOTONS, BACKGROUND, size);
            let at = |z| Some((z, bound(z)?[parameter] * scale));
            evenly(self.psf.range(), STEPS).filter_map(at).collect()
        };
        let series = vec![
            Series::line("x", line(0, scale)),
            Series::line("y", line(1, scale)),
            Series::line("z", line(2, 1.0)),
        ];
        let title = format!("{PHOTONS} photons on a background of {BACKGROUND}");
        let y = Axis::new(&format!("smallest error ({unit})")).from(0.0);
        Chart::new(&title, Axis::new("z (nm)"), y, series).drawing()
    }
}
