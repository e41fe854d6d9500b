//! Many movies, by several runs.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use spotfit::movie::MovieOptions;
use spotfit::npy::write_header;
use spotfit::record::{Record, State};
use spotfit::steps::Silent;
use spotfit::steps::batch::{
    BatchListener, BatchOptions, BatchProgress, BatchReport, Method, Planner, Task, run,
};
use spotfit::steps::localize::{CameraOptions, LocalizeOptions};
use spotfit::table::TableFormat;

/// Movies in a folder, each with a spot in its two frames, and what is made of them.
fn tasks(folder: &Path, options: &BatchOptions) -> Vec<Task> {
    let camera = CameraOptions::default().with_baseline(Some(100.0)).with_sensitivity(Some(1.0));
    let how = LocalizeOptions::default().with_camera(camera);
    let method = Method::new(&how, &MovieOptions::default(), options).map(Arc::new).expect("sound");
    let mut planner = Planner::new(options);
    let mut tasks = Vec::new();
    for number in 0..3_usize {
        let path = folder.join(format!("{number}.npy"));
        let mut bytes = Vec::new();
        write_header(&mut bytes, "'<u2'", &[2, 20, 20]).expect("a header");
        for at in 0..800_usize {
            let (x, y) = (at % 20, at / 20 % 20);
            let spot = x.abs_diff(10) < 2 && y.abs_diff(9 + number) < 2;
            let value = 100 + (7 * x + 5 * y + at / 400) % 4 + if spot { 300 } else { 0 };
            bytes.extend((value as u16).to_le_bytes());
        }
        fs::write(&path, bytes).expect("a movie");
        let output = planner.output(number, &path, None).expect("a name");
        tasks.push(Task::new(format!("{number}.npy"), path, output, method.clone()));
    }
    tasks
}

fn of(report: &BatchReport) -> [usize; 3] {
    [report.localized, report.finished, report.failed]
}

/// Another run that begins when this one has begun, and ends before this one looks at any movie.
struct Meanwhile<'a> {
    options: &'a BatchOptions,
    tasks: &'a [Task],
    localized: AtomicUsize,
}

impl BatchListener for Meanwhile<'_> {
    fn progress(&self, progress: &BatchProgress) {
        if progress.done == 0 && progress.frames == 0 {
            let other = run(self.options, self.tasks, &Silent).expect("a batch");
            self.localized.fetch_add(other.localized, Ordering::Relaxed);
        }
    }
}

/// Proves that finished movies are skipped; that with `overwrite` they are made again, but not those that another run makes
/// meanwhile, from the first look on; and that all runs leave the same bytes.
#[test]
fn runs_share_movies() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BatchOptions::new(folder.path().join("out")).with_format(TableFormat::Csv);
    let tasks = tasks(folder.path(), &options);
    let report = run(&options, &tasks, &Silent).expect("a batch");
    assert_eq!((of(&report), report.frames, report.localizations), ([3, 0, 0], 6, 6));
    let bytes = || {
        let files = tasks.iter().flat_map(Task::files).chain([options.summary()]);
        files.map(|file| fs::read(file).expect("a file")).collect::<Vec<_>>()
    };
    let before = bytes();
    assert_eq!(of(&run(&options, &tasks, &Silent).expect("a batch")), [0, 3, 0]);

    let again = options.clone().with_overwrite(true);
    assert_eq!(of(&run(&again, &tasks, &Silent).expect("a batch")), [3, 0, 0]);
    let other = Meanwhile { options: &again, tasks: &tasks, localized: AtomicUsize::new(0) };
    let report = run(&again, &tasks, &other).expect("a batch");
    assert_eq!((of(&report), other.localized.into_inner()), ([0, 3, 0], 3));
    assert_eq!(bytes(), before);
}

/// Proves that a movie that cannot be read fails alone, with a record that says so, and that its table is made once it can.
#[test]
fn failures_are_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BatchOptions::new(folder.path().join("out")).with_format(TableFormat::Csv);
    let tasks = tasks(folder.path(), &options);
    let good = fs::read(tasks[1].path()).expect("a movie");
    fs::write(tasks[1].path(), "no movie").expect("a file");
    let report = run(&options, &tasks, &Silent).expect("a batch");
    assert_eq!(of(&report), [2, 0, 1]);
    let error = report.movies[1].error.clone().expect("an error");
    assert!(error.contains("1.npy"), "{error}");
    let record = Record::beside(tasks[1].output()).expect("a record");
    assert_eq!(record.state, State::Failed { error });
    assert!(!tasks[1].output().exists());
    fs::write(tasks[1].path(), good).expect("a movie");
    assert_eq!(of(&run(&options, &tasks, &Silent).expect("a batch")), [1, 2, 0]);
}

/// Proves that two movies cannot have one table, and that no table replaces what is read or what sums up.
#[test]
fn outputs_are_planned() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BatchOptions::new(folder.path()).with_format(TableFormat::Csv);
    let mut planner = Planner::new(&options);
    let mut output = |number, movie: &str, name| planner.output(number, Path::new(movie), name);
    assert_eq!(output(1, "b/A.ome.tif", None), Ok(folder.path().join("A.csv")));
    assert_eq!(output(1, "b/run/NDTiff.index", None), Ok(folder.path().join("run.csv")));
    for (movie, name, told) in [
        ("c/a.raw", None, "like that of line 1"),
        ("a.tif", Some("../x"), "no name of a file within `out`"),
        ("a.tif", Some("x.csv"), "without its ending"),
        ("summary.tif", None, "is the summary"),
        ("..", None, "has no name"),
    ] {
        let error = output(2, movie, name).expect_err("refused");
        assert!(error.contains(told), "{error}");
    }
    let tasks: Vec<(usize, Task)> = (3..).zip(tasks(folder.path(), &options)).collect();
    let others = vec![(tasks[0].1.output().to_owned(), "the manifest".to_owned())];
    fs::write(tasks[0].1.output(), "").expect("a file");
    let wrong = Planner::new(&options).replaced(&tasks, others);
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].task == Some(3) && wrong[0].reason.contains("would replace the manifest"));
}
