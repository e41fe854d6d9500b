//! The report: one page of HTML that needs no other file and no script.

use super::charts::{self, with_error};
use super::part::{LINKED_FRAMES, Part};
use super::{Quantity, StatsReport, said};
use crate::report::html::{self, Cells, row};
use crate::report::number::five_digits;
use crate::report::svg::safe;
use crate::steps::words::symbol;
use crate::table::Unit;

pub(super) fn html(report: &StatsReport) -> String {
    let figures = charts::of(report);
    let figures: String =
        figures.iter().map(|figure| html::figure(&figure.drawing.svg(), &figure.caption)).collect();
    let body = format!(
        "{}{}<h2>Precision and resolution</h2>\n{}<h2>Quantities</h2>\n{}<h2>Charts</h2>\n{}\
         <p>NeNA: Endesfelder et al., Histochem. Cell Biol. 141:629 (2014). \
         Fourier ring correlation: Nieuwenhuizen et al., Nature Methods 10:557 (2013).</p>\n\
         <p>Made by Spotfit {}.</p>\n",
        html::beside(&picture(report), &head(report)),
        said(report),
        precision(report),
        quantities(report),
        html::figures(&figures),
        env!("CARGO_PKG_VERSION"),
    );
    html::page(&format!("Localizations: {}", report.file), &body)
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
    html::picture(&shown.file, shown.size, "A picture of the localizations", &caption)
}

#[cfg(not(feature = "render"))]
fn picture(_: &StatsReport) -> String {
    String::new()
}

/// What the numbers mean.
fn said(report: &StatsReport) -> String {
    let said = said::of(report);
    if said.is_empty() {
        return String::new();
    }
    let of_kept = if report.filter.is_some() { " of the rows that are kept" } else { "" };
    let said: String = said.iter().map(|text| format!("<p>{}</p>\n", safe(text))).collect();
    format!("<h2>What the numbers{of_kept} say</h2>\n{said}")
}

/// What the table is.
fn head(report: &StatsReport) -> String {
    let info = &report.info;
    let mut text = String::from("<table>\n");
    let mut add = |name: &str, value: String| text.push_str(&row(name, &[value], Cells::Words));
    add("Rows", report.rows.to_string());
    if report.left_out > 0 {
        add("Left out", format!("{} rows whose x or y is not finite", report.left_out));
    }
    if let (Some(filter), Some(kept)) = (&report.filter, report.parts.get(1)) {
        add("Filter", filter.clone());
        let all = report.parts[0].rows.max(1) as f64;
        add("Kept", format!("{} rows ({:.1} %)", kept.rows, 100.0 * kept.rows as f64 / all));
    }
    match report.frames {
        Some(frames) => add("Frames", frames.to_string()),
        None => add("Frames", "not known: there is no column 'frame'".to_owned()),
    }
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
    if let Some([x, y]) = report.parts[0].extent {
        let unit = symbol(report.unit);
        let [from_x, to_x, from_y, to_y] = [x[0], x[1], y[0], y[1]].map(five_digits);
        add(
            "Positions",
            format!("x from {from_x} to {to_x} {unit}, y from {from_y} to {to_y} {unit}"),
        );
    }
    add("Columns", report.columns.join(", "));
    text + "</table>\n"
}

/// The names of the parts above their columns, if there are two.
fn parts(report: &StatsReport, across: usize) -> String {
    if report.parts.len() == 1 {
        return String::new();
    }
    let span = |name| format!("<th colspan=\"{across}\">{name}</th>");
    format!("<tr><th></th>{}{}</tr>\n", span("all"), span("kept"))
}

/// Precision, resolution and localizations per frame.
fn precision(report: &StatsReport) -> String {
    let mut text = format!("<table>\n{}", parts(report, 1));
    let mut add = |name: &str, cell: &dyn Fn(&Part) -> Option<String>| {
        let cells: Vec<Option<String>> = report.parts.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            let cells: Vec<String> = cells.into_iter().map(Option::unwrap_or_default).collect();
            text.push_str(&row(name, &cells, Cells::Words));
        }
    };
    let none = |reason: &String| format!("none: {reason}");
    add("Precision by nearest neighbours (NeNA)", &|part| {
        let found = part.nena.as_ref()?.as_ref();
        Some(found.map_or_else(none, |found| with_error(report, found.sigma, found.standard_error)))
    });
    add("Median of the stated uncertainty", &|part| {
        Some(length(report, part.stated?, report.unit))
    });
    add("Resolution by Fourier ring correlation", &|part| {
        let found = part.frc.as_ref()?.as_ref();
        Some(
            found.map_or_else(none, |found| {
                with_error(report, found.resolution, found.standard_error)
            }),
        )
    });
    add("Localizations per frame", &|part| {
        if part.linked {
            return Some(none(&LINKED_FRAMES.to_owned()));
        }
        let per_frame = part.per_frame.as_ref()?;
        let [low, median, high] = per_frame.quartiles.map(five_digits);
        let mean = five_digits(per_frame.mean);
        Some(format!("mean {mean}, median {median}, quartiles {low} and {high}"))
    });
    text + "</table>\n"
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
fn quantities(report: &StatsReport) -> String {
    if report.quantities.is_empty() {
        return "<p>The table has none of the columns that are described here.</p>\n".to_owned();
    }
    let ends = "<th class=\"n\">25 %</th><th class=\"n\">median</th><th class=\"n\">75 %</th>\
                <th class=\"n\">not finite</th>";
    let mut text = format!(
        "<table>\n{}<tr><th></th>{}</tr>\n",
        parts(report, 4),
        ends.repeat(report.parts.len())
    );
    for Quantity { title, unit, parts, .. } in &report.quantities {
        let cells: Vec<String> = parts
            .iter()
            .flat_map(|spread| {
                let quartiles = spread.quartiles();
                let quartiles = quartiles
                    .map_or_else(|| ["–"; 3].map(str::to_owned), |all| all.map(five_digits));
                quartiles.into_iter().chain([spread.left_out.to_string()])
            })
            .collect();
        let name = match symbol(*unit) {
            "" | "photon" => (*title).to_owned(),
            unit => format!("{title} ({unit})"),
        };
        text.push_str(&row(&name, &cells, Cells::Numbers));
    }
    text + "</table>\n"
}
