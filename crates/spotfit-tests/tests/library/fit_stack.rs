//! Stacks of windows that are fitted from file to table.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{Folder, npy};
use fit_sim::SpotSimulation;
use spotfit::npy::{MaybeFile, NpyError, StackReader};
use spotfit::output::Output;
use spotfit::steps::fit::{Beside, FitOptions, FitStackError, FitTable, Fitting, StandardErrors};
use spotfit::steps::{OutcomeFormat, Silent};
use spotfit::{AnyWindows, Backend, Fit, Fitter, FitterOptions, Options, Shape, Size, Start};

const COUNT: usize = 5000;

/// Simulated windows of 7×8 pixels with noise, some of them with nothing to fit, and their start values.
fn windows() -> (Vec<f32>, Vec<[f64; 3]>) {
    let simulation = SpotSimulation::new(Size::new(8, 7)).with_signal(900.0);
    let spots = simulation.generate(0..COUNT).expect("windows");
    let mut pixels: Vec<f32> = spots.pixels.iter().copied().collect();
    pixels[56 * 1500..56 * 1510].fill(3.0);
    pixels[56 * 3000] = f32::NAN;
    let start = |truth: &fit_sim::Truth| [truth.shape.x, truth.shape.y, truth.sigma_x];
    (pixels, spots.truth.iter().map(start).collect())
}

fn file(descr: &str, fortran: bool, bytes: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    npy(&format!("'{descr}'"), fortran, &format!("({COUNT}, 7, 8)"), bytes)
}

/// Starts in parts, in turn.
struct Starts<'a> {
    all: &'a [[f64; 3]],
    done: AtomicUsize,
    /// How many there are.
    most: usize,
}

impl Beside for Starts<'_> {
    type Part = Vec<[f64; 3]>;
    type Error = &'static str;

    fn next(&self, count: usize, part: &mut Self::Part) -> Result<(), Self::Error> {
        let begin = self.done.fetch_add(count, Ordering::Relaxed);
        part.clear();
        part.extend_from_slice(&self.all[begin..begin + count]);
        if begin + count > self.most { Err("too few starts") } else { Ok(()) }
    }

    fn give<'a>(
        &'a self,
        part: &'a Self::Part,
        windows: AnyWindows<'a>,
    ) -> (AnyWindows<'a>, Start<'a>) {
        (windows, Start::F64(part))
    }
}

fn fitter(backend: Backend, threads: usize) -> Fitter {
    let fit = Options::default().with_shape(Shape::Elliptical(spotfit::Elliptical));
    let options = FitterOptions::from(fit).with_backend(backend).with_threads(threads);
    Fitter::new(&options).expect("a fitter")
}

fn table<R: MaybeFile + Send + Sync, B: Beside>(
    fitter: &Fitter,
    stack: &mut StackReader<R>,
    beside: &B,
    output: Output,
    format: OutcomeFormat,
) -> Result<(), FitStackError<B::Error>> {
    let (count, single) = (stack.count(), fitter.is_single_precision());
    let mut table = FitTable::create(output, format, count, fitter.options(), single, true)
        .map_err(FitStackError::Write)?;
    let wanted = FitOptions::default().with_errors(true);
    let mut fitting = Fitting::begin(fitter, &wanted, true, &Silent);
    fitting.fit_stack(stack, beside, &mut table, &|| true)?;
    table.into_inner().finish().expect("a table");
    let report = fitting.finish(Vec::new());
    assert_eq!((report.spots, report.statuses.total()), (COUNT, COUNT));
    assert!(report.converged > COUNT / 2 && report.stages.is_some());
    Ok(())
}

/// The table as it is made part by part, by hand.
fn by_hand(
    fitter: &Fitter,
    spots: &Path,
    starts: Option<&[[f64; 3]]>,
    format: OutcomeFormat,
) -> Vec<u8> {
    let mut stack = StackReader::open(spots).expect("a stack");
    let (count, single) = (stack.count(), fitter.is_single_precision());
    let mut table = FitTable::create(Vec::new(), format, count, fitter.options(), single, true)
        .expect("a table");
    let mut done = 0;
    while let Some(windows) = stack.read(777).expect("windows") {
        let start = match starts {
            Some(starts) => Start::F64(&starts[done..done + windows.count()]),
            None => Start::Estimate,
        };
        done += windows.count();
        write(fitter, windows, start, &mut table);
    }
    table.into_inner()
}

/// Writes the rows of windows.
fn write<W: Write>(
    fitter: &Fitter,
    windows: AnyWindows<'_>,
    start: Start<'_>,
    table: &mut FitTable<W>,
) {
    let mut fits = vec![Fit::invalid(); windows.count()];
    fitter.fit_windows(windows, start, fits.as_mut_slice().into()).expect("fits");
    let errors = fitter.errors(windows, &fits).expect("errors");
    let errors: Vec<_> = errors.iter().map(StandardErrors::from).collect();
    table.write(&fits, &errors).expect("rows");
}

/// Standard output of a test.
#[derive(Clone, Default)]
struct Taken(Arc<Mutex<Vec<u8>>>);

impl Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader that is no file.
struct Stream<R>(R);

impl<R: Read> Read for Stream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: Read> MaybeFile for Stream<R> {
    fn file(&self) -> Option<&File> {
        None
    }
}

/// Proves that tables have the same bytes for any number of threads, from files in any order of bytes and axes and from streams, into files
/// and into streams: those that are made by hand.
#[test]
fn tables_are_the_same_however_they_are_made() {
    let folder = Folder::new();
    let (pixels, starts) = windows();
    let little: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let big: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_be_bytes()).collect();
    let turned: Vec<u8> = (0..56)
        .flat_map(|place| (0..COUNT).map(move |window| (window, place % 7 * 8 + place / 7)))
        .flat_map(|(window, pixel)| pixels[window * 56 + pixel].to_le_bytes())
        .collect();
    let files = [("<f4", false, little), (">f4", false, big), ("<f4", true, turned)];
    let files = files.map(|(descr, fortran, bytes)| file(descr, fortran, &bytes));
    let paths: Vec<_> = (0..3).map(|i| folder.file(&format!("spots{i}.npy"), &files[i])).collect();
    for (backend, threads) in [(Backend::Cpu, &[1, 2, 5][..]), (Backend::Reference, &[1, 3])] {
        for format in [OutcomeFormat::Csv, OutcomeFormat::Npy] {
            for (case, starts) in [None, Some(&starts[..])].into_iter().enumerate() {
                let expected = by_hand(&fitter(backend, 2), &paths[0], starts, format);
                for &threads in threads {
                    let fitter = fitter(backend, threads);
                    let beside = || {
                        let (done, all) = (AtomicUsize::new(0), starts.unwrap_or_default());
                        Starts { all, done, most: COUNT }
                    };
                    for path in &paths {
                        let stack = &mut StackReader::open(path).expect("a stack");
                        let out = folder.path("out");
                        let output = Output::create(&out).expect("an output");
                        match starts {
                            None => assert!(table(&fitter, stack, &(), output, format).is_ok()),
                            Some(_) => {
                                assert!(table(&fitter, stack, &beside(), output, format).is_ok());
                            }
                        }
                        assert!(
                            std::fs::read(&out).expect("a table") == expected,
                            "{case} {path:?}"
                        );
                    }
                    let stream = Stream(&files[0][..]);
                    let stack = &mut StackReader::new(stream, None).expect("a stack");
                    let taken = Taken::default();
                    let output = Output::stream("taken", taken.clone());
                    match starts {
                        None => assert!(table(&fitter, stack, &(), output, format).is_ok()),
                        Some(_) => {
                            assert!(table(&fitter, stack, &beside(), output, format).is_ok());
                        }
                    }
                    assert!(*taken.0.lock().expect("no panic") == expected, "{case} stream");
                }
            }
        }
    }
}

/// Proves that the rest of a stack of which some windows were read by hand is fitted as they are: from files and from streams, into tables that begin with
/// their rows; and that nothing is left then.
#[test]
fn what_is_left_is_fitted() {
    let folder = Folder::new();
    let (pixels, _) = windows();
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let content = file("<f4", false, &bytes);
    let path = folder.file("spots.npy", &content);
    for (backend, format) in
        [(Backend::Cpu, OutcomeFormat::Csv), (Backend::Cpu, OutcomeFormat::Npy)]
    {
        let fitter = fitter(backend, 3);
        let expected = by_hand(&fitter, &path, None, format);
        for read in [1, 777, COUNT] {
            let mut stack = StackReader::open(&path).expect("a stack");
            let whole = rest(&fitter, &mut stack, read, &folder.path("out"), format);
            assert!(whole == expected, "{format:?} after {read}");
            let mut stack = StackReader::new(Stream(&content[..]), None).expect("a stack");
            let whole = rest(&fitter, &mut stack, read, &folder.path("out"), format);
            assert!(whole == expected, "{format:?} of a stream after {read}");
        }
    }
}

/// The table whose first rows are made by hand.
fn rest<R: MaybeFile + Send + Sync>(
    fitter: &Fitter,
    stack: &mut StackReader<R>,
    read: usize,
    path: &Path,
    format: OutcomeFormat,
) -> Vec<u8> {
    let (output, options) = (Output::create(path).expect("an output"), fitter.options());
    let mut table = FitTable::create(output, format, COUNT, options, true, true).expect("a table");
    let wanted = FitOptions::default().with_errors(true);
    let mut fitting = Fitting::begin(fitter, &wanted, true, &Silent);
    let windows = stack.read(read).expect("windows").expect("windows");
    write(fitter, windows, Start::Estimate, &mut table);
    assert_eq!(stack.left(), COUNT - read);
    fitting.fit_stack(stack, &(), &mut table, &|| true).expect("a table");
    assert!(stack.left() == 0 && stack.read(1).expect("the end").is_none());
    table.into_inner().finish().expect("a table");
    assert_eq!(fitting.finish(Vec::new()).spots, COUNT - read);
    std::fs::read(path).expect("a table")
}

/// Gives so many bytes and then an error.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("the cable"));
        }
        self.0.read(buffer)
    }
}

/// Proves that the error that comes first in the order of the windows is told, whichever thread meets it, and that no table appears.
#[test]
fn the_first_error_is_told() {
    let folder = Folder::new();
    let (pixels, starts) = windows();
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let content = file("<f4", false, &bytes);
    let out = folder.path("out.csv");
    for threads in [1, 4] {
        let fitter = fitter(Backend::Cpu, threads);
        let run = |stack: &mut StackReader<File>, most: usize| {
            let beside = Starts { all: &starts, done: AtomicUsize::new(0), most };
            let output = Output::create(&out).expect("an output");
            table(&fitter, stack, &beside, output, OutcomeFormat::Csv)
        };
        // It shrinks after its header was read.
        for _ in 0..10 {
            let spots = folder.file("spots.npy", &content);
            let mut stack = StackReader::open(&spots).expect("a stack");
            let half = content.len() as u64 / 2;
            File::options().write(true).open(&spots).expect("a file").set_len(half).expect("half");
            let head = content.len() - bytes.len();
            match run(&mut stack, COUNT) {
                Err(FitStackError::Read(NpyError::Truncated { promised, found })) => {
                    assert_eq!((promised, found), (bytes.len() as u64, half - head as u64));
                }
                other => panic!("{other:?}"),
            }
            let mut stack = StackReader::open(folder.file("spots.npy", &content)).expect("a stack");
            match run(&mut stack, 1234) {
                Err(FitStackError::Beside("too few starts")) => {}
                other => panic!("{other:?}"),
            }
        }
        let failing = Stream(Failing(&content[..content.len() / 3]));
        let stack = &mut StackReader::new(failing, None).expect("a stack");
        let output = Output::create(&out).expect("an output");
        match table(&fitter, stack, &(), output, OutcomeFormat::Npy) {
            Err(FitStackError::Read(NpyError::Io(error))) => {
                assert_eq!(error.to_string(), "the cable");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(folder.names(), ["spots.npy"]);
    }
}

/// Proves that the user can end the work, and that a table of no windows is one.
#[test]
fn the_work_can_be_ended() {
    let folder = Folder::new();
    let (pixels, _) = windows();
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let spots = folder.file("spots.npy", &file("<f4", false, &bytes));
    let fitter = fitter(Backend::Cpu, 3);
    let mut fitting = Fitting::begin(&fitter, &FitOptions::default(), true, &Silent);
    let mut stack = StackReader::open(&spots).expect("a stack");
    let output = Output::create(&folder.path("out.csv")).expect("an output");
    let (format, options) = (OutcomeFormat::Csv, fitter.options());
    let mut table = FitTable::create(output, format, COUNT, options, true, false).expect("a table");
    let asked = AtomicUsize::new(0);
    let go_on = || asked.fetch_add(1, Ordering::Relaxed) < 3;
    let ended = fitting.fit_stack(&mut stack, &(), &mut table, &go_on);
    assert!(matches!(ended, Err(FitStackError::Cancelled)));
    drop(table);
    assert_eq!(folder.names(), ["spots.npy"]);

    let none = folder.file("none.npy", &npy("'<f4'", "False", "(0, 7, 8)", &[]));
    let mut stack = StackReader::open(none).expect("a stack");
    let output = Output::create(&folder.path("out.csv")).expect("an output");
    let mut table = FitTable::create(output, format, 0, options, true, false).expect("a table");
    assert!(fitting.fit_stack(&mut stack, &(), &mut table, &|| true).is_ok());
    table.into_inner().finish().expect("a table");
    let text = std::fs::read_to_string(folder.path("out.csv")).expect("a table");
    assert_eq!(text.lines().count(), 1);
}
