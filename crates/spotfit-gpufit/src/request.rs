//! The arguments of a call, checked.

use std::borrow::Cow;
use std::ffi::c_char;
use std::ops::Range;

use fit_core::Estimator;
use fit_curves::{CurveLimits, GpufitBuffers, GpufitOptions};

use crate::error::Wrong;
use crate::model::Id;

/// The arguments as they come, in the order of `gpufit_constrained`.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    pub(crate) n_fits: usize,
    pub(crate) n_points: usize,
    pub(crate) data: *mut f32,
    pub(crate) weights: *mut f32,
    pub(crate) model_id: i32,
    pub(crate) initial_parameters: *mut f32,
    pub(crate) constraints: *mut f32,
    pub(crate) constraint_types: *mut i32,
    pub(crate) tolerance: f32,
    pub(crate) max_n_iterations: i32,
    pub(crate) parameters_to_fit: *mut i32,
    pub(crate) estimator_id: i32,
    pub(crate) user_info_size: usize,
    pub(crate) user_info: *mut c_char,
    pub(crate) output_parameters: *mut f32,
    pub(crate) output_states: *mut i32,
    pub(crate) output_chi_squares: *mut f32,
    pub(crate) output_n_iterations: *mut i32,
}

/// Data sets to fit, and how.
pub(crate) struct Request<'a> {
    pub(crate) fits: usize,
    pub(crate) points: usize,
    /// (fit, point).
    pub(crate) data: &'a [f32],
    /// The same.
    pub(crate) weights: Option<&'a [f32]>,
    pub(crate) model: Id,
    /// (fit, parameter).
    pub(crate) initial: Cow<'a, [f32]>,
    pub(crate) constraints: Option<Constraints<'a>>,
    /// Whether each parameter keeps its start value.
    pub(crate) fixed: Vec<bool>,
    pub(crate) estimator: Estimator,
    pub(crate) info: &'a [u8],
    pub(crate) options: GpufitOptions,
    pub(crate) room: GpufitBuffers<'a>,
}

/// Limits of the parameters.
#[derive(Clone, Copy)]
pub(crate) struct Constraints<'a> {
    /// (fit, parameter, lower or upper).
    bounds: &'a [f32],
    /// Of each parameter: 0 none, 1 lower, 2 upper, 3 both; 0 where it is fixed.
    types: [u8; Id::MOST_PARAMETERS],
    parameters: usize,
}

impl<'a> Constraints<'a> {
    /// Those of so many fits; `None` if nothing is limited.
    pub(crate) fn new(
        bounds: &'a [f32],
        kinds: &[i32],
        fixed: &[bool],
        fits: usize,
    ) -> Result<Option<Self>, Wrong> {
        let mut types = [0; Id::MOST_PARAMETERS];
        for (parameter, &kind) in kinds.iter().enumerate() {
            let known = u8::try_from(kind).ok().filter(|kind| *kind < 4);
            let known = known.ok_or(Wrong::ConstraintType { kind, parameter })?;
            types[parameter] = if fixed[parameter] { 0 } else { known };
        }
        let all = Self { bounds, types, parameters: kinds.len() };
        for fit in 0..fits {
            for (parameter, [lower, upper]) in all.of(fit).enumerate() {
                let sound = lower <= upper && lower < f32::INFINITY && upper > f32::NEG_INFINITY;
                if !sound {
                    return Err(Wrong::Constraint { fit, parameter, lower, upper });
                }
            }
        }
        Ok(types.iter().any(|&kind| kind != 0).then_some(all))
    }

    /// The limits of the parameters of a fit.
    pub(crate) fn of(&self, fit: usize) -> impl Iterator<Item = [f32; 2]> {
        let of_fit = &self.bounds[2 * self.parameters * fit..][..2 * self.parameters];
        of_fit.chunks_exact(2).zip(self.types).map(|(bounds, kind)| {
            let lower = if kind & 1 == 1 { bounds[0] } else { f32::NEG_INFINITY };
            let upper = if kind & 2 == 2 { bounds[1] } else { f32::INFINITY };
            [lower, upper]
        })
    }

    /// Moves start values of some fits into their limits.
    pub(crate) fn confine(&self, fits: Range<usize>, starts: &mut [f32]) {
        for (start, fit) in starts.chunks_exact_mut(self.parameters).zip(fits) {
            for (start, [lower, upper]) in start.iter_mut().zip(self.of(fit)) {
                *start = start.clamp(lower, upper);
            }
        }
    }

    /// The limits of some fits.
    pub(crate) fn limits(&self, fits: Range<usize>) -> CurveLimits {
        let length = 2 * self.parameters;
        let mut all = self.bounds[fits.start * length..fits.end * length].chunks_exact(length);
        let first = all.next();
        let same = all.all(|bounds| Some(bounds) == first);
        let wide = |fit| self.of(fit).map(|limits| limits.map(f64::from));
        if same {
            CurveLimits::Shared(wide(fits.start).collect())
        } else {
            CurveLimits::PerFit(fits.flat_map(wide).collect())
        }
    }

    /// Those of some fits, one after the other.
    pub(crate) fn picked(&self, which: &[usize]) -> Vec<f32> {
        let length = 2 * self.parameters;
        which.iter().flat_map(|&fit| &self.bounds[fit * length..][..length]).copied().collect()
    }

    /// The same kinds of limits for other fits.
    pub(crate) fn with<'b>(&self, bounds: &'b [f32]) -> Constraints<'b> {
        Constraints { bounds, types: self.types, parameters: self.parameters }
    }
}

/// Arrays that may be what they are said to be; nobody has looked at their numbers.
pub(crate) struct Checked {
    pub(crate) model: Id,
    pub(crate) estimator: Estimator,
    pub(crate) data: Array<f32>,
    pub(crate) weights: Option<Array<f32>>,
    pub(crate) initial: Array<f32>,
    /// Whether results take their place.
    in_place: bool,
    pub(crate) to_fit: Array<i32>,
    pub(crate) info: Array<u8>,
    /// Limits, and their kinds.
    pub(crate) limits: Option<(Array<f32>, Array<i32>)>,
}

impl Checked {
    /// Checks arguments; `None` if there is nothing to fit.
    pub(crate) fn new(of: &Arguments) -> Result<Option<Self>, Wrong> {
        let model = Id::from_number(of.model_id).ok_or(Wrong::Model(of.model_id))?;
        let estimator = match of.estimator_id {
            0 => Estimator::LeastSquares,
            1 => Estimator::MaximumLikelihood,
            other => return Err(Wrong::Estimator(other)),
        };
        if of.n_fits == 0 {
            return Ok(None);
        }
        if of.n_points == 0 {
            return Err(Wrong::NoPoints);
        }
        let parameters = model.parameters();
        let times = |a: usize, b: usize, name| a.checked_mul(b).ok_or(Wrong::TooLarge(name));
        let data = Array::new(of.data, times(of.n_fits, of.n_points, "data")?, "data")?;
        let numbers = times(of.n_fits, parameters, "initial_parameters")?;
        let initial = Array::new(of.initial_parameters, numbers, "initial_parameters")?;
        let to_fit = Array::new(of.parameters_to_fit, parameters, "parameters_to_fit")?;
        let info = Array::new(of.user_info.cast::<u8>(), of.user_info_size, "user_info")?;
        // Maximum likelihood ignores them.
        let weighs = !of.weights.is_null() && estimator == Estimator::LeastSquares;
        let weights = weighs.then(|| Array::new(of.weights, data.length, "weights")).transpose()?;
        let limited = !of.constraints.is_null();
        let limits = if limited {
            let bounds = times(numbers, 2, "constraints")?;
            let types = Array::new(of.constraint_types, parameters, "constraint_types")?;
            Some((Array::new(of.constraints, bounds, "constraints")?, types))
        } else {
            None
        };
        let outcomes = [
            Array::new(of.output_parameters, numbers, "output_parameters")?.bytes(),
            Array::new(of.output_states, of.n_fits, "output_states")?.bytes(),
            Array::new(of.output_chi_squares, of.n_fits, "output_chi_squares")?.bytes(),
            Array::new(of.output_n_iterations, of.n_fits, "output_n_iterations")?.bytes(),
        ];
        let mut others = vec![data.bytes(), to_fit.bytes(), info];
        others.extend(weights.map(|weights| weights.bytes()));
        if let Some((bounds, types)) = &limits {
            others.extend([bounds.bytes(), types.bytes()]);
        }
        for (number, own) in outcomes.iter().enumerate() {
            let initial = (number > 0).then(|| initial.bytes());
            let mut rest = others.iter().chain(&outcomes[number + 1..]).chain(&initial);
            if rest.any(|other| own.overlaps(other)) {
                return Err(Wrong::Overlap(own.name));
            }
        }
        let in_place = outcomes[0].overlaps(&initial);
        Ok(Some(Self { model, estimator, data, weights, initial, in_place, to_fit, info, limits }))
    }

    /// Whether each parameter keeps its start value.
    ///
    /// # Safety
    /// `to_fit` has its numbers, on the host.
    pub(crate) unsafe fn fixed(&self) -> Vec<bool> {
        // SAFETY: the caller's promise.
        unsafe { self.to_fit.values() }.iter().map(|&fits| fits == 0).collect()
    }

    /// Limits between these bounds; `None` if nothing is limited.
    ///
    /// # Safety
    /// The kinds of limits have their numbers, on the host.
    pub(crate) unsafe fn constraints<'b>(
        &self,
        bounds: &'b [f32],
        fixed: &[bool],
        fits: usize,
    ) -> Result<Option<Constraints<'b>>, Wrong> {
        let Some((_, kinds)) = self.limits else { return Ok(None) };
        // SAFETY: the caller's promise.
        Constraints::new(bounds, unsafe { kinds.values() }, fixed, fits)
    }
}

impl<'a> Request<'a> {
    /// Reads the arguments; `None` if there is nothing to fit.
    ///
    /// # Safety
    /// Pointers that are not null point to as many numbers as Gpufit's documentation says, for the numbers of fits and points and the size of
    /// `user_info` that are given. Nobody else writes them, or reads the outcomes, before the call ends.
    pub(crate) unsafe fn read(of: &Arguments) -> Result<Option<Self>, Wrong> {
        let Some(checked) = Checked::new(of)? else { return Ok(None) };
        let Checked { model, estimator, data, weights, initial, in_place, info, .. } = checked;
        // SAFETY: none of the arrays is null or unaligned, and as the caller says they have their numbers. Those that are
        // written overlap with no others, but for `output_parameters`, which may be where the start values are: these are copied before.
        unsafe {
            let values = initial.values();
            let initial =
                if in_place { Cow::Owned(values.to_vec()) } else { Cow::Borrowed(values) };
            let fixed = checked.fixed();
            let bounds = checked.limits.map_or(&[][..], |(bounds, _)| bounds.values());
            let constraints = checked.constraints(bounds, &fixed, of.n_fits)?;
            let room = GpufitBuffers {
                parameters: std::slice::from_raw_parts_mut(of.output_parameters, values.len()),
                states: std::slice::from_raw_parts_mut(of.output_states, of.n_fits),
                chi2: std::slice::from_raw_parts_mut(of.output_chi_squares, of.n_fits),
                iterations: std::slice::from_raw_parts_mut(of.output_n_iterations, of.n_fits),
            };
            Ok(Some(Self {
                fits: of.n_fits,
                points: of.n_points,
                data: data.values(),
                weights: weights.map(|weights| weights.values()),
                model,
                initial,
                constraints,
                fixed,
                estimator,
                info: info.values(),
                options: of.options(),
                room,
            }))
        }
    }
}

impl Arguments {
    /// Where searches end.
    pub(crate) fn options(&self) -> GpufitOptions {
        GpufitOptions::new(self.tolerance, self.max_n_iterations)
    }
}

/// No memory is larger.
const MOST_BYTES: u64 = if size_of::<usize>() < 8 { isize::MAX as u64 } else { 1 << 56 };

/// An array that was given.
#[derive(Clone, Copy)]
pub(crate) struct Array<T> {
    pub(crate) at: *const T,
    pub(crate) length: usize,
    name: &'static str,
}

impl<T> Array<T> {
    /// An array is not null, unless it is empty, and lies where its numbers may.
    fn new(at: *const T, length: usize, name: &'static str) -> Result<Self, Wrong> {
        let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes as u64 <= MOST_BYTES);
        let end = bytes.and_then(|bytes| at.addr().checked_add(bytes));
        if end.is_none() {
            return Err(Wrong::TooLarge(name));
        }
        if at.is_null() && length > 0 {
            return Err(Wrong::Null(name));
        }
        if !at.is_aligned() && length > 0 {
            return Err(Wrong::Unaligned(name));
        }
        Ok(Self { at, length, name })
    }

    /// Its bytes.
    fn bytes(&self) -> Array<u8> {
        Array { at: self.at.cast(), length: self.length * size_of::<T>(), name: self.name }
    }

    fn overlaps<U>(&self, other: &Array<U>) -> bool {
        let [a, b] = [self.bytes(), other.bytes()];
        let [start, begin] = [a.at.addr(), b.at.addr()];
        a.length > 0 && b.length > 0 && start < begin + b.length && begin < start + a.length
    }

    /// # Safety
    /// There are as many numbers, and nobody writes them for so long.
    pub(crate) unsafe fn values<'a>(&self) -> &'a [T] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: it is neither null nor unaligned, nor longer than an array can be; the rest is the caller's.
        unsafe { std::slice::from_raw_parts(self.at, self.length) }
    }
}
