//! A PSF from the frames of a movie.

use std::sync::Arc;

use fit_core::spot::shape::Elliptical;
use fit_core::{Estimator, Options, Shape};
use fit_windows::AnyWindows;
use ndarray::{Array2, Array3};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::field::Varying;
use super::gauge::{USUAL_TAIL, tail};
use super::held::{Judged, judge, left, placed};
use super::select::{Candidates, Others, Seen};
use super::{Extent, Family, Learnt, SpotWindow, learn};
use crate::as_windows::AsWindows;
use crate::detect::typical_variance;
use crate::localize::electrons::photons_of_frame;
use crate::localize::places::Part;
use crate::localize::{Emitters, Localization, LocalizeError, LocalizeOptions, Localizer, Roi};
use crate::movie::Block;
use crate::psf::misfit::{Alone, Misfit, Sample, brightest, misfit, said_of};
use crate::psf::spot_image::{Gaussian, SpotImage};
use crate::psf::{Psf, PsfError};
use crate::{CameraMap, FitterOptions};
use spotfit_locs::private::of_each;

/// Planes of the family at first, and steps of each search.
const PLANES: usize = 6;
const STEPS: usize = 8;
/// The most rounds: the first looks at spots that are far from others, the others at all that are told apart.
const ROUNDS: usize = 3;
/// The most spots that are used, and so many that are found are enough to choose from.
const MOST_SPOTS: usize = 2000;
const ENOUGH: usize = 5000;
/// The degree and the rounds that say whether the PSF varies across the frame, and those with which it is learnt, from so many spots at most.
const FIRST_OF_FIELD: [usize; 2] = [2, 2];
const FIELD: [usize; 2] = [4, 5];
const MOST_FOR_FIELD: usize = 4000;
/// So many say whether it does, and half as many that were held out.
const MOST_AT_FIRST: usize = 800;
/// So many tell how spots differ from Gaussians.
const MOST_ALONE: usize = 400;
/// Where spots lie on lines, more of them are near each other than by their number in a ring.
const CLOSER: f64 = 1.35;
/// Pixels of so many times the usual variance are left out.
const NOISY: f32 = 4.0;
/// They are looked for in so many columns and rows at most; smaller frames are searched together, up to as many pixels.
const MOST_SIDE: usize = 1024;
/// The most frames that are searched together.
const AT_A_TIME: usize = 4;
/// The side of the windows of the first fits.
const BOX: usize = 9;
/// Coefficients of the PSF along x and y: it reaches farther than the windows, as spots that are bright do.
const WHOLE: usize = 36;
/// In the last pixels of windows the wings change over to what falls with r⁻³.
const SEEN: f64 = 1.5;
/// Light is hidden where it is below this share of the noise of a pixel.
const HIDDEN: f64 = 0.15;
/// The distance of two planes, in nanometres that mean nothing: the axis is no height.
const STEP: f64 = 50.0;
/// With a PSF that is known, pixels nearer to another spot are not looked at, and spots have no nearer neighbours.
const MASKED: f64 = 3.0;
const NEAREST: f64 = 5.0;
/// An interval at an end of the axis with a smaller share of the spots than this share of a fair one is dropped.
const FAIR: f64 = 0.5;
/// Of so many frames one is held out.
const HELD: usize = 5;
/// Spots are mostly alone where a pixel has less deviance.
const ALONE: f64 = 1.5;
/// Where spots have more others than this in reach of them, a larger deviance says that they are several.
const MOST_BESIDE: f64 = 0.5;
/// A round that leaves more than this share of the deviance of spots that were held out is the last.
const ENDED: f64 = 0.995;
/// The fewest spots, and the fewest photons of all, in units of the variance of a photon.
const FEWEST: usize = 100;
const FEWEST_HELD: usize = 20;
const FEWEST_PHOTONS: f64 = 1e5;
/// The family is better than Gaussians where the deviance of a spot that was held out is lower by so many standard errors, and mostly by so
/// much: less does not change which spots are taken for two.
const BETTER: f64 = 3.0;
const GAIN: f64 = 4.0;
/// What varies lowers the mean deviance of a spot by so much: less may be noise of spots that are few, and changes nothing.
const LEAST_GAIN: f64 = 2.0;

/// Why no PSF was learnt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnPsfError {
    /// Spots could not be localized.
    #[error(transparent)]
    Localize(#[from] LocalizeError),
    /// What was found is no PSF, or frames are not of the camera.
    #[error(transparent)]
    Psf(#[from] PsfError),
    /// There are too few spots.
    #[error(
        "the PSF cannot be learnt from {frames} frames: {found} of their spots are bright, far from others and from the frame's edge, and \
         {FEWEST} are needed besides {FEWEST_HELD} in other frames that are held out"
    )]
    FewSpots {
        /// Frames that were looked at.
        frames: usize,
        /// Spots that can be used.
        found: usize,
    },
    /// The spots are too dim.
    #[error(
        "the PSF cannot be learnt from {spots} spots of {photons:.0} photons in all, and {FEWEST_PHOTONS:.0} are needed: take more frames"
    )]
    Dim {
        /// Spots that can be used.
        spots: usize,
        /// Their photons.
        photons: f64,
    },
    /// Spots overlap so much that they cannot be told apart.
    #[error(
        "what was learnt from {spots} spots may be the image of several: there are {density:.3} spots a pixel, and a pixel of spots that were \
         held out has a deviance of {deviance:.1} in place of 1; learn the PSF from frames with fewer spots (or the camera's sensitivity is wrong)"
    )]
    Several {
        /// Spots that were used.
        spots: usize,
        /// Spots that were found, a pixel.
        density: f64,
        /// The deviance of a pixel with the PSF.
        deviance: f64,
    },
    /// Gaussians describe the spots as well.
    #[error(
        "Gaussians are as good as the PSF that was learnt from {spots} spots: in frames that were held out, it lowers the deviance of half of \
         the spots by less than {gain:.1}, and {GAIN} are wanted (a pixel has {learnt:.3} with it, {gaussian:.3} with Gaussians)"
    )]
    NotBetter {
        /// Spots that were used.
        spots: usize,
        /// The median of how much lower the deviance of a spot is with it.
        gain: f64,
        /// The deviance of a pixel with the PSF.
        learnt: f64,
        /// The same with a circular Gaussian, each spot with a width of its own.
        gaussian: f64,
    },
    /// Somebody wants no answer any more.
    #[error("it was cancelled")]
    Cancelled,
}

/// A PSF that was learnt from a movie.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LearntPsf {
    /// The PSF: its z numbers members of a family, and is no height.
    pub psf: Psf,
    /// Frames in which spots were looked for.
    pub frames: usize,
    /// Spots from which it was learnt.
    pub spots: usize,
    /// Spots that were held out, of which the deviances are.
    pub held_out: usize,
    /// Rounds that it took.
    pub rounds: usize,
    /// The mean deviance of a pixel of these, which is about 1 where the PSF is right.
    pub deviance: f64,
    /// The same with a circular Gaussian, each spot with a width of its own.
    pub gaussian: f64,
    /// How much better the spots are described by a PSF that varies across the frame; `None` where it does not vary.
    pub field: Option<FieldGain>,
    pub(crate) held: HeldSpots,
}

impl LearntPsf {
    /// What the spots that were held out show along its axis: of one member where [`Psf::is_single`].
    pub fn members(&self) -> Vec<LearntMember> {
        self.held.members(&self.psf)
    }
}

/// Spots that were held out, and the family that they judge. What they show is looked at where somebody asks.
#[derive(Clone, Debug)]
pub(crate) struct HeldSpots {
    family: Varying,
    windows: Vec<SpotWindow>,
}

impl HeldSpots {
    pub(crate) fn members(&self, psf: &Psf) -> Vec<LearntMember> {
        let middle = |at: usize| if psf.is_single() { 0.0 } else { psf.z_of(at as f64 + 0.5) };
        let left = left(&|window| self.family.at(window), &self.windows).into_iter().enumerate();
        left.map(|(at, (spots, left))| LearntMember { z: middle(at), spots, left }).collect()
    }
}

/// A stretch of the axis of a PSF that was learnt, with the spots that were held out and lie there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LearntMember {
    /// The middle of the stretch, as the PSF's z.
    pub z: f64,
    /// How many spots lie there, those left out that are not like the others.
    pub spots: usize,
    /// What the PSF leaves of the pixels around them (row, column), as the share of their light; NaN where no spot tells it.
    pub left: Array2<f64>,
}

/// The mean deviance of a pixel in spots that were held out, with the same PSF everywhere and with one that varies across the frame. NaN where
/// there are no spots.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct FieldGain {
    /// Of spots nearer to the middle of the frame along both axes than to its edges.
    pub centre: [f64; 2],
    /// Of those farther along both.
    pub corners: [f64; 2],
}

impl Family {
    /// The family as a PSF whose z is the place along the axis.
    pub(super) fn psf(&self) -> Result<Psf, PsfError> {
        let middle = 0.5 * (WHOLE - 1) as f64;
        let mut all = self.extended(WHOLE);
        let zero = 0.5 * self.last();
        let light = crate::psf::measured::sum(&all, zero, 0);
        // The coefficients at the edges are those of pixels that are in it by half, or not at all.
        let inside = |at: usize| (middle - 0.5 - (at as f64 - middle).abs()).clamp(0.0, 1.0);
        for mut plane in all.outer_iter_mut() {
            let own = plane.indexed_iter();
            let sum: f64 =
                own.map(|((row, column), value)| inside(row) * inside(column) * value).sum();
            plane /= if sum > 0.0 { sum } else { 1.0 };
        }
        Psf::of_light(all, STEP, zero, light.min(1.0), false)
    }

    /// Coefficients of so many rows and columns: far from the centre, where windows show little or nothing, light falls with r⁻³.
    fn extended(&self, whole: usize) -> Array3<f64> {
        let (size, count) = (self.extent.knots(), self.extent.count());
        let (middle, half) = (0.5 * (whole - 1) as f64, self.extent.half as f64);
        let planes = self.knots.chunks_exact(size);
        let tails: Vec<f64> = planes.map(|plane| tail(plane, self.extent).max(0.0)).collect();
        let own = |plane: usize, row: usize, column: usize| {
            // A larger one is cut.
            let at = [row, column].map(|at| (at + count / 2).checked_sub(whole / 2));
            let [Some(row), Some(column)] = at else { return None };
            (row < count && column < count).then(|| self.knots[plane * size + row * count + column])
        };
        Array3::from_shape_fn((self.planes, whole, whole), |(plane, row, column)| {
            let r = (row as f64 - middle).hypot(column as f64 - middle);
            let share = ((r - half) / SEEN + 1.0).clamp(0.0, 1.0);
            let far = tails[plane] / r.max(1.0).powi(3);
            own(plane, row, column).map_or(far, |own| own + share * (far - own))
        })
    }

    /// The same of another extent.
    pub(super) fn of_extent(&self, extent: Extent) -> Self {
        if extent == self.extent {
            return self.clone();
        }
        let knots = self.extended(extent.count()).into_iter().collect();
        Self { knots, extent, ..*self }
    }

    /// With a plane more at each end, as a line goes on.
    fn grown(&self) -> Self {
        let size = self.extent.knots();
        let plane = |number: usize| &self.knots[number * size..][..size];
        let beyond = |end: usize, inside: usize| {
            plane(end)
                .iter()
                .zip(plane(inside))
                .map(|(end, inside)| 2.0 * end - inside)
                .collect::<Vec<f64>>()
        };
        let last = self.planes - 1;
        let knots = [beyond(0, 1), self.knots.clone(), beyond(last, last - 1)].concat();
        Self { knots, planes: self.planes + 2, ..*self }
    }

    /// Without an interval at an end.
    fn without(&self, first: bool) -> Self {
        let size = self.extent.knots();
        let knots =
            if first { &self.knots[size..] } else { &self.knots[..self.knots.len() - size] };
        Self { knots: knots.to_vec(), planes: self.planes - 1, ..*self }
    }
}

/// Without the intervals at its ends that hold hardly any spot.
fn cropped(learnt: &Learnt) -> Family {
    let (mut family, mut low, mut high) = (learnt.family.clone(), 0.0, learnt.family.last());
    let count = learnt.places.len() as f64;
    let within = |from: f64, to: f64| {
        learnt.places.iter().filter(|&&place| place >= from && place <= to).count() as f64 / count
    };
    while family.planes > 5 {
        let fair = FAIR / family.last();
        if within(f64::NEG_INFINITY, low + 1.0) < fair {
            (family, low) = (family.without(true), low + 1.0);
        } else if within(high - 1.0, f64::INFINITY) < fair {
            (family, high) = (family.without(false), high - 1.0);
        } else {
            break;
        }
    }
    family
}

/// Learns the PSF of a movie from its own spots, without beads.
///
/// The `blocks` are frames of the movie from all of its length, some that follow each other in each: from ten blocks on every fifth is held
/// out, otherwise every fifth frame. Of the `options` only camera, maps, defects, saturation, false rate, ROI, threads and instruction set matter. A family of PSFs along one axis, whatever makes spots differ (mostly the focus), is
/// found by soft expectation–maximisation, first from spots that are far from others, then from all that are told apart with what was found
/// before, for as long as spots that were held out are described better. It takes some hundred bright spots; more make it better.
///
/// # Errors
/// [`LearnPsfError`]: among others, that Gaussians describe the spots that were held out as well.
pub fn learn_psf(blocks: &[Block], options: &LocalizeOptions) -> Result<LearntPsf, LearnPsfError> {
    learn_while(blocks, options, &|| true)
}

/// The same, as long as this is true.
pub(crate) fn learn_while(
    blocks: &[Block],
    options: &LocalizeOptions,
    go_on: &dyn Fn() -> bool,
) -> Result<LearntPsf, LearnPsfError> {
    let pool = ThreadPoolBuilder::new().num_threads(options.fitter.threads).build();
    let pool = &pool.map_err(PsfError::from)?;
    let blocks: Vec<Frames<'_>> =
        blocks.iter().map(|block| (block.first, block.pixels.windows())).collect();
    let blocks = &blocks[..];
    let [width, height] = size_of(blocks);
    if width.min(height) < Extent::USUAL.side() {
        let frames = blocks.iter().map(|(_, frames)| frames.count()).sum();
        return Err(LearnPsfError::FewSpots { frames, found: 0 });
    }
    let (options, roi) = plain(options, (width, height))?;
    let Collected { windows, mut frames, mut density, .. } = maxima(blocks, &options, roi, go_on)?;
    let (windows, held) = parted(windows, frames)?;
    let mut found = pool.install(|| learn(&windows, PLANES, STEPS, None));
    let mut judged = pool.install(|| judge(&found.family, &held));
    let (mut last, mut used) = (held, windows);
    let mut rounds = 1;
    while rounds < ROUNDS {
        if !go_on() {
            return Err(LearnPsfError::Cancelled);
        }
        // Where most spots are several, what they look like is no misfit.
        let psf = if judged.learnt < ALONE {
            pool.install(|| tested(&found.family, &last, density))?
        } else {
            found.family.psf()?
        };
        let psf = Arc::new(psf);
        let mut chosen = None;
        for &extent in wanted(&used) {
            let again = told_apart(blocks, (&options, roi, extent), &psf, ENOUGH, go_on)?;
            let Collected { windows, frames, density, .. } = again;
            let [apart, windows] = windows.parted(HELD).map(|part| part.chosen(MOST_SPOTS));
            let enough = windows.len() >= FEWEST && apart.len() >= FEWEST_HELD;
            // Wide windows leave out what is near the edge of the frame.
            if enough && (extent == Extent::USUAL || 2 * windows.len() >= used.len()) {
                chosen = Some((extent, apart, windows, frames, density));
                break;
            }
        }
        let Some((extent, apart, windows, of_frames, of_density)) = chosen else { break };
        let before = found.family.clone();
        found.family = found.family.of_extent(extent);
        let begin = if rounds == 1 { found.family.grown() } else { found.family.clone() };
        let mut better = pool.install(|| learn(&windows, begin.planes, STEPS, Some(begin)));
        better.family = cropped(&better);
        // Where spots overlap, the first round sees those that are two: the second is better in any case.
        let [old, now] =
            [&found.family, &better.family].map(|family| pool.install(|| judge(family, &apart)));
        if rounds > 1 && now.learnt >= old.learnt {
            found.family = before;
            break;
        }
        rounds += 1;
        (frames, density) = (frames.max(of_frames), of_density);
        (found, judged, used, last) = (better, now, windows, apart);
        if now.learnt > ENDED * old.learnt {
            break;
        }
    }
    // One member describes the spots as well where the axis is no more than their noise.
    let begin = found.family.single();
    let several = found.family.clone();
    let alone = pool.install(|| learn(&used, begin.planes, STEPS, Some(begin)));
    let judged_alone = pool.install(|| judge(&alone.family, &last));
    let is_better = |judged: &Judged| judged.better >= BETTER && judged.gain >= GAIN;
    if judged.gain - judged_alone.gain < GAIN && is_better(&judged_alone) {
        (found, judged) = (alone.clone(), judged_alone);
    }
    let beside = density * std::f64::consts::PI * NEAREST * NEAREST;
    if beside > MOST_BESIDE && judged.learnt > ALONE {
        let (spots, deviance) = (used.len(), judged.learnt);
        return Err(LearnPsfError::Several { spots, density, deviance });
    }
    let told = Told {
        found: &found.family,
        families: [&alone.family, &several],
        used: &used,
        held: &last,
        density,
    };
    let varied = varied(blocks, (&options, roi), told, pool, go_on)?;
    let used = used.len();
    let Judged { learnt, gaussian, gain, .. } = judged;
    if !is_better(&judged) {
        return Err(LearnPsfError::NotBetter { spots: used, gain, learnt, gaussian });
    }
    let varied = match varied {
        Some(varied) => varied,
        None => {
            let psf = pool.install(|| tested(&found.family, &last, density))?;
            let held = HeldSpots { family: Varying::none(found.family), windows: last };
            Varied { psf, spots: used, held, deviance: learnt, field: None }
        }
    };
    let Varied { psf, spots, held, deviance, field } = varied;
    let held_out = held.windows.len();
    Ok(LearntPsf { psf, frames, spots, held_out, rounds, deviance, gaussian, field, held })
}

/// Families, of which one was found, and spots that told them or were held out.
struct Told<'a> {
    found: &'a Family,
    /// With one member and with several.
    families: [&'a Family; 2],
    used: &'a [SpotWindow],
    held: &'a [SpotWindow],
    /// Spots in a pixel.
    density: f64,
}

/// A PSF that may vary, from so many spots, and what those that were held out say of it.
struct Varied {
    psf: Psf,
    spots: usize,
    held: HeldSpots,
    deviance: f64,
    field: Option<FieldGain>,
}

/// One of the families, varying across the frame, if spots that were held out are described better than by the one that was found. A low degree and
/// few rounds say whether; then more spots are looked for.
fn varied(
    blocks: &[Frames<'_>],
    (options, roi): (&LocalizeOptions, Roi),
    told: Told<'_>,
    pool: &ThreadPool,
    go_on: &dyn Fn() -> bool,
) -> Result<Option<Varied>, LearnPsfError> {
    let Told { found, families: [alone, several], used, held, density } = told;
    let of = |family: &Family, [degree, rounds]: [usize; 2], used: &[_], held: &[_]| {
        pool.install(|| {
            let varying = Varying::learn(family, degree, rounds, used);
            let same = Varying::learn(family, 0, rounds, used);
            let gained = varying.judge(found, &same, held);
            (varying, gained)
        })
    };
    let few = |all: &[SpotWindow], most: usize| -> Vec<SpotWindow> {
        all.iter().step_by(all.len().div_ceil(most).max(1)).cloned().collect()
    };
    let first =
        [(used, MOST_AT_FIRST), (held, MOST_AT_FIRST / 2)].map(|(all, most)| few(all, most));
    let (first, gained) = of(found, FIRST_OF_FIELD, &first[0], &first[1]);
    if !gained.is_better() {
        return Ok(None);
    }
    // What is no PSF at some place does not vary.
    let Ok(psf) = pool.install(|| first.psf(size_of(blocks))) else { return Ok(None) };
    let psf = Arc::new(psf);
    let enough = 3 * MOST_FOR_FIELD;
    let more = told_apart(blocks, (options, roi, found.extent), &psf, enough, go_on)?;
    let [apart, windows] = more.windows.parted(HELD).map(|part| part.chosen(MOST_FOR_FIELD));
    let more = windows.len() >= used.len() && apart.len() >= FEWEST_HELD;
    let [used, held] = if more { [&windows, &apart].map(Vec::as_slice) } else { [used, held] };
    let (mut varying, mut gained) = of(alone, FIELD, used, held);
    if !several.single {
        let (other, of_other) = of(several, FIELD, used, held);
        // What differed with the place in the frame may have looked like members.
        if !(of_other.gain - gained.gain < GAIN && gained.is_better()) {
            (varying, gained) = (other, of_other);
        }
    }
    if !(gained.is_better() && gained.gain >= LEAST_GAIN) {
        return Ok(None);
    }
    let Ok(psf) = pool.install(|| varying.psf(size_of(blocks))) else { return Ok(None) };
    let local = |window: &SpotWindow| (varying.at(window), varying.place(window));
    let psf = pool.install(|| with_misfit(psf, &local, held, density));
    let [centre, corners, [_, deviance]] = gained.deviances;
    let field = Some(FieldGain { centre, corners });
    let (spots, windows) = (used.len(), held.to_vec());
    let held = HeldSpots { family: varying, windows };
    let varied = Varied { psf, spots, held, deviance, field };
    Ok(Some(varied))
}

/// The pixels around spots to learn from, the best first: where the light at the edge of usual windows is seen, wider ones.
fn wanted(windows: &[SpotWindow]) -> &'static [Extent] {
    let edge = USUAL_TAIL / (Extent::USUAL.half as f64 + 0.5).powi(3);
    let is_seen = |window: &&SpotWindow| {
        let noise = (window.background + window.read_noise).sqrt();
        window.photons * edge > HIDDEN * noise
    };
    let bright = 2 * windows.iter().filter(is_seen).count() > windows.len();
    if bright { &[Extent::WIDE, Extent::USUAL] } else { &[Extent::USUAL] }
}

/// The family as a PSF, with what spots that were held out look like that are not quite like it.
fn tested(family: &Family, windows: &[SpotWindow], density: f64) -> Result<Psf, PsfError> {
    Ok(with_misfit(family.psf()?, &|_| (family.clone(), [0.0; 2]), windows, density))
}

/// The same of a PSF that is this family at a spot, at a place from −1 to 1.
fn with_misfit(
    psf: Psf,
    local: &(dyn Fn(&SpotWindow) -> (Family, [f64; 2]) + Sync),
    windows: &[SpotWindow],
    density: f64,
) -> Psf {
    let samples = of_each(windows.len(), &|number| {
        let window = &windows[number];
        let (family, field) = local(window);
        let [x, y, plane, photons, background] = placed(&family, window);
        let place = [x, y, psf.z_of(plane)];
        Sample { field, ..sample(window, place, photons, background) }
    });
    let said = said_of(&SpotImage::Measured(&psf), &samples);
    let misfit = misfit(said, density, Alone::HeldOut);
    psf.with_misfit(misfit)
}

/// Spots to learn from, and others to judge by.
fn parted(
    candidates: Candidates,
    frames: usize,
) -> Result<(Vec<SpotWindow>, Vec<SpotWindow>), LearnPsfError> {
    let [held, used] = candidates.parted(HELD).map(|part| part.chosen(MOST_SPOTS));
    let (spots, photons) = (used.len(), used.iter().map(|spot| spot.photons).sum());
    if spots < FEWEST || held.len() < FEWEST_HELD {
        return Err(LearnPsfError::FewSpots { frames, found: spots + held.len() });
    }
    if photons < FEWEST_PHOTONS {
        return Err(LearnPsfError::Dim { spots, photons });
    }
    Ok((used, held))
}

/// Frames that follow each other, and the number of the first.
type Frames<'a> = (usize, AnyWindows<'a>);

/// Options to look for spots with, and where: what becomes of localizations, and what Gaussians look like, does not matter.
fn plain(
    options: &LocalizeOptions,
    size: (usize, usize),
) -> Result<(LocalizeOptions, Roi), LocalizeError> {
    let fit = Options::default().with_estimator(Estimator::MaximumLikelihood);
    let fitter = FitterOptions::default()
        .with_instruction_set(options.fitter.instruction_set)
        .with_threads(options.fitter.threads)
        .with_fit(fit);
    let mut plain = LocalizeOptions::default()
        .with_camera(options.camera)
        .with_map(options.map.clone())
        .with_defects(options.defects.clone())
        .with_saturation(options.saturation)
        .with_false_rate(options.false_rate)
        .with_checks(true)
        .with_fitter(fitter);
    plain.mask_defects(size)?;
    let (width, height) = size;
    Ok((plain, options.roi.unwrap_or(Roi { x: 0, y: 0, width, height })))
}

/// Spots that are far from others.
fn maxima(
    blocks: &[Frames<'_>],
    options: &LocalizeOptions,
    roi: Roi,
    go_on: &dyn Fn() -> bool,
) -> Result<Collected, LearnPsfError> {
    let mut first = options.clone().with_box_size(BOX);
    first.fitter.fit = first.fitter.fit.with_shape(Shape::Elliptical(Elliptical));
    let by_widths = |spot: &Localization| spot.sigma_x - spot.sigma_y;
    let extent = Extent::USUAL;
    collected(blocks, (&first, roi, extent), &Others::Masked, (&by_widths, ENOUGH), go_on)
}

/// The spots of blocks that are told apart with a PSF, until there are enough.
fn told_apart(
    blocks: &[Frames<'_>],
    (options, roi, extent): (&LocalizeOptions, Roi, Extent),
    psf: &Arc<Psf>,
    enough: usize,
    go_on: &dyn Fn() -> bool,
) -> Result<Collected, LearnPsfError> {
    let options = options
        .clone()
        .with_box_size(psf.usual_box())
        .with_emitters(Emitters::Auto)
        .with_psf(Some(psf.clone()));
    let axis = |spot: &Localization| spot.depth.map_or(f64::NAN, |depth| depth.z);
    let light = |spot: &Localization, off: [f64; 2]| {
        let at = psf.at([off[0], off[1], axis(spot)]);
        at.map_or(0.0, |[share, ..]| spot.intensity * share)
    };
    let others = Others::Known { light: &light, masked: MASKED, nearest: NEAREST };
    collected(blocks, (&options, roi, extent), &others, (&axis, enough), go_on)
}

/// How spots of frames that are alone differ from Gaussians of these widths, which follow from the third parameter that spots have, if they
/// are looked for with these options; `None` where they are too few to tell.
///
/// # Errors
/// [`LocalizeError`].
pub(crate) fn misfit_of_gaussians(
    frames: AnyWindows<'_>,
    options: &LocalizeOptions,
    gaussian: &Gaussian<'_>,
    third: &dyn Fn(&Localization) -> f64,
) -> Result<Option<Misfit>, LocalizeError> {
    let (count, height, width) = frames.frames();
    if width.min(height) < Extent::USUAL.side() {
        return Ok(None);
    }
    let roi = middle(options.roi.unwrap_or(Roi { x: 0, y: 0, width, height }));
    let options = &options.clone().with_roi(Some(roi));
    let at_a_time = (MOST_SIDE * MOST_SIDE / (roi.width * roi.height).max(1)).clamp(1, AT_A_TIME);
    let parts: Vec<Frames<'_>> = (0..count)
        .step_by(at_a_time)
        .map(|first| (first, frames.visit(Part(first..count.min(first + at_a_time)))))
        .collect();
    let together = options.emitters.are_together();
    let light = |spot: &Localization, [x, y]: [f64; 2]| {
        let square = (x / spot.sigma_x).powi(2) + (y / spot.sigma_y).powi(2);
        let peak = spot.intensity / (std::f64::consts::TAU * spot.sigma_x * spot.sigma_y);
        peak * (-0.5 * square).exp()
    };
    let others = match together {
        true => Others::Known { light: &light, masked: MASKED, nearest: NEAREST },
        false => Others::Masked,
    };
    let found =
        collected(&parts, (options, roi, Extent::USUAL), &others, (third, MOST_ALONE), &|| true);
    let Collected { windows, density, beside, .. } = match found {
        Ok(collected) => collected,
        Err(LearnPsfError::Localize(error)) => return Err(error),
        Err(_) => return Ok(None),
    };
    let windows = brightest(windows.chosen(MOST_ALONE), |window| window.photons);
    let samples: Vec<Sample<'_>> = windows
        .iter()
        .map(|window| {
            let [x, y] = window.place;
            sample(window, [x, y, window.key], window.photons, window.background)
        })
        .collect();
    let alone = if together { Alone::ToldApart } else { Alone::Maxima };
    let pool = ThreadPoolBuilder::new().num_threads(options.fitter.threads).build()?;
    let said = pool.install(|| said_of(&SpotImage::Gaussian(gaussian), &samples));
    Ok(misfit(said, density.max(beside), alone))
}

/// What is in the midst of a region, if that is large.
fn middle(roi: Roi) -> Roi {
    let [width, height] = [roi.width, roi.height].map(|side| side.min(MOST_SIDE));
    let (x, y) = (roi.x + (roi.width - width) / 2, roi.y + (roi.height - height) / 2);
    Roi { x, y, width, height }
}

/// A spot, with its place from the middle pixel.
fn sample(window: &SpotWindow, [x, y, z]: [f64; 3], photons: f64, background: f64) -> Sample<'_> {
    let middle = window.extent.half as f64;
    Sample {
        pixels: window.pixels.as_slice().into(),
        others: Some(&window.others),
        counts: Some(&window.counts),
        size: [window.extent.side(); 2],
        read_noise: window.read_noise,
        excess: 1.0,
        place: [middle + x, middle + y, z],
        field: [0.0; 2],
        photons,
        background,
    }
}

/// Spots that may be used, and the frames that they are of.
struct Collected {
    windows: Candidates,
    frames: usize,
    /// Spots in a pixel, and those beside a spot.
    density: f64,
    beside: f64,
}

/// The spots of blocks that may be used, until there are enough. Blocks from all of the movie come first.
fn collected(
    blocks: &[Frames<'_>],
    (options, roi, extent): (&LocalizeOptions, Roi, Extent),
    others: &Others<'_>,
    (key, enough): (&dyn Fn(&Localization) -> f64, usize),
    go_on: &dyn Fn() -> bool,
) -> Result<Collected, LearnPsfError> {
    let mut all =
        Collected { windows: Candidates::default(), frames: 0, density: 0.0, beside: 0.0 };
    if blocks.is_empty() {
        return Ok(all);
    }
    let [width, height] = size_of(blocks);
    let mut localizer = Localizer::new((width, height), options.clone())?;
    let camera = &options.camera;
    // The multiplication of electrons doubles the variance: half as many photons would have as much.
    let excess = if camera.em_gain.is_some() { 2.0 } else { 1.0 };
    let read_noise = match options.map.as_deref() {
        Some(map) => f64::from(typical_variance(map)),
        None => camera.read_noise.powi(2),
    } / camera.em_gain.unwrap_or(1.0).powi(2);
    let unmasked = |pixel: [usize; 2]| {
        let map = options.map.as_deref();
        // The read noise is that of usual pixels.
        let most = |map| CameraMap::MASKED.min(NOISY * typical_variance(map) + 1.0);
        map.is_none_or(|map| map.variance()[pixel] < most(map))
    };
    // Frames that follow each other show the same molecules: they are held out together.
    let parts = blocks.len() >= 2 * HELD;
    let mut spots = 0;
    for (part, number) in spread(blocks.len()).enumerate() {
        if !go_on() {
            return Err(LearnPsfError::Cancelled);
        }
        let (first, frames) = blocks[number];
        let found = localizer.process_frames(first, frames)?;
        let within = |at: f64, first: usize, count: usize| {
            at >= first as f64 - 0.5 && at < (first + count) as f64 - 0.5
        };
        let inside = |spot: &&Localization| {
            within(spot.x, roi.x, roi.width) && within(spot.y, roi.y, roi.height)
        };
        spots += found.iter().filter(inside).count();
        let mut rest = &found[..];
        for number in 0..frames.count() {
            let here = |spot: &Localization| spot.frame == first + number;
            let count = rest.iter().take_while(|spot| here(spot)).count();
            let (spots, later) = rest.split_at(count);
            rest = later;
            let (photons, raised) =
                photons_of_frame(frames, number, camera, options.map.as_deref());
            let frame = photons.view();
            let group = if parts { part } else { all.frames + number };
            let seen =
                Seen { frame, extent, raised, group, roi, read_noise, excess, counts: &unmasked };
            all.windows.add(&seen, spots, others, key);
        }
        all.frames += frames.count();
        if all.windows.count() >= enough {
            break;
        }
    }
    all.density = spots as f64 / (all.frames * roi.width * roi.height).max(1) as f64;
    let [from, to] = others.ring();
    let ring = std::f64::consts::PI * (to * to - from * from);
    all.beside = CLOSER * all.windows.beside as f64 / (spots.max(1) as f64 * ring);
    Ok(all)
}

/// Columns and rows of the frames.
fn size_of(blocks: &[Frames<'_>]) -> [usize; 2] {
    blocks.first().map_or([1, 1], |(_, frames)| [frames.frames().2, frames.frames().1])
}

/// The numbers below a count, those far from each other first.
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let bits = count.next_power_of_two().trailing_zeros();
    let turned = move |number: usize| {
        if bits == 0 { 0 } else { number.reverse_bits() >> (usize::BITS - bits) }
    };
    (0..count.next_power_of_two()).map(turned).filter(move |&number| number < count)
}
