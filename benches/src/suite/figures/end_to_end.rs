//! Whole commands, from file to table.

use super::super::end_to_end::{
    ALL_THREADS, ALONE, CASES, ON_GPU, ONE_THREAD, PEERS, SPOTS, Verb, found,
};
use super::super::experiments::Experiment;
use super::super::record::{Data, Record, Timing};
use super::Figure;
use spotfit::report::number::{grouped, plain};
use spotfit::report::svg::PartBars;

const METHODS: [&str; 3] = [ALL_THREADS, ONE_THREAD, ON_GPU];

fn time<'r>(record: &'r Record, method: &str, case: &str) -> Option<&'r Timing> {
    match record.get(Experiment::EndToEnd.name(), method, case) {
        Some(Data::Time(timing)) => Some(timing),
        _ => None,
    }
}

fn found_of(record: &Record, method: &str, case: &str) -> Option<f64> {
    match record.get(Experiment::EndToEnd.name(), method, &found(case)) {
        Some(Data::Value(value)) => Some(*value),
        _ => None,
    }
}

pub(super) fn end_to_end(record: &Record, figure: &mut Figure) {
    figure.caption = format!(
        "Windows of 9×9 pixels, and frames of 256×256 pixels of 16 bits with about {SPOTS} spots each, from a file to a table, in memory where the system has a folder \
         there (/dev/shm). `spotfit fit` and `spotfit localize` are timed as whole commands, from their start to their end, with the record beside the table. Programs of \
         others run in Python with a tenth of the windows or frames, from opening the file to closing their table, after they did it all once: what is imported and compiled is not \
         counted. They find spots with thresholds of their own. \"{ALONE}\": all threads read the file, and then write as many bytes as the table of CSV or NPY has. All take turns."
    );
    figure.head(["task", "method", "per second", "seconds", "over reading and writing", "found"]);
    figure.numbers.0 = vec!["case", "method", "items", "low_s", "median_s", "high_s", "found"];
    let mut bars = [Vec::new(), Vec::new()];
    for case in CASES {
        let alone = time(record, ALONE, case.name).map(|timing| timing.median / timing.fits as f64);
        let mut parts = Vec::new();
        for method in METHODS.into_iter().chain(PEERS).chain([ALONE]) {
            let Some(timing) = time(record, method, case.name) else { continue };
            let each = timing.median / timing.fits as f64;
            let spots = found_of(record, method, case.name);
            figure.row([
                case.name.to_owned(),
                method.to_owned(),
                grouped(timing.rate().round() as usize),
                plain(timing.median),
                alone.map_or_else(String::new, |alone| plain(each / alone)),
                spots.map_or_else(String::new, |spots| format!("{spots:.2}")),
            ]);
            figure.numbers.1.push(vec![
                case.name.to_owned(),
                method.to_owned(),
                timing.fits.to_string(),
                format!("{:e}", timing.low),
                format!("{:e}", timing.median),
                format!("{:e}", timing.high),
                spots.map_or_else(String::new, |spots| spots.to_string()),
            ]);
            let unit = if case.verb == Verb::Fit { 1e6 } else { 1.0 };
            if method != ALONE {
                parts.push((method.to_owned(), timing.rate() / unit));
            }
        }
        if !parts.is_empty() {
            bars[case.verb as usize].push((case.name.to_owned(), parts));
        }
    }
    let pictures = [
        ("fit", "From file to table: windows", "million windows/s"),
        ("localize", "From file to table: frames", "frames/s"),
    ];
    for ((name, title, unit), bars) in pictures.into_iter().zip(bars) {
        if bars.is_empty() {
            figure.left_out.push(title.to_owned());
        } else {
            figure.pictures.push((name.to_owned(), PartBars::new(title, unit, bars).svg()));
        }
    }
    check(record, figure);
}

/// What must be so whatever the machine.
fn check(record: &Record, figure: &mut Figure) {
    for method in METHODS {
        let of = |verb: Verb| {
            let cases = CASES.iter().filter(move |case| case.verb == verb);
            cases.filter_map(move |case| found_of(record, method, case.name))
        };
        for fits in of(Verb::Fit) {
            figure.check(format!("{method}: {fits} rows for each window"), fits == 1.0);
        }
        let frames: Vec<f64> = of(Verb::Localize).collect();
        if let [npy, tiff] = frames[..] {
            let what = format!("{method}: {npy} spots in each frame of NPY, {tiff} of TIFF");
            figure.check(what, npy == tiff && npy > 0.5 * SPOTS as f64);
        }
    }
}
