//! What the end of a search needs on the device, and what comes back from it.

use std::ops::Range;

use fit_curves::{CurveBatch, Points};
use fit_gpu_kernel::{CurveJob, DoubleJob};

use super::plan::Doubling;
use crate::GpuError;
use crate::bytes::{Bytes, window_count};
use crate::card::Card;
use crate::curve::launch_shape::{THREADS, WARP};
use crate::curve::parts::{begins, parts};
use crate::driver::{Mirror, Stream};

/// Memory for some data sets in double precision.
pub(crate) struct DoubleSlot {
    inputs: Mirror,
    found: Mirror,
    /// The numbers that come back.
    numbers: usize,
}

impl DoubleSlot {
    pub(crate) fn new(card: &Card) -> Result<Self, GpuError> {
        let context = &card.context;
        Ok(Self { inputs: Mirror::new(context)?, found: Mirror::new(context)?, numbers: 0 })
    }

    /// Sends what data sets come with in double precision after their search in single precision, whose task this is, and their end.
    pub(crate) fn send(
        &mut self,
        stream: &Stream,
        batch: &CurveBatch<'_, '_, '_>,
        doubling: &Doubling,
        task: &CurveJob,
        fits: Range<usize>,
    ) -> Result<(), GpuError> {
        let Doubling { ref kept, warp, weighted, ref tables, at, widths, shared } = *doubling;
        let (count, points) = (fits.len(), batch.curves.points());
        let each = [widths[0], widths[1], widths[2], widths[3], widths[3]];
        let total = tables.len() + count * each.iter().sum::<usize>();
        self.inputs.reserve(Bytes::of::<f64>(total)?)?;
        let options = batch.options;
        self.numbers = count * DoubleJob::found_numbers(options.parameters(), options.covariance);
        self.found.reserve(Bytes::of::<f64>(self.numbers)?)?;
        // SAFETY: the stream has been waited for before this slot was used again; any bytes are numbers.
        let all = unsafe { self.inputs.here.values::<f64>(total) };
        let (to, rest) = all.split_at_mut(tables.len());
        to.copy_from_slice(tables);
        let lengths = each.map(|width| count * width);
        let begins = begins(tables.len(), lengths);
        for (which, rows) in parts(rest, lengths).into_iter().enumerate() {
            for (row, fit) in rows.chunks_exact_mut(each[which].max(1)).zip(fits.clone()) {
                read(batch, which, fit, points, row);
            }
        }
        // SAFETY: the host's memory is written by nobody before the stream has been waited for.
        let inputs = unsafe { self.inputs.send::<f64>(stream, total)? };
        let own =
            |part: usize, table: usize| inputs.wrapping_add(at[table].unwrap_or(begins[part]));
        let lanes = if warp { WARP } else { 1 };
        let null = std::ptr::null;
        let job = DoubleJob {
            single: CurveJob {
                lanes: lanes as u32,
                own_weights: 0,
                own_variables: 0,
                start_step: 0,
                limit_step: 0,
                count: window_count(count)?,
                ..*task
            },
            data: if widths[0] > 0 { inputs.wrapping_add(begins[0]) } else { null() },
            weights: if weighted { own(1, 0) } else { null() },
            variables: own(2, 1),
            lower: own(3, 3),
            upper: own(4, 4),
            found: self.found.there.address(),
            weight_step: widths[1] as u32,
            variable_step: widths[2] as u32,
            limit_step: widths[3] as u32,
            covariance: u32::from(batch.options.covariance),
            absolute: u32::from(batch.options.absolute),
        };
        let in_block = THREADS / lanes;
        let blocks = count.div_ceil(in_block) as u32;
        // SAFETY: docs/gpu-safety.md: the search in single precision has the same data and comes before in the stream; there is memory for
        // `count` data sets and what is found, which stays as it is until the stream has been waited for.
        unsafe { kept.launch(stream, blocks, THREADS as u32, shared, &job)? };
        // SAFETY: nobody looks there before the stream has been waited for; the kernel writes what is looked at.
        unsafe { self.found.send_back::<f64>(stream, self.numbers) }
    }

    /// What came back.
    ///
    /// # Safety
    /// The stream has been waited for.
    pub(crate) unsafe fn found(&mut self) -> &[f64] {
        // SAFETY: the caller's promise; any bytes are numbers.
        unsafe { self.found.here.values(self.numbers) }
    }
}

/// Reads numbers of a data set: data, weights, variables, lower limits, upper limits.
fn read(batch: &CurveBatch<'_, '_, '_>, which: usize, fit: usize, points: usize, to: &mut [f64]) {
    match which {
        0 => batch.curves.data.row(fit, to),
        1 => {
            if let Some(weights) = &batch.curves.weights {
                weights.row(fit, to);
            }
        }
        2 => {
            let Points::PerFit(at) = batch.curves.points else { return };
            for (number, to) in to.iter_mut().enumerate() {
                *to = at.get([fit, number / points, number % points]);
            }
        }
        _ => {
            for (j, to) in to.iter_mut().enumerate() {
                *to = batch.limit(fit, j)[which - 3];
            }
        }
    }
}
