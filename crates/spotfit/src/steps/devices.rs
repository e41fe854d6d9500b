//! How fast this machine is, and which jobs [`Backend::Auto`](crate::Backend::Auto) gives to its GPU.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::StepError;
use crate::Estimator;
use crate::measure::measure_speeds;
use crate::speeds::{Rates, Speeds, SpeedsError};

/// How fast this machine is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SpeedsReport {
    /// What is known of it.
    pub speeds: Speeds,
    /// The file that has it; none for the default speeds.
    pub file: Option<PathBuf>,
    /// Threads on the CPU, which the GPU is compared with.
    pub threads: usize,
    /// The least job, in the unit of its rates, that the GPU does sooner than these threads, by the names of the rates; none where none is.
    /// `curve` fits in double precision unless the GPU is asked for: its number tells where that is faster.
    pub gpu_from: BTreeMap<&'static str, f64>,
    /// The same for windows of a file whose outcomes become a table.
    pub file_gpu_from: BTreeMap<&'static str, f64>,
    /// Why no GPU was measured.
    pub no_gpu: Option<String>,
}

impl SpeedsReport {
    fn new(speeds: Speeds, file: Option<PathBuf>, no_gpu: Option<String>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let from = |rates: Rates| rates.gpu_from(speeds.context, threads);
        let gpu_from = rows(&speeds).into_iter();
        let gpu_from = gpu_from.filter_map(|(name, _, _, rates)| Some((name, from(rates)?)));
        let gpu_from = gpu_from.collect();
        let estimators = [
            ("least_squares", Estimator::LeastSquares),
            ("likelihood", Estimator::MaximumLikelihood),
        ];
        let file_gpu_from = estimators
            .map(|(name, estimator)| (name, speeds.file_on_gpu_from(estimator, threads)))
            .into_iter()
            .filter(|&(_, least)| least < usize::MAX)
            .map(|(name, least)| (name, least as f64))
            .collect();
        Self { speeds, file, threads, gpu_from, file_gpu_from, no_gpu }
    }
}

/// The names of the rates, the jobs, and the unit of the rates.
fn rows(speeds: &Speeds) -> [(&'static str, &'static str, &'static str, Rates); 4] {
    let Speeds { least_squares, likelihood, localize, curve, .. } = *speeds;
    [
        ("least_squares", "fit by least squares", "pixels of windows", least_squares),
        ("likelihood", "fit by maximum likelihood", "pixels of windows", likelihood),
        ("localize", "localize", "pixels of frames", localize),
        ("curve", "curve", "numbers", curve),
    ]
}

/// How fast this machine is, as far as it is known: by the file of this user, or else as the machine of [`Speeds::default`].
///
/// # Errors
/// [`StepError::Refused`] for a file that cannot be read.
pub fn known() -> Result<SpeedsReport, StepError> {
    let path = Speeds::path();
    let read = path.as_deref().map(Speeds::read).transpose().map_err(StepError::refused)?;
    Ok(match read.flatten() {
        Some(speeds) => SpeedsReport::new(speeds, path, None),
        None => SpeedsReport::new(Speeds::default(), None, None),
    })
}

/// Measures how fast this machine is, which takes some seconds, and keeps it in the file of this user.
///
/// # Errors
/// [`StepError::Refused`].
pub fn measure() -> Result<SpeedsReport, StepError> {
    // Whatever is wrong with the folder is told before anybody waits.
    let path = Speeds::path().ok_or_else(SpeedsError::no_folder).map_err(StepError::refused)?;
    Speeds::make_room(&path).map_err(StepError::refused)?;
    let (speeds, no_gpu) = measure_speeds().map_err(StepError::refused)?;
    speeds.save(&path).map_err(StepError::refused)?;
    Ok(SpeedsReport::new(speeds, Some(path), no_gpu))
}

/// A number with its multiple.
fn short(number: f64) -> String {
    match number {
        number if number >= 1e9 => format!("{:.1} billion", number / 1e9),
        number => format!("{:.1} million", number / 1e6),
    }
}

impl fmt::Display for SpeedsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { speeds, file, threads, gpu_from, file_gpu_from, no_gpu } = self;
        let whose = file.as_ref().map(|file| format!("speeds of {}", file.display()));
        let default = || {
            "default speeds, those of an H100 and its host; --measure measures this machine".into()
        };
        let mut said = vec![whose.unwrap_or_else(default)];
        for (name, job, unit, rates) in rows(speeds) {
            said.push(format!("\n{job}: {} {unit} a second by each thread", short(rates.thread)));
            said.extend(rates.gpu.map(|gpu| format!(", {} by the GPU", short(gpu))));
            let (from, from_file) = (gpu_from.get(name), file_gpu_from.get(name));
            said.extend(from.map(|from| {
                format!(", which does {} sooner than {threads} threads", short(*from))
            }));
            said.extend(from_file.map(|from| format!(", from a file to a table {}", short(*from))));
            if from.is_some() && from_file.is_none() && unit == "pixels of windows" {
                said.push(", but not from a file to a table".to_owned());
            }
        }
        said.push(match no_gpu {
            Some(reason) => format!("\nno GPU was measured: {reason}"),
            None => format!("\nthe GPU starts within {:.2} s", speeds.context),
        });
        f.write_str(&said.concat())
    }
}
