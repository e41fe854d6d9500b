//! Measures how well drift is found in simulated tables: `cargo run --release -p benches --bin drift-report -- cases`.
//!
//! Beside what is left of the drift it prints the errors that are stated, so that both can be compared: the ratio is the root
//! mean square, over frames and axes, of what is left in units of the stated error, and 1 if the errors are right.

use std::ops::Range;
use std::path::{Path, PathBuf};

use benches::drift_cases::{
    CASES, DEPTH, Table, case, huge, in_errors, left, rms, structured, unstructured,
};
use benches::report::{ended, head, median, memory, row, timed};
use benches::say;
use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};
use fit_tests::statistics::largest;
use spotfit::drift::{Drift, DriftError, DriftInput, DriftOptions};

/// Measure how well drift is found in simulated tables.
#[derive(Debug, Parser)]
#[command(max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Print every table
    #[arg(long, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Find the drift of nine cases
    Cases {
        /// How many seeds of each, from 0
        #[arg(long, value_name = "NUMBER", default_value_t = 5)]
        seeds: u64,
        /// How many intervals the curve has [default: as many as the data ask for]
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(2..=2048))]
        intervals: Option<u32>,
        /// Which of them [default: all]
        #[arg(value_parser = PossibleValuesParser::new(CASES))]
        names: Vec<String>,
    },
    /// Find the drift of tables that have a structure: is it as near as stated?
    Structured(Seeds),
    /// Look for drift in tables that have no structure: is it refused?
    Unstructured(Seeds),
    /// Find the drift of ten million localizations in 100,000 frames
    Huge,
    /// Write the table of a case and its true drift, NAME-SEED.csv and NAME-SEED-truth.csv
    Write {
        /// Which case
        #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(CASES))]
        case: String,
        /// Its seed
        #[arg(long, value_name = "NUMBER")]
        seed: u64,
        /// The folder to write to
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct Seeds {
    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    from: u64,
    /// The seed after the last
    #[arg(long, value_name = "SEED", default_value_t = 200)]
    to: u64,
}

/// Seconds of the processors that this process took, in steps of 10 ms.
fn processor_seconds() -> f64 {
    /// Ticks of a second, which Linux fixes for programs.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have spaces. User and system time are fields 14 and 15, from 1.
    let after = stat.rsplit_once(')').map_or("", |parts| parts.1);
    let ticks = after.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    ticks.map(|ticks| ticks.unwrap_or(f64::NAN)).sum::<f64>() / TICKS
}

/// What was found in a table.
struct Found {
    drift: Result<Drift, DriftError>,
    /// Seconds of the processors.
    processor: f64,
    /// Seconds on the clock.
    clock: f64,
}

impl Found {
    /// `intervals` is how many the curve has, if that is not left to the data.
    fn new(table: &Table, intervals: Option<u32>) -> Self {
        let (precision, heights) = (table.precision(), table.uncertainty_z());
        let deep = !heights.is_empty();
        let positions = DriftInput {
            frames: &table.frames,
            x: &table.x,
            y: &table.y,
            z: deep.then_some(&table.z[..]),
            uncertainty: Some(&table.uncertainty),
            uncertainty_z: deep.then_some(&heights[..]),
        };
        let range = f64::max(100.0 * precision, 500.0);
        let options = DriftOptions::new(precision, DEPTH * precision)
            .with_range(range)
            .with_knots(intervals.map(|intervals| (table.count / intervals).max(1)));
        let before = processor_seconds();
        let estimate = || Ok::<_, ()>(Drift::estimate(&positions, table.count, &options));
        let (clock, drift) = timed(estimate).expect("no other error");
        Self { drift, processor: processor_seconds() - before, clock }
    }
}

/// How good a drift is, axis by axis and in all.
struct Quality {
    /// The root mean square of what is left of each axis.
    left: Vec<f64>,
    /// The root mean square of the stated error of each axis.
    stated: Vec<f64>,
    /// The root mean square over frames and axes of what is left in units of the stated errors.
    ratio: f64,
    /// The most that is left anywhere in these units.
    most: f64,
}

impl Quality {
    fn new(table: &Table, drift: &Drift) -> Self {
        assert_eq!(drift.frames(), table.count as usize, "{}", table.name);
        let axes = table.axes();
        let found = &[&drift.x[..], &drift.y, &drift.z][..axes];
        let stated = &[&drift.x_error[..], &drift.y_error, &drift.z_error][..axes];
        let off = in_errors(found, stated, &table.truth);
        Self {
            left: (0..axes).map(|axis| rms(&left(found[axis], &table.truth, axis))).collect(),
            stated: stated.iter().map(|stated| rms(stated)).collect(),
            ratio: rms(&off),
            most: largest(off.iter().map(|off| off.abs())),
        }
    }

    fn text(&self) -> String {
        let Self { left, stated, ratio, most } = self;
        let [left, stated] = [left, stated].map(|numbers| list(numbers));
        format!("left {left} nm, stated {stated} nm, ratio {ratio:.2}, at most {most:.1} errors")
    }
}

/// Numbers side by side.
fn list(numbers: &[f64]) -> String {
    numbers.iter().map(|number| format!("{number:.2}")).collect::<Vec<_>>().join(" / ")
}

/// The means of columns of numbers.
fn means<'a>(rows: impl Iterator<Item = &'a Vec<f64>> + Clone) -> Vec<f64> {
    let columns = rows.clone().next().map_or(0, Vec::len);
    let count = rows.clone().count() as f64;
    (0..columns).map(|column| rows.clone().map(|row| row[column]).sum::<f64>() / count).collect()
}

fn cases(names: &[String], seeds: u64, intervals: Option<u32>, verbose: bool) {
    say!("Means of {seeds} seeds; lengths are root mean squares in nm.\n");
    head("case | rows | answered | left | stated | ratio | processor, s | clock, s");
    let chosen = |name: &&str| names.is_empty() || names.iter().any(|chosen| chosen == name);
    for name in CASES.into_iter().filter(chosen) {
        let (mut qualities, mut times, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let mut rows = 0;
        for seed in 0..seeds {
            let table = case(name, seed);
            rows += table.frames.len() as u64;
            let found = Found::new(&table, intervals);
            times.push(vec![found.processor, found.clock]);
            let note = match found.drift {
                Ok(drift) => {
                    let quality = Quality::new(&table, &drift);
                    let text = verbose.then(|| quality.text());
                    qualities.push(quality);
                    text
                }
                Err(error) => Some(error.to_string()),
            };
            notes.extend(note.map(|note| format!("  {name} {seed}: {note}")));
        }
        let of_axes = |of: fn(&Quality) -> &Vec<f64>| list(&means(qualities.iter().map(of)));
        let ratios: Vec<f64> = qualities.iter().map(|quality| quality.ratio).collect();
        let time = means(times.iter());
        let [processor, clock] = [time.first(), time.last()].map(|time| time.unwrap_or(&f64::NAN));
        row(&[
            &name,
            &(rows / seeds.max(1)),
            &qualities.len(),
            &of_axes(|quality| &quality.left),
            &of_axes(|quality| &quality.stated),
            &format!("{:.2} | {processor:.2} | {clock:.2}", rms(&ratios)),
        ]);
        notes.iter().for_each(|note| eprintln!("{note}"));
    }
}

/// What was found in a table, and what is said of it.
fn told(table: &Table, seed: u64, verbose: bool) -> (Found, Option<Quality>, String) {
    let found = Found::new(table, None);
    let quality = found.drift.as_ref().ok().map(|drift| Quality::new(table, drift));
    let end = match (&found.drift, &quality) {
        (Err(error), _) => error.to_string(),
        (_, quality) => quality.as_ref().map(Quality::text).unwrap_or_default(),
    };
    let text = format!("{seed}: {}, {} rows: {end}", table.name, table.frames.len());
    if verbose {
        say!("{text}");
    }
    (found, quality, text)
}

fn with_structure(seeds: Range<u64>, verbose: bool) {
    /// So many of the worst are named.
    const WORST: usize = 10;
    /// Errors that are right to this factor are good enough.
    const GOOD: f64 = 2.0;
    let (mut answered, mut refused) = (Vec::new(), 0usize);
    let (mut processor, mut clock) = (0.0, 0.0);
    for seed in seeds {
        let (found, quality, text) = told(&structured(seed), seed, verbose);
        processor += found.processor;
        clock += found.clock;
        match quality {
            Some(quality) => answered.push((quality.ratio, text)),
            None => refused += 1,
        }
    }
    let ratios: Vec<f64> = answered.iter().map(|found| found.0).collect();
    let good = ratios.iter().filter(|&&ratio| ratio <= GOOD).count();
    say!(
        "{} answered, {refused} refused; {good} with a ratio of {GOOD} or less; overall {:.2}, median {:.2}",
        ratios.len(),
        rms(&ratios),
        median(&ratios)
    );
    say!("{processor:.1} s of the processors, {clock:.1} s on the clock");
    // What is no number is worst.
    answered.sort_by(|a, b| b.0.total_cmp(&a.0));
    say!("The worst:");
    answered.iter().take(WORST).for_each(|found| say!("  {}", found.1));
}

fn without_structure(seeds: Range<u64>, verbose: bool) {
    /// Drift of so many stated errors in any frame is wrong where there is none.
    const WITHIN: f64 = 3.0;
    let (mut refused, mut right, mut wrong) = ([0usize; 3], 0usize, Vec::new());
    for seed in seeds {
        let (found, quality, text) = told(&unstructured(seed), seed, verbose);
        match (found.drift, quality) {
            (Ok(_), Some(quality)) if quality.most <= WITHIN => right += 1,
            (Err(DriftError::Chance { .. }), _) => refused[0] += 1,
            (Err(DriftError::NoOverlap { .. }), _) => refused[1] += 1,
            (Err(DriftError::Few { .. }), _) => refused[2] += 1,
            _ => wrong.push(text),
        }
    }
    let [chance, overlap, few] = refused;
    say!(
        "{} refused ({chance} chance, {overlap} no overlap, {few} few), {right} answered within {WITHIN} errors, {} others",
        chance + overlap + few,
        wrong.len()
    );
    wrong.iter().for_each(|text| say!("  {text}"));
}

fn largest_table() {
    let table = huge(1);
    let (rows, frames) = (table.frames.len(), table.count);
    // Only what the search takes is of interest: the peak begins at what the table takes, where the system allows that.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = memory("VmRSS") / 1024.0;
    let Found { drift, processor, clock } = Found::new(&table, None);
    let most = memory("VmHWM") / 1024.0;
    say!(
        "{rows} rows, {frames} frames: {clock:.1} s on the clock, {processor:.1} s of the processors, {most:.0} MiB at most, \
         {before:.0} MiB before"
    );
    match drift {
        Ok(drift) => say!("{}", Quality::new(&table, &drift).text()),
        Err(error) => say!("{error}"),
    }
}

/// Writes a table, with z only if it has heights, and the drift of each frame.
fn write(name: &str, seed: u64, folder: &Path) -> csv::Result<()> {
    let table = case(name, seed);
    std::fs::create_dir_all(folder)?;
    let columns =
        [("x", &table.x), ("y", &table.y), ("z", &table.z), ("uncertainty", &table.uncertainty)];
    let columns = || columns.iter().filter(|column| !column.1.is_empty());
    let mut rows = csv::Writer::from_path(folder.join(format!("{name}-{seed}.csv")))?;
    rows.write_record(std::iter::once("frame").chain(columns().map(|column| column.0)))?;
    for (row, frame) in table.frames.iter().enumerate() {
        let numbers = columns().map(|column| format!("{:.3}", column.1[row]));
        rows.write_record(std::iter::once(frame.to_string()).chain(numbers))?;
    }
    rows.flush()?;
    let mut truth = csv::Writer::from_path(folder.join(format!("{name}-{seed}-truth.csv")))?;
    truth.write_record(["x", "y", "z"])?;
    for moved in &table.truth {
        truth.write_record(moved.map(|moved| format!("{moved:.3}")))?;
    }
    Ok(truth.flush()?)
}

fn main() {
    let Arguments { what, verbose } = Arguments::parse();
    match what {
        What::Cases { seeds, intervals, names } => cases(&names, seeds, intervals, verbose),
        What::Structured(Seeds { from, to }) => with_structure(from..to, verbose),
        What::Unstructured(Seeds { from, to }) => without_structure(from..to, verbose),
        What::Huge => largest_table(),
        What::Write { case, seed, out } => ended(write(&case, seed, &out)),
    }
}
