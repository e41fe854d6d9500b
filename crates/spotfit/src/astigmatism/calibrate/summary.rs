//! The quality of a calibration.

use super::super::curve::Astigmatism;
use super::super::find::{DepthStatus, FindOptions, Finder, SpotWidths};
use super::beads::{Bead, Point, median, points, step, zero};
use super::options::{CalibrationError, WidthCalibrationOptions};
use super::outcome::{Fate, Rejected, TableRow, WidthBead, WidthCalibration};
use super::solve::Curves;

const ROWS: usize = 40;
/// A row with fewer slices says nothing about a bias.
const LEAST_IN_ROW: usize = 5;

/// Sums over slices.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: usize,
    z: f64,
    sigma: [f64; 2],
    squares: [f64; 2],
    /// Of (residual² − error²)/σ², both axes.
    excess: f64,
    off: f64,
    off_square: f64,
}

impl Sums {
    fn add(&mut self, z: f64, point: &Point, curve: &Astigmatism, found: f64) {
        self.count += 1;
        self.z += z;
        for (axis, width) in curve.widths(z).into_iter().enumerate() {
            let (sigma, error) = (point.sigma[axis], point.errors[axis]);
            let square = (sigma - width).powi(2);
            self.sigma[axis] += sigma;
            self.squares[axis] += square;
            self.excess += (square - error * error) / (width * width);
        }
        self.off += found - z;
        self.off_square += (found - z).powi(2);
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.count.max(1) as f64
    }

    fn row(&self) -> TableRow {
        TableRow {
            z: self.mean(self.z),
            slices: self.count,
            sigma: self.sigma.map(|sum| self.mean(sum)),
            deviation: self.squares.map(|sum| self.mean(sum).sqrt()),
            z_bias: self.mean(self.off),
            z_error: self.mean(self.off_square).sqrt(),
        }
    }
}

pub(super) fn summarize(
    mut beads: Vec<Bead>,
    curves: &Curves,
    options: &WidthCalibrationOptions,
    invalid: usize,
) -> Result<WidthCalibration, CalibrationError> {
    let zero = zero(&beads, options);
    for bead in &mut beads {
        bead.offset -= zero;
    }
    let ([x, y], range) = curves.in_nm(zero);
    // While it was fitted the range moved along with the crossing, by a fraction of a nanometre.
    let range = options.range.unwrap_or(range);
    let curve = Astigmatism::from_coefficients(x, y, range, 1.0)?;
    let finder = Finder::prepare(curve.clone(), FindOptions::default());
    let kept = |point: &Point| point.inside && point.weight > 0.0;
    let mut all = Sums::default();
    let mut rows = [Sums::default(); ROWS];
    for (z, point) in points(&beads).filter(|(_, point)| kept(point)) {
        let spot = SpotWidths { sigma: point.sigma, errors: point.errors, correlation: 0.0 };
        let depth = finder.find(&spot);
        if depth.status == DepthStatus::Invalid {
            continue;
        }
        let row = ((z - range[0]) / (range[1] - range[0]) * ROWS as f64) as usize;
        rows[row.min(ROWS - 1)].add(z, point, &curve, depth.z);
        all.add(z, point, &curve, depth.z);
    }
    let table: Vec<TableRow> = rows.iter().filter(|row| row.count > 0).map(Sums::row).collect();
    let many = table.iter().filter(|row| row.slices >= LEAST_IN_ROW);
    let total = all.row();
    let [x, y] = *curve.coefficients();
    Ok(WidthCalibration {
        z_bias: many.map(|row| row.z_bias.abs()).fold(0.0, f64::max),
        curve: Astigmatism::from_coefficients(x, y, range, options.magnification)?,
        rejected: rejected(&beads, invalid),
        box_size: options.box_size,
        used: all.count,
        step: step(&beads),
        residual: total.deviation,
        scatter: all.mean(0.5 * all.excess).max(0.0).sqrt(),
        z_error: total.z_error,
        lateral: lateral(&beads, options.pixel_size),
        table,
        beads: beads.iter().map(outcome).collect(),
    })
}

fn outcome(bead: &Bead) -> WidthBead {
    let known = matches!(bead.fate, Fate::Used | Fate::Disagrees);
    WidthBead {
        bead: bead.id,
        fate: bead.fate,
        offset: if known { bead.offset } else { f64::NAN },
        slices: bead.points.len(),
        used: if bead.used() {
            bead.points.iter().filter(|p| p.inside && p.weight > 0.0).count()
        } else {
            0
        },
    }
}

fn rejected(beads: &[Bead], invalid_slices: usize) -> Rejected {
    let with = |fate: Fate| beads.iter().filter(|bead| bead.fate == fate).count();
    let of = |wanted: fn(&Point) -> bool| points(beads).filter(|(_, point)| wanted(point)).count();
    Rejected {
        invalid_slices,
        slices_beyond: of(|point| !point.inside),
        slices_off: of(|point| point.inside && point.weight == 0.0),
        short_beads: with(Fate::Short),
        beads_without_crossing: with(Fate::NoCrossing),
        beads_off: with(Fate::Disagrees),
    }
}

/// How much x and y change with z, in nm per µm: medians over the beads of the slopes of straight lines.
fn lateral(beads: &[Bead], pixel_size: f64) -> [f64; 2] {
    [0, 1].map(|axis| {
        let slope = |bead: &Bead| {
            let kept: Vec<(f64, f64)> = bead
                .points
                .iter()
                .filter(|point| point.inside && point.weight > 0.0)
                .map(|point| (point.z, point.centre[axis]))
                .collect();
            let count = kept.len() as f64;
            let z = kept.iter().map(|(z, _)| z).sum::<f64>() / count;
            let centre = kept.iter().map(|(_, centre)| centre).sum::<f64>() / count;
            let product: f64 = kept.iter().map(|(a, b)| (a - z) * (b - centre)).sum();
            let square: f64 = kept.iter().map(|(a, _)| (a - z).powi(2)).sum();
            let slope = 1000.0 * pixel_size * product / square;
            slope.is_finite().then_some(slope)
        };
        median(&beads.iter().filter(|bead| bead.used()).filter_map(slope).collect::<Vec<_>>())
    })
}
