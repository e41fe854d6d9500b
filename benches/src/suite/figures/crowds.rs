//! Spots that overlap.

use super::super::crowds::{
    ALONE, BOUND, DENSITIES, DISTANCES, JOINT, LIGHTS, LOOKS, Look, METHODS, OF_ALONE, OF_FRAMES,
    OF_PAIRS, OF_TWO, alone, counts, crowd, two,
};
use super::super::experiments::Experiment;
use super::super::record::{Data, Record};
use super::Figure;
use spotfit::report::number::grouped;
use spotfit::report::svg::{Axis, Chart, Series};

fn value(record: &Record, method: &str, case: &str) -> Option<f64> {
    match record.get(Experiment::Crowds.name(), method, case) {
        Some(Data::Value(value)) => Some(*value),
        _ => None,
    }
}

fn decimals(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(String::new, |value| format!("{value:.decimals$}"))
}

/// What the joint fit must reach at 1000 photons on 20 (Jaccard index in percent, rms distance in nm), with some room for chance.
const LEAST: [(f64, f64, f64); 5] =
    [(0.2, 98.5, 11.5), (0.5, 97.5, 13.5), (1.0, 96.5, 17.5), (2.0, 92.5, 22.5), (4.0, 85.0, 32.5)];

pub(super) fn crowds(record: &Record, figure: &mut Figure) {
    let quick = record.about.quick;
    figure.caption = format!(
        "{} simulated frames a point, 64×64 pixels of 100 nm, spots of equal light with σ = 1.3 pixels anywhere, even background, a read \
         noise of 1.5 electrons. Localizations and spots are paired within 200 nm, 4 pixels at the edge left out. Rms distances are \
         those in the plane. The bound is the median of the Cramér–Rao bound of all spots of a frame together. `spotfit localize \
         --emitters auto --fixed-sigma 1.3` on one core, and the same with one emitter a window.",
        counts(quick)[0]
    );
    figure.head([
        "method",
        "photons",
        "background",
        "per µm²",
        "Jaccard (%)",
        "precision (%)",
        "rms (nm)",
        "error / stated",
        "ms a frame",
    ]);
    figure.numbers.0 = vec!["method", "photons", "background", "density", "what", "value"];
    let (mut jaccards, mut errors) = (Vec::new(), Vec::new());
    for light in LIGHTS {
        let lit = format!("{} photons", grouped(light[0] as usize));
        let methods = METHODS.iter().map(|(method, _)| *method).chain([BOUND]);
        for method in methods {
            let (mut found, mut off) = (Vec::new(), Vec::new());
            for density in DENSITIES {
                let values =
                    OF_FRAMES.map(|what| value(record, method, &crowd(light, density, what)));
                for (what, value) in OF_FRAMES.iter().zip(values) {
                    if let Some(value) = value {
                        let row = [
                            method.to_owned(),
                            light[0].to_string(),
                            light[1].to_string(),
                            density.to_string(),
                            (*what).to_owned(),
                            format!("{value:e}"),
                        ];
                        figure.numbers.1.push(row.to_vec());
                    }
                }
                let [jaccard, precision, rmse, stated, _, milliseconds] = values;
                found.extend(jaccard.map(|value| (density, value)));
                off.extend(rmse.map(|value| (density, value)));
                if rmse.is_some() {
                    figure.row([
                        method.to_owned(),
                        grouped(light[0] as usize),
                        light[1].to_string(),
                        density.to_string(),
                        decimals(jaccard, 1),
                        decimals(precision, 1),
                        decimals(rmse, 1),
                        decimals(stated, 2),
                        decimals(milliseconds, 2),
                    ]);
                }
                let least = LEAST.iter().find(|least| least.0 == density);
                if let (Some(jaccard), Some(rmse), Some(&(_, least, most))) = (jaccard, rmse, least)
                    && (method, light[0], quick) == (JOINT, 1000.0, false)
                {
                    let what = format!(
                        "{density} per µm²: Jaccard index {jaccard:.1} % (at least {least}), rms {rmse:.1} nm (at most {most})"
                    );
                    figure.check(what, jaccard >= least && rmse <= most);
                }
            }
            let name = format!("{method}, {lit}");
            jaccards.push(Series::curve(&name, found));
            errors.push(if method == BOUND {
                Series::reference(&name, off)
            } else {
                Series::curve(&name, off)
            });
        }
    }
    let density = || Axis::log("spots per µm²");
    let jaccard = Axis::new("Jaccard index (%)").from(0.0).to(100.0);
    figure.picture("jaccard", Chart::new("Spots found", density(), jaccard, jaccards));
    let distance = Axis::log("rms distance from the truth (nm)");
    figure.picture("rms", Chart::new("Errors in crowds", density(), distance, errors));
}

pub(super) fn two_spots(record: &Record, figure: &mut Figure) {
    let [photons, background] = OF_TWO;
    figure.caption = format!(
        "{} frames a point with two spots of {} photons each, σ = 1.3 pixels of 100 nm, on {background} photons a pixel. Resolved are those of \
         which two localizations lie within 200 nm. Their rms distance from the truth stands beside the Cramér–Rao bound of both together.",
        grouped(counts(record.about.quick)[1]),
        grouped(photons as usize),
    );
    figure.head([
        "distance (σ)",
        "one a window: resolved (%)",
        "together: resolved (%)",
        "rms (nm)",
        "bound (nm)",
    ]);
    figure.numbers.0 = vec!["method", "distance", "what", "value"];
    let mut curves = [Vec::new(), Vec::new()];
    let (mut errors, mut bounds) = (Vec::new(), Vec::new());
    for distance in DISTANCES {
        let of = |method: &str| OF_PAIRS.map(|what| value(record, method, &two(distance, what)));
        let all = METHODS.map(|(method, _)| of(method));
        let bound = value(record, BOUND, &two(distance, "rmse"));
        let methods = METHODS.iter().map(|(method, _)| *method);
        for (method, values) in methods.zip(all).chain([(BOUND, [None, bound])]) {
            for (what, value) in OF_PAIRS.iter().zip(values) {
                if let Some(value) = value {
                    let row = [
                        method.to_owned(),
                        distance.to_string(),
                        (*what).to_owned(),
                        format!("{value:e}"),
                    ];
                    figure.numbers.1.push(row.to_vec());
                }
            }
        }
        for (curve, values) in curves.iter_mut().zip(all) {
            curve.extend(values[0].map(|value| (distance, value)));
        }
        let [[one, _], [both, rmse]] = all;
        errors.extend(rmse.map(|value| (distance, value)));
        bounds.extend(bound.map(|value| (distance, value)));
        if bound.is_some() {
            figure.row([
                distance.to_string(),
                decimals(one, 1),
                decimals(both, 1),
                decimals(rmse, 1),
                decimals(bound, 1),
            ]);
        }
    }
    let distance = || Axis::new("distance (σ)").from(0.0);
    let series =
        METHODS.iter().zip(curves).map(|((method, _), curve)| Series::curve(method, curve));
    let share = Axis::new("resolved (%)").from(0.0).to(100.0);
    figure.picture(
        "resolved",
        Chart::new("Pairs that are resolved", distance(), share, series.collect()),
    );
    let series = vec![Series::curve(JOINT, errors), Series::reference(BOUND, bounds)];
    let rms = Axis::log("rms distance from the truth (nm)");
    figure.picture("rms", Chart::new("Errors of two spots", distance(), rms, series));
}

/// At most so many spots in a hundred may be taken for two where they look as the fit thinks.
const DOUBLED: f64 = 0.4;

pub(super) fn alone_spots(record: &Record, figure: &mut Figure) {
    figure.caption = format!(
        "{} simulated spots a number, each alone in its frame, on 20 photons a pixel, fitted by `localize --emitters auto`. The probability \
         to take one for two is 0.25 % by design where the spot looks as the fit is told. An Airy pattern as wide as the Gaussian of 1.3 pixels at e^(−1/2) of \
         its peak, and a spot that is wider along y, do not.",
        grouped(counts(record.about.quick)[2]),
    );
    figure.head(["spot", "photons", "found (%)", "taken for two or more (%)"]);
    figure.numbers.0 = vec!["spot", "photons", "what", "value"];
    let mut series = Vec::new();
    for (word, look) in LOOKS {
        let mut points = Vec::new();
        for photons in ALONE {
            let values = OF_ALONE.map(|what| value(record, JOINT, &alone(word, photons, what)));
            for (what, value) in OF_ALONE.iter().zip(values) {
                if let Some(value) = value {
                    let row = [
                        word.to_owned(),
                        photons.to_string(),
                        (*what).to_owned(),
                        format!("{value:e}"),
                    ];
                    figure.numbers.1.push(row.to_vec());
                }
            }
            let [found, doubled] = values;
            points.extend(doubled.map(|doubled| (photons, doubled)));
            if found.is_some() {
                figure.row([
                    word.to_owned(),
                    grouped(photons as usize),
                    decimals(found, 1),
                    decimals(doubled, 2),
                ]);
            }
            if let Some(doubled) = doubled
                && matches!(look, Look::Gaussian | Look::Free)
                && !record.about.quick
            {
                let what = format!(
                    "{word}, {photons} photons: {doubled:.2} % taken for two (at most {DOUBLED})"
                );
                figure.check(what, doubled <= DOUBLED);
            }
        }
        series.push(Series::curve(word, points));
    }
    let share = Axis::new("taken for two or more (%)").from(0.0);
    figure.picture(
        "doubled",
        Chart::new("Spots alone that are taken for two", Axis::log("photons"), share, series),
    );
}
