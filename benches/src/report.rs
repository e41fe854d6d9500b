//! What the reports share: taking times, and tables that are printed as they grow.

use std::fmt::Display;
use std::time::Instant;

use fit_cpu::InstructionSet;
use fit_tests::statistics::percentile;

/// Whatever went wrong.
pub type AnyError = Box<dyn std::error::Error>;

/// Prints a line. A reader that goes away, as `head` does, is no reason to stop.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// The seconds that something takes, and what comes of it.
///
/// # Errors
/// Those of the work.
pub fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(f64, T), E> {
    let begin = Instant::now();
    let done = work()?;
    Ok((begin.elapsed().as_secs_f64(), done))
}

/// The seconds of some calls, after one that does not count.
///
/// # Errors
/// Those of the work.
pub fn times<T, E>(runs: usize, mut work: impl FnMut() -> Result<T, E>) -> Result<Vec<f64>, E> {
    work()?;
    (0..runs).map(|_| timed(&mut work).map(|(seconds, _)| seconds)).collect()
}

/// The seconds that each call of some works takes by its own clock, in turn.
///
/// # Errors
/// Those of the works.
pub fn in_turn<W, E>(
    runs: usize,
    works: &mut [W],
    mut call: impl FnMut(&mut W) -> Result<f64, E>,
) -> Result<Vec<Vec<f64>>, E> {
    let mut all = vec![Vec::new(); works.len()];
    for _ in 0..runs {
        for (work, times) in works.iter_mut().zip(&mut all) {
            times.push(call(work)?);
        }
    }
    Ok(all)
}

/// The median, the upper of two; NaN if there are none.
pub fn median(values: &[f64]) -> f64 {
    percentile(values, 0.5)
}

/// A number with three digits or more.
pub fn digits(value: f64) -> String {
    let after = (2.0 - value.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.after$}")
}

/// Begins a table, whose columns have `|` between them.
pub fn head(columns: &str) {
    say!("| {columns} |\n|{}", "---|".repeat(columns.split(" | ").count()));
}

/// A row of a table.
pub fn row(cells: &[&dyn Display]) {
    let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
    say!("| {} |", cells.join(" | "));
}

/// The sets of instructions that this processor has.
pub fn sets() -> Vec<InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available()).collect()
}

/// Their names, as columns of a table.
pub fn set_names() -> String {
    sets().into_iter().map(InstructionSet::name).collect::<Vec<_>>().join(" | ")
}

/// A line of what the system says of the memory of this process, in units of 1024 bytes; NaN if there is none.
pub fn memory(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(f64::NAN)
}

/// What a program ends with: what went wrong is told.
pub fn ended<E: Display>(result: Result<(), E>) {
    if let Err(error) = result {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
