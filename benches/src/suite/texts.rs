//! What the report says of figures, claims and methods: the words of `texts.md`.

use std::sync::LazyLock;

const TEXT: &str = include_str!("texts.md");

type Pairs = Vec<(&'static str, &'static str)>;

/// The paragraphs of the part with a heading.
fn paragraphs(heading: &str) -> impl Iterator<Item = &'static str> + use<> {
    let begin = format!("\n## {heading}\n");
    let at = TEXT.find(&begin).unwrap_or_else(|| panic!("texts.md has no '{heading}'"));
    let part = TEXT[at + begin.len()..].split("\n## ").next().unwrap_or_default();
    part.split("\n\n").map(str::trim)
}

/// A paragraph on one line.
fn flat(paragraph: &str) -> String {
    paragraph.replace("\n> ", " ").replace('\n', " ")
}

/// The items of the lists of a part, in two at a mark.
fn items(heading: &str, mark: &str) -> Pairs {
    let lines = paragraphs(heading).flat_map(str::lines);
    lines.filter_map(|line| line.strip_prefix("- ")?.split_once(mark)).collect()
}

/// The title of a figure.
pub(super) fn title(figure: &str) -> &'static str {
    paragraphs(figure).next().unwrap_or_default()
}

/// How a figure was made, and what the paper says.
pub(super) fn caption(figure: &str) -> (String, Vec<String>) {
    let is_said = |paragraph: &&str| paragraph.starts_with("> ");
    let paper = paragraphs(figure).filter(is_said).map(|said| flat(&said[2..])).collect();
    let mut caption = flat(paragraphs(figure).nth(1).unwrap_or_default());
    for shared in ["{grid}", "{gains}", "{gpufit}"] {
        caption = caption.replace(shared, &flat(title(shared)));
    }
    (caption, paper)
}

/// Where the paper makes each claim of a figure, and what it says.
pub(super) fn claims(figure: &str) -> Pairs {
    items(figure, ": ")
}

fn meanings(heading: &str) -> Pairs {
    let name = |(name, meaning): (&'static str, _)| (name.trim_start_matches("**"), meaning);
    items(heading, "**: ").into_iter().map(name).collect()
}

/// Each method by its name in figures and records, and what it is.
pub(super) static METHODS: LazyLock<Pairs> = LazyLock::new(|| meanings("methods"));
/// Words that figures and tables use.
pub(super) static TERMS: LazyLock<Pairs> = LazyLock::new(|| meanings("terms"));
