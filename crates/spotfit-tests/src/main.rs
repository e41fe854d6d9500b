//! The command `spotfit`, as the tests start it.

use std::process::ExitCode;

fn main() -> ExitCode {
    spotfit_cli::main()
}
