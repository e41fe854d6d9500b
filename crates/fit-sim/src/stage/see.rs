//! What the camera sees of a stage.

use std::ops::Range;

use super::{SeenBead, StageSimulation};
use crate::camera::Noise;
use crate::light::Light;
use crate::random::Random;
use crate::shape::Outline;

/// A bead lights pixels within so many σ.
const REACH: f64 = 6.0;
/// Around them, noise is new within so many pixels more.
const RIM: f64 = 6.0;

/// The camera's frame.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    /// The background with its noise, which pixels far from beads keep.
    empty: Vec<u16>,
    pixels: Vec<u16>,
    expected: Vec<f64>,
    /// Where the last frame differs from the background: columns and rows.
    drawn: Vec<[Range<usize>; 2]>,
}

fn count(simulation: &StageSimulation, expected: f64, random: &mut Random) -> u16 {
    let electrons = Noise::Poisson.draw(expected, random);
    simulation.camera.read(None, [0; 2], electrons, random).min(65535.0) as u16
}

/// The pixels within `reach` of a place along an axis.
fn around(at: f64, reach: f64, length: usize) -> Range<usize> {
    let edge = |at: f64| libm::round(at).clamp(0.0, length as f64) as usize;
    edge(at - reach)..edge(at + reach + 1.0)
}

impl Scene {
    pub(super) fn new(simulation: &StageSimulation, random: &mut Random) -> Self {
        let pixels = simulation.width * simulation.height;
        let empty: Vec<u16> =
            (0..pixels).map(|_| count(simulation, simulation.background, random)).collect();
        let expected = vec![simulation.background; pixels];
        Self { pixels: empty.clone(), empty, expected, drawn: Vec::new() }
    }

    pub(super) fn pixels(&self) -> &[u16] {
        &self.pixels
    }

    /// Draws beads, and others of the same width.
    pub(super) fn draw(
        &mut self,
        simulation: &StageSimulation,
        beads: &[SeenBead],
        guests: &[([f64; 2], f64)],
        random: &mut Random,
    ) {
        let StageSimulation { width, height, background, profile, sigma, .. } = *simulation;
        for [columns, rows] in self.drawn.drain(..) {
            for row in rows {
                let line = row * width + columns.start..row * width + columns.end;
                self.pixels[line.clone()].copy_from_slice(&self.empty[line]);
            }
        }
        let others = guests.iter().map(|&(place, signal)| (place, [sigma; 2], signal));
        let all = beads.iter().map(|bead| (bead.place, bead.sigma, bead.signal)).chain(others);
        for (place, sigma, _) in all.clone() {
            let reach = REACH * sigma[0].max(sigma[1]) + RIM;
            let area = [around(place[0], reach, width), around(place[1], reach, height)];
            let [columns, rows] = area.clone();
            for row in rows {
                self.expected[row * width + columns.start..row * width + columns.end]
                    .fill(background);
            }
            self.drawn.push(area);
        }
        for (place, sigma, signal) in all.filter(|(.., signal)| *signal > 0.0) {
            let reach = REACH * sigma[0].max(sigma[1]);
            let (columns, rows) = (around(place[0], reach, width), around(place[1], reach, height));
            let outline = Outline { sigma, ..Outline::default() };
            let light = Light::new(signal, place, &outline, profile, columns.clone(), rows.clone());
            for row in rows {
                for column in columns.clone() {
                    self.expected[row * width + column] += light.at(column, row);
                }
            }
        }
        for [columns, rows] in &self.drawn {
            for row in rows.clone() {
                for column in columns.clone() {
                    let at = row * width + column;
                    self.pixels[at] = count(simulation, self.expected[at], random);
                }
            }
        }
    }
}
