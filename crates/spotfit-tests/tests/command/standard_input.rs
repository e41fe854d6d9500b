//! Movies on standard input: raw frames, and arrays.

use crate::common;

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

use common::{Folder, fails, succeeds};

/// The header of an array has so many bytes.
fn header(array: &[u8]) -> usize {
    10 + usize::from(u16::from_le_bytes([array[8], array[9]]))
}

fn start(folder: &Folder, words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .args(["localize", "-", "--baseline", "100", "--sensitivity", "1", "--backend", "cpu"])
        .args(words)
        .current_dir(folder.0.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs")
}

/// Localizes the frames of a stream that comes in pieces.
fn localize(folder: &Folder, stream: &[u8], words: &[&str]) -> Output {
    let mut child = start(folder, words);
    let mut pipe = child.stdin.take().expect("a pipe");
    for piece in stream.chunks(70_001) {
        // A command that has failed reads no more.
        if pipe.write_all(piece).is_err() {
            break;
        }
    }
    drop(pipe);
    child.wait_with_output().expect("an end")
}

/// Proves that a movie on standard input has the table of the file, byte for byte, as raw frames and as an array, with everything that
/// is estimated of its first frames, with a range of frames, and by any number of threads.
#[test]
fn rows_are_those_of_the_file() {
    let folder = Folder::new();
    let movie = folder.path("movie.npy");
    let words =
        ["simulate", "movie", "--frames", "150", "--width", "96", "--height", "80", "--spots", "4"];
    let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = words.iter().map(|word| word as _).collect();
    all.extend([&"-o" as &dyn AsRef<std::ffi::OsStr>, &movie]);
    succeeds(&all);
    let array = fs::read(&movie).expect("the movie");
    let raw = &array[header(&array)..];
    assert_eq!(raw.len(), 150 * 96 * 80 * 2);
    let ways: [&[&str]; 6] = [
        &[],
        &["--threads", "1"],
        &["--threads", "3", "--flags"],
        &["--defects", "auto", "--frames", "20:90"],
        &["--emitters", "auto", "--sigma", "shared", "--frames", ":40"],
        &["--temporal-background", "51", "--filter", "photons > 200"],
    ];
    for words in ways {
        let name = movie.display().to_string();
        let fixed = [
            "localize",
            &name,
            "--baseline",
            "100",
            "--sensitivity",
            "1",
            "--backend",
            "cpu",
            "-o",
            "-",
        ];
        let all: Vec<&dyn AsRef<std::ffi::OsStr>> =
            fixed.iter().chain(words).map(|word| word as _).collect();
        let wanted = succeeds(&all);
        assert!(wanted.stdout.len() > 1000, "{words:?}");
        for (stream, more) in [(&array[..], &[][..]), (raw, &["--frame", "96x80:u16"][..])] {
            let found = localize(&folder, stream, &[words, more, &["-o", "-"]].concat());
            let said = String::from_utf8_lossy(&found.stderr);
            assert!(found.status.success(), "{words:?} {more:?}: {said}");
            assert!(found.stdout == wanted.stdout, "{words:?} {more:?}: {said}");
        }
    }
}

/// Proves that a table in a file is complete, with its record, and that Picasso's says how many frames there were.
#[test]
fn tables_are_complete() {
    let folder = Folder::new();
    let frames: Vec<u8> = (0..70 * 40 * 30_u32)
        .flat_map(|i| (100 + (i.wrapping_mul(2_654_435_761) >> 28) as u16).to_le_bytes())
        .collect();
    let done = localize(&folder, &frames, &["--frame", "40x30:u16", "-o", "a.hdf5"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let yaml = fs::read_to_string(folder.path("a.yaml")).expect("the description");
    assert!(yaml.contains("Frames: 70"), "{yaml}");
    let done = localize(&folder, &frames, &["--frame", "40x30:u16", "-o", "a.csv", "--json"]);
    assert!(String::from_utf8_lossy(&done.stdout).contains("\"frames\": 70"), "{done:?}");
    let record =
        folder.names().into_iter().find(|name| name.starts_with("a.csv.")).expect("a record");
    let record = fs::read_to_string(folder.path(&record)).expect("the record");
    assert!(record.contains("\"frames\": 70") || record.contains("\"frames\": 70"), "{record}");
}

/// Proves that what is wrong is said, and leaves no table: bytes that are no whole frame, an empty stream, frames that do not come,
/// words that do not go together.
#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new();
    let frames = vec![100; 2 * 40 * 30 * 70 + 7];
    let cases: [(&[u8], &[&str], &str); 5] = [
        (
            &frames,
            &["--frame", "40x30:u16"],
            "after 70 frames of 40x30:u16 (2400 bytes each), 7 bytes are left",
        ),
        (&frames[..50], &["--frame", "40x30:u16"], "after 0 frames of 40x30:u16"),
        (&[], &["--frame", "40x30:u16"], "no frames"),
        (
            &frames[..2400 * 70],
            &["--frame", "40x30:u16", "--frames", "80:"],
            "the movie has 70 frames",
        ),
        (&frames, &[], "NPY"),
    ];
    for (stream, words, says) in cases {
        let found = localize(&folder, stream, &[words, &["-o", "wrong.csv"]].concat());
        let said = String::from_utf8_lossy(&found.stderr);
        assert!(!found.status.success() && said.contains(says), "'{says}' is missing in: {said}");
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
    let table = folder.path("t.csv");
    fails(
        &[&"localize", &"a.tif", &"--frame", &"4x4:u8", &"-o", &table],
        &["--frame is for raw frames"],
    );
    fails(&[&"localize", &"-", &"--frame", &"4x4", &"-o", &table], &["--frame: '4x4' is not"]);
    fails(&[&"localize", &"-", &"--follow", &"-o", &table], &["--follow is for files"]);
    fails(&[&"localize", &"-", &"--positions", &"-", &"-o", &table], &["read once only"]);
}

/// Proves that rows come while frames do, and that an interruption ends a command that waits for frames.
#[cfg(unix)]
#[test]
fn rows_come_with_the_frames() {
    use std::io::{BufRead, BufReader};

    let folder = Folder::new();
    let mut child = start(&folder, &["--frame", "40x30:u16", "-o", "-"]);
    let mut pipe = child.stdin.take().expect("a pipe");
    let light = |i: i32| {
        let (x, y) = (f64::from(i % 40 - 20), f64::from(i / 40 - 15));
        100.0 + f64::from(i * 31 % 7) + 2000.0 * (-(x * x + y * y) / 3.0).exp()
    };
    let frame: Vec<u8> = (0..1200).flat_map(|i| (light(i) as u16).to_le_bytes()).collect();
    let mut rows = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || rows.next().expect("a row").expect("text");
    // What is estimated comes from the first 64 frames; after them each has its row.
    (0..64).for_each(|_| pipe.write_all(&frame).expect("a frame"));
    assert!(next().contains("frame"));
    for number in 1..=64 {
        assert!(next().contains(&format!(",{number},")), "row {number}");
    }
    for number in 65..70 {
        pipe.write_all(&frame).expect("a frame");
        assert!(next().contains(&format!(",{number},")), "row {number}");
    }
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("kill").success());
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    drop(pipe);
}
