//! What the tests of the command share.
#![allow(dead_code, missing_docs, unreachable_pub, unused_imports)] // each test file uses a part of it

mod library;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread::{available_parallelism, scope, sleep};
use std::time::{Duration, Instant};

pub use library::*;

/// Only a program that hangs takes so long, whatever else its machine does.
pub const HANGS: Duration = Duration::from_secs(600);

/// Waits until something is there, for what cannot be waited for in another way than by looking.
#[track_caller]
pub fn until<T>(mut there: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(it) = there() {
            return it;
        }
        assert!(begun.elapsed() < HANGS, "it never comes");
        sleep(Duration::from_millis(2));
    }
}

/// Does something for every number below `count`, on all processors, and gives what was said, in no order. These are
/// plain threads: a worker of rayon that waits for another pool, as a fit does, takes up the next case meanwhile, and in
/// it the next, until its stack is full.
pub fn in_parallel<T: Send>(count: usize, does: impl Fn(usize) -> Option<T> + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let said = Mutex::new(Vec::new());
    scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    if let Some(words) = does(number) {
                        said.lock().expect("no panic").push(words);
                    }
                }
            });
        }
    });
    said.into_inner().expect("no panic")
}

/// Does something with each of these, on all processors.
pub fn for_each_in_parallel<T: Sync>(all: &[T], does: impl Fn(&T) + Sync) {
    in_parallel(all.len(), |number| {
        does(&all[number]);
        None::<()>
    });
}

/// Waits until a command has begun to write a file of this folder: the name of what it writes.
#[track_caller]
pub fn part(folder: &Folder) -> String {
    until(|| folder.names().into_iter().find(|name| name.ends_with(".part")))
}

/// Sends a signal, also to a process that has just ended: nobody has waited for it yet.
#[track_caller]
pub fn signal(child: &Child, name: &str) {
    let words = [format!("-{name}"), child.id().to_string()];
    assert!(Command::new("kill").args(words).status().expect("kill runs").success());
}

/// What the system tells of a process under this name, where it tells anything.
pub fn told_of(child: &Child, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Some(line?.trim().to_owned())
}

/// Whether a process, where the system tells it, has begun to end in its own way when it is told to.
pub fn listens(child: &Child) -> bool {
    // SIGINT and SIGTERM.
    const TO_END: u64 = (1 << 1) | (1 << 14);
    let caught = told_of(child, "SigCgt");
    let caught = caught.and_then(|caught| u64::from_str_radix(&caught, 16).ok());
    caught.is_none_or(|caught| caught & TO_END == TO_END)
}

/// For how many hundredths of a second processors worked for a process, where the system tells it: load does not change that.
pub fn worked(process: &str) -> Option<u64> {
    let about = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may have blanks.
    let (_, about) = about.rsplit_once(')')?;
    let mut times = about.split_whitespace().skip(11).map_while(|time| time.parse::<u64>().ok());
    Some(times.next()? + times.next()?)
}

/// A file of zeros that takes no room on the disk, behind what it begins with.
pub fn sparse(path: &Path, head: &[u8], length: u64) {
    let mut file = File::create(path).expect("a file");
    file.write_all(head).expect("its head");
    file.set_len(head.len() as u64 + length).expect("its length");
}

/// Columns and rows of an endless movie.
const SIDE: u32 = 128;

/// Its first frames, simulated once.
static SPOTS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let simulation = fit_sim::MovieSimulation::new(SIDE as usize, SIDE as usize, 64);
    let first = simulation.plan().expect("a sound simulation").piece(0..64).frames();
    bytes(first.as_slice().expect("frames"), |pixel| pixel.to_le_bytes())
});

/// A movie, `endless.raw` with its description, that nothing comes to the end of; its first frames have spots.
pub fn endless(folder: &Folder) -> PathBuf {
    // Windows keeps room on the disk for what is not written yet.
    let frames: usize = if cfg!(windows) { 1 << 15 } else { 1 << 27 };
    folder.file("endless.yaml", writers::described((SIDE, SIDE), frames).as_bytes());
    let path = folder.path("endless.raw");
    let length = u64::from(2 * SIDE * SIDE) * frames as u64;
    sparse(&path, &SPOTS, length - SPOTS.len() as u64);
    path
}

pub fn spotfit(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .args(arguments.iter().map(AsRef::as_ref))
        .output()
        .expect("the command runs")
}

#[track_caller]
pub fn succeeds(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let output = spotfit(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The command fails, without a panic, and says all of the given things.
#[track_caller]
pub fn fails(arguments: &[&dyn AsRef<std::ffi::OsStr>], says: &[&str]) {
    let output = spotfit(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it should fail: {said}");
    assert_ne!(output.status.code(), Some(101), "a panic: {said}");
    for part in says {
        assert!(said.contains(part), "'{part}' is missing in: {said}");
    }
}

pub fn rows(csv: &[u8]) -> Vec<Vec<String>> {
    let text = String::from_utf8(csv.to_vec()).expect("text");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Localizations beside the molecules that they are of.
pub struct Compared {
    pub count: usize,
    /// Errors of x, y and z, and what is stated of them: rms in nanometres.
    pub errors: [f64; 3],
    pub stated: [f64; 3],
}

impl Compared {
    /// Errors over those stated.
    pub fn ratios(&self) -> [f64; 3] {
        std::array::from_fn(|j| self.errors[j] / self.stated[j])
    }
}

/// Compares a table in nanometres, of pixels of 100 nm, with the truth of a simulated movie: localizations whose z was found and
/// that have one molecule of more than `least` photons within 100 nm in their frame, at a height within ±`reach` nm.
pub fn compared(locs: &Path, truth: &Path, least: f64, reach: f64) -> Compared {
    let read = |path: &Path| rows(&fs::read(path).expect("a table"));
    let (table, truth) = (read(locs), read(truth));
    let place = |table: &[Vec<String>], name: &str| {
        let found = table[0].iter().position(|own| own.trim_matches('"') == name);
        found.unwrap_or_else(|| panic!("no {name} in {:?}", table[0]))
    };
    let has_both = table[0].iter().any(|own| own.trim_matches('"') == "uncertainty_x [nm]");
    let both = ["uncertainty_x [nm]", "uncertainty_y [nm]"];
    let [error_x, error_y] = both.map(|own| if has_both { own } else { "uncertainty_xy [nm]" });
    let own = ["frame", "x [nm]", "y [nm]", "z [nm]", error_x, error_y, "uncertainty_z [nm]"];
    let own = own.map(|name| place(&table, name));
    let status = place(&table, "z_status");
    let theirs = ["frame", "x", "y", "z", "signal"].map(|name| place(&truth, name));
    let number = |text: &String| text.parse::<f64>().expect("a number");
    let molecules: Vec<[f64; 5]> =
        truth[1..].iter().map(|spot| theirs.map(|at| number(&spot[at]))).collect();
    let (mut sums, mut count) = ([[0.0; 3]; 2], 0);
    for row in table[1..].iter().filter(|row| row[status] == "found") {
        let [frame, x, y, z, stated @ ..] = own.map(|at| number(&row[at]));
        let near = |spot: &&[f64; 5]| {
            let apart = (100.0 * spot[1] - x).hypot(100.0 * spot[2] - y);
            spot[0] + 1.0 == frame && apart < 100.0 && spot[4] > least
        };
        let near: Vec<_> = molecules.iter().filter(near).collect();
        let [&[_, x0, y0, z0, _]] = near[..] else { continue };
        if z0.abs() < reach {
            let errors = [x - 100.0 * x0, y - 100.0 * y0, z - z0];
            for j in 0..3 {
                sums[0][j] += errors[j] * errors[j];
                sums[1][j] += stated[j] * stated[j];
            }
            count += 1;
        }
    }
    let [errors, stated] = sums.map(|sums| sums.map(|sum| (sum / f64::from(count)).sqrt()));
    println!("{count} heights: errors {errors:.1?} nm rms, stated {stated:.1?} nm");
    Compared { count: count as usize, errors, stated }
}
