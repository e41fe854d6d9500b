//! Movies that are read while they are written: every frame as it is at the end, none of them half, none lost in silence.

use crate::common;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::spawn;
use std::time::{Duration, Instant};

use common::writers::{KINDS, Kind, MicroManager, Size, Writer, each_kind, write_ahead};
use common::{Folder, npy, set};
use spotfit::movie::{
    FollowOptions, GrowingMovie, Movie, MovieError, MovieOptions, Pixels, is_read_complete,
    last_change, movies_in,
};
use tiff::encoder::{TiffEncoder, colortype};

const SIZE: Size = (24, 18);

/// A frame that no other is like, nor any part of it.
fn frame((width, height): Size, number: usize) -> Vec<u16> {
    (0..(width * height) as usize).map(|at| (at * 7 + number * 31 + 1) as u16 | 1).collect()
}

fn idle(milliseconds: u64) -> FollowOptions {
    FollowOptions::default()
        .with_idle(Duration::from_millis(milliseconds))
        .with_poll(Duration::from_millis(2))
}

/// So many milliseconds that nothing here takes as long, however busy the machine is.
const LONG: u64 = 600_000;

/// A movie that is there. Its description is looked at twice, and `idle` may have passed by then.
#[track_caller]
fn opened(path: &Path, milliseconds: u64) -> GrowingMovie {
    loop {
        match GrowingMovie::open(path, &MovieOptions::default(), &idle(milliseconds)) {
            Err(error) if error.to_string().ends_with("it is being written") => {}
            movie => return movie.expect("a movie"),
        }
    }
}

/// What is there now, and no more.
fn now() -> FollowOptions {
    FollowOptions::default().with_idle(Duration::ZERO).with_poll(Duration::ZERO)
}

/// All frames, checked against those that were written; what the movie says in the end.
#[track_caller]
fn check(
    movie: &mut GrowingMovie,
    size: Size,
    written: impl Fn(usize) -> Vec<u16>,
) -> Result<usize, MovieError> {
    while let Some(block) = movie.read(7)? {
        let Pixels::U16(frames) = &block.pixels else { panic!("16 bits were written") };
        for (offset, pixels) in frames.outer_iter().enumerate() {
            let number = block.first + offset;
            assert_eq!(pixels.dim(), (size.1 as usize, size.0 as usize));
            assert!(pixels.iter().eq(written(number).iter()), "frame {} is wrong", number + 1);
        }
    }
    Ok(movie.frames())
}

/// Proves that each kind of file gives all its frames in their order as they are while it is written, each before many others come, and
/// that what was read is the finished movie.
#[test]
fn frames_come_as_they_are_written() {
    each_kind(|kind| {
        let folder = Folder::new();
        let path = kind.path(folder.0.path());
        let frames = 400;
        let place = folder.0.path().to_owned();
        let (tell, told) = channel();
        // Nobody waits for the file to be there.
        let writer = spawn(move || write_ahead(kind, &place, SIZE, frames, frame, &told));
        let stop = Arc::new(AtomicBool::new(false));
        let options = idle(LONG).with_stop(Some(stop.clone()));
        let mut movie =
            GrowingMovie::open(&path, &MovieOptions::default(), &options).expect("a movie");
        let mut read = 0;
        while let Some(block) = movie.read(usize::MAX).expect("frames") {
            let Pixels::U16(pixels) = &block.pixels else { panic!("16 bits were written") };
            assert_eq!(block.first, read);
            for pixels in pixels.outer_iter() {
                assert!(pixels.iter().eq(frame(SIZE, read).iter()), "{kind:?}, {read}");
                read += 1;
            }
            // Who has written all of them listens no more.
            let _ = tell.send(read);
            stop.store(read == frames && !kind.has_promise(), Ordering::Relaxed);
        }
        writer.join().expect("a writer");
        assert_eq!(read, frames, "{kind:?}: {:?}", movie.notes());
        assert_eq!(movie.has_ended(), kind.has_promise(), "{kind:?}");
        let sure: Option<String> = movie.contradiction();
        assert_eq!(sure, None, "{kind:?}");
        if matches!(kind, Kind::Tiff | Kind::BigTiff) {
            assert_eq!(movie.promised(), None);
        } else if kind.has_promise() {
            assert_eq!(movie.promised(), Some(frames), "{kind:?}");
            assert!(movie.notes().is_empty(), "{:?}", movie.notes());
        }
        let files = Movie::open(&path).expect("a movie").files().len();
        assert_eq!(movie.files().len(), files, "{kind:?}");
    });
}

/// Proves that a movie that was opened before its end is read to its end after it, and a finished one as well.
#[test]
fn finished_movies_are_read() {
    for kind in KINDS {
        let folder = Folder::new();
        let mut writer = kind.writer(folder.0.path(), SIZE, 20);
        (0..20).for_each(|number| writer.frame(&frame(SIZE, number)));
        writer.end();
        let path = kind.path(folder.0.path());
        let mut movie = opened(&path, 100);
        let read = check(&mut movie, SIZE, |number| frame(SIZE, number)).expect("frames");
        assert_eq!((read, movie.contradiction()), (20, None), "{kind:?}");
        assert!(movie.has_ended());
    }
}

/// A file in memory of which every write is known.
#[derive(Default)]
struct Logged {
    file: Cursor<Vec<u8>>,
    writes: Vec<(u64, Vec<u8>)>,
}

impl Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes.push((self.file.position(), bytes.to_vec()));
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Logged {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The frames that a file with these bytes has now; all must be right.
#[track_caller]
fn frames_of(path: &Path, size: Size) -> usize {
    match GrowingMovie::open(path, &MovieOptions::default(), &now()) {
        Ok(mut movie) => {
            check(&mut movie, size, |number| frame(size, number)).expect("what is there is right")
        }
        Err(_) => 0,
    }
}

/// Proves that a TIFF of which only the first bytes are there never gives a wrong frame, nor fewer than before, at whatever byte it is
/// cut: with strips before directories, and as Micro-Manager lays them out.
#[test]
fn cut_files_give_whole_frames() {
    let size = (5, 4);
    let folder = Folder::new();
    let mut files = Vec::new();
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).expect("an encoder");
    for number in 0..4 {
        let mut image = encoder.new_image::<colortype::Gray16>(5, 4).expect("an image");
        image.rows_per_strip(2).expect("strips");
        image.write_data(&frame(size, number)).expect("pixels");
    }
    files.push(("strips first", file.into_inner(), 4));
    let path = folder.path("whole/run_MMStack_Pos0.ome.tif");
    let mut writer = Box::new(MicroManager::new(&path, size, 9, 4));
    (0..4).for_each(|number| writer.frame(&frame(size, number)));
    writer.end();
    files.push(("directories first", fs::read(&path).expect("a file"), 4));
    for (name, bytes, frames) in files {
        let path = folder.path("cut.tif");
        let mut before = 0;
        let mut file = File::create(&path).expect("a file");
        for cut in 0..=bytes.len() {
            if cut > 0 {
                file.write_all(&bytes[cut - 1..cut]).expect("a byte");
            }
            let now = frames_of(&path, size);
            assert!(
                now >= before,
                "{name}, {cut} of {} bytes: {now} frames after {before}",
                bytes.len()
            );
            before = now;
        }
        assert_eq!(before, frames, "{name}");
    }
}

/// Proves that no wrong frame is read between any two writes of an encoder, which says where a directory is after it was written, in
/// either size of offsets and with the pixels in several strips.
#[test]
fn no_write_shows_a_wrong_frame() {
    let size = (5, 4);
    let folder = Folder::new();
    for big in [false, true] {
        let mut log = Logged::default();
        macro_rules! write {
            ($encoder:expr) => {{
                let mut encoder = $encoder.expect("an encoder");
                for number in 0..5 {
                    let mut image = encoder.new_image::<colortype::Gray16>(5, 4).expect("an image");
                    image.rows_per_strip(1).expect("strips");
                    image.write_data(&frame(size, number)).expect("pixels");
                }
            }};
        }
        if big {
            write!(TiffEncoder::new_big(&mut log));
        } else {
            write!(TiffEncoder::new(&mut log));
        }
        let path = folder.path("log.tif");
        let mut file = File::create(&path).expect("a file");
        let mut before = 0;
        for (place, bytes) in &log.writes {
            file.seek(SeekFrom::Start(*place)).expect("a place");
            file.write_all(bytes).expect("written");
            let now = frames_of(&path, size);
            assert!(now >= before && now <= before + 1, "{now} after {before}");
            before = now;
        }
        assert_eq!(before, 5);
    }
}

/// Proves that a file that has its length from the start shows no page before the next has begun, however its writer is interrupted in the
/// middle of one; that the last page is read when the file is cut to its length; and that a killed writer's half page is told.
#[test]
fn room_that_was_made_is_no_frame() {
    let size = (5, 4);
    let folder = Folder::new();
    let path = folder.path("run_MMStack_Pos0.ome.tif");
    let mut writer = MicroManager::new(&path, size, 9, 6);
    assert_eq!(frames_of(&path, size), 0);
    for number in 0..5 {
        writer.frame(&frame(size, number));
        assert_eq!(frames_of(&path, size), number);
    }
    let mut movie = GrowingMovie::open(&path, &MovieOptions::default(), &now()).expect("a movie");
    assert!(movie.ends_with_metadata());
    let read = check(&mut movie, size, |number| frame(size, number)).expect("frames");
    let notes = movie.notes().join("\n");
    assert_eq!(read, 4);
    assert!(notes.contains("4 frames") && notes.contains("promise 6"), "{notes}");
    assert!(notes.contains("frame 5 is not whole"), "{notes}");
    Box::new(writer).end();
    assert_eq!(frames_of(&path, size), 5);
}

/// Proves that whatever happens to a file while it is read is an error that says which frame it was, that frames before it were given,
/// and that nothing comes after it.
#[test]
fn what_happens_to_a_file_is_told() {
    type Act = fn(&Path);
    let cases: [(Kind, Act, &str); 6] = [
        (Kind::Tiff, |path| drop(File::create(path)), "has shrunk to 0 bytes"),
        (Kind::Raw, |path| drop(File::create(path)), "has shrunk to 0 bytes"),
        (Kind::Npy, |path| fs::remove_file(path).expect("removed"), "no longer there"),
        (Kind::Tiff, |path| fs::remove_file(path).expect("removed"), "no longer there"),
        (
            Kind::Raw,
            // At once: in between there would be no file.
            |path| {
                fs::write(path.with_extension("new"), [0; 9]).expect("another");
                fs::rename(path.with_extension("new"), path).expect("renamed");
            },
            "was replaced by another file",
        ),
        (
            Kind::Tiff,
            |path| {
                fs::copy(path, path.with_extension("new")).expect("another");
                fs::rename(path.with_extension("new"), path).expect("renamed");
            },
            "was replaced by another file",
        ),
    ];
    for (kind, act, says) in cases {
        let folder = Folder::new();
        let path = kind.path(folder.0.path());
        let mut writer = kind.writer(folder.0.path(), SIZE, 50);
        (0..9).for_each(|number| writer.frame(&frame(SIZE, number)));
        let mut movie =
            GrowingMovie::open(&path, &MovieOptions::default(), &idle(LONG)).expect("a movie");
        let (tell, told) = channel();
        let later = spawn(move || {
            told.recv().expect("the last frame");
            act(&path);
        });
        let written = |number: usize| {
            if number == 8 {
                tell.send(()).expect("somebody who acts");
            }
            frame(SIZE, number)
        };
        let error = check(&mut movie, SIZE, written).expect_err("it has changed");
        later.join().expect("done");
        let said = error.to_string();
        assert!(said.contains("frame 10") && said.contains(says), "{kind:?}: {said}");
        assert!(movie.read(1).expect("the end").is_none());
        assert_eq!(movie.frames(), 9);
    }
}

/// Proves that another movie which is written over one while that is read is an error, although the file keeps its name, its inode and its
/// length: of as many frames, and of frames of another size.
#[test]
fn a_movie_that_is_written_anew_is_told() {
    for kind in [Kind::Tiff, Kind::BigTiff, Kind::Raw, Kind::Npy, Kind::Set] {
        for size in [SIZE, (SIZE.1, SIZE.0)] {
            let folder = Folder::new();
            let path = kind.path(folder.0.path());
            let written = |size: Size, first: usize| {
                let mut writer = kind.writer(folder.0.path(), size, 9);
                (0..9).for_each(|number| writer.frame(&frame(size, first + number)));
                writer.end();
            };
            written(size, 100);
            let all = fs::read_dir(folder.0.path()).expect("a folder");
            let all = all.map(|entry| entry.expect("an entry").path());
            let others: Vec<_> = all.map(|path| (fs::read(&path).expect("a file"), path)).collect();
            written(SIZE, 0);
            let mut movie = opened(&path, 100);
            let anew = |number: usize| {
                if number == 8 {
                    for (bytes, path) in &others {
                        let file = OpenOptions::new().write(true).open(path);
                        file.and_then(|mut file| file.write_all(bytes)).expect("written");
                    }
                }
                frame(SIZE, number)
            };
            let error = check(&mut movie, SIZE, anew).expect_err("it is another movie");
            let said = error.to_string();
            assert!(said.contains("was written anew"), "{kind:?} {size:?}: {said}");
            assert!(movie.read(1).expect("the end").is_none());
            assert_eq!(movie.frames(), 9, "{kind:?} {size:?}");
        }
    }
}

/// Proves that a page that is wrong ends the movie with an error that names it, after the frames before it were given.
#[test]
fn wrong_pages_are_errors() {
    let folder = Folder::new();
    let path = folder.path("movie.tif");
    let mut encoder = TiffEncoder::new(File::create(&path).expect("a file")).expect("an encoder");
    for number in 0..5 {
        let size = if number == 3 { (7, 4) } else { (5, 4) };
        let pixels = frame(size, number);
        encoder.write_image::<colortype::Gray16>(size.0, size.1, &pixels).expect("a page");
    }
    let mut movie = GrowingMovie::open(&path, &MovieOptions::default(), &now()).expect("a movie");
    let error =
        check(&mut movie, (5, 4), |number| frame((5, 4), number)).expect_err("another size");
    assert!(error.to_string().contains("frame 4: it is 7×4 pixels"), "{error}");
    assert_eq!(movie.frames(), 3);
    // Directories that run in a circle.
    let bytes = set::frames((0..2).map(|number| frame((5, 4), number)), (5, 4), "", None);
    let last = bytes.len() - 4;
    let mut circle = bytes.clone();
    circle.copy_within(4..8, last);
    let path = folder.file("circle.tif", &circle);
    let mut movie = GrowingMovie::open(&path, &MovieOptions::default(), &now()).expect("a movie");
    let error = loop {
        match movie.read(1) {
            Ok(Some(_)) => assert!(movie.frames() < 20),
            Ok(None) => panic!("a circle has no end"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("circle"), "{error}");
}

/// Proves that a killed writer ends the movie after a while, and that what is missing is told: of each kind of file, of a set whose second
/// file is empty, and of one whose second file is not there.
#[test]
fn killed_writers_end_the_movie() {
    for kind in [Kind::Raw, Kind::Npy] {
        let folder = Folder::new();
        let path = kind.path(folder.0.path());
        let mut writer = kind.writer(folder.0.path(), SIZE, 50);
        (0..9).for_each(|number| writer.frame(&frame(SIZE, number)));
        let mut file = OpenOptions::new().append(true).open(&path).expect("a file");
        file.write_all(&[1; 100]).expect("a part of a frame");
        let mut movie = opened(&path, 100);
        let begin = Instant::now();
        assert_eq!(check(&mut movie, SIZE, |number| frame(SIZE, number)).expect("frames"), 9);
        assert!(begin.elapsed() >= Duration::from_millis(100));
        let notes = movie.notes().join("\n");
        assert!(notes.contains("9 frames") && notes.contains("promise 50"), "{notes}");
        assert!(
            notes.contains("frame 10 is not whole") && notes.contains("764 of its 864 bytes"),
            "{notes}"
        );
        assert!(movie.contradiction().is_some_and(|said| said.contains("cannot be read")));
    }
    for (kind, second) in
        [(Kind::MicroManager(5), "run_MMStack_Pos0_1.ome.tif"), (Kind::Set, "second.ome.tif")]
    {
        for is_there in [true, false] {
            let folder = Folder::new();
            let mut writer = kind.writer(folder.0.path(), SIZE, 10);
            (0..5).for_each(|number| writer.frame(&frame(SIZE, number)));
            writer.end();
            if is_there {
                folder.file(second, b"");
            }
            let path = kind.path(folder.0.path());
            let mut movie =
                GrowingMovie::open(&path, &MovieOptions::default(), &idle(60)).expect("a movie");
            assert_eq!(check(&mut movie, SIZE, |number| frame(SIZE, number)).expect("frames"), 5);
            let notes = movie.notes().join("\n");
            assert!(
                notes.contains("5 frames") && notes.contains("promise 10"),
                "{kind:?}: {notes}"
            );
        }
    }
}

/// Proves that a movie waits for its folder, its file, and the file that describes it; that it says what is missing if they do not
/// come; and that what can never be read is refused at once.
#[test]
fn movies_are_waited_for() {
    let folder = Folder::new();
    let refused = |name: &str, says: &str| {
        let error = GrowingMovie::open(folder.path(name), &MovieOptions::default(), &idle(20));
        let error = error.expect_err("nothing is there").to_string();
        assert!(error.contains(says), "{name}: {error}");
    };
    refused("nothing.tif", "No such file");
    refused("nothing", "No such file");
    folder.file("empty.tif", b"");
    refused("empty.tif", "no page yet");
    folder.file("alone.raw", &[0; 99]);
    refused("alone.raw", "alone.yaml");
    folder.file("half.npy", b"\x93NUM");
    refused("half.npy", "NPY");
    folder.file("wide.npy", &npy("'<u2'", "True", "(9, 4, 4)", &[]));
    let long = Instant::now();
    refused("wide.npy", "none is there before all are");
    refused("movie.lif", "must be converted");
    let many = set::pages(&[1], &set::ome("XYZCT", [1, 2, 9], "", ""), None);
    folder.file("colours.ome.tif", &many);
    let path = folder.path("colours.ome.tif");
    let never = GrowingMovie::open(path, &MovieOptions::default(), &idle(2 * LONG));
    assert!(matches!(never, Err(MovieError::Channels(2))));
    assert!(long.elapsed() < Duration::from_millis(LONG), "it cannot get better");
    // A folder that is made later.
    let place = folder.path("run");
    let (tell, told) = channel();
    let later = spawn({
        let place = place.clone();
        move || write_ahead(Kind::MicroManager(3), &place, SIZE, 7, frame, &told)
    });
    let mut movie =
        GrowingMovie::open(&place, &MovieOptions::default(), &idle(LONG)).expect("a movie");
    let written = |number: usize| {
        // Who has written all of them listens no more.
        let _ = tell.send(number + 1);
        frame(SIZE, number)
    };
    assert_eq!(check(&mut movie, SIZE, written).expect("frames"), 7);
    later.join().expect("a writer");
    assert_eq!(movie.files().len(), 3);
    let names = movies_in(folder.0.path()).expect("a folder");
    let names: Vec<_> =
        names.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["alone.raw", "colours.ome.tif", "empty.tif", "half.npy", "run", "wide.npy"]);
    assert_eq!(movies_in(&place).expect("a folder"), [Kind::MicroManager(3).path(&place)]);
}

/// Proves that what is read only when it is complete is a movie of its folder all the same, told by name, once however many files it has; and
/// that it is refused while it is written, with what to do.
#[test]
fn complete_movies_are_not_followed() {
    let folder = Folder::new();
    for name in ["a.SIF", "b.fits", "c.spe", "d.nd2", "e.czi", "notes.txt"] {
        folder.file(name, b"");
    }
    for name in ["run_1/NDTiff.index", "run_2/Full resolution/NDTiff.index"] {
        let path = folder.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, b"").expect("a file");
    }
    let stacks =
        ["run_1/a_NDTiffStack.tif", "run_1/a_NDTiffStack_1.tif"].map(|name| folder.file(name, b""));
    let movies = movies_in(folder.0.path()).expect("a folder");
    let names: Vec<_> =
        movies.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a.SIF", "b.fits", "c.spe", "d.nd2", "e.czi", "run_1", "run_2"]);
    assert_eq!(movies_in(folder.path("run_1")).expect("a folder"), stacks[..1]);
    for path in movies.iter().chain(&stacks) {
        let error =
            GrowingMovie::open(path, &MovieOptions::default(), &now()).expect_err("not followed");
        let said = error.to_string();
        assert!(said.contains("read when it is complete"), "{}: {said}", path.display());
    }
    let lists = folder.file("list.nd", b"");
    let later = folder.path("later.nd");
    assert!(movies.iter().chain(&stacks).chain([&lists, &later]).all(is_read_complete));
    let followed = ["a.tif", "b.npy", "c.raw", "d.dax", "run_1/plain.tif", "notes.txt"];
    assert!(!followed.map(|name| folder.path(name)).iter().any(is_read_complete));
    let known = |name: &str| last_change(folder.path(name)).is_some();
    assert!(known("a.SIF") && known("run_1") && known("run_2") && !known("none"));
}

/// Proves that one channel of several is read while it is written, where the metadata stand at the beginning, and slices as frames or one
/// of them alone.
#[test]
fn channels_and_slices_are_chosen() {
    let numbers: Vec<u16> = (0..24).collect();
    let folder = Folder::new();
    let imagej = "ImageJ=1.53\nimages=24\nchannels=2\nslices=3\nframes=4\n";
    for (name, text) in
        [("ome.ome.tif", set::ome("XYCZT", [3, 2, 4], "", "")), ("imagej.tif", imagej.to_owned())]
    {
        let path = folder.file(name, &set::pages(&numbers, &text, None));
        for channel in [0, 1] {
            for slice in [None, Some(2)] {
                let options = MovieOptions::default().with_channel(Some(channel)).with_slice(slice);
                let read = |mut next: Box<dyn FnMut() -> Option<spotfit::movie::Block>>| {
                    let mut all = Vec::new();
                    while let Some(block) = next() {
                        let Pixels::U16(pixels) = block.pixels else { panic!("16 bits") };
                        all.extend(pixels.outer_iter().map(|frame| frame[[0, 0]]));
                    }
                    all
                };
                let mut movie = GrowingMovie::open(&path, &options, &now()).expect("a movie");
                let growing = read(Box::new(move || movie.read(5).expect("frames")));
                let mut movie = Movie::open_with(&path, &options).expect("a movie");
                let finished = read(Box::new(move || movie.read(5).expect("frames")));
                assert_eq!(growing, finished, "{name}, {channel}, {slice:?}");
            }
        }
    }
}

/// Proves that a reader that waits ends when somebody stops it, and not for want of frames.
#[test]
fn waiting_can_be_stopped() {
    let folder = Folder::new();
    let mut writer = Kind::Tiff.writer(folder.0.path(), SIZE, 5);
    writer.frame(&frame(SIZE, 0));
    let stop = Arc::new(AtomicBool::new(false));
    let options = idle(LONG).with_stop(Some(stop.clone()));
    let path = Kind::Tiff.path(folder.0.path());
    let mut movie = GrowingMovie::open(&path, &MovieOptions::default(), &options).expect("a movie");
    let (tell, told) = channel();
    spawn(move || {
        told.recv().expect("a frame");
        stop.store(true, Ordering::Relaxed);
    });
    let written = |number: usize| {
        tell.send(()).expect("somebody who stops it");
        frame(SIZE, number)
    };
    assert_eq!(check(&mut movie, SIZE, written).expect("frames"), 1);
    assert!(!movie.has_ended());
}

/// How often this thread has read from any file, where the system tells it.
fn reads() -> Option<f64> {
    let told = fs::read_to_string("/proc/thread-self/io").ok()?;
    told.lines().find_map(|line| line.strip_prefix("syscr: "))?.parse().ok()
}

/// Counts, where the system does, how often a file of 10⁵ pages is read for each, and prints how long that takes. Proves that it is as often at the end as at the
/// beginning: nobody walks along the pages again.
#[test]
fn pages_cost_the_same_in_long_files() {
    let (size, pages) = ((8, 8), 100_000);
    let folder = Folder::new();
    let path = folder.path("long.tif");
    let mut file = io::BufWriter::new(File::create(&path).expect("a file"));
    let mut place = 8u32;
    file.write_all(b"II*\0\x08\0\0\0").expect("a header");
    for number in 0..pages {
        let data = place + 2 + 12 * 9 + 4;
        let next = if number + 1 == pages { 0 } else { data + 128 };
        let mut bytes = 9u16.to_le_bytes().to_vec();
        for (tag, kind, value) in [
            (256u16, 3u16, 8u32),
            (257, 3, 8),
            (258, 3, 16),
            (259, 3, 1),
            (262, 3, 1),
            (273, 4, data),
            (277, 3, 1),
            (278, 3, 8),
            (279, 4, 128),
        ] {
            bytes.extend(
                [
                    &tag.to_le_bytes()[..],
                    &kind.to_le_bytes(),
                    &1u32.to_le_bytes(),
                    &value.to_le_bytes(),
                ]
                .concat(),
            );
        }
        bytes.extend(next.to_le_bytes());
        bytes.extend(frame(size, number).iter().flat_map(|pixel| pixel.to_le_bytes()));
        file.write_all(&bytes).expect("a page");
        place = next;
    }
    file.flush().expect("written");
    let mut movie = GrowingMovie::open(&path, &MovieOptions::default(), &now()).expect("a movie");
    let mut counts = Vec::new();
    let (start, mut begin) = (Instant::now(), reads());
    while let Some(block) = movie.read(1000).expect("frames") {
        let Pixels::U16(pixels) = &block.pixels else { panic!("16 bits") };
        let last = pixels.dim().0 - 1;
        let (read, written) =
            (pixels.slice(spotfit::ndarray::s![last, .., ..]), frame(size, block.first + last));
        assert!(read.iter().eq(written.iter()), "{}", block.first);
        let end = reads();
        counts.extend(end.zip(begin).map(|(end, begin)| end - begin));
        begin = end;
    }
    assert_eq!(movie.frames(), pages);
    println!("{:.2} µs a page of {pages}", 1e6 * start.elapsed().as_secs_f64() / pages as f64);
    if counts.is_empty() {
        println!("skipped: this system counts no reads of a thread");
        return;
    }
    let (first, last) = counts.split_at(counts.len() / 2);
    let sum = |counts: &[f64]| counts.iter().sum::<f64>();
    let each = sum(&counts) / pages as f64;
    println!("{each:.2} reads a page, {:.2} in the second half", 2.0 * sum(last) / pages as f64);
    assert!(sum(last) < 1.1 * sum(first) && each < 100.0, "{each}");
}
