//! Both papers, reproduced: what `cargo xtask bench` does.
//!
//! [`experiments`] measure and fill a [`record`], which is written as it grows, so that a stopped run can be resumed;
//! [`figures`] and [`claims`] are made from a record, and [`html`] puts them on a page. Nothing is measured twice for
//! two figures.

mod alone;
pub mod claims;
pub mod compare;
pub mod crowds;
pub mod end_to_end;
pub mod experiments;
pub mod figures;
pub mod formulas;
pub mod glossary;
pub mod html;
pub mod machine;
pub mod methods;
pub mod missing;
mod reasons;
pub mod record;
pub mod stated;
mod texts;
pub mod timing;

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use end_to_end::Programs;
use experiments::{EXPERIMENTS, Run};
use figures::{ALL, Entry, Figure, csv, csv_head, verdict};
use methods::{Backend, Room, Roster};
use record::{About, Journal, Record};
use timing::Budget;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// A file cannot be read or written.
    #[error("{}: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: std::io::Error,
    },
    /// A file is no record.
    #[error("{} is not a record of this program: {source}", file.display())]
    Record {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// There is a run in the folder already.
    #[error("{} exists already: choose another folder with --out, or continue that run with --resume", .0.display())]
    Exists(PathBuf),
    /// The run in the folder is of another kind.
    #[error(
        "{} is from another version, another machine, another seed or a run with another --quick, and cannot be \
         continued",
        .0.display()
    )]
    Other(PathBuf),
    /// Nothing has that name.
    #[error("there is no figure '{name}'; the figures are {known}")]
    Figure {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// A fitter cannot be used.
    #[error("{0}")]
    Method(String),
}

impl SuiteError {
    fn file(file: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let file = file.to_path_buf();
        move |source| Self::File { file, source }
    }
}

/// What is wanted.
#[derive(Clone, Debug, clap::Args)]
pub struct Settings {
    /// Make only these figures: names or the first letters of names (lw, gpufit, lw-table1, …), separated by commas
    /// [default: all]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub figures: Vec<String>,
    /// Measure these backends, separated by commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        value_parser = backend,
        default_value = "reference,cpu,gpu,gpu-published,explicit"
    )]
    pub backends: Vec<Backend>,
    /// Also measure a library with Gpufit's C interface, for example gpufit=path/to/libGpufit.so; can be repeated
    #[arg(long = "peer", value_name = "NAME=LIBRARY", value_parser = peer)]
    pub peers: Vec<(String, PathBuf)>,
    /// What runs whole commands.
    #[command(flatten)]
    pub programs: Programs,
    /// Check accuracy in a short run; do not quote its times
    #[arg(long)]
    pub quick: bool,
    /// Write the report and all other files to this folder
    #[arg(long, value_name = "FOLDER", default_value = "spotfit-bench")]
    pub out: PathBuf,
    /// Continue the run in the output folder
    #[arg(long)]
    pub resume: bool,
    /// Skip measurements in which a call takes longer than this
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub budget: f64,
    /// Seed of all simulations
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
}

fn backend(word: &str) -> Result<Backend, String> {
    let known = Backend::ALL.map(Backend::name).join(", ");
    let find = |backend: &Backend| backend.name() == word;
    Backend::ALL.into_iter().find(find).ok_or_else(|| format!("the backends are {known}"))
}

fn peer(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("expected NAME=LIBRARY")?;
    if name.is_empty() || backend(name).is_ok() || name.contains(',') {
        return Err(format!("'{name}' cannot be the name of a library"));
    }
    // A path without a folder would be looked for elsewhere.
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), path))
}

fn seconds(text: &str) -> Result<f64, String> {
    end_to_end::within(text, " seconds", [0.01, 3600.0])
}

/// What came of it.
#[derive(Debug)]
pub struct Summary {
    /// The report.
    pub report: PathBuf,
    /// Checks of accuracy that were made.
    pub checks: usize,
    /// Those that do not hold.
    pub failed: Vec<String>,
    /// Methods that could not be measured, and why.
    pub missing: Vec<String>,
}

/// The figures that are asked for.
fn wanted(names: &[String]) -> Result<Vec<&'static Entry>, SuiteError> {
    let is = |entry: &Entry, name: &String| entry.id.starts_with(name.as_str());
    if let Some(name) = names.iter().find(|name| !ALL.iter().any(|entry| is(entry, name))) {
        let known = ALL.iter().map(|entry| entry.id).collect::<Vec<_>>().join(", ");
        return Err(SuiteError::Figure { name: name.clone(), known });
    }
    let asked = |entry: &&Entry| names.is_empty() || names.iter().any(|name| is(entry, name));
    Ok(ALL.iter().filter(asked).collect())
}

/// Measures what is wanted, by this command, and writes all files.
///
/// # Errors
/// [`SuiteError`]. What was measured before stays in the journal.
pub fn run(settings: &Settings, command: String) -> Result<Summary, SuiteError> {
    let entries = wanted(&settings.figures)?;
    let roster = Roster::new(&settings.backends, &settings.peers);
    let roster = roster.map_err(|error| SuiteError::Method(error.to_string()))?;
    let tick = machine::tick();
    let about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        date: machine::date(),
        command,
        processor: machine::processor(),
        gpus: machine::gpus(),
        compiler: env!("SPOTFIT_COMPILER").to_owned(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        tick,
        budget: settings.budget,
        seed: settings.seed,
        quick: settings.quick,
        missing: roster.missing.clone(),
    };
    let progress = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    let style = "{wide_bar} {pos} of {len}, {msg}, {eta} to go";
    if let Ok(style) = ProgressStyle::with_template(style) {
        progress.set_style(style);
    }
    let mut run = Run {
        journal: Journal::open(&settings.out, about, settings.resume)?,
        room: Room::new(roster.gpu),
        loaded: None,
        roster,
        budget: Budget { tick, seconds: settings.budget },
        quick: settings.quick,
        seed: settings.seed,
        programs: settings.programs.clone(),
        progress,
        counting: true,
    };
    let asked = |name: &str| entries.iter().any(|entry| entry.experiments.contains(&name));
    for counting in [true, false] {
        run.counting = counting;
        for (_, measure) in EXPERIMENTS.into_iter().filter(|(name, _)| asked(name)) {
            measure(&mut run)?;
        }
    }
    run.progress.finish_and_clear();
    report(&run.journal.record, &settings.figures, &settings.out)
}

/// Makes the figures and the report of a stored record.
///
/// # Errors
/// [`SuiteError`] if there is no such record or figure, if files cannot be written, or if the folder holds another run,
/// whose report this would replace.
pub fn render(path: &Path, names: &[String], out: &Path) -> Result<Summary, SuiteError> {
    let record = Record::load(path)?;
    let journal = out.join("journal.jsonl");
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    let place = |folder: &Path| std::path::absolute(folder).ok();
    if journal.exists() && folder.and_then(place) != place(out) {
        return Err(SuiteError::Exists(journal));
    }
    report(&record, names, out)
}

/// Makes the figures and the report from a record.
///
/// # Errors
/// [`SuiteError`] if there is no such figure, or files cannot be written.
pub fn report(record: &Record, names: &[String], out: &Path) -> Result<Summary, SuiteError> {
    let figures: Vec<Figure> = wanted(names)?.iter().map(|entry| entry.figure(record)).collect();
    let (checks, failed) = verdict(&figures);
    let report = write_all(out, record, &figures)?;
    let missing = missing::absent(record).into_iter().map(|gap| gap.text).collect();
    Ok(Summary { report, checks, failed, missing })
}

/// Writes the record, the figures' numbers and pictures, the report, and all of it in one archive.
fn write_all(out: &Path, record: &Record, figures: &[Figure]) -> Result<PathBuf, SuiteError> {
    let file = out.join("record.json");
    let json = serde_json::to_vec(record).map_err(|source| SuiteError::Record { file, source })?;
    let mut files: Vec<(String, Vec<u8>)> = vec![("record.json".to_owned(), json)];
    for figure in figures {
        let id = figure.id;
        if !figure.numbers.1.is_empty() {
            let text = csv_head(figure, &record.about) + &csv(figure);
            files.push((format!("figures/{id}.csv"), text.into_bytes()));
        }
        for (name, svg) in &figure.pictures {
            let path = format!("figures/{id}-{name}.svg");
            files.push((path, described(svg, record).into_bytes()));
        }
    }
    files.push(("report.html".to_owned(), html::page(record, figures).into_bytes()));
    for (name, contents) in &files {
        record::write(&out.join(name), contents)?;
    }
    let archive = out.join("report.tar.gz");
    let packed = pack(&files).map_err(SuiteError::file(&archive))?;
    record::write(&archive, &packed)?;
    Ok(out.join("report.html"))
}

/// A picture that says where, when and how its numbers were measured.
fn described(svg: &str, record: &Record) -> String {
    let lines = record.about.lines().join("\n").replace('&', "&amp;").replace('<', "&lt;");
    svg.replacen("</title>", &format!("</title><desc>{lines}</desc>"), 1)
}

/// An archive of files.
fn pack(files: &[(String, Vec<u8>)]) -> std::io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (name, contents) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(contents.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("spotfit-report/{name}"), contents.as_slice())?;
    }
    let mut packed = archive.into_inner()?;
    packed.flush()?;
    packed.finish()
}
