//! What every report must keep, whatever was measured.

use benches::suite::claims::CLAIMS;

/// A report.
pub(crate) struct Page(pub(crate) String);

/// The text between tags, with the few entities that the report has.
fn text(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, rest)| rest));
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&amp;", "&")
}

/// How many numbers a text has; 4.5·10⁶ is one, and the digits of f32 are none.
pub(crate) fn numbers(text: &str) -> usize {
    let text = text.replace("·10", "");
    let mut count = 0;
    let mut before = ' ';
    for here in text.chars() {
        let inside = before.is_alphanumeric() || ".,".contains(before);
        count += usize::from(here.is_ascii_digit() && !inside);
        before = here;
    }
    count
}

/// The notation of a tick: what is the same for all ticks of an axis.
fn notation(tick: &str) -> String {
    match tick.split_once('·') {
        Some((front, _)) => {
            format!("times a power, {:?}", front.split_once('.').map(|p| p.1.len()))
        }
        None if tick.starts_with("10") && !tick.is_ascii() => "a power".to_owned(),
        None => format!("decimal, {:?}", tick.split_once('.').map(|p| p.1.len())),
    }
}

impl Page {
    fn parts<'a>(&'a self, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.split(begin).skip(1).map(move |part| part.split(end).next().unwrap_or_default())
    }

    /// The text of every cell of every table.
    pub(crate) fn cells(&self) -> Vec<String> {
        self.parts("<td", "</td>").map(|cell| text(&format!("<td{cell}"))).collect()
    }

    /// The rows of the claims: the claim, and whether it agrees.
    pub(crate) fn claims(&self) -> Vec<(String, String)> {
        let section =
            self.parts("<section id=\"claims\">", "</section>").next().unwrap_or_default();
        let rows = section.split("<tr><th scope=\"row\">").skip(1);
        rows.map(|row| {
            let claim = text(row.split("</th>").next().unwrap_or_default());
            let last = row.rsplit("<td>").next().unwrap_or_default();
            (claim, text(last.split("</td>").next().unwrap_or_default()))
        })
        .collect()
    }

    /// What must be so: a row for every claim, one number a cell, one notation an axis, and no picture without a curve
    /// or a bar.
    pub(crate) fn check(&self) {
        let claims: Vec<String> = self.claims().into_iter().map(|(claim, _)| claim).collect();
        assert_eq!(claims, CLAIMS.iter().map(|claim| claim.text).collect::<Vec<_>>());
        for (claim, agrees) in self.claims() {
            let known = ["yes", "no, see why"].contains(&agrees.as_str())
                || agrees.starts_with("not measured, see ");
            assert!(known, "{claim}: {agrees}");
        }
        for cell in self.cells() {
            assert!(numbers(&cell) <= 1, "more than a number: {cell}");
        }
        for table in self.parts("<div class=\"scroll\">", "</table>") {
            columns(table);
        }
        let begin = self.0.find("<section id=\"claims\">").expect("the claims");
        let figure = self.0.find("<figure>").unwrap_or(self.0.len());
        assert!(begin < figure && self.0.find("id=\"glossary\"").is_some_and(|at| at < figure));
        // A chart has another svg within it.
        for svg in self.parts("<figure>", "</figure>") {
            picture(svg);
        }
    }
}

/// The numbers of a column are in one notation: all of them with a power of ten, or none.
fn columns(table: &str) {
    let cell = |cell: &str| text(&format!("<td{cell}"));
    let rows = table.split("<tr>").skip(2).map(|row| row.split("<td").skip(1).map(cell).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    for column in 0..rows[0].len() {
        let cells: Vec<&str> = rows.iter().map(|row| row[column].as_str()).collect();
        let power =
            |cell: &&&str| cell.contains("·10") || cell.starts_with("10") && !cell.is_ascii();
        let powers = cells.iter().filter(power).count();
        assert!(powers == 0 || powers == cells.len(), "{cells:?}");
    }
}

/// The value of an attribute.
fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
    let value = element.split_once(&format!(" {name}=\"")).map_or("", |(_, rest)| rest);
    value.split('"').next().unwrap_or_default()
}

fn picture(svg: &str) {
    let title = svg.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
    let title = title.expect("every picture has a title");
    let mut ticks: [Vec<&str>; 2] = Default::default();
    let is_chart = svg.contains(" class=\"x\"");
    let mut curves = 0;
    for element in svg.split('<') {
        let axis = ["x", "y"].iter().position(|axis| attribute(element, "class") == *axis);
        if let Some(axis) = axis {
            ticks[axis].push(element.split_once('>').map_or("", |(_, text)| text.trim()));
        }
        let line = attribute(element, "class") == "curve";
        curves += usize::from(line && !attribute(element, "points").is_empty());
        let bar = !is_chart && element.starts_with("rect") && !attribute(element, "x").is_empty();
        curves += usize::from(bar);
    }
    assert!(curves > 0, "{title}: nothing to see");
    for (axis, ticks) in ["x", "y"].into_iter().zip(ticks) {
        assert!(ticks.len() > 1 || !is_chart, "{title}: {axis} has no ticks");
        // A bare zero goes with every power.
        let mut all: Vec<String> =
            ticks.iter().filter(|tick| **tick != "0").map(|tick| notation(tick)).collect();
        all.dedup();
        assert!(all.len() <= 1, "{title}: {axis} has {ticks:?}");
    }
}
