//! One page of HTML that needs no other file and no script.

use super::figure::Drawing;
use super::svg::safe;

const STYLE: &str = "
:root { color-scheme: light dark; --line: #ccc; --soft: #666; }
@media (prefers-color-scheme: dark) { :root { --line: #444; --soft: #aaa; } }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1040px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; overflow-wrap: anywhere; }
h2 { font-size: 1.15em; margin-top: 1.8em; }
table { border-collapse: collapse; }
th, td { padding: 0.2em 0.8em 0.2em 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td { overflow-wrap: anywhere; }
.figures { display: flex; flex-wrap: wrap; gap: 1em; }
figure { margin: 0; max-width: 480px; break-inside: avoid; }
figure > svg { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); box-sizing: border-box; }
img { display: block; max-width: 100%; height: auto; }
.figures > div { flex: 1 1 300px; min-width: 0; }
figcaption { color: var(--soft); font-size: 0.85em; }
@media print { body { margin: 0; max-width: none; font-size: 11px; } tr { break-inside: avoid; } }
";

/// A page that is written from the top to the bottom, beginning with its title. What is said on it is text, not markup.
#[derive(Clone, Debug)]
pub struct ReportPage {
    title: String,
    body: String,
}

impl ReportPage {
    /// A page with this title alone.
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), body: format!("<h1>{}</h1>\n", safe(title)) }
    }

    /// Begins a section.
    pub fn heading(&mut self, text: &str) {
        self.body += &format!("<h2>{}</h2>\n", safe(text));
    }

    /// Adds a paragraph.
    pub fn say(&mut self, text: &str) {
        self.body += &format!("<p>{}</p>\n", safe(text));
    }

    /// Adds a table.
    pub fn table(&mut self, table: &ReportTable) {
        self.body += &table.html();
    }

    /// Adds a table that can be scrolled to the side where it is wider than the page.
    pub fn wide_table(&mut self, table: &ReportTable) {
        let table = table.html();
        self.body += &format!("<div style=\"overflow-x:auto\">{}</div>\n", table.trim_end());
    }

    /// Adds a figure, with a table beside it as far as there is room, below it else.
    pub fn beside(&mut self, figure: &str, table: &ReportTable) {
        let table = table.html();
        self.body += &format!("<div class=\"figures\">\n{figure}<div>\n{table}</div>\n</div>\n");
    }

    /// Adds drawings beside each other, as far as there is room, each with what is said about it.
    pub fn figures<'a>(&mut self, all: impl IntoIterator<Item = (&'a Drawing, &'a str)>) {
        let figure = |(drawing, caption): (&Drawing, &str)| {
            let caption = safe(caption);
            format!("<figure>\n{}<figcaption>{caption}</figcaption>\n</figure>\n", drawing.svg())
        };
        let all: String = all.into_iter().map(figure).collect();
        self.body += &format!("<div class=\"figures\">\n{all}</div>\n");
    }

    /// The whole page, which ends with these words and who made it.
    pub fn end(mut self, words: &str) -> String {
        self.say(&format!("{words}Made by Spotfit {}.", env!("CARGO_PKG_VERSION")));
        document(&self.title, STYLE, &self.body)
    }
}

/// A table of a page. What is in its cells is text: words, which begin at the left, unless it is one of numbers.
#[derive(Clone, Debug, Default)]
pub struct ReportTable {
    rows: String,
    look: &'static str,
}

impl ReportTable {
    /// An empty table of numbers, which end at the right.
    pub fn of_numbers() -> Self {
        Self { look: " class=\"n\"", ..Self::default() }
    }

    /// Adds a row with its name and its cells.
    pub fn row(&mut self, name: &str, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.line(name, "td", self.look, cells);
    }

    /// Adds the names of columns, the first of which has the names of rows.
    pub fn head(&mut self, first: &str, names: impl IntoIterator<Item = impl AsRef<str>>) {
        self.line(first, "th", self.look, names);
    }

    /// Adds names above so many columns each.
    pub fn spans(&mut self, names: &[&str], across: usize) {
        self.line("", "th", &format!(" colspan=\"{across}\""), names);
    }

    fn line(
        &mut self,
        first: &str,
        tag: &str,
        look: &str,
        cells: impl IntoIterator<Item = impl AsRef<str>>,
    ) {
        let cell = |text: &str| format!("<{tag}{look}>{}</{tag}>", safe(text));
        let cells: String = cells.into_iter().map(|text| cell(text.as_ref())).collect();
        self.rows += &format!("<tr><th>{}</th>{cells}</tr>\n", safe(first));
    }

    fn html(&self) -> String {
        format!("<table>\n{}</table>\n", self.rows)
    }
}

/// A whole page that looks as its own style sheet says. The title is text, and no heading; the body is markup.
pub fn document(title: &str, style: &str, body: &str) -> String {
    let title = safe(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{style}</style>\n</head>\n\
         <body>\n{body}</body>\n</html>\n"
    )
}

/// A PNG file of this size as a figure of the page. Both texts are no markup.
pub fn picture(png: &[u8], [width, height]: [usize; 2], told: &str, caption: &str) -> String {
    let (url, told) = (data_url("image/png", png), safe(told).replace('"', "&quot;"));
    let (size, caption) = (format!("width=\"{width}\" height=\"{height}\""), safe(caption));
    format!(
        "<figure class=\"picture\"><img src=\"{url}\" {size} alt=\"{told}\"><figcaption>{caption}</figcaption></figure>\n"
    )
}

/// The address of a file that is within the page: its kind, such as `image/png`, and its bytes in base 64.
pub fn data_url(kind: &str, file: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!("data:{kind};base64,");
    for three in file.chunks(3) {
        let bits = three.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that what is text is no markup, wherever it stands.
    #[test]
    fn text_is_no_markup() {
        let evil = "<script>&\u{7}";
        let mut table = ReportTable::of_numbers();
        table.head(evil, [evil]);
        table.spans(&[evil], 2);
        table.row(evil, [evil]);
        let mut page = ReportPage::new(evil);
        page.heading(evil);
        page.say(evil);
        page.table(&table);
        page.wide_table(&table);
        let drawing = Drawing::new(evil, 9.0, 9.0);
        page.figures([(&drawing, evil)]);
        page.beside(&picture(&[], [1, 1], evil, evil), &table);
        let page = page.end(evil);
        assert!(!page.contains("<script") && !page.contains('\u{7}'), "{page}");
        // Title, heading and paragraphs, three tables of five, a drawing and a picture of two.
        assert_eq!(page.matches("&lt;script&gt;&amp;").count(), 5 + 3 * 5 + 2 + 2, "{page}");
        assert!(
            page.contains("<figure>\n<svg ") && page.contains("</svg>\n<figcaption>"),
            "{page}"
        );
    }

    /// Proves that files are written as RFC 4648 says.
    #[test]
    fn files_are_in_base_64() {
        let all = ["", "f", "fo", "foo", "foob"].map(|file| data_url("a/b", file.as_bytes()));
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="];
        assert_eq!(all, expected.map(|text| format!("data:a/b;base64,{text}")));
    }
}
