//! Spots that overlap.

use spotfit::report::number::grouped;
use spotfit::report::svg::{Axis, Series};

use super::super::crowds::{
    ALONE, BOUND, DENSITIES, DISTANCES, JOINT, LIGHTS, LOOKS, Look, METHODS, OF_ALONE, OF_FRAMES,
    OF_PAIRS, OF_TWO, alone, counts, crowd, two,
};
use super::super::experiments::CROWDS;
use super::super::record::Record;
use super::{Figure, decimals};

/// What the joint fit must reach at 1000 photons on 20 (Jaccard index in percent, rms distance in nm), with some room for chance.
const LEAST: [(f64, f64, f64); 5] =
    [(0.2, 98.5, 11.5), (0.5, 97.5, 13.5), (1.0, 96.5, 17.5), (2.0, 92.5, 22.5), (4.0, 85.0, 32.5)];

/// All ways to fit, and the bound.
fn methods() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|(method, _)| *method).chain([BOUND])
}

/// The line of a method; that of the bound is another kind.
fn line(method: &str, name: &str, points: Vec<(f64, f64)>) -> Series {
    if method == BOUND { Series::reference(name, points) } else { Series::curve(name, points) }
}

pub(super) fn crowds(record: &Record, figure: &mut Figure) {
    let quick = record.about.quick;
    figure.say(counts(quick)[0]);
    figure.head(
        "method | photons | background | per µm² | Jaccard (%) | precision (%) | rms (nm) | error / stated | ms a frame",
        "method,photons,background,density,what,value",
    );
    let (mut jaccards, mut errors) = (Vec::new(), Vec::new());
    for light in LIGHTS {
        let [photons, background] = light;
        for method in methods() {
            let (mut found, mut off) = (Vec::new(), Vec::new());
            for density in DENSITIES {
                let value = |what| record.value(CROWDS, method, &crowd(light, density, what));
                let values = OF_FRAMES.map(value);
                figure.values(&[&method, &photons, &background, &density], &OF_FRAMES, &values);
                let [jaccard, precision, rmse, stated, _, milliseconds] = values;
                found.extend(jaccard.map(|value| (density, value)));
                off.extend(rmse.map(|value| (density, value)));
                if rmse.is_some() {
                    let [jaccard, precision, rmse] =
                        [jaccard, precision, rmse].map(|value| decimals(value, 1));
                    let [stated, time] = [stated, milliseconds].map(|value| decimals(value, 2));
                    let photons = grouped(photons as usize);
                    figure.row(&[
                        &method,
                        &photons,
                        &background,
                        &density,
                        &jaccard,
                        &precision,
                        &rmse,
                        &stated,
                        &time,
                    ]);
                }
                let least = LEAST.iter().find(|least| least.0 == density);
                if let (Some(jaccard), Some(rmse), Some(&(_, least, most))) = (jaccard, rmse, least)
                    && (method, photons, quick) == (JOINT, 1000.0, false)
                {
                    let what = format!(
                        "{density} per µm²: Jaccard index {jaccard:.1} % (at least {least}), rms {rmse:.1} nm (at most {most})"
                    );
                    figure.check(what, jaccard >= least && rmse <= most);
                }
            }
            let name = format!("{method}, {} photons", grouped(photons as usize));
            jaccards.push(Series::curve(&name, found));
            errors.push(line(method, &name, off));
        }
    }
    let density = || Axis::log("spots per µm²");
    let jaccard = Axis::new("Jaccard index (%)").from(0.0).to(100.0);
    figure.chart("jaccard", "Spots found", density(), jaccard, jaccards);
    let distance = Axis::log("rms distance from the truth (nm)");
    figure.chart("rms", "Errors in crowds", density(), distance, errors);
}

pub(super) fn two_spots(record: &Record, figure: &mut Figure) {
    let [photons, background] = OF_TWO;
    figure.say(grouped(counts(record.about.quick)[1]));
    figure.say(grouped(photons as usize));
    figure.say(background);
    figure.head(
        "distance (σ) | one a window: resolved (%) | together: resolved (%) | rms (nm) | bound (nm)",
        "method,distance,what,value",
    );
    let mut resolved = [Vec::new(), Vec::new()];
    let (mut errors, mut bounds) = (Vec::new(), Vec::new());
    for distance in DISTANCES {
        let of = |method| OF_PAIRS.map(|what| record.value(CROWDS, method, &two(distance, what)));
        for method in methods() {
            figure.values(&[&method, &distance], &OF_PAIRS, &of(method));
        }
        let all = METHODS.map(|(method, _)| of(method));
        for (curve, values) in resolved.iter_mut().zip(all) {
            curve.extend(values[0].map(|value| (distance, value)));
        }
        let ([[one, _], [both, rmse]], [_, bound]) = (all, of(BOUND));
        errors.extend(rmse.map(|value| (distance, value)));
        bounds.extend(bound.map(|value| (distance, value)));
        if bound.is_some() {
            let [one, both, rmse, bound] = [one, both, rmse, bound].map(|value| decimals(value, 1));
            figure.row(&[&distance, &one, &both, &rmse, &bound]);
        }
    }
    let distance = || Axis::new("distance (σ)").from(0.0);
    let lines =
        METHODS.iter().zip(resolved).map(|((method, _), points)| line(method, method, points));
    let share = Axis::new("resolved (%)").from(0.0).to(100.0);
    figure.chart("resolved", "Pairs that are resolved", distance(), share, lines.collect());
    let series = vec![line(JOINT, JOINT, errors), line(BOUND, BOUND, bounds)];
    let rms = Axis::log("rms distance from the truth (nm)");
    figure.chart("rms", "Errors of two spots", distance(), rms, series);
}

/// At most so many spots in a hundred may be taken for two where they look as the fit thinks.
const DOUBLED: f64 = 0.4;

pub(super) fn alone_spots(record: &Record, figure: &mut Figure) {
    figure.say(grouped(counts(record.about.quick)[2]));
    figure
        .head("spot | photons | found (%) | taken for two or more (%)", "spot,photons,what,value");
    let mut series = Vec::new();
    for (word, look) in LOOKS {
        let mut points = Vec::new();
        for photons in ALONE {
            let value = |what| record.value(CROWDS, JOINT, &alone(word, photons, what));
            let values = OF_ALONE.map(value);
            figure.values(&[&word, &photons], &OF_ALONE, &values);
            let [found, doubled] = values;
            points.extend(doubled.map(|doubled| (photons, doubled)));
            if found.is_some() {
                let photons = grouped(photons as usize);
                figure.row(&[&word, &photons, &decimals(found, 1), &decimals(doubled, 2)]);
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
    let title = "Spots alone that are taken for two";
    figure.chart("doubled", title, Axis::log("photons"), share, series);
}
