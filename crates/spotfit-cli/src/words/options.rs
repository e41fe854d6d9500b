//! Options of the operations of the library, as they are typed.

use clap::Command;
use clap::builder::Resettable;

/// The same command with help that names its options as they are typed: `radius_z`, as the docs of a struct have it, is --radius-z. What is
/// more than a paragraph of these is for readers of the library.
pub(crate) fn as_typed(command: Command) -> Command {
    let typed = command
        .get_arguments()
        .filter_map(|arg| Some((format!("`{}`", arg.get_id()), format!("--{}", arg.get_long()?))));
    let typed: Vec<(String, String)> = typed.collect();
    let command = command.mut_args(|arg| {
        let Some(help) = arg.get_help().map(ToString::to_string) else { return arg };
        // Brackets are links in docs unless they have these.
        let help = help.replace('\\', "");
        let help = typed.iter().fold(help, |help, (name, typed)| help.replace(name, typed));
        arg.help(help).long_help(Resettable::Reset)
    });
    command.mut_subcommands(as_typed)
}
