//! The fitter that all calls share, and what the environment says of it.

use std::env;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fit_cpu::CurveSimd;
use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves, GpufitBuffers, GpufitOptions};
use fit_formula::Formula;
use fit_gpu::{CurveGpu, GpuError};

use crate::error::Wrong;

/// Threads do not follow into a process that was forked, so the fitter belongs to one.
static FITTER: Mutex<Option<(u32, Arc<Fitter>)>> = Mutex::new(None);

/// Fewer fits are done by the CPU before a GPU has them.
const FEW: usize = 100;

/// The CPU, and the first GPU.
pub(crate) struct Fitter {
    cpu: CurveSimd,
    /// Looked for when it is wanted.
    gpu: OnceLock<Result<CurveGpu, GpuError>>,
    /// Whether the process was forked from one that had used the driver, which does not follow.
    is_forked: bool,
}

impl Fitter {
    /// The fitter of this process.
    pub(crate) fn get() -> Result<Arc<Self>, Wrong> {
        let process = std::process::id();
        let lock = || FITTER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((owner, fitter)) = &*lock()
            && *owner == process
        {
            return Ok(fitter.clone());
        }
        // Without the lock: a process that is forked meanwhile would have it for ever, and threads take a while to make.
        let cpu = CurveSimd::new(threads()?, None)?;
        let mut fitter = lock();
        let had_gpu = |other: &Self| other.is_forked || matches!(other.gpu.get(), Some(Ok(_)));
        let is_forked = match &*fitter {
            // Another thread was first.
            Some((owner, fitter)) if *owner == process => return Ok(fitter.clone()),
            Some((_, parent)) => had_gpu(parent),
            None => false,
        };
        let made = Arc::new(Self { cpu, gpu: OnceLock::new(), is_forked });
        if let Some((_, other)) = fitter.replace((process, made.clone())) {
            // Its threads are in another process: nobody can wait for them.
            std::mem::forget(other);
        }
        Ok(made)
    }

    /// The GPU, whether it is used or not.
    pub(crate) fn gpu(&self) -> Result<&CurveGpu, Wrong> {
        if self.is_forked {
            return Err(Wrong::Forked);
        }
        let gpu = self.gpu.get_or_init(|| CurveGpu::new(0));
        gpu.as_ref().map_err(|error| Wrong::Gpu(error.clone()))
    }

    /// What a GPU makes of so many data sets; `None` if the CPU has them, because they are few, or the GPU failed at them.
    fn on_gpu<T>(
        &self,
        fits: usize,
        fit: impl FnOnce(&CurveGpu) -> Result<T, GpuError>,
    ) -> Result<Option<T>, Wrong> {
        let gpu = match Backend::chosen()? {
            Backend::Gpu => Some(self.gpu()?),
            Backend::Auto if fits >= FEW => self.gpu().ok(),
            _ => None,
        };
        match gpu.map(fit).transpose() {
            Err(error) if falls_back(&error)? => Ok(None),
            found => Ok(found?),
        }
    }

    /// Fits by Gpufit's search, `anywhere` or on the CPU.
    pub(crate) fn fit_gpufit(
        &self,
        anywhere: bool,
        formula: &Formula,
        (curves, start): (&Curves<'_>, CurveStart<'_>),
        options: &CurveOptions,
        gpufit: &GpufitOptions,
        mut room: GpufitBuffers<'_>,
    ) -> Result<(), Wrong> {
        let count = curves.count();
        let on = |gpu: &CurveGpu| {
            gpu.fit_gpufit(formula, curves, start, options, gpufit, room.reborrow())
        };
        let left = if anywhere { self.on_gpu(count, on)? } else { None };
        let left = left.filter(|left| left.len() < count);
        if left.as_ref().is_none_or(|left| !left.is_empty()) {
            let those = (left.as_deref(), room);
            self.cpu.fit_gpufit(formula, curves, start, options, gpufit, those)?;
        }
        Ok(())
    }

    /// Fits by our search.
    pub(crate) fn fit(
        &self,
        anywhere: bool,
        formula: &Formula,
        (curves, start): (&Curves<'_>, CurveStart<'_>),
        options: &CurveOptions,
    ) -> Result<CurveFits, Wrong> {
        let count = curves.count();
        let on = |gpu: &CurveGpu| gpu.fit(formula, curves, start, options);
        let found = if anywhere { self.on_gpu(count, on)? } else { None };
        let Some((mut fits, left)) = found.filter(|(_, left)| left.len() < count) else {
            return Ok(self.cpu.fit(formula, curves, start, options)?);
        };
        if !left.is_empty() {
            self.cpu.double().fit_left(formula, curves, start, options, &left, &mut fits)?;
        }
        Ok(fits)
    }
}

/// Whether the CPU does what a GPU failed at: nobody asked for the GPU, and nothing is wrong with the request.
fn falls_back(error: &GpuError) -> Result<bool, Wrong> {
    let is_request = matches!(error, GpuError::Argument(_) | GpuError::Curve(_));
    Ok(!is_request && Backend::chosen()? == Backend::Auto)
}

/// `SPOTFIT_BACKEND`: what `gpufit` fits on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// A GPU where there is one that works and the batch is large, and otherwise the CPU.
    Auto,
    Cpu,
    Gpu,
}

impl Backend {
    pub(crate) fn chosen() -> Result<Self, Wrong> {
        let read = |text: &str| match text {
            "auto" => Some(Self::Auto),
            "cpu" => Some(Self::Cpu),
            "gpu" => Some(Self::Gpu),
            _ => None,
        };
        Ok(setting("BACKEND", "auto, cpu or gpu is needed", read)?.unwrap_or(Self::Auto))
    }
}

/// `SPOTFIT_THREADS`; 0 takes one for each processor.
fn threads() -> Result<usize, Wrong> {
    let wanted = "a number of threads is needed, 0 for one on each processor";
    Ok(setting("THREADS", wanted, |text| text.parse().ok())?.unwrap_or(0))
}

/// `SPOTFIT_STRICT`: whether fits end by our criteria.
pub(crate) fn is_strict() -> Result<bool, Wrong> {
    is_set("STRICT")
}

/// `SPOTFIT_PRETEND_CUDA`: whether programs are told that there is a GPU.
pub(crate) fn pretends() -> Result<bool, Wrong> {
    is_set("PRETEND_CUDA")
}

fn is_set(variable: &'static str) -> Result<bool, Wrong> {
    let read = |text: &str| ["0", "1"].iter().position(|&word| word == text);
    Ok(setting(variable, "1 or 0 is needed", read)? == Some(1))
}

/// What a variable of the environment says; `None` if it is not there, or empty.
fn setting<T>(
    variable: &'static str,
    wanted: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, Wrong> {
    let wrong = |text: &str| Wrong::Setting { variable, value: text.to_owned(), wanted };
    let Some(value) = env::var_os(format!("SPOTFIT_{variable}")) else { return Ok(None) };
    let value = value.into_string().map_err(|odd| wrong(&odd.to_string_lossy()))?;
    match value.trim() {
        "" => Ok(None),
        text => read(text).map(Some).ok_or_else(|| wrong(text)),
    }
}
