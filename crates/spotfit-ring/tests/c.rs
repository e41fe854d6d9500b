//! The program of a camera, in C.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use spotfit_ring::{
    PixelType, RingError, RingLayout, RingOptions, RingPixels, RingReader, RingStep, RingWriter,
};

/// Compiles the program; nothing without a compiler, which the test says.
fn camera(folder: &Path) -> Option<PathBuf> {
    if Command::new("cc").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "CI needs cc");
        eprintln!("skipped: there is no C compiler");
        return None;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join("camera");
    let output = Command::new("cc")
        .args([
            "-std=c11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-D_POSIX_C_SOURCE=200809L",
        ])
        .arg("-I")
        .arg(own.join("include"))
        .arg(own.join("clients/camera.c"))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// How many frames the program writes before it waits until they are read: half a ring.
const AHEAD: u64 = 128;

/// So long that nothing here takes as long, however busy the machine is.
const LONG: Duration = Duration::from_secs(600);

/// Starts the program with these words after the name of the ring, and reads its ring from the first frame on.
fn start(program: &Path, ring: &str, words: &[&str], timeout: Duration) -> (Child, RingReader) {
    let mut child = Command::new(program)
        .arg(ring)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("its output"))
        .read_line(&mut line)
        .expect("a line");
    assert_eq!(line, "ready\n");
    let options = RingOptions::default().with_timeout(timeout);
    let reader = RingReader::open(ring, &options).expect("a ring");
    go_on(&mut child);
    (child, reader)
}

fn go_on(child: &mut Child) {
    child.stdin.as_mut().expect("its input").write_all(b"\n").expect("it reads");
}

/// Proves that a program in C compiles with the header without a warning, and that 2000 of its frames are read with their numbers and
/// pixels, none lost; and that its end is told.
#[test]
fn frames_of_a_program_in_c_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = camera(folder.path()) else { return };
    let ring = folder.path().join("ring").display().to_string();
    let (mut child, mut reader) = start(&program, &ring, &["2000", &AHEAD.to_string()], LONG);
    assert_eq!(reader.layout().to_string(), "32x24:u16");
    let mut next = 0;
    loop {
        match reader.wait(LONG).expect("a step") {
            RingStep::Nothing => panic!("nothing comes"),
            RingStep::End => break,
            RingStep::Frame { missed } => {
                let frame = reader.frame().expect("a frame");
                let RingPixels::U16(pixels) = frame.pixels else { panic!("another type") };
                let good =
                    |(k, &pixel): (usize, &u16)| pixel == (frame.number as u16) + (k % 32) as u16;
                assert!(pixels.iter().enumerate().all(good), "frame {}", frame.number);
                assert_eq!((missed, frame.number), (0, next));
                next += 1;
                if next.is_multiple_of(AHEAD) {
                    go_on(&mut child);
                }
            }
        }
    }
    assert!(child.wait().expect("it ends").success());
    println!("{:?}", reader.counts());
    assert_eq!((next, reader.counts().torn), (2000, 0));
}

/// Proves that a program that is killed in the middle of a frame is told after the timeout, and that the frame is not read.
#[test]
fn a_killed_program_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = camera(folder.path()) else { return };
    let ring = folder.path().join("ring").display().to_string();
    let silence = Duration::from_millis(300);
    let (mut child, mut reader) = start(&program, &ring, &["10", "10", "kill"], silence);
    child.wait().expect("it ends");
    let error = loop {
        match reader.wait(LONG) {
            Ok(RingStep::Frame { .. }) => {}
            Ok(step) => panic!("{step:?}"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, RingError::Silent { .. }), "{error}");
    assert_eq!(reader.counts().frames, 10);
}

/// Proves that a program in C replaces no file that is not a ring, and no ring of a living program.
#[test]
fn strangers_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = camera(folder.path()) else { return };
    let ring = folder.path().join("ring").display().to_string();
    let layout = RingLayout::new(4, 2, PixelType::U16, 4).expect("a layout");
    let is_refused = |_| {
        let _ = std::fs::remove_file(&ring);
        let _living = RingWriter::create(&ring, layout).expect("a ring");
        let mut tried = Command::new(&program);
        let tried = tried.arg(&ring).args(["10", "10"]).stdin(Stdio::null()).output();
        tried.expect("it runs").status.code() == Some(1)
    };
    // On a machine that stands still for long, the writer counts as dead.
    assert!((0..100).any(is_refused), "the ring of a living program was taken");
    let stranger = folder.path().join("spots.npy");
    std::fs::write(&stranger, b"spots").expect("a file");
    let ended = Command::new(&program).arg(&stranger).args(["10", "1"]).output().expect("it runs");
    assert!(!ended.status.success() && !ended.stderr.is_empty());
    assert_eq!(std::fs::read(&stranger).expect("a file"), b"spots");
}
