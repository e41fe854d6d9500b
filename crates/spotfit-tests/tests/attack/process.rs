//! The command as a process that is watched.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::common::Folder;

/// The most memory that it can address, in kilobytes.
const MEMORY: u32 = 4 << 20;

/// A command of `spotfit`, with bounds and redirections in the words of the shell.
pub(crate) fn spotfit(folder: &Folder, bounds: &str, redirections: &str) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {MEMORY}; {bounds} exec \"$0\" \"$@\" {redirections}");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_spotfit-tested")])
        .current_dir(folder.0.path())
        // Every thread of an allocator takes addresses, not memory.
        .env("MALLOC_ARENA_MAX", "2")
        .env("RAYON_NUM_THREADS", "2")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Waits for the end, so long and no longer.
pub(crate) fn end_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    end_unless(child, time, || false)
}

/// Waits for the end, so long and no longer, unless it is known before that there will be none.
pub(crate) fn end_unless(
    child: &mut Child,
    time: Duration,
    known: impl Fn() -> bool,
) -> Option<ExitStatus> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status);
        }
        if begin.elapsed() > time || known() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal by its name.
pub(crate) fn signal(child: &Child, name: &str) {
    // A process that has just ended cannot be told anything.
    let _ = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
}

/// Makes an end of it, whatever it takes.
pub(crate) fn kill(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// An exit status in words.
pub(crate) fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or_default()),
    }
}

/// What the command is asked to do: its arguments, with the outputs as they are named there.
pub(crate) struct Job {
    pub(crate) arguments: &'static [&'static str],
    pub(crate) outputs: &'static [&'static str],
}

/// Something for every verb that writes files.
pub(crate) const JOBS: [Job; 6] = [
    Job {
        arguments: &["fit", "spots.npy", "--backend", "reference", "-o", "fits.csv", "--no-record"],
        outputs: &["fits.csv"],
    },
    Job {
        arguments: &["fit", "spots.npy", "-o", "fits.npy", "--no-record"],
        outputs: &["fits.npy"],
    },
    Job {
        arguments: &["localize", "movie.npy", "-o", "locs.csv", "--no-record"],
        outputs: &["locs.csv"],
    },
    Job {
        arguments: &["render", "table.csv", "--pixel", "0.05px", "-o", "image.png"],
        outputs: &["image.png"],
    },
    Job {
        arguments: &[
            "simulate", "--count", "4000", "--size", "9", "-o", "s.npy", "--truth", "t.csv",
        ],
        outputs: &["s.npy", "t.csv"],
    },
    Job {
        arguments: &[
            "simulate", "movie", "--frames", "60", "--width", "128", "--height", "128", "-o",
            "m.tif", "--truth", "m.csv",
        ],
        outputs: &["m.tif", "m.csv"],
    },
];

/// What the jobs read, made once: names and contents. Every workplace has a copy.
static INPUTS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let folder = Folder::new();
    let run = |arguments: &[&str]| {
        let status = spotfit(&folder, "", "").args(arguments).status().expect("a shell");
        assert!(status.success(), "{arguments:?}: {}", words(status));
    };
    run(&["simulate", "--count", "4000", "--size", "9", "-o", "spots.npy"]);
    let movie = ["--frames", "60", "--width", "128", "--height", "128", "-o", "movie.npy"];
    run(&[&["simulate", "movie"][..], &movie].concat());
    run(&["localize", "movie.npy", "-o", "table.csv", "--baseline", "100"]);
    let content = |name: String| (name.clone(), fs::read(folder.path(&name)).expect("an input"));
    folder.names().into_iter().map(content).collect()
});

/// A folder with what the jobs read.
pub(crate) struct Workplace {
    pub(crate) folder: Folder,
    inputs: Vec<String>,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        for (name, bytes) in INPUTS.iter() {
            folder.file(name, bytes);
        }
        let inputs = folder.names();
        Self { folder, inputs }
    }

    /// What there is but the inputs.
    pub(crate) fn left(&self) -> Vec<String> {
        self.folder.names().into_iter().filter(|name| !self.inputs.contains(name)).collect()
    }

    /// Removes all but the inputs.
    pub(crate) fn clean(&self) {
        for name in self.left() {
            fs::remove_file(self.folder.path(&name)).expect("a file of the command");
        }
    }

    /// Does a job undisturbed: its outputs, and how long it took.
    pub(crate) fn undisturbed(&self, job: &Job) -> (Vec<Vec<u8>>, Duration) {
        let begin = Instant::now();
        let status = spotfit(&self.folder, "", "").args(job.arguments).status().expect("a shell");
        let time = begin.elapsed();
        assert!(status.success(), "{:?}: {}", job.arguments, words(status));
        let outputs = self.outputs(job).into_iter().map(|output| output.expect("an output"));
        let outputs = outputs.collect();
        self.clean();
        (outputs, time)
    }

    /// The outputs of a job that are there.
    pub(crate) fn outputs(&self, job: &Job) -> Vec<Option<Vec<u8>>> {
        job.outputs.iter().map(|name| fs::read(self.folder.path(name)).ok()).collect()
    }
}
