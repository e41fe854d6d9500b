//! A stack of windows on its way to outcomes, while Python goes on.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use fit_core::{Fit, Make, Scalar};
use numpy::Element;
use numpy::ndarray::{Axis, Slice};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spotfit::{AnyWindows, Backend, Errors, Start, Weights};

use crate::error;
use crate::numbers;
use crate::pixels::Stack;
use crate::rows::{self, Row};

/// Pixels that are fitted at a time, at first, so that Ctrl-C does not wait long: some ten milliseconds, or what a GPU needs to
/// overlap its copies.
const BLOCK: usize = 1 << 22;
const REFERENCE_BLOCK: usize = 1 << 18;
const GPU_BLOCK: usize = 300_000_000;
/// How often Python is asked whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(50);
/// Blocks that take less are doubled: at the end of each the threads wait for the last of them.
const BRIEF: Duration = Duration::from_millis(40);

/// Raises what Ctrl-C does.
pub(crate) fn check_signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Whether nobody waits any more for what a thread finds.
#[derive(Clone, Default)]
pub(crate) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    pub(crate) fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// What is set then, for those who look at it themselves.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

/// Work that cannot be divided, in a thread of its own, while Python is asked whether Ctrl-C was pressed. If it was, the thread is left
/// behind: it ends where it looks at [`Abandoned`], or with its work.
pub(crate) fn aside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Abandoned) -> T + Send + 'static,
) -> PyResult<T> {
    let abandoned = Abandoned::default();
    let (sender, mut receiver) = mpsc::sync_channel(1);
    let told = abandoned.clone();
    let thread = thread::Builder::new().spawn(move || {
        // It cannot be sent if nobody waits.
        drop(sender.send(work(&told)));
    });
    let thread = thread
        .map_err(|error| PyRuntimeError::new_err(format!("a thread cannot be started: {error}")))?;
    loop {
        let found;
        (found, receiver) = py.detach(move || (receiver.recv_timeout(PATIENCE), receiver));
        match found {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => {
                check_signals(py).inspect_err(|_| abandoned.0.store(true, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => return Err(PyRuntimeError::new_err("a thread ended without an answer")),
            },
        }
    }
}

/// All that a call needs without the interpreter.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) stack: Stack<'a>,
    pub(crate) start: Start<'a>,
    pub(crate) weights: Option<Weights<'a>>,
    pub(crate) fitter: &'a spotfit::Fitter,
    /// Whether a batch may go to the GPU if it is large enough.
    pub(crate) auto: bool,
    pub(crate) errors: bool,
}

/// An outcome where there is none so far.
struct Unfitted;

impl Make for Unfitted {
    type Of<T: Scalar> = Fit<T>;

    fn f32(self) -> Fit<f32> {
        Fit::invalid()
    }

    fn f64(self) -> Fit<f64> {
        Fit::invalid()
    }
}

impl<'a> Work<'a> {
    pub(crate) fn rows<'py, T: Scalar>(
        self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)>
    where
        Row<Fit<T>>: Element,
    {
        self.check()?;
        let mut fits = rows::room::<Fit<T>>(py, self.stack.count)?;
        let mut errors = None;
        if self.errors {
            errors = Some(rows::room::<Errors>(py, self.stack.count)?);
        }
        // SAFETY: nobody else has the arrays, which stay where they are.
        let (of_fits, of_errors) = unsafe {
            let of_errors = errors.as_mut().map(|errors| rows::unfilled::<Errors>(errors));
            (rows::unfilled::<Fit<T>>(&mut fits), of_errors.unwrap_or_default())
        };
        py.detach(|| {
            let fits = rows::filled(of_fits, Row(T::make(Unfitted)))?;
            let errors = rows::filled(of_errors, Row(Errors::unknown()))?;
            self.fit(rows::values::<Fit<T>>(fits), rows::values::<Errors>(errors))
        })?;
        check_signals(py)?;
        Ok((fits.into_any(), errors.map(Bound::into_any)))
    }

    /// What is wrong with the whole call, before anything is made for it.
    fn check(&self) -> PyResult<()> {
        let windows = self.windows(0, self.stack.count);
        let wrong = windows.validate(self.fitter.options(), self.start, self.stack.count);
        wrong.map_err(error::wrong)
    }

    /// The windows from `start` to before `end`, with all that is known of them.
    fn windows(&self, start: usize, end: usize) -> AnyWindows<'a> {
        let windows = self.stack.windows(start, end);
        match self.weights {
            Some(Weights::Windows(mut weights)) => {
                if weights.dim().0 >= end {
                    weights.slice_axis_inplace(Axis(0), Slice::from(start..end));
                }
                windows.with_weights(Weights::Windows(weights))
            }
            Some(frame) => windows.with_weights(frame),
            None => windows,
        }
    }

    fn fit<T: Scalar>(&self, fits: &mut [Fit<T>], errors: &mut [Errors]) -> PyResult<()> {
        let (mut block, grows) = self.block();
        let (mut start, mut asked) = (0, Instant::now());
        while start < self.stack.count {
            if asked.elapsed() > PATIENCE {
                Python::attach(check_signals)?;
                asked = Instant::now();
            }
            let begun = Instant::now();
            let end = self.stack.count.min(start.saturating_add(block));
            let windows = self.windows(start, end);
            let part = numbers::part(self.start, start, end);
            let found = &mut fits[start..end];
            let fitted = self.fitter.fit_windows(windows, part, (&mut *found).into());
            fitted.map_err(error::of_fit)?;
            if self.errors {
                let judged = self.fitter.errors_into(windows, found, &mut errors[start..end]);
                judged.map_err(error::of_fit)?;
            }
            start = end;
            if grows && begun.elapsed() < BRIEF {
                block = block.saturating_mul(2);
            }
        }
        Ok(())
    }

    /// How many windows are fitted at a time, and whether it may be more.
    fn block(&self) -> (usize, bool) {
        let windows = self.windows(0, self.stack.count);
        let each = windows.size().pixels().max(1);
        let all = windows.pixels();
        let (pixels, grows) = match self.fitter.backend_for(all) {
            // Less would never be given to the GPU.
            Backend::Gpu if self.auto => {
                let least = self.fitter.gpu_from().max(GPU_BLOCK).min(all);
                (all.div_ceil(all / least), false)
            }
            Backend::Gpu => (GPU_BLOCK, false),
            Backend::Reference => (REFERENCE_BLOCK, true),
            _ => (BLOCK, true),
        };
        (pixels.div_ceil(each).max(1), grows)
    }
}
