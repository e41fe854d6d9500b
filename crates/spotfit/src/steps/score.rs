//! Compares localizations with the truth: how well the spots of a movie were found.
//!
//! The numbers are those of the SMLM challenge of 2016 (Sage et al., Nature Methods 16, 387–395, 2019). In each frame, localizations and
//! spots within a radius of each other are paired: as many as possible, and with the least sum of distances. With TP pairs, FP
//! localizations without a partner and FN spots without a partner
//!
//! - Jaccard index = TP / (TP + FP + FN), recall = TP / (TP + FN), precision = TP / (TP + FP);
//! - RMSE = √(Σ(Δx² + Δy²) / TP) in the plane, √(ΣΔz² / TP) along the axis;
//! - efficiency = 100 % − √((100 % − Jaccard)² + α² RMSE²), with α = 1 %/nm in the plane and 0.5 %/nm along the axis; where there are
//!   heights, the mean of both.

use std::fmt;

use super::words::{counted, go_on, symbol};
use super::{Listener, Source, StepError};
use crate::pairs::{Pair, Spots, pairs};
use crate::table::{Info, Meaning, Table, TableError, Unit};
use crate::{Length, OutOfRange};

/// α in the plane and along the axis, in percent of efficiency for a nanometre.
const ALPHA: f64 = 1.0;
const ALPHA_Z: f64 = 0.5;

/// How localizations are compared with a truth.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ScoreOptions {
    /// A localization may be this far from its spot, in x and y.
    pub radius: Length,
    /// The same along z, where both tables have heights; twice `radius` if not given.
    pub radius_z: Option<Length>,
    /// Spots nearer to the edge of the frame than this do not count, nor do localizations there that have no partner.
    pub border: Length,
    /// The width of the frames in pixels, where `border` needs it and no table says it.
    pub width: Option<usize>,
    /// Their height.
    pub height: Option<usize>,
}

impl Default for ScoreOptions {
    fn default() -> Self {
        let (radius, border) = (Length::from(250.0), Length::from(0.0));
        Self { radius, radius_z: None, border, width: None, height: None }
    }
}

impl ScoreOptions {
    fit_core::__setters! {
        const with_radius: radius: Length,
        const with_radius_z: radius_z: Option<Length>,
        const with_border: border: Length,
        const with_width: width: Option<usize>,
        const with_height: height: Option<usize>,
    }
}

/// How well spots were found ([definitions](self)). A number that is not defined is missing.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ScoreReport {
    /// The Jaccard index: the share of the pairs in all pairs, localizations without a partner and spots without a partner, in percent.
    pub jaccard: Option<f64>,
    /// Spots that were found, in percent.
    pub recall: Option<f64>,
    /// Localizations that are of a spot, in percent.
    pub precision: Option<f64>,
    /// The root mean square of distances in the plane, in `unit`.
    pub rmse: Option<f64>,
    /// That of differences in z, in nanometres.
    pub rmse_z: Option<f64>,
    /// How near the result is to the best possible one, in percent; it may be negative. It needs nanometres.
    pub efficiency: Option<f64>,
    /// Pairs of a localization and a spot.
    pub true_positives: usize,
    /// Localizations without a spot.
    pub false_positives: usize,
    /// Spots without a localization.
    pub false_negatives: usize,
    /// The frames in which there is a localization or a spot.
    pub frames: usize,
    /// Localizations and spots that are not counted because they are near the edge.
    pub near_edge: usize,
    /// Localizations and spots that are not counted because a number of them is not finite.
    pub not_finite: usize,
    /// The radius, in `unit`.
    pub radius: f64,
    /// The radius along z in nanometres, if heights were compared.
    pub radius_z: Option<f64>,
    /// `nm`, or `px` if the size of a pixel is not known.
    pub unit: &'static str,
}

impl fmt::Display for ScoreReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit;
        let lengths = if unit == "px" { 4 } else { 2 };
        let mut row = |name: &str, value: Option<f64>, decimals: usize, unit: &str| match value {
            Some(value) => writeln!(f, "{name:<11}{value:>9.decimals$} {unit}"),
            None => writeln!(f, "{name:<11}{:>9}", "-"),
        };
        row("jaccard", self.jaccard, 2, "%")?;
        row("recall", self.recall, 2, "%")?;
        row("precision", self.precision, 2, "%")?;
        row("rmse", self.rmse, lengths, unit)?;
        if self.radius_z.is_some() {
            row("rmse_z", self.rmse_z, 2, "nm")?;
        }
        row("efficiency", self.efficiency, 2, "%")?;
        write!(
            f,
            "{} pairs within {} {unit}, {} localizations without a spot, {} spots without a localization, in {} frames",
            self.true_positives,
            self.radius,
            self.false_positives,
            self.false_negatives,
            self.frames
        )?;
        let left_out = [
            (self.near_edge, "near the edge"),
            (self.not_finite, "with a number that is not finite"),
        ];
        let mut left_out = counted(left_out).into_iter();
        left_out.try_for_each(|told| write!(f, "\n{told} are not counted"))
    }
}

/// Compares localizations with a truth.
///
/// # Errors
/// [`StepError`]; tables in different units need the size of a pixel.
pub fn run(
    options: &ScoreOptions,
    localizations: &Source,
    truth: &Source,
    listener: &dyn Listener,
) -> Result<ScoreReport, StepError> {
    let mut tables =
        [localizations.load(Some(&NEEDED), listener)?, truth.load(Some(&NEEDED), listener)?];
    let info = known(options, &tables);
    tables.iter_mut().for_each(|table| {
        table.info.pixel_size = table.info.pixel_size.or(info.pixel_size);
    });
    let in_nanometres = |table: &Table| {
        table.info.pixel_size.is_some() || matches!(table.length_unit(), Ok(Unit::Nanometre))
    };
    let unit = if tables.iter().all(in_nanometres) { Unit::Nanometre } else { Unit::Pixel };
    let deep = tables.iter().all(|table| table.column(Meaning::Z).is_some());
    for (source, table) in [(localizations, &tables[0]), (truth, &tables[1])] {
        // A table that cannot be had in this unit is to blame, and not a radius.
        table.emptied().lengths(Meaning::X, unit).map_err(source.wrong())?;
    }
    let [radius, radius_z] = radii(options, localizations, &info, unit, deep)?;
    let field = Field::of(options, localizations, &info, unit)?;
    let [found, spots] = &tables;
    let (found, lost) = Side::of(localizations, found, unit, deep, &field)?;
    let (spots, more) = Side::of(truth, spots, unit, deep, &field)?;
    go_on(listener)?;
    let pairs = pairs(&found.spots(), &spots.spots(), radius, radius_z);
    let pairs = pairs.map_err(localizations.refused())?;
    let counted = Counted::of(&found, &spots, &pairs);
    let share = |part: usize, all: usize| (all > 0).then(|| 100.0 * part as f64 / all as f64);
    let [tp, fp, missed] = counted.counts;
    let rmse = |sum: f64| (tp > 0).then(|| (sum / tp as f64).sqrt());
    let jaccard = share(tp, tp + fp + missed);
    let (in_plane, along) = (rmse(counted.squares[0]), rmse(counted.squares[1]).filter(|_| deep));
    let efficiency = |alpha: f64, rmse: Option<f64>| {
        Some(100.0 - (100.0 - jaccard?).hypot(alpha * rmse?)).filter(|_| unit == Unit::Nanometre)
    };
    let lateral = efficiency(ALPHA, in_plane);
    let axial = efficiency(ALPHA_Z, along);
    Ok(ScoreReport {
        jaccard,
        recall: share(tp, tp + missed),
        precision: share(tp, tp + fp),
        rmse: in_plane,
        rmse_z: along,
        efficiency: lateral.map(|lateral| axial.map_or(lateral, |axial| 0.5 * (lateral + axial))),
        true_positives: tp,
        false_positives: fp,
        false_negatives: missed,
        frames: frames(&found.frames, &spots.frames),
        near_edge: found.frames.len() + spots.frames.len() - (2 * tp + fp + missed),
        not_finite: lost + more,
        radius,
        radius_z: deep.then_some(radius_z),
        unit: symbol(unit),
    })
}

const NEEDED: [&str; 4] = Meaning::names([Meaning::Frame, Meaning::X, Meaning::Y, Meaning::Z]);

/// What is known of the movie from the options, or else from either table.
fn known(options: &ScoreOptions, [found, truth]: &[Table; 2]) -> Info {
    let mut info = found.info.clone();
    info.pixel_size = info.pixel_size.or(truth.info.pixel_size);
    info.width = options.width.or(info.width).or(truth.info.width);
    info.height = options.height.or(info.height).or(truth.info.height);
    info
}

/// The radii in the plane, in this unit, and along the axis, in nanometres.
fn radii(
    options: &ScoreOptions,
    source: &Source,
    info: &Info,
    unit: Unit,
    deep: bool,
) -> Result<[f64; 2], StepError> {
    let checked = |name, value: f64| {
        let good = value > 0.0 && value.is_finite();
        OutOfRange::check(name, value, good, "above 0").map(|()| value)
    };
    let radius = checked("radius", source.length("radius", options.radius, unit, info)?)?;
    if deep && unit != Unit::Nanometre {
        let reason = "there is z, and the size of a pixel is not known; give `pixel_size`";
        return Err(StepError::input(source.name(), reason));
    }
    let radius_z = match options.radius_z {
        Some(_) if !deep => {
            let reason = "`radius_z` is for heights, and not both tables have z";
            return Err(StepError::input(source.name(), reason));
        }
        Some(given) => source.length("radius_z", given, Unit::Nanometre, info)?,
        None => 2.0 * radius,
    };
    Ok([radius, checked("radius_z", radius_z)?])
}

/// The part of the frames in which spots count.
struct Field {
    /// From where to where, in x and in y.
    inside: [[f64; 2]; 2],
}

impl Field {
    fn of(
        options: &ScoreOptions,
        source: &Source,
        info: &Info,
        unit: Unit,
    ) -> Result<Self, StepError> {
        let border = options.border.value();
        let good = border >= 0.0 && border.is_finite();
        OutOfRange::check("border", options.border, good, "from 0 on")?;
        if border == 0.0 {
            return Ok(Self { inside: [[f64::NEG_INFINITY, f64::INFINITY]; 2] });
        }
        let border = source.length("border", options.border, unit, info)?;
        let unknown = |what: &str| {
            StepError::input(
                source.name(),
                format!("`border` needs {what} of the frames; give `width` and `height`"),
            )
        };
        let sides = [
            info.width.ok_or_else(|| unknown("the width"))?,
            info.height.ok_or_else(|| unknown("the height"))?,
        ];
        let pixel = info.pixel_in(unit).ok_or_else(|| {
            let reason = "`border` needs the size of a pixel; give `pixel_size`";
            StepError::input(source.name(), reason)
        })?;
        // Frames begin half a pixel before the centre of the first one.
        let inside = sides.map(|side| [border - 0.5 * pixel, (side as f64 - 0.5) * pixel - border]);
        Ok(Self { inside })
    }

    fn holds(&self, x: f64, y: f64) -> bool {
        [x, y].iter().zip(&self.inside).all(|(at, [first, last])| first <= at && at <= last)
    }
}

/// The rows of a table that are finite.
struct Side {
    frames: Vec<u32>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Option<Vec<f64>>,
    inside: Vec<bool>,
}

impl Side {
    /// The rows, and how many others there are.
    fn of(
        source: &Source,
        table: &Table,
        unit: Unit,
        deep: bool,
        field: &Field,
    ) -> Result<(Self, usize), StepError> {
        let wrong = source.wrong();
        let origin = match (source.origin(), unit) {
            (0.0, _) => 0.0,
            (origin, Unit::Nanometre) => {
                let (column, found, needed) =
                    (Meaning::X.to_string(), Unit::Nanometre, Unit::Pixel);
                let unknown = || TableError::PixelSize { column, found, needed };
                origin * table.info.pixel_size.ok_or_else(unknown).map_err(&wrong)?
            }
            (origin, _) => origin,
        };
        let frames = table.frames().map_err(&wrong)?;
        let (x, y) = (
            table.lengths(Meaning::X, unit).map_err(&wrong)?,
            table.lengths(Meaning::Y, unit).map_err(&wrong)?,
        );
        let z =
            deep.then(|| table.lengths(Meaning::Z, Unit::Nanometre).map_err(&wrong)).transpose()?;
        let mut side = Self {
            frames: Vec::new(),
            x: Vec::new(),
            y: Vec::new(),
            z: z.as_ref().map(|_| Vec::new()),
            inside: Vec::new(),
        };
        for (row, &frame) in frames.iter().enumerate() {
            let (x, y) = (x[row] - origin, y[row] - origin);
            let z = z.as_ref().map(|z| z[row]);
            if !(x.is_finite() && y.is_finite() && z.is_none_or(f64::is_finite)) {
                continue;
            }
            side.frames.push(frame);
            side.x.push(x);
            side.y.push(y);
            side.z.iter_mut().zip(z).for_each(|(all, z)| all.push(z));
            side.inside.push(field.holds(x, y));
        }
        let lost = frames.len() - side.frames.len();
        Ok((side, lost))
    }

    fn spots(&self) -> Spots<'_> {
        Spots { frames: &self.frames, x: &self.x, y: &self.y, z: self.z.as_deref() }
    }
}

/// Pairs, localizations without a spot and spots without a localization; and the sums of squared errors of the pairs, in the plane
/// and along the axis.
struct Counted {
    counts: [usize; 3],
    squares: [f64; 2],
}

impl Counted {
    fn of(found: &Side, truth: &Side, pairs: &[Pair]) -> Self {
        let (mut alone, mut missed) = (found.inside.clone(), truth.inside.clone());
        let (mut count, mut squares) = (0, [0.0; 2]);
        for pair in pairs {
            let (own, spot) = (pair.found as usize, pair.truth as usize);
            alone[own] = false;
            missed[spot] = false;
            if !truth.inside[spot] {
                continue;
            }
            count += 1;
            squares[0] +=
                (found.x[own] - truth.x[spot]).powi(2) + (found.y[own] - truth.y[spot]).powi(2);
            if let (Some(z), Some(other)) = (&found.z, &truth.z) {
                squares[1] += (z[own] - other[spot]).powi(2);
            }
        }
        let of = |all: &[bool]| all.iter().filter(|counts| **counts).count();
        Self { counts: [count, of(&alone), of(&missed)], squares }
    }
}

/// How many frames there are in either.
fn frames(found: &[u32], truth: &[u32]) -> usize {
    let mut all = [found, truth].concat();
    all.sort_unstable();
    all.dedup();
    all.len()
}
