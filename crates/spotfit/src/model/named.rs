//! The most common models, each as a formula.

/// What a parameter is, which tells where a search for it can begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// The model is linear in it: it is solved for.
    Linear,
    /// A length along the axis of a variable.
    Scale(usize),
    /// A place on the axis of a variable.
    Position(usize),
    /// Radians per unit of the first variable.
    Frequency,
    /// One of these.
    Among(&'static [f64]),
    /// How far a spline is shifted along the axis of a variable; the number of its argument, from the first that is not a
    /// channel, is that of the variable.
    Shift(usize),
    /// A place along the argument of a spline with this number.
    Depth(usize),
}

/// The numbers of the parameters of a wave.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaveParameters {
    pub(super) amplitude: usize,
    /// The decay time of its envelope.
    pub(super) time: Option<usize>,
    pub(super) frequency: usize,
    pub(super) phase: usize,
    pub(super) offset: usize,
}

impl WaveParameters {
    /// Of a sine, damped or not, over an offset.
    pub(super) fn of(kinds: &[Kind]) -> Option<Self> {
        let time = match kinds {
            [Linear, Kind::Frequency, Kind::Among(_), Linear] => None,
            [Linear, Kind::Scale(0), Kind::Frequency, Kind::Among(_), Linear] => Some(1),
            _ => return None,
        };
        let offset = kinds.len() - 1;
        Some(Self { amplitude: 0, time, frequency: offset - 2, phase: offset - 1, offset })
    }
}

/// A model with a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) formula: &'static str,
    pub(super) variables: &'static [&'static str],
    pub(super) parameters: &'static [(&'static str, Kind)],
    /// The names of the splines that it calls.
    pub(super) splines: &'static [&'static str],
}

const SCALE: Kind = Kind::Scale(0);
const POSITION: Kind = Kind::Position(0);
const EXPONENT: Kind = Kind::Among(&[0.5, 1.0, 2.0, 4.0]);
const PHASE: Kind = Kind::Among(&[0.0, 0.785, 1.571, 2.356]);
const ANGLE: Kind = Kind::Among(&[0.0, 0.5, -0.5]);
const SHARE: Kind = Kind::Among(&[0.2, 0.8]);

macro_rules! models {
    ($($name:ident($($variable:ident),*) $([$($spline:ident),*])? $about:literal $formula:literal { $($parameter:ident: $kind:expr),* };)*) => {
        /// All of them.
        pub(super) const MODELS: &[Named] = &[$(Named {
            name: stringify!($name),
            about: $about,
            formula: $formula,
            variables: &[$(stringify!($variable)),*],
            parameters: &[$((stringify!($parameter), $kind)),*],
            splines: &[$($(stringify!($spline)),*)?],
        },)*];
    };
}

use Kind::Linear;

models! {
    linear(x) "A straight line (Gpufit's LINEAR_1D)"
        "offset + slope*x" { offset: Linear, slope: Linear };
    quadratic(x) "A parabola"
        "c0 + c1*x + c2*x^2" { c0: Linear, c1: Linear, c2: Linear };
    cubic(x) "A polynomial of third degree"
        "c0 + c1*x + c2*x^2 + c3*x^3" { c0: Linear, c1: Linear, c2: Linear, c3: Linear };
    exponential(x) "An exponential decay over an offset"
        "a*exp(-x/t) + c" { a: Linear, t: SCALE, c: Linear };
    exponential_2(x) "Two exponential decays over an offset"
        "a1*exp(-x/t1) + a2*exp(-x/t2) + c" { a1: Linear, t1: SCALE, a2: Linear, t2: SCALE, c: Linear };
    exponential_3(x) "Three exponential decays over an offset"
        "a1*exp(-x/t1) + a2*exp(-x/t2) + a3*exp(-x/t3) + c"
        { a1: Linear, t1: SCALE, a2: Linear, t2: SCALE, a3: Linear, t3: SCALE, c: Linear };
    stretched_exponential(x) "A stretched exponential decay (Kohlrausch) over an offset"
        "a*exp(-(x/t)^b) + c" { a: Linear, t: SCALE, b: Kind::Among(&[0.5, 1.0, 1.5]), c: Linear };
    gauss_1d(x) "A Gaussian peak (Gpufit's GAUSS_1D)"
        "a*exp(-(x - x0)^2/(2*s^2)) + b" { a: Linear, x0: POSITION, s: SCALE, b: Linear };
    gauss_2d(x, y) "A round Gaussian spot (Gpufit's GAUSS_2D)"
        "a*exp(-((x - x0)^2 + (y - y0)^2)/(2*s^2)) + b"
        { a: Linear, x0: POSITION, y0: Kind::Position(1), s: SCALE, b: Linear };
    gauss_2d_elliptic(x, y) "An elliptical Gaussian spot along the axes (Gpufit's GAUSS_2D_ELLIPTIC)"
        "a*exp(-(x - x0)^2/(2*sx^2) - (y - y0)^2/(2*sy^2)) + b"
        { a: Linear, x0: POSITION, y0: Kind::Position(1), sx: SCALE, sy: Kind::Scale(1), b: Linear };
    gauss_2d_rotated(x, y) "An elliptical Gaussian spot at an angle (Gpufit's GAUSS_2D_ROTATED)"
        "u = (x - x0)*cos(r) - (y - y0)*sin(r); v = (x - x0)*sin(r) + (y - y0)*cos(r); a*exp(-u^2/(2*sx^2) - v^2/(2*sy^2)) + b"
        { a: Linear, x0: POSITION, y0: Kind::Position(1), sx: SCALE, sy: Kind::Scale(1), b: Linear, r: ANGLE };
    cauchy_2d_elliptic(x, y) "A product of two Lorentzians (Gpufit's CAUCHY_2D_ELLIPTIC)"
        "a/(((x - x0)/sx)^2 + 1)/(((y - y0)/sy)^2 + 1) + b"
        { a: Linear, x0: POSITION, y0: Kind::Position(1), sx: SCALE, sy: Kind::Scale(1), b: Linear };
    lorentz(x) "A Lorentzian peak; g is half its width at half its height"
        "a/(1 + ((x - x0)/g)^2) + b" { a: Linear, x0: POSITION, g: SCALE, b: Linear };
    pseudo_voigt(x) "A sum of a Lorentzian (share eta) and a Gaussian of the same full width w at half maximum"
        "a*pseudo_voigt(x, x0, w, eta) + b" { a: Linear, x0: POSITION, w: SCALE, eta: SHARE, b: Linear };
    voigt(x) "A Gaussian (s) convolved with a Lorentzian (g); a is its area"
        "a*voigt(x - x0, s, g) + b" { a: Linear, x0: POSITION, s: SCALE, g: SCALE, b: Linear };
    gauss_exponential(x) "A Gaussian convolved with an exponential decay, of area a"
        "d = x - x0; u = (s/t - d/s)/sqrt(2); a/(2*t)*if(u < 0, exp(s^2/(2*t^2) - d/t)*erfc(u), exp(-d^2/(2*s^2))*erfcx(u)) + b"
        { a: Linear, x0: POSITION, s: SCALE, t: SCALE, b: Linear };
    error_function(x) "A blurred edge"
        "a*0.5*(1 + erf((x - x0)/(s*sqrt(2)))) + b" { a: Linear, x0: POSITION, s: SCALE, b: Linear };
    logistic(x) "A logistic step (Boltzmann, Fermi)"
        "a/(1 + exp(-(x - x0)/w)) + b" { a: Linear, x0: POSITION, w: SCALE, b: Linear };
    logistic_4(x) "The four-parameter logistic dose response: a at 0, d far away, half way at c"
        "d + (a - d)/(1 + (x/c)^b)" { a: Linear, b: EXPONENT, c: SCALE, d: Linear };
    hill(x) "Hill's equation"
        "top*x^n/(k^n + x^n)" { top: Linear, k: SCALE, n: EXPONENT };
    michaelis_menten(x) "Michaelis and Menten's equation"
        "v*x/(k + x)" { v: Linear, k: SCALE };
    power_law(x) "A power law"
        "a*x^b" { a: Linear, b: Kind::Among(&[-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0]) };
    sine(x) "A sine over an offset; w in radians"
        "a*sin(w*x + phi) + c" { a: Linear, w: Kind::Frequency, phi: PHASE, c: Linear };
    damped_sine(x) "A damped sine over an offset; w in radians"
        "a*exp(-x/t)*sin(w*x + phi) + c" { a: Linear, t: SCALE, w: Kind::Frequency, phi: PHASE, c: Linear };
    t1_inversion_recovery(x) "Longitudinal relaxation after an inversion; f is 1 if it was perfect"
        "a*(1 - 2*f*exp(-x/t1))" { a: Linear, f: Kind::Among(&[0.6, 0.95]), t1: SCALE };
    t1_saturation_recovery(x) "Longitudinal relaxation after saturation"
        "a*(1 - exp(-x/t1))" { a: Linear, t1: SCALE };
    t2_relaxation(x) "Transverse relaxation"
        "a*exp(-x/t2)" { a: Linear, t2: SCALE };
    frap(x) "Recovery after photobleaching: from a to a + b with the half time t"
        "a + b*(1 - exp2(-x/t))" { a: Linear, b: Linear, t: SCALE };
    fcs(x) "Fluorescence correlation: n molecules in a Gaussian volume, elongation k, diffusion time t"
        "1/n/(1 + x/t)/sqrt(1 + x/(k^2*t)) + g"
        { n: Kind::Among(&[0.1, 1.0, 10.0, 100.0]), t: SCALE, k: Kind::Among(&[5.0]), g: Linear };
    patlak(integral, plasma) "Patlak's tracer model: the integral of the plasma's concentration, and that concentration"
        "k*integral + v*plasma" { k: Linear, v: Linear };
    spline_1d(x) [f] "A cubic spline (Gpufit's SPLINE_1D)"
        "a*f(x - x0) + b" { a: Linear, x0: Kind::Shift(0), b: Linear };
    spline_2d(x, y) [f] "A cubic spline (Gpufit's SPLINE_2D)"
        "a*f(x - x0, y - y0) + b" { a: Linear, x0: Kind::Shift(0), y0: Kind::Shift(1), b: Linear };
    spline_3d(x, y, z) [f] "A cubic spline (Gpufit's SPLINE_3D)"
        "a*f(x - x0, y - y0, z - z0) + b"
        { a: Linear, x0: Kind::Shift(0), y0: Kind::Shift(1), z0: Kind::Shift(2), b: Linear };
    psf_3d(x, y) [f] "A spot in an image, as high as a spline at its depth z0: a measured point-spread function"
        "a*f(x - x0, y - y0, z0) + b"
        { a: Linear, x0: Kind::Shift(0), y0: Kind::Shift(1), z0: Kind::Depth(2), b: Linear };
    spline_3d_multichannel(x, y, z, channel) [f] "A cubic spline for each channel (Gpufit's SPLINE_3D_MULTICHANNEL)"
        "a*f(channel, x - x0, y - y0, z - z0) + b"
        { a: Linear, x0: Kind::Shift(0), y0: Kind::Shift(1), z0: Kind::Shift(2), b: Linear };
    spline_3d_phase(x, y, z, channel) [f, g, h] "Splines that interfere: their mean, and the cosine and sine parts of the phase (Gpufit's SPLINE_3D_PHASE_MULTICHANNEL)"
        "i = x - x0; j = y - y0; k = z - z0; a*(f(channel, i, j, k) + cos(phi)*g(channel, i, j, k) + sin(phi)*h(channel, i, j, k)) + b"
        {
            a: Linear,
            x0: Kind::Shift(0),
            y0: Kind::Shift(1),
            z0: Kind::Shift(2),
            b: Linear,
            phi: Kind::Among(&[0.3, 1.9, 3.4, -1.2])
        };
    spline_4d(x, y, z, w) [f] "A cubic spline (Gpufit's SPLINE_4D)"
        "a*f(x - x0, y - y0, z - z0, w - w0) + b"
        { a: Linear, x0: Kind::Shift(0), y0: Kind::Shift(1), z0: Kind::Shift(2), w0: Kind::Shift(3), b: Linear };
    spline_5d(x, y, z, w, v) [f] "A cubic spline (Gpufit's SPLINE_5D)"
        "a*f(x - x0, y - y0, z - z0, w - w0, v - v0) + b"
        {
            a: Linear,
            x0: Kind::Shift(0),
            y0: Kind::Shift(1),
            z0: Kind::Shift(2),
            w0: Kind::Shift(3),
            v0: Kind::Shift(4),
            b: Linear
        };
    helix(x) "Fletcher and Powell's helical valley: three points (Gpufit's FLETCHER_POWELL_HELIX)"
        "turn = if(p1 > 0, atan(p2/p1), if(p1 < 0, atan(p2/p1) + pi, 0))/(2*pi); if(x < 1, 10*(p3 - 10*turn), if(x < 2, 10*(hypot(p1, p2) - 1), p3))"
        { p1: Kind::Among(&[-1.0]), p2: Kind::Among(&[0.1]), p3: Kind::Among(&[0.1]) };
    brown_dennis(x) "Brown and Dennis' test problem (Gpufit's BROWN_DENNIS)"
        "t = x/5; (p1 + t*p2 - exp(t))^2 + (p3 + p4*sin(t) - cos(t))^2"
        {
            p1: Kind::Among(&[25.0]),
            p2: Kind::Among(&[5.0]),
            p3: Kind::Among(&[-5.0]),
            p4: Kind::Among(&[-1.0])
        };
}
