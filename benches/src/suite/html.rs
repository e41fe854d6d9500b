//! The report: one page that needs nothing else.

use std::fmt::{Result, Write as _};

use spotfit::report::html::document;
use spotfit::report::svg::safe;

use super::claims::{Paper, Row, quantity, rows, tally};
use super::figures::{Figure, Table, csv, verdict};
use super::glossary::{METHODS, TERMS, meaning};
use super::missing::{Missing, missing};
use super::reasons::{anchor, reason};
use super::record::Record;

const TITLE: &str = "Spotfit: both papers, reproduced";

/// The report.
pub fn page(record: &Record, figures: &[Figure]) -> String {
    let mut body = String::new();
    // Writing to a string does not fail.
    let _ = write_body(&mut body, record, figures);
    document(TITLE, include_str!("report.css"), &body)
}

fn write_body(page: &mut String, record: &Record, figures: &[Figure]) -> Result {
    let rows = rows(record);
    let missing = missing(record, figures, &rows);
    let shown: Vec<&Figure> = figures.iter().filter(|figure| !figure.is_empty()).collect();
    head(page, record, figures, &rows)?;
    page.write_str("<main>")?;
    claims(page, &rows, &missing, &shown)?;
    let (_, failed) = verdict(figures);
    if !failed.is_empty() {
        page.write_str("<section id=\"failed\"><h2>Failed checks</h2>")?;
        list(page, "These checks of accuracy fail:", "bad", &failed)?;
        page.write_str("</section>")?;
    }
    reasons(page, record, &rows)?;
    gaps(page, &missing)?;
    glossary(page, record)?;
    run(page, record)?;
    page.write_str("<nav aria-label=\"Figures\"><h2>Figures and tables</h2><ul>")?;
    for figure in &shown {
        write!(page, "<li><a href=\"#{}\">{}</a></li>", figure.id, safe(figure.title))?;
    }
    page.write_str("</ul></nav>")?;
    for figure in shown {
        section(page, figure)?;
    }
    page.write_str("</main>\n")
}

/// What was run, and the verdict.
fn head(page: &mut String, record: &Record, figures: &[Figure], rows: &[Row]) -> Result {
    let about = &record.about;
    let [agree, not, unmeasured] = tally(rows);
    let kind =
        if about.quick { " <strong>Short run: do not quote its times.</strong>" } else { "" };
    write!(
        page,
        "<header><h1>{TITLE}</h1><p>{}; {}. {}.{kind} Of {} claims {agree} agree, {not} do \
         not, {unmeasured} were not measured here. ",
        safe(&about.processor),
        safe(&gpu(&about.gpus)),
        safe(&about.date),
        rows.len(),
    )?;
    let (checks, failed) = verdict(figures);
    if failed.is_empty() {
        write!(page, "<span class=\"good\">All {checks} checks of accuracy hold.</span>")?;
    } else {
        let count = failed.len();
        write!(
            page,
            "<a href=\"#failed\" class=\"bad\">{count} of {checks} checks of accuracy fail.</a>"
        )?;
    }
    page.write_str("</p></header>")
}

/// The GPU in short; why there is none is said among what is missing.
fn gpu(gpus: &[String]) -> String {
    let names = gpus.iter().map(|gpu| gpu.split([',', ':']).next().unwrap_or_default());
    match names.collect::<Vec<_>>().join(", ").as_str() {
        "" | "none" => "no GPU".to_owned(),
        names => names.to_owned(),
    }
}

fn list(page: &mut String, head: &str, class: &str, lines: &[String]) -> Result {
    if let [line] = lines {
        return write!(page, "<p class=\"{class}\"><strong>{head}</strong> {}</p>", safe(line));
    }
    if lines.is_empty() {
        return Ok(());
    }
    write!(page, "<p class=\"{class}\"><strong>{head}</strong></p><ul class=\"{class}\">")?;
    for line in lines {
        write!(page, "<li>{}</li>", safe(line))?;
    }
    page.write_str("</ul>")
}

fn claims(page: &mut String, rows: &[Row], missing: &Missing, shown: &[&Figure]) -> Result {
    page.write_str(
        "<section id=\"claims\"><h2>What the papers claim</h2><table><thead><tr><th>Claim</th><th>Where</th>\
         <th>Paper</th><th>Agrees if</th><th>Here</th><th>Measured with</th><th>Agrees</th></tr></thead>",
    )?;
    for paper in Paper::ALL {
        let name = safe(paper.name());
        write!(page, "<tbody><tr class=\"paper\"><th colspan=\"7\">{name}</th></tr>")?;
        for (row, gap) in rows.iter().zip(&missing.of_rows) {
            if row.claim.paper == paper {
                claim(page, row, *gap, shown)?;
            }
        }
        page.write_str("</tbody>")?;
    }
    page.write_str("</table></section>")
}

fn claim(page: &mut String, row: &Row, gap: Option<usize>, shown: &[&Figure]) -> Result {
    let claim = row.claim;
    let place = if shown.iter().any(|figure| figure.id == claim.figure) {
        format!("<a href=\"#{}\">{}</a>", claim.figure, claim.place)
    } else {
        claim.place.to_owned()
    };
    let paper = claim.number.map_or("in words".to_owned(), |number| quantity(number, claim.unit));
    let (here, method) = match &row.found {
        Ok((here, method)) => (quantity(*here, claim.unit), method.as_str()),
        Err(_) => (String::new(), ""),
    };
    let agrees = match (row.agrees(), gap) {
        (Some(true), _) => "<span class=\"good\">yes</span>".to_owned(),
        (Some(false), _) => {
            format!("<a href=\"#{}\" class=\"bad\">no, see why</a>", anchor(claim.figure))
        }
        (None, Some(gap)) => format!("<a href=\"#gap{0}\">not measured, see {0}</a>", gap + 1),
        (None, None) => "not measured".to_owned(),
    };
    write!(
        page,
        "<tr><th scope=\"row\">{}</th><td>{place}</td><td data-name=\"paper\">{paper}</td><td \
         data-name=\"agrees if\">{}</td><td data-name=\"here\">{here}</td><td data-name=\"with\">{}</td>\
         <td>{agrees}</td></tr>",
        safe(claim.text),
        claim.limit.text(claim.unit),
        safe(method)
    )
}

fn gaps(page: &mut String, missing: &Missing) -> Result {
    page.write_str("<section id=\"missing\"><h2>Not measured here</h2><ol>")?;
    for (number, gap) in missing.gaps.iter().enumerate() {
        write!(page, "<li id=\"gap{}\">{}</li>", number + 1, safe(&gap.text))?;
    }
    page.write_str("</ol></section>")
}

/// Why claims do not agree: what docs/reproduction.md says, and that a short run measures no times.
fn reasons(page: &mut String, record: &Record, rows: &[Row]) -> Result {
    let wrong = rows.iter().filter(|row| row.agrees() == Some(false));
    let mut figures: Vec<&str> = wrong.map(|row| row.claim.figure).collect();
    figures.dedup();
    if figures.is_empty() {
        return Ok(());
    }
    page.write_str("<section id=\"why\"><h2>Why claims do not agree</h2>")?;
    if record.about.quick {
        page.write_str(
            "<p><strong>This was a short run:</strong> its calls are too few and too small for speeds, and claims about them agree or \
             not by chance. A full run is <code>cargo xtask bench</code>.</p>",
        )?;
    }
    page.write_str("<p>What docs/reproduction.md says of a full run:</p><dl>")?;
    for figure in figures {
        let place = rows.iter().find(|row| row.claim.figure == figure);
        let place = place.map_or(figure, |row| row.claim.place);
        let text = reason(figure).unwrap_or_else(|| "Nothing is known of this.".to_owned());
        write!(
            page,
            "<div id=\"{}\"><dt>{}</dt><dd>{}</dd></div>",
            anchor(figure),
            safe(place),
            safe(&text)
        )?;
    }
    page.write_str("</dl></section>")
}

/// What every other name is.
const PEER: &str = "A library given with --peer.";

fn glossary(page: &mut String, record: &Record) -> Result {
    page.write_str("<section id=\"glossary\"><h2>What the names mean</h2><dl>")?;
    let mut others: Vec<&str> = Vec::new();
    for cell in &record.cells {
        // Pixel types are the "methods" of the bus.
        let known =
            METHODS.iter().any(|(name, _)| *name == cell.method) || cell.experiment == "bus";
        if !known && !others.contains(&cell.method.as_str()) {
            others.push(&cell.method);
        }
    }
    let others = others.into_iter().map(|name| (name, meaning(name).unwrap_or(PEER)));
    for (name, meaning) in METHODS.into_iter().chain(others).chain(TERMS) {
        write!(page, "<div><dt>{}</dt><dd>{}</dd></div>", safe(name), safe(meaning))?;
    }
    page.write_str("</dl></section>")
}

fn run(page: &mut String, record: &Record) -> Result {
    let about = &record.about;
    page.write_str("<section id=\"run\"><h2>This run</h2><dl>")?;
    let none = about.gpus.iter().any(|gpu| gpu.starts_with("none"));
    let gpus = if none { "none".to_owned() } else { about.gpus.join("; ") };
    for (name, value) in [
        ("Date", about.date.as_str()),
        ("Command", about.command.trim_end()),
        ("Kind", if about.quick { "short: checks accuracy only" } else { "full" }),
        ("Processor", about.processor.as_str()),
        ("GPU", &gpus),
        ("System", about.system.as_str()),
        ("Version", about.version.as_str()),
        ("Compiler", about.compiler.as_str()),
        ("Seed", &about.seed.to_string()),
        ("Time limit", &format!("{} s a measurement", about.budget)),
        ("Timer", &format!("ticks of {:.0} ns", about.tick * 1e9)),
    ] {
        write!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", safe(value))?;
    }
    page.write_str("</dl></section>")
}

fn section(page: &mut String, figure: &Figure) -> Result {
    let Figure { id, title, caption, paper, found, pictures, checks, .. } = figure;
    write!(
        page,
        "<section id=\"{id}\"><h2>{}</h2><p class=\"soft\">{}</p>",
        safe(title),
        safe(caption)
    )?;
    list(page, "The paper:", "", paper)?;
    list(page, "Here:", "", found)?;
    if !pictures.is_empty() {
        page.write_str("<div class=\"pictures\">")?;
        for (_, svg) in pictures {
            write!(page, "<figure>{svg}</figure>")?;
        }
        page.write_str("</div>")?;
    }
    table(page, &figure.table)?;
    if !checks.is_empty() {
        let held = checks.iter().filter(|(_, holds)| *holds).count();
        let class = if held == checks.len() { "good" } else { "bad" };
        let all = checks.len();
        write!(
            page,
            "<details><summary class=\"{class}\">Checks: {held} of {all} hold</summary><ul>"
        )?;
        for (what, holds) in checks {
            let (class, mark) = if *holds { ("good", "✓") } else { ("bad", "✗") };
            write!(page, "<li class=\"{class}\">{mark} {}</li>", safe(what))?;
        }
        page.write_str("</ul></details>")?;
    }
    if !figure.numbers.1.is_empty() {
        let rows = figure.numbers.1.len();
        write!(
            page,
            "<details><summary>All numbers ({rows} rows, figures/{id}.csv)</summary><pre>{}</pre></details>",
            csv(figure).lines().map(safe).collect::<Vec<_>>().join("\n")
        )?;
    }
    page.write_str("</section>")
}

fn table(page: &mut String, (head, rows): &Table) -> Result {
    if rows.is_empty() {
        return Ok(());
    }
    // Numbers stand on the right.
    let number = |column: usize| {
        let of = |row: &Vec<String>| row.get(column).and_then(|cell| cell.chars().next());
        rows.iter().filter_map(of).all(|first| first.is_ascii_digit() || first == '-')
    };
    let classes: Vec<&str> = (0..head.len())
        .map(|column| if number(column) { " class=\"number\"" } else { "" })
        .collect();
    page.write_str("<div class=\"scroll\"><table><thead><tr>")?;
    for (cell, class) in head.iter().zip(&classes) {
        write!(page, "<th{class}>{}</th>", safe(cell))?;
    }
    page.write_str("</tr></thead><tbody>")?;
    for row in rows {
        page.write_str("<tr>")?;
        for (cell, class) in row.iter().zip(&classes) {
            write!(page, "<td{class}>{}</td>", safe(cell))?;
        }
        page.write_str("</tr>")?;
    }
    page.write_str("</tbody></table></div>")
}
