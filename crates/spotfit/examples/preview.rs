//! Looks at a frame with one threshold after the other: how much of it would be kept, and how long it took.
//!
//! ```sh
//! cargo run --release --example preview -- movie.tif 100
//! ```
//! Without a movie it simulates frames of 512×512 and of 2048×2048 pixels.

use std::error::Error;

use fit_sim::SimulatedCamera;
use fit_sim::recipes::{FrameRecipe, MovieRecipe};
use spotfit::localize::LocalizeOptions as Engine;
use spotfit::movie::{MovieOptions, Pixels};
use spotfit::steps::Stack;
use spotfit::steps::localize::{CameraOptions, LocalizeOptions};
use spotfit::steps::preview::{PreviewOptions, Previewer};

/// Frames with this side, with some hundred spots.
fn simulated(side: usize) -> Result<Stack, Box<dyn Error>> {
    let camera = SimulatedCamera::default().with_baseline(100.0).with_read_noise(1.5);
    let frame = FrameRecipe::default()
        .with_width(side)
        .with_height(side)
        .with_background(10.0)
        .with_camera(camera);
    let spots = if side > 1000 { 0.02 } else { 0.1 };
    let recipe = MovieRecipe::default()
        .with_frame(frame)
        .with_frames(2)
        .with_density(Some(spots))
        .with_uniform(true)
        .with_photons(1000.0);
    let frames = recipe.simulation()?.plan()?.piece(0..2).frames();
    Ok(Stack::of(format!("frames of {side}×{side}"), Pixels::U16(frames)))
}

/// Looks at a frame as somebody does who turns a knob.
fn look(movie: Stack, frame: usize) -> Result<(), Box<dyn Error>> {
    println!("{}", movie.name());
    let mut previewer = Previewer::new(movie)?;
    let camera = CameraOptions::default().with_baseline(Some(100.0)).with_sensitivity(Some(1.0));
    let options = LocalizeOptions::default().with_camera(camera.with_read_noise(Some(1.5)));
    for threshold in [None, Some(12.0), Some(9.0), Some(7.0), Some(6.0), Some(5.0), Some(4.0)] {
        let engine = match threshold {
            Some(threshold) => Engine::default().with_threshold(threshold),
            None => Engine::default(),
        };
        let options =
            PreviewOptions::default().with_localize(options.clone().with_localizer(engine));
        let preview = previewer.preview(&options, frame)?;
        let milliseconds = preview.time.as_secs_f64() * 1e3;
        let threshold = preview.detector.threshold.unwrap_or_default();
        println!("threshold {threshold:.2}: {milliseconds:.1} ms, {}", preview.in_words());
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words[..] {
        [] => [512, 2048].into_iter().try_for_each(|side| look(simulated(side)?, 1)),
        [path, frame] => look(Stack::open(path, &MovieOptions::default())?, frame.parse()?),
        _ => Err("a movie, and the number of a frame".into()),
    }
}
