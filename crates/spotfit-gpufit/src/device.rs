//! Calls for data in device memory.

use std::borrow::Cow;

use fit_curves::GpufitBuffers;
use fit_gpu::{CurveGpu, DeviceCurves};

use crate::error::Wrong;
use crate::fit::{fit, options};
use crate::fitter::{Backend, Fitter, is_strict};
use crate::model::Prepared;
use crate::request::{Arguments, Array, Checked, Constraints, Request};

/// Numbers of data sets that are on the host at a time, at most, if they have to be there.
const MOST_ON_HOST: usize = 1 << 26;
/// Fewer data sets are fitted on the host.
const FEW: usize = 1_000;

/// Fits data sets in device memory, where they lie; results take the place of start values.
///
/// # Safety
/// As [`Request::read`], but for memory of a device: data, weights, `user_info`, start values and outcomes; limits may lie on either.
pub(crate) unsafe fn fit_there(of: &Arguments) -> Result<(), Wrong> {
    let Some(checked) = Checked::new(of)? else { return Ok(()) };
    if Backend::chosen()? == Backend::Cpu {
        return Err(Wrong::NoGpu);
    }
    let fitter = Fitter::get()?;
    // SAFETY: as the caller says.
    unsafe {
        let fixed = checked.fixed();
        let there = There { gpu: fitter.gpu()?, of, checked: &checked, fixed: &fixed };
        let bounds = match checked.limits {
            Some((bounds, _)) => there.read(bounds.at, 0, bounds.length)?,
            None => Vec::new(),
        };
        let constraints = checked.constraints(&bounds, &fixed, of.n_fits)?;
        there.fit(constraints.as_ref())
    }
}

struct There<'r> {
    gpu: &'r CurveGpu,
    of: &'r Arguments,
    checked: &'r Checked,
    fixed: &'r [bool],
}

impl There<'_> {
    /// # Safety
    /// As [`fit_there`].
    unsafe fn fit(&self, constraints: Option<&Constraints<'_>>) -> Result<(), Wrong> {
        let (of, model) = (self.of, self.checked.model);
        // SAFETY: as the caller says.
        unsafe {
            let numbers = self.checked.info.length / 4;
            let own_places = model.takes_places() && numbers > of.n_points;
            if own_places && numbers < of.n_fits * of.n_points {
                // The error says how many there are.
                let none = vec![0; self.checked.info.length];
                Prepared::new(model, of.n_fits, of.n_points, &none)?;
            }
            // Where each fit's points lie is not needed on the host.
            let info = if own_places {
                Vec::new()
            } else {
                self.read(of.user_info.cast::<u8>(), 0, of.user_info_size)?
            };
            let on_device = of.n_fits >= FEW && !is_strict()?;
            let mut left = None;
            if on_device && self.fit_on_device(&info, own_places, constraints)? {
                let states = self.read(of.output_states, 0, of.n_fits)?;
                let is_left = |&fit: &usize| states[fit] == DeviceCurves::LEFT;
                left = Some((0..of.n_fits).filter(is_left).collect::<Vec<_>>());
            }
            self.fit_on_host(&info, own_places, constraints, left.as_deref())
        }
    }

    /// False if the GPU leaves all of it.
    ///
    /// # Safety
    /// As [`fit_there`].
    unsafe fn fit_on_device(
        &self,
        info: &[u8],
        own_places: bool,
        constraints: Option<&Constraints<'_>>,
    ) -> Result<bool, Wrong> {
        let (of, checked) = (self.of, self.checked);
        let places = if own_places { of.user_info.cast::<f32>() } else { std::ptr::null() };
        if own_places && !places.is_aligned() {
            return Ok(false);
        }
        let prepared = Prepared::new(checked.model, of.n_fits, of.n_points, info)?;
        let mut options = options(checked.estimator, self.fixed.to_vec());
        // SAFETY: as the caller says.
        unsafe {
            if let Some(constraints) = constraints {
                let mut starts = self.read(of.initial_parameters, 0, checked.initial.length)?;
                constraints.confine(0..of.n_fits, &mut starts);
                self.write(of.output_parameters, 0, &starts)?;
                options.limits = constraints.limits(0..of.n_fits);
            }
            let curves = DeviceCurves {
                count: of.n_fits,
                points: of.n_points,
                data: of.data,
                weights: checked.weights.map_or(std::ptr::null(), |weights| weights.at),
                places,
                parameters: of.output_parameters,
                states: of.output_states,
                chi2: of.output_chi_squares,
                iterations: of.output_n_iterations,
            };
            let points = prepared.points(&(0..of.n_fits), of.n_points);
            let formula = &prepared.formula;
            Ok(self.gpu.fit_gpufit_there(formula, points, &curves, &options, &of.options())?)
        }
    }

    /// Fits some data sets, or all, on the host.
    ///
    /// # Safety
    /// As [`fit_there`].
    unsafe fn fit_on_host(
        &self,
        info: &[u8],
        own_places: bool,
        constraints: Option<&Constraints<'_>>,
        which: Option<&[usize]>,
    ) -> Result<(), Wrong> {
        let (of, checked) = (self.of, self.checked);
        let (points, parameters) = (of.n_points, checked.model.parameters());
        let count = which.map_or(of.n_fits, <[usize]>::len);
        let length = (MOST_ON_HOST / points).max(1);
        for first in (0..count).step_by(length) {
            let last = count.min(first + length);
            let which: Cow<'_, [usize]> = match which {
                Some(which) => which[first..last].into(),
                None => (first..last).collect(),
            };
            // SAFETY: as the caller says.
            unsafe {
                let data = self.read_rows(of.data, &which, points)?;
                let read = |weights: Array<f32>| self.read_rows(weights.at, &which, points);
                let weights = checked.weights.map(read).transpose()?;
                let info = match own_places {
                    true => self.read_rows(of.user_info.cast::<u8>(), &which, 4 * points)?,
                    false => info.to_vec(),
                };
                let initial = self.read_rows(of.initial_parameters, &which, parameters)?;
                let bounds = constraints.map(|constraints| constraints.picked(&which));
                let limits = constraints.zip(bounds.as_deref());
                let mut found = initial.clone();
                let (mut states, mut iterations) = (vec![0; which.len()], vec![0; which.len()]);
                let mut chi2 = vec![0.0; which.len()];
                let request = Request {
                    fits: which.len(),
                    points,
                    data: &data,
                    weights: weights.as_deref(),
                    model: checked.model,
                    initial: initial.into(),
                    constraints: limits.map(|(kinds, bounds)| kinds.with(bounds)),
                    fixed: self.fixed.to_vec(),
                    estimator: checked.estimator,
                    info: &info,
                    options: of.options(),
                    room: GpufitBuffers {
                        parameters: &mut found,
                        states: &mut states,
                        chi2: &mut chi2,
                        iterations: &mut iterations,
                    },
                };
                fit(request, false)?;
                self.write_rows(of.output_parameters, &which, parameters, &found)?;
                self.write_rows(of.output_states, &which, 1, &states)?;
                self.write_rows(of.output_chi_squares, &which, 1, &chi2)?;
                self.write_rows(of.output_n_iterations, &which, 1, &iterations)?;
            }
        }
        Ok(())
    }

    /// Some numbers of an array.
    ///
    /// # Safety
    /// They are there.
    unsafe fn read<T: Copy + Default>(
        &self,
        from: *const T,
        first: usize,
        count: usize,
    ) -> Result<Vec<T>, Wrong> {
        let mut to = vec![T::default(); count];
        if count > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.gpu.copy(to.as_mut_ptr(), from.wrapping_add(first), count)? };
        }
        Ok(to)
    }

    /// Puts numbers into an array.
    ///
    /// # Safety
    /// There is room for them.
    unsafe fn write<T: Copy>(&self, to: *mut T, first: usize, from: &[T]) -> Result<(), Wrong> {
        if !from.is_empty() {
            // SAFETY: the caller's promise.
            unsafe { self.gpu.copy(to.wrapping_add(first), from.as_ptr(), from.len())? };
        }
        Ok(())
    }

    /// Some rows of an array, one after the other.
    ///
    /// # Safety
    /// They are there.
    unsafe fn read_rows<T: Copy + Default>(
        &self,
        from: *const T,
        which: &[usize],
        length: usize,
    ) -> Result<Vec<T>, Wrong> {
        let mut rows = Vec::with_capacity(which.len() * length);
        for run in runs(which) {
            // SAFETY: the caller's promise.
            rows.extend(unsafe { self.read(from, run[0] * length, run.len() * length) }?);
        }
        Ok(rows)
    }

    /// Puts rows into their places.
    ///
    /// # Safety
    /// There is room for them.
    unsafe fn write_rows<T: Copy>(
        &self,
        to: *mut T,
        which: &[usize],
        length: usize,
        rows: &[T],
    ) -> Result<(), Wrong> {
        let mut rest = rows;
        for run in runs(which) {
            let (these, others) = rest.split_at(run.len() * length);
            // SAFETY: the caller's promise.
            unsafe { self.write(to, run[0] * length, these)? };
            rest = others;
        }
        Ok(())
    }
}

/// Numbers that follow each other, together.
fn runs(which: &[usize]) -> impl Iterator<Item = &[usize]> {
    which.chunk_by(|a, b| a + 1 == *b)
}
