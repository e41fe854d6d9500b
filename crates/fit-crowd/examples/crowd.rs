//! Finds simulated crowds: Jaccard index, rms error and time by density.
//!
//! `cargo run --release -p fit-crowd --example crowd [-- FRAMES [REPEATS [CASE [fixed|free [bounds]]]]]`

#[path = "../tests/crowds/support.rs"]
mod support;

use std::time::Instant;

use fit_crowd::{CrowdFinder, CrowdFrame, CrowdOptions, Emitter, EmitterImage, ReadVariance};
use support::{Case, Places, Score};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let frames: u64 = words.next().map_or(Ok(60), |word| word.parse())?;
    let repeats: usize = words.next().map_or(Ok(3), |word| word.parse())?;
    // With a word more, the bounds of the truth, which take long.
    let bounds = std::env::args().nth(5).is_some();
    let only: Option<usize> = words.next().map(|word| word.parse()).transpose()?;
    let shape = match words.next().as_deref() {
        Some("free") => EmitterImage::Free { start: 1.2 },
        _ => EmitterImage::Fixed(1.3),
    };
    let structures =
        |density| Case { places: Places::Structures, ..Case::new(5000.0, 50.0, density) };
    let deep = |density| Case { deep: true, ..Case::new(3000.0, 20.0, density) };
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
        deep(0.2),
        deep(0.5),
        deep(1.0),
        deep(2.0),
    ];
    println!(
        "photons background density  Jaccard precision RMSE/nm  over stated (unflagged, flagged %)  ms"
    );
    for (number, case) in cases.iter().enumerate() {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let shape = if case.deep { support::curve() } else { shape.clone() };
        let options = CrowdOptions::default().with_shape(shape);
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
                    let bounds = bounds.then(|| case.bounds(truth));
                    score.add_with(case, truth, found, bounds.as_deref());
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
        if case.deep {
            let [all, unflagged] = score.z_over_stated();
            println!("    z: {:.2} nm, over stated {all:.2} ({unflagged:.2})", score.z_rmse());
        }
        for (name, sums) in [("alone", score.alone), ("resolved", score.resolved)] {
            if bounds {
                let [x, z, bound_x, bound_z] = [1, 2, 3, 4].map(|i| (sums[i] / sums[0]).sqrt());
                println!(
                    "    {name} {}: {:.2} nm, bound {:.2}; z {z:.2} nm, bound {bound_z:.2}",
                    sums[0],
                    100.0 * x,
                    100.0 * bound_x
                );
            }
        }
    }
    Ok(())
}
