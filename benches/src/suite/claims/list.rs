//! The claims of both papers.

use fit_sim::papers::{
    BY_STEP, CROSSOVER, FITS_AT_100, FITS_AT_1000, GAIN, GPUFIT, GPUFIT_GAIN, OVERHEAD, PIXELS,
    TABLE_1, WITHOUT_DECREASE,
};

use super::super::record::Record;
use super::Limit::{self, AtLeast, AtMost, Factor, Within};
use super::found::{self, GPU_LMFIT, PARTS_OF_A_FIT};
use super::{Claim, Found, Paper};

const fn lw(
    figure: &'static str,
    place: &'static str,
    text: &'static str,
    (number, unit): (f64, &'static str),
    limit: Limit,
    found: fn(&Record) -> Found,
) -> Claim {
    let paper = Paper::LeuteneggerWeber;
    Claim { paper, figure, place, text, unit, number: Some(number), limit, found }
}

const fn gpufit(
    figure: &'static str,
    place: &'static str,
    text: &'static str,
    (number, unit): (Option<f64>, &'static str),
    limit: Limit,
    found: fn(&Record) -> Found,
) -> Claim {
    Claim { paper: Paper::Przybylski, figure, place, text, unit, number, limit, found }
}

/// All claims, in the order of the report.
pub const CLAIMS: &[Claim] = &[
    lw(
        "lw-fig2",
        "Fig. 2",
        "A call with few windows takes (10 windows of 9×9 pixels)",
        (OVERHEAD * 1e6, "µs"),
        AtMost(OVERHEAD * 1e6),
        found::few_windows,
    ),
    lw(
        "lw-fig3",
        "Fig. 3",
        "Fits per second, 100 fits per call (9×9 pixels)",
        (FITS_AT_100, ""),
        AtLeast(FITS_AT_100),
        |record| found::rate(record, "9 100"),
    ),
    lw(
        "lw-fig3",
        "Fig. 3",
        "Fits per second, 1000 fits per call (9×9 pixels)",
        (FITS_AT_1000, ""),
        AtLeast(FITS_AT_1000),
        |record| found::rate(record, "9 1000"),
    ),
    lw(
        "lw-fig3",
        "Fig. 3",
        "More than 1000 fits per call are no faster (10,000 to 1000)",
        (1.0, "times"),
        Factor(1.5),
        found::levels_off,
    ),
    lw("lw-fig4", "Fig. 4", "Pixels per second", (PIXELS, ""), AtLeast(PIXELS), found::pixels),
    lw(
        "lw-fig5",
        "Fig. 5",
        "Faster than Gpufit in every size and batch",
        (GAIN[0], "times"),
        AtLeast(GAIN[0]),
        found::gain_least,
    ),
    lw(
        "lw-fig5",
        "Fig. 5",
        "Faster than Gpufit with up to 1000 fits per call (median)",
        (2.0, "times"),
        AtLeast(2.0),
        found::gain_small,
    ),
    lw(
        "lw-fig6",
        "Fig. 6",
        "Faster on a second device, in every size and batch",
        (GAIN[1], "times"),
        AtLeast(GAIN[1]),
        |record| found::second_device(record, f64::min),
    ),
    lw(
        "lw-fig6",
        "Fig. 6",
        "Faster on a second device, at best",
        (10.0, "times"),
        AtLeast(10.0),
        |record| found::second_device(record, f64::max),
    ),
    lw(
        "lw-fig7",
        "Fig. 7",
        "Fits of 100,000 with a better σ than the explicit fit gives",
        (642.0, ""),
        Factor(2.0),
        |record| found::better(record, "width", 1.0),
    ),
    lw(
        "lw-fig7",
        "Fig. 7",
        "Fits of 100,000 with a worse centre than the explicit fit gives",
        (100.0, ""),
        Factor(2.0),
        |record| found::better(record, "centre", -1.0),
    ),
    lw(
        "lw-fig7",
        "Fig. 7",
        "Mean error of the centre, in units of σ/√N (400 counts)",
        (1.1, ""),
        Within(0.02),
        |record| found::centre(record).map(|(error, method)| (error * 400f64.sqrt(), method)),
    ),
    lw(
        "lw-table1",
        "Table 1",
        "Mean error of the centre (400:40)",
        (TABLE_1[0].fit2d_gaussian[1], "σ"),
        Within(found::CENTRE),
        found::centre,
    ),
    lw(
        "lw-table1",
        "Table 1",
        "Spread of the error of σ, implicit fit (400:40)",
        (TABLE_1[0].fit2d_gaussian[5], "σ"),
        Within(found::SIGMA),
        |record| found::sigma(record, found::published_iteration(record)),
    ),
    lw(
        "lw-table1",
        "Table 1",
        "Spread of the error of σ, Gpufit (400:40)",
        (TABLE_1[0].gpufit[5], "σ"),
        Within(found::SIGMA),
        |record| found::sigma(record, found::explicit(record)),
    ),
    lw(
        "lw-fig8",
        "Fig. 8",
        "Most frequent number of iterations, implicit fit",
        (5.0, ""),
        AtMost(5.0),
        |record| found::mode(record, found::published_iteration(record)),
    ),
    lw(
        "lw-fig8",
        "Fig. 8",
        "Most frequent number of iterations, Gpufit",
        (5.0, ""),
        AtLeast(5.0),
        |record| found::mode(record, found::explicit(record)),
    ),
    lw(
        "lw-stops",
        "Text, Fig. 8",
        "Fits that end because χ² did not decrease",
        (100.0 * WITHOUT_DECREASE, "%"),
        Factor(2.0),
        |record| found::end(record, "not_converged"),
    ),
    lw(
        "lw-stops",
        "Text, Fig. 8",
        "Fits that end by the step (the paper: less than)",
        (100.0 * BY_STEP, "%"),
        AtMost(200.0 * BY_STEP),
        |record| found::end(record, "min_step"),
    ),
    Claim {
        number: None,
        ..lw(
            "lw-stops",
            "Text, Fig. 8",
            "Most fits end because χ² decreases by less than 10⁻⁶",
            (50.0, "%"),
            AtLeast(50.0),
            |record| found::end(record, "min_delta"),
        )
    },
    gpufit(
        "gpufit-fig1",
        "Fig. 1",
        "Gpufit is faster than the CPU from so many fits per call on",
        (Some(CROSSOVER), ""),
        Factor(2.0),
        found::crossover,
    ),
    gpufit(
        "gpufit-fig1",
        "Fig. 1",
        "Gpufit's fits per second, at best",
        (Some(GPUFIT), ""),
        AtLeast(GPUFIT),
        found::gpufit_best,
    ),
    gpufit(
        "gpufit-fig1",
        "Fig. 1",
        "Gpufit is faster than the CPU, at best",
        (Some(GPUFIT_GAIN), "times"),
        AtLeast(GPUFIT_GAIN),
        found::gpufit_gain,
    ),
    gpufit(
        "gpufit-fig2",
        "Fig. 2",
        "Share of the CPU's time for the model and its derivatives",
        (Some(33.0), "%"),
        AtLeast(33.0),
        |_| Err(PARTS_OF_A_FIT),
    ),
    gpufit(
        "gpufit-fig2",
        "Fig. 2",
        "Copies hardly matter on the GPU: their share of the time",
        (None, "%"),
        AtMost(50.0),
        found::copies,
    ),
    gpufit(
        "gpufit-fig3a",
        "Fig. 3a",
        "Gpufit is faster than GPU-LMFit with small tasks",
        (Some(10.0), "times"),
        AtLeast(10.0),
        |_| Err(GPU_LMFIT),
    ),
    gpufit(
        "gpufit-fig3b",
        "Fig. 3b",
        "Speeds come closer with size (spread at 25×25 to 5×5)",
        (None, "times"),
        AtMost(1.0),
        found::closer,
    ),
    gpufit(
        "gpufit-figs3",
        "Fig. S3",
        "Gpufit is as precise as MINPACK (ratio of errors, SNR 10)",
        (Some(1.0), ""),
        Within(0.05),
        |record| found::precision(record, "10", "levenberg-marquardt"),
    ),
    gpufit(
        "gpufit-figs3",
        "Fig. S3",
        "Single precision shows at SNR 1000: Gpufit's error to that in f64",
        (None, ""),
        AtLeast(1.01),
        |record| found::precision(record, "1000", "reference"),
    ),
];
