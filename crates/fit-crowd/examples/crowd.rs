//! Finds simulated crowds: Jaccard index, rms error and time by density.
//!
//! `cargo run --release -p fit-crowd --example crowd [-- FRAMES [REPEATS [CASE [free]]]]`

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use fit_crowd::{CrowdFinder, CrowdFrame, CrowdOptions, Emitter, ReadVariance, Width};
use support::{Case, Places, Score};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let frames: u64 = words.next().map_or(Ok(60), |word| word.parse())?;
    let repeats: usize = words.next().map_or(Ok(3), |word| word.parse())?;
    let only: Option<usize> = words.next().map(|word| word.parse()).transpose()?;
    let width = match words.next().as_deref() {
        Some("free") => Width::Free { start: 1.2 },
        _ => Width::Fixed(1.3),
    };
    let structures =
        |density| Case { places: Places::Structures, ..Case::new(5000.0, 50.0, density) };
    let cases = [
        Case::new(1000.0, 20.0, 0.2),
        Case::new(1000.0, 20.0, 0.5),
        Case::new(1000.0, 20.0, 1.0),
        Case::new(1000.0, 20.0, 2.0),
        Case::new(1000.0, 20.0, 4.0),
        Case::new(5000.0, 50.0, 4.0),
        structures(0.2),
        structures(1.0),
        structures(4.0),
        Case::new(1000.0, 20.0, 0.0),
        Case { unevenness: 0.5, ..Case::new(1000.0, 20.0, 0.0) },
        Case { unevenness: 0.5, ..Case::new(1000.0, 20.0, 1.0) },
        Case { side: 256, ..Case::new(1000.0, 20.0, 1.0) },
        Case { side: 256, ..Case::new(1000.0, 20.0, 0.05) },
    ];
    println!(
        "photons background density  Jaccard precision RMSE/nm  over stated (unflagged, flagged %)  ms"
    );
    for (number, case) in cases.iter().enumerate() {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let options = CrowdOptions::default().with_width(width);
        let mut finder = CrowdFinder::new(case.side, case.side, &options)?;
        let movie: Vec<_> = (0..frames).map(|frame| case.frame(1 + frame % 2, frame)).collect();
        let mut score = Score::default();
        let mut best = vec![f64::INFINITY; movie.len()];
        for repeat in 0..repeats {
            for ((pixels, truth), best) in movie.iter().zip(&mut best) {
                let variance = (case.read_noise * case.read_noise) as f32;
                let frame =
                    CrowdFrame::new(case.side, case.side, pixels, ReadVariance::Same(variance))?;
                let start = Instant::now();
                let found: &[Emitter] = finder.find(&frame)?;
                *best = best.min(start.elapsed().as_secs_f64());
                if repeat == 0 {
                    score.add(case, truth, found);
                }
            }
        }
        let [all, unflagged] = score.over_stated();
        println!(
            "{:7} {:6} {:6} {:?}  {:6.2} {:6.2} {:6.2}   {all:.2} ({unflagged:.2}, {:.0} %)   {:.3}",
            case.signal,
            case.background,
            case.density,
            case.places,
            score.jaccard(),
            score.precision(),
            100.0 * score.rmse(),
            score.flagged(),
            1e3 * best.iter().sum::<f64>() / best.len() as f64,
        );
    }
    Ok(())
}
