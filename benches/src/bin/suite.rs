//! Both papers, reproduced: what `cargo xtask bench` runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use benches::suite::compare::compare;
use benches::suite::end_to_end::Programs;
use benches::suite::methods::Backend;
use benches::suite::record::Record;
use benches::suite::{Settings, SuiteError, render, run};
use clap::Parser;

/// Prints a line. A reader that goes away, as `head` does, is no reason to stop.
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
    /// Make only these figures: names or the first letters of names (lw, gpufit, lw-table1, …), separated by commas
    /// [default: all]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    figures: Vec<String>,
    /// Measure these backends, separated by commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        value_parser = backend,
        default_value = "reference,cpu,gpu,gpu-published,explicit"
    )]
    backends: Vec<Backend>,
    /// Also measure a library with Gpufit's C interface, for example gpufit=path/to/libGpufit.so; can be repeated
    #[arg(long = "peer", value_name = "NAME=LIBRARY", value_parser = peer)]
    peers: Vec<(String, PathBuf)>,
    /// The command that end-to-end runs [default: spotfit beside this program]
    #[arg(long, value_name = "COMMAND", value_parser = absolute)]
    spotfit: Option<PathBuf>,
    /// Interpreters of Python in which end-to-end looks for Picasso, SMAPpy and sdt-python, separated by commas
    #[arg(long = "python", value_delimiter = ',', value_name = "LIST", default_value = "python3")]
    pythons: Vec<PathBuf>,
    /// How many times as many windows and frames end-to-end takes: 1 for a million windows and 2000 frames
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    scale: f64,
    /// Check accuracy in a short run; do not quote its times
    #[arg(long)]
    quick: bool,
    /// Write the report and all other files to this folder
    #[arg(long, value_name = "FOLDER", default_value = "spotfit-bench")]
    out: PathBuf,
    /// Continue the run in the output folder
    #[arg(long)]
    resume: bool,
    /// Skip measurements in which a call takes longer than this
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    budget: f64,
    /// Seed of all simulations
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Measure nothing; show what changed from record A to record B beyond the noise
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["quick", "resume", "figures", "peers"])]
    compare: Option<Vec<PathBuf>>,
    /// Measure nothing; make the report of a stored record
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["quick", "resume", "peers", "compare"])]
    render: Option<PathBuf>,
}

fn backend(word: &str) -> Result<Backend, String> {
    let known = Backend::ALL.map(Backend::name).join(", ");
    let find = |backend: &Backend| backend.name() == word;
    Backend::ALL.into_iter().find(find).ok_or_else(|| format!("the backends are {known}"))
}

fn peer(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("expected NAME=LIBRARY")?;
    let taken = Backend::ALL.iter().any(|backend| backend.name() == name);
    if name.is_empty() || taken || name.contains(',') {
        return Err(format!("'{name}' cannot be the name of a library"));
    }
    // A path without a folder would be looked for elsewhere.
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), path))
}

fn absolute(text: &str) -> std::io::Result<PathBuf> {
    std::path::absolute(text)
}

fn scale(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if (0.001..=1000.0).contains(&value) {
        Ok(value)
    } else {
        Err("expected 0.001 to 1000".to_owned())
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if (0.01..=3600.0).contains(&value) {
        Ok(value)
    } else {
        Err("expected 0.01 to 3600 seconds".to_owned())
    }
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
        Some(record) => render(record, &arguments.figures, &arguments.out)?,
        None => run(&settings(arguments))?,
    };
    for line in &summary.missing {
        say!("Not measured: {line}");
    }
    say!("Report: {}", summary.report.display());
    if summary.failed.is_empty() {
        say!("All {} checks of accuracy hold.", summary.checks);
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{} of {} checks of accuracy fail:", summary.failed.len(), summary.checks);
    summary.failed.iter().for_each(|line| eprintln!("  {line}"));
    Ok(ExitCode::FAILURE)
}

fn settings(arguments: &Arguments) -> Settings {
    // Records are shared, and names of folders are private.
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
        programs: Programs {
            command: arguments.spotfit.clone(),
            pythons: arguments.pythons.clone(),
            scale: arguments.scale,
        },
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
