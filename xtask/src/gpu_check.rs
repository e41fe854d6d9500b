//! `cargo xtask gpu-check`: what a machine with a GPU says of a change: tests, a search for wrong accesses of memory, bits, and the speeds of
//! the reports beside the last record of the same device.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ptx::root;
use crate::{TaskError, none};

/// The tests in which compute-sanitizer looks for wrong accesses: every way to the device and back, and curves.
const SANITIZED: [(&str, &str); 2] = [
    ("spots", "gpu::all_ways_give_the_same"),
    ("formulas", "limits_hold_what_is_pushed_on_the_gpu"),
];

/// Test programs with tests for a GPU: packages, names, and words in the names of those tests where others are ignored, too.
const TESTS: [(&str, &str, &[&str]); 6] = [
    ("fit-tests", "spots", &[]),
    ("fit-tests", "formulas", &[]),
    ("fit-gpu", "fits", &[]),
    ("spotfit-gpufit", "gpu", &[]),
    ("spotfit-frames", "frames", &["a_gpu"]),
    ("spotfit-tests", "library", &["a_gpu", "the_gpu"]),
];

/// The programs that measure, with their arguments, and whether every line is compared as it is.
const REPORTS: [(&str, &str, &[&str], bool); 4] = [
    ("fit-tests", "bits", &[], true),
    ("benches", "gpu-report", &[], false),
    ("benches", "shape-report", &["gpu"], false),
    ("benches", "curve-report", &["gpu"], false),
];

/// What has fallen to less than this share is told one by one.
const FALLEN: f64 = 0.94;

/// How it is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct GpuCheck {
    /// A folder with programs that were built elsewhere: bits, gpu-report, shape-report, curve-report, and tests by their names (spots,
    /// formulas, fits, gpu, frames, library). Those that are not there are left out. Without it, cargo builds them.
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// Measure only: no tests, and no search for wrong accesses.
    #[arg(long)]
    only_speed: bool,
    /// Write the record of this device, to be committed.
    #[arg(long)]
    write: bool,
}

/// Numbers by what they say of: report, title, row, column.
type Speeds = BTreeMap<String, Speed>;

/// How fast something is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Speed {
    /// So much in a time.
    Rate(f64),
    /// So long.
    Time(f64),
}

impl Speed {
    /// How many times as fast this is.
    fn over(self, before: Self) -> Option<f64> {
        match (self, before) {
            (Self::Rate(now), Self::Rate(before)) => Some(now / before),
            (Self::Time(now), Self::Time(before)) => Some(before / now),
            _ => None,
        }
    }
}

/// What the words over a number say of it: `None` if they say nothing, or that it is no speed.
fn unit(words: &str) -> Option<fn(f64) -> Speed> {
    let has = |all: &[&str]| all.iter().any(|part| words.contains(part));
    if has(&["microseconds", "µs", " ms"]) {
        return Some(Speed::Time);
    }
    has(&["million", "thousand fits", "GB/s"]).then_some(Speed::Rate)
}

/// Columns that are no speeds.
const OTHERS: [&str; 9] = [
    "times",
    "share",
    "of the bus",
    "evaluations",
    "converged",
    "points",
    "first fit",
    "left",
    "alike",
];

/// The speeds in the tables of a report.
fn speeds(report: &str, text: &str) -> Speeds {
    let mut found = Speeds::new();
    let (mut title, mut columns) = (String::new(), Vec::<String>::new());
    for line in text.lines() {
        if line.starts_with('#') {
            title = line.trim_start_matches('#').trim().to_owned();
        }
        let Some(cells) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
            columns.clear();
            continue;
        };
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        if columns.is_empty() {
            columns = cells.iter().map(|&cell| cell.to_owned()).collect();
            continue;
        }
        let number = |cell: &str| cell.split_whitespace().next()?.parse::<f64>().ok();
        // What the first cells of a row are called by.
        let unnamed = |column: &str| OTHERS.iter().any(|other| column.contains(other));
        let named: Vec<&str> = cells
            .iter()
            .zip(&columns)
            .take_while(|(cell, column)| {
                number(cell).is_none() || *column == "side" || *column == "windows"
            })
            .map(|(cell, _)| *cell)
            .collect();
        for (cell, column) in cells.iter().zip(&columns).skip(named.len().max(1)) {
            let unit = if unnamed(column) { None } else { unit(column).or_else(|| unit(&title)) };
            if let (Some(unit), Some(value)) = (unit, number(cell).filter(|value| *value > 0.0)) {
                let key = [report, &title, &named.join(" "), column].join("\t");
                found.insert(key, unit(value));
            }
        }
    }
    found
}

/// A record as it is stored: a line for each speed, and the lines of `bits`.
fn written(speeds: &Speeds, bits: &[String]) -> String {
    let mut text = String::new();
    for (key, speed) in speeds {
        let (kind, value) = match speed {
            Speed::Rate(value) => ("rate", value),
            Speed::Time(value) => ("time", value),
        };
        let _ = writeln!(text, "{key}\t{kind}\t{value}");
    }
    for line in bits {
        let _ = writeln!(text, "bits\t{line}");
    }
    text
}

/// What [`written`] wrote.
fn read(text: &str) -> (Speeds, Vec<String>) {
    let (mut speeds, mut bits) = (Speeds::new(), Vec::new());
    for line in text.lines() {
        if let Some(line) = line.strip_prefix("bits\t") {
            bits.push(line.to_owned());
            continue;
        }
        let mut parts = line.rsplitn(3, '\t');
        let (value, kind, key) = (parts.next(), parts.next(), parts.next());
        let value = value.and_then(|value| value.parse().ok());
        if let (Some(value), Some(kind), Some(key)) = (value, kind, key) {
            let speed = if kind == "time" { Speed::Time(value) } else { Speed::Rate(value) };
            speeds.insert(key.to_owned(), speed);
        }
    }
    (speeds, bits)
}

/// How many times as fast each report is, and what has fallen.
fn compared(now: &Speeds, before: &Speeds) -> (String, Vec<String>) {
    let (mut text, mut fallen) = (String::new(), Vec::new());
    let missing = before.keys().filter(|key| !now.contains_key(*key));
    fallen.extend(missing.map(|key| format!("no longer measured: {}", key.replace('\t', ", "))));
    let mut reports: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (key, speed) in now {
        let Some(ratio) = before.get(key).and_then(|&before| speed.over(before)) else { continue };
        let title = key.rsplit_once('\t').and_then(|(key, _)| key.rsplit_once('\t'));
        reports.entry(title.map_or("", |(title, _)| title)).or_default().push(ratio);
        if ratio < FALLEN {
            fallen.push(format!("{ratio:.2}: {}", key.replace('\t', ", ")));
        }
    }
    for (title, mut ratios) in reports {
        ratios.sort_by(f64::total_cmp);
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let (title, count) = (title.replace('\t', ", "), ratios.len());
        let _ = writeln!(
            text,
            "{mean:.3} ({:.2} to {:.2}, {count}): {title}",
            ratios[0],
            ratios[count - 1]
        );
    }
    (text, fallen)
}

impl GpuCheck {
    /// A program of a package with its arguments; `None` if it was not built elsewhere.
    fn program(
        &self,
        kind: &str,
        package: &str,
        name: &str,
        arguments: &[&str],
    ) -> Option<Command> {
        let mut command = match &self.programs {
            Some(folder) => {
                let path = folder.join(name);
                if !path.is_file() {
                    println!("left out: {name} is not in {}", folder.display());
                    return None;
                }
                Command::new(path.canonicalize().unwrap_or(path))
            }
            None => {
                let mut command = Command::new("cargo");
                let verb = if kind == "test" { ["test", "--locked"] } else { ["run", "--release"] };
                command.args(verb).args(["--package", package, &format!("--{kind}"), name, "--"]);
                command
            }
        };
        command.args(arguments);
        Some(command)
    }

    pub(crate) fn run(&self) -> Result<(), TaskError> {
        let mut wrong = Vec::new();
        if !self.only_speed {
            for (package, name, words) in TESTS {
                // Those that assemble want an assembler, and no GPU.
                let arguments = [&["--ignored", "--skip", "assemble"], words].concat();
                if let Some(command) = self.program("test", package, name, &arguments)
                    && !told(command, package, &format!("tests of {name}"))?
                {
                    wrong.push(format!("tests of {name} failed"));
                }
            }
            self.sanitize(&mut wrong)?;
        }
        let (mut now, mut bits, mut whole) = (Speeds::new(), Vec::new(), true);
        let mut device = String::new();
        for (package, name, arguments, exact) in REPORTS {
            let Some(mut command) = self.program("bin", package, name, arguments) else {
                whole = false;
                continue;
            };
            println!("{name} …");
            let output = command.current_dir(root_or_here()).stderr(Stdio::inherit()).output();
            let output = output.map_err(TaskError::of_file(Path::new(name)))?;
            let text = String::from_utf8_lossy(&output.stdout);
            if !output.status.success() {
                wrong.push(format!("{name} failed: {}", output.status));
            }
            if exact {
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                bits = lines.map(str::to_owned).collect();
            } else {
                if let Some((_, after)) = text.split_once("# Formulas on ") {
                    device = after.split(':').next().unwrap_or_default().trim().to_owned();
                }
                now.extend(speeds(name, &text));
            }
        }
        if device.is_empty() {
            wrong.push("no GPU was measured".to_owned());
            return Err(TaskError::Found(wrong));
        }
        let sound = wrong.is_empty();
        let folder = device.to_lowercase().replace(' ', "-");
        let file = root_or_here().join("benches/records").join(folder).join("gpu-check.tsv");
        match fs::read_to_string(&file) {
            Ok(text) => {
                let (before, bits_before) = read(&text);
                let (text, fallen) = compared(&now, &before);
                println!(
                    "\nTimes as fast as the record of {device} (least to most, how many):\n{text}"
                );
                wrong.extend(fallen);
                let other = bits.iter().filter(|line| !bits_before.contains(line)).count();
                if other > 0 {
                    wrong.push(format!("{other} of {} lines of bits differ", bits.len()));
                }
            }
            Err(_) => println!("\nThere is no record of {device}."),
        }
        if self.write && !(sound && whole) {
            println!("not written: something failed, or was left out");
        } else if self.write {
            let folder = file.parent().unwrap_or(&file);
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&file, written(&now, &bits)))
                .map_err(TaskError::of_file(&file))?;
            println!("written: {}", file.display());
        }
        none(wrong)
    }

    /// Looks for wrong accesses in a few tests, where there is a program for that.
    fn sanitize(&self, wrong: &mut Vec<String>) -> Result<(), TaskError> {
        const TOOL: &str = "compute-sanitizer";
        if Command::new(TOOL).arg("--version").output().is_err() {
            println!("left out: {TOOL} is not on the path");
            return Ok(());
        }
        for (name, test) in SANITIZED {
            let Some(mut command) = self.program("test", "fit-tests", name, &["--ignored", test])
            else {
                continue;
            };
            if self.programs.is_some() {
                let mut tool = Command::new(TOOL);
                tool.args(["--error-exitcode", "9"])
                    .arg(command.get_program())
                    .args(command.get_args());
                command = tool;
            } else {
                let triple = host()?.to_uppercase().replace('-', "_");
                command.env(
                    format!("CARGO_TARGET_{triple}_RUNNER"),
                    format!("{TOOL} --error-exitcode 9"),
                );
            }
            if !told(command, "fit-tests", &format!("{TOOL}: {test}"))? {
                wrong.push(format!("{TOOL} found errors in {test}"));
            }
        }
        Ok(())
    }
}

/// What cargo calls this kind of machine.
fn host() -> Result<String, TaskError> {
    let output = Command::new("rustc").arg("-vV").output();
    let output = output.map_err(TaskError::of_file(Path::new("rustc")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.unwrap_or_default().to_owned())
}

/// Runs tests of a package, whose output is shown. Whether they passed.
fn told(mut command: Command, package: &str, what: &str) -> Result<bool, TaskError> {
    println!("{what} …");
    let folder = root_or_here().join("crates").join(package);
    let folder = if folder.is_dir() { folder } else { PathBuf::from(".") };
    let status = command.current_dir(folder).status();
    Ok(status.map_err(TaskError::of_file(Path::new(what)))?.success())
}

/// The workspace; where this program was brought from elsewhere, the folder that it runs in.
fn root_or_here() -> PathBuf {
    let root = root();
    if root.is_dir() { root } else { PathBuf::from(".") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "# GPU record\n\n## Small batches: microseconds, median (99.9 %)\n\n\
        | windows | session | batch, pinned |\n|---|---|---|\n| 10 | 6.5 (19) | 22.1 (30) |\n\n\
        # Formulas on X: million fits a second, median of 9\n\n\
        | model | points | first fit, s | million fits a second | evaluations | left | pinned |\n|---|---|---|---|---|---|---|\n\
        | `linear` | 30 | 0.21 | 5862 | 2.00 | 0 | 338 |\n";

    /// Proves that tables give speeds by title, row and column, with their direction, and nothing that is no speed.
    #[test]
    fn tables_are_read() {
        let found = speeds("r", REPORT);
        let small = "r\tSmall batches: microseconds, median (99.9 %)\t10";
        let formulas = "r\tFormulas on X: million fits a second, median of 9\t`linear`";
        let expected: Speeds = [
            (format!("{small}\tsession"), Speed::Time(6.5)),
            (format!("{small}\tbatch, pinned"), Speed::Time(22.1)),
            (format!("{formulas}\tmillion fits a second"), Speed::Rate(5862.0)),
            (format!("{formulas}\tpinned"), Speed::Rate(338.0)),
        ]
        .into();
        assert_eq!(found, expected);
        let bits = vec!["side9 0123 converged".to_owned()];
        assert_eq!(read(&written(&found, &bits)), (found, bits));
    }

    /// Proves that what is slower than before is told, times and rates alike, and what is faster is not.
    #[test]
    fn what_has_fallen_is_told() {
        let before = speeds("r", REPORT);
        let (_, fallen) = compared(&before, &before);
        assert!(fallen.is_empty(), "{fallen:?}");
        let now = speeds(
            "r",
            &REPORT.replace("6.5", "9.0").replace("5862", "5000").replace("338", "400"),
        );
        let (text, fallen) = compared(&now, &before);
        assert_eq!(fallen.len(), 2, "{fallen:?}");
        assert!(fallen[0].starts_with("0.85") && fallen[1].starts_with("0.72"), "{fallen:?}");
        assert_eq!(text.lines().count(), 2, "{text}");
        let (_, missing) = compared(&Speeds::new(), &before);
        assert_eq!(missing.len(), 4, "{missing:?}");
    }
}
