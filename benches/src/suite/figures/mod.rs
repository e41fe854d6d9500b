//! From a record to figures: pictures, tables, what the paper says and what was found.

mod accuracy;
mod bound;
mod bus;
mod crowds;
mod end_to_end;
mod ends;
mod formulas;
pub(super) mod gpufit;
mod speed;
mod stated;
mod supplement;

pub(super) use accuracy::difference;

use super::experiments::Experiment;
use super::methods::ONE_CORE;
use super::record::{About, Record};
use spotfit::report::svg::{Axis, Chart, Series};

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
        "Leutenegger & Weber, Fig. 5: gain over Gpufit",
        &[Experiment::Grid],
        speed::fig_5,
    ),
    entry(
        "lw-fig6",
        "Leutenegger & Weber, Fig. 6: gain on a second device, the CPU",
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
        ends::stops,
    ),
    entry(
        "lw-supplement",
        "Leutenegger & Weber, supplement: errors by size and signal",
        &[Experiment::Supplement],
        supplement::supplement,
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
        "Przybylski et al., Fig. 3a: other programs, by number of fits",
        &[Experiment::Number],
        gpufit::p_3a,
    ),
    entry(
        "gpufit-fig3b",
        "Przybylski et al., Fig. 3b: other programs, by window size",
        &[Experiment::Side],
        gpufit::p_3b,
    ),
    entry(
        "gpufit-figs3",
        "Przybylski et al., Fig. S3: precision by signal-to-noise ratio",
        &[Experiment::Snr],
        gpufit::p_s3,
    ),
    entry("bus", "How much of the bus is used", &[Experiment::Bus], bus::bus),
    entry("latency", "Small batches: latency", &[Experiment::Latency], bus::latency),
    entry("bound", "Errors and the Cramér–Rao bound", &[Experiment::Bound], bound::bound),
    entry(
        "stated",
        "Errors and those that fits state, for every shape and estimator",
        &[Experiment::Stated],
        stated::stated,
    ),
    entry(
        "formulas",
        "Formulas beside models written in Rust",
        &[Experiment::Formulas],
        formulas::formulas,
    ),
    entry(
        "linear",
        "Linear parameters eliminated: fits from poor start values",
        &[Experiment::Formulas],
        formulas::linear,
    ),
    entry("crowds", "Spots that overlap, by density", &[Experiment::Crowds], crowds::crowds),
    entry(
        "two-spots",
        "Two spots near each other, by their distance",
        &[Experiment::Crowds],
        crowds::two_spots,
    ),
    entry(
        "one-spot",
        "Spots that are alone, taken for two",
        &[Experiment::Crowds],
        crowds::alone_spots,
    ),
    entry(
        "end-to-end",
        "From file to table, beside other programs",
        &[Experiment::EndToEnd],
        end_to_end::end_to_end,
    ),
    entry("cost", "Cost of a fit, by number of fits", &[Experiment::Grid], speed::cost),
];

const fn entry(
    id: &'static str,
    title: &'static str,
    experiments: &'static [Experiment],
    make: fn(&Record, &mut Figure),
) -> Entry {
    Entry { id, title, experiments, make }
}

/// A table: the head, and rows with one number a cell.
pub type Table = (Vec<String>, Vec<Vec<String>>);

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
    /// What was found, where a table does not say it.
    pub found: Vec<String>,
    /// Pictures: the end of the name, and the SVG.
    pub pictures: Vec<(String, String)>,
    /// Titles of pictures that there are no numbers for.
    pub left_out: Vec<String>,
    /// A small table to be shown.
    pub table: Table,
    /// All numbers: head and rows.
    pub numbers: (Vec<&'static str>, Vec<Vec<String>>),
    /// What must be so whatever the machine: what it is, and whether it is.
    pub checks: Vec<(String, bool)>,
}

impl Entry {
    /// The figure from a record.
    pub fn figure(&self, record: &Record) -> Figure {
        let mut figure = Figure { id: self.id, title: self.title, ..Figure::default() };
        (self.make)(record, &mut figure);
        figure
    }
}

impl Figure {
    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.pictures.is_empty() && self.table.1.is_empty()
    }

    /// Adds a chart, without lines that have no points; a chart that has no other is left out.
    fn picture(&mut self, name: &str, chart: Chart) {
        let chart = chart.without_empty().large();
        if chart.has_curve() {
            self.pictures.push((name.to_owned(), chart.svg()));
        } else {
            self.left_out.push(chart.title().to_owned());
        }
    }

    fn head<const N: usize>(&mut self, head: [&str; N]) {
        self.table.0 = head.map(str::to_owned).to_vec();
    }

    fn row<const N: usize>(&mut self, row: [String; N]) {
        self.table.1.push(row.to_vec());
    }

    fn check(&mut self, what: String, holds: bool) {
        self.checks.push((what, holds));
    }
}

/// The axis for the sides of windows, as long as there are some.
fn sides(series: &[Series]) -> Axis {
    let all = || series.iter().flat_map(Series::x);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let axis = Axis::new("side of the window (pixels)");
    if most > 0.0 { axis.from(least - 1.0).to(most + 1.0) } else { axis }
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
        "formula",
        "formula, one core",
        "formula, gpu",
    ];
    let style = known.iter().position(|name| *name == method).unwrap_or(known.len());
    Series::curve(method, points).styled(style)
}

/// Whether a method is a library that was given: what it finds is shown, not checked.
fn is_peer(method: &str) -> bool {
    !["reference", "cpu", "explicit", "paper's", "formula"]
        .iter()
        .any(|own| method.starts_with(own))
        && !["gpu", "gpu-published"].contains(&method)
}

/// Lines that begin with `#` and say what the numbers of a figure are, and where, when and how they were measured.
pub fn csv_head(figure: &Figure, about: &About) -> String {
    let lines = [figure.title.to_owned()].into_iter().chain(about.lines());
    lines.map(|line| format!("# {line}\n")).collect()
}

/// The numbers of a figure as a table of comma-separated values.
pub fn csv(figure: &Figure) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let (head, rows) = &figure.numbers;
    // Writing to memory does not fail, and all rows are as long as the head.
    let _ = writer.write_record(head);
    for row in rows {
        let _ = writer.write_record(row);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// How many checks there are, and those that do not hold.
pub fn verdict(figures: &[Figure]) -> (usize, Vec<String>) {
    let all =
        || figures.iter().flat_map(|figure| figure.checks.iter().map(move |c| (figure.id, c)));
    let failed = all().filter(|(_, (_, holds))| !holds);
    (all().count(), failed.map(|(id, (what, _))| format!("{id}: {what}")).collect())
}
