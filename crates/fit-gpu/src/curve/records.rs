//! Outcomes that stay as the device writes them.

use fit_core::Status;
use fit_curves::{
    CurveBatch, CurveOptions, CurvePrecision, CurveStart, Curves, FitBuffers, Piece, Rules,
    SingleFit, SingleFits, pieces,
};
use fit_formula::Formula;

use super::search_kind::{Back, Outcomes, SearchKind};
use super::{CurveGpu, checked};
use crate::{GpuError, PinnedBuffer};

/// Outcomes of fits in pinned memory, as a device writes them: 2P + 8 numbers of single precision for P parameters, and P(P + 1)/2 more with
/// their covariance. To put them into
/// [`fit_curves::CurveFits`] takes a host longer than the bus; here they are turned into outcomes when they are asked for.
///
/// Room that is there is used again, since pinned memory takes the system long to make.
#[derive(Default)]
pub struct CurveRecords {
    memory: Option<PinnedBuffer<f32>>,
    /// The lengths in which parameters are measured, of all fits, or of each.
    lengths: Vec<f32>,
    count: usize,
    /// Nothing, if all are left.
    layout: Option<RecordLayout>,
}

shown!(CurveRecords, own => "CurveRecords {{ {} fits }}", own.count);

/// What is known of a batch.
#[derive(Clone, Copy, Debug)]
struct RecordLayout {
    parameters: usize,
    covariance: bool,
    /// Fits that came back together.
    together: usize,
    /// Numbers of each.
    numbers: usize,
    rules: Rules,
}

/// The outcome of a fit.
#[derive(Clone, Copy, Debug)]
pub struct CurveRecord<'a> {
    single: SingleFit<'a>,
    /// Row after row, each from the diagonal on.
    covariance: &'a [f32],
    rules: Rules,
}

impl CurveRecords {
    /// No outcomes.
    pub const fn new() -> Self {
        Self { memory: None, lengths: Vec::new(), count: 0, layout: None }
    }

    /// How many fits there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The outcome of a fit; `None` if there is no such fit, and for fits that were left to another fitter.
    pub fn get(&self, fit: usize) -> Option<CurveRecord<'_>> {
        let layout = self.layout.filter(|_| fit < self.count)?;
        let RecordLayout { parameters, together, numbers, rules, .. } = layout;
        let first = fit / together * together;
        let these = together.min(self.count - first);
        let found = &self.memory.as_ref()?[first * numbers..][..these * numbers];
        let own = if self.lengths.len() > parameters { fit * parameters } else { 0 };
        let lengths = &self.lengths[own..][..parameters];
        let singles = SingleFits { found, starts: &[], step: 0, wrong: &[] };
        let single = singles.single(fit - first, these, lengths);
        let pairs = if layout.covariance { parameters * (parameters + 1) / 2 } else { 0 };
        let covariance = &found[these * (numbers - pairs)..][(fit - first) * pairs..][..pairs];
        // Those that are left were made invalid.
        let decided = single.ended() != Status::Invalid;
        decided.then_some(CurveRecord { single, covariance, rules })
    }
}

impl<'a> CurveRecord<'a> {
    /// The parameters; one that is held, or ended on a limit, is that value in single precision.
    pub fn parameters(&self) -> &'a [f32] {
        self.single.parameters
    }

    /// The standard error of a parameter; 0 for one that is held.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn error(&self, parameter: usize) -> f64 {
        self.single.error(self.rules, parameter)
    }

    /// The covariance of two parameters; `None` if it was not asked for.
    ///
    /// # Panics
    /// If there are no such parameters.
    pub fn covariance(&self, j: usize, k: usize) -> Option<f64> {
        let parameters = self.single.parameters.len();
        assert!(j < parameters && k < parameters, "there are {parameters} parameters");
        let (j, k) = (j.min(k), j.max(k));
        let element = self.covariance.get(j * parameters - j * (j + 1) / 2 + k)?;
        Some(f64::from(*element) * self.single.covariance_unit(self.rules, [j, k]))
    }

    /// χ² = Σw(f − d)², or the deviance of maximum likelihood.
    pub fn chi2(&self) -> f64 {
        self.single.chi2(self.rules)
    }

    /// Points less parameters that are not held.
    pub fn degrees(&self) -> u32 {
        self.single.counts()[0]
    }

    /// Steps taken.
    pub fn iterations(&self) -> u32 {
        self.single.counts()[1]
    }

    /// Visits to the points.
    pub fn evaluations(&self) -> u32 {
        self.single.counts()[2]
    }

    /// How it ended.
    pub fn status(&self) -> Status {
        self.single.ended()
    }
}

/// Room for fits that come back together.
struct RecordRoom<'c> {
    found: &'c mut [f32],
    /// Where the device sees that.
    there: usize,
    /// Numbers of each fit.
    numbers: usize,
    /// Empty if all fits have the same.
    lengths: &'c mut [f32],
    /// The lengths of all.
    same: &'c [f32],
}

impl FitBuffers for RecordRoom<'_> {
    fn cut(&mut self, fits: usize, count: usize) -> Self {
        let there = self.there;
        self.there += fits * self.numbers * size_of::<f32>();
        let found = self.found.split_off_mut(..fits * self.numbers).unwrap_or_default();
        let lengths = self.lengths.split_off_mut(..fits * count).unwrap_or_default();
        Self { found, there, lengths, ..*self }
    }
}

impl Outcomes for RecordRoom<'_> {
    fn pinned(&mut self) -> Option<(&mut [f32], usize)> {
        Some((self.found, self.there))
    }
    fn put(piece: &mut Piece<Self>, batch: &CurveBatch<'_, '_, '_>, back: &Back<'_>) {
        let (fits, parameters) = (piece.fits(), batch.options.parameters());
        let Self { found, lengths, same, .. } = &mut piece.room;
        for (to, &start) in lengths.iter_mut().zip(back.starts) {
            *to = SingleFit::length(start);
        }
        let lengths = if lengths.is_empty() { same } else { &**lengths };
        let singles = SingleFits { found, starts: &[], step: 0, wrong: back.wrong };
        let left = singles.undecided(Rules::of(batch), [fits.len(), parameters], lengths);
        for fit in left {
            let status = f32::from(Status::Invalid as u8);
            piece.room.found[SingleFits::status_at(fit, fits.len(), parameters)] = status;
            piece.leave(fits.start + fit);
        }
    }
}

impl CurveGpu {
    /// Fits a formula to curves and leaves the outcomes as they come. From data in a [`PinnedBuffer`] this takes little longer than the bus does. Also returns
    /// which of them are left to another fitter, in rising order.
    ///
    /// ```no_run
    /// use fit_curves::{CurveOptions, Curves, Points};
    /// use fit_formula::Formula;
    /// use fit_gpu::{CurveGpu, CurveRecords, PinnedBuffer};
    /// use ndarray::ArrayView2;
    ///
    /// let gpu = CurveGpu::new(0)?;
    /// let decay = Formula::new("a*exp(-x/t) + c", &["x"], &["a", "t", "c"])?;
    /// let mut data = PinnedBuffer::<f32>::new(1_000_000 * 30)?;
    /// data.fill(1.0); // What was measured.
    /// let view = ArrayView2::from_shape((1_000_000, 30), &data[..])?;
    /// let curves = Curves::new(view, Points::Index);
    /// let mut records = CurveRecords::new();
    /// let start = [10.0, 3.0, 0.0];
    /// let left = gpu.fit_records(&decay, &curves, (&start).into(), &CurveOptions::new(3), &mut records)?;
    /// if let Some(first) = records.get(0) {
    ///     println!("t = {} ± {}", first.parameters()[1], first.error(1));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`CurveGpu::fit`]. After an error there are no outcomes.
    pub fn fit_records(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        records: &mut CurveRecords,
    ) -> Result<Vec<usize>, GpuError> {
        (records.count, records.layout) = (0, None);
        let _context = self.card.context.enter()?;
        let count = curves.count();
        let batch = checked(formula, curves, start, options)?;
        let chosen = match options.precision {
            // They are numbers of single precision.
            CurvePrecision::F64 => None,
            _ => self.chosen(&batch, SearchKind::Recorded)?,
        };
        let Some(plan) = chosen else {
            records.count = count;
            return Ok((0..count).collect());
        };
        let (parameters, together) = (options.parameters(), plan.shape.fits_of(&batch).min(count));
        let numbers = plan.shape.found;
        let wanted = count.checked_mul(numbers).ok_or(GpuError::TooManyWindows(count))?;
        let large = records.memory.take().filter(|memory| memory.len() >= wanted);
        let memory = large.map_or_else(|| PinnedBuffer::on(&self.card, wanted), Ok)?;
        let memory = records.memory.insert(memory);
        let there = memory.device_address();
        let own = !batch.has_same_start();
        let same: Vec<f32> = match own {
            true => Vec::new(),
            false => (0..parameters).map(|j| SingleFit::length(batch.start(0, j) as f32)).collect(),
        };
        records.lengths.resize(if own { count * parameters } else { 0 }, 0.0);
        let found = &mut memory[..wanted];
        let lengths = &mut records.lengths[..];
        let room = RecordRoom { found, there: there.addr(), numbers, lengths, same: &same };
        let left = self.run(&batch, &plan, pieces(room, count, parameters, together))?;
        if !own {
            records.lengths = same;
        }
        let rules = Rules::of(&batch);
        let covariance = options.covariance;
        records.count = count;
        records.layout = Some(RecordLayout { parameters, covariance, together, numbers, rules });
        Ok(left)
    }
}
