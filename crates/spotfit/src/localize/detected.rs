//! The spots that are to be fitted: those that are detected, or at given positions.

use std::borrow::Cow;

use fit_core::Corner;
use fit_windows::AnyWindows;
use spotfit_locs::positions::Position;
use spotfit_locs::private::of_each;

use super::neighbours;
use super::on_gpu::Sent;
use super::options::Roi;
use super::outcome::LocalizeError;
use super::places::{Place, Wanted};
use super::searcher::Searcher;
use super::temporal::Known;
use crate::detect::{Candidate, DetectError};

/// One of so many frames says how many spots have another one near, where nobody asks for more.
const SOME: usize = 32;

impl Searcher {
    /// The spots of a block that are to be fitted, while so many such blocks are searched in all.
    pub(super) fn wanted(
        &self,
        first: usize,
        frames: AnyWindows<'_>,
        known: Option<&Known>,
        sent: Option<&mut Sent>,
        at_a_time: usize,
    ) -> Result<Vec<Wanted>, LocalizeError> {
        let Some(positions) = &self.options.positions else {
            return self.detected(first, frames, known, sent, at_a_time);
        };
        let places = positions.within(first..first + frames.count());
        let frames = places.chunk_by(|a, b| a.frame == b.frame);
        Ok(frames.flat_map(|places| self.given(first, places)).collect())
    }

    /// Where to cut their windows, and those whose windows would cross an edge.
    pub(super) fn places(&self, wanted: Vec<Wanted>) -> (Vec<Place>, Vec<Wanted>) {
        let (width, height) = self.size;
        let corner = |centre: f64, side: usize, length: usize| {
            let corner = centre.round() - (side / 2) as f64;
            (corner >= 0.0 && corner + side as f64 <= length as f64).then_some(corner as u32)
        };
        let place = |&Wanted { id, frame, x, y, neighbour, crowded, response }: &Wanted| {
            let side = if crowded { self.narrow } else { self.options.box_size };
            let (x, y) = (corner(x, side, width)?, corner(y, side, height)?);
            let corner = Corner { frame: frame as u32, x, y };
            Some(Place { id, corner, side, neighbour, response })
        };
        let (mut places, mut at_edge) = (Vec::with_capacity(wanted.len()), Vec::new());
        for wanted in wanted {
            match place(&wanted) {
                Some(place) => places.push(place),
                None => at_edge.push(wanted),
            }
        }
        (places, at_edge)
    }

    /// The spots of a block that lie in the region.
    fn detected(
        &self,
        first: usize,
        frames: AnyWindows<'_>,
        known: Option<&Known>,
        sent: Option<&mut Sent>,
        at_a_time: usize,
    ) -> Result<Vec<Wanted>, LocalizeError> {
        let by_gpu = sent.map(|sent| sent.candidates(&self.detector)).transpose()?;
        let Roi { x, y, width, height } = self.roi;
        let inside =
            |c: &Candidate| (x..x + width).contains(&c.x) && (y..y + height).contains(&c.y);
        let searched = (frames.count() * at_a_time).max(1);
        let threads = self.pool.current_num_threads().div_ceil(searched);
        let detect = |frame: usize| {
            let known = known.map(|known| known.of_frame(frame));
            let found = by_gpu.as_ref().and_then(|found| found[frame].as_deref());
            let candidates = match found {
                Some(found) => Cow::Borrowed(found),
                None => self.detector.detect_with_threads(frames, frame, known, threads)?.into(),
            };
            let points = candidates.iter().map(|c| (c.x as f64, c.y as f64)).collect();
            let wanted = candidates.iter().zip(self.distances(first + frame, points));
            let wanted = wanted.filter(|(candidate, _)| inside(candidate));
            let wanted = wanted.map(|(candidate, ((x, y), neighbour))| {
                let Candidate { crowded, significance: response, .. } = *candidate;
                Wanted { id: 0, frame, x, y, neighbour, crowded, response }
            });
            Ok(wanted.collect::<Vec<_>>())
        };
        let found = self.pool.install(|| of_each(frames.count(), &detect));
        let found: Result<Vec<Vec<_>>, DetectError> = found.into_iter().collect();
        Ok(found?.concat())
    }

    /// The given positions of a frame; `first` is the number of the block's first one.
    fn given(&self, first: usize, places: &[Position]) -> Vec<Wanted> {
        let points = places.iter().map(|place| (place.x, place.y)).collect();
        let frame = places.first().map_or(first, |place| place.frame);
        let wanted = places.iter().zip(self.distances(frame, points));
        let wanted = wanted.map(|(place, ((x, y), neighbour))| {
            let Position { id, frame, .. } = *place;
            Wanted { id, frame: frame - first, x, y, neighbour, crowded: false, response: 0.0 }
        });
        wanted.collect()
    }

    /// Points of a frame with the distance to the nearest other one; NaN where nobody needs to know, but of a few frames.
    fn distances(
        &self,
        frame: usize,
        points: Vec<(f64, f64)>,
    ) -> impl Iterator<Item = ((f64, f64), f64)> {
        let distances = match self.options.is_checked() || frame.is_multiple_of(SOME) {
            true => neighbours::nearest(&points),
            false => vec![f64::NAN; points.len()],
        };
        points.into_iter().zip(distances)
    }
}
