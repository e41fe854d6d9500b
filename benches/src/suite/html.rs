//! The report: one page that needs nothing else.

use spotfit::report::html::document;
use spotfit::report::svg::safe;

use super::claims::{Paper, Row, quantity, rows, tally};
use super::figures::{Figure, Table, csv, verdict};
use super::glossary::meaning;
use super::missing::{Missing, missing};
use super::reasons::{anchor, reason};
use super::record::Record;
use super::texts::{METHODS, TERMS};

const TITLE: &str = "Spotfit: both papers, reproduced";

/// The report.
pub fn page(record: &Record, figures: &[Figure]) -> String {
    let rows = rows(record);
    let missing = missing(record, figures, &rows);
    let shown: Vec<&Figure> = figures.iter().filter(|figure| !figure.is_empty()).collect();
    let (_, failed) = verdict(figures);
    let failed = list("These checks of accuracy fail:", "bad", &failed);
    let links = each(&shown, |figure| {
        format!("<li><a href=\"#{}\">{}</a></li>", figure.id, safe(figure.title))
    });
    let parts = [
        head(record, figures, &rows),
        "<main>".to_owned(),
        claims(&rows, &missing, &shown),
        if failed.is_empty() { failed } else { part("failed", "Failed checks", &failed) },
        reasons(record, &rows),
        gaps(&missing),
        glossary(record),
        run(record),
        format!("<nav aria-label=\"Figures\"><h2>Figures and tables</h2><ul>{links}</ul></nav>"),
        each(&shown, |figure| section(figure)),
        "</main>\n".to_owned(),
    ];
    document(TITLE, include_str!("report.css"), &parts.concat())
}

/// What is written for each of some things.
fn each<T>(all: impl IntoIterator<Item = T>, one: impl FnMut(T) -> String) -> String {
    all.into_iter().map(one).collect()
}

/// A part of the page with its heading.
fn part(id: &str, heading: &str, body: &str) -> String {
    format!("<section id=\"{id}\"><h2>{heading}</h2>{body}</section>")
}

/// Names and what they mean.
fn definitions<N: AsRef<str>, M: AsRef<str>>(all: impl IntoIterator<Item = (N, M)>) -> String {
    let rows = each(all, |(name, meaning)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", safe(name.as_ref()), safe(meaning.as_ref()))
    });
    format!("<dl>{rows}</dl>")
}

/// What was run, and the verdict.
fn head(record: &Record, figures: &[Figure], rows: &[Row]) -> String {
    let about = &record.about;
    let [agree, not, unmeasured] = tally(rows);
    let kind =
        if about.quick { " <strong>Short run: do not quote its times.</strong>" } else { "" };
    let (checks, failed) = verdict(figures);
    let verdict = if failed.is_empty() {
        format!("<span class=\"good\">All {checks} checks of accuracy hold.</span>")
    } else {
        let count = failed.len();
        format!(
            "<a href=\"#failed\" class=\"bad\">{count} of {checks} checks of accuracy fail.</a>"
        )
    };
    let [processor, gpu, date] =
        [&about.processor, &gpu(&about.gpus), &about.date].map(|s| safe(s));
    format!(
        "<header><h1>{TITLE}</h1><p>{processor}; {gpu}. {date}.{kind} Of {} claims {agree} agree, {not} do \
         not, {unmeasured} were not measured here. {verdict}</p></header>",
        rows.len(),
    )
}

/// The GPU in short; why there is none is said among what is missing.
fn gpu(gpus: &[String]) -> String {
    let names = gpus.iter().map(|gpu| gpu.split([',', ':']).next().unwrap_or_default());
    match names.collect::<Vec<_>>().join(", ").as_str() {
        "" | "none" => "no GPU".to_owned(),
        names => names.to_owned(),
    }
}

fn list(head: &str, class: &str, lines: &[String]) -> String {
    match lines {
        [] => String::new(),
        [line] => format!("<p class=\"{class}\"><strong>{head}</strong> {}</p>", safe(line)),
        _ => {
            let items = each(lines, |line| format!("<li>{}</li>", safe(line)));
            format!(
                "<p class=\"{class}\"><strong>{head}</strong></p><ul class=\"{class}\">{items}</ul>"
            )
        }
    }
}

fn claims(rows: &[Row], missing: &Missing, shown: &[&Figure]) -> String {
    let papers = each(Paper::ALL, |paper| {
        let own = rows.iter().zip(&missing.of_rows).filter(|(row, _)| row.claim.paper == paper);
        let rows = each(own, |(row, gap)| claim(row, *gap, shown));
        let name = safe(paper.name());
        format!("<tbody><tr class=\"paper\"><th colspan=\"7\">{name}</th></tr>{rows}</tbody>")
    });
    let columns = ["Claim", "Where", "Paper", "Agrees if", "Here", "Measured with", "Agrees"];
    let columns = each(columns, |name| format!("<th>{name}</th>"));
    let table = format!("<table><thead><tr>{columns}</tr></thead>{papers}</table>");
    part("claims", "What the papers claim", &table)
}

fn claim(row: &Row, gap: Option<usize>, shown: &[&Figure]) -> String {
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
    format!(
        "<tr><th scope=\"row\">{}</th><td>{place}</td><td data-name=\"paper\">{paper}</td><td \
         data-name=\"agrees if\">{}</td><td data-name=\"here\">{here}</td><td data-name=\"with\">{}</td>\
         <td>{agrees}</td></tr>",
        safe(claim.text),
        claim.limit.text(claim.unit),
        safe(method)
    )
}

fn gaps(missing: &Missing) -> String {
    let items = each(missing.gaps.iter().enumerate(), |(number, gap)| {
        format!("<li id=\"gap{}\">{}</li>", number + 1, safe(&gap.text))
    });
    part("missing", "Not measured here", &format!("<ol>{items}</ol>"))
}

/// Why claims do not agree: what docs/reproduction.md says, and that a short run measures no times.
fn reasons(record: &Record, rows: &[Row]) -> String {
    let mut wrong: Vec<&Row> = rows.iter().filter(|row| row.agrees() == Some(false)).collect();
    wrong.dedup_by_key(|row| row.claim.figure);
    if wrong.is_empty() {
        return String::new();
    }
    let short = if record.about.quick {
        "<p><strong>This was a short run:</strong> its calls are too few and too small for speeds, and claims about them agree or \
         not by chance. A full run is <code>cargo xtask bench</code>.</p>"
    } else {
        ""
    };
    let all = each(wrong, |row| {
        let figure = row.claim.figure;
        let place = rows.iter().find(|row| row.claim.figure == figure).map(|row| row.claim.place);
        let text = reason(figure).unwrap_or_else(|| "Nothing is known of this.".to_owned());
        let (id, place, text) = (anchor(figure), safe(place.unwrap_or(figure)), safe(&text));
        format!("<div id=\"{id}\"><dt>{place}</dt><dd>{text}</dd></div>")
    });
    let body = format!("{short}<p>What docs/reproduction.md says of a full run:</p><dl>{all}</dl>");
    part("why", "Why claims do not agree", &body)
}

/// What every other name is.
const PEER: &str = "A library given with --peer.";

fn glossary(record: &Record) -> String {
    let mut others: Vec<&str> = Vec::new();
    for cell in &record.cells {
        let method = cell.method.as_str();
        // Pixel types are the "methods" of the bus.
        let known = METHODS.iter().any(|(name, _)| *name == method) || cell.experiment == "bus";
        if !known && !others.contains(&method) {
            others.push(method);
        }
    }
    let others = others.into_iter().map(|name| (name, meaning(name).unwrap_or(PEER)));
    let all = METHODS.iter().copied().chain(others).chain(TERMS.iter().copied());
    part("glossary", "What the names mean", &definitions(all))
}

fn run(record: &Record) -> String {
    let about = &record.about;
    let none = about.gpus.iter().any(|gpu| gpu.starts_with("none"));
    let gpus = if none { "none".to_owned() } else { about.gpus.join("; ") };
    let all = [
        ("Date", about.date.as_str()),
        ("Command", about.command.trim_end()),
        ("Kind", if about.quick { "short: checks accuracy only" } else { "full" }),
        ("Processor", &about.processor),
        ("GPU", &gpus),
        ("System", &about.system),
        ("Version", &about.version),
        ("Compiler", &about.compiler),
        ("Seed", &about.seed.to_string()),
        ("Time limit", &format!("{} s a measurement", about.budget)),
        ("Timer", &format!("ticks of {:.0} ns", about.tick * 1e9)),
    ];
    part("run", "This run", &definitions(all))
}

fn section(figure: &Figure) -> String {
    let Figure { id, title, caption, paper, found, pictures, checks, .. } = figure;
    let mut body = format!("<p class=\"soft\">{}</p>", safe(caption));
    body += &list("The paper:", "", paper);
    body += &list("Here:", "", found);
    if !pictures.is_empty() {
        let all = each(pictures, |(_, svg)| format!("<figure>{svg}</figure>"));
        body += &format!("<div class=\"pictures\">{all}</div>");
    }
    body += &table(&figure.table);
    if !checks.is_empty() {
        let held = checks.iter().filter(|(_, holds)| *holds).count();
        let (all, class) = (checks.len(), if held == checks.len() { "good" } else { "bad" });
        let items = each(checks, |(what, holds)| {
            let (class, mark) = if *holds { ("good", "✓") } else { ("bad", "✗") };
            format!("<li class=\"{class}\">{mark} {}</li>", safe(what))
        });
        body += &format!(
            "<details><summary class=\"{class}\">Checks: {held} of {all} hold</summary><ul>{items}</ul></details>"
        );
    }
    if !figure.numbers.1.is_empty() {
        let rows = figure.numbers.1.len();
        let numbers = csv(figure).lines().map(safe).collect::<Vec<_>>().join("\n");
        body += &format!(
            "<details><summary>All numbers ({rows} rows, figures/{id}.csv)</summary><pre>{numbers}</pre></details>"
        );
    }
    part(id, &safe(title), &body)
}

fn table((head, rows): &Table) -> String {
    if rows.is_empty() {
        return String::new();
    }
    // Numbers stand on the right.
    let class = |column: usize| {
        let of = |row: &Vec<String>| row.get(column).and_then(|cell| cell.chars().next());
        let number = |first: char| first.is_ascii_digit() || first == '-';
        if rows.iter().filter_map(of).all(number) { " class=\"number\"" } else { "" }
    };
    let classes: Vec<&str> = (0..head.len()).map(class).collect();
    let row = |cells: &[String], kind: &str| {
        let cells = each(cells.iter().zip(&classes), |(cell, class)| {
            format!("<{kind}{class}>{}</{kind}>", safe(cell))
        });
        format!("<tr>{cells}</tr>")
    };
    let (head, body) = (row(head, "th"), each(rows, |cells| row(cells, "td")));
    format!("<div class=\"scroll\"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>")
}
