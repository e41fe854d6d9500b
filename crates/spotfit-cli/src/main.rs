//! The command `spotfit`.

use std::process::ExitCode;

fn main() -> ExitCode {
    spotfit_cli::main()
}
