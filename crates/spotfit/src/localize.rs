//! From frames to localizations: detect, cut, fit, convert to photons, say how sure it is.
//!
//! [`Localizer`] takes blocks of frames in order and gives localizations; where the frames come from
//! and where the localizations go is the caller's business. [`run`] does the whole of it for a
//! [`Movie`], with reading, fitting and writing side by side.

use std::collections::BTreeMap;
use std::sync::mpsc::sync_channel;

use fit_core::{Corner, Fit, Options, Pixel, Size, Start, Status};
use ndarray::{ArrayView3, Axis};
use rayon::prelude::*;

use crate::detect::{DEFAULT_THRESHOLD, Detector};
use fit_cpu::InstructionSet;

use crate::fitter::{Backend, FitError, Fitter};
use crate::movie::{Block, Movie, MovieError};
use crate::with_pixels;

/// What the camera makes of photons: photons = (ADU − baseline)·sensitivity/em_gain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraOptions {
    /// What a dark pixel reads, in ADU.
    pub baseline: f64,
    /// Photo-electrons per ADU, before EM gain. Range: above 0.
    pub sensitivity: f64,
    /// EM gain; `None` for a camera without. Range: 1 or more. With it the variance of the counts is
    /// doubled by the multiplication.
    pub em_gain: Option<f64>,
    /// Standard deviation of the read noise in photo-electrons; EM gain divides it. Range: 0 or more.
    pub read_noise: f64,
}

impl Default for CameraOptions {
    fn default() -> Self {
        Self { baseline: 0.0, sensitivity: 1.0, em_gain: None, read_noise: 0.0 }
    }
}

impl CameraOptions {
    /// Photons per ADU.
    pub fn photons_per_adu(&self) -> f64 {
        self.sensitivity / self.em_gain.unwrap_or(1.0)
    }
}

/// A rectangle of pixels in which spots are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roi {
    /// First column.
    pub x: usize,
    /// First row.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Places that are fitted instead of detected spots.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    frames: BTreeMap<usize, Vec<(u64, f64, f64)>>,
    total: u64,
}

impl Positions {
    /// Adds a place: frame from 0, x and y in pixels. Its id is its number, from 1.
    pub fn push(&mut self, frame: usize, x: f64, y: f64) {
        self.total += 1;
        self.frames.entry(frame).or_default().push((self.total, x, y));
    }

    /// The number of places.
    pub fn len(&self) -> usize {
        self.total as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Places in frames outside a range.
    fn outside(&self, frames: &std::ops::Range<usize>) -> usize {
        self.frames.iter().filter(|(f, _)| !frames.contains(f)).map(|(_, p)| p.len()).sum()
    }
}

/// How a movie is to be localized.
#[derive(Clone, Debug)]
pub struct LocalizeOptions {
    /// Side of the windows in pixels. Range: odd, 5 to 63.
    pub box_size: usize,
    /// What a spot must exceed, in units of the local noise (see [`crate::detect`]). Range: above 0.
    pub threshold: f64,
    /// Where to look; `None` is the whole frame.
    pub roi: Option<Roi>,
    /// Places to fit instead of detecting.
    pub positions: Option<Positions>,
    /// The camera.
    pub camera: CameraOptions,
    /// The fit.
    pub fit: Options,
    /// Whether failed fits are kept.
    pub keep_all: bool,
    /// What does the work.
    pub backend: Backend,
    /// Vector instructions for [`Backend::Cpu`]; `None` is the best.
    pub instruction_set: Option<InstructionSet>,
    /// The devices for [`Backend::Gpu`], by their numbers from 0.
    pub devices: Vec<usize>,
    /// Threads; 0 takes one for each processor.
    pub threads: usize,
}

impl Default for LocalizeOptions {
    fn default() -> Self {
        Self {
            box_size: 7,
            threshold: DEFAULT_THRESHOLD,
            roi: None,
            positions: None,
            camera: CameraOptions::default(),
            fit: Options::default(),
            keep_all: false,
            backend: Backend::Auto,
            instruction_set: None,
            devices: vec![0],
            threads: 0,
        }
    }
}

/// Why localizing failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalizeError {
    /// An option is out of its range.
    #[error("{name} = {value} is out of its range ({range})")]
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// The values that are allowed, in words.
        range: String,
    },
    /// The fit was refused.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The frames are not of the size that the localizer is for.
    #[error("frames of {found:?} pixels (width, height) in a movie of {expected:?}")]
    FrameSize {
        /// Width and height that the localizer was made for.
        expected: (usize, usize),
        /// Width and height of the frames.
        found: (usize, usize),
    },
    /// The movie cannot be read.
    #[error(transparent)]
    Movie(#[from] MovieError),
    /// The threads could not be started.
    #[error("the worker threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// A spot in a movie. Lengths are in pixels of the whole frame, (0, 0) at the centre of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Localization {
    /// Its number: counts kept spots from 1, or the row of the position given.
    pub id: u64,
    /// The frame, from 0.
    pub frame: usize,
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Standard deviation.
    pub sigma: f64,
    /// Photons of the spot, 2πασ².
    pub intensity: f64,
    /// Background photons of a pixel.
    pub offset: f64,
    /// Standard deviation of the residuals, √(χ²/(N − 5)), in photons.
    pub background_std: f64,
    /// Σ(h − g)² in photons².
    pub chi2: f64,
    /// Standard deviation to expect of x and of y (Mortensen et al. 2010, for least squares).
    pub uncertainty: f64,
    /// How the fit ended.
    pub status: Status,
}

/// What became of everything that looked like a spot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames looked at.
    pub frames: usize,
    /// Candidates found, or positions given.
    pub candidates: usize,
    /// Dropped because the window would cross the frame's edge.
    pub at_edge: usize,
    /// Positions dropped because their frame is not among those looked at.
    pub no_frame: usize,
    /// Fits by status, in the order of [`Status::ALL`].
    pub by_status: [usize; Status::ALL.len()],
    /// Converged fits dropped because the amplitude is not positive.
    pub not_bright: usize,
    /// Converged fits dropped because the centre went more than [`WANDER`] of the box away from where
    /// the spot was detected: another spot's window has it.
    pub wandered: usize,
    /// Localizations kept.
    pub kept: usize,
}

impl Counts {
    /// Fits made.
    pub fn fits(&self) -> usize {
        self.by_status.iter().sum()
    }

    /// Fits that converged.
    pub fn converged(&self) -> usize {
        let counts = Status::ALL.iter().zip(self.by_status);
        counts.filter(|(status, _)| status.is_converged()).map(|(_, count)| count).sum()
    }
}

/// How far a fit may go from where its spot was detected, as a share of the box.
pub const WANDER: f64 = 0.3;

/// Localizes blocks of frames of one movie, in order.
#[derive(Debug)]
pub struct Localizer {
    /// Width and height of the frames.
    size: (usize, usize),
    options: LocalizeOptions,
    detector: Detector,
    roi: Roi,
    fitter: Fitter,
    pool: rayon::ThreadPool,
    counts: Counts,
    next_id: u64,
}

/// A window to be fitted: who wants it, and its corner.
#[derive(Clone, Copy)]
struct Window {
    id: u64,
    corner: Corner,
}

impl Localizer {
    /// A localizer for frames of `width`×`height` pixels.
    ///
    /// # Errors
    /// [`LocalizeError`] for options out of their range.
    pub fn new(
        (width, height): (usize, usize),
        options: LocalizeOptions,
    ) -> Result<Self, LocalizeError> {
        validate(&options)?;
        let roi = options.roi.unwrap_or(Roi { x: 0, y: 0, width, height });
        let inside = |start: usize, length: usize, end: usize| {
            length > 0 && start.checked_add(length).is_some_and(|stop| stop <= end)
        };
        if !inside(roi.x, roi.width, width) || !inside(roi.y, roi.height, height) {
            return Err(LocalizeError::Option {
                name: "roi",
                value: format!("{},{},{},{}", roi.x, roi.y, roi.width, roi.height),
                range: format!("x,y,width,height within the frame of {width}×{height} pixels"),
            });
        }
        let detector = Detector::new(width, height, options.box_size, options.threshold);
        let fitter = match (options.backend, options.instruction_set) {
            (Backend::Auto | Backend::Cpu, Some(set)) => {
                Fitter::with_instruction_set(set, options.fit, options.threads)?
            }
            (Backend::Gpu, _) => Fitter::on_devices(&options.devices, options.fit)?,
            (backend, _) => Fitter::new(backend, options.fit, options.threads)?,
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;
        let size = (width, height);
        Ok(Self {
            size,
            options,
            detector,
            roi,
            fitter,
            pool,
            counts: Counts::default(),
            next_id: 0,
        })
    }

    /// The localizations of a block of frames, in the order of frames; within a frame from top to
    /// bottom, or in the order of the positions given.
    ///
    /// # Errors
    /// [`LocalizeError::FrameSize`], [`LocalizeError::Fit`].
    pub fn process(&mut self, block: &Block) -> Result<Vec<Localization>, LocalizeError> {
        let (_, height, width) = block.pixels.dim();
        if (width, height) != self.size {
            return Err(LocalizeError::FrameSize { expected: self.size, found: (width, height) });
        }
        with_pixels!(&block.pixels, frames => self.process_frames(block.first, frames.view()))
    }

    /// What became of everything so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What does the fits.
    pub fn fitter(&self) -> &Fitter {
        &self.fitter
    }

    fn process_frames<P: Pixel>(
        &mut self,
        first: usize,
        frames: ArrayView3<'_, P>,
    ) -> Result<Vec<Localization>, LocalizeError> {
        self.counts.frames += frames.len_of(Axis(0));
        let windows = self.windows(first, frames);
        let side = self.options.box_size;
        let size = Size::new(side, side);
        let corners: Vec<Corner> = windows.iter().map(|window| window.corner).collect();
        let fits: Vec<Fit<f64>> =
            self.fitter.fit_in_frames(frames, size, &corners, Start::Estimate)?;
        let all = windows.iter().zip(&fits);
        Ok(all.filter_map(|(window, fit)| self.judge(first, window, fit)).collect())
    }

    /// The windows of a block, those that cross an edge dropped and counted.
    fn windows<P: Pixel>(&mut self, first: usize, frames: ArrayView3<'_, P>) -> Vec<Window> {
        let (count, height, width) = frames.dim();
        let wanted: Vec<(u64, usize, f64, f64)> = match &self.options.positions {
            Some(positions) => positions
                .frames
                .range(first..first + count)
                .flat_map(|(&frame, places)| {
                    places.iter().map(move |&(id, x, y)| (id, frame - first, x, y))
                })
                .collect(),
            None => self.detected(frames),
        };
        self.counts.candidates += wanted.len();
        let (half, side) = ((self.options.box_size / 2) as f64, self.options.box_size as f64);
        let corner = |centre: f64, length: usize| {
            let corner = centre.round() - half;
            (corner >= 0.0 && corner + side <= length as f64).then_some(corner as u32)
        };
        let windows: Vec<Window> = wanted
            .iter()
            .filter_map(|&(id, block_frame, x, y)| {
                let (x, y) = (corner(x, width)?, corner(y, height)?);
                Some(Window { id, corner: Corner { frame: block_frame as u32, x, y } })
            })
            .collect();
        self.counts.at_edge += wanted.len() - windows.len();
        windows
    }

    fn detected<P: Pixel>(&self, frames: ArrayView3<'_, P>) -> Vec<(u64, usize, f64, f64)> {
        let Roi { x, y, width, height } = self.roi;
        let inside = |c: &crate::detect::Candidate| {
            (x..x + width).contains(&c.x) && (y..y + height).contains(&c.y)
        };
        let detect = |frame: usize| {
            let candidates = self.detector.detect(frames.index_axis(Axis(0), frame));
            let inside = candidates.into_iter().filter(inside);
            inside.map(|c| (0, frame, c.x as f64, c.y as f64)).collect::<Vec<_>>()
        };
        let found: Vec<Vec<_>> =
            self.pool.install(|| (0..frames.len_of(Axis(0))).into_par_iter().map(detect).collect());
        found.concat()
    }

    /// Turns a fit into a localization, or counts why not.
    fn judge(&mut self, first: usize, window: &Window, fit: &Fit<f64>) -> Option<Localization> {
        self.counts.by_status[fit.status as usize - 1] += 1;
        let half = (self.options.box_size / 2) as f64;
        let wander = WANDER * self.options.box_size as f64;
        let detected = self.options.positions.is_none();
        let far = |at: f64| (at - half).abs() > wander;
        let good = if !fit.status.is_converged() {
            false
        } else if fit.amplitude <= 0.0 {
            self.counts.not_bright += 1;
            false
        } else if detected && (far(fit.x) || far(fit.y)) {
            self.counts.wandered += 1;
            false
        } else {
            true
        };
        if !good && !self.options.keep_all {
            return None;
        }
        self.counts.kept += 1;
        self.next_id += 1;
        let id = if detected { self.next_id } else { window.id };
        let pixels = self.options.box_size * self.options.box_size;
        let frame = first + window.corner.frame as usize;
        let mut spot = photons(fit, pixels, &self.options.camera);
        spot.x += f64::from(window.corner.x);
        spot.y += f64::from(window.corner.y);
        Some(Localization { id, frame, ..spot })
    }
}

/// A fit in photons, with its uncertainty.
fn photons(fit: &Fit<f64>, pixels: usize, camera: &CameraOptions) -> Localization {
    let gain = camera.photons_per_adu();
    let intensity = fit.signal() * gain;
    let offset = (fit.background - camera.baseline) * gain;
    let noise = camera.read_noise / camera.em_gain.unwrap_or(1.0);
    let excess = if camera.em_gain.is_some() { 2.0 } else { 1.0 };
    let s2 = fit.sigma * fit.sigma;
    let b2 = offset.max(0.0) + noise * noise;
    let bound = 16.0 / 9.0 + 8.0 * std::f64::consts::PI * s2 * b2 / intensity;
    let variance = excess * s2 / intensity * bound;
    Localization {
        id: 0,
        frame: 0,
        x: fit.x,
        y: fit.y,
        sigma: fit.sigma,
        intensity,
        offset,
        background_std: fit.normalized_chi2(pixels).sqrt() * gain,
        chi2: fit.chi2 * gain * gain,
        // Without photons there is no saying: not a number only for fits that are dropped or asked for.
        uncertainty: if intensity > 0.0 { variance.sqrt() } else { f64::NAN },
        status: fit.status,
    }
}

fn validate(options: &LocalizeOptions) -> Result<(), LocalizeError> {
    let LocalizeOptions { box_size, threshold, camera, .. } = options;
    let check = |name, value: f64, good: bool, range: &str| {
        if good {
            Ok(())
        } else {
            let (value, range) = (value.to_string(), range.to_owned());
            Err(LocalizeError::Option { name, value, range })
        }
    };
    let odd = box_size % 2 == 1 && (5..=63).contains(box_size);
    check("box", *box_size as f64, odd, "an odd number from 5 to 63")?;
    let size = Size::new(*box_size, *box_size);
    fit_core::Setup::<f64>::new(size, &options.fit)
        .map_err(fit_cpu::BatchError::from)
        .map_err(FitError::from)?;
    let positive = |value: f64| value > 0.0 && value.is_finite();
    check("threshold", *threshold, positive(*threshold), "above 0")?;
    let CameraOptions { baseline, sensitivity, em_gain, read_noise } = *camera;
    check("baseline", baseline, baseline.is_finite(), "a finite number")?;
    check("sensitivity", sensitivity, positive(sensitivity), "above 0")?;
    let gain = em_gain.unwrap_or(1.0);
    check("em-gain", gain, gain >= 1.0 && gain.is_finite(), "1 or more")?;
    let good = read_noise >= 0.0 && read_noise.is_finite();
    check("read-noise", read_noise, good, "0 or more")
}

/// Localizes the given frames of a movie (from 0): one thread reads, one localizes (with as many workers
/// as it has threads), and the calling thread hands the outcome to `sink`.
///
/// `sink` gets the localizations block by block, in order, and the counts so far; what it returns as
/// an error ends the work, as an interrupt does.
///
/// # Errors
/// [`LocalizeError`], or whatever `sink` says.
pub fn run<E: From<LocalizeError>>(
    mut movie: Movie,
    frames: std::ops::Range<usize>,
    localizer: &mut Localizer,
    mut sink: impl FnMut(Vec<Localization>, &Counts) -> Result<(), E>,
) -> Result<(), E> {
    if let Some(positions) = &localizer.options.positions {
        localizer.counts.no_frame += positions.outside(&frames);
    }
    std::thread::scope(|scope| {
        // A stage whose successor has failed finds nobody to send to, and ends.
        let (send_block, blocks) = sync_channel::<Result<Block, MovieError>>(1);
        scope.spawn(move || {
            let mut left = frames.len();
            let mut next = || -> Result<Option<Block>, MovieError> {
                movie.skip_to(frames.start)?;
                let block = movie.read(left)?;
                left -= block.as_ref().map_or(0, |block| block.pixels.dim().0);
                Ok(block)
            };
            while let Some(block) = next().transpose() {
                let failed = block.is_err();
                if send_block.send(block).is_err() || failed {
                    break;
                }
            }
        });
        let (send_spots, spots) = sync_channel::<Result<_, LocalizeError>>(1);
        scope.spawn(move || {
            for block in blocks {
                let found = block.map_err(LocalizeError::from);
                let found = found.and_then(|block| localizer.process(&block));
                let found = found.map(|spots| (spots, localizer.counts().clone()));
                let failed = found.is_err();
                if send_spots.send(found).is_err() || failed {
                    break;
                }
            }
        });
        for found in spots {
            let (found, counts) = found?;
            sink(found, &counts)?;
        }
        Ok(())
    })
}
