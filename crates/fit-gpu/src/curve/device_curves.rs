//! Gpufit's search for data sets in memory that the device reaches by itself.

use fit_curves::{CurveBatch, CurveOptions, CurveStart, Curves, GpufitOptions, Points};
use fit_formula::Formula;
use fit_gpu_kernel::{CurveJob, GpufitJob};
use ndarray::{ArrayView2, ArrayView3, ShapeBuilder};

use super::CurveGpu;
use super::launch_shape::LaunchShape;
use super::search_kind::{SearchKind, gpufit_job};
use super::slot::Tables;
use crate::GpuError;

static ONE: [f32; 1] = [1.0];

/// Data sets in memory that the device reaches, and room for what is found. The device's addresses.
#[derive(Clone, Copy, Debug)]
pub struct DeviceCurves {
    /// How many there are.
    pub count: usize,
    /// The points of each.
    pub points: usize,
    /// (fit, point).
    pub data: *const f32,
    /// The same, or null.
    pub weights: *const f32,
    /// The values of the only variable, (fit, point); or null, if the points lie elsewhere.
    pub places: *const f32,
    /// (fit, parameter): start values, within the limits, and then what is found.
    pub parameters: *mut f32,
    /// Numbers of [`GpufitState`](fit_engine::gpufit::GpufitState), or [`DeviceCurves::LEFT`].
    pub states: *mut i32,
    /// χ² or the deviance.
    pub chi2: *mut f32,
    /// Steps.
    pub iterations: *mut i32,
}

impl DeviceCurves {
    /// The state of a data set that is left to another fitter, with its start values.
    pub const LEFT: i32 = GpufitJob::LEFT;
}

impl CurveGpu {
    /// Fits data sets where they lie, as [`CurveGpu::fit_gpufit`] does; those that are left have the state [`DeviceCurves::LEFT`]. It waits
    /// for all work of the device's primary context, and for the fits. False if all are left, and nothing is written.
    ///
    /// `points` say where the points lie, if `places` is null.
    ///
    /// # Errors
    /// As [`CurveGpu::fit_gpufit`].
    ///
    /// # Safety
    /// The addresses are the device's, with as many numbers as the fields of [`DeviceCurves`] say; nobody else writes there, or reads what is found,
    /// meanwhile.
    pub unsafe fn fit_gpufit_there(
        &self,
        formula: &Formula,
        points: Points<'_>,
        curves: &DeviceCurves,
        options: &CurveOptions,
        gpufit: &GpufitOptions,
    ) -> Result<bool, GpuError> {
        let _context = self.card.context.enter()?;
        let (count, parameters) = (curves.count, options.parameters());
        // Arrays of these shapes, of whose numbers nobody asks.
        let shown = |width: usize| ArrayView2::from_shape((count, width).strides((0, 0)), &ONE);
        let of_each = (count, 1, curves.points).strides((0, 0, 0));
        let arrays =
            (shown(curves.points), shown(parameters), ArrayView3::from_shape(of_each, &ONE));
        let (Ok(data), Ok(starts), Ok(places)) = arrays else {
            return Err(GpuError::TooManyWindows(count));
        };
        let points = if curves.places.is_null() { points } else { Points::PerFit(places.into()) };
        let mut shapes = Curves::new(data, points);
        if !curves.weights.is_null() {
            if count == 1 {
                // They would be those of all fits.
                return Ok(false);
            }
            shapes = shapes.with_weights(data);
        }
        let start = CurveStart::from(starts);
        let batch = CurveBatch::of_gpufit(formula, &shapes, start, options, true)?;
        let Some(plan) = self.chosen(&batch, SearchKind::Gpufit(*gpufit))? else {
            return Ok(false);
        };
        let mut tables = Tables::new(&batch);
        if plan.shape.job.limit_step > 0 {
            let all = || (0..count).flat_map(|fit| (0..parameters).map(move |j| (fit, j)));
            let limits = |end| all().map(move |(fit, j)| options.limit(fit, j)[end] as f32);
            tables.put_limits([limits(0), limits(1)]);
        }
        // The tables are all that is copied to the device.
        let none = CurveJob { points: 0, start_step: 0, limit_step: 0, ..plan.shape.job };
        let shape = LaunchShape { job: none, found: 0, mapped: false, pinned: None, ..plan.shape };

        // After an error they go, and their streams are waited for.
        let mut slots = self.slots()?;
        let slot = &mut slots[0];
        let there = slot.load(&batch, &shape, &tables, None, 0..count)?;
        let shared = curves.places.is_null();
        let task = CurveJob {
            data: curves.data,
            weights: curves.weights,
            variables: if shared { there.variables } else { curves.places },
            starts: curves.parameters,
            lower: there.lower,
            upper: there.upper,
            count: there.count,
            ..plan.shape.job
        };
        let task = GpufitJob {
            parameters: curves.parameters,
            states: curves.states,
            chi2: curves.chi2,
            iterations: curves.iterations,
            ..gpufit_job(gpufit, &batch, task)
        };
        // What wrote the data may be on its way in another stream.
        self.card.context.wait()?;
        slot.launch(&plan, &task)?;
        slot.stream.wait()?;
        self.slots.give_back(slots);
        Ok(true)
    }

    /// Copies numbers between memories of the host or of a device, after all work of the device's primary context.
    ///
    /// # Errors
    /// [`GpuError`] if the driver knows no such memory.
    ///
    /// # Safety
    /// There are as many numbers at both places, and nobody else writes there.
    pub unsafe fn copy<T: Copy>(
        &self,
        to: *mut T,
        from: *const T,
        count: usize,
    ) -> Result<(), GpuError> {
        let _context = self.card.context.enter()?;
        self.card.context.wait()?;
        let slots = self.slots()?;
        // SAFETY: the caller's promise.
        unsafe { slots[0].stream.fetch(std::ptr::slice_from_raw_parts_mut(to, count), from)? };
        self.slots.give_back(slots);
        Ok(())
    }
}
