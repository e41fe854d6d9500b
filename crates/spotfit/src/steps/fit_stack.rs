//! All that is left of a stack: reading, fitting and writing overlap.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use super::fit::Fitting;
use super::fit_beside::{Beside, FitStackError};
use super::fit_plan::Plan;
use super::fit_table::{FitTable, PIECE};
use super::fit_work::{Source, Tally, Work};
use crate::npy::{MaybeFile, StackReader};
use crate::output::Output;

impl Fitting<'_> {
    /// Fits all windows of a stack that were not read yet, and appends their rows to the table, which is complete if it has those of the
    /// windows before them. Every thread reads, fits and writes a part of them at a time, so that no more than some parts are in memory. The rows are the same for any
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
            fitter: self.fitter,
            options: self.options,
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
        let tally = std::thread::scope(|scope| {
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
        self.add(&tally);
        Ok(())
    }

    fn add(&mut self, tally: &Tally) {
        self.fitting += tally.stages.fit;
        self.counts.join(&tally.counts);
        self.at_limit += tally.at_limit;
        *self.stages.get_or_insert_default() += tally.stages;
    }
}
