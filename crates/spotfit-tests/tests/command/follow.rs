//! `localize --follow` and `batch --follow`: the tables of finished movies, while the movies are written.

use crate::common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::writers::{Kind, Size, Writer};
use common::{Folder, fails, succeeds, until};

const SIZE: Size = (40, 36);

/// A frame with a spot.
fn frame(number: usize) -> Vec<u16> {
    let pixel = |at: u32| {
        let (x, y) = (f64::from(at % SIZE.0), f64::from(at / SIZE.0));
        let apart = (x - 20.3).powi(2) + (y - 17.6).powi(2);
        let noise = (at as usize * 7919 + number * 104_729) % 13;
        (100.0 + 400.0 * (-apart / 2.9).exp()) as u16 + noise as u16
    };
    (0..SIZE.0 * SIZE.1).map(pixel).collect()
}

/// Writes the frames of these numbers.
fn write(writer: &mut dyn Writer, numbers: Range<usize>) {
    numbers.for_each(|number| writer.frame(&frame(number)));
}

/// Whether a table has more than so many rows.
fn has_rows(table: &Path, rows: usize) -> bool {
    fs::read(table).is_ok_and(|text| text.iter().filter(|&&byte| byte == b'\n').count() > rows)
}

const CAMERA: [&str; 6] = [
    "--baseline=100",
    "--sensitivity=0.5",
    "--read-noise=1",
    "--pixel-size=100",
    "--flags",
    "--errors",
];

fn follow(movie: &Path, output: &Path, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"));
    command.args(["localize", "--follow"]).arg(movie).arg("-o").arg(output).args(CAMERA).args(more);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
}

/// Proves that a table in either format, or on standard output, has the bytes of that of the finished movie, and the record its files.
#[test]
fn tables_are_those_of_finished_movies() {
    let folder = Folder::new();
    let movie = Kind::Raw.path(folder.0.path());
    let [live, mut flow, table] = ["live.csv", "-", "live.hdf5"].map(|name| {
        let path = if name == "-" { name.into() } else { folder.path(name) };
        follow(&movie, &path, &["--idle", "600"])
    });
    let mut writer = Kind::Raw.writer(folder.0.path(), SIZE, 200);
    write(&mut *writer, 0..100);
    // All of them have begun before the rest is written.
    until(|| has_rows(&folder.path("live.csv"), 100).then_some(()));
    let mut pipe = BufReader::new(flow.stdout.take().expect("a pipe"));
    let mut flown = Vec::new();
    for _ in 0..=100 {
        pipe.read_until(b'\n', &mut flown).expect("a row");
    }
    let is_part = |name: &String| name.starts_with(".spotfit-live.hdf5-");
    until(|| folder.names().iter().any(is_part).then_some(()));
    write(&mut *writer, 100..200);
    writer.end();
    pipe.read_to_end(&mut flown).expect("rows");
    let ended = [live, flow, table].map(|child| child.wait_with_output().expect("an end"));
    for output in &ended {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let later = |name: &str| {
        let path = folder.path(name);
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"localize", &movie, &"-o", &path];
        arguments.extend(CAMERA.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        succeeds(&arguments);
        fs::read(path).expect("a table")
    };
    let csv = later("later.csv");
    assert!(csv.iter().filter(|&&byte| byte == b'\n').count() > 200);
    assert!(fs::read(folder.path("live.csv")).expect("a table") == csv);
    assert!(flown == csv);
    assert!(fs::read(folder.path("live.hdf5")).expect("a table") == later("later.hdf5"));
    let yaml = |name: &str| fs::read_to_string(folder.path(name)).expect("a description");
    assert_eq!(yaml("live.yaml").replace("live", "later"), yaml("later.yaml"));
    let record = |name: &str| -> serde_json::Value {
        let text = fs::read(folder.path(&format!("{name}.spotfit.json"))).expect("a record");
        let mut record: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        // The writer may touch a file once more after its last frame was read.
        for input in record["inputs"].as_array_mut().expect("files") {
            input.as_object_mut().expect("a file").remove("modified");
        }
        record
    };
    let (live, later) = (record("live.csv"), record("later.csv"));
    assert_eq!((&live["state"], &live["complete"]), (&"done".into(), &true.into()));
    for part in ["inputs", "options", "counts", "origin", "pixel_size", "camera"] {
        assert_eq!(live[part], later[part], "{part}");
    }
    assert!(later.get("complete").is_none());
    assert_eq!(folder.names().iter().filter(|name| name.starts_with('.')).count(), 0);
}

/// Proves that an interrupted command leaves whole rows under the name of the table, and a record that says that there were to be more.
#[cfg(unix)]
#[test]
fn interrupted_tables_have_whole_rows() {
    let folder = Folder::new();
    let movie = Kind::Tiff.path(folder.0.path());
    let mut writer = Kind::Tiff.writer(folder.0.path(), SIZE, 50);
    (0..50).for_each(|number| writer.frame(&frame(number)));
    let table = folder.path("live.csv");
    let child = follow(&movie, &table, &[]);
    until(|| has_rows(&table, 50).then_some(()));
    common::signal(&child, "INT");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("live.csv has the rows so far"), "{said}");
    let text = fs::read(&table).expect("a table");
    assert!(text.ends_with(b"\n"));
    let record = fs::read_to_string(folder.path("live.csv.spotfit.json")).expect("a record");
    assert!(record.contains("\"complete\": false") && record.contains("begun"), "{record}");
}

/// Proves that a disk which is full while the movie grows is an error that names the table, which keeps whole rows and a record that says
/// that there were to be more.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_leaves_whole_rows() {
    let folder = Folder::new();
    let movie = Kind::Raw.path(folder.0.path());
    let table = folder.path("live.csv");
    // A file that may not grow is the same error as a disk without room.
    let line = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_spotfit-tested"), "localize", "--follow"]);
    // The full scale is given: rows do not wait for the frames that would tell it.
    let given = ["--idle", "600", "--saturation", "65535"];
    command.arg(&movie).arg("-o").arg(&table).args(CAMERA).args(given);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    let mut writer = Kind::Raw.writer(folder.0.path(), SIZE, 400);
    // The first rows have to fit: without them there is no table.
    for begin in (0..400).step_by(10) {
        write(&mut *writer, begin..begin + 10);
        let mut has_ended = || child.try_wait().expect("its state").is_some();
        until(|| (has_rows(&table, begin + 10) || has_ended()).then_some(()));
    }
    writer.end();
    let ended = child.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("live.csv"), "{said}");
    let text = fs::read_to_string(&table).expect("a table");
    assert!((4000..=16_384).contains(&text.len()) && text.ends_with('\n'), "{}", text.len());
    let columns = text.lines().next().expect("a head").split(',').count();
    assert!(text.lines().all(|row| row.split(',').count() == columns));
    let record = fs::read_to_string(folder.path("live.csv.spotfit.json")).expect("a record");
    assert!(record.contains("\"complete\": false"), "{record}");
}

/// Proves that movies whose names are no UTF-8 and differ in that alone all have tables, records and lines of the summary of their own, and
/// are found finished again; and that one which can have no table is a failure.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_not_lost() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let (incoming, out) = (folder.path("incoming"), folder.path("out"));
    fs::create_dir(&incoming).expect("a folder");
    let names = [&b"x\xfe"[..], b"x\xff"].map(|name| std::ffi::OsStr::from_bytes(name).to_owned());
    for (number, name) in names.iter().enumerate() {
        write(&mut *Kind::Npy.writer(&incoming, SIZE, 4 + number), 0..4 + number);
        let mut path = name.clone();
        path.push(".npy");
        fs::rename(Kind::Npy.path(&incoming), incoming.join(path)).expect("a movie");
    }
    let batch = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"));
        command.arg("batch").arg("--follow").arg(&incoming).arg("--out").arg(&out).args(CAMERA);
        let run = command.args(["--format", "csv", "--idle", "0.1"]).output().expect("it runs");
        (run.status.success(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    for localized in ["2 localized now", "2 finished before"] {
        let (done, said) = batch();
        assert!(done && said.contains(localized), "{said}");
        for name in &names {
            for ending in [".csv", ".csv.spotfit.json"] {
                let mut file = name.clone();
                file.push(ending);
                assert!(out.join(file).is_file(), "{name:?}{ending}");
            }
        }
        let summary = fs::read_to_string(out.join("summary.csv")).expect("text");
        for (name, frames) in [("x\\xfe", 4), ("x\\xff", 5)] {
            let line = format!("{name}.npy,{name}.csv,done,{frames},");
            assert!(summary.contains(&line), "{line}: {summary}");
        }
    }
}

/// Proves that `batch` follows a folder, and that wrong words are refused.
#[test]
fn folders_are_followed() {
    let folder = Folder::new();
    let incoming = folder.path("incoming");
    fs::create_dir(&incoming).expect("a folder");
    let out = folder.path("out");
    let batch = |idle: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"));
        command.arg("batch").arg("--follow").arg(&incoming).arg("--out").arg(&out).args(CAMERA);
        command.args(["--format", "csv", "--idle", idle]).stderr(Stdio::piped());
        command.spawn().expect("a process")
    };
    let mut child = batch("600");
    let movie = Kind::Npy.path(&incoming);
    let mut writer = Kind::Npy.writer(&incoming, SIZE, 150);
    write(&mut *writer, 0..75);
    until(|| has_rows(&out.join("movie.csv"), 75).then_some(()));
    write(&mut *writer, 75..150);
    writer.end();
    let record = || fs::read_to_string(out.join("movie.csv.spotfit.json")).unwrap_or_default();
    until(|| record().contains("\"done\"").then_some(()));
    child.kill().expect("it waits for more");
    child.wait().expect("an end");
    // A folder whose movies are whole already is silent when they are localized, however long that takes.
    fs::copy(&movie, incoming.join("other.npy")).expect("a copy");
    let output = batch("0.1").wait_with_output().expect("an end");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let later = folder.path("later.csv");
    let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"localize", &movie, &"-o", &later];
    arguments.extend(CAMERA.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
    succeeds(&arguments);
    let later = fs::read(later).expect("a table");
    let summary = fs::read_to_string(out.join("summary.csv")).expect("a summary");
    for name in ["movie", "other"] {
        assert!(fs::read(out.join(format!("{name}.csv"))).expect("a table") == later, "{name}");
        assert!(summary.contains(&format!("{name}.npy,{name}.csv,done,150")), "{summary}");
    }

    let missing = folder.path("missing");
    fails(&[&"batch", &"--follow", &missing, &"--out", &out], &["missing"]);
    fails(&[&"batch", &"--out", &out], &["MANIFEST"]);
    fails(&[&"batch", &"list.txt", &"--follow", &incoming, &"--out", &out], &["cannot be used"]);
    fails(&[&"localize", &movie, &"-o", &"x.csv", &"--idle", &"3"], &["--follow"]);
    for wrong in ["0", "-1", "nan", "1e9"] {
        let idle = format!("--idle={wrong}");
        fails(&[&"localize", &"--follow", &movie, &"-o", &"x.csv", &idle], &["idle"]);
    }
    let nothing = folder.path("nothing.tif");
    fails(&[&"localize", &"--follow", &nothing, &"-o", &"x.csv", &"--idle=0.1"], &["nothing.tif"]);
    // It is the given time that was waited, not the usual one.
    let half = folder.path("half");
    fs::create_dir(&half).expect("a folder");
    write(&mut *Kind::Npy.writer(&half, SIZE, 150), 0..100);
    let ended = follow(&Kind::Npy.path(&half), &half.join("x.csv"), &["--idle=0.1"]);
    let said = String::from_utf8(ended.wait_with_output().expect("an end").stderr).expect("text");
    let told = "no frame came for 0.1 s: the movie has 100 frames, and its metadata promise 150";
    assert!(said.contains(told), "{said}");
}
