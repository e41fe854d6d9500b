//! From a record to figures: pictures, tables, what the paper says and what was found.

mod accuracy;
mod crowds;
mod end_to_end;
mod ends;
mod formulas;
pub(super) mod gpufit;
mod speed;
mod stated;

use std::fmt::Display;

use spotfit::report::svg::{Axis, Chart, PartBars, Series};

pub(super) use accuracy::difference;

use super::experiments::{
    BOUND, CROWDS, END_TO_END, FORMULAS, GRID, NUMBER, PARTS, SIDE, SNR, STATED, SUPPLEMENT,
    TABLE_1, UNFITTED,
};
use super::record::{About, Record};
use super::texts;

/// A figure or table that can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name on the command line, of its files, and of its words in `texts.md`.
    pub id: &'static str,
    /// The measurements it is made of.
    pub experiments: &'static [&'static str],
    make: fn(&Record, &mut Figure),
}

/// All of them, in the order of the report.
pub const ALL: &[Entry] = &[
    entry("lw-fig2", &[GRID], speed::fig_2),
    entry("lw-fig3", &[GRID], speed::fig_3),
    entry("lw-fig4", &[GRID], speed::fig_4),
    entry("lw-fig5", &[GRID], speed::fig_5),
    entry("lw-fig6", &[GRID], speed::fig_6),
    entry("lw-fig7", &[TABLE_1], accuracy::fig_7),
    entry("lw-table1", &[TABLE_1], accuracy::table_1),
    entry("lw-fig8", &[TABLE_1], accuracy::fig_8),
    entry("lw-stops", &[TABLE_1, UNFITTED], ends::stops),
    entry("lw-supplement", &[SUPPLEMENT], accuracy::supplement),
    entry("gpufit-fig1", &[NUMBER], gpufit::p_1),
    entry("gpufit-fig2", &[PARTS], gpufit::p_2),
    entry("gpufit-fig3a", &[NUMBER], gpufit::p_3a),
    entry("gpufit-fig3b", &[SIDE], gpufit::p_3b),
    entry("gpufit-figs3", &[SNR], gpufit::p_s3),
    entry("bound", &[BOUND], accuracy::bound),
    entry("stated", &[STATED], stated::stated),
    entry("formulas", &[FORMULAS], formulas::formulas),
    entry("linear", &[FORMULAS], formulas::linear),
    entry("crowds", &[CROWDS], crowds::crowds),
    entry("two-spots", &[CROWDS], crowds::two_spots),
    entry("one-spot", &[CROWDS], crowds::alone_spots),
    entry("end-to-end", &[END_TO_END], end_to_end::end_to_end),
];

const fn entry(
    id: &'static str,
    experiments: &'static [&'static str],
    make: fn(&Record, &mut Figure),
) -> Entry {
    Entry { id, experiments, make }
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
    /// All numbers.
    pub numbers: Table,
    /// What must be so whatever the machine: what it is, and whether it is.
    pub checks: Vec<(String, bool)>,
}

impl Entry {
    /// The figure from a record.
    pub fn figure(&self, record: &Record) -> Figure {
        let (caption, paper) = texts::caption(self.id);
        let title = texts::title(self.id);
        let mut figure = Figure { id: self.id, title, caption, paper, ..Figure::default() };
        (self.make)(record, &mut figure);
        figure
    }
}

/// What is in the cells of a row.
type Cells<'c> = &'c [&'c dyn Display];

fn texts_of(cells: Cells<'_>) -> Vec<String> {
    cells.iter().map(ToString::to_string).collect()
}

impl Figure {
    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.pictures.is_empty() && self.table.1.is_empty()
    }

    /// The names of the columns: of the table with `|` between them, of the numbers with commas.
    fn head(&mut self, table: &str, numbers: &str) {
        self.table.0 = table.split(" | ").map(str::to_owned).collect();
        self.numbers.0 = numbers.split(',').map(str::to_owned).collect();
    }

    /// Fills in the next number of the caption.
    fn say(&mut self, number: impl Display) {
        self.caption = self.caption.replacen("{}", &number.to_string(), 1);
    }

    fn row(&mut self, cells: Cells<'_>) {
        self.table.1.push(texts_of(cells));
    }

    fn number(&mut self, cells: Cells<'_>) {
        self.numbers.1.push(texts_of(cells));
    }

    /// A row of numbers for each value that is there: whose it is, what it is, and the value.
    fn values<const N: usize>(
        &mut self,
        of: Cells<'_>,
        whats: &[&str; N],
        values: &[Option<f64>; N],
    ) {
        for (what, value) in whats.iter().zip(values) {
            if let Some(value) = value {
                let mut row = texts_of(of);
                row.extend([(*what).to_owned(), exact(*value)]);
                self.numbers.1.push(row);
            }
        }
    }

    /// Adds a chart, without lines that have no points; a chart that has no other is left out.
    fn chart(&mut self, name: &str, title: &str, x: Axis, y: Axis, series: Vec<Series>) {
        let chart = Chart::new(title, x, y, series).without_empty().large();
        if chart.has_curve() {
            self.pictures.push((name.to_owned(), chart.svg()));
        } else {
            self.left_out.push(chart.title().to_owned());
        }
    }

    /// Adds bars, or leaves them out under another title if there are none.
    fn bars(&mut self, name: &str, left_out: &str, count: usize, bars: impl FnOnce() -> PartBars) {
        if count == 0 {
            self.left_out.push(left_out.to_owned());
        } else {
            self.pictures.push((name.to_owned(), bars().svg()));
        }
    }

    fn check(&mut self, what: String, holds: bool) {
        self.checks.push((what, holds));
    }
}

/// All digits of a number.
fn exact(value: f64) -> String {
    format!("{value:e}")
}

fn decimals(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(String::new, |value| format!("{value:.decimals$}"))
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

/// Methods in the order of their looks.
const STYLES: &str = "reference|cpu|cpu, one core|gpu|gpu-published|explicit|gpufit|cpufit|levenberg-marquardt|varpro|\
    cpu, background ≥ 0|paper's iteration f64|reference f32|formula|formula, one core|formula, gpu";

/// The line of a method, which looks the same in all figures.
fn by_method(method: &str, points: Vec<(f64, f64)>) -> Series {
    let style = STYLES.split('|').position(|name| name == method);
    Series::curve(method, points).styled(style.unwrap_or(STYLES.split('|').count()))
}

/// Whether a method is a library that was given: what it finds is shown, not checked.
fn is_peer(method: &str) -> bool {
    let own = ["reference", "cpu", "explicit", "paper's", "formula"];
    !own.iter().any(|own| method.starts_with(own)) && !["gpu", "gpu-published"].contains(&method)
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
    for row in [head].into_iter().chain(rows) {
        // Writing to memory does not fail, and all rows are as long as the head.
        let _ = writer.write_record(row);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// How many checks there are, and those that do not hold.
pub fn verdict(figures: &[Figure]) -> (usize, Vec<String>) {
    let all = figures.iter().flat_map(|figure| figure.checks.iter().map(move |c| (figure.id, c)));
    let failed = all.clone().filter(|(_, (_, holds))| !holds);
    (all.count(), failed.map(|(id, (what, _))| format!("{id}: {what}")).collect())
}
