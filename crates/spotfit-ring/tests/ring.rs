//! Rings between a writer and readers that mean well, and what readers say of writers that end.
#![cfg(unix)]

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use spotfit_ring::{
    PixelType, RingCounts, RingError, RingLayout, RingOptions, RingPixels, RingReader, RingStep,
    RingWriter, now,
};

/// A ring of frames of 4×2 pixels in a folder of its own.
fn ring(slots: u32) -> (tempfile::TempDir, String, RingWriter) {
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().join("ring").display().to_string();
    let layout = RingLayout::new(4, 2, PixelType::U16, slots).expect("a layout");
    let writer = RingWriter::create(&name, layout).expect("a ring");
    (folder, name, writer)
}

/// The file of the ring.
fn file(folder: &tempfile::TempDir) -> std::fs::File {
    OpenOptions::new().write(true).open(folder.path().join("ring")).expect("a ring")
}

/// The writer has shown no sign of life since the machine was started.
fn silence(folder: &tempfile::TempDir) {
    file(folder).write_all_at(&1_u64.to_ne_bytes(), 144).expect("it is written");
}

/// A reader for which no writer is dead, however long a busy machine lets it wait.
fn open(name: &str) -> RingReader {
    open_for(name, Duration::from_secs(600))
}

fn open_for(name: &str, timeout: Duration) -> RingReader {
    RingReader::open(name, &RingOptions::default().with_timeout(timeout)).expect("a ring")
}

/// How long a writer is silent that is to be found dead.
const SHORT: Duration = Duration::from_millis(200);

fn write(writer: &mut RingWriter, number: u64) {
    writer
        .write(number, 1000 * number, RingPixels::U16(&[number as u16; 8]))
        .expect("it is written");
}

/// Reads until there is something to tell.
fn until_told(reader: &mut RingReader) -> Result<RingStep, RingError> {
    for _ in 0..1000 {
        let step = reader.wait(Duration::from_millis(50))?;
        if step != RingStep::Nothing {
            return Ok(step);
        }
    }
    panic!("nothing was told");
}

/// Proves that frames come back in their order with their numbers, times and pixels, through many turns of the ring, and that the end
/// is told; the name is free then.
#[test]
fn frames_come_back() {
    let (_folder, name, mut writer) = ring(4);
    let mut reader = open(&name);
    assert_eq!(reader.advance().expect("a step"), RingStep::Nothing);
    assert_eq!(reader.frame(), None);
    for number in 0..50 {
        write(&mut writer, number);
        assert_eq!(reader.advance().expect("a step"), RingStep::Frame { missed: 0 });
        let frame = reader.frame().expect("a frame");
        assert_eq!((frame.number, frame.timestamp), (number, 1000 * number));
        assert_eq!(frame.pixels, RingPixels::U16(&[number as u16; 8]));
    }
    write(&mut writer, 50);
    drop(writer);
    assert_eq!(reader.advance().expect("a step"), RingStep::Frame { missed: 0 });
    assert_eq!(reader.advance().expect("a step"), RingStep::End);
    assert_eq!(reader.counts(), RingCounts { frames: 51, ..RingCounts::default() });
    let gone = RingReader::open(&name, &RingOptions::default());
    assert!(matches!(gone, Err(RingError::Io { .. })), "{gone:?}");
}

/// Proves that a reader that is overtaken goes on with the newest frame and counts what it missed, that frames which the camera lost
/// are counted once, and numbers that go back too.
#[test]
fn missed_frames_are_counted() {
    let (_folder, name, mut writer) = ring(4);
    let mut reader = open(&name);
    (0..10).for_each(|number| write(&mut writer, number));
    assert_eq!(reader.advance().expect("a step"), RingStep::Frame { missed: 9 });
    assert_eq!(reader.frame().expect("a frame").number, 9);
    write(&mut writer, 13);
    assert_eq!(reader.advance().expect("a step"), RingStep::Frame { missed: 3 });
    // Six of eight are overtaken, and the camera lost two more.
    [14, 15, 16, 17, 20, 21, 22, 23].iter().for_each(|number| write(&mut writer, *number));
    assert_eq!(reader.advance().expect("a step"), RingStep::Frame { missed: 9 });
    write(&mut writer, 3);
    assert_eq!(reader.advance().expect("a step"), RingStep::Frame { missed: 0 });
    assert_eq!(reader.counts(), RingCounts { frames: 4, missed: 21, torn: 0, disorder: 1 });
    // Whoever comes later begins with the oldest frame that is surely whole.
    let mut late = open(&name);
    late.advance().expect("a step");
    assert_eq!(late.frame().expect("a frame").number, 22);
}

/// Proves that a slot whose sequence is that of a frame being written is not taken for whole, that it is counted, and that the
/// reader goes on when it is.
#[test]
fn torn_slots_are_counted() {
    let (folder, name, mut writer) = ring(4);
    let mut reader = open_for(&name, SHORT);
    write(&mut writer, 0);
    let file = OpenOptions::new().write(true).open(folder.path().join("ring")).expect("a file");
    let sequence =
        |value: u64| file.write_all_at(&value.to_ne_bytes(), 256).expect("it is written");
    sequence(1);
    assert_eq!(reader.advance().expect("a step"), RingStep::Nothing);
    assert!(reader.counts().torn > 0 && reader.counts().frames == 0);
    sequence(2);
    assert_eq!(reader.advance().expect("a step"), RingStep::Frame { missed: 0 });
    // A frame that never becomes whole is left out when others come.
    write(&mut writer, 1);
    let slot = 64_u64 + 64;
    file.write_all_at(&1_u64.to_ne_bytes(), 256 + slot).expect("it is written");
    write(&mut writer, 2);
    assert_eq!(until_told(&mut reader).expect("a step"), RingStep::Frame { missed: 1 });
    assert_eq!(reader.frame().expect("a frame").number, 2);
    // And where none is whole for long, that is an error.
    write(&mut writer, 3);
    file.write_all_at(&1_u64.to_ne_bytes(), 256 + 3 * slot).expect("it is written");
    let error = until_told(&mut reader).expect_err("it never becomes whole");
    assert!(matches!(error, RingError::Torn { .. }), "{error}");
}

/// Proves that a writer that is killed ends the reading after the timeout, with a message that says so, and that one that has no
/// frames but is alive does not.
#[test]
fn silent_writers_are_told() {
    let (_folder, name, mut writer) = ring(4);
    let mut reader = open_for(&name, SHORT);
    let (_other, silent, killed) = ring(4);
    std::mem::forget(killed);
    for _ in 0..2 {
        // As long as it takes to find that another one is dead.
        let error = until_told(&mut open_for(&silent, SHORT)).expect_err("nobody writes");
        assert!(error.to_string().contains("silent for 0.2 s"), "{error}");
        writer.alive().expect("it is written");
        assert_eq!(reader.advance().expect("a step"), RingStep::Nothing);
    }
    std::mem::forget(writer);
    let error = until_told(&mut reader).expect_err("nobody writes");
    assert!(error.to_string().contains("silent for 0.2 s"), "{error}");
}

/// Proves that a ring that is made shorter is an error and not the end of the process, and so are a header that changes, a counter
/// that goes back, and another ring of the same name.
#[test]
fn changes_are_told() {
    let (folder, name, mut writer) = ring(4);
    let mut reader = open(&name);
    write(&mut writer, 0);
    file(&folder).set_len(300).expect("it is shorter");
    let error = reader.advance().expect_err("it is shorter");
    assert!(matches!(error, RingError::Shrunk(_)), "{error}");
    file(&folder).set_len(0).expect("it is empty");
    assert!(matches!(reader.advance(), Err(RingError::Shrunk(_))));
    let error = RingReader::open(&name, &RingOptions::default()).expect_err("it is empty");
    assert!(error.to_string().contains("shorter than a header"), "{error}");

    let (folder, name, _writer) = ring(4);
    let mut reader = open(&name);
    file(&folder).write_all_at(&8_u32.to_ne_bytes(), 28).expect("it is written");
    assert!(matches!(reader.advance(), Err(RingError::Changed(_))));

    let (folder, name, mut writer) = ring(4);
    let mut reader = open(&name);
    (0..3).for_each(|number| write(&mut writer, number));
    reader.advance().expect("a step");
    file(&folder).write_all_at(&0_u64.to_ne_bytes(), 128).expect("it is written");
    assert!(matches!(reader.advance(), Err(RingError::Backwards { was: 1, now: 0, .. })));

    let (folder, name, mut writer) = ring(4);
    let mut reader = open(&name);
    write(&mut writer, 0);
    silence(&folder);
    let _other =
        RingWriter::create(&name, RingLayout::new(9, 9, PixelType::U8, 3).expect("a layout"))
            .expect("a ring");
    // What is in the old one can still be read.
    assert_eq!(reader.advance().expect("a step"), RingStep::Frame { missed: 0 });
    assert!(matches!(until_told(&mut reader), Err(RingError::Replaced(_))));
    // Its writer leaves the new one alone.
    drop(writer);
    assert_eq!(open(&name).layout().to_string(), "9x9:u8");
}

/// Proves that names that lead elsewhere, things that are no files, and pixels of another kind or number are refused.
#[test]
fn wrong_things_are_refused() {
    let layout = RingLayout::new(4, 2, PixelType::U16, 4).expect("a layout");
    for name in ["", "..", ".hidden", "a b", "ring\n", &"x".repeat(201)] {
        assert!(matches!(RingWriter::create(name, layout), Err(RingError::Name(_))), "{name}");
        assert!(
            matches!(RingReader::open(name, &RingOptions::default()), Err(RingError::Name(_))),
            "{name}"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().display().to_string() + "/";
    let error = RingReader::open(&name, &RingOptions::default()).expect_err("it is a folder");
    assert!(error.to_string().contains("it is no file"), "{error}");
    assert!(RingWriter::create(&name, layout).is_err());
    let (_folder, _, mut writer) = ring(4);
    for wrong in [RingPixels::U16(&[0; 7]), RingPixels::U8(&[0; 8]), RingPixels::F64(&[0.0; 2])] {
        assert!(matches!(writer.write(0, now(), wrong), Err(RingError::Pixels { .. })));
    }
    assert_eq!(writer.written(), 0);
}

/// Proves that a thread that writes as fast as it can never hands a reader a frame that is mixed of two: each has one value.
#[test]
fn frames_are_never_mixed() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().join("ring").display().to_string();
    let layout = RingLayout::new(64, 64, PixelType::U16, 3).expect("a layout");
    let mut writer = RingWriter::create(&name, layout).expect("a ring");
    let mut reader = open(&name);
    let frames = 20_000;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..frames {
                let pixels = [number as u16; 64 * 64];
                writer.write(number, now(), RingPixels::U16(&pixels)).expect("it is written");
            }
        });
        loop {
            match reader.advance().expect("a step") {
                RingStep::End => break,
                RingStep::Nothing => std::thread::yield_now(),
                RingStep::Frame { .. } => {
                    let frame = reader.frame().expect("a frame");
                    let RingPixels::U16(pixels) = frame.pixels else { panic!("another type") };
                    assert!(
                        pixels.iter().all(|&pixel| pixel == frame.number as u16),
                        "{}",
                        frame.number
                    );
                }
            }
        }
    });
    let counts = reader.counts();
    println!("{counts:?}");
    assert!(counts.frames > 0);
    assert!(counts.frames + counts.missed <= frames);
}

/// Proves that a ring takes the place of one that has ended or whose writer is dead, and of an empty file; and that another file, a
/// folder, and the ring of a living writer stay as they are.
#[test]
fn strangers_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ring");
    let name = path.display().to_string();
    let layout = RingLayout::new(4, 2, PixelType::U16, 4).expect("a layout");
    for stranger in [&b"spots"[..], b"SPOTRONG and more"] {
        std::fs::write(&path, stranger).expect("a file");
        let refused = RingWriter::create(&name, layout).expect_err("a stranger");
        assert!(refused.to_string().contains("no ring"), "{refused}");
        assert_eq!(std::fs::read(&path).expect("a file"), stranger);
    }
    std::fs::write(&path, b"").expect("a file");
    // A machine that lets the first wait until it counts as dead is asked again.
    let tried = (0..1000).find_map(|_| {
        let first = RingWriter::create(&name, layout).expect("a ring");
        Some((RingWriter::create(&name, layout).err()?, first))
    });
    let (refused, first) = tried.expect("a living writer");
    assert!(matches!(refused, RingError::Alive { .. }), "{refused}");
    // It has ended, but whoever ended it could not take its name away.
    file(&folder).write_all_at(&1_u64.to_ne_bytes(), 136).expect("it is written");
    let second = RingWriter::create(&name, layout).expect("a ring in place of one");
    silence(&folder);
    let third = RingWriter::create(&name, layout).expect("a ring in place of one");
    // A sign from the future is one from before the machine was started anew.
    file(&folder).write_all_at(&u64::MAX.to_ne_bytes(), 144).expect("it is written");
    drop(RingWriter::create(&name, layout).expect("a ring in place of one"));
    drop((first, second, third));
    std::fs::create_dir(&path).expect("a folder");
    assert!(RingWriter::create(&name, layout).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}
