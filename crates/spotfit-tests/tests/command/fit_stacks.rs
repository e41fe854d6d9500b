//! `spotfit fit` with several threads: the same bytes, bounded memory, files that shrink and disks that are full. Linux only, where a process
//! says how much memory it took.

use crate::common;

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::{Folder, npy, part, rows, succeeds, told_of, until};

/// A run of the command with these words.
fn command(folder: &Folder, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"));
    command.args(words.split(' ')).current_dir(folder.0.path());
    command
}

/// Simulated windows in a folder, with start values, corners, a camera and weights.
fn with_windows() -> Folder {
    let folder = Folder::new();
    let simulate = "simulate --count 5000 --size 9 --photons 900 --camera maps.npz --corners corners.csv -o spots.npy";
    let output = command(&folder, simulate).output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let numbers = |count: usize, of: fn(usize) -> f64| -> Vec<u8> {
        (0..count).flat_map(|i| of(i).to_le_bytes()).collect()
    };
    let starts = numbers(15_000, |i| if i % 3 == 2 { 1.3 } else { 4.0 + (i % 7) as f64 / 20.0 });
    folder.file("starts.npy", &npy("'<f8'", "False", "(5000, 3)", &starts));
    let weights = numbers(405_000, |i| (i % 11) as f64 / 7.0);
    folder.file("weights.npy", &npy("'<f8'", "False", "(5000, 9, 9)", &weights));
    folder
}

/// Proves that tables and counts are the same for any number of threads and from standard input, with all that windows may come with.
#[test]
fn any_threads_make_the_same_table() {
    let folder = with_windows();
    for words in [
        "",
        " --errors --start starts.npy",
        " --errors --estimator mle --camera maps.npz --corners corners.csv",
        " --shape rotated --weights weights.npy --errors",
        " --backend reference --max-iterations 3",
    ] {
        for ending in ["csv", "npy"] {
            let mut expected: Option<(Vec<u8>, String)> = None;
            for (threads, piped) in [(1, false), (2, false), (5, false), (3, true)] {
                let spots = if piped { "-" } else { "spots.npy" };
                let words = format!(
                    "fit {spots} -o fits.{ending} --json --no-record --threads {threads}{words}"
                );
                let mut command = command(&folder, &words);
                if piped {
                    let spots = File::open(folder.path("spots.npy")).expect("windows");
                    // What comes through a pipe has no length.
                    let mut cat = Command::new("cat").stdin(spots).stdout(Stdio::piped()).spawn();
                    let cat = cat.as_mut().expect("cat runs");
                    command.stdin(cat.stdout.take().expect("piped"));
                }
                let output = command.output().expect("the command runs");
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{words}: {said}");
                let json = String::from_utf8(output.stdout).expect("text");
                let counts = json.split("\"backend\"").next().expect("counts").to_owned();
                assert!(json.contains("\"stages\""), "{json}");
                let table = fs::read(folder.path(&format!("fits.{ending}"))).expect("a table");
                let (first, counted) = expected.get_or_insert((table.clone(), counts.clone()));
                assert!(*first == table, "{words}: another table");
                assert_eq!(*counted, counts, "{words}");
            }
        }
    }
    // And into a stream.
    let fits = succeeds(&[&"fit", &folder.path("spots.npy"), &"-o", &"-", &"--threads", &"3"]);
    assert!(command(&folder, "fit spots.npy -o fits.csv").status().expect("it runs").success());
    assert!(fits.stdout == fs::read(folder.path("fits.csv")).expect("a table"));
}

fn said(child: &mut Child) -> String {
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    said
}

/// Proves that a file that shrinks between its header and its end is an error that says what is left of it, and that no table appears: with
/// start values that come only after it has shrunk, so that its windows are read then.
#[test]
fn a_file_that_shrinks_is_told() {
    let folder = with_windows();
    let starts = fs::read(folder.path("starts.npy")).expect("starts");
    for ending in ["csv", "npy"] {
        let before = folder.names();
        let words = format!("fit spots.npy -o fits.{ending} --start - --threads 3");
        let mut child = command(&folder, &words)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(&starts[..128]).expect("a header");
        part(&folder);
        let spots = folder.path("spots.npy");
        let whole = fs::read(&spots).expect("windows");
        let file = OpenOptions::new().write(true).open(&spots).expect("windows");
        file.set_len(whole.len() as u64 / 2).expect("half of them");
        // It may end before it has read all.
        let _ = stdin.write_all(&starts[128..]);
        drop(stdin);
        let status = child.wait().expect("an end");
        let said = said(&mut child);
        assert_eq!(status.code(), Some(1), "{said}");
        assert!(said.contains("spots.npy") && said.contains("truncated"), "{said}");
        assert_eq!(folder.names(), before, "{said}");
        fs::write(&spots, whole).expect("windows");
    }
}

/// Proves that memory does not grow with the file, nor with the table.
#[test]
fn memory_does_not_grow_with_the_file() {
    const MOST: u64 = 80 << 20;
    let folder = Folder::new();
    let spots = folder.path("spots.npy");
    let mut file = File::create(&spots).expect("a file");
    // 324 MB of windows without a spot, most of which take no room on the disk.
    file.write_all(&npy("'<f4'", "False", "(1000000, 9, 9)", &[1; 3_240_000])).expect("its head");
    file.set_len(file.metadata().expect("a length").len() + 320_760_000).expect("its length");
    for ending in ["csv", "npy"] {
        let words = format!("fit spots.npy -o fits.{ending} --no-record --threads 4");
        let mut child = command(&folder, &words).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut peak = 0;
        let status = until(|| {
            let told = told_of(&child, "VmHWM");
            let kilobytes = told.and_then(|told| told.trim_end_matches(" kB").parse().ok());
            peak = peak.max(1024 * kilobytes.unwrap_or(0_u64));
            child.try_wait().expect("a child")
        });
        let said = said(&mut child);
        assert!(status.success(), "{said}");
        assert!(peak > 0 && peak < MOST, "{peak} bytes for {ending}");
    }
    assert_eq!(rows(&fs::read(folder.path("fits.csv")).expect("a table")).len(), 1_000_001);
    // 8 × 8 numbers of 8 bytes, and 60 more.
    let table = fs::metadata(folder.path("fits.npy")).expect("a table").len();
    assert!(table > 116_000_000, "{table}");
}

/// Runs fits with a bound on the length of files, or within a file system of a megabyte that only they see. Nothing where that cannot be had.
fn without_room(
    folder: &Folder,
    within: Option<&Path>,
    ending: &str,
) -> Option<std::process::Output> {
    const NOT_MOUNTED: i32 = 99;
    let binary = env!("CARGO_BIN_EXE_spotfit-tested");
    let Some(within) = within else {
        let script =
            format!("ulimit -f 300; '{binary}' fit spots.npy -o fits.{ending} --threads 3");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(folder.0.path());
        return Some(command.output().expect("a shell"));
    };
    let within = within.display();
    let script = format!(
        "mount -t tmpfs -o size=300k none {within} || exit {NOT_MOUNTED}; \
         '{binary}' fit spots.npy -o {within}/fits.{ending} --threads 3; code=$?; ls -A {within}; exit $code"
    );
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script]).current_dir(folder.0.path());
    let output = command.output().ok()?;
    let mounted =
        output.status.code() != Some(NOT_MOUNTED) && !output.stderr.starts_with(b"unshare");
    mounted.then_some(output)
}

/// Proves that a disk that gets full while several threads write to it is told, and that nothing is left on it.
#[test]
fn a_disk_that_gets_full_is_told() {
    let folder = with_windows();
    let full = folder.path("full");
    fs::create_dir(&full).expect("a folder");
    let before = folder.names();
    for within in [None, Some(&*full)] {
        for ending in ["csv", "npy"] {
            let Some(output) = without_room(&folder, within, ending) else {
                println!("SKIPPED: no small file system can be mounted here");
                continue;
            };
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{ending}: {said}");
            assert!(said.contains("cannot write") && said.contains("fits."), "{said}");
            assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
            assert_eq!(folder.names(), before, "{said}");
        }
    }
}
