//! What the numbers of a report mean, in words.

use spotfit_locs::private::ends;

use super::charts::with_error;
use super::part::Part;
use super::{StatsReport, page};
use crate::report::number::{five_digits, label};
use crate::table::Meaning;

/// Precision that is stated and precision that is found are the same up to this share.
const SAME: f64 = 0.1;
/// The full width at half maximum of a Gaussian over its standard deviation.
const FWHM: f64 = 2.355;
/// Images of spots that are this many σ apart overlap.
const APART: f64 = 4.0;
/// The share of spots whose images overlap from which it matters.
const CROWDED: f64 = 0.2;

/// Sentences about the rows that are kept, or about all: each a paragraph.
pub(super) fn of(report: &StatsReport) -> Vec<String> {
    let Some(part) = report.parts.last() else { return Vec::new() };
    let number = report.parts.len() - 1;
    let all = [
        precision(report, part),
        resolution(report, part),
        density(report, part, number),
        repeated(report, part),
        light(report, number),
        drift(report),
    ];
    all.into_iter().flatten().collect()
}

fn per_cent(share: f64) -> String {
    match 100.0 * share {
        small if small > 0.0 && small < 1.0 => "less than 1 %".to_owned(),
        share => format!("{share:.0} %"),
    }
}

fn precision(report: &StatsReport, part: &Part) -> Option<String> {
    let found = match part.precision()? {
        Ok(found) => found,
        Err(reason) => {
            return Some(format!(
                "How precise positions are could not be found from the data: {reason}."
            ));
        }
    };
    let sigma = with_error(report, found);
    let scatter =
        format!("Repeated localizations of one molecule scatter by {sigma} along x and y (NeNA)");
    let Some(stated) = part.stated else {
        return Some(format!("{scatter}. The table states no uncertainties to compare this with."));
    };
    let told = page::length(report, stated, report.unit);
    let ratio = stated / found[0];
    let off = per_cent((ratio - 1.0).abs());
    Some(match ratio {
        _ if (ratio - 1.0).abs() <= SAME => {
            format!("{scatter}, and the table states {told}: the stated errors are right to {off}.")
        }
        _ if ratio < 1.0 => format!(
            "{scatter}, but the table states {told}, {off} less. Molecules or the stage moved from frame to frame, spots overlap, \
             or the camera's numbers are not those that were given."
        ),
        _ => format!(
            "{scatter}, but the table states {told}, {off} more. Spots that are in many frames, such as beads, count most here, and may be \
             brighter than the others; or the camera's numbers are not those that were given."
        ),
    })
}

fn resolution(report: &StatsReport, part: &Part) -> Option<String> {
    let found = match part.resolution()? {
        Ok(found) => found,
        Err(reason) => return Some(format!("The resolution could not be found: {reason}.")),
    };
    let resolution = with_error(report, found);
    let whole = format!(
        "Two halves of the localizations show the same structures down to {resolution} (Fourier ring correlation), smaller ones are \
         noise"
    );
    let known = part.precision().and_then(Result::ok).map(|[sigma, _]| sigma);
    let Some(sigma) = known.or(part.stated) else { return Some(format!("{whole}.")) };
    let width = page::length(report, FWHM * sigma, report.unit);
    let ratio = found[0] / (FWHM * sigma);
    Some(match ratio {
        _ if ratio > 1.5 => format!(
            "{whole}. The precision alone would allow {width}: more localizations would show more, or drift is left."
        ),
        _ if ratio > 0.8 => format!("{whole}. This is about what the precision allows, {width}."),
        _ => format!(
            "{whole}. This is less than what the precision allows, {width}: molecules that were seen several times are in both halves, \
             and look like structure."
        ),
    })
}

fn density(report: &StatsReport, part: &Part, number: usize) -> Option<String> {
    let mean = part.per_frame.as_ref()?.mean;
    let text = format!("A frame has {} localizations on average", label(mean));
    let area = area(report, part)?;
    let median = |meaning: Meaning| {
        let ([_, median, _], unit) = report.quartiles(number, meaning)?;
        Some(report.in_nanometres(median, unit).unwrap_or(median) / 1e3)
    };
    let per_area = mean / area;
    let text = format!("{text}, {} in a µm² of the field", label(per_area));
    let Some(sigma) =
        median(Meaning::Sigma).or_else(|| median(Meaning::SigmaX)).filter(|sigma| *sigma > 0.0)
    else {
        return Some(format!("{text}."));
    };
    let share = 1.0 - (-per_area * std::f64::consts::PI * (APART * sigma).powi(2)).exp();
    let near = format!(
        "if they were spread evenly, {} of them would have another within {APART} σ",
        per_cent(share)
    );
    Some(match share > CROWDED {
        true => format!(
            "{text}: {near}. So many images overlap that one spot for each is too few: see `localize --emitters`."
        ),
        false => format!("{text}: {near}, so that few images overlap."),
    })
}

/// The area of the field in µm², of the movie or around the rows.
fn area(report: &StatsReport, part: &Part) -> Option<f64> {
    let [x, y] = part.extent?;
    let nanometres = |length: f64| match report.unit {
        crate::table::Unit::Nanometre => Some(length),
        unit => report.in_nanometres(length, unit),
    };
    let info = &report.info;
    let sides = match (info.width, info.height, info.pixel_size) {
        (Some(width), Some(height), Some(size)) => [width as f64 * size, height as f64 * size],
        _ => [nanometres(x[1] - x[0])?, nanometres(y[1] - y[0])?],
    };
    Some(sides[0] * sides[1] / 1e6).filter(|area| *area > 0.0 && area.is_finite())
}

fn repeated(report: &StatsReport, part: &Part) -> Option<String> {
    let count = report.repeated?;
    Some(match count {
        0 => "No row has another one of its frame within three of its stated uncertainties: nothing was localized twice.".to_owned(),
        count => format!(
            "{count} rows ({}) have a brighter one of their frame within three stated uncertainties: they may have been localized \
             twice. `merge` of filter makes one of them.",
            per_cent(count as f64 / part.rows.max(1) as f64)
        ),
    })
}

fn light(report: &StatsReport, number: usize) -> Option<String> {
    let [low, median, high] = report.quartiles(number, Meaning::Photons)?.0.map(five_digits);
    let text =
        format!("Half of the localizations have {low} to {high} photons, the median is {median}");
    Some(match report.quartiles(number, Meaning::Background) {
        Some(([_, background, _], _)) => {
            format!("{text}, on a background of {} in each pixel.", five_digits(background))
        }
        None => format!("{text}."),
    })
}

fn drift(report: &StatsReport) -> Option<String> {
    let drift = report.drift.as_ref()?;
    let [x, y] = [&drift.x, &drift.y].map(|of| {
        let [low, high] = ends(of.iter().copied());
        page::length(report, high - low, report.unit)
    });
    (!drift.x.is_empty())
        .then(|| format!("The drift that was taken out spans {x} in x and {y} in y."))
}
