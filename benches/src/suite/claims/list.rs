//! The numbers of the papers' claims, when a number agrees with them, and where it is found; their words are in `texts.md`.

use fit_sim::papers::{
    BY_STEP, CROSSOVER, FITS_AT_100, FITS_AT_1000, GAIN, GPUFIT, GPUFIT_GAIN, OVERHEAD, PIXELS,
    TABLE_1, WITHOUT_DECREASE,
};
use fit_tests::tolerances::{TABLE_1_CENTRE, TABLE_1_SIGMA};

use super::super::record::Record;
use super::Found;
use super::Limit::{self, AtLeast, AtMost, Factor, Within};
use super::found::{
    EXPLICIT, GPU_LMFIT, IMPLICIT, PARTS_OF_A_FIT, best_of, better, centre, closer, copies,
    crossover, end, few_windows, gain, gpufit_gain, levels_off, mode, pixels, precision, rate,
    sigma,
};

/// The figure, the paper's number if it gives one, its unit, when a number agrees, and the number here.
type Claimed = (&'static str, Option<f64>, &'static str, Limit, fn(&Record) -> Found);

const SIGMA: f64 = TABLE_1[0].fit2d_gaussian[5];
const EXPLICIT_SIGMA: f64 = TABLE_1[0].gpufit[5];

/// Those of a figure are in the order of its words.
pub(super) const CLAIMS: &[Claimed] = &[
    ("lw-fig2", Some(OVERHEAD * 1e6), "µs", AtMost(OVERHEAD * 1e6), few_windows),
    ("lw-fig3", Some(FITS_AT_100), "", AtLeast(FITS_AT_100), |r| rate(r, "9 100")),
    ("lw-fig3", Some(FITS_AT_1000), "", AtLeast(FITS_AT_1000), |r| rate(r, "9 1000")),
    ("lw-fig3", Some(1.0), "times", Factor(1.5), levels_off),
    ("lw-fig4", Some(PIXELS), "", AtLeast(PIXELS), pixels),
    ("lw-fig5", Some(GAIN[0]), "times", AtLeast(GAIN[0]), |r| gain(r, 0, usize::MAX, 0.0)),
    ("lw-fig5", Some(2.0), "times", AtLeast(2.0), |r| gain(r, 0, 1000, 0.5)),
    ("lw-fig6", Some(GAIN[1]), "times", AtLeast(GAIN[1]), |r| gain(r, 1, usize::MAX, 0.0)),
    ("lw-fig6", Some(10.0), "times", AtLeast(10.0), |r| gain(r, 1, usize::MAX, 1.0)),
    ("lw-fig7", Some(642.0), "", Factor(2.0), |r| better(r, "width", 1.0)),
    ("lw-fig7", Some(100.0), "", Factor(2.0), |r| better(r, "centre", -1.0)),
    ("lw-fig7", Some(1.1), "", Within(0.02), |r| centre(r, 400f64.sqrt())),
    ("lw-table1", Some(TABLE_1[0].fit2d_gaussian[1]), "σ", Within(TABLE_1_CENTRE), |r| {
        centre(r, 1.0)
    }),
    ("lw-table1", Some(SIGMA), "σ", Within(TABLE_1_SIGMA), |r| sigma(r, IMPLICIT)),
    ("lw-table1", Some(EXPLICIT_SIGMA), "σ", Within(TABLE_1_SIGMA), |r| sigma(r, EXPLICIT)),
    ("lw-fig8", Some(5.0), "", AtMost(5.0), |r| mode(r, IMPLICIT)),
    ("lw-fig8", Some(5.0), "", AtLeast(5.0), |r| mode(r, EXPLICIT)),
    ("lw-stops", Some(100.0 * WITHOUT_DECREASE), "%", Factor(2.0), |r| end(r, "not_converged")),
    ("lw-stops", Some(100.0 * BY_STEP), "%", AtMost(200.0 * BY_STEP), |r| end(r, "min_step")),
    ("lw-stops", None, "%", AtLeast(50.0), |r| end(r, "min_delta")),
    ("gpufit-fig1", Some(CROSSOVER), "", Factor(2.0), crossover),
    ("gpufit-fig1", Some(GPUFIT), "", AtLeast(GPUFIT), |r| best_of(r, "gpufit")),
    ("gpufit-fig1", Some(GPUFIT_GAIN), "times", AtLeast(GPUFIT_GAIN), gpufit_gain),
    ("gpufit-fig2", Some(33.0), "%", AtLeast(33.0), |_| Err(PARTS_OF_A_FIT)),
    ("gpufit-fig2", None, "%", AtMost(50.0), copies),
    ("gpufit-fig3a", Some(10.0), "times", AtLeast(10.0), |_| Err(GPU_LMFIT)),
    ("gpufit-fig3b", None, "times", AtMost(1.0), closer),
    ("gpufit-figs3", Some(1.0), "", Within(0.05), |r| precision(r, "10", "levenberg-marquardt")),
    ("gpufit-figs3", None, "", AtLeast(1.01), |r| precision(r, "1000", "reference")),
];
