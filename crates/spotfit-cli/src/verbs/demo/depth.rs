//! A movie in three dimensions that drifts: calibrated, localized, and the drift taken out.

use std::ffi::OsString;
use std::path::Path;

use ndarray::{Array2, Axis};

use super::places::{Places, rms};
use super::{DemoArguments, picture, say};
use crate::error::CliError;
use crate::interrupt;
use crate::words::output::Output;
use spotfit::drift::Drift;
use spotfit::movie::{Movie, Pixels};
use spotfit::render::{
    ColourMap, Colours, Picture, Point, RenderError, RenderOptions, length_label, render,
};
use spotfit::steps::{Source, drift};
use spotfit::table::{Info, Unit};

/// Frames of the movie, its side in pixels, and the side of a pixel in nanometres.
const FRAMES: usize = 6000;
const SIDE: usize = 64;
const PIXEL_SIZE: f64 = 100.0;

/// Drift from frame to frame: x and y in pixels, z in nanometres.
const DRIFT: [f64; 3] = [0.000_35, -0.000_25, 0.025];

/// The structures reach so far up and down, in nanometres.
const DEPTH: f64 = 400.0;

/// Runs a command in the folder of the results, whose files are the words that begin with @, and says how to type it.
fn command(folder: &Path, words: &str) -> Result<(), CliError> {
    interrupt::check()?;
    let file = |name: &str| {
        let path = folder.join(name);
        // Otherwise it would be an option.
        let hyphen = path.as_os_str().as_encoded_bytes().starts_with(b"-");
        if hyphen { Path::new(".").join(path) } else { path }
    };
    let word = |word: &str| match word.strip_prefix('@') {
        Some(name) => file(name).into_os_string(),
        None => OsString::from(word),
    };
    let words: Vec<OsString> = words.split_whitespace().map(word).collect();
    let quoted = |word: &OsString| {
        let word = word.display().to_string();
        if word.contains([' ', '\'']) { format!("'{}'", word.replace('\'', "'\\''")) } else { word }
    };
    let typed: Vec<String> = words.iter().map(quoted).collect();
    say!("$ spotfit {}", typed.join(" "));
    crate::run_typed(&words)
}

/// Simulates beads and a movie, localizes it with z, takes the drift out, and compares all of it with the truth.
pub(super) fn run(arguments: &DemoArguments, folder: &Path) -> Result<(), CliError> {
    let seed = arguments.seed;
    let [x, y, z] = DRIFT;
    let camera = "--baseline 100 --sensitivity 1 --read-noise 1.5";
    say!("\nIn three dimensions, behind an astigmatic lens, with drift:\n");
    command(folder, &format!("simulate beads -o @beads.tif --step 20 --seed {seed}"))?;
    command(
        folder,
        &format!(
            "simulate movie -o @depth.tif --truth @depth-truth.csv --frames {FRAMES} --width {SIDE} --height {SIDE} \
             --spots 3 --photons 2000 --off-time 1500 --unevenness 0.2 --shape defocused --z-range {DEPTH} \
             --heights structure --drift {x},{y},{z} --seed {seed}"
        ),
    )?;
    command(
        folder,
        &format!("calibrate @beads.tif --step 20 -o @cal.yaml --plot @cal.svg {camera}"),
    )?;
    command(
        folder,
        &format!(
            "localize @depth.tif -o @depth.csv --calibration @cal.yaml --estimator mle --box 13 --drop all \
             --pixel-size {PIXEL_SIZE} {camera}"
        ),
    )?;
    command(folder, "drift @depth.csv -o @straight.csv --table @drift.csv --plot @drift.svg")?;

    let moving = Places::read(&folder.join("depth-truth.csv"), PIXEL_SIZE)?;
    let drifting = Places::read(&folder.join("depth.csv"), PIXEL_SIZE)?;
    let straight = Places::read(&folder.join("straight.csv"), PIXEL_SIZE)?;
    let found =
        drift::read(&Source::file(folder.join("drift.csv")), Unit::Nanometre, &Info::default())?;
    let of = |axis: usize| {
        let step = DRIFT[axis] * if axis < 2 { PIXEL_SIZE } else { 1.0 };
        (0..FRAMES).map(|frame| step * frame as f64).collect()
    };
    let simulated = Drift { x: of(0), y: of(1), z: of(2), ..Drift::default() };

    let pairs = drifting.pairs(&moving)?;
    let (errors, stated) = (drifting.errors(&moving, &pairs), drifting.stated(&pairs));
    let still = moving.without(&simulated);
    let (before, after) = (drifting.errors(&still, &pairs), straight.errors(&still, &pairs));
    say!("\n{:<44}{:>9}{:>9}{:>9}", "In nanometres", "x", "y", "z");
    let row = |name: &str, [x, y, z]: [f64; 3]| {
        say!("{name:<44}{x:>9.1}{y:>9.1}{z:>9.1}");
        Ok::<(), CliError>(())
    };
    let last = |drift: &Drift| {
        [&drift.x, &drift.y, &drift.z].map(|of| of.last().copied().unwrap_or(f64::NAN))
    };
    row(&format!("Drift over {FRAMES} frames, simulated"), last(&simulated))?;
    row("Drift found", last(&found))?;
    row("Drift left, rms", left(&simulated, &found))?;
    row(&format!("Error of {} localizations, rms", pairs.len()), errors)?;
    row("Error that they state, rms", stated)?;
    row("Off the structure, with drift, rms", before)?;
    row("Off the structure, drift removed, rms", after)?;

    let frame = frame(&folder.join("depth.tif"))?;
    let tables = [still.points(), drifting.points(), straight.points()];
    let picture =
        panels(&frame, &tables).map_err(|error| CliError::file("depth.png", error.to_string()))?;
    let mut image = Output::create(&folder.join("depth.png"))?;
    let mut bytes = Vec::new();
    picture.write_png(&mut bytes, None).map_err(CliError::write("depth.png"))?;
    image.write_all(&bytes)?;
    image.finish()
}

/// The root mean square of the drift that is left, which is the same whatever the place of everything.
fn left(simulated: &Drift, found: &Drift) -> [f64; 3] {
    let pairs = [(&simulated.x, &found.x), (&simulated.y, &found.y), (&simulated.z, &found.z)];
    pairs.map(|(simulated, found)| {
        let off = || found.iter().zip(simulated).map(|(found, simulated)| found - simulated);
        let mean = off().sum::<f64>() / found.len() as f64;
        rms(off().map(|value| value - mean))
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

/// A frame and the truth at the left; beside them the localizations with the drift and without it, by density above, by
/// height below.
fn panels(
    frame: &Array2<u16>,
    [truth, before, after]: &[Vec<Point>; 3],
) -> Result<Picture, RenderError> {
    let edge = |pixel: f64| (pixel - 0.5) * PIXEL_SIZE;
    let (low, high) = (edge(0.0), edge(SIDE as f64));
    let options = RenderOptions::default()
        .with_pixel(Some(PIXEL_SIZE / MAGNIFIED as f64))
        .with_extent(Some([low, low, high, high]));
    let heights = Colours::Value { map: ColourMap::Turbo, low: -DEPTH, high: DEPTH };
    let drawn = |points: &[Point], colours: Colours, caption: &str| {
        let mut picture = render(points, &options.with_colours(colours))?.with_dot(DOT);
        picture.caption(caption);
        if colours == heights {
            picture.legend(&heights, [&format!("z -{DEPTH}"), &format!("{DEPTH} nm")]);
        }
        Ok::<Picture, RenderError>(picture)
    };
    let mut first = picture::magnified(frame, MAGNIFIED).with_dot(DOT);
    first.caption(&format!("one of {FRAMES} frames"));
    first.scale_bar((1000.0 / PIXEL_SIZE) as usize * MAGNIFIED, &length_label(1000.0, true));
    let density = Colours::default();
    let rows = [
        [first, drawn(before, density, "with drift")?, drawn(after, density, "drift removed")?],
        [
            drawn(truth, heights, "truth")?,
            drawn(before, heights, "with drift")?,
            drawn(after, heights, "drift removed")?,
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
