//! `localize` and `batch` during the acquisition: the rows of the finished movie, soon after their frames, in a table that grows by whole
//! rows.

use crate::common;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant, SystemTime};

use common::Folder;
use common::planes::{NdPlane, ndtiff};
use common::writers::{KINDS, Kind, Size, each_kind, write_ahead};
use spotfit::movie::{FollowOptions, MovieOptions};
use spotfit::record::{Record, State};
use spotfit::steps::batch::{self, BatchListener, BatchOptions, BatchProgress, Method};
use spotfit::steps::localize::{self, CameraOptions, DefectsOption, LocalizeOptions, Localizing};
use spotfit::steps::{Listener, Note, PixelScale, Silent, Sink, Stack, StepError, TableFile};
use spotfit::table::{
    Column, Kind as Numbers, PicassoVersion, SaveOptions, Table, TableError, TableFormat, Unit,
};

const SIZE: Size = (48, 40);

/// So many milliseconds that nothing here takes as long, however busy the machine is.
const LONG: u64 = 600_000;

/// A frame with noise, and two spots that blink.
fn frame((width, height): Size, number: usize) -> Vec<u16> {
    let mut random = (number as u32 + 1).wrapping_mul(2_654_435_761);
    let mut noise = move || {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random % 11
    };
    let spots = [(12.3, 15.8, !number.is_multiple_of(3)), (33.6, 22.1, number.is_multiple_of(2))];
    let pixel = |at: u32| {
        let (x, y) = (f64::from(at % width), f64::from(at / width));
        let light = |&(x0, y0, on): &(f64, f64, bool)| {
            let apart: f64 = (x - x0) * (x - x0) + (y - y0) * (y - y0);
            if on { 300.0 * (-apart / 2.9).exp() } else { 0.0 }
        };
        100.0 + spots.iter().map(light).sum::<f64>() + f64::from(noise())
    };
    let mut pixel = pixel;
    (0..width * height).map(|at| pixel(at) as u16).collect()
}

fn options() -> LocalizeOptions {
    let camera = CameraOptions::default()
        .with_baseline(Some(100.0))
        .with_sensitivity(Some(0.5))
        .with_read_noise(Some(1.0));
    LocalizeOptions::default().with_camera(camera).with_pixel_size(PixelScale::Nanometres(100.0))
}

fn idle(milliseconds: u64) -> FollowOptions {
    FollowOptions::default()
        .with_idle(Duration::from_millis(milliseconds))
        .with_poll(Duration::from_millis(2))
}

/// The bytes of the table of a finished movie.
fn finished(options: &LocalizeOptions, path: &Path, table: &Path) -> Vec<u8> {
    let stack = Stack::open(path, &MovieOptions::default()).expect("a movie");
    let save = SaveOptions::default();
    let mut file = TableFile::create(table, save).expect("a table");
    let report = localize::run(options, stack, TableFormat::Csv, &mut file, &Silent).expect("rows");
    file.finish([], report.counts(), &mut || true).expect("a table");
    fs::read(table).expect("a table")
}

/// A table that somebody looks at while rows are added.
struct Watched {
    table: TableFile,
    look: SyncSender<()>,
    rows: usize,
}

impl Sink for Watched {
    fn write(&mut self, block: Table) -> Result<(), TableError> {
        self.look.send(()).expect("somebody who looks");
        self.rows += block.rows();
        self.table.write(block)
    }
}

/// Proves for each kind of file that the rows of the table are those of the finished movie, byte for byte; that those of a frame are in
/// the table before many other frames come; that whoever reads the table meanwhile finds whole rows only, and a record that says that
/// there will be more.
#[test]
fn rows_are_those_of_the_finished_movie() {
    each_kind(|kind| {
        let folder = Folder::new();
        let path = kind.path(folder.0.path());
        let frames = 1000;
        let place = folder.0.path().to_owned();
        let (tell, told) = channel();
        let writer = spawn(move || write_ahead(kind, &place, SIZE, frames, frame, &told));
        let table = folder.path("live.csv");
        // Somebody who reads the table while it grows.
        let (look, looks) = sync_channel(0);
        let reader = spawn({
            let table = table.clone();
            move || {
                let (mut before, mut looked) = (Vec::new(), 0);
                for () in looks {
                    if let Ok(mut text) = fs::read(&table) {
                        // A file system may show a write page by page: a row counts when its line ends.
                        let whole =
                            text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
                        text.truncate(whole);
                        assert!(whole > 0 && text.starts_with(&before), "rows changed");
                        before = text;
                        looked += 1;
                    }
                }
                (before, looked)
            }
        });
        let stop = Arc::new(AtomicBool::new(false));
        let follow = idle(LONG).with_stop(Some(stop.clone()));
        let stack = Stack::follow(&path, &MovieOptions::default(), &follow).expect("a movie");
        let job = Localizing::prepare(&options(), stack, TableFormat::Csv, &Silent).expect("a job");
        let record = job.record(&table, PicassoVersion::default()).expect("a record");
        let growing = TableFile::growing(&table, SaveOptions::default()).expect("a table");
        let growing = growing.with_record(record).expect("a record");
        let mut watched = Watched { table: growing, look, rows: 0 };
        let last = (!kind.has_promise()).then_some((frames, stop));
        let listener = Watching { table: &table, seen: Mutex::default(), tell, last };
        let report = job.run(&mut watched, &listener).expect("rows");
        let Watched { table: growing, rows, look } = watched;
        growing.finish([], report.counts(), &mut || true).expect("a table");
        drop(look);
        let (last, looked) = reader.join().expect("whole rows");
        writer.join().expect("a writer");
        assert_eq!(report.frames, frames, "{kind:?}");
        assert!(looked > 20, "{looked}");
        let live = fs::read(&table).expect("a table");
        assert!(live.starts_with(&last), "{kind:?}");
        assert!(live == finished(&options(), &path, &folder.path("later.csv")), "{kind:?}");
        assert!(rows > frames, "{rows}");
        let states = listener.seen.into_inner().expect("states");
        assert!(
            !states.is_empty() && states.iter().all(|complete| *complete == Some(false)),
            "{states:?}"
        );
        let record = Record::beside(&table).expect("a record");
        assert_eq!(record.complete, Some(true));
        assert_eq!(record.count("localizations"), Some(rows as u64));
    });
}

/// Looks at the record whenever a block was written, and tells how many frames have their rows.
struct Watching<'a> {
    table: &'a Path,
    seen: Mutex<Vec<Option<bool>>>,
    tell: Sender<usize>,
    /// After how many frames a movie ends that does not know it, and what ends it.
    last: Option<(usize, Arc<AtomicBool>)>,
}

impl Listener for Watching<'_> {
    fn progress(&self, frames: u64) {
        let record = Record::beside(self.table).expect("a record from the start");
        assert_eq!(record.state, State::Begun);
        self.seen.lock().expect("states").push(record.complete);
        // Who has written all of them listens no more.
        let _ = self.tell.send(frames as usize);
        if let Some((_, stop)) = self.last.as_ref().filter(|(last, _)| *last as u64 == frames) {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

/// A table that knows when the rows of each frame came.
struct Clocked {
    begin: Instant,
    rows: Vec<(usize, Duration)>,
}

impl Sink for Clocked {
    fn write(&mut self, block: Table) -> Result<(), TableError> {
        let (now, frames) = (self.begin.elapsed(), block.column("frame"));
        let frames = frames.into_iter().flat_map(|column| &column.values);
        self.rows.extend(frames.map(|&frame| (frame as usize, now)));
        Ok(())
    }
}

/// Measures, and prints, how long after its frame a row comes, where 500 to 2000 frames are written a second.
#[test]
#[ignore = "measures time: --nocapture"]
fn rows_come_soon() {
    for (kind, rate) in KINDS.into_iter().zip([2000, 500, 1000].into_iter().cycle()) {
        let folder = Folder::new();
        let (path, place) = (kind.path(folder.0.path()), folder.0.path().to_owned());
        let (frames, begin) = (1000, Instant::now());
        let writer = spawn(move || {
            let (mut writer, mut written) = (kind.writer(&place, SIZE, frames), Vec::new());
            for number in 0..frames {
                writer.frame(&frame(SIZE, number));
                written.push(begin.elapsed());
                sleep(Duration::from_micros(1_000_000 / rate));
            }
            writer.end();
            written
        });
        let follow = FollowOptions::default().with_idle(Duration::from_secs(2));
        let stack = Stack::follow(&path, &MovieOptions::default(), &follow).expect("a movie");
        let mut clocked = Clocked { begin, rows: Vec::new() };
        localize::run(&options(), stack, TableFormat::Csv, &mut clocked, &Silent).expect("rows");
        let written = writer.join().expect("a writer");
        let late = clocked.rows.iter().map(|&(frame, came)| came.saturating_sub(written[frame]));
        let mut late: Vec<Duration> = late.collect();
        late.sort();
        println!(
            "{kind:?} at {rate} frames/s: rows come {:.1?} after their frames in the median, 99 % within {:.1?}",
            late[late.len() / 2],
            late[late.len() * 99 / 100]
        );
    }
}

/// Proves that what is found in a movie's first frames is the same while it is written: defective pixels, the width that spots share, and
/// the background over time; and that a range of frames ends where it says.
#[test]
fn estimates_are_those_of_the_first_frames() {
    let frames = 120;
    let shared = |mut options: LocalizeOptions| {
        options.localizer = options
            .localizer
            .with_emitters(spotfit::localize::Emitters::Auto)
            .with_sigma(spotfit::localize::Sigma::Shared);
        options.with_estimator(Some(spotfit::Estimator::MaximumLikelihood))
    };
    let over_time = |mut options: LocalizeOptions| {
        options.localizer = options.localizer.with_temporal_background(Some(21));
        options
    };
    let cases: [(&str, LocalizeOptions, usize); 4] = [
        ("defects", options().with_defects(Some(DefectsOption::Auto)), 120),
        ("shared", shared(options()), 120),
        ("over time", over_time(options()), 120),
        ("frames", options().with_frames(Some("31:70".to_owned())), 40),
    ];
    for (name, options, expected) in cases {
        let folder = Folder::new();
        // It ends where its metadata say it.
        let kind = Kind::Set;
        let path = kind.path(folder.0.path());
        let mut writer = kind.writer(folder.0.path(), SIZE, frames);
        let (go_on, may_go_on) = channel();
        let writer = spawn(move || {
            for number in 0..frames {
                if number == 70 {
                    may_go_on.recv().expect("somebody who reads");
                }
                writer.frame(&frame(SIZE, number));
            }
            writer.end();
        });
        let needs_all = name != "frames";
        if needs_all {
            go_on.send(()).expect("a writer");
        }
        let stack = Stack::follow(&path, &MovieOptions::default(), &idle(LONG)).expect("a movie");
        let table = folder.path("live.csv");
        let mut growing = TableFile::growing(&table, SaveOptions::default()).expect("a table");
        let ear = Ear::default();
        let report = localize::run(&options, stack, TableFormat::Csv, &mut growing, &ear);
        let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
        let told = ear.notes.into_inner().expect("notes").join("\n");
        assert!(!told.contains("no frame came"), "{name}: {told}");
        if !needs_all {
            go_on.send(()).expect("a writer");
        }
        growing.finish([], report.counts(), &mut || true).expect("a table");
        writer.join().expect("a writer");
        assert_eq!(report.frames, expected, "{name}");
        let live = fs::read(&table).expect("a table");
        assert!(live == finished(&options, &path, &folder.path("later.csv")), "{name}");
        assert!(!fs::exists(Record::path(&table)).expect("known"));
    }
}

/// Hears what is told.
#[derive(Default)]
struct Ear {
    notes: Mutex<Vec<String>>,
    cancelled: AtomicBool,
    /// Who hears of how many frames there are rows, until a batch ends.
    rows: Mutex<Option<Sender<u64>>>,
}

impl Ear {
    fn heard_by(rows: Sender<u64>) -> Self {
        Self { rows: Mutex::new(Some(rows)), ..Self::default() }
    }

    fn has_rows(&self, frames: u64) {
        if let Some(rows) = &*self.rows.lock().expect("rows") {
            // Not all of it is waited for.
            let _ = rows.send(frames);
        }
    }
}

impl Listener for Ear {
    fn progress(&self, frames: u64) {
        self.has_rows(frames);
    }

    fn note(&self, note: &Note) {
        self.notes.lock().expect("notes").push(note.text().to_owned());
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl BatchListener for Ear {
    fn progress(&self, progress: &BatchProgress) {
        self.has_rows(progress.frames);
    }

    fn end(&self) {
        self.rows.lock().expect("rows").take();
    }

    fn note(&self, movie: Option<&str>, note: &Note) {
        let movie = movie.unwrap_or("all");
        self.notes.lock().expect("notes").push(format!("{movie}: {}", note.text()));
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// Proves that whoever stops it keeps whole rows and a record that says that they are not all; that a movie that was not ended is
/// told; and that a file that shrinks is an error which leaves the rows so far.
#[test]
fn what_ends_early_is_told() {
    let folder = Folder::new();
    let path = Kind::Npy.path(folder.0.path());
    let mut writer = Kind::Npy.writer(folder.0.path(), SIZE, 500);
    (0..30).for_each(|number| writer.frame(&frame(SIZE, number)));
    let run = |idle: FollowOptions, ear: &Ear, name: &str| {
        let table = folder.path(name);
        let stack = Stack::follow(&path, &MovieOptions::default(), &idle).expect("a movie");
        let job = Localizing::prepare(&options(), stack, TableFormat::Csv, ear).expect("a job");
        let record = job.record(&table, PicassoVersion::default()).expect("a record");
        let growing = TableFile::growing(&table, SaveOptions::default()).expect("a table");
        let mut growing = growing.with_record(record).expect("a record");
        let ran = job.run(&mut growing, ear);
        (table, ran.map(|report| (growing, report)))
    };
    // Nobody writes on.
    let ear = Ear::default();
    let (table, ran) = run(idle(80), &ear, "killed.csv");
    let (growing, report) = ran.expect("rows");
    growing.finish([], report.counts(), &mut || true).expect("a table");
    assert_eq!(report.frames, 30);
    let told = ear.notes.lock().expect("notes").join("\n");
    assert!(told.contains("30 frames") && told.contains("promise 500"), "{told}");
    assert!(told.contains("cannot be read"), "{told}");
    let rows = fs::read(&table).expect("rows");
    assert!(rows.iter().filter(|&&byte| byte == b'\n').count() > 30);
    // Somebody stops it, when all frames that are there have their rows.
    let (tell, told) = channel();
    let ear = Arc::new(Ear::heard_by(tell));
    spawn({
        let ear = ear.clone();
        move || {
            told.iter().find(|&frames| frames == 30).expect("rows");
            ear.cancelled.store(true, Ordering::Relaxed);
        }
    });
    let begin = Instant::now();
    let (table, ran) = run(idle(2 * LONG), &ear, "stopped.csv");
    assert!(matches!(ran, Err(StepError::Cancelled)));
    assert!(begin.elapsed() < Duration::from_millis(LONG));
    assert_eq!(fs::read(&table).expect("rows"), rows);
    let record = Record::beside(&table).expect("a record");
    assert_eq!((record.state, record.complete), (State::Begun, Some(false)));
    // It shrinks then.
    let (tell, told) = channel();
    spawn({
        let path = path.clone();
        move || {
            told.iter().find(|&frames| frames == 30).expect("rows");
            fs::write(path, b"").expect("shrunk");
        }
    });
    let ear = Ear::heard_by(tell);
    let (table, ran) = run(idle(LONG), &ear, "shrunk.csv");
    let said = ran.expect_err("it has shrunk").to_string();
    assert!(said.contains("frame 31") && said.contains("has shrunk"), "{said}");
    assert_eq!(fs::read(&table).expect("rows"), rows);
}

/// Proves that a movie of Micro-Manager, which says at its end how large its pixels are, is not localized with another size.
#[test]
fn sizes_that_come_at_the_end_are_asked_for() {
    let folder = Folder::new();
    let kind = Kind::MicroManager(9);
    let mut writer = kind.writer(folder.0.path(), SIZE, 9);
    (0..3).for_each(|number| writer.frame(&frame(SIZE, number)));
    let path = kind.path(folder.0.path());
    let prepared = |scale| {
        let stack = Stack::follow(&path, &MovieOptions::default(), &idle(50)).expect("a movie");
        Localizing::prepare(&options().with_pixel_size(scale), stack, TableFormat::Csv, &Silent)
    };
    let said = prepared(PixelScale::OfMovie).expect_err("it is not known").to_string();
    assert!(said.contains("`pixel_size`") && said.contains("Micro-Manager"), "{said}");
    assert!(prepared(PixelScale::Unknown).is_ok());
}

/// Proves that `batch` localizes the movies that come to a folder while they are written, those that are there already among them, and
/// ends when none comes; that each table is that of its finished movie; and that a second run finds all of them finished.
#[test]
fn folders_are_followed() {
    let folder = Folder::new();
    let incoming = folder.path("incoming");
    let out = incoming.join("tables");
    fs::create_dir(&incoming).expect("a folder");
    let old = incoming.join("old");
    fs::create_dir(&old).expect("a folder");
    let mut writer = Kind::MicroManager(9).writer(&old, SIZE, 12);
    (0..12).for_each(|number| writer.frame(&frame(SIZE, number)));
    writer.end();
    // What is read only when it is complete is waited for, until it does not change any more.
    let planes: Vec<NdPlane> = (0..7)
        .map(|time| {
            let data = frame(SIZE, time).into_iter().flat_map(u16::to_le_bytes).collect();
            NdPlane { axes: format!("{{\"time\":{time}}}"), kind: 1, data }
        })
        .collect();
    let (index, stack) = ndtiff(SIZE.0, SIZE.1, "run_NDTiffStack.tif", &planes);
    let run = incoming.join("run");
    fs::create_dir(&run).expect("a folder");
    fs::write(run.join("run_NDTiffStack.tif"), &stack).expect("a file");
    fs::write(run.join("NDTiff.index"), &index[..index.len() / 2]).expect("a file");
    let changed = |path: &Path, time: SystemTime| {
        let file = fs::File::options().append(true).open(path).expect("a file");
        file.set_modified(time).expect("another time");
    };
    let (hour, now) = (Duration::from_secs(3600), SystemTime::now());
    // The clock of the microscope is wrong, and the file no movie.
    let ahead = incoming.join("ahead.sif");
    fs::write(&ahead, b"Andor").expect("a file");
    changed(&ahead, now + hour);
    let ended = incoming.join("ended.fits");
    fs::write(&ended, b"SIMPLE").expect("a file");
    changed(&ended, now - hour);
    let (tell, told) = channel();
    let writer = spawn({
        let (incoming, out) = (incoming.clone(), out.clone());
        move || {
            // What is there has been looked at when the first movie begins.
            told.recv().expect("a batch");
            fs::write(incoming.join("run/NDTiff.index"), index).expect("a file");
            for (kind, table) in [(Kind::Tiff, "movie.csv"), (Kind::Raw, "movie.raw.csv")] {
                let mut writer = kind.writer(&incoming, SIZE, 150);
                for number in 0..150 {
                    if number == 10 {
                        told.iter().find(|_| out.join(table).exists()).expect("a table");
                    }
                    writer.frame(&frame(SIZE, number));
                }
                writer.end();
            }
        }
    });
    let batch_options = BatchOptions::new(&out).with_format(TableFormat::Csv).with_jobs(2);
    let method =
        Method::new(&options(), &MovieOptions::default(), &batch_options).expect("a method");
    let method = Arc::new(method);
    let ear = Ear::heard_by(tell);
    let follow = |milliseconds| {
        let idle = idle(milliseconds);
        batch::follow(&batch_options, &incoming, &method, &idle, &ear).expect("a batch")
    };
    // By this time alone is it known that a movie has ended, and that no other comes.
    let report = follow(5000);
    writer.join().expect("a writer");
    let mut done: Vec<(&str, Option<u64>)> =
        report.movies.iter().map(|movie| (&movie.movie[..], movie.count("frames"))).collect();
    // What has ended is read at once.
    assert!(done[..2].contains(&("ended.fits", None)), "{done:?}");
    done.sort_unstable();
    let expected = [
        ("ahead.sif", None),
        ("ended.fits", None),
        ("movie.raw", Some(150)),
        ("movie.tif", Some(150)),
        ("old", Some(12)),
        ("run", Some(7)),
    ];
    assert_eq!(done, expected, "{:?}", ear.notes);
    for movie in report.movies.iter().filter(|movie| movie.count("frames").is_none()) {
        let said = movie.error.as_deref().unwrap_or_default();
        assert!(!said.is_empty() && !said.contains("read when it is complete"), "{said}");
    }
    let tables = [
        ("old.csv", old.clone()),
        ("run.csv", run.clone()),
        ("movie.csv", incoming.join("movie.tif")),
        // Both movies are called alike.
        ("movie.raw.csv", incoming.join("movie.raw")),
    ];
    for (name, movie) in tables {
        let live = fs::read(out.join(name)).expect("a table");
        assert!(live == finished(&options(), &movie, &folder.path(name)), "{name}");
        let record = Record::beside(&out.join(name)).expect("a record");
        assert!(matches!(record.state, State::Done { .. }) && !record.inputs.is_empty());
    }
    // Nobody writes any more.
    let again = follow(100);
    assert_eq!((again.localized, again.finished, again.failed), (0, 4, 2));
}

/// Proves that a table begins with its first row, so that what had its name stays until then; and that one which another program removes,
/// replaces, cuts or adds to is an error of the next row and of the end, with a record that says that it is not complete.
#[test]
fn growing_tables_notice_what_others_do() {
    let rows = |count: usize| {
        let mut table = Table::default();
        table.set(Column::new("x", Unit::Nanometre, Numbers::Double, vec![1.5; count]));
        table
    };
    type Act = fn(&Path);
    let acts: [(&str, Act); 4] = [
        ("removed", |path| fs::remove_file(path).expect("removed")),
        ("replaced", |path| {
            fs::copy(path, path.with_extension("new")).expect("another");
            fs::rename(path.with_extension("new"), path).expect("renamed");
        }),
        ("cut", |path| fs::write(path, "").expect("cut")),
        ("longer", |path| {
            let file = OpenOptions::new().append(true).open(path);
            file.and_then(|mut file| file.write_all(b"2\n")).expect("written");
        }),
    ];
    for (name, act) in acts {
        for more in [0, 3] {
            let folder = Folder::new();
            let path = folder.file("live.csv", b"last night\n");
            let record = Record::new("localize", &path);
            let growing = TableFile::growing(&path, SaveOptions::default()).expect("a table");
            let mut growing = growing.with_record(record).expect("a record");
            growing.write(rows(0)).expect("no rows");
            assert_eq!(fs::read(&path).expect("a table"), b"last night\n");
            assert_eq!(folder.names(), ["live.csv"]);
            growing.write(rows(2)).expect("rows");
            assert_eq!(fs::read(&path).expect("a table"), b"\"x [nm]\"\n1.5\n1.5\n");
            act(&path);
            if more > 0 {
                let error = growing.write(rows(more)).expect_err("it has changed").to_string();
                assert!(error.contains("removed, replaced or changed"), "{name}: {error}");
            }
            let counts = std::collections::BTreeMap::new();
            let error = growing.finish([], counts, &mut || true).expect_err("it has changed");
            assert!(error.to_string().contains("removed, replaced or changed"), "{name}: {error}");
            let record = Record::beside(&path).expect("a record");
            assert_eq!((record.state, record.complete), (State::Begun, Some(false)), "{name}");
        }
    }
    // A movie in which nothing is found has a table without rows.
    let folder = Folder::new();
    let mut growing =
        TableFile::growing(&folder.path("live.csv"), SaveOptions::default()).expect("a table");
    growing.write(rows(0)).expect("no rows");
    assert_eq!(folder.names(), Vec::<String>::new());
    growing.finish([], Default::default(), &mut || true).expect("a table");
    assert_eq!(fs::read(folder.path("live.csv")).expect("a table"), b"\"x [nm]\"\n");
}
