//! `spotfit devices`: the instruction sets and GPUs of this machine.

use super::error::CliError;
use super::output::Output;
use spotfit::InstructionSet;
use spotfit::gpu::{DeviceInfo, devices};

/// Lists what was found. No GPU is an answer with a reason, not an error.
pub(crate) fn run() -> Result<(), CliError> {
    let mut output = Output::create("-".as_ref())?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let sets: Vec<&str> = InstructionSet::ALL
        .into_iter()
        .filter(|set| set.is_available())
        .map(InstructionSet::name)
        .collect();
    output.write_all(format!("cpu: {threads} processors; {}\n", sets.join(", ")).as_bytes())?;
    let lines = match devices() {
        Ok(all) => all.iter().map(describe).collect(),
        Err(error) => vec![format!("gpu: none ({error})")],
    };
    for line in lines {
        output.write_all(format!("{line}\n").as_bytes())?;
    }
    output.finish()
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
