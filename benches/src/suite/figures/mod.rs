//! From a record to figures: pictures, tables, what the paper says and what was found.

mod accuracy;
mod bus;
mod gpufit;
mod speed;

use std::fmt::Write as _;

use super::experiments::Experiment;
use super::methods::ONE_CORE;
use super::plot::{Chart, Series};
use super::record::{About, Data, Record};

/// A figure or table that can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name on the command line and of its files.
    pub id: &'static str,
    /// Where it comes from, and what it shows.
    pub title: &'static str,
    /// The measurements it is made of.
    pub experiments: &'static [Experiment],
    make: fn(&Record, &mut Figure),
}

/// All of them, in the order of the report.
pub const ALL: &[Entry] = &[
    entry(
        "lw-fig2",
        "Leutenegger & Weber, Fig. 2: time per call",
        &[Experiment::Grid],
        speed::fig_2,
    ),
    entry(
        "lw-fig3",
        "Leutenegger & Weber, Fig. 3: fits per second",
        &[Experiment::Grid],
        speed::fig_3,
    ),
    entry(
        "lw-fig4",
        "Leutenegger & Weber, Fig. 4: pixels per second",
        &[Experiment::Grid],
        speed::fig_4,
    ),
    entry(
        "lw-fig5",
        "Leutenegger & Weber, Fig. 5: gain over the peer",
        &[Experiment::Grid],
        speed::fig_5,
    ),
    entry(
        "lw-fig6",
        "Leutenegger & Weber, Fig. 6: the same on a second device, the CPU",
        &[Experiment::Grid],
        speed::fig_6,
    ),
    entry("lw-fig7", "Leutenegger & Weber, Fig. 7: errors", &[Experiment::Table1], accuracy::fig_7),
    entry(
        "lw-table1",
        "Leutenegger & Weber, Table 1: errors",
        &[Experiment::Table1],
        accuracy::table_1,
    ),
    entry(
        "lw-fig8",
        "Leutenegger & Weber, Fig. 8: iterations",
        &[Experiment::Table1],
        accuracy::fig_8,
    ),
    entry(
        "lw-stops",
        "Leutenegger & Weber, text below Fig. 8: how fits end",
        &[Experiment::Table1, Experiment::Unfitted],
        accuracy::stops,
    ),
    entry(
        "lw-supplement",
        "Leutenegger & Weber, supplement: errors by size and signal",
        &[Experiment::Supplement],
        accuracy::supplement,
    ),
    entry(
        "gpufit-fig1",
        "Przybylski et al., Fig. 1: speed by number of fits",
        &[Experiment::Number],
        gpufit::p_1,
    ),
    entry(
        "gpufit-fig2",
        "Przybylski et al., Fig. 2: where the time goes",
        &[Experiment::Parts],
        gpufit::p_2,
    ),
    entry(
        "gpufit-fig3a",
        "Przybylski et al., Fig. 3a: other fitters, by number of fits",
        &[Experiment::Number],
        gpufit::p_3a,
    ),
    entry(
        "gpufit-fig3b",
        "Przybylski et al., Fig. 3b: other fitters, by size",
        &[Experiment::Side],
        gpufit::p_3b,
    ),
    entry(
        "gpufit-figs3",
        "Przybylski et al., Fig. S3: precision by signal-to-noise ratio",
        &[Experiment::Snr],
        gpufit::p_s3,
    ),
    entry("bus", "Share of the bus", &[Experiment::Bus], bus::bus),
    entry(
        "latency",
        "Small batches: how long, and how often longer",
        &[Experiment::Latency],
        bus::latency,
    ),
    entry("bound", "Errors against the Cramér–Rao bound", &[Experiment::Bound], accuracy::bound),
    entry("cost", "Cost of a fit by number of fits", &[Experiment::Grid], speed::cost),
];

const fn entry(
    id: &'static str,
    title: &'static str,
    experiments: &'static [Experiment],
    make: fn(&Record, &mut Figure),
) -> Entry {
    Entry { id, title, experiments, make }
}

/// A figure as it is shown.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Its name.
    pub id: &'static str,
    /// Where it comes from, and what it shows.
    pub title: &'static str,
    /// How it was made.
    pub caption: String,
    /// What the paper says, if it is a paper's.
    pub paper: Vec<String>,
    /// What was found.
    pub found: Vec<String>,
    /// What is not there, and why.
    pub missing: Vec<String>,
    /// Pictures: the end of the name, and the SVG.
    pub pictures: Vec<(String, String)>,
    /// A small table to be shown: head and rows.
    pub table: (Vec<String>, Vec<Vec<String>>),
    /// All numbers: head and rows.
    pub numbers: (Vec<&'static str>, Vec<Vec<String>>),
    /// What must be so whatever the machine: what it is, and whether it is.
    pub checks: Vec<(String, bool)>,
}

impl Entry {
    /// The figure from a record.
    pub fn figure(&self, record: &Record) -> Figure {
        let mut figure = Figure { id: self.id, title: self.title, ..Figure::default() };
        let missing = record.about.missing.iter();
        figure.missing = missing.map(|(name, why)| format!("{name}: {why}")).collect();
        (self.make)(record, &mut figure);
        for experiment in self.experiments {
            figure.note_missing(record, experiment.name());
        }
        if figure.pictures.is_empty() && figure.table.1.is_empty() && figure.missing.is_empty() {
            figure.missing.push("nothing was measured".to_owned());
        }
        figure
    }
}

impl Figure {
    fn picture(&mut self, name: &str, chart: &Chart) {
        if chart.series.iter().any(|series| !series.dashed && !series.points.is_empty()) {
            self.pictures.push((name.to_owned(), chart.svg()));
        }
    }

    fn check(&mut self, what: String, holds: bool) {
        self.checks.push((what, holds));
    }

    /// Lists what is missing, by reason.
    fn note_missing(&mut self, record: &Record, experiment: &str) {
        let mut reasons: Vec<(String, Vec<(&str, usize)>)> = Vec::new();
        for cell in record.of(experiment) {
            let Data::Missing(reason) = &cell.data else { continue };
            // Times differ a little from cell to cell.
            let reason = match reason.split(':').next() {
                Some("stopped") => "beyond the time of a cell",
                _ => reason,
            };
            let at = reasons.iter().position(|(other, _)| other == reason);
            let at = at.unwrap_or_else(|| {
                reasons.push((reason.to_owned(), Vec::new()));
                reasons.len() - 1
            });
            let methods = &mut reasons[at].1;
            match methods.iter_mut().find(|(method, _)| *method == cell.method) {
                Some((_, cells)) => *cells += 1,
                None => methods.push((&cell.method, 1)),
            }
        }
        for (reason, methods) in reasons {
            let methods: Vec<String> =
                methods.iter().map(|(method, cells)| format!("{method} ({cells} cells)")).collect();
            let note = format!("{reason}: {}", methods.join(", "));
            if !self.missing.contains(&note) {
                self.missing.push(note);
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn file_name(method: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = method.chars().map(plain).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// The line of a method, which looks the same in all figures.
fn by_method(method: &str, points: Vec<(f64, f64)>) -> Series {
    let known = [
        "reference",
        "cpu",
        ONE_CORE,
        "gpu",
        "gpu-published",
        "explicit",
        "gpufit",
        "cpufit",
        "levenberg-marquardt",
        "varpro",
        "cpu, background ≥ 0",
        "paper's iteration f64",
        "reference f32",
    ];
    let style = known.iter().position(|name| *name == method).unwrap_or(known.len());
    Series::new(method, points).styled(Some(style))
}

/// Whether a method is a library that was given: what it finds is shown, not checked.
fn is_peer(method: &str) -> bool {
    !["reference", "cpu", "explicit", "paper's"].iter().any(|own| method.starts_with(own))
        && !["gpu", "gpu-published"].contains(&method)
}

/// The numbers of a figure as a table of comma-separated values, below lines that begin with `#` and say where,
/// when and how they were measured.
pub fn csv(figure: &Figure, about: &About) -> String {
    let mut text = format!("# {}\n", figure.title);
    for line in about.lines() {
        let _ = writeln!(text, "# {line}");
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let (head, rows) = &figure.numbers;
    // Writing to memory does not fail, and all rows are as long as the head.
    let _ = writer.write_record(head);
    for row in rows {
        let _ = writer.write_record(row);
    }
    text + &String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// What was checked, in words.
pub fn verdict(figures: &[Figure]) -> (usize, Vec<String>) {
    let all =
        || figures.iter().flat_map(|figure| figure.checks.iter().map(move |c| (figure.id, c)));
    let failed = all().filter(|(_, (_, holds))| !holds);
    let failed = failed.map(|(id, (what, _))| {
        let mut line = String::new();
        let _ = write!(line, "{id}: {what}");
        line
    });
    (all().count(), failed.collect())
}
