//! The errors of many fits at once, one per lane.

use std::ops::Range;

use fit_core::pass::{Axes, Judge, Judged, Serial, Summable};
use fit_core::{ArgumentError, Errors, Fit, Fits, Options, Outline, Size};
use fit_windows::{AnyWindows, NoteKind};

use super::arch::pack::Pack;
use super::lanes::turn;
use super::load::{How, Load};
use crate::reference::em_gain;

/// What windows come with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beside {
    /// Whether there is a camera map.
    mapped: bool,
    /// Whether there are weights.
    weighted: bool,
}

impl Beside {
    pub(super) fn of(windows: &AnyWindows<'_>) -> Self {
        let known = windows.known();
        Self { mapped: known.is_mapped(), weighted: known.is_weighted() }
    }
}

/// Options and working memory for judging fits.
pub(super) struct Appraisal<P: Pack, S, const K: usize, const Q: usize> {
    judge: Judge<P, S, K, Q>,
    beside: Beside,
    em_gain: f64,
    /// The windows as they come, each begins a pack.
    rows: Vec<P>,
    /// Pixels, variances and weights of windows in lanes.
    pixels: Vec<P>,
    variances: Vec<P>,
    weights: Vec<P>,
    axes: Vec<P>,
}

impl<P: Pack, S: Summable<K>, const K: usize, const Q: usize> Appraisal<P, S, K, Q> {
    /// To be compiled for the instruction set of `P`.
    #[inline(always)]
    pub(super) fn new(
        shape: S,
        size: Size,
        options: &Options,
        beside: Beside,
    ) -> Result<Self, ArgumentError> {
        let Beside { mapped, weighted } = beside;
        let zero = P::splat(0.0);
        let packs = size.pixels().div_ceil(P::LANES);
        let room = |wanted: bool| vec![zero; if wanted { packs * P::LANES } else { 0 }];
        Ok(Self {
            judge: Judge::for_shape(shape, size, options, mapped, weighted)?,
            beside,
            em_gain: em_gain(options),
            rows: room(true),
            pixels: room(true),
            variances: room(mapped),
            weights: room(weighted),
            axes: vec![zero; Axes::<P>::scratch_len(size)],
        })
    }

    /// See [`super::arch::Appraiser::judge`]; to be compiled for the instruction set of `P`.
    #[inline(always)]
    pub(super) fn judge(
        &mut self,
        source: &dyn Load<P>,
        windows: Range<usize>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) {
        let Self { judge, beside, em_gain, rows, pixels, variances, weights, axes } = self;
        let size = judge.size();
        let Some(mut axes) = Axes::new(axes, size) else { return };
        let how = How { kind: NoteKind::None, mapped: beside.mapped, em_gain: *em_gain };
        for (first, errors) in windows.step_by(P::LANES).zip(errors.chunks_mut(P::LANES)) {
            let these = first..first + errors.len();
            source.load(these.clone(), rows, how);
            turn(rows, pixels, size.pixels());
            if beside.mapped {
                source.load_notes(these.clone(), NoteKind::Variances, rows, *em_gain);
                turn(rows, variances, size.pixels());
            }
            if beside.weighted {
                source.load_notes(these.clone(), NoteKind::Weights, rows, *em_gain);
                turn(rows, weights, size.pixels());
            }
            let mut numbers = [[f32::NAN; 32]; 7];
            let mut outcomes = [Fit::<f32>::invalid(); 32];
            for (lane, window) in these.enumerate() {
                let fit = fits.at::<f32>(window);
                let Fit { x, y, sigma_x, sigma_y, angle, amplitude, background, .. } = fit;
                let all = [x, y, sigma_x, sigma_y, angle, amplitude, background];
                for (numbers, number) in numbers.iter_mut().zip(all) {
                    numbers[lane] = number;
                }
                outcomes[lane] = fit;
            }
            let [x, y, sigma_x, sigma_y, angle, alpha, beta] =
                numbers.each_ref().map(|numbers| P::load(numbers));
            let outline = Outline { x, y, sigma_x, sigma_y, angle };
            let mut tile = Serial::new(&pixels[..size.pixels()], size, &mut axes)
                .with_notes(variances)
                .with_weights(weights);
            let judged = judge.judge(&mut tile, outline, [alpha, beta]).numbers();
            let mut numbers = [[0.0; 32]; Judged::<f32>::NUMBERS];
            for (to, number) in numbers.iter_mut().zip(judged) {
                number.store(to);
            }
            for (lane, errors) in errors.iter_mut().enumerate() {
                let judged = Judged::from_numbers(&numbers.each_ref().map(|numbers| numbers[lane]));
                *errors = Errors::from_judged(&judged, &outcomes[lane], Q);
            }
        }
    }
}
