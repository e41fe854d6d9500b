//! Whole commands, from file to table.

use spotfit::report::number::{grouped, plain};
use spotfit::report::svg::PartBars;

use super::super::end_to_end::{ALONE, CASES, OWN, PEERS, SPOTS, Verb, found};
use super::super::experiments::END_TO_END;
use super::super::record::Record;
use super::{Figure, decimals, exact};

pub(super) fn end_to_end(record: &Record, figure: &mut Figure) {
    figure.say(SPOTS);
    figure.head(
        "task | method | per second | seconds | over reading and writing | found",
        "case,method,items,low_s,median_s,high_s,found",
    );
    let found_of = |method, case| record.value(END_TO_END, method, &found(case));
    let mut bars = [Vec::new(), Vec::new()];
    for case in CASES {
        let name = case.name;
        let time = |method| record.time(END_TO_END, method, name);
        let alone = time(ALONE).map(|timing| timing.median / timing.fits as f64);
        let mut parts = Vec::new();
        for method in OWN.into_iter().chain(PEERS).chain([ALONE]) {
            let Some(timing) = time(method) else { continue };
            let over = alone.map(|alone| plain(timing.median / timing.fits as f64 / alone));
            let (rate, spots) = (grouped(timing.rate().round() as usize), found_of(method, name));
            let (seconds, shown) = (plain(timing.median), decimals(spots, 2));
            figure.row(&[&name, &method, &rate, &seconds, &over.unwrap_or_default(), &shown]);
            let [low, median, high] = [timing.low, timing.median, timing.high].map(exact);
            let spots = spots.map_or_else(String::new, |spots| spots.to_string());
            figure.number(&[&name, &method, &timing.fits, &low, &median, &high, &spots]);
            let unit = if case.verb == Verb::Fit { 1e6 } else { 1.0 };
            if method != ALONE {
                parts.push((method.to_owned(), timing.rate() / unit));
            }
        }
        if !parts.is_empty() {
            bars[case.verb as usize].push((name.to_owned(), parts));
        }
    }
    let pictures = [
        ("fit", "From file to table: windows", "million windows/s"),
        ("localize", "From file to table: frames", "frames/s"),
    ];
    for ((name, title, unit), bars) in pictures.into_iter().zip(bars) {
        figure.bars(name, title, bars.len(), || PartBars::new(title, unit, bars));
    }
    // What must be so whatever the machine.
    for method in OWN {
        let of = |verb: Verb| {
            let cases = CASES.iter().filter(move |case| case.verb == verb);
            cases.filter_map(move |case| found_of(method, case.name))
        };
        for fits in of(Verb::Fit) {
            figure.check(format!("{method}: {fits} rows for each window"), fits == 1.0);
        }
        if let [npy, tiff] = of(Verb::Localize).collect::<Vec<_>>()[..] {
            let what = format!("{method}: {npy} spots in each frame of NPY, {tiff} of TIFF");
            figure.check(what, npy == tiff && npy > 0.5 * SPOTS as f64);
        }
    }
}
