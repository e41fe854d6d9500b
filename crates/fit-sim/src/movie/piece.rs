//! Some frames of a movie, with their truth.

use std::ops::Range;

use fit_core::Circle;
use ndarray::{Array2, Array3, ArrayViewMut2, Axis, Slice};
use rayon::prelude::*;

use super::{
    MovieSimulation,
    haze::SeenCloud,
    molecule::Molecule,
    own::{self, OwnSpots},
};
use crate::light::Light;
use crate::objective::PupilPsf;
use crate::random::Random;
use crate::shape::Outline;

/// A molecule that glows in a frame.
#[derive(Clone, Copy, Debug)]
struct Event {
    molecule: usize,
    place: [f64; 2],
    height: f64,
    share: f64,
}

/// Bytes of an event.
pub(super) const EVENT: usize = size_of::<Event>();

/// Pixels of a frame that are expected at a time.
const BAND: usize = 1 << 20;

/// The true parameters of a spot in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovieTruth {
    /// The frame, from 0.
    pub frame: usize,
    /// Centre and σ in pixels; of a spot that is not circular √(σxσy).
    pub shape: Circle<f64>,
    /// σx in pixels; σ if the spot is circular.
    pub sigma_x: f64,
    /// σy in pixels; σ if the spot is circular.
    pub sigma_y: f64,
    /// As [`Truth::angle`](crate::Truth::angle).
    pub angle: f64,
    /// As [`Truth::z`](crate::Truth::z).
    pub z: f64,
    /// Photo-electrons in this frame.
    pub signal: f64,
    /// Background of a pixel at the centre, in photo-electrons.
    pub background: f64,
    /// The molecule, from 0; beads follow after the last molecule that blinks, and spots that a frame has for itself after the beads.
    pub molecule: usize,
}

/// Some frames of a movie, and which molecules glow in them.
#[derive(Clone, Debug)]
pub struct MoviePiece<'a> {
    simulation: &'a MovieSimulation,
    first: usize,
    /// The events of each frame, by molecule.
    events: Vec<Vec<Event>>,
}

impl<'a> MoviePiece<'a> {
    /// Frames in which no molecule glows.
    pub(super) fn new(simulation: &'a MovieSimulation, frames: Range<usize>) -> Self {
        Self { simulation, first: frames.start, events: vec![Vec::new(); frames.len()] }
    }

    /// Adds molecules, which advance to the end of the piece.
    pub(super) fn add_blinking(&mut self, molecules: &mut [Molecule]) {
        let Self { simulation, first, ref mut events, .. } = *self;
        let frames = first..first + events.len();
        for (number, molecule) in molecules.iter_mut().enumerate() {
            let Molecule { place, height, .. } = *molecule;
            molecule.glow(simulation, frames.clone(), |frame, share| {
                events[frame - first].push(Event { molecule: number, place, height, share });
            });
        }
    }

    /// Adds the spots that each frame has for itself.
    pub(super) fn add_own(&mut self, own: &mut OwnSpots) {
        let Self { simulation, first, ref mut events, .. } = *self;
        let frames = first..first + events.len();
        let numbers = own.first_of(simulation, frames.clone());
        events.par_iter_mut().zip(frames).zip(numbers).for_each(|((events, frame), number)| {
            let spots = own::draw(simulation, frame).zip(simulation.beads.len() + number..);
            events.extend(spots.map(|((place, height), molecule)| Event {
                molecule,
                place,
                height,
                share: 1.0,
            }));
        });
    }

    /// The spots of a frame, by its number in the movie; none if the frame is not in the piece.
    pub fn truth(&self, frame: usize) -> impl Iterator<Item = MovieTruth> {
        let simulation = self.simulation;
        let drift = simulation.drift.map(|d| d * frame as f64);
        let truth = move |molecule: usize, height: Option<f64>, x: f64, y: f64, signal: f64| {
            let outline = simulation.outline(molecule, height, frame);
            let shape = outline.circle(x + drift[0], y + drift[1]);
            let haze = simulation.haze.iter().map(|cloud| cloud.seen(frame).at(shape.x, shape.y));
            let background = haze.fold(simulation.background(shape.x, shape.y), |a, b| a + b);
            let Outline { sigma: [sigma_x, sigma_y], angle, z } = outline;
            MovieTruth { frame, shape, sigma_x, sigma_y, angle, z, signal, background, molecule }
        };
        let first_bead = simulation.first_bead();
        let events = frame.checked_sub(self.first).and_then(|index| self.events.get(index));
        let beads = if events.is_some() { &simulation.beads[..] } else { &[] };
        let molecules = events.into_iter().flatten().map(move |event| {
            let Event { molecule, place: [x, y], height, share } = *event;
            let signal = share * simulation.signal * simulation.brightness(molecule);
            truth(molecule, Some(height), x, y, signal)
        });
        let beads = beads
            .iter()
            .enumerate()
            .map(move |(i, bead)| truth(first_bead + i, None, bead.x, bead.y, bead.signal));
        molecules.chain(beads)
    }

    /// The frames (n, height, width) as the camera delivers them, saturated at 65 535 counts.
    pub fn frames(&self) -> Array3<u16> {
        let MovieSimulation { width, height, .. } = *self.simulation;
        let mut movie = Array3::zeros((self.events.len(), height, width));
        movie
            .outer_iter_mut()
            .into_par_iter()
            .enumerate()
            .for_each(|(index, to)| self.draw(self.first + index, to));
        movie
    }

    /// Makes a frame, some rows at a time.
    fn draw(&self, frame: usize, mut to: ArrayViewMut2<'_, u16>) {
        let MovieSimulation { width, height, profile, noise, camera, seed, .. } = *self.simulation;
        let maps = self.simulation.maps.as_ref();
        let range = |centre: f64, reach: f64, length: usize| {
            let first = (centre - reach).max(0.0).ceil() as usize;
            let last = (centre + reach + 1.0).clamp(0.0, length as f64) as usize;
            first.min(last)..last
        };
        let haze = self.simulation.haze.iter().map(|cloud| {
            let cloud = cloud.seen(frame);
            let across: Vec<f64> = (0..width).map(|x| cloud.along(0, x as f64)).collect();
            (cloud, across)
        });
        let haze: Vec<(SeenCloud, Vec<f64>)> = haze.collect();
        let mut random = Random::new(seed, frame as u64);
        let rows = (BAND / width).clamp(1, height);
        let mut band = Array2::zeros((rows, width));
        for (number, mut to) in to.axis_chunks_iter_mut(Axis(0), rows).enumerate() {
            let top = number * rows;
            let bottom = top + to.nrows();
            let mut expected = band.slice_axis_mut(Axis(0), Slice::from(..to.nrows()));
            for ((y, x), expected) in expected.indexed_iter_mut() {
                *expected = self.simulation.background(x as f64, (top + y) as f64);
            }
            for (cloud, across) in &haze {
                for (y, mut row) in expected.outer_iter_mut().enumerate() {
                    let light = cloud.row((top + y) as f64);
                    row.iter_mut().zip(across).for_each(|(pixel, share)| *pixel += light * share);
                }
            }
            for spot in self.truth(frame) {
                let MovieTruth { shape, sigma_x, sigma_y, angle, z, signal, .. } = spot;
                let psf = self.simulation.psf.as_ref().map(|of| &*of.psf);
                let reach = psf.map_or(6.0 * sigma_x.max(sigma_y), PupilPsf::half);
                let columns = range(shape.x, reach, width);
                let rows = range(shape.y, reach, height);
                let rows = rows.start.max(top)..rows.end.min(bottom);
                let outline = Outline { sigma: [sigma_x, sigma_y], angle, z };
                let (centre, seen) = ([shape.x, shape.y], rows.clone());
                let light = match psf {
                    Some(psf) => Light::behind(psf, signal, [shape.x, shape.y, z], [width, height]),
                    None => Light::new(signal, centre, &outline, profile, columns.clone(), seen),
                };
                for y in rows {
                    for x in columns.clone() {
                        expected[(y - top, x)] += light.at(x, y);
                    }
                }
            }
            for hot in &self.simulation.hot_pixels {
                if (top..bottom).contains(&hot.y) {
                    expected[(hot.y - top, hot.x)] += hot.electrons;
                }
            }
            for ((y, x), pixel) in to.indexed_iter_mut() {
                let electrons = noise.draw(expected[(y, x)], &mut random);
                let counts = camera.read(maps, [x, top + y], electrons, &mut random);
                *pixel = counts.min(65535.0) as u16;
            }
        }
    }
}
