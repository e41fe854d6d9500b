//! The files of the page, which are part of the command.

/// A file of the page: its name and its content.
pub(super) struct PageFile {
    pub(super) name: &'static str,
    pub(super) content: &'static str,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(PageFile { name: $name, content: include_str!(concat!("page/", $name)) },)*]
    };
}

/// All files of the page.
const FILES: &[PageFile] = files![
    "api.js",
    "channels.js",
    "colours.js",
    "dom.js",
    "drift.js",
    "filter.js",
    "filters.js",
    "form.js",
    "frame.js",
    "histogram.js",
    "index.html",
    "jobs.js",
    "main.js",
    "measure.js",
    "movie.js",
    "picks.js",
    "picture.js",
    "points.js",
    "psf.js",
    "spot.js",
    "stats.js",
    "steps.js",
    "style.css",
    "tables.js",
    "tiles.js",
    "view.js"
];

/// The file with this name.
pub(super) fn file(name: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.name == name)
}

/// What a file is, by its name.
pub(super) fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
