//! What a run ran on.

use std::time::Instant;

/// The processor, and how many of it the process may use.
pub fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = info.lines().find(|line| line.starts_with(key));
        line.and_then(|line| line.split(':').nth(1)).unwrap_or("unknown").trim().to_owned()
    };
    let threads = std::thread::available_parallelism().map_or(0, usize::from);
    let (name, family, model) = (value("model name"), value("cpu family"), value("model\t"));
    format!("{name}, family {family}, model {model}, {threads} processors")
}

/// Each GPU with its driver, or why there is none.
pub fn gpus() -> Vec<String> {
    match fit_gpu::devices() {
        Ok(devices) => devices
            .iter()
            .map(|info| {
                let (major, minor) = info.capability;
                let (cuda, minor_cuda) = (info.driver / 1000, info.driver % 1000 / 10);
                let memory = info.memory >> 30;
                format!(
                    "{}, compute capability {major}.{minor}, {memory} GiB, driver for CUDA {cuda}.{minor_cuda}",
                    info.name
                )
            })
            .collect(),
        Err(error) => vec![format!("none: {error}")],
    }
}

/// The day in the world's time, as year-month-day.
pub fn date() -> String {
    let today = time::OffsetDateTime::now_utc().date();
    format!("{:04}-{:02}-{:02}", today.year(), u8::from(today.month()), today.day())
}

/// Seconds of a tick: the least that two readings of the timer differ by.
pub fn tick() -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..1000 {
        let begin = Instant::now();
        let mut now = begin.elapsed();
        while now.is_zero() {
            now = begin.elapsed();
        }
        least = least.min(now.as_secs_f64());
    }
    least
}
