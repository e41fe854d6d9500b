//! z of the spots of a table.

use fit_core::spot::shape::{Elliptical, Shape};
use fit_core::{Errors, Estimator, Fit, Options, Parameter, Status};
use fit_windows::Windows;
use ndarray::Array3;
use spotfit_locs::OutOfRange;
use spotfit_locs::private::root_mean_square;

use super::find::{Depth, Finder, SpotWidths};
use crate::backend::{Backend, FitError, FitterOptions};
use crate::fitter::Fitter;
use crate::localize::options::is_box;
use crate::table::{Column, Meaning, Table, TableError, Unit};

/// Side of the windows, in pixels, if neither the caller nor the calibration gives it: that of `spotfit calibrate`.
const BOX: usize = 13;
/// How many parameters a fit may have: from those of a spot of known width to those of a rotated one on a plane.
const PARAMETERS: [usize; 2] = [3, 9];
/// Rows that are looked at together.
const PART: usize = 1 << 12;

/// Why z of a table was not found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableDepthError {
    /// The table lacks a column, or the size of a pixel.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The side of the windows is out of its range.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// The errors of the widths could not be computed.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// Finds z of the rows of tables, which have the two widths of each spot.
///
/// If a table has no errors of the widths (`sigma_x_error`, `sigma_y_error`), they are computed from its other columns.
/// For an elliptical Gaussian with the photons and the background of the row, in a window like that of the fit, the
/// covariance of the fit ([`fit_core::Errors`]) gives the ratio of the errors of the widths to those of the centre;
/// `uncertainty_x` and `uncertainty_y` give the size of the latter. So EM gain, read noise and the profile are taken
/// into account as far as the uncertainties include them. Of least squares and maximum likelihood, the estimator whose
/// uncertainties are nearer is assumed. Without uncertainties, least squares and a camera without read noise are
/// assumed. No table contains the correlation of the errors of the two widths; it is computed from photons and
/// background if the table has them.
///
/// The side of the windows is the first known of these: the argument of [`TableFinder::new`], the value that follows
/// from the table (`chi2` over the square of `background_std` is the number of pixels less that of parameters), that of the calibration
/// ([`Finder::box_size`]), and 13.
#[derive(Debug)]
pub struct TableFinder {
    finder: Finder,
    box_size: Option<usize>,
    /// By least squares, and by maximum likelihood.
    judges: [Fitter; 2],
}

impl TableFinder {
    /// Prepares for finding z by a calibration. `box_size` is the side, in pixels, of the windows in which the spots
    /// were fitted: odd, 5 to 63.
    ///
    /// # Errors
    /// If the side is out of its range, or threads cannot be started.
    pub fn new(finder: Finder, box_size: Option<usize>) -> Result<Self, TableDepthError> {
        if let Some(side) = box_size {
            OutOfRange::check("box_size", side, is_box(&side), "an odd number from 5 to 63")?;
        }
        let judge = |estimator| {
            let shape = Shape::Elliptical(Elliptical);
            let fit = Options::default().with_shape(shape).with_estimator(estimator);
            Fitter::new(&FitterOptions::default().with_fit(fit).with_backend(Backend::Cpu))
        };
        let judges = [judge(Estimator::LeastSquares)?, judge(Estimator::MaximumLikelihood)?];
        Ok(Self { finder, box_size, judges })
    }

    /// The calibration.
    pub fn finder(&self) -> &Finder {
        &self.finder
    }

    /// The side, in pixels, of the windows in which the spots of a table are assumed to have been fitted.
    pub fn box_size(&self, table: &Table) -> usize {
        let carried = || self.finder.box_size().filter(is_box);
        self.box_size.or_else(|| told_box(table)).or_else(carried).unwrap_or(BOX)
    }

    /// z of each row, and whether the errors of the widths had to be estimated.
    ///
    /// # Errors
    /// [`TableError::Column`] if there are no `sigma_x` and `sigma_y`, or neither their errors nor `photons` and
    /// `background`; [`TableError::PixelSize`].
    pub fn find(&self, table: &Table) -> Result<(Vec<Depth>, bool), TableDepthError> {
        let (widths, estimated) = self.widths(table)?;
        Ok((widths.iter().map(|widths| self.finder.find(widths)).collect(), estimated))
    }

    /// The widths of each row in pixels, with their errors, and whether these had to be estimated.
    ///
    /// # Errors
    /// As [`TableFinder::find`].
    pub fn widths(&self, table: &Table) -> Result<(Vec<SpotWidths>, bool), TableDepthError> {
        // A circular width is no two.
        table.values(Meaning::SigmaX)?;
        table.values(Meaning::SigmaY)?;
        let length = |meaning: Meaning| table.lengths(meaning, Unit::Pixel);
        let (x, y) = (length(Meaning::SigmaX)?, length(Meaning::SigmaY)?);
        let given =
            table.column(Meaning::SigmaXError).and(table.column(Meaning::SigmaYError)).is_some();
        let light = table
            .values(Meaning::Photons)
            .and_then(|p| Ok((p, table.values(Meaning::Background)?)));
        let mut widths: Vec<SpotWidths> = x
            .iter()
            .zip(y.iter())
            .map(|(&x, &y)| SpotWidths { sigma: [x, y], errors: [f64::NAN; 2], correlation: 0.0 })
            .collect();
        if given {
            let errors = [length(Meaning::SigmaXError)?, length(Meaning::SigmaYError)?];
            for (row, widths) in widths.iter_mut().enumerate() {
                widths.errors = [errors[0][row], errors[1][row]];
            }
        }
        let (photons, background) = match light {
            Err(_) if given => return Ok((widths, false)),
            light => light?,
        };
        let centre = [length(Meaning::X).ok(), length(Meaning::Y).ok()];
        let known = length(Meaning::UncertaintyX).ok().zip(length(Meaning::UncertaintyY).ok());
        let side = self.box_size(table);
        // One number for both is their root mean square.
        let single =
            table.column(Meaning::UncertaintyX).or(table.column(Meaning::UncertaintyY)).is_none();
        for first in (0..widths.len()).step_by(PART) {
            let rows = first..widths.len().min(first + PART);
            let spots: Vec<Fit<f64>> = rows
                .clone()
                .map(|row| {
                    let at = |axis: usize| {
                        let at = centre[axis].as_ref().map_or(0.0, |all| all[row]);
                        (side / 2) as f64 + (at - at.round())
                    };
                    let [sigma_x, sigma_y] = widths[row].sigma;
                    spot([at(0), at(1)], [sigma_x, sigma_y], photons[row], background[row])
                })
                .collect();
            let judged = self.judged(&spots, side)?;
            for (place, row) in rows.enumerate() {
                let of = |which: usize| Judged::of(&judged[which][place]);
                let uncertainty = known.as_ref().map(|(x, y)| [x[row], y[row]]);
                let told = uncertainty.filter(|all| all.iter().all(|u| *u > 0.0 && u.is_finite()));
                let (judged, scales) = match told {
                    None => (of(0), [1.0; 2]),
                    Some(told) => {
                        let scaled = |which: usize| {
                            let judged = of(which);
                            let [x, y] = judged.centre;
                            let both = root_mean_square(x, y);
                            let centre = if single { [both; 2] } else { [x, y] };
                            let scales = [told[0] / centre[0], told[1] / centre[1]];
                            (judged, scales)
                        };
                        let off = |(_, [x, y]): &(Judged, [f64; 2])| (x * y).ln().abs();
                        let (least_squares, likelihood) = (scaled(0), scaled(1));
                        let nearer = off(&likelihood) < off(&least_squares);
                        if nearer { likelihood } else { least_squares }
                    }
                };
                let widths = &mut widths[row];
                if !given {
                    widths.errors = [0, 1].map(|axis| judged.widths[axis] * scales[axis]);
                }
                if judged.correlation.is_finite() {
                    widths.correlation = judged.correlation;
                }
            }
        }
        Ok((widths, !given))
    }

    /// The errors of fits that end with these spots, by either estimator.
    fn judged(&self, spots: &[Fit<f64>], side: usize) -> Result<[Vec<Errors>; 2], FitError> {
        let mut pixels = Array3::<f64>::zeros((spots.len(), side, side));
        let mut across = vec![0.0; side];
        for (mut window, spot) in pixels.outer_iter_mut().zip(spots) {
            let gauss = |at: usize, centre: f64, sigma: f64| {
                (-0.5 * ((at as f64 - centre) / sigma).powi(2)).exp()
            };
            for (x, value) in across.iter_mut().enumerate() {
                *value = spot.amplitude * gauss(x, spot.x, spot.sigma_x);
            }
            for (y, mut row) in window.outer_iter_mut().enumerate() {
                let down = gauss(y, spot.y, spot.sigma_y);
                for (pixel, across) in row.iter_mut().zip(&across) {
                    *pixel = across * down + spot.background;
                }
            }
        }
        let windows = || Windows::stack(pixels.view()).into();
        let [least_squares, likelihood] = &self.judges;
        Ok([least_squares.errors(windows(), spots)?, likelihood.errors(windows(), spots)?])
    }
}

/// The side of the windows of fits whose table has the sum of the squared residuals and their standard deviation.
fn told_box(table: &Table) -> Option<usize> {
    let (chi2, deviation) =
        (table.values(Meaning::Chi2).ok()?, table.values(Meaning::BackgroundStd).ok()?);
    let freedom = chi2.iter().zip(deviation).map(|(chi2, deviation)| chi2 / deviation.powi(2));
    let mut sides: Vec<Option<usize>> =
        freedom.filter(|freedom| freedom.is_finite()).map(side_of).collect();
    sides.sort_unstable();
    let at = |quarter: usize| sides.get(sides.len() * quarter / 4).copied().flatten();
    // Other programs mean other things by these words, and rows then do not agree.
    at(2).filter(|_| at(1) == at(2) && at(2) == at(3))
}

/// The side of a window with so many degrees of freedom: the squares of odd sides are farther apart than numbers of parameters.
fn side_of(freedom: f64) -> Option<usize> {
    let middle = 0.5 * (PARAMETERS[0] + PARAMETERS[1]) as f64;
    let half = ((freedom + middle).sqrt() - 1.0) / 2.0;
    let side = 2 * half.round() as usize + 1;
    let parameters = (side * side) as f64 - freedom;
    let counted = (PARAMETERS[0]..=PARAMETERS[1]).contains(&(parameters.round() as usize));
    let whole = (parameters - parameters.round()).abs() < 0.1;
    Some(side).filter(|side| parameters > 0.0 && counted && whole && is_box(side))
}

/// What is needed of the covariance of a fit.
struct Judged {
    centre: [f64; 2],
    widths: [f64; 2],
    correlation: f64,
}

impl Judged {
    fn of(errors: &Errors) -> Self {
        use Parameter::{SigmaX, SigmaY};
        let of = |parameter| f64::from(errors.of(parameter));
        let widths = [of(SigmaX), of(SigmaY)];
        let correlation = f64::from(errors.covariance(SigmaX, SigmaY)) / (widths[0] * widths[1]);
        Self { centre: [errors.x().into(), errors.y().into()], widths, correlation }
    }
}

/// The fit of a window in photo-electrons that ended with this spot; an invalid one where a number makes no sense.
fn spot([x, y]: [f64; 2], [sigma_x, sigma_y]: [f64; 2], photons: f64, background: f64) -> Fit<f64> {
    let sane = |value: f64| value > 0.0 && value.is_finite();
    let at = x.is_finite() && y.is_finite() && background.is_finite();
    if !(at && sane(sigma_x) && sane(sigma_y) && sane(photons)) {
        return Fit::invalid();
    }
    Fit {
        x,
        y,
        sigma: (sigma_x * sigma_y).sqrt(),
        sigma_x,
        sigma_y,
        angle: 0.0,
        amplitude: photons / (std::f64::consts::TAU * sigma_x * sigma_y),
        background,
        offset_x: 0.0,
        offset_y: 0.0,
        chi2: 0.0,
        iterations: 0,
        evaluations: 0,
        status: Status::MinStep,
    }
}

/// Sets the columns `z` and `uncertainty_z` in nanometres, `z_distance` and `z_status` of a table.
pub fn set_depths(table: &mut Table, depths: &[Depth]) {
    let mut add = |meaning: Meaning, of: fn(&Depth) -> f64| {
        table.set(Column::of(meaning, Unit::Nanometre, depths.iter().map(of).collect()));
    };
    add(Meaning::Z, |depth| depth.z);
    add(Meaning::UncertaintyZ, |depth| depth.error);
    add(Meaning::ZDistance, |depth| depth.distance);
    add(Meaning::ZStatus, |depth| depth.status as usize as f64);
}
