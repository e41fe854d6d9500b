//! `spotfit devices`: the instruction sets and GPUs of this machine.

use crate::error::CliError;
use crate::say::message::print;
use spotfit::InstructionSet;
use spotfit::gpu::{DeviceInfo, devices};

/// Lists what was found. No GPU is an answer with a reason, not an error.
pub(crate) fn run() -> Result<(), CliError> {
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
    print(&lines.into_iter().map(|line| line + "\n").collect::<String>())
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
