//! What is bounded: memory, time, and what is left behind. Linux only, where a process says how much memory it took.

use crate::common;

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use common::{
    Folder, fails, listens, npy, part, rows, signal, sparse, succeeds, told_of, until, worked,
};

/// What became of a process.
struct Ended {
    status: ExitStatus,
    said: String,
    /// The most memory that it took, in bytes.
    peak: u64,
}

fn start(arguments: &[&dyn AsRef<OsStr>]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .args(arguments.iter().map(AsRef::as_ref))
        // Each thread has memory of its own.
        .env("RAYON_NUM_THREADS", "2")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs")
}

/// Waits for a process, and looks at its memory until it has ended.
fn watch(mut child: Child) -> Ended {
    let mut peak = 0;
    let status = until(|| {
        let told = told_of(&child, "VmHWM");
        let kilobytes = told.and_then(|told| told.trim_end_matches(" kB").parse().ok());
        peak = peak.max(1024 * kilobytes.unwrap_or(0));
        child.try_wait().expect("a child")
    });
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    Ended { status, said, peak }
}

const MEGABYTE: u64 = 1 << 20;

/// Proves that a window too large to fit is refused by the header, and that large windows are taken few at a time.
#[test]
fn windows_are_taken_by_their_bytes() {
    let folder = Folder::new();
    let (spots, fits) = (folder.path("spots.npy"), folder.path("fits.csv"));
    sparse(&spots, &npy("'<u2'", "False", "(1, 30000, 30000)", &[]), 2 * 30_000 * 30_000);
    let ended = watch(start(&[&"fit", &spots, &"-o", &fits]));
    assert!(!ended.status.success() && ended.said.contains("spots.npy"), "{}", ended.said);
    assert!(ended.peak < 200 * MEGABYTE, "{}", ended.peak);

    sparse(&spots, &npy("'<f8'", "False", "(12000, 64, 64)", &[]), 8 * 12_000 * 64 * 64);
    let ended = watch(start(&[&"fit", &spots, &"-o", &fits]));
    assert!(ended.status.success(), "{}", ended.said);
    assert!(ended.peak < 300 * MEGABYTE, "{} for 393 MB of pixels", ended.peak);
    assert_eq!(rows(&fs::read(&fits).unwrap()).len(), 12_001);
}

/// Proves that start values are not read before their number is known to be right, nor all at a time.
#[test]
fn start_values_are_read_as_they_are_needed() {
    let folder = Folder::new();
    let (spots, fits) = (folder.path("spots.npy"), folder.path("fits.csv"));
    let starts = folder.path("starts.npy");
    fs::write(&spots, npy("'|u1'", "False", "(2, 5, 5)", &[7; 50])).unwrap();
    sparse(&starts, &npy("'<f8'", "False", "(100000000, 3)", &[]), 8 * 300_000_000);
    let ended = watch(start(&[&"fit", &spots, &"-o", &fits, &"--start", &starts]));
    let expected = ["starts.npy", "100000000", "2 spots"];
    let named = expected.iter().all(|part| ended.said.contains(part));
    assert!(!ended.status.success() && named, "{}", ended.said);
    assert!(ended.peak < 200 * MEGABYTE, "{}", ended.peak);
    fails(&[&"fit", &"-", &"-o", &fits, &"--start", &"-"], &["--start", "standard input"]);
}

/// Proves that the memory of a large frame is that of the file times eight and 500 MB, and that frames beyond the
/// limit are refused unless the limit is raised.
#[test]
fn frames_have_a_limit() {
    let folder = Folder::new();
    let (movie, locs) = (folder.path("movie.raw"), folder.path("locs.csv"));
    let describe = |frames: u64, side: u64| {
        let text = format!(
            "Byte Order: <\nData Type: uint16\nFrames: {frames}\nHeight: {side}\nWidth: {side}\n"
        );
        folder.file("movie.yaml", text.as_bytes());
        sparse(&movie, &[], 2 * frames * side * side);
    };
    describe(1, 20_000);
    let ended = watch(start(&[&"localize", &movie, &"-o", &locs]));
    let says = ["movie.raw", "20000", "max-frame-pixels"];
    assert!(says.iter().all(|part| ended.said.contains(part)), "{}", ended.said);
    assert!(!ended.status.success() && ended.peak < 200 * MEGABYTE, "{}", ended.peak);

    describe(3, 6000);
    let ended = watch(start(&[&"localize", &movie, &"-o", &locs, &"--baseline", &"0"]));
    assert!(ended.status.success(), "{}", ended.said);
    let frame = 2 * 6000 * 6000;
    assert!(ended.peak < 8 * frame + 500 * MEGABYTE, "{} for frames of {frame}", ended.peak);
    let limit = [&"--max-frame-pixels" as &dyn AsRef<OsStr>, &"30000000"];
    let arguments: [&dyn AsRef<OsStr>; 6] = [&"localize", &movie, &"-o", &locs, limit[0], limit[1]];
    fails(&arguments, &["6000", "30000000"]);
}

/// Proves that a result does not depend on whether anything can be said about it.
#[test]
fn nobody_needs_to_listen() {
    let folder = Folder::new();
    let spots = folder.file("spots.npy", &npy("'|u1'", "False", "(2, 5, 5)", &[7; 50]));
    let fits = folder.path("fits.csv");
    for closed in ["2>/dev/full", "2>&-", "2> >(exec true)"] {
        let binary = env!("CARGO_BIN_EXE_spotfit-tested");
        let script =
            format!("'{binary}' fit '{}' -o '{}' {closed}", spots.display(), fits.display());
        let ended = Command::new("bash").args(["-c", &script]).output().expect("a shell");
        assert_eq!(ended.status.code(), Some(0), "{closed}");
        assert_eq!(rows(&fs::read(&fits).unwrap()).len(), 3, "{closed}");
        fs::remove_file(&fits).unwrap();
        let script = format!("'{binary}' fit '{}' -o fits.txt {closed}", spots.display());
        let ended = Command::new("bash").args(["-c", &script]).output().expect("a shell");
        assert_eq!(ended.status.code(), Some(1), "{closed}");
    }
}

/// Proves that a signal ends a command that would have no other end, whatever it waits for or works at.
#[test]
fn signals_end_what_waits_and_what_works() {
    let folder = Folder::new();
    let fits = folder.path("fits.csv");
    let large = folder.path("large.npy");
    sparse(&large, &npy("'<f4'", "False", "(1000000, 1000, 1000)", &[]), 4_000_000_000_000);
    // Windows of the same noise are as hard as others.
    let noise: Vec<u8> =
        (0..1_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
    let noise = noise.repeat(20);
    let hard = npy("'|u1'", "False", "(1000000, 1000, 1000)", &noise);
    sparse(&folder.path("hard.npy"), &hard, 1_000_000_000_000 - noise.len() as u64);
    let cases: [&[&dyn AsRef<OsStr>]; 3] = [
        &[&"fit", &"-", &"-o", &fits],
        &[&"fit", &large, &"-o", &fits, &"--backend", &"reference"],
        &[
            &"fit",
            &folder.path("hard.npy"),
            &"-o",
            &fits,
            &"--backend",
            &"reference",
            &"--max-iterations",
            &"100000",
            &"--min-delta",
            &"0",
            &"--min-step",
            &"0",
        ],
    ];
    for (case, arguments) in cases.into_iter().enumerate() {
        for name in ["INT", "TERM"] {
            let child = start(arguments);
            until(|| listens(&child).then_some(()));
            if case > 0 {
                part(&folder);
                // It has read windows by then, and fits them.
                until(|| worked(&child.id().to_string()).filter(|time| *time >= 20));
            }
            signal(&child, name);
            let ended = watch(child);
            assert_eq!(ended.status.code(), Some(130), "{case} {name}: {}", ended.said);
            assert!(ended.said.contains("no output was written"), "{case} {name}: {}", ended.said);
            assert_eq!(folder.names(), ["hard.npy", "large.npy"], "{case} {name}");
        }
    }
}

/// A command that has begun to write `fits`, and waits for more windows; and the name of what it writes.
fn writing(folder: &Folder, fits: &Path) -> (Child, ChildStdin, String) {
    let mut child = start(&[&"fit", &"-", &"-o", &fits]);
    let mut stdin = child.stdin.take().expect("piped");
    // With the header the output begins.
    stdin.write_all(&npy("'|u1'", "False", "(2, 5, 5)", &[])).expect("a header");
    (child, stdin, part(folder))
}

/// Proves that two signals leave as little behind as one.
#[test]
fn two_signals_clean_up() {
    let folder = Folder::new();
    let (child, _stdin, _) = writing(&folder, &folder.path("fits.csv"));
    signal(&child, "INT");
    // Two that wait at a time would be one.
    let waits = || told_of(&child, "ShdPnd").and_then(|set| u64::from_str_radix(&set, 16).ok());
    until(|| waits().is_none_or(|set| set & (1 << 1) == 0).then_some(()));
    signal(&child, "INT");
    let ended = watch(child);
    assert_eq!(ended.status.code(), Some(130), "{}", ended.said);
    assert_eq!(folder.names(), [] as [&str; 0]);
}

/// Proves that what a killed process left is removed by the next that writes the same file, and that what belongs to
/// a living process, or to another file, is not.
#[test]
fn parts_of_the_dead_are_removed() {
    let folder = Folder::new();
    let spots = folder.file("spots.npy", &npy("'|u1'", "False", "(2, 5, 5)", &[7; 50]));
    let fits = folder.path("fits.csv");
    let (child, _stdin, alive) = writing(&folder, &fits);
    succeeds(&[&"fit", &spots, &"-o", &fits]);
    assert!(folder.names().contains(&alive), "it belongs to a living process");
    signal(&child, "KILL");
    watch(child);
    assert!(folder.names().contains(&alive), "nobody could remove it");
    let other = folder.path("other.csv");
    succeeds(&[&"fit", &spots, &"-o", &other]);
    assert!(folder.names().contains(&alive), "it is of another file");
    succeeds(&[&"fit", &spots, &"-o", &fits]);
    let records = ["fits.csv.spotfit.json", "other.csv.spotfit.json"];
    assert_eq!(folder.names(), ["fits.csv", records[0], "other.csv", records[1], "spots.npy"]);
}

/// Proves that a file which may not grow further is an error that is told, with nothing left behind.
#[test]
fn a_full_disk_is_told() {
    let folder = Folder::new();
    let fits = folder.path("fits.csv");
    let spots = folder.path("spots.npy");
    sparse(&spots, &npy("'|u1'", "False", "(100000, 5, 5)", &[]), 2_500_000);
    let binary = env!("CARGO_BIN_EXE_spotfit-tested");
    let script =
        format!("ulimit -f 100; '{binary}' fit '{}' -o '{}'", spots.display(), fits.display());
    let ended = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write") && said.contains("fits.csv"), "{said}");
    assert_eq!(folder.names(), ["spots.npy"]);
}

/// Proves that links are followed, to files that do not exist too, and that no output replaces an input through one.
#[test]
fn links_lead_where_they_lead() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let spots = folder.file("spots.npy", &npy("'|u1'", "False", "(2, 5, 5)", &[7; 50]));
    let link = folder.path("link.csv");
    symlink("target.csv", &link).unwrap();
    succeeds(&[&"fit", &spots, &"-o", &link]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(rows(&fs::read(folder.path("target.csv")).unwrap()).len(), 3);

    let text = "Byte Order: <\nData Type: uint16\nFrames: 1\nHeight: 40\nWidth: 40\n";
    let yaml = folder.file("a.yaml", text.as_bytes());
    let movie = folder.file("a.raw", &[0; 3200]);
    let to_yaml = folder.path("locs.csv");
    symlink(&yaml, &to_yaml).unwrap();
    fails(&[&"localize", &movie, &"-o", &to_yaml], &["locs.csv", "replace an input"]);
    assert_eq!(fs::read_to_string(&yaml).unwrap(), text);
    let round = folder.path("round.csv");
    symlink("round.csv", &round).unwrap();
    fails(&[&"fit", &spots, &"-o", &round], &["round.csv", "links"]);
}

/// Proves that options which would make rows that are not finite are refused.
#[test]
fn senseless_cameras_are_refused() {
    let folder = Folder::new();
    let text = "Byte Order: <\nData Type: uint16\nFrames: 1\nHeight: 40\nWidth: 40\n";
    folder.file("a.yaml", text.as_bytes());
    let movie = folder.file("a.raw", &[0; 3200]);
    let locs = folder.path("locs.csv");
    for option in [
        "--pixel-size=1e308",
        "--sensitivity=1e308",
        "--sensitivity=1e-320",
        "--read-noise=1e308",
        "--baseline=-1e308",
        "--em-gain=1e308",
        "--threads=2147483648",
        "--threads=3000",
    ] {
        let name = option.trim_start_matches('-').split('=').next().unwrap();
        fails(&[&"localize", &movie, &"-o", &locs, &option], &[name.split('-').next().unwrap()]);
    }
    assert!(!locs.exists());
    let spots = folder.file("spots.npy", &npy("'|u1'", "False", "(2, 5, 5)", &[7; 50]));
    fails(&[&"fit", &spots, &"-o", &locs, &"--threads", &"2147483648"], &["threads", "1024"]);
}

/// Proves that what a file says cannot command the terminal.
#[test]
fn files_do_not_command_the_terminal() {
    let folder = Folder::new();
    folder.file("a.yaml", b"Byte Order: <\nData Type: \x1b[2J\x07\nFrames: 1\n");
    let movie = folder.file("a.raw", &[0; 3200]);
    let ended = watch(start(&[&"localize", &movie, &"-o", &folder.path("locs.csv")]));
    assert!(ended.said.contains("Data Type") && !ended.said.contains(['\x1b', '\x07']));
}

/// Proves that a picture is made without keeping its points, and that its pixels have a limit.
#[test]
fn pictures_are_bounded() {
    let folder = Folder::new();
    let (table, picture) = (folder.path("locs.csv"), folder.path("picture.png"));
    fs::write(&table, "x [px],y [px]\n0,0\n1631,1631\n").unwrap();
    let fine: [&dyn AsRef<OsStr>; 6] = [&"render", &table, &"-o", &picture, &"--pixel", &"0.1px"];
    fails(&fine, &["locs.csv", "too large", "67108864"]);
    succeeds(&[&"render", &table, &"-o", &picture]);
    succeeds(&[&"render", &table, &"-o", &picture, &"--pixel", &"1px"]);

    let mut file = OpenOptions::new().append(true).open(&table).unwrap();
    let rows: String = (0..100_000).map(|i| format!("{},{}\n", i % 97, i % 89)).collect();
    (0..30).for_each(|_| file.write_all(rows.as_bytes()).unwrap());
    let ended = watch(start(&[&"render", &table, &"-o", &picture, &"--pixel", &"1px"]));
    assert!(ended.status.success(), "{}", ended.said);
    // One of the first two now lies far from all others.
    assert!(ended.said.contains("3000001 localizations"), "{}", ended.said);
    assert!(ended.said.contains("1 outside of the picture"), "{}", ended.said);
    assert!(ended.peak < 100 * MEGABYTE, "{}", ended.peak);
}
