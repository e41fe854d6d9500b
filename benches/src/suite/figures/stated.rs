//! Errors and those that fits state.

use fit_tests::stated::{PHOTONS, Reads, chance};
use spotfit::report::number::grouped;
use spotfit::report::svg::{Axis, Series};

use super::super::experiments::STATED;
use super::super::record::Record;
use super::super::stated::{METHODS, SAMPLED, count, name, of_method, spots};
use super::{Figure, decimals};

/// From so many photons on the errors must be those stated.
const SOUND: f64 = 400.0;

pub(super) fn stated(record: &Record, figure: &mut Figure) {
    figure.say(grouped(count(record.about.quick)));
    figure.head("method | spots | 100 photons | 400 photons | 100,000 photons", "method,case,rms");
    let mut charts = [("shapes", Vec::new()), ("cameras", Vec::new())];
    for (method, estimator, reads) in METHODS {
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for case in of_method(estimator, reads) {
            let (name, photons) = (name(&case), case.simulation.signal);
            let Some(rms) = record.value(STATED, method, &name) else { continue };
            figure.number(&[&method, &name, &format!("{rms:.5}")]);
            let chance = chance(2 * count(record.about.quick));
            if reads == Reads::Photons && photons >= SOUND {
                let (least, most) = (0.98 - chance, 1.02 + chance);
                let what = format!("{method}, {name}: {rms:.3}, {least:.3} to {most:.3}");
                figure.check(what, (least..most).contains(&rms));
            }
            let spots = spots(&case);
            match lines.iter_mut().find(|(of, _)| *of == spots) {
                Some((_, points)) => points.push((photons, rms)),
                None => lines.push((spots, vec![(photons, rms)])),
            }
        }
        for (spots, points) in lines {
            let at = |photons: f64| {
                let found = points.iter().find(|point| point.0 == photons);
                decimals(found.map(|point| point.1), 3)
            };
            let [few, some, many] = [PHOTONS[0], SOUND, PHOTONS[PHOTONS.len() - 1]].map(at);
            figure.row(&[&method, &spots, &few, &some, &many]);
            // Integrated profiles lie on the same lines.
            if spots.ends_with(SAMPLED) {
                let shape = spots.split(',').next().unwrap_or_default();
                let photons = reads == Reads::Photons;
                let name = if photons { format!("{method}, {shape}") } else { method.to_owned() };
                charts[usize::from(!photons)].1.push(Series::curve(&name, points));
            }
        }
    }
    for (of, mut series) in charts {
        series.push(Series::level("as stated", 1.0));
        let (x, y) = (Axis::log("photons of the spot"), Axis::new("root mean square"));
        figure.chart(of, "Error of the centre / stated error", x, y, series);
    }
}
