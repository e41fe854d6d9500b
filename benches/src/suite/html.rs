//! The report: one page that needs nothing else.

use std::fmt::Write as _;

use super::figures::{Figure, csv, verdict};
use super::record::{About, Record};

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--soft:#5d5d5d;--line:#d5d5d5;--box:#f5f6f8;--link:#0b57a4;--good:#1a7f37;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e4e4e4;--paper:#161616;--soft:#a8a8a8;--line:#3d3d3d;--box:#202124;--link:#8ab8f0;--good:#5bc27a;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;color:var(--ink);background:var(--paper);font:16px/1.55 system-ui,sans-serif}
main,header{max-width:1240px;margin:0 auto;padding:0 1.2rem}
h1{font-size:1.9rem;line-height:1.2;margin:2rem 0 .3rem}
h2{font-size:1.25rem;margin:0 0 .6rem}
a{color:var(--link)}
p,li{max-width:75ch}
.soft{color:var(--soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;background:var(--box);padding:1rem;border-radius:8px;overflow-wrap:anywhere}
dt{color:var(--soft)} dd{margin:0}
nav ul{columns:2 24rem;padding-left:1.2rem}
section{border-top:1px solid var(--line);padding:1.6rem 0}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:1rem;margin:1rem 0}
.pictures figure{margin:0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
thead th{position:sticky;top:0;background:var(--paper)}
details{margin:.6rem 0} summary{cursor:pointer;color:var(--link)}
pre{background:var(--box);padding:.8rem;overflow:auto;max-height:24rem;font-size:.8rem;border-radius:8px}
.good{color:var(--good)} .bad{color:var(--bad)}
@media(max-width:36rem){dl{grid-template-columns:1fr}dt{margin-top:.4rem}h1{font-size:1.5rem}}
@media print{details{display:none}}
";

/// The report.
pub fn page(record: &Record, figures: &[Figure]) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write_page(&mut page, record, figures);
    page
}

fn list(page: &mut String, head: &str, class: &str, lines: &[String]) -> std::fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    write!(page, "<p class=\"{class}\"><strong>{head}</strong></p><ul class=\"{class}\">")?;
    for line in lines {
        write!(page, "<li>{}</li>", escape(line))?;
    }
    page.write_str("</ul>")
}

fn write_page(page: &mut String, record: &Record, figures: &[Figure]) -> std::fmt::Result {
    let about = &record.about;
    write!(
        page,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Spotfit: both papers, reproduced</title><style>{STYLE}</style></head><body>\
         <header><h1>Spotfit: both papers, reproduced</h1>\
         <p class=\"soft\">Every figure and table of Leutenegger &amp; Weber 2021 and of Przybylski et al. 2017, made \
         anew on this machine, and some of our own.</p>"
    )?;
    let budget = format!("{} s a cell; medians, quartiles in the tables", about.budget);
    let tick = format!("{:.0} ns", about.tick * 1e9);
    let seed = about.seed.to_string();
    let kind = if about.quick {
        "a short run: it checks accuracy; its times are not to be quoted"
    } else {
        "a full run"
    };
    page.write_str("<dl>")?;
    for (name, value) in [
        ("Date", about.date.as_str()),
        ("Command", about.command.as_str()),
        ("Kind", kind),
        ("Processor", about.processor.as_str()),
        ("GPU", &about.gpus.join("; ")),
        ("System", about.system.as_str()),
        ("Version", about.version.as_str()),
        ("Compiler", about.compiler.as_str()),
        ("Seed", seed.as_str()),
        ("Time", budget.as_str()),
        ("Timer's tick", tick.as_str()),
    ] {
        write!(page, "<dt>{name}</dt><dd>{}</dd>", escape(value))?;
    }
    page.write_str("</dl>")?;
    let (checks, failed) = verdict(figures);
    if failed.is_empty() {
        write!(page, "<p class=\"good\">✓ All {checks} checks of accuracy hold.</p>")?;
    } else {
        let head = format!("✗ {} of {checks} checks of accuracy do not hold:", failed.len());
        list(page, &head, "bad", &failed)?;
    }
    page.write_str("<nav><ul>")?;
    for figure in figures {
        write!(page, "<li><a href=\"#{}\">{}</a></li>", figure.id, escape(figure.title))?;
    }
    page.write_str("</ul></nav></header><main>")?;
    for figure in figures {
        section(page, figure, about)?;
    }
    page.write_str("</main></body></html>\n")
}

fn section(page: &mut String, figure: &Figure, about: &About) -> std::fmt::Result {
    let Figure { id, title, caption, paper, found, missing, pictures, table, checks, .. } = figure;
    write!(
        page,
        "<section id=\"{id}\"><h2>{}</h2><p class=\"soft\">{}</p>",
        escape(title),
        escape(caption)
    )?;
    list(page, "The paper", "", paper)?;
    if found.len() > 8 {
        write!(page, "<details><summary>What was found ({} lines)</summary>", found.len())?;
        list(page, "Here", "", found)?;
        page.write_str("</details>")?;
    } else {
        list(page, "Here", "", found)?;
    }
    if !pictures.is_empty() {
        page.write_str("<div class=\"pictures\">")?;
        for (_, svg) in pictures {
            write!(page, "<figure>{svg}</figure>")?;
        }
        page.write_str("</div>")?;
    }
    let (head, rows) = table;
    if !rows.is_empty() {
        page.write_str("<div class=\"scroll\"><table><thead><tr>")?;
        for cell in head {
            write!(page, "<th>{}</th>", escape(cell))?;
        }
        page.write_str("</tr></thead><tbody>")?;
        for row in rows {
            page.write_str("<tr>")?;
            for cell in row {
                write!(page, "<td>{}</td>", escape(cell))?;
            }
            page.write_str("</tr>")?;
        }
        page.write_str("</tbody></table></div>")?;
    }
    list(page, "Missing", "soft", missing)?;
    if !checks.is_empty() {
        let held = checks.iter().filter(|(_, holds)| *holds).count();
        let class = if held == checks.len() { "good" } else { "bad" };
        write!(
            page,
            "<details><summary class=\"{class}\">Checks: {held} of {} hold</summary><ul>",
            checks.len()
        )?;
        for (what, holds) in checks {
            let (class, mark) = if *holds { ("good", "✓") } else { ("bad", "✗") };
            write!(page, "<li class=\"{class}\">{mark} {}</li>", escape(what))?;
        }
        page.write_str("</ul></details>")?;
    }
    if !figure.numbers.1.is_empty() {
        let rows = figure.numbers.1.len();
        write!(
            page,
            "<details><summary>All numbers ({rows} rows, {id}.csv)</summary><pre>{}</pre></details>",
            escape(&csv(figure, about))
        )?;
    }
    page.write_str("</section>")
}
