//! `spotfit devices`: the instruction sets and GPUs of this machine.

use clap::Args;

use crate::error::CliError;
use crate::say::message::print;
use spotfit::InstructionSet;
use spotfit::gpu::{DeviceInfo, devices};
use spotfit::steps::devices::{known, measure};

#[derive(Debug, Args)]
pub(crate) struct DevicesArguments {
    /// Measure how fast this machine fits, which takes some seconds, and keep it: --backend auto takes the GPU for jobs that it does sooner
    /// than the threads. It is kept in spotfit/speeds.json in the folder of settings (XDG_CONFIG_HOME, ~/.config or APPDATA); the
    /// environment variable SPOTFIT_SPEEDS names another file, or none for the default speeds.
    #[arg(long)]
    measure: bool,
}

/// Lists what was found. No GPU is an answer with a reason, not an error.
pub(crate) fn run(arguments: &DevicesArguments) -> Result<(), CliError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let sets: Vec<&str> = InstructionSet::ALL
        .into_iter()
        .filter(|set| set.is_available())
        .map(InstructionSet::name)
        .collect();
    // Before GPUs are looked for, which may take a while.
    print(&format!("cpu: {threads} processors; {}\n", sets.join(", ")))?;
    let lines: Vec<String> = match devices() {
        Ok(all) => all.iter().map(describe).collect(),
        Err(error) => vec![format!("gpu: none ({error})")],
    };
    print(&lines.into_iter().map(|line| line + "\n").collect::<String>())?;
    let speeds = if arguments.measure { measure()? } else { known()? };
    print(&format!("{speeds}\n"))
}

fn describe(info: &DeviceInfo) -> String {
    let DeviceInfo {
        number,
        name,
        capability: (major, minor),
        multiprocessors,
        memory,
        driver,
        ..
    } = info;
    let gigabytes = *memory as f64 / f64::from(1 << 30);
    let (cuda, version) = (driver / 1000, driver % 1000 / 10);
    let usable = match info.check() {
        Ok(()) => String::new(),
        Err(error) => format!("; cannot be used: {error}"),
    };
    format!(
        "gpu {number}: {name}, compute capability {major}.{minor}, {multiprocessors} multiprocessors, \
         {gigabytes:.0} GiB, driver for CUDA {cuda}.{version}{usable}"
    )
}
