//! What the system is asked for so that answers come in time.

/// Asks the system to keep this thread on a processor (from 0; on any if not given), before others, and its memory in place. The result says what was refused,
/// a sentence for each.
#[cfg(target_os = "linux")]
pub fn realtime(processor: Option<usize>) -> Vec<String> {
    use rustix::mm::{MlockAllFlags, mlockall};
    use rustix::process::setpriority_process;
    use rustix::thread::{CpuSet, sched_setaffinity};

    let mut refused = Vec::new();
    let mut ask = |what: String, answer: Result<(), rustix::io::Errno>| {
        if let Err(error) = answer {
            refused.push(format!("{what} was refused: {error}"));
        }
    };
    if let Some(processor) = processor {
        let mut set = CpuSet::new();
        let known = processor < CpuSet::MAX_CPU;
        if known {
            set.set(processor);
        }
        let answer =
            if known { sched_setaffinity(None, &set) } else { Err(rustix::io::Errno::INVAL) };
        ask(format!("processor {processor}"), answer);
    }
    ask("priority over other programs (nice −20)".to_owned(), setpriority_process(None, -20));
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE;
    ask("memory that stays in place (mlockall)".to_owned(), mlockall(all));
    refused
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub fn realtime(_: Option<usize>) -> Vec<String> {
    vec!["priority and locked memory can be asked for on Linux only".to_owned()]
}
