//! The workspace's own commands: `cargo xtask`.

mod bench;
mod ptx;
mod toolchain;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compile the GPU kernels to PTX: kernels/*.ptx and kernels/manifest.json.
    Ptx {
        /// Write nothing, but prove that the files are what the source gives.
        #[arg(long)]
        check: bool,
    },
    /// Reproduce every figure and table of both papers on this machine: numbers, pictures and a report.
    Bench(Box<bench::BenchArguments>),
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
    /// What was checked is not as it should be.
    #[error("the check failed:\n{}\n`cargo xtask ptx` makes the files anew", .0.join("\n"))]
    Check(Vec<String>),
    /// There is no report.
    #[error(transparent)]
    Suite(#[from] benches::suite::SuiteError),
}

fn main() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    let result = match command {
        Command::Ptx { check: false } => ptx::make().map(|()| ExitCode::SUCCESS),
        Command::Ptx { check: true } => ptx::check().map(|()| ExitCode::SUCCESS),
        Command::Bench(arguments) => bench::bench(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
