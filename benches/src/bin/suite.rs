//! Both papers, reproduced: what `cargo xtask bench` runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use benches::suite::compare::compare;
use benches::suite::methods::Backend;
use benches::suite::record::Record;
use benches::suite::{Settings, SuiteError, report, run};
use clap::Parser;

/// Says something. Who listens may go, as `head` does: the files are made all the same.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// Reproduce every figure and table of both papers on this machine: numbers, pictures and a report.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", max_term_width = 100)]
struct Arguments {
    /// Figures to make, by name or the beginning of it (lw, gpufit, lw-table1, …), separated by commas; all if
    /// none is named.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    figures: Vec<String>,
    /// Backends to measure, separated by commas.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        value_parser = backend,
        default_value = "reference,cpu,gpu,gpu-published,explicit"
    )]
    backends: Vec<Backend>,
    /// A library with Gpufit's C interface to measure beside them, such as gpufit=path/to/libGpufit.so; may be
    /// given several times.
    #[arg(long = "peer", value_name = "NAME=LIBRARY", value_parser = peer)]
    peers: Vec<(String, PathBuf)>,
    /// A short run that checks accuracy; its times are not to be quoted.
    #[arg(long)]
    quick: bool,
    /// The folder for the report and all other files.
    #[arg(long, value_name = "FOLDER", default_value = "spotfit-bench")]
    out: PathBuf,
    /// Go on with the run in that folder.
    #[arg(long)]
    resume: bool,
    /// Seconds that a cell may take; slower ones are shown as missing.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    budget: f64,
    /// The seed of all simulations.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Measure nothing, but show what changed from record A to record B beyond the noise.
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["quick", "resume", "figures", "peers"])]
    compare: Option<Vec<PathBuf>>,
    /// Measure nothing, but make the report anew from a stored record.
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["quick", "resume", "peers", "compare"])]
    render: Option<PathBuf>,
}

fn backend(word: &str) -> Result<Backend, String> {
    let known = Backend::ALL.map(Backend::name).join(", ");
    let find = |backend: &Backend| backend.name() == word;
    Backend::ALL.into_iter().find(find).ok_or_else(|| format!("the backends are {known}"))
}

fn peer(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("it is NAME=LIBRARY")?;
    let taken = Backend::ALL.iter().any(|backend| backend.name() == name);
    if name.is_empty() || taken || name.contains(',') {
        return Err(format!("'{name}' cannot be its name"));
    }
    // A path without a folder would be looked for elsewhere.
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), path))
}

fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "it is a number of seconds".to_owned())?;
    if (0.01..=3600.0).contains(&value) { Ok(value) } else { Err("it is 0.01 to 3600".to_owned()) }
}

fn main() -> ExitCode {
    match bench(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(arguments: &Arguments) -> Result<ExitCode, SuiteError> {
    if let Some([before, after]) = arguments.compare.as_deref() {
        return difference(before, after);
    }
    let summary = match &arguments.render {
        Some(record) => report(&Record::load(record)?, &arguments.figures, &arguments.out)?,
        None => run(&settings(arguments))?,
    };
    for (name, reason) in &summary.missing {
        say!("{name} is missing: {reason}");
    }
    say!("The report is {}.", summary.report.display());
    if summary.failed.is_empty() {
        say!("All {} checks of accuracy hold.", summary.checks);
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{} of {} checks of accuracy do not hold:", summary.failed.len(), summary.checks);
    summary.failed.iter().for_each(|line| eprintln!("  {line}"));
    Ok(ExitCode::FAILURE)
}

fn settings(arguments: &Arguments) -> Settings {
    // Names of folders are nobody else's business.
    let short = |argument: String| match argument.split_once('=') {
        Some((name, path)) if path.contains('/') => {
            let file = path.rsplit('/').next().unwrap_or_default();
            format!("{name}={file}")
        }
        _ if argument.contains('/') => argument.rsplit('/').next().unwrap_or_default().to_owned(),
        _ => argument,
    };
    let words: Vec<String> = std::env::args().skip(1).map(short).collect();
    Settings {
        figures: arguments.figures.clone(),
        backends: arguments.backends.clone(),
        peers: arguments.peers.clone(),
        quick: arguments.quick,
        out: arguments.out.clone(),
        resume: arguments.resume,
        budget: arguments.budget,
        seed: arguments.seed,
        command: format!("cargo xtask bench {}", words.join(" ")),
        compiler: env!("SPOTFIT_COMPILER").to_owned(),
    }
}

fn difference(before: &Path, after: &Path) -> Result<ExitCode, SuiteError> {
    let (before, after) = (Record::load(before)?, Record::load(after)?);
    let changes = compare(&before, &after);
    for (name, about) in [("A", &before.about), ("B", &after.about)] {
        say!("{name}: {}, version {}, {}", about.date, about.version, about.processor);
    }
    for change in &changes {
        say!("{change}");
    }
    let worse = changes.iter().filter(|change| change.worse == Some(true)).count();
    say!("{} changes beyond the noise, {worse} for the worse.", changes.len());
    Ok(if worse == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
