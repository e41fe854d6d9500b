//! The report: one page of HTML that needs no other file and no script.

use super::charts::{self, with_error};
use super::part::{Found, LINKED_FRAMES, Part};
use super::{Quantity, StatsReport, said};
use crate::report::html::{ReportPage, ReportTable};
use crate::report::number::five_digits;
use crate::steps::words::{in_unit, symbol};
use crate::table::Unit;

impl StatsReport {
    /// The report as a page of HTML with charts, which needs no other file.
    pub fn html(&self) -> String {
        let mut page = ReportPage::new(&format!("Localizations: {}", self.file));
        page.beside(&picture(self), &head(self));
        let said = said::of(self);
        if !said.is_empty() {
            let of_kept = if self.filter.is_some() { " of the rows that are kept" } else { "" };
            page.heading(&format!("What the numbers{of_kept} say"));
            said.iter().for_each(|text| page.say(text));
        }
        page.heading("Precision and resolution");
        page.table(&precision(self));
        page.heading("Quantities");
        match self.quantities.is_empty() {
            true => page.say("The table has none of the columns that are described here."),
            false => page.table(&quantities(self)),
        }
        page.heading("Charts");
        let figures = charts::of(self);
        page.figures(figures.iter().map(|(drawing, caption)| (drawing, &**caption)));
        page.say(
            "NeNA: Endesfelder et al., Histochem. Cell Biol. 141:629 (2014). \
             Fourier ring correlation: Nieuwenhuizen et al., Nature Methods 10:557 (2013).",
        );
        page.end("")
    }
}

/// The picture, if there is one.
#[cfg(feature = "render")]
fn picture(report: &StatsReport) -> String {
    let Some(shown) = &report.picture else { return String::new() };
    let which = if report.filter.is_some() { "rows that the filter keeps" } else { "rows" };
    let mut caption = format!("The {which}, each as wide as its uncertainty.");
    if let Some(depth) = shown.depth {
        let [low, high] = depth.map(five_digits);
        caption.push_str(&format!(" Colours are z from {low} to {high} nm."));
    }
    crate::report::html::picture(
        &shown.file,
        shown.size,
        "A picture of the localizations",
        &caption,
    )
}

#[cfg(not(feature = "render"))]
fn picture(_: &StatsReport) -> String {
    String::new()
}

/// What the table is.
fn head(report: &StatsReport) -> ReportTable {
    let info = &report.info;
    let mut table = ReportTable::default();
    let mut add = |name: &str, value: String| table.row(name, [value]);
    add("Rows", report.rows.to_string());
    if report.left_out > 0 {
        add("Left out", format!("{} rows whose x or y is not finite", report.left_out));
    }
    if let (Some(filter), Some(kept)) = (&report.filter, report.parts.get(1)) {
        add("Filter", filter.clone());
        let all = report.parts[0].rows.max(1) as f64;
        add("Kept", format!("{} rows ({:.1} %)", kept.rows, 100.0 * kept.rows as f64 / all));
    }
    let frames = report.frames.map(|frames| frames.to_string());
    add("Frames", frames.unwrap_or_else(|| "not known: there is no column 'frame'".to_owned()));
    add("Unit of x and y", report.unit.to_string());
    let size = info.pixel_size.map(|size| format!("{} nm", five_digits(size)));
    add("Size of a pixel", size.unwrap_or_else(|| "not known".to_owned()));
    if let (Some(width), Some(height)) = (info.width, info.height) {
        let micrometres = info.pixel_size.map(|size| {
            let [width, height] =
                [width, height].map(|pixels| five_digits(pixels as f64 * size / 1e3));
            format!(" ({width} × {height} µm)")
        });
        let micrometres = micrometres.unwrap_or_default();
        add("Field of view", format!("{width} × {height} pixels{micrometres}"));
    }
    if let Some(extent) = report.parts[0].extent {
        let ends = |name: &str, ends: [f64; 2]| {
            let [from, to] = ends.map(five_digits);
            format!("{name} from {from} to {to} {}", symbol(report.unit))
        };
        add("Positions", format!("{}, {}", ends("x", extent[0]), ends("y", extent[1])));
    }
    add("Columns", report.columns.join(", "));
    table
}

/// Says above columns which part of the table they are of, if there are two; so many of each.
fn name_parts(report: &StatsReport, table: &mut ReportTable, across: usize) {
    if report.parts.len() > 1 {
        table.spans(&["all", "kept"], across);
    }
}

/// Precision, resolution and localizations per frame.
fn precision(report: &StatsReport) -> ReportTable {
    let mut table = ReportTable::default();
    name_parts(report, &mut table, 1);
    let mut add = |name: &str, cell: &dyn Fn(&Part) -> Option<String>| {
        let cells: Vec<Option<String>> = report.parts.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            table.row(name, cells.into_iter().map(Option::unwrap_or_default));
        }
    };
    let none = |reason: &str| format!("none: {reason}");
    let told = |found: Found<'_>| {
        Some(found?.map_or_else(|reason| none(reason), |found| with_error(report, found)))
    };
    add("Precision by nearest neighbours (NeNA)", &|part| told(part.precision()));
    add("Median of the stated uncertainty", &|part| {
        Some(length(report, part.stated?, report.unit))
    });
    add("Resolution by Fourier ring correlation", &|part| told(part.resolution()));
    add("Localizations per frame", &|part| {
        if part.linked {
            return Some(none(LINKED_FRAMES));
        }
        let per_frame = part.per_frame.as_ref()?;
        let [low, median, high] = per_frame.quartiles.map(five_digits);
        let mean = five_digits(per_frame.mean);
        Some(format!("mean {mean}, median {median}, quartiles {low} and {high}"))
    });
    table
}

/// A length with its unit; in nanometres too, where that is another.
pub(super) fn length(report: &StatsReport, value: f64, unit: Unit) -> String {
    let text = format!("{} {}", five_digits(value), symbol(unit));
    match report.in_nanometres(value, unit) {
        Some(nanometres) => format!("{text} ({} nm)", five_digits(nanometres)),
        None => text,
    }
}

/// Quartiles and medians.
fn quantities(report: &StatsReport) -> ReportTable {
    let mut table = ReportTable::of_numbers();
    name_parts(report, &mut table, 4);
    table.head("", ["25 %", "median", "75 %", "not finite"].repeat(report.parts.len()));
    for Quantity { title, unit, parts, .. } in &report.quantities {
        let cells = parts.iter().flat_map(|spread| {
            let quartiles = spread.quartiles();
            let quartiles =
                quartiles.map_or(["–"; 3].map(str::to_owned), |all| all.map(five_digits));
            quartiles.into_iter().chain([spread.left_out.to_string()])
        });
        table.row(&in_unit(title, *unit), cells);
    }
    table
}
