//! How the report of an operation is printed.

use std::fmt::Display;
use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::paths::is_standard_output;
use crate::error::{CliError, words_of};
use crate::say::hearer::hearer;
use crate::say::message::{print, say};

/// Whether a report is for people or for programs.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ReportArguments {
    /// Print the report as one JSON object on standard output, instead of as text on standard error.
    #[arg(help_heading = "Output", long)]
    json: bool,
}

impl ReportArguments {
    /// Refuses two results on standard output, before any work is done.
    pub(crate) fn check(self, output: &Path) -> Result<(), CliError> {
        if self.json && is_standard_output(output) {
            let reason = "--json prints the report on standard output; write the table to a file";
            return Err(CliError::Other(reason.to_owned()));
        }
        Ok(())
    }

    /// Prints a report.
    pub(crate) fn tell(self, report: &(impl Display + Serialize)) -> Result<(), CliError> {
        if let Some(hearer) = hearer() {
            hearer.report(&json(report)?);
        }
        if self.json {
            return print(&format!("{}\n", json(report)?));
        }
        say!("{}", words_of(&report.to_string()));
        Ok(())
    }

    /// Prints a report that is not told in words.
    pub(crate) fn tell_json(self, report: &impl Serialize) -> Result<(), CliError> {
        if self.json { print(&format!("{}\n", json(report)?)) } else { Ok(()) }
    }
}

impl ReportArguments {
    /// Prints a report that is the result itself on standard output.
    pub(crate) fn print(self, report: &(impl Display + Serialize)) -> Result<(), CliError> {
        let text = if self.json { json(report)? } else { report.to_string() };
        print(&format!("{text}\n"))
    }
}

/// A report as a JSON object.
pub(crate) fn json(report: &impl Serialize) -> Result<String, CliError> {
    serde_json::to_string_pretty(report).map_err(|error| CliError::Other(error.to_string()))
}
