//! Both papers, reproduced: what `cargo xtask bench` runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use benches::say;
use benches::suite::compare::compare;
use benches::suite::record::Record;
use benches::suite::{Settings, SuiteError, render, run};
use clap::Parser;

/// Reproduce every figure and table of both papers on this machine: numbers, pictures and a report.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// Measure nothing; show what changed from record A to record B beyond the noise
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["quick", "resume", "figures", "peers"])]
    compare: Option<Vec<PathBuf>>,
    /// Measure nothing; make the report of a stored record
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["quick", "resume", "peers", "compare"])]
    render: Option<PathBuf>,
}

fn main() -> ExitCode {
    bench(&Arguments::parse()).unwrap_or_else(|error| {
        eprintln!("bench: {error}");
        ExitCode::FAILURE
    })
}

fn bench(
    Arguments { settings, compare, render: stored }: &Arguments,
) -> Result<ExitCode, SuiteError> {
    if let Some([before, after]) = compare.as_deref() {
        return difference(before, after);
    }
    let summary = match stored {
        Some(record) => render(record, &settings.figures, &settings.out)?,
        None => run(settings, command())?,
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

/// The command as records have it: they are shared, and names of folders are private.
fn command() -> String {
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let short = |argument: String| match argument.split_once('=') {
        Some((name, path)) if path.contains('/') => format!("{name}={}", file(path)),
        _ => file(&argument),
    };
    let words: Vec<String> = std::env::args().skip(1).map(short).collect();
    format!("cargo xtask bench {}", words.join(" "))
}

fn difference(before: &Path, after: &Path) -> Result<ExitCode, SuiteError> {
    let (before, after) = (Record::load(before)?, Record::load(after)?);
    let changes = compare(&before, &after);
    for (name, about) in [("A", &before.about), ("B", &after.about)] {
        say!("{name}: {}, version {}, {}", about.date, about.version, about.processor);
    }
    changes.iter().for_each(|change| say!("{change}"));
    let worse = changes.iter().filter(|change| change.worse == Some(true)).count();
    say!("{} changes beyond the noise, {worse} for the worse.", changes.len());
    Ok(if worse == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
