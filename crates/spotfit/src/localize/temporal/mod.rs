//! The background of a movie that changes with time: what each pixel shows without spots.
//!
//! It is the median of the pixel over a window of frames around each frame. Spots that blink shine in few of these frames, and hardly
//! move the median. Medians are found for windows that begin at every n/8-th frame, where n frames are a window, and each counts for the
//! frame in its middle; between two of these the background is interpolated linearly. At both ends of the movie it is that of the first
//! and of the last window; a movie shorter than a window is one window.
//!
//! Which frames come together in a block does not matter. Frames wait until the window after them is complete, so that memory is for
//! about 1.2 n frames in the type of the movie's pixels.

mod held;
mod known;

use std::collections::VecDeque;
use std::ops::Range;

use fit_core::{Camera, Corner};
use fit_windows::{AnyWindows, CameraMap};
use ndarray::Array2;
use spotfit_locs::OutOfRange;

use held::Held;
pub(super) use known::Known;
use spotfit_frames::median::medians;

/// The fewest frames of a window: the median of two is their mean, with half of a spot in it.
const LEAST: usize = 3;
/// The most pixels of the frames of a window: 1 GiB where they have 16 bits.
const MOST_PIXELS: usize = 1 << 29;
/// Windows that begin within the length of one.
const OVERLAP: usize = 8;
/// Frames are searched together up to so many pixels, and larger ones, one for each thread, up to so many: each needs about 30 bytes.
const PART: usize = 1 << 21;
const MOST_PART: usize = 1 << 23;

const NAME: &str = "temporal_background";

/// Frames whose light is known.
pub(super) struct Lit<'a> {
    /// The frames below each other as one.
    tall: AnyWindows<'a>,
    known: &'a Known,
}

impl<'a> Lit<'a> {
    pub(super) fn known(&self) -> &'a Known {
        self.known
    }

    /// What is to be cut out of frames, where, and their camera: those below each other, where their light is known.
    pub(super) fn of<'m>(
        lit: Option<&'m Self>,
        frames: AnyWindows<'a>,
        corners: &mut [Corner],
        map: Option<&'m CameraMap>,
    ) -> (AnyWindows<'a>, Option<&'m CameraMap>) {
        let Some(Self { tall, known }) = lit else { return (frames, map) };
        for corner in corners {
            *corner = Corner { frame: 0, y: corner.y + known.top(corner.frame), ..*corner };
        }
        (*tall, Some(known.map()))
    }
}

/// Refuses windows that are too short, or too long for frames of a size.
pub(super) fn check(frames: usize, (width, height): (usize, usize)) -> Result<(), OutOfRange> {
    let most = (MOST_PIXELS / width.saturating_mul(height).max(1)).max(LEAST);
    let range = format!("{LEAST} to {most} frames of {width}×{height} pixels");
    OutOfRange::check(NAME, frames, (LEAST..=most).contains(&frames), range)
}

/// The frames of a movie, of which all are given, that tell the background of one of them: those of the windows before and after it.
pub(super) fn around(frames: usize, frame: usize, all: Range<usize>) -> Range<usize> {
    let Temporal { window, step, .. } = Temporal::new(frames, (0, 0));
    let Some(last) = all.len().checked_sub(window) else { return all };
    // The middle of a window is in front of the frame, if there is one.
    let first = frame.saturating_sub(all.start + window / 2).min(last) / step * step;
    all.start + first..(all.start + first + step + window).min(all.end)
}

/// The map of a camera whose pixels do not differ.
pub(super) fn map_of(
    camera: &Camera,
    (width, height): (usize, usize),
) -> Result<CameraMap, OutOfRange> {
    let same = |value: f64| Array2::from_elem((height, width), value as f32);
    let Camera { baseline, sensitivity, read_noise, .. } = *camera;
    let [offset, scale, variance] = [baseline, sensitivity, read_noise * read_noise].map(same);
    CameraMap::in_electrons(offset.view(), scale.view(), variance.view()).map_err(|error| {
        let range = format!("one with `{NAME}` that single precision can tell: {error}");
        OutOfRange { name: "camera", value: format!("{camera:?}"), range }
    })
}

/// Frames of a movie, which come in order, and their background.
#[derive(Debug)]
pub(super) struct Temporal {
    /// Frames of a window, an odd number, so that one of them is in the middle.
    window: usize,
    /// Frames from one window to the next.
    step: usize,
    size: (usize, usize),
    /// Nothing before the first frame.
    stream: Option<Stream>,
    /// Frames of the longest window so far.
    used: usize,
}

/// Where a movie is.
#[derive(Debug)]
struct Stream {
    frames: Held,
    /// The numbers of the first frame that is held, and of the one after the last.
    held: Range<usize>,
    /// Where the next window begins.
    window: usize,
    /// The next frame that is to be searched.
    next: usize,
    /// The medians that are still needed.
    medians: VecDeque<Median>,
}

/// The median of a window.
#[derive(Debug)]
struct Median {
    first: usize,
    middle: usize,
    /// Of each pixel, in ADU.
    values: Vec<f32>,
}

impl Temporal {
    /// With windows of so many frames, or one more if that is even.
    pub(super) fn new(frames: usize, size: (usize, usize)) -> Self {
        let step = (frames / OVERLAP).max(1);
        Self { window: frames | 1, step, size, stream: None, used: 0 }
    }

    /// Frames of the longest window so far.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Forgets all frames.
    pub(super) fn reset(&mut self) {
        self.stream = None;
    }

    /// Adds frames, of which the first has this number.
    pub(super) fn push(
        &mut self,
        first: usize,
        frames: AnyWindows<'_>,
        pool: &rayon::ThreadPool,
    ) -> Result<(), OutOfRange> {
        let (count, ..) = frames.frames();
        // Frames are forgotten before there are more.
        let room = (self.window + 3 * self.step + count) * self.size.0 * self.size.1;
        let stream = self.stream.get_or_insert_with(|| Stream {
            frames: Held::like(frames, room),
            held: first..first,
            window: first,
            next: first,
            medians: VecDeque::new(),
        });
        let expected = stream.held.end;
        let range = format!("{expected} with `{NAME}`: frames follow each other");
        OutOfRange::check("first", first, first == expected, range)?;
        let range = format!("pixels of one type with `{NAME}`");
        OutOfRange::check("frames", "of another type", stream.frames.add(frames), range)?;
        stream.held.end += count;
        while stream.held.end - stream.window >= self.window {
            let first = stream.window;
            self.used = self.window;
            stream.find(first..first + self.window, self.size, pool);
            stream.window += self.step;
        }
        Ok(())
    }

    /// Finds the background of the last frames: no others will come.
    pub(super) fn end(&mut self, pool: &rayon::ThreadPool) -> Result<(), OutOfRange> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let Range { start, end } = stream.held;
        match stream.medians.back() {
            None if end > start => {
                let count = end - start;
                let range =
                    format!("not given for {count} frames: it needs at least {LEAST} frames");
                OutOfRange::check(NAME, self.window, count >= LEAST, range)?;
                self.used = self.used.max(count);
                stream.find(start..end, self.size, pool);
            }
            Some(last) if last.first + self.window < end => {
                stream.find(end - self.window..end, self.size, pool);
            }
            _ => {}
        }
        Ok(())
    }

    /// The next frames whose background is known, as many as so many threads search together; of all that there are if the movie has
    /// ended.
    pub(super) fn ready(&self, ended: bool, threads: usize) -> Option<Range<usize>> {
        let stream = self.stream.as_ref()?;
        let known = stream.medians.back()?.middle + 1;
        let end = if ended { stream.held.end } else { known };
        let pixels = self.size.0 * self.size.1;
        let most = (PART / pixels).max(threads.min(MOST_PART / pixels)).max(1);
        (stream.next < end).then(|| stream.next..end.min(stream.next + most))
    }

    /// Frames that are ready (n, height, width), and the same with what is known of their light; nothing if they are not held.
    pub(super) fn frames<'a>(
        &'a self,
        of: &Range<usize>,
        known: &'a Known,
    ) -> Option<(AnyWindows<'a>, Lit<'a>)> {
        let stream = self.stream.as_ref()?;
        let (width, height) = self.size;
        let first = (of.start - stream.held.start) * width * height;
        let shapes = [(of.len(), height, width), (1, of.len() * height, width)];
        let [frames, tall] = shapes.map(|shape| stream.frames.frames(first, shape));
        Some((frames, Lit { tall, known }))
    }

    /// What is known of the light of frames that are ready.
    pub(super) fn known(
        &self,
        of: &Range<usize>,
        camera: &Camera,
        map: &CameraMap,
        pool: &rayon::ThreadPool,
    ) -> Result<Known, OutOfRange> {
        let medians = self.stream.iter().flat_map(|stream| &stream.medians);
        let medians: Vec<&Median> = medians.collect();
        let between = |frame: usize| {
            let after = medians.partition_point(|median| median.middle < frame);
            let (before, after) = (after.saturating_sub(1), after.min(medians.len() - 1));
            let (before, after) = (medians[before], medians[after]);
            let weight = match after.middle - before.middle {
                0 => 0.0,
                _ if frame <= before.middle => 0.0,
                length => (frame - before.middle) as f32 / length as f32,
            };
            (&before.values[..], &after.values[..], weight)
        };
        let frames: Vec<_> = of.clone().map(between).collect();
        // Of normal variates; the median of n has this share of the variance of one.
        let share = core::f32::consts::FRAC_PI_2 / self.used.max(1) as f32;
        Known::new(camera, map, &frames, share, pool)
    }

    /// Frames before this one are no longer needed, unless for windows.
    pub(super) fn done(&mut self, next: usize) {
        let pixels = self.size.0 * self.size.1;
        let Some(stream) = &mut self.stream else { return };
        stream.next = next;
        while stream.medians.get(1).is_some_and(|median| median.middle <= next) {
            stream.medians.pop_front();
        }
        // The last window begins after the one before it.
        let first = stream.medians.back().map_or(next, |median| median.first.min(next));
        let old = first - stream.held.start;
        // Moving the others costs as much as there are.
        if old >= self.step.max(stream.held.len() / OVERLAP) {
            stream.frames.forget(old * pixels);
            stream.held.start = first;
        }
    }
}

impl Stream {
    /// Finds the median of a window, the last one so far.
    fn find(
        &mut self,
        of: Range<usize>,
        (width, height): (usize, usize),
        pool: &rayon::ThreadPool,
    ) {
        let first = (of.start - self.held.start) * width * height;
        let frames = self.frames.frames(first, (of.len(), height, width));
        let values = medians(frames, pool);
        self.medians.push_back(Median { first: of.start, middle: of.start + of.len() / 2, values });
    }
}

#[cfg(test)]
mod tests;
