//! Errors and those that fits state.

use fit_tests::stated::{PHOTONS, Reads, chance};

use super::super::experiments::Experiment;
use super::super::record::{Data, Record};
use super::super::stated::{METHODS, SAMPLED, count, name, of_method, spots};
use super::Figure;
use spotfit::report::number::grouped;
use spotfit::report::svg::{Axis, Chart, Series};

/// From so many photons on the errors must be those stated.
const SOUND: f64 = 400.0;

pub(super) fn stated(record: &Record, figure: &mut Figure) {
    figure.caption = format!(
        "Root mean square of (error of the centre / error that the fit states for it), {} simulated windows of 9×9 pixels \
         a point, σ 1.0 to 1.6 (1.3 where it is held), a background of 1 photon a pixel, of 10 under spots of 10,000 photons \
         and more. Fits that do not converge or say that they know nothing are left out. 1 is what it should be. `spotfit fit --errors` writes what fits state.",
        grouped(count(record.about.quick)),
    );
    figure.head(["method", "spots", "100 photons", "400 photons", "100,000 photons"]);
    figure.numbers.0 = vec!["method", "case", "rms"];
    let mut charts = [("shapes", Vec::new()), ("cameras", Vec::new())];
    for (method, estimator, reads) in METHODS {
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for case in of_method(estimator, reads) {
            let Some(Data::Value(rms)) =
                record.get(Experiment::Stated.name(), method, &name(&case))
            else {
                continue;
            };
            figure.numbers.1.push(vec![method.to_owned(), name(&case), format!("{rms:.5}")]);
            let photons = case.simulation.signal;
            let chance = chance(2 * count(record.about.quick));
            if reads == Reads::Photons && photons >= SOUND {
                let sound = 0.98 - chance..1.02 + chance;
                figure.check(
                    format!(
                        "{method}, {}: {rms:.3}, {:.3} to {:.3}",
                        name(&case),
                        sound.start,
                        sound.end
                    ),
                    sound.contains(rms),
                );
            }
            let spots = spots(&case);
            match lines.iter_mut().find(|(of, _)| *of == spots) {
                Some((_, points)) => points.push((photons, *rms)),
                None => lines.push((spots, vec![(photons, *rms)])),
            }
        }
        for (spots, points) in lines {
            let at = |photons: f64| {
                let found = points.iter().find(|point| point.0 == photons);
                found.map_or_else(String::new, |point| format!("{:.3}", point.1))
            };
            let [few, some, many] = [PHOTONS[0], SOUND, PHOTONS[PHOTONS.len() - 1]].map(at);
            figure.row([method.to_owned(), spots.clone(), few, some, many]);
            // Integrated profiles lie on the same lines.
            if spots.ends_with(SAMPLED) {
                let shape = spots.split(',').next().unwrap_or_default().to_owned();
                let photons = reads == Reads::Photons;
                let name = if photons { format!("{method}, {shape}") } else { method.to_owned() };
                charts[usize::from(!photons)].1.push(Series::curve(&name, points));
            }
        }
    }
    for (of, mut series) in charts {
        series.push(Series::level("as stated", 1.0));
        let chart = Chart::new(
            "Error of the centre / stated error",
            Axis::log("photons of the spot"),
            Axis::new("root mean square"),
            series,
        );
        figure.picture(of, chart);
    }
}
