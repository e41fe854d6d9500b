//! The workspace's own commands: `cargo xtask`.

mod circles;
mod gpu_check;
mod layers;
mod mutants;
mod names;
#[path = "../../kernels/src/pack.rs"]
mod pack;
mod packed;
mod pictures;
mod ptx;
#[path = "../../kernels/src/recency.rs"]
mod recency;
mod source;
mod times;
mod toolchain;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use clap::{Parser, Subcommand};

use ptx::Assembled;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Compile the GPU kernels to PTX: kernels/*.ptx.lzma with their list, and kernels/manifest.json.
    Ptx {
        /// Write nothing, but prove that the files are what the source gives. Where the manifest knows the source by its
        /// hash, a few kernels are compiled in place of all.
        #[arg(long)]
        check: bool,
        /// Compile every kernel, and assemble it for every architecture. Without, those whose text the manifest knows are
        /// assembled for one each.
        #[arg(long, requires = "check")]
        all: bool,
        /// Write nothing, but print the stored PTX of a kernel.
        #[arg(long, value_name = "NAME", conflicts_with = "check")]
        show: Option<String>,
        /// Compile nothing, but pack the stored texts anew.
        #[arg(long, conflicts_with_all = ["check", "show"])]
        repack: bool,
    },
    /// Prove that no more than two files of a crate `fit-…`, `spotfit`, `spotfit-files`, `spotfit-frames` or `spotfit-locs` import each other in a circle.
    Circles,
    /// Prove that no library needs a crate of the workspace that it may not know.
    Layers,
    /// Prove that public names of libraries stand for one thing each, that options may grow (they are `#[non_exhaustive]`, with
    /// setters), and that columns are named by their meaning.
    Names,
    /// Compare a picture with the one that is committed: PNG or SVG, within the tolerances that the differences of
    /// processors need.
    Picture {
        /// The picture that is committed.
        #[arg(value_name = "COMMITTED")]
        committed: PathBuf,
        /// The picture that was made.
        #[arg(value_name = "MADE")]
        made: PathBuf,
    },
    /// Run all tests with the numbers of samples that ordinary runs and CI do without: `cargo test` of the whole workspace with
    /// SPOTFIT_TESTS=all and SPOTFIT_NIGHTLY=1.
    Nightly {
        /// Arguments of `cargo test`, such as `-p fit-tests --test formulas`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Say where the time of the last build (`--timings`), of the last run of the tests (with `.ci/timed` as cargo's runner) and of
    /// the last `.ci/run` went, the largest first.
    Times {
        /// Put the steps of the last `.ci/run` in the place of those that are committed (`.ci/times`).
        #[arg(long)]
        write: bool,
    },
    /// Check a change on a machine with a GPU: its tests, wrong accesses of memory, bits, and speeds beside the last record of the same
    /// device (`benches/records/*/gpu-check.tsv`).
    GpuCheck(gpu_check::GpuCheck),
    /// Put faults into a clone of the last commit, one at a time, and prove that the tests find them (xtask/mutants).
    Mutants {
        /// Parts of the names of those to try, such as `fit-core`; without, all.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Reproduce every figure and table of both papers on this machine: numbers, pictures and a report. `cargo xtask
    /// bench --help` lists its options.
    #[command(disable_help_flag = true)]
    Bench {
        /// Options of the suite; `cargo xtask bench --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum TaskError {
    /// A program is missing.
    #[error("{0}")]
    Missing(String),
    /// A program failed.
    #[error("{what} failed:\n{output}")]
    Failed { what: String, output: String },
    /// A file cannot be read or written.
    #[error("{file}: {source}")]
    File { file: String, source: std::io::Error },
    /// The manifest is no manifest.
    #[error("kernels/manifest.json: {0}")]
    Manifest(#[from] serde_json::Error),
    /// Cargo's page of timings has another form.
    #[error("target/cargo-timings/cargo-timing.html: {0}")]
    Timings(serde_json::Error),
    /// What was checked is not as it should be.
    #[error("the check failed:\n{}\n`cargo xtask ptx` makes the files anew", .0.join("\n"))]
    Check(Vec<String>),
    /// What was looked for and must not be, line by line.
    #[error("{}", .0.join("\n"))]
    Found(Vec<String>),
    /// A picture is not what is committed.
    #[error("{made} is not {committed}: {reason}")]
    Picture { committed: String, made: String, reason: String },
    /// No kernel has that name.
    #[error("there is no kernel '{0}'; kernels/manifest.json lists them")]
    NoKernel(String),
}

impl TaskError {
    /// What went wrong with a file.
    fn of_file(file: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let file = file.display().to_string();
        move |source| Self::File { file, source }
    }
}

/// An error if something was found that must not be.
fn none(found: Vec<String>) -> Result<(), TaskError> {
    if found.is_empty() { Ok(()) } else { Err(TaskError::Found(found)) }
}

fn main() -> ExitCode {
    run(Arguments::parse().command).unwrap_or_else(|error| {
        eprintln!("xtask: {error}");
        ExitCode::FAILURE
    })
}

fn run(command: Task) -> Result<ExitCode, TaskError> {
    match command {
        Task::Ptx { show: Some(name), .. } => ptx::show(&name),
        Task::Ptx { repack: true, .. } => ptx::repack(),
        Task::Ptx { check: false, .. } => ptx::make(),
        Task::Ptx { check: true, all: true, .. } => ptx::check(Assembled::All),
        Task::Ptx { check: true, .. } => ptx::check(Assembled::Sample),
        Task::Circles => circles::check(&ptx::root()),
        Task::Layers => layers::check(&ptx::root()),
        Task::Names => names::check(&ptx::root()),
        Task::Picture { committed, made } => pictures::compare(&committed, &made),
        Task::Times { write } => times::report(&ptx::root(), write),
        Task::GpuCheck(check) => check.run(),
        Task::Mutants { names } => mutants::check(&ptx::root(), &names),
        Task::Nightly { arguments } => return nightly(&arguments),
        Task::Bench { arguments } => return bench(&arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// What a program gives, if it succeeds.
fn output_of(what: &str, command: &mut Command) -> Result<Output, TaskError> {
    let failed = |output: String| TaskError::Failed { what: what.to_owned(), output };
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = [output.stdout, output.stderr].concat();
    Err(failed(String::from_utf8_lossy(&said).into_owned()))
}

/// What a program ended with.
fn code_of(status: std::process::ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Runs the tests with all that they can do.
fn nightly(arguments: &[OsString]) -> Result<ExitCode, TaskError> {
    let mut tests = cargo();
    tests.args(["test", "--locked", "--no-fail-fast"]);
    if !arguments.iter().any(|word| word == "-p" || word == "--package") {
        tests.arg("--workspace");
    }
    let tests = tests.args(arguments).env("SPOTFIT_TESTS", "all").env("SPOTFIT_NIGHTLY", "1");
    Ok(code_of(tests.status().map_err(TaskError::of_file(Path::new("cargo")))?))
}

/// Runs the suite, which is a program of its own: it needs the kernels, and this one makes them. It runs the command, which it finds beside
/// itself.
fn bench(arguments: &[OsString]) -> Result<ExitCode, TaskError> {
    let built = cargo()
        .args(["build", "--quiet", "--release", "--locked", "--workspace"])
        .args(["--bin", "suite", "--bin", "spotfit"])
        .status()
        .map_err(|error| TaskError::Missing(format!("cargo cannot be run: {error}")))?;
    if !built.success() {
        return Ok(ExitCode::FAILURE);
    }
    // Cargo has put this program into a folder beside that of releases.
    let own = std::env::current_exe().map_err(TaskError::of_file(Path::new("xtask")))?;
    let target = own.ancestors().nth(2).unwrap_or(Path::new("target"));
    let suite = target.join("release/suite").with_extension(std::env::consts::EXE_EXTENSION);
    let status = Command::new(&suite).args(arguments).status();
    let status = status.map_err(TaskError::of_file(&suite))?;
    Ok(code_of(status))
}
