//! Profiles: how many localizations lie along a line, and how wide the structure is that it crosses.

use std::fmt;

use ndarray::Array2;
use spotfit_locs::private::{median, short};

use super::words::{condition, symbol};
use super::{Listener, Source, StepError};
use crate::model::{CurveFitter, Curves, Model, ModelError, Points};
use crate::report::svg::{Axis, Chart, Series};
use crate::table::{Column, Kind, Meaning, Table, TableError, Unit};
use crate::{Backend, Estimator, Length};

/// The columns of a profile: the place along the line, the localizations there, and the Gaussian.
const DISTANCE: &str = "distance";
const COUNT: &str = "count";
const GAUSSIAN: &str = "gaussian";
/// The most bins of a profile.
const MOST_BINS: f64 = 10_000.0;
/// Bins of a profile whose bins nobody chose, at most and at least.
const USUAL_BINS: [f64; 2] = [20.0, 500.0];
/// A Gaussian is fitted to so many localizations or more.
const FEWEST: u64 = 10;
/// The full width at half maximum of a Gaussian over its standard deviation, √(8 ln 2).
const WIDTH: f64 = 2.354_820_045_030_949;

fit_core::__options! {
    /// Which line is looked at. Lengths without a unit have that of the table.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct ProfileOptions {
        /// Where the line begins and ends: x, y, x, y. It must be given.
        pub line(const with_line): Option<[Length; 4]> = None,
        /// Localizations count whose distance from the line is at most half of this. It must be given.
        pub width(const with_width): Option<Length> = None,
        /// The length of a bin along the line. If not given: half the median uncertainty, rounded, but such that there are 20 to 500 bins.
        pub step(const with_step): Option<Length> = None,
        /// Only localizations for which this condition holds count.
        pub filter(with_filter): Option<String> = None,
    }
}

impl ProfileOptions {
    /// The rectangle around what is looked at, in the unit of a table: left, top, right, bottom.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn around(&self, source: &Source) -> Result<[f64; 4], StepError> {
        let line = Line::of(self, source)?;
        let reach = 0.5 * line.width;
        let ([x0, y0], [x1, y1]) = (line.from, line.to());
        Ok([x0.min(x1) - reach, y0.min(y1) - reach, x0.max(x1) + reach, y0.max(y1) + reach])
    }
}

/// A line in the unit of a table.
struct Line {
    from: [f64; 2],
    /// Of length one.
    along: [f64; 2],
    length: f64,
    width: f64,
    unit: Unit,
}

impl Line {
    fn of(options: &ProfileOptions, source: &Source) -> Result<Self, StepError> {
        let layout = source.layout()?;
        let unit = layout.length_unit().map_err(source.wrong())?;
        layout.values(Meaning::Y).map_err(source.wrong())?;
        let (Some(ends), Some(width)) = (options.line, options.width) else {
            let reason = "`line` and `width` must be given";
            return Err(StepError::Options(reason.to_owned()));
        };
        let length =
            |name, length: Length| source.length(name, length.or(unit), unit, &layout.info);
        let [x0, y0, x1, y1] = ends.map(|end| length("line", end));
        let (from, to) = ([x0?, y0?], [x1?, y1?]);
        let width = length("width", width)?;
        let across = [to[0] - from[0], to[1] - from[1]];
        let long = across[0].hypot(across[1]);
        if !(long > 0.0 && long.is_finite()) {
            let reason = "`line` must have two ends";
            return Err(StepError::Options(reason.to_owned()));
        }
        if !(width > 0.0 && width.is_finite()) {
            return Err(StepError::Options("`width` must be above 0".to_owned()));
        }
        Ok(Self { from, along: across.map(|part| part / long), length: long, width, unit })
    }

    fn to(&self) -> [f64; 2] {
        [0, 1].map(|axis| self.from[axis] + self.length * self.along[axis])
    }

    /// How far along the line a place is, if it counts.
    fn place(&self, x: f64, y: f64) -> Option<f64> {
        let [dx, dy] = [x - self.from[0], y - self.from[1]];
        let place = dx * self.along[0] + dy * self.along[1];
        let beside = dy * self.along[0] - dx * self.along[1];
        ((0.0..self.length).contains(&place) && beside.abs() <= 0.5 * self.width).then_some(place)
    }
}

/// A Gaussian over a constant, by maximum likelihood of the counts. Lengths are in the unit of the table.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ProfileFit {
    /// Where its centre is along the line.
    pub centre: f64,
    /// Its standard error.
    pub centre_error: f64,
    /// Its standard deviation.
    pub sigma: f64,
    /// Its standard error.
    pub sigma_error: f64,
    /// Its full width at half maximum.
    pub fwhm: f64,
    /// Its standard error.
    pub fwhm_error: f64,
    /// Localizations per bin at its centre, above the constant.
    pub amplitude: f64,
    /// The constant, localizations per bin.
    pub background: f64,
}

/// The report of a profile. Lengths are in the unit of the table.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ProfileReport {
    /// The localizations that count.
    pub localizations: u64,
    /// The length of the line.
    pub length: f64,
    /// The width across it in which localizations count.
    pub width: f64,
    /// The length of a bin.
    pub step: f64,
    /// The unit of the table, `px` or `nm`.
    pub unit: &'static str,
    /// The localizations of each bin; the last may be cut off by the end of the line.
    pub counts: Vec<u64>,
    /// The Gaussian, if there is one,
    pub fit: Option<ProfileFit>,
    /// or why there is none.
    pub reason: Option<String>,
    /// The Gaussian at the centre of each bin; empty if there is none.
    pub curve: Vec<f64>,
}

/// Counts localizations along a line, and fits a Gaussian over a constant to the counts.
///
/// # Errors
/// [`StepError`].
pub fn run(
    options: &ProfileOptions,
    source: &Source,
    listener: &dyn Listener,
) -> Result<ProfileReport, StepError> {
    let line = Line::of(options, source)?;
    let layout = source.layout()?;
    let filter = options.filter.as_deref().map(|text| condition(text, &layout)).transpose()?;
    let own = Meaning::names([
        Meaning::X,
        Meaning::Y,
        Meaning::Uncertainty,
        Meaning::UncertaintyX,
        Meaning::UncertaintyY,
    ]);
    let (mut places, mut widths) = (Vec::new(), Vec::new());
    source.judged(Some(&own), filter.as_ref(), listener, |mut block, keep| {
        let wrong = source.wrong();
        block.retain(&keep);
        let x = block.values(Meaning::X).map_err(&wrong)?;
        let y = block.values(Meaning::Y).map_err(&wrong)?;
        let uncertainty = match block.lengths(Meaning::Uncertainty, line.unit) {
            Ok(known) => Some(known),
            Err(TableError::Column(_)) => None,
            Err(error) => return Err(wrong(error)),
        };
        for row in 0..block.rows() {
            let Some(place) = line.place(x[row], y[row]) else { continue };
            places.push(place);
            widths.extend(uncertainty.as_ref().map(|known| known[row]));
        }
        Ok(())
    })?;
    let step = match options.step {
        Some(step) => {
            let length = source.length("step", step.or(line.unit), line.unit, &layout.info)?;
            if !(length > 0.0 && line.length / length <= MOST_BINS) {
                let reason = format!(
                    "`step` must be above 0, and such that there are at most {MOST_BINS} bins"
                );
                return Err(StepError::Options(reason));
            }
            length
        }
        None => usual_step(line.length, &widths),
    };
    let mut counts = vec![0u64; (line.length / step * (1.0 - 1e-9)).ceil().max(1.0) as usize];
    let last = counts.len() - 1;
    places.iter().for_each(|place| counts[((place / step) as usize).min(last)] += 1);
    let localizations = places.len() as u64;
    let mut report = ProfileReport {
        localizations,
        length: line.length,
        width: line.width,
        step,
        unit: symbol(line.unit),
        counts,
        fit: None,
        reason: None,
        curve: Vec::new(),
    };
    if localizations < FEWEST {
        report.reason = Some(format!("a Gaussian needs {FEWEST} localizations"));
        return Ok(report);
    }
    match gaussian(&report) {
        Ok(Some((fit, curve))) => (report.fit, report.curve) = (Some(fit), curve),
        Ok(None) => report.reason = Some("no Gaussian is found on this line".to_owned()),
        Err(error) => report.reason = Some(error.to_string()),
    }
    Ok(report)
}

/// 1, 2 or 5 times a power of ten: half the median uncertainty, such that bins are neither few nor many.
fn usual_step(length: f64, widths: &[f64]) -> f64 {
    let usual = 0.5 * median(widths.iter().copied().filter(|width| *width > 0.0));
    let [fewest, most] = USUAL_BINS.map(|bins| length / bins);
    let wanted = if usual.is_finite() { usual } else { length / 100.0 };
    let wanted = wanted.clamp(most, fewest);
    let decade = 10f64.powf(wanted.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * decade);
    steps.into_iter().rev().find(|step| *step <= wanted).unwrap_or(wanted)
}

/// The Gaussian of a profile, and its values at the bins.
fn gaussian(report: &ProfileReport) -> Result<Option<(ProfileFit, Vec<f64>)>, ModelError> {
    // A bin that the end of the line cuts off has too few.
    let whole = (report.length / report.step * (1.0 + 1e-9)).floor() as usize;
    let counts = &report.counts[..whole.min(report.counts.len())];
    if counts.len() < 6 {
        return Ok(None);
    }
    let model = Model::named("gauss_1d")?;
    let names = ["a", "x0", "s", "b"];
    let [a, x0, s, b] = names.map(|name| model.parameter(name));
    let (a, x0, s, b) = (a?, x0?, s?, b?);
    let bins = counts.len() as f64;
    let mut options = model.options();
    options.estimator = Estimator::MaximumLikelihood;
    options.covariance = false;
    let options = options
        .with_lower(a, 1e-6)
        .with_lower(b, 1e-6)
        .with_lower(s, 0.2)
        .with_upper(s, bins)
        .with_lower(x0, -0.5)
        .with_upper(x0, bins - 0.5);
    let data = Array2::from_shape_fn((1, counts.len()), |(_, bin)| counts[bin] as f64);
    let curves = Curves::new(data.view(), Points::Index);
    let fitter = CurveFitter::new(Backend::Reference, 1)?;
    let start = model.start(&fitter, &curves, &options)?;
    let found = model.fit_with(&fitter, &curves, start.view().into(), &options)?;
    if !found.fits.is_found(0) {
        return Ok(None);
    }
    let value = |parameter: usize| found.fits.parameters[[0, parameter]];
    let error = |parameter: usize| found.fits.errors[[0, parameter]];
    let sigma = value(s).abs();
    // A bin holds what lies in it: by a twelfth of its square the counts are wider than the structure.
    let narrow = (sigma * sigma - 1.0 / 12.0).max(0.0).sqrt();
    let good = [x0, s].into_iter().all(|parameter| error(parameter).is_finite());
    if !(good && narrow > 0.0 && sigma < 0.5 * bins) {
        return Ok(None);
    }
    let step = report.step;
    let (sigma_here, sigma_error) = (narrow * step, error(s) * sigma / narrow * step);
    let fit = ProfileFit {
        centre: (value(x0) + 0.5) * step,
        centre_error: error(x0) * step,
        sigma: sigma_here,
        sigma_error,
        fwhm: WIDTH * sigma_here,
        fwhm_error: WIDTH * sigma_error,
        amplitude: value(a),
        background: value(b),
    };
    let all: Vec<f64> = (0..model.parameters().len()).map(value).collect();
    let points: Vec<Vec<f64>> = (0..report.counts.len()).map(|bin| vec![bin as f64]).collect();
    Ok(Some((fit, model.values(&all, &points))))
}

impl ProfileReport {
    /// A table with a row for each bin: its centre along the line, its count, and the Gaussian there if there is one.
    pub fn table(&self) -> Table {
        let unit = if self.unit == "nm" { Unit::Nanometre } else { Unit::Pixel };
        let places = (0..self.counts.len()).map(|bin| (bin as f64 + 0.5) * self.step).collect();
        let counts = self.counts.iter().map(|&count| count as f64).collect();
        let mut table = Table::default();
        let length = Kind::Rounded(unit.decimals());
        table.set(Column::new(DISTANCE, unit, length, places));
        table.set(Column::new(COUNT, Unit::None, Kind::Whole, counts));
        if !self.curve.is_empty() {
            let curve = self.curve.clone();
            table.set(Column::new(GAUSSIAN, Unit::None, Kind::Rounded(4), curve));
        }
        table
    }

    /// The profile as a chart.
    pub fn chart(&self) -> Chart {
        let place = |bin: usize| (bin as f64 + 0.5) * self.step;
        let counts = self.counts.iter().enumerate();
        let counts = counts.map(|(bin, &count)| (place(bin), count as f64)).collect();
        let mut series = vec![Series::points("localizations", counts)];
        if !self.curve.is_empty() {
            let curve = self.curve.iter().enumerate().map(|(bin, &value)| (place(bin), value));
            series.push(Series::line("Gaussian", curve.collect()));
        }
        let across = Axis::new(&format!("distance ({})", self.unit));
        let step = format!("localizations per {} {}", short(self.step), self.unit);
        Chart::new("Profile", across, Axis::new(&step), series)
    }
}

impl fmt::Display for ProfileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { localizations, unit, .. } = self;
        let [length, width, step] = [self.length, self.width, self.step].map(short);
        let mut lines = vec![format!(
            "{localizations} localizations along {length} {unit}, within {width} {unit}; bins of {step} {unit}"
        )];
        lines.extend(self.fit.as_ref().map(|fit| {
            let sizes = [
                (fit.centre, fit.centre_error),
                (fit.sigma, fit.sigma_error),
                (fit.fwhm, fit.fwhm_error),
            ];
            let sizes = sizes.map(|(of, error)| format!("{} ± {} {unit}", short(of), short(error)));
            let [centre, sigma, fwhm] = sizes;
            format!("a Gaussian at {centre}, sigma {sigma}, full width at half maximum {fwhm}")
        }));
        lines.extend(self.reason.clone());
        f.write_str(&lines.join("\n"))
    }
}
