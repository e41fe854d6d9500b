//! Mutated files for every reader and every file beside a movie, through the library.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fit_sim::Random;

use crate::common::{in_parallel, thorough, worked};
use crate::formats::{Format, formats, target};
use crate::mutate::mutate;
use crate::{effort, memory};

/// How long a small file may take of a processor.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether something takes a processor that long; where the system does not tell it, the clock does.
fn is_slow(does: impl FnOnce()) -> bool {
    let (begin, before) = (Instant::now(), worked("thread-self"));
    does();
    match (before, worked("thread-self")) {
        (Some(before), Some(after)) => Duration::from_millis(10 * (after - before)) > PATIENCE,
        _ => begin.elapsed() > PATIENCE,
    }
}

/// Proves that a fuzzer can be let loose on every format, and that the nightly run does so.
#[test]
fn every_format_has_a_fuzz_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).expect("a manifest");
    let nightly = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.github/workflows/nightly.yml");
    let nightly = std::fs::read_to_string(nightly).expect("the nightly run");
    let targets: Vec<&str> = nightly
        .split_once("target:")
        .and_then(|(_, rest)| rest.split_once('[')?.1.split_once(']'))
        .map(|(list, _)| list.split(',').map(str::trim).collect())
        .expect("a list of targets");
    for format in formats() {
        let name = target(format.name);
        assert!(targets.contains(&name.as_str()), "{name} is not in nightly.yml");
        let target = format!("name = \"{name}\"\npath = \"fuzz_targets/format.rs\"\n");
        assert!(manifest.contains(&target), "{name} is not in the manifest");
    }
}

/// Proves that no mutated file of any format makes its reader panic, hang, ask for absurd amounts of memory, or give
/// anything but frames of the size it said and finite numbers.
#[test]
fn mutated_files() {
    let formats = formats();
    let short = effort(20_000, 13_000_000) / formats.len();
    let each = if thorough() { short.max(10_000) } else { short };
    for (number, format) in formats.iter().enumerate() {
        // The largest frame that is read, as wide numbers and as what they become.
        memory::bounded(1500, format.name, || attack(number as u64, format, each));
    }
}

fn attack(number: u64, format: &Format, rounds: usize) {
    let read = AtomicUsize::new(0);
    let others: Vec<&[u8]> = format.seeds.iter().map(Vec::as_slice).collect();
    let wrong = in_parallel(rounds, |round| {
        let round = round as u64;
        let mut random = Random::new(number, round);
        let seed = others[round as usize % others.len()];
        let file = mutate(seed, &others, format.words, &mut random);
        let begin = Instant::now();
        let read_file = || catch_unwind(AssertUnwindSafe(|| (format.read)(&file, round)));
        let outcome = read_file();
        let read_again = || drop(read_file());
        let wrong = match outcome {
            _ if begin.elapsed() > PATIENCE && is_slow(read_again) => {
                format!("{:?}", begin.elapsed())
            }
            Err(_) => "a panic".to_owned(),
            Ok(Err(reason)) if reason.is_empty() => "an error without a word".to_owned(),
            Ok(Err(_)) => return None,
            Ok(Ok(())) => {
                read.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        };
        let kept = std::env::temp_dir().join(format!("spotfit-attack-{number}-{round}"));
        let written = std::fs::write(&kept, &file).is_ok();
        Some(format!("case {round}: {wrong}; its file: {} ({written})", kept.display()))
    });
    let read = read.into_inner();
    println!(
        "{}: {rounds} files, {read} read, {} refused",
        format.name,
        rounds - read - wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "{}: {} are wrong: {:#?}",
        format.name,
        wrong.len(),
        &wrong[..wrong.len().min(9)]
    );
    // Of ten thousand and more, one of a hundred is read at least. Of 870 that would be 9, give or take 3: 2 are too few for chance.
    let least = if rounds < 9000 { rounds / 300 } else { rounds / 100 };
    assert!(read > least && read < rounds, "{}: {read} read proves nothing", format.name);
}
