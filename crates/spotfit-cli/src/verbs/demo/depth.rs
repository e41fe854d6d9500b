//! A movie in three dimensions that drifts: calibrated, localized, and the drift taken out.

use std::path::{Path, PathBuf};

use ndarray::{Array2, Axis};

use super::{DemoArguments, say};
use crate::error::CliError;
use crate::words::output::Output;
use spotfit::Length;
use spotfit::drift::Drift;
use spotfit::movie::{Movie, Pixels};
use spotfit::render::{ColourMap, Colours, Picture, length_label};
use spotfit::steps::render::{Image, RenderOptions};
use spotfit::steps::{Silent, Source, drift, render};
use spotfit::table::{Info, Unit};

/// Frames of the movie, its side in pixels, and the side of a pixel in nanometres.
const FRAMES: usize = 6000;
const SIDE: usize = 64;
const PIXEL_SIZE: f64 = 100.0;

/// Drift from frame to frame: x and y in pixels, z in nanometres.
const DRIFT: [f64; 3] = [0.000_35, -0.000_25, 0.025];

/// The structures reach so far up and down, in nanometres.
const DEPTH: f64 = 400.0;

/// Simulates beads and a movie, localizes it with z, takes the drift out, and compares all of it with the truth.
pub(super) fn run(demo: &DemoArguments) -> Result<(), CliError> {
    let (seed, [x, y, z]) = (demo.seed, DRIFT);
    let camera = "--baseline 100 --sensitivity 1 --read-noise 1.5";
    let file = |name: &str| demo.out.join(name);
    say!("\nIn three dimensions, behind an astigmatic lens, with drift:");
    let simulated = simulated();
    write_drift(&file("simulated.csv"), &simulated)?;
    for words in [
        format!("simulate beads -o @beads.tif --step 20 --seed {seed}"),
        format!(
            "simulate movie -o @depth.tif --truth @depth-truth.csv --frames {FRAMES} --width {SIDE} --height {SIDE} \
             --spots 3 --photons 2000 --off-time 1500 --unevenness 0.2 --shape defocused --z-range {DEPTH} \
             --heights structure --drift {x},{y},{z} --seed {seed}"
        ),
        format!("calibrate @beads.tif --step 20 -o @cal.yaml --plot @cal.svg {camera}"),
        format!(
            "localize @depth.tif -o @depth.csv --calibration @cal.yaml --estimator mle --box 13 --drop all \
             --pixel-size {PIXEL_SIZE} {camera}"
        ),
        "drift @depth.csv -o @straight.csv --table @drift.csv --plot @drift.svg".to_owned(),
        format!(
            "drift @depth-truth.csv --pixel-size {PIXEL_SIZE} -o @still.csv --apply @simulated.csv"
        ),
        format!("score @depth.csv @depth-truth.csv --pixel-size {PIXEL_SIZE} --radius 150"),
        format!("score @straight.csv @still.csv --pixel-size {PIXEL_SIZE} --radius 150"),
    ] {
        demo.command(&words)?;
    }
    let found = Source::file(file("drift.csv"));
    let found = drift::read(&found, Unit::Nanometre, &Info::default())?;
    say!("\n{:<44}{:>9}{:>9}{:>9}", "In nanometres", "x", "y", "z");
    let last = |drift: &Drift| {
        [&drift.x, &drift.y, &drift.z].map(|of| of.last().copied().unwrap_or(f64::NAN))
    };
    for (name, [x, y, z]) in [
        (format!("Drift over {FRAMES} frames, simulated"), last(&simulated)),
        ("Drift found".to_owned(), last(&found)),
        ("Drift left, rms".to_owned(), left(&simulated, &found)),
    ] {
        say!("{name:<44}{x:>9.1}{y:>9.1}{z:>9.1}");
    }
    let tables = [file("still.csv"), file("depth.csv"), file("straight.csv")];
    let mut bytes = Vec::new();
    let picture = panels(&frame(&file("depth.tif"))?, tables)?;
    picture.write_png(&mut bytes, None).map_err(CliError::write("depth.png"))?;
    let mut image = Output::create(&file("depth.png"))?;
    image.write_all(&bytes)?;
    image.finish()
}

/// The drift of the movie, in nanometres.
fn simulated() -> Drift {
    let of = |axis: usize| {
        let step = DRIFT[axis] * if axis < 2 { PIXEL_SIZE } else { 1.0 };
        (0..FRAMES).map(|frame| step * frame as f64).collect()
    };
    Drift { x: of(0), y: of(1), z: of(2), ..Drift::default() }
}

/// Writes a drift as `drift --table` does.
fn write_drift(path: &Path, drift: &Drift) -> Result<(), CliError> {
    let mut text = "frame,x [nm],y [nm],z [nm]\n".to_owned();
    for (frame, ((x, y), z)) in drift.x.iter().zip(&drift.y).zip(&drift.z).enumerate() {
        text += &format!("{},{x:.4},{y:.4},{z:.4}\n", frame + 1);
    }
    let mut output = Output::create(path)?;
    output.write_all(text.as_bytes())?;
    output.finish()
}

/// The root mean square of the drift that is left, which is the same whatever the place of everything.
fn left(simulated: &Drift, found: &Drift) -> [f64; 3] {
    let pairs = [(&simulated.x, &found.x), (&simulated.y, &found.y), (&simulated.z, &found.z)];
    pairs.map(|(simulated, found)| {
        let off = || found.iter().zip(simulated).map(|(found, simulated)| found - simulated);
        let count = found.len() as f64;
        let mean = off().sum::<f64>() / count;
        (off().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
    })
}

/// The frame in the middle of the movie.
fn frame(path: &Path) -> Result<Array2<u16>, CliError> {
    let name = path.display().to_string();
    let wrong = |source| CliError::Movie { file: name.clone(), source };
    let mut movie = Movie::open(path).map_err(wrong)?;
    movie.skip_to(FRAMES / 2).map_err(wrong)?;
    match movie.read(1).map_err(wrong)?.map(|block| block.pixels) {
        Some(Pixels::U16(frames)) => Ok(frames.index_axis_move(Axis(0), 0)),
        _ => Err(CliError::file(&name, "it is not as it was written")),
    }
}

/// Pixels of the picture for one of the camera, the space between its panels, and the side of a dot of its labels.
const MAGNIFIED: usize = 7;
const GAP: usize = 8;
const DOT: usize = 3;

/// A frame with larger pixels, from black to white.
fn magnified(frame: &Array2<u16>) -> Picture {
    let (height, width) = frame.dim();
    let mut picture = Picture::filled(width * MAGNIFIED, height * MAGNIFIED, [0; 3]);
    let low = frame.iter().min().copied().unwrap_or_default();
    let range = f64::from(frame.iter().max().map_or(1, |high| (high - low).max(1)));
    for ((y, x), &pixel) in frame.indexed_iter() {
        let level = 255.0 * f64::from(pixel - low) / range;
        let square = Picture::filled(MAGNIFIED, MAGNIFIED, [level as u8; 3]);
        picture.draw(&square, x * MAGNIFIED, y * MAGNIFIED);
    }
    picture
}

/// A frame and the truth at the left; beside them the localizations with the drift and without it, by density above, by
/// height below.
fn panels(frame: &Array2<u16>, [truth, before, after]: [PathBuf; 3]) -> Result<Picture, CliError> {
    let edge = |pixel: f64| Length::nanometres((pixel - 0.5) * PIXEL_SIZE);
    let (low, high) = (edge(0.0), edge(SIDE as f64));
    let usual = RenderOptions::default()
        .with_pixel(Some(Length::nanometres(PIXEL_SIZE / MAGNIFIED as f64)))
        .with_extent(Some([low, low, high, high]))
        .with_scale_bar(Some(Length::pixels(0.0)));
    let heights = Colours::Value { map: ColourMap::Turbo, low: -DEPTH, high: DEPTH };
    let drawn = |table: &Path, shows: &str, caption: &str| {
        let source = Source::file(table).with_pixel_size(Some(PIXEL_SIZE))?;
        let range = (shows == "z").then_some([-DEPTH, DEPTH]);
        let options = usual.clone().with_colour_by(Some(shows.to_owned())).with_colour_range(range);
        let rendered = render::run(&options, &[source], &[], &Silent)?;
        let Image::Colour { picture, .. } = rendered.image else {
            return Err(CliError::file("depth.png", "its parts are no pictures"));
        };
        let mut picture = picture.with_dot(DOT);
        picture.caption(caption);
        if shows == "z" {
            picture.legend(&heights, [&format!("z -{DEPTH}"), &format!("{DEPTH} nm")]);
        }
        Ok::<Picture, CliError>(picture)
    };
    let mut first = magnified(frame).with_dot(DOT);
    first.caption(&format!("one of {FRAMES} frames"));
    first.scale_bar((1000.0 / PIXEL_SIZE) as usize * MAGNIFIED, &length_label(1000.0, true));
    let rows = [
        [
            first,
            drawn(&before, "density", "with drift")?,
            drawn(&after, "density", "drift removed")?,
        ],
        [
            drawn(&truth, "z", "truth")?,
            drawn(&before, "z", "with drift")?,
            drawn(&after, "z", "drift removed")?,
        ],
    ];
    let step = SIDE * MAGNIFIED + GAP;
    let mut all = Picture::filled(3 * step - GAP, 2 * step - GAP, [64; 3]);
    for (row, panels) in rows.iter().enumerate() {
        for (column, panel) in panels.iter().enumerate() {
            all.draw(panel, column * step, row * step);
        }
    }
    Ok(all)
}
