//! Numbers from the papers.

/// A pair of rows of Table 1 of Leutenegger & Weber 2021: median, mean and standard deviation of the absolute
/// errors of the centre, then of σ, in units of the true σ.
#[derive(Clone, Copy, Debug)]
pub struct Table1 {
    /// Counts of the spot.
    pub signal: f64,
    /// Counts of the background in the whole window of 9×9 pixels.
    pub background: f64,
    /// Their implicit fit.
    pub fit2d_gaussian: [f64; 6],
    /// The explicit fit with which they compare.
    pub gpufit: [f64; 6],
}

/// Table 1 of Leutenegger & Weber 2021.
pub const TABLE_1: [Table1; 3] = [
    Table1 {
        signal: 400.0,
        background: 40.0,
        fit2d_gaussian: [0.0464, 0.0550, 0.0418, 0.0420, 0.0506, 0.0396],
        gpufit: [0.0463, 0.0550, 0.0417, 0.0421, 0.0514, 0.0415],
    },
    Table1 {
        signal: 1600.0,
        background: 40.0,
        fit2d_gaussian: [0.0228, 0.0270, 0.0205, 0.0203, 0.0244, 0.0190],
        gpufit: [0.0227, 0.0269, 0.0205, 0.0205, 0.0249, 0.0201],
    },
    Table1 {
        signal: 1600.0,
        background: 0.0,
        fit2d_gaussian: [0.0228, 0.0269, 0.0203, 0.0198, 0.0238, 0.0186],
        gpufit: [0.0227, 0.0268, 0.0203, 0.0203, 0.0247, 0.0200],
    },
];

/// Leutenegger & Weber 2021, "Throughput and latency": fits per second with 100 fits per call, windows of 7 to 12
/// pixels (Fig. 3).
pub const FITS_AT_100: f64 = 1e5;
/// The same with 1000 or more fits per call.
pub const FITS_AT_1000: f64 = 4e5;
/// Pixels per second at which their board levels off (Fig. 4).
pub const PIXELS: f64 = 4e7;
/// The shortest time of a call in seconds (Fig. 2).
pub const OVERHEAD: f64 = 5e-4;
/// How many times faster than Gpufit they are, at least: on their board (Fig. 5) and on their second one (Fig. 6).
pub const GAIN: [f64; 2] = [1.35, 2.0];
/// Approximate share of fits that end because χ² did not decrease (text below Fig. 8).
pub const WITHOUT_DECREASE: f64 = 0.15;
/// Upper bound of the share of fits that end by the step (text below Fig. 8).
pub const BY_STEP: f64 = 0.01;

/// Przybylski et al. 2017, Fig. 1: the approximate number of fits above which the GPU is faster.
pub const CROSSOVER: f64 = 130.0;
/// Their best fits per second on the GPU, 5×5 pixels.
pub const GPUFIT: f64 = 4.65e6;
/// How many times faster than the CPU that is.
pub const GPUFIT_GAIN: f64 = 42.0;
