//! All that is left of a stack: threads read, fit and write a part of the windows each, and take the next part.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::fit::Fitting;
use super::fit_beside::{Beside, FitStackError};
use super::fit_plan::Plan;
use super::fit_table::{FitRows, FitTable, PIECE, StandardErrors, pieces, write_rows};
use super::fitted::Tally;
use crate::npy::{MaybeFile, NpyError, NpyHeader, StackReader, WindowBuffer};
use crate::output::{Output, ParallelOutput};
use crate::{Errors, Fit, Fitter};

impl Fitting<'_> {
    /// Fits all windows of a stack that were not read yet, and appends their rows to the table. Every thread reads, fits and writes a part of them at a time, so that no more than some parts are in memory. The rows are the same for any
    /// number of threads. The stack is at its end afterwards.
    ///
    /// `go_on` is asked before each part.
    ///
    /// # Errors
    /// [`FitStackError`].
    ///
    /// ```
    /// use spotfit::npy::{StackReader, write_header};
    /// use spotfit::output::Output;
    /// use spotfit::steps::fit::{FitOptions, FitTable, Fitting};
    /// use spotfit::steps::{OutcomeFormat, Silent};
    /// use spotfit::{Fitter, FitterOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let (spots, fits) = (folder.path().join("spots.npy"), folder.path().join("fits.csv"));
    /// let mut file = Vec::new();
    /// write_header(&mut file, "'|u1'", &[2, 9, 9])?;
    /// file.extend((0..162).map(|i| (i * 7 % 13) as u8));
    /// std::fs::write(&spots, file)?;
    ///
    /// let fitter = Fitter::new(&FitterOptions::default())?;
    /// let mut stack = StackReader::open(&spots)?;
    /// let output = Output::create(&fits)?;
    /// let (format, options) = (OutcomeFormat::Csv, fitter.options());
    /// let mut table = FitTable::create(output, format, stack.count(), options, true, false)?;
    /// let mut fitting = Fitting::begin(&fitter, &FitOptions::default(), false, &Silent);
    /// let fitted = fitting.fit_stack(&mut stack, &(), &mut table, &|| true);
    /// assert!(fitted.is_ok());
    /// table.into_inner().finish()?;
    /// assert_eq!(fitting.finish(Vec::new()).spots, 2);
    /// assert_eq!(std::fs::read_to_string(&fits)?.lines().count(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_stack<R: MaybeFile + Send + Sync, B: Beside>(
        &mut self,
        stack: &mut StackReader<R>,
        beside: &B,
        table: &mut FitTable<Output>,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), FitStackError<B::Error>> {
        let plan = Plan::new(self.fitter, stack);
        let (count, first) = (stack.left(), table.spot);
        let FitTable { output, rows, spot } = table;
        let output =
            output.parallel(plan.waiting() * plan.pieces(PIECE)).map_err(FitStackError::Write)?;
        let header = stack.header().clone();
        let source = if stack.reads_anywhere() {
            Source::Anywhere(&*stack)
        } else {
            Source::InTurn(Mutex::new(&mut *stack))
        };
        let work = Work {
            plan,
            fitting: self,
            count,
            header,
            source,
            beside,
            rows,
            output,
            first,
            go_on,
            turn: Mutex::new(0),
            device: Mutex::new(()),
            stopped: AtomicBool::new(false),
            failed: Mutex::new(None),
        };
        let mut tally = std::thread::scope(|scope| {
            // Where no thread can be started, those that were do the work.
            let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, || work.run()).ok();
            let others: Vec<_> = (1..plan.workers).map_while(spawn).collect();
            let workers = 1 + others.len();
            let mut tally = work.run();
            for other in others {
                let joined = other.join();
                tally.add(&joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            // A GPU fits for one of them at a time, and all threads read and write for it.
            let at_once = if plan.all_threads { 1 } else { workers };
            Tally { stages: tally.stages.mean(at_once, workers), ..tally }
        });
        let Work { output, failed, .. } = work;
        if let Some((_, error)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        output.finish().map_err(FitStackError::Write)?;
        stack.skip_rest().map_err(FitStackError::Read)?;
        *spot += count;
        tally.add(&self.tally);
        self.tally = tally;
        Ok(())
    }
}

/// Where windows come from.
enum Source<'s, R> {
    /// A file, which all threads read at once.
    Anywhere(&'s StackReader<R>),
    /// What can only be read in its order.
    InTurn(Mutex<&'s mut StackReader<R>>),
}

/// What all threads work at.
struct Work<'w, R, B: Beside> {
    plan: Plan,
    fitting: &'w Fitting<'w>,
    /// All windows that were not read before.
    count: usize,
    header: NpyHeader,
    source: Source<'w, R>,
    beside: &'w B,
    rows: &'w FitRows,
    output: ParallelOutput<'w>,
    /// The number of the first window in the table.
    first: usize,
    go_on: &'w (dyn Fn() -> bool + Sync),
    /// The first window that no thread has taken.
    turn: Mutex<usize>,
    /// Whoever fits on the GPU.
    device: Mutex<()>,
    stopped: AtomicBool,
    /// The first part that failed.
    failed: Mutex<Option<(usize, FitStackError<B::Error>)>>,
}

/// The memory of a thread, and a part of the windows in it.
struct Part<B> {
    /// Its number, its first window, and how many they are.
    number: usize,
    first: usize,
    count: usize,
    windows: WindowBuffer,
    beside: B,
    fits: Vec<Fit<f64>>,
    errors: Vec<Errors>,
    bytes: Vec<u8>,
}

/// Lets no thread wait for one that panics.
struct Guard<'g, 'w, R, B: Beside>(&'g Work<'w, R, B>);

impl<R, B: Beside> Drop for Guard<'_, '_, R, B> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked has stopped the work.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time since then, which is then now.
fn lap(since: &mut Instant) -> Duration {
    let now = Instant::now();
    now.duration_since(std::mem::replace(since, now))
}

type Failed<B> = FitStackError<<B as Beside>::Error>;

impl<R: MaybeFile + Send + Sync, B: Beside> Work<'_, R, B> {
    /// Does parts until there are no more.
    fn run(&self) -> Tally {
        let _guard = Guard(self);
        let mut tally = Tally::default();
        let own = self.plan.own_fitter(self.fitting.fitter).map(|options| Fitter::new(&options));
        let fitter = match &own {
            None => self.fitting.fitter,
            Some(Ok(fitter)) => fitter,
            Some(Err(_)) => {
                if let Some(Err(error)) = own {
                    self.fail(0, FitStackError::Fit(error));
                }
                return tally;
            }
        };
        let mut part = Part {
            number: 0,
            first: 0,
            count: 0,
            windows: self.buffer(),
            beside: B::Part::default(),
            fits: Vec::new(),
            errors: Vec::new(),
            bytes: Vec::new(),
        };
        while self.take(&mut part, &mut tally) {
            if let Err(error) = self.fit(fitter, &mut part, &mut tally) {
                self.fail(part.number, error);
            }
        }
        tally
    }

    /// Memory for the windows of a part.
    fn buffer(&self) -> WindowBuffer {
        #[cfg(feature = "gpu")]
        if self.plan.all_threads {
            let pinned = || self.fitting.fitter.pinned(self.plan.bytes);
            return WindowBuffer::pinned(&self.header, pinned);
        }
        WindowBuffer::new(&self.header)
    }

    /// Takes the next part, and all of it that is read in turn. False at the end.
    fn take(&self, part: &mut Part<B::Part>, tally: &mut Tally) -> bool {
        let mut since = Instant::now();
        let mut turn = locked(&self.turn);
        tally.stages.waited += lap(&mut since);
        if self.stopped.load(Ordering::Relaxed) || *turn == self.count {
            return false;
        }
        part.first = *turn;
        part.number = *turn / self.plan.windows;
        part.count = self.plan.windows.min(self.count - *turn);
        *turn += part.count;
        let taken = self.take_in_turn(part);
        tally.stages.read += lap(&mut since);
        // While the turn is held, so that nobody takes what comes after an error.
        taken.map_err(|error| self.fail(part.number, error)).is_ok()
    }

    fn take_in_turn(&self, part: &mut Part<B::Part>) -> Result<(), Failed<B>> {
        if !(self.go_on)() {
            return Err(FitStackError::Cancelled);
        }
        if let Source::InTurn(stack) = &self.source {
            let read = locked(stack).read_into(part.count, &mut part.windows);
            read.map_err(FitStackError::Read)?;
        }
        self.beside.next(part.count, &mut part.beside).map_err(FitStackError::Beside)
    }

    /// Reads, fits and writes a part.
    fn fit(
        &self,
        fitter: &Fitter,
        part: &mut Part<B::Part>,
        tally: &mut Tally,
    ) -> Result<(), Failed<B>> {
        let mut since = Instant::now();
        let Part { first, count, windows, beside, fits, errors, .. } = part;
        if let Source::Anywhere(stack) = &self.source {
            let read = stack.read_at(*first, *count, self.plan.all_threads, windows);
            read.map_err(FitStackError::Read)?;
        }
        self.beside.load(beside).map_err(FitStackError::Beside)?;
        tally.stages.read += lap(&mut since);
        let device = self.plan.all_threads.then(|| locked(&self.device));
        tally.stages.waited += lap(&mut since);
        let too_large = || NpyError::TooLarge(format!("{:?}", self.header.shape));
        let windows = windows.windows().ok_or_else(|| FitStackError::Read(too_large()))?;
        let (windows, start) = self.beside.give(beside, windows);
        fits.resize(*count, Fit::invalid());
        let mut fitted = fitter.fit_windows(windows, start, fits.as_mut_slice().into());
        if self.fitting.options.errors && fitted.is_ok() {
            errors.resize(*count, Errors::unknown());
            fitted = fitter.errors_into(windows, fits, errors);
        }
        drop(device);
        fitted.map_err(FitStackError::Fit)?;
        tally.stages.fit += lap(&mut since);
        tally.counts.add(fits);
        tally.at_limit += self.fitting.options.limits.count(fits, windows.size());
        let waited = self.write(part).map_err(FitStackError::Write)?;
        tally.stages.waited += waited;
        tally.stages.write += lap(&mut since).saturating_sub(waited);
        Ok(())
    }

    /// Writes the rows of a part. The result is how long that had to wait.
    fn write(&self, part: &mut Part<B::Part>) -> std::io::Result<Duration> {
        let Part { number, first, fits, errors, bytes, .. } = part;
        let (rows, spot) = (self.rows, self.first + *first);
        let of = |index: usize| StandardErrors::at(errors, index);
        let row = rows.row_bytes().filter(|_| self.output.writes_anywhere());
        match (row, self.plan.all_threads) {
            (Some(row), false) => {
                bytes.clear();
                write_rows(rows, spot, fits, of, bytes);
                self.output.put_at((*first * row) as u64, bytes)?;
                Ok(Duration::ZERO)
            }
            (Some(row), true) => {
                let make = |bytes: &mut Vec<u8>, (piece, fits): (usize, &[Fit<f64>])| {
                    let begin = piece * PIECE;
                    bytes.clear();
                    write_rows(rows, spot + begin, fits, |index| of(begin + index), bytes);
                    self.output.put_at(((*first + begin) * row) as u64, bytes)
                };
                let pieces = fits.par_chunks(PIECE).enumerate();
                pieces.try_for_each_init(Vec::new, make)?;
                Ok(Duration::ZERO)
            }
            (None, false) => {
                write_rows(rows, spot, fits, of, bytes);
                self.output.put(*number, bytes)
            }
            (None, true) => {
                let first = *number * self.plan.pieces(PIECE);
                let made = pieces(rows, spot, fits, &of);
                (first..).zip(made).try_fold(Duration::ZERO, |waited, (number, mut piece)| {
                    Ok(waited + self.output.put(number, &mut piece)?)
                })
            }
        }
    }
}

impl<R, B: Beside> Work<'_, R, B> {
    /// Ends the work because of a part. What is told is the error of the first such part: all before it were taken, and are done.
    fn fail(&self, number: usize, error: Failed<B>) {
        let mut failed = locked(&self.failed);
        if failed.as_ref().is_none_or(|(first, _)| number < *first) {
            *failed = Some((number, error));
        }
        drop(failed);
        self.stop();
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.output.stop();
    }
}
