use super::error::CliError;
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArguments {}
pub(crate) fn run(_: &DemoArguments) -> Result<(), CliError> { Ok(()) }
