//! Data sets on their way to a device, and what is found on its way back.

use std::ops::Range;
use std::sync::Arc;

use fit_curves::{CurveBatch, Piece};
use fit_gpu_kernel::CurveJob;

use super::double::slot::DoubleSlot;
use super::halves::Halves;
use super::launch_shape::{CurvePlan, LaunchShape};
use super::parts::{begins, common, parts};
use super::search_kind::{Back, Outcomes, SearchKind, gpufit_job};
use crate::GpuError;
use crate::bytes::{Bytes, window_count};
use crate::card::Card;
use crate::driver::{DeviceMemory, Mirror, Stream};

/// Numbers that a warp reads at once. Across the bus it takes two reads where they do not begin at a multiple of so many.
const LINE: usize = 32;

/// What all data sets of a batch have in common.
pub(super) struct Tables {
    /// Weights, variables, start values, lower and upper limits, as far as they are shared.
    numbers: Vec<f32>,
    /// Where each of them begins, in numbers.
    at: [Option<usize>; 5],
    weight_unit: f32,
}

impl Tables {
    pub(super) fn new(batch: &CurveBatch<'_, '_, '_>) -> Self {
        let weighted = batch.curves.weights.is_some() && !batch.has_own_weights();
        let (weights, unit) = weighted.then(|| batch.scaled_weights()).unzip();
        let weight_unit = unit.map_or(0.0, |unit| unit as f32);
        let (mut numbers, at) = common(batch, weights, true, |number| number as f32);
        // What comes after them begins where a warp's read does.
        numbers.resize(numbers.len().next_multiple_of(LINE), 0.0);
        Self { numbers, at, weight_unit }
    }

    /// Puts limits of each data set there: the lower ones, then the upper ones.
    pub(super) fn put_limits(&mut self, limits: [impl Iterator<Item = f32>; 2]) {
        for (at, limits) in self.at[3..].iter_mut().zip(limits) {
            *at = Some(self.numbers.len());
            self.numbers.extend(limits);
        }
    }
}

/// Some data sets on their way.
pub(super) struct CurveSlot {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    pub(super) stream: Stream,
    inputs: Mirror,
    /// Data that the caller pinned.
    data: DeviceMemory,
    found: Mirror,
    /// How many there are; what is wrong with each before it is fitted.
    count: usize,
    wrong: Vec<bool>,
    /// Where start values begin in the inputs, and the numbers from one data set's to the next.
    starts: usize,
    step: usize,
    /// The tables that the device's memory begins with.
    tables_there: Vec<f32>,
    double: Option<DoubleSlot>,
    card: Arc<Card>,
}

impl CurveSlot {
    pub(super) fn new(card: &Arc<Card>) -> Result<Self, GpuError> {
        let context = &card.context;
        Ok(Self {
            stream: Stream::new(context)?,
            inputs: Mirror::new(context)?,
            data: DeviceMemory::new(context, Bytes::NONE)?,
            found: Mirror::new(context)?,
            count: 0,
            wrong: Vec::new(),
            starts: 0,
            step: 0,
            tables_there: Vec::new(),
            double: None,
            card: Arc::clone(card),
        })
    }

    /// Sends the data sets of a piece on their way.
    pub(super) fn send<R: Outcomes>(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        plan: &CurvePlan,
        tables: &Tables,
        halves: Option<&Halves<'_>>,
        piece: &mut Piece<R>,
    ) -> Result<(), GpuError> {
        let shape = &plan.shape;
        let fits = piece.fits();
        let mut task = self.load(batch, shape, tables, halves, fits.clone())?;
        let room = piece.room.pinned();
        if let Some((_, there)) = room.as_ref().filter(|_| shape.mapped) {
            task.found = *there as *mut f32;
        }
        match &shape.kind {
            SearchKind::Gpufit(gpufit) => self.launch(plan, &gpufit_job(gpufit, batch, task))?,
            _ => self.launch(plan, &task)?,
        }
        if let Some(doubling) = &plan.doubling {
            let double = match &mut self.double {
                Some(there) => there,
                none => none.insert(DoubleSlot::new(&self.card)?),
            };
            return double.send(&self.stream, batch, doubling, &task, fits);
        }
        if shape.mapped { Ok(()) } else { self.fetch(shape, room.map(|(numbers, _)| numbers)) }
    }

    /// Makes room for so many data sets. Nothing may be on its way.
    pub(super) fn reserve(
        &mut self,
        shape: &LaunchShape,
        tables: &Tables,
        count: usize,
    ) -> Result<(), GpuError> {
        let shared = tables.numbers.len();
        let numbers = shared + count * shape.widths().iter().sum::<usize>();
        let found = Bytes::of::<f32>(count * shape.found)?;
        self.inputs.here.reserve(Bytes::of::<f32>(numbers)?)?;
        if !matches!(shape.kind, SearchKind::Recorded) {
            self.found.here.reserve(found)?;
        }
        let there = Bytes::of::<f32>(if shape.mapped { shared } else { numbers })?;
        if self.inputs.there.bytes() < there {
            self.tables_there.clear();
            self.inputs.there.reserve(there)?;
        }
        if shape.mapped { Ok(()) } else { self.found.there.reserve(found) }
    }

    /// Copies data sets to the device. Returns what a kernel is to be told of them.
    pub(super) fn load(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        shape: &LaunchShape,
        tables: &Tables,
        halves: Option<&Halves<'_>>,
        fits: Range<usize>,
    ) -> Result<CurveJob, GpuError> {
        let count = fits.len();
        let points = batch.curves.points();
        let widths = shape.widths();
        let shared = tables.numbers.len();
        self.reserve(shape, tables, count)?;
        let halves = halves.is_some_and(|halves| {
            // SAFETY: the stream has been waited for; any bytes are numbers, for each of which there is room in whole words.
            let room = unsafe { self.inputs.here.values::<u16>(2 * shared + points * count) };
            halves.pack(fits.clone(), &mut room[2 * shared..])
        });
        let mut lengths = widths.map(|width| width * count);
        if halves {
            lengths[0] = lengths[0].div_ceil(2).next_multiple_of(LINE).min(lengths[0]);
        }
        let at = begins(shared, lengths);
        let numbers = shared + lengths.iter().sum::<usize>();
        self.wrong.clear();
        if widths[1..].iter().any(|&width| width > 0) {
            self.wrong.resize(count, false);
        }
        // SAFETY: the stream has been waited for; any bytes are numbers.
        let all = unsafe { self.inputs.here.values::<f32>(numbers) };
        let (table, rest) = all.split_at_mut(shared);
        table.copy_from_slice(&tables.numbers);
        let [data, weights, variables, starts, lower, upper] = parts(rest, lengths);
        let wrong = &mut self.wrong;
        let mut flag = |fit: usize, fine: bool| {
            if !fine {
                wrong[fit - fits.start] = true;
            }
        };
        let mut pinned = None;
        match (shape.pinned, batch.curves.data.as_single()) {
            (Some(there), Some(_)) if shape.mapped => {
                pinned = Some((there as *const f32).wrapping_add(fits.start * points));
            }
            (Some(_), Some(all)) => {
                let these = &all[fits.start * points..fits.end * points];
                // SAFETY: the caller's memory stays as it is until the stream has been waited for.
                pinned = Some(unsafe { self.data.receive(&self.stream, these)? });
            }
            _ if halves || data.is_empty() => {}
            _ => batch.read_all_data(fits.clone(), data),
        }
        for (fit, row) in fits.clone().zip(weights.chunks_exact_mut(points.max(1))) {
            flag(fit, batch.read_weights(fit, row));
        }
        for (number, to) in variables.chunks_exact_mut(points.max(1)).enumerate() {
            let fit = fits.start + number / batch.variables;
            flag(fit, batch.read_variable(fit, number % batch.variables, to));
        }
        if widths[3] > 0 {
            batch.read_all_starts(fits.clone(), starts);
            if batch.options.fixed.contains(&true) {
                fits.clone().for_each(|fit| flag(fit, batch.holds(fit)));
            }
        }
        for (number, (lower, upper)) in lower.iter_mut().zip(upper).enumerate() {
            let fit = fits.start + number / widths[4];
            let [low, high] = batch.limit(fit, number % widths[4]);
            (*lower, *upper) = (low as f32, high as f32);
            // Between them there is room that single precision has not.
            flag(fit, low == high || *lower < *upper);
        }
        // What all fits read often is on the device in any case.
        let copied = match shape.mapped {
            true if same(&self.tables_there, &tables.numbers) => 0,
            true => shared,
            false => numbers,
        };
        if copied > 0 {
            self.tables_there.clear();
            if shape.mapped {
                self.tables_there.extend_from_slice(&tables.numbers);
            }
            // SAFETY: the host's memory is written by nobody before the stream has been waited for.
            unsafe { self.inputs.send::<f32>(&self.stream, copied)? };
        }
        let inputs = self.inputs.there.address::<f32>().cast_const();
        let (rows, found) = if shape.mapped {
            let rows = self.inputs.here.device_address::<f32>();
            (rows.cast_const(), self.found.here.device_address())
        } else {
            (inputs, self.found.there.address())
        };
        let place = |part: usize| rows.wrapping_add(at[part]);
        let own = |part: usize, table: usize| match (tables.at[table], widths[part]) {
            (Some(at), _) => inputs.wrapping_add(at),
            (None, 0) => std::ptr::null(),
            (None, _) => place(part),
        };
        let task = CurveJob {
            data: pinned.unwrap_or_else(|| place(0)),
            weights: own(1, 0),
            variables: own(2, 1),
            starts: own(3, 2),
            lower: own(4, 3),
            upper: own(5, 4),
            found,
            count: window_count(count)?,
            halves: halves.into(),
            weight_unit: tables.weight_unit,
            ..shape.job
        };
        self.count = count;
        self.starts = tables.at[2].unwrap_or(at[3]);
        self.step = shape.job.start_step as usize;
        Ok(task)
    }

    /// Fits what was loaded.
    pub(super) fn launch<T: Copy>(&self, plan: &CurvePlan, task: &T) -> Result<(), GpuError> {
        let shape = &plan.shape;
        let fits = shape.threads / shape.job.lanes as usize;
        let blocks = self.count.div_ceil(fits) as u32;
        // SAFETY: docs/gpu-safety.md: there is memory for `count` data sets and all that they come with, and for what is
        // found; it stays as it is until the stream has been waited for. The function is that of the kind of the task.
        unsafe { plan.kept.launch(&self.stream, blocks, shape.threads as u32, shape.shared, task) }
    }

    /// Sends what was found on its way, to pinned memory with room for it or to the slot's own.
    pub(super) fn fetch(
        &mut self,
        shape: &LaunchShape,
        room: Option<&mut [f32]>,
    ) -> Result<(), GpuError> {
        let numbers = self.count * shape.found;
        // SAFETY: nobody looks there before `finish` has waited; the kernel writes every number.
        unsafe {
            match room {
                Some(room) => self.stream.copy_out(&raw mut room[..numbers], &self.found.there),
                None => self.found.send_back::<f32>(&self.stream, numbers),
            }
        }
    }

    /// Waits for what is on its way, and hands it on.
    pub(super) fn finish<R: Outcomes>(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        plan: &CurvePlan,
        piece: &mut Piece<R>,
    ) -> Result<(), GpuError> {
        self.stream.wait()?;
        let (count, shape) = (self.count, &plan.shape);
        let length = if self.step > 0 { count * self.step } else { batch.options.parameters() };
        let comes_back = matches!(shape.kind, SearchKind::Ours | SearchKind::Gpufit(_));
        let numbers = if comes_back { count * shape.found } else { 0 };
        // SAFETY: the stream has got past the copy of that many numbers; start values were written before it.
        let (found, starts, double) = unsafe {
            let starts = &self.inputs.here.values::<f32>(self.starts + length)[self.starts..];
            let double = self.double.as_mut().filter(|_| plan.doubling.is_some());
            (&*self.found.here.values(numbers), starts, double.map(|double| double.found()))
        };
        R::put(piece, batch, &Back { found, starts, step: self.step, wrong: &self.wrong, double });
        Ok(())
    }
}

/// Whether numbers are the same to the bit: 0 and -0 are not.
fn same(one: &[f32], other: &[f32]) -> bool {
    one.iter().map(|number| number.to_bits()).eq(other.iter().map(|number| number.to_bits()))
}
