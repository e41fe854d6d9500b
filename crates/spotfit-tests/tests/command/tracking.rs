//! `spotfit track`: frames of every source, and where their drifts go.

use crate::common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use common::{Folder, HANGS, fails, rows, signal, spotfit, succeeds, until};
use spotfit::movie::{Movie, Pixels};
use spotfit::ring::{
    PixelType, RingLayout, RingOptions, RingPixels, RingReader, RingStep, RingWriter, now,
};

/// Frames of the simulated stage, and how far they drift.
const FRAMES: usize = 60;
const DRIFT: [f64; 2] = [0.03, -0.02];

/// A folder with a movie of beads on a stage that drifts.
fn stage() -> Folder {
    let folder = Folder::new();
    let frames = FRAMES.to_string();
    succeeds(&[
        &"simulate",
        &"movie",
        &"-o",
        &folder.path("stage.tif"),
        &"--frames",
        &frames,
        &"--width",
        &"96",
        &"--height",
        &"80",
        &"--beads",
        &"12",
        &"--spots",
        &"0.001",
        &"--drift",
        &"0.03,-0.02",
    ]);
    folder
}

/// The pixels of the movie.
fn pixels(folder: &Folder) -> (usize, usize, Vec<u16>) {
    let mut movie = Movie::open(folder.path("stage.tif")).expect("a movie");
    let (width, height) = movie.size();
    let mut all = Vec::new();
    while let Some(block) = movie.read(usize::MAX).expect("frames") {
        let Pixels::U16(frames) = block.pixels else { panic!("another type") };
        all.extend(frames.iter().copied());
    }
    (width, height, all)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The numbers of a column of a table, whose title begins so.
fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let is_it = |own: &String| own.trim_matches('"').split(' ').next() == Some(name);
    let place =
        table[0].iter().position(is_it).unwrap_or_else(|| panic!("no {name} in {:?}", table[0]));
    table[1..].iter().map(|row| row[place].parse().expect("a number")).collect()
}

/// Checks the drift of the simulated stage in pixels of this size.
#[track_caller]
fn check(table: &[Vec<String>], size: f64) {
    let frames = column(table, "frame");
    assert_eq!(frames, (1..=FRAMES).map(|frame| frame as f64).collect::<Vec<_>>());
    for (axis, drift) in ["x", "y"].into_iter().zip(DRIFT) {
        let (found, errors) = (column(table, axis), column(table, &format!("{axis}_error")));
        for frame in 0..FRAMES {
            let expected = size * drift * frame as f64;
            assert!(errors[frame] > 0.0 && errors[frame] < 0.05 * size);
            let off = (found[frame] - expected).abs();
            // The noise of the reference is in all frames.
            assert!(
                off < 8.0 * errors[frame],
                "{axis} of {frame}: {} instead of {expected}",
                found[frame]
            );
        }
    }
    assert!(column(table, "beads").iter().all(|beads| *beads >= 5.0));
}

/// Starts the command with its standard input and outputs as pipes.
fn start(arguments: &[&str], folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"));
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command runs")
}

/// Proves that the drift of a movie has the columns, units and sign that `drift --apply` reads: localizations of the movie stay where
/// they are when it is taken out. The record says how it was made, and the plot is there.
#[test]
fn movies_are_tracked_and_their_drift_is_applied() {
    let folder = stage();
    let at = |name: &str| folder.path(name);
    let output = succeeds(&[
        &"track",
        &at("stage.tif"),
        &"-o",
        &at("drift.csv"),
        &"--pixel-size",
        &"100",
        &"--baseline",
        &"100",
        &"--sensitivity",
        &"1",
        &"--rate",
        &"50",
        &"--plot",
        &at("drift.svg"),
    ]);
    assert!(said(&output).contains("60 frames"), "{}", said(&output));
    let table = rows(&fs::read(at("drift.csv")).expect("a table"));
    let header = table[0].join(",").replace('"', "");
    assert_eq!(header, "frame,time,x [nm],y [nm],x_error [nm],y_error [nm],beads,status");
    check(&table, 100.0);
    let times = column(&table, "time");
    assert!((times[FRAMES - 1] - (FRAMES - 1) as f64 / 50.0).abs() < 1e-6);
    assert!(fs::read_to_string(at("drift.svg")).expect("a plot").contains("<svg"));
    let record = fs::read_to_string(at("drift.csv.spotfit.json")).expect("a record");
    assert!(record.contains("\"done\"") && record.contains("stage.tif"), "{record}");

    succeeds(&[
        &"localize",
        &at("stage.tif"),
        &"-o",
        &at("locs.csv"),
        &"--pixel-size",
        &"100",
        &"--baseline",
        &"100",
        &"--sensitivity",
        &"1",
        &"--filter",
        &"photons > 3000",
    ]);
    succeeds(&[
        &"drift",
        &at("locs.csv"),
        &"-o",
        &at("straight.csv"),
        &"--apply",
        &at("drift.csv"),
        &"--with-error",
    ]);
    let straight = rows(&fs::read(at("straight.csv")).expect("a table"));
    let [frame, x] = ["frame", "x"].map(|name| column(&straight, name));
    let first: Vec<f64> =
        x.iter().zip(&frame).filter(|(_, frame)| **frame == 1.0).map(|(x, _)| *x).collect();
    let last: Vec<f64> = x
        .iter()
        .zip(&frame)
        .filter(|(_, frame)| **frame == FRAMES as f64)
        .map(|(x, _)| *x)
        .collect();
    let near = |x: &f64| first.iter().map(|own| (own - x).abs()).fold(f64::INFINITY, f64::min);
    let off: Vec<f64> = last.iter().map(near).collect();
    assert!(off.len() >= 5 && off.iter().all(|off| *off < 20.0), "{off:?} nm");
}

/// Proves that with a calibration the drift along z is in the table, in nanometres and with its error, and that `drift --apply` takes it
/// out of localizations with the same calibration.
#[test]
fn drift_along_z_is_tracked() {
    let folder = Folder::new();
    let run = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let done = start(&words, folder.0.path()).wait_with_output().expect("it ends");
        assert!(done.status.success(), "{line}: {}", said(&done));
    };
    run("simulate beads -o beads.tif --step 20 --seed 3");
    run("calibrate beads.tif --step 20 -o cal.yaml --baseline 100 --sensitivity 1");
    run(
        "simulate movie -o stage.tif --shape defocused --z-range 300 --frames 60 --width 256 --height 256 --beads 16 --spots 0.0001 \
         --drift 0.03,-0.02,1.5",
    );
    let camera = "--calibration cal.yaml --baseline 100 --sensitivity 1 --pixel-size 100";
    run(&format!("track stage.tif -o drift.csv {camera}"));
    let table = rows(&fs::read(folder.path("drift.csv")).expect("a table"));
    let header = table[0].join(",").replace('"', "");
    assert_eq!(
        header,
        "frame,x [nm],y [nm],z [nm],x_error [nm],y_error [nm],z_error [nm],beads,status"
    );
    check(&table, 100.0);
    let (z, errors) = (column(&table, "z"), column(&table, "z_error"));
    let mut squares = 0.0;
    for frame in 1..FRAMES {
        let off = z[frame] - 1.5 * frame as f64;
        assert!((0.1..5.0).contains(&errors[frame]), "{}", errors[frame]);
        squares += (off / errors[frame]).powi(2) / (FRAMES - 1) as f64;
    }
    // The noise of the reference is in all frames.
    assert!(squares < 9.0, "{squares}");

    run(&format!("localize stage.tif -o locs.csv {camera} --filter photons>3000"));
    run("drift locs.csv -o straight.csv --apply drift.csv");
    let left = |name: &str| {
        let locs = rows(&fs::read(folder.path(name)).expect("a table"));
        let (frames, z) = (column(&locs, "frame"), column(&locs, "z"));
        let mean = |from: f64, to: f64| {
            let those = frames.iter().zip(&z).filter(|(frame, _)| (from..=to).contains(*frame));
            let (sum, count) =
                those.fold((0.0, 0.0), |(sum, count), (_, z)| (sum + z, count + 1.0));
            sum / count
        };
        mean(51.0, 60.0) - mean(1.0, 10.0)
    };
    let (before, after) = (left("locs.csv"), left("straight.csv"));
    assert!((before - 75.0).abs() < 10.0 && after.abs() < 10.0, "{before} {after}");
}

/// Proves that raw frames on standard input give the drift of the movie that they are of, digit by digit, as CSV and as a structured
/// array, without a size of pixels in pixels; and that the CSV file is there while frames come and grows by whole rows.
#[test]
fn raw_frames_on_standard_input_are_tracked_while_they_come() {
    let folder = stage();
    let (width, height, pixels) = pixels(&folder);
    let words = ["--smooth", "kalman", "--beads", "8", "--pixel-size", "px"];
    let of_movie = [&["track", "stage.tif", "-o", "movie.csv"][..], &words].concat();
    let done = start(&of_movie, folder.0.path()).wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", said(&done));
    let format = format!("{width}x{height}:u16");
    let of_pipe = [&["track", "-", "-o", "live.csv", "--frame", &format][..], &words].concat();
    let mut child = start(&of_pipe, folder.0.path());
    let mut input = child.stdin.take().expect("its input");
    let bytes =
        |frames: &[u16]| frames.iter().flat_map(|pixel| pixel.to_le_bytes()).collect::<Vec<u8>>();
    let half = pixels.len() / 2;
    input.write_all(&bytes(&pixels[..half])).expect("it reads");
    let now = || fs::read_to_string(folder.path("live.csv")).unwrap_or_default();
    until(|| (now().lines().count() == 1 + FRAMES / 2).then_some(()));
    assert!(now().ends_with('\n'));
    let record = || fs::read_to_string(folder.path("live.csv.spotfit.json")).expect("a record");
    assert!(record().contains("\"begun\""), "{}", record());
    assert!(record().contains("\"complete\": false"), "{}", record());
    input.write_all(&bytes(&pixels[half..])).expect("it reads");
    drop(input);
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", said(&done));
    assert!(record().contains("\"done\""), "{}", record());
    assert!(record().contains("\"complete\": true"), "{}", record());
    let [movie, live] =
        ["movie.csv", "live.csv"].map(|name| rows(&fs::read(folder.path(name)).expect("a table")));
    assert!(live[0].iter().any(|name| name.contains("x [px]")), "{:?}", live[0]);
    for name in ["frame", "x", "y", "x_error", "y_error", "beads"] {
        assert_eq!(column(&movie, name), column(&live, name), "{name}");
    }
    assert!(column(&live, "time").windows(2).all(|two| two[0] <= two[1]));
    assert!(column(&live, "latency_us").iter().all(|latency| *latency > 0.0));

    let of_pipe = [&["track", "-", "-o", "live.npy", "--frame", &format][..], &words].concat();
    let mut child = start(&of_pipe, folder.0.path());
    child.stdin.take().expect("its input").write_all(&bytes(&pixels)).expect("it reads");
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", said(&done));
    let npy = fs::read(folder.path("live.npy")).expect("an array");
    let length = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    let header = String::from_utf8_lossy(&npy[10..length]).into_owned();
    assert!(header.contains("('x_error', '<f8')") && header.contains("(60,)"), "{header}");
    assert_eq!(npy.len() - length, (8 * 8 + 40) * FRAMES);
    let number = |at: usize| f64::from_le_bytes(npy[at..at + 8].try_into().expect("eight bytes"));
    let x: Vec<f64> = (0..FRAMES).map(|frame| number(length + 104 * frame + 16)).collect();
    for (x, written) in x.iter().zip(column(&live, "x")) {
        assert!((x - written).abs() < 1e-5);
    }
}

/// Proves that a table says of each frame what became of it: of one that is dark, of a stage that jumps meanwhile and is found again, and of
/// one of which three beads of ten are left, which is no measurement; that the report counts them, and that `drift --apply` warns.
#[test]
fn a_lost_stage_is_told() {
    let folder = stage();
    let (width, height, mut pixels) = pixels(&folder);
    // After more than four frames in vain, beads are looked for in every fourth one only.
    for (number, frame) in pixels.chunks_exact_mut(width * height).enumerate() {
        for row in frame.chunks_exact_mut(width) {
            match number {
                20 => row.fill(100),
                21..31 => row.rotate_right(12),
                31..35 => row[30..].fill(100),
                _ => {}
            }
        }
    }
    let frames = format!("{width}x{height}:u16");
    let words = ["track", "-", "-o", "drift.csv", "--frame", &frames, "--pixel-size", "px"];
    let mut child = start(&words, folder.0.path());
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    child.stdin.take().expect("its input").write_all(&bytes).expect("it reads");
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", said(&done));
    let counted = "1 without a bead, 4 in which the beads were lost";
    assert!(said(&done).contains(counted), "{}", said(&done));
    let table = rows(&fs::read(folder.path("drift.csv")).expect("a table"));
    let status = table[0].iter().position(|name| name.contains("status")).expect("a column");
    let (x, errors, beads) =
        (column(&table, "x"), column(&table, "x_error"), column(&table, "beads"));
    for frame in 0..FRAMES {
        let (expected, jump) = match frame {
            20 => ("held", 0.0),
            21..31 => ("measured", 12.0),
            31..35 => ("lost", 0.0),
            _ => ("measured", 0.0),
        };
        assert_eq!(table[1 + frame][status].trim_matches('"'), expected, "{frame}");
        assert_eq!(beads[frame] > 0.0, expected == "measured", "{frame}");
        let off = x[frame] - jump - DRIFT[0] * frame as f64;
        assert!(expected != "measured" || off.abs() < 8.0 * errors[frame], "{frame}: {off}");
    }
    fs::write(folder.path("locs.csv"), "frame,x [px],y [px]\n1,10,10\n60,20,20\n")
        .expect("a table");
    let words = ["drift", "locs.csv", "-o", "straight.csv", "--apply", "drift.csv"];
    let done = start(&words, folder.0.path()).wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", said(&done));
    assert!(said(&done).contains("in 4 frames the beads were lost"), "{}", said(&done));
}

/// Proves that a disk which is full while frames come is an error that names the table, which keeps whole rows.
#[test]
fn a_disk_that_fills_up_leaves_whole_rows() {
    let folder = stage();
    let (width, height, pixels) = pixels(&folder);
    // A file that may not grow is the same error as a disk without room.
    let line = format!(
        "trap '' XFSZ; ulimit -f 8; exec '{}' track - -o live.csv --frame {width}x{height}:u16",
        env!("CARGO_BIN_EXE_spotfit-tested")
    );
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder.0.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    let mut input = child.stdin.take().expect("its input");
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    // It ends before it has read all of them.
    let given = (0..10).try_for_each(|_| input.write_all(&bytes));
    drop((given, input));
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(1), "{}", said(&done));
    assert!(said(&done).contains("live.csv"), "{}", said(&done));
    let table = fs::read_to_string(folder.path("live.csv")).expect("a table");
    assert!((3000..=8192).contains(&table.len()) && table.ends_with('\n'), "{}", table.len());
    let columns = table.lines().next().expect("a head").split(',').count();
    assert!(table.lines().all(|row| row.split(',').count() == columns));
    let record = fs::read_to_string(folder.path("live.csv.spotfit.json")).expect("a record");
    assert!(record.contains("\"complete\": false"), "{record}");
}

/// Proves that --watch needs a terminal, and that on one the drift is drawn with its error and the beads.
#[test]
fn the_drift_is_drawn_on_a_terminal() {
    let folder = stage();
    fails(&[&"track", &folder.path("stage.tif"), &"--watch"], &["--watch draws on the terminal"]);
    // Elsewhere it has other words.
    if !cfg!(target_os = "linux") || Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no script, which makes a terminal");
        return;
    }
    let line = format!(
        "stty cols 120 rows 30; '{}' track stage.tif --watch",
        env!("CARGO_BIN_EXE_spotfit-tested")
    );
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(folder.0.path());
    let output = command.env("TERM", "xterm").stdin(Stdio::null()).output().expect("it runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{shown}");
    assert!(
        shown.contains("frames/s") && shown.contains("beads") && shown.contains('±'),
        "{shown}"
    );
}

/// Proves that what is wrong with frames on standard input is said, with the option to change, and that rows before it are kept.
#[test]
fn wrong_frames_are_told() {
    let folder = stage();
    let (_, _, pixels) = pixels(&folder);
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let track = |words: &[&str], bytes: &[u8]| {
        let words = [&["track", "-", "-o", "live.csv"][..], words].concat();
        let mut child = start(&words, folder.0.path());
        // It may end before it has read all.
        let _ = child.stdin.take().expect("its input").write_all(bytes);
        let done = child.wait_with_output().expect("it ends");
        assert_eq!(done.status.code(), Some(1), "{}", said(&done));
        said(&done)
    };
    let told = track(&["--frame", "96x80:u16"], &bytes[..bytes.len() - 7]);
    assert!(
        told.contains("after 59 frames of 96x80:u16") && told.contains("is --frame right?"),
        "{told}"
    );
    let kept = fs::read_to_string(folder.path("live.csv")).expect("a table");
    assert_eq!(kept.lines().count(), 60);
    let told = track(&["--frame", "96x80:u8"], &bytes);
    assert!(told.contains("bead") || told.contains("--frame"), "{told}");
    let told = track(&["--frame", "96x80:u16"], &vec![7; 2 * 96 * 80 * 3]);
    assert!(told.contains("no bead"), "{told}");
    let told = track(&["--frame", "96x80:u16"], &[]);
    assert!(told.contains("it has no frame"), "{told}");
    let told = track(&[], &[]);
    assert!(told.contains("--frame"), "{told}");
    let told = track(&["--frame", "96:u16"], &[]);
    assert!(told.contains("WIDTHxHEIGHT:TYPE"), "{told}");
    fails(
        &[&"track", &folder.path("stage.tif"), &"-o", &"-", &"--frame", &"96x80:u16"],
        &["--frame is for raw"],
    );
    fails(&[&"track", &folder.path("stage.tif")], &["nobody would hear"]);
    fails(
        &[&"track", &folder.path("stage.tif"), &"-o", &folder.path("drift.tif")],
        &["must end in .csv or .npy"],
    );
    fails(&[&"track", &folder.path("stage.tif"), &"-o", &"-", &"--beads", &"0"], &["--beads 0"]);
    fails(&[&"track", &folder.path("stage.tif"), &"-o", &"-", &"--box", &"4"], &["--box 4"]);
    fails(
        &[&"track", &"ring:no-such-ring", &"-o", &"-", &"--idle", &"0.1"],
        &["none came within 0.1 s"],
    );
    fails(&[&"track", &"ring:a b", &"-o", &"-"], &["not the name of a ring"]);
}

/// Writes the movie into a ring, which holds all of it, until `most` frames; the writer stays.
fn fill(name: &str, folder: &Folder, most: usize) -> RingWriter {
    let (width, height, pixels) = pixels(folder);
    let layout =
        RingLayout::new(width as u32, height as u32, PixelType::U16, 64).expect("a layout");
    let mut writer = RingWriter::create(name, layout).expect("a ring");
    // The reader begins with what is in the ring.
    for (number, frame) in pixels.chunks_exact(width * height).take(most).enumerate() {
        writer.write(number as u64, now(), RingPixels::U16(frame)).expect("it is written");
    }
    writer
}

/// Proves that the frames of a ring are tracked, with their times; that each drift is there as a line of JSON, as a datagram and in a
/// ring back; and that the end of the ring is the end.
#[test]
fn frames_of_a_ring_are_tracked() {
    let folder = stage();
    let ring = folder.path("ring").display().to_string();
    let back = folder.path("drifts").display().to_string();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(HANGS)).expect("a timeout");
    let port = socket.local_addr().expect("an address").port().to_string();
    let source = format!("ring:{ring}");
    let mut child = start(
        &[
            "track",
            &source,
            "-o",
            "drift.csv",
            "--json-lines",
            "--udp",
            &port,
            "--ring-out",
            &back,
            "--pixel-size",
            "100",
            "--idle",
            "600",
        ],
        folder.0.path(),
    );
    until(|| Path::new(&back).exists().then_some(()));
    let mut drifts = RingReader::open(&back, &RingOptions::default()).expect("a ring");
    assert_eq!(drifts.layout().to_string(), "11x1:f64");
    let writer = fill(&ring, &folder, FRAMES);
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    for number in 0..FRAMES {
        let line = lines.next().expect("a line").expect("text");
        let told: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(
            (told["frame"].as_u64(), told["unit"].as_str()),
            (Some(number as u64 + 1), Some("nm"))
        );
        let mut datagram = [1; 104];
        assert_eq!(socket.recv(&mut datagram).expect("a datagram"), 104);
        assert_eq!(&datagram[..16], b"SPOTDRFT\x02\0\0\0\x01\0\0\0");
        let step = drifts.wait(HANGS).expect("a step");
        assert_eq!(step, RingStep::Frame { missed: 0 });
        let RingPixels::F64(numbers) = drifts.frame().expect("a drift").pixels else {
            panic!("another type")
        };
        assert_eq!(told["status"], "measured");
        assert_eq!((numbers[10], &datagram[96..]), (0.0, &[0; 8][..]));
        let keys = [
            "frame",
            "time",
            "x",
            "y",
            "z",
            "x_error",
            "y_error",
            "z_error",
            "beads",
            "latency_us",
        ];
        for (k, key) in keys.into_iter().enumerate() {
            let sent = f64::from_le_bytes(
                datagram[16 + 8 * k..24 + 8 * k].try_into().expect("eight bytes"),
            );
            match told[key].as_f64() {
                Some(value) => assert_eq!((value, value), (sent, numbers[k]), "{key}"),
                None => {
                    assert!(key.starts_with('z') && sent.is_nan() && numbers[k].is_nan(), "{key}");
                }
            }
        }
    }
    drop(writer);
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", said(&done));
    assert!(
        said(&done).contains("60 frames") && !said(&done).contains("lost on the way"),
        "{}",
        said(&done)
    );
    assert_eq!(drifts.wait(HANGS).expect("a step"), RingStep::End);
    check(&rows(&fs::read(folder.path("drift.csv")).expect("a table")), 100.0);
}

/// Proves that a movie is tracked while it is written, from before it is there, and that its end is told by its silence.
#[test]
fn movies_are_tracked_while_they_are_written() {
    let folder = stage();
    let movie = fs::read(folder.path("stage.tif")).expect("a movie");
    let track = |output: &str, words: &[&str]| {
        let all = ["track", "follow:live.tif", "-o", output, "--pixel-size", "100"];
        start(&[&all[..], words].concat(), folder.0.path())
    };
    let child = track("live.csv", &["--idle", "600", "--stop-after", "60"]);
    let mut file = fs::File::create(folder.path("live.tif")).expect("a file");
    let (half, rest) = movie.split_at(movie.len() / 2);
    file.write_all(half).expect("it is written");
    let now = || fs::read_to_string(folder.path("live.csv")).unwrap_or_default();
    until(|| (now().lines().count() > 20).then_some(()));
    file.write_all(rest).expect("it is written");
    drop(file);
    // All of it is there now, so that nothing is missed in the time that tells its end.
    for (child, name) in
        [(child, "live.csv"), (track("silent.csv", &["--idle", "0.1"]), "silent.csv")]
    {
        let done = child.wait_with_output().expect("it ends");
        assert!(done.status.success(), "{}", said(&done));
        check(&rows(&fs::read(folder.path(name)).expect("a table")), 100.0);
    }
}

/// Proves that a simulated camera is followed at its rate until so many frames.
#[test]
fn a_simulated_camera_is_tracked() {
    let folder = Folder::new();
    let output = succeeds(&[
        &"track",
        &"simulated:200",
        &"--stop-after",
        &"60",
        &"-o",
        &folder.path("drift.csv"),
        &"--smooth",
        &"kalman",
        &"--baseline",
        &"100",
    ]);
    assert!(said(&output).contains("60 frames, 20 beads"), "{}", said(&output));
    let table = rows(&fs::read(folder.path("drift.csv")).expect("a table"));
    let (frames, times) = (column(&table, "frame"), column(&table, "time"));
    assert_eq!(frames.len(), 60);
    assert!(
        frames.iter().zip(&times).all(|(frame, time)| (time - (frame - 1.0) / 200.0).abs() < 1e-6)
    );
    fails(&[&"track", &"simulated:fast", &"-o", &"-"], &["frames a second"]);
}

/// Proves that a writer that is killed ends the command after --idle with an error that says so, that the rows until then are kept, and
/// that frames which the camera lost are counted and left out.
#[test]
fn a_killed_writer_is_told_and_lost_frames_are_counted() {
    let folder = stage();
    let ring = folder.path("ring").display().to_string();
    let source = format!("ring:{ring}");
    // What is in the ring before the command begins is not missed, however short its patience is.
    let mut writer = fill(&ring, &folder, 20);
    let (width, height, pixels) = pixels(&folder);
    let frame = &pixels[..width * height];
    writer.write(25, now(), RingPixels::U16(frame)).expect("it is written");
    std::mem::forget(writer);
    let child = start(&["track", &source, "-o", "drift.csv", "--idle", "0.4"], folder.0.path());
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(1));
    assert!(said(&done).contains("silent for 0.4 s"), "{}", said(&done));
    let table = rows(&fs::read(folder.path("drift.csv")).expect("a table"));
    let mut expected: Vec<f64> = (1..=20).map(f64::from).collect();
    expected.push(26.0);
    assert_eq!(column(&table, "frame"), expected);
    let record = fs::read_to_string(folder.path("drift.csv.spotfit.json")).expect("a record");
    assert!(record.contains("\"begun\"") && record.contains("\"complete\": false"), "{record}");
}

/// Proves that Ctrl-C ends a live source with its report and what was found, and that a socket which nobody listens to is told and no
/// end; a full disk is an error.
#[test]
fn the_end_of_others_is_told() {
    let folder = stage();
    let ring = folder.path("ring").display().to_string();
    let source = format!("ring:{ring}");
    // It hears its peer alone, and as long as it is there nobody else has its port.
    let deaf = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    deaf.connect("127.0.0.1:9").expect("a peer");
    let port = deaf.local_addr().expect("an address").port().to_string();
    let words = ["track", &source, "-o", "drift.csv", "--udp", &port, "--idle", "600"];
    let child = start(&words, folder.0.path());
    let writer = fill(&ring, &folder, FRAMES);
    let now = || fs::read_to_string(folder.path("drift.csv")).unwrap_or_default();
    until(|| (now().lines().count() == 1 + FRAMES).then_some(()));
    signal(&child, "INT");
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", said(&done));
    let told = said(&done);
    assert!(told.contains("datagrams were not taken") && told.contains("60 frames"), "{told}");
    drop(writer);
    let full = spotfit(&[&"track", &folder.path("stage.tif"), &"-o", &"/dev/full"]);
    assert!(!full.status.success() && said(&full).contains("No space left"), "{}", said(&full));
    let closed = format!(
        "'{}' track stage.tif --json-lines | head -n 1; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_spotfit-tested")
    );
    let output = Command::new("bash")
        .args(["-c", &closed])
        .current_dir(folder.0.path())
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{}", said(&output));
}
