//! Parameters that data sets share, that follow from others, or of which something is known beforehand.

use std::io::Read;
use std::path::Path;

use clap::Args;
use spotfit::model::answers::FitAnswers;
use spotfit::model::{Model, Sharing, read_groups, read_prior};

use crate::error::CliError;
use crate::words::data::Data;

#[derive(Debug, Args)]
pub(super) struct SharedArguments {
    /// Parameters that are the same in all data sets, which are fitted together; or in each group of them: t:GROUPS.csv is a text with a
    /// group for each data set, one a line in their order, or beside the name of each. In double precision on the CPU.
    #[arg(long, value_delimiter = ',', value_name = "NAME[:GROUPS.csv],...", help_heading = "Fit")]
    share: Vec<String>,
    /// A parameter that follows from others, such as f2=1-f1; it is no parameter any more, and the table has its value and error. May be
    /// repeated.
    #[arg(long = "where", value_name = "NAME=EXPRESSION", help_heading = "Model")]
    ties: Vec<String>,
    /// What is known of parameters from elsewhere: a value and its standard deviation, as an extra point of each data set, or of all for a
    /// shared parameter. Needs --absolute or mle. In double precision on the CPU.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME=MEAN+-SD,...",
        allow_hyphen_values = true,
        help_heading = "Fit"
    )]
    prior: Vec<String>,
}

/// What is shared, and what groups are called.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) sharing: Sharing,
    pub(super) groups: Vec<(usize, Vec<String>)>,
}

/// The most bytes that a file of groups may have.
const MOST_TEXT: u64 = 1 << 28;

/// A file of groups.
fn text(file: &str) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(file)
        .and_then(|opened| opened.take(MOST_TEXT + 1).read_to_end(&mut bytes));
    let count = read.map_err(|error| CliError::file(file, error.to_string()))?;
    if count as u64 > MOST_TEXT {
        return Err(CliError::file(file, "a text with groups is not as long as that"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn named(option: &str, error: impl std::fmt::Display) -> CliError {
    CliError::Other(format!("{option}: {error}"))
}

impl SharedArguments {
    /// Whether data sets are fitted together, or with priors.
    pub(super) fn is_asked(&self) -> bool {
        self.is_shared() || !self.prior.is_empty()
    }

    /// Whether data sets are fitted together.
    pub(super) fn is_shared(&self) -> bool {
        !self.share.is_empty()
    }

    /// The files of groups.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Path> {
        self.share.iter().filter_map(|word| word.split_once(':')).map(|(_, file)| Path::new(file))
    }

    /// The model with its ties.
    pub(super) fn tied(&self, model: Model) -> Result<Model, CliError> {
        let ties: Vec<&str> = self.ties.iter().map(String::as_str).collect();
        model.with_ties(&ties).map_err(|error| named("--where", error))
    }

    /// What is asked besides, with the parameters that are tied.
    pub(super) fn answers(
        &self,
        mut answers: FitAnswers,
        model: &Model,
    ) -> Result<FitAnswers, CliError> {
        for text in model.tie_formulas() {
            answers =
                answers.with_derived(&text, model).map_err(|error| named("--where", error))?;
        }
        Ok(answers)
    }

    /// What the data sets share.
    pub(super) fn sharing(&self, model: &Model, data: &Data) -> Result<Shared, CliError> {
        let mut shared = Shared::default();
        for word in &self.share {
            let (name, file) = match word.split_once(':') {
                Some((name, file)) => (name, Some(file)),
                None => (word.as_str(), None),
            };
            let parameter =
                model.parameter(name.trim()).map_err(|error| named("--share", error))?;
            let Some(file) = file else {
                shared.sharing = shared.sharing.with_shared(parameter);
                continue;
            };
            let text = text(file)?;
            let (groups, called) = read_groups(&text, &data.names, data.count)
                .map_err(|error| CliError::file(file, error.to_string()))?;
            shared.sharing = shared.sharing.with_groups(parameter, groups);
            shared.groups.push((parameter, called));
        }
        for text in &self.prior {
            let prior = read_prior(text, model).map_err(|error| named("--prior", error))?;
            shared.sharing =
                shared.sharing.with_prior(prior.parameter, prior.mean, prior.deviation);
        }
        Ok(shared)
    }
}
