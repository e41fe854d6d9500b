//! One page of HTML that needs no other file and no script.

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

/// A whole page, with its title as heading. The title is text; the body is markup.
pub fn page(title: &str, body: &str) -> String {
    document(title, STYLE, &format!("<h1>{}</h1>\n{body}", safe(title)))
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

/// What is in the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Words, which begin at the left.
    Words,
    /// Numbers, which end at the right.
    Numbers,
}

/// A row of a table: its name, then its cells. None of them is markup.
pub fn row(name: &str, cells: &[String], what: Cells) -> String {
    let class = match what {
        Cells::Words => "",
        Cells::Numbers => " class=\"n\"",
    };
    let cells: String =
        cells.iter().map(|cell| format!("<td{class}>{}</td>", safe(cell))).collect();
    format!("<tr><th>{}</th>{cells}</tr>\n", safe(name))
}

/// A chart with what is said about it. The chart is markup, the caption is text.
pub fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>\n", safe(caption))
}

/// A PNG file of this size as a figure of the page. Both texts are no markup.
pub fn picture(png: &[u8], [width, height]: [usize; 2], told: &str, caption: &str) -> String {
    let (url, told) = (data_url("image/png", png), safe(told).replace('"', "&quot;"));
    let (size, caption) = (format!("width=\"{width}\" height=\"{height}\""), safe(caption));
    format!(
        "<figure class=\"picture\"><img src=\"{url}\" {size} alt=\"{told}\"><figcaption>{caption}</figcaption></figure>\n"
    )
}

/// Markup beside other markup, as far as there is room; below it else.
pub fn beside(first: &str, second: &str) -> String {
    format!("<div class=\"figures\">\n{first}<div>\n{second}</div>\n</div>\n")
}

/// Charts beside each other, as far as there is room.
pub fn figures(figures: &str) -> String {
    format!("<div class=\"figures\">\n{figures}</div>\n")
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
        let evil = "<script>&\u{7}".to_owned();
        let row = row(&evil, std::slice::from_ref(&evil), Cells::Numbers);
        let page = page(&evil, &(row + &figure("<svg></svg>\n", &evil)));
        assert!(!page.contains("<script") && !page.contains('\u{7}'), "{page}");
        assert_eq!(page.matches("&lt;script&gt;&amp;").count(), 5);
        assert!(page.contains("<figure>\n<svg></svg>\n<figcaption>"), "{page}");
    }

    /// Proves that files are written as RFC 4648 says.
    #[test]
    fn files_are_in_base_64() {
        let all = ["", "f", "fo", "foo", "foob"].map(|file| data_url("a/b", file.as_bytes()));
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="];
        assert_eq!(all, expected.map(|text| format!("data:a/b;base64,{text}")));
    }
}
