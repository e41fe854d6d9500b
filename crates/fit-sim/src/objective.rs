//! The light of a molecule behind an objective.
//!
//! The field in the image is the Fourier transform of that in the objective's pupil (Richards and Wolf 1959). By reciprocity a dipole gives a
//! point of the pupil what a plane wave that comes from there leaves at the dipole, behind the interface between the immersion and the
//! sample: Fresnel's coefficients, and beyond the critical angle a field that decays (Axelrod 2012). A molecule that turns freely shines as
//! three dipoles at right angles do together.

use std::f64::consts::TAU;

use ndarray::{Array2, Array3, ArrayView1, Axis};
use rayon::prelude::*;

use crate::error::{SimulationError, check};

/// Points of the pupil along its diameter. The image repeats after half as many λ/NA.
const ACROSS: usize = 96;

/// The farthest that light may go from the middle of an image, in λ/NA, so that what repeats stays away.
const FARTHEST: f64 = 20.0;

/// The share of the pupil whose light counts for how far it goes.
const COUNTED: f64 = 0.95;

/// Points in which the share of a cell of the pupil's edge is counted, along each axis.
const EDGE: usize = 8;

/// Samples of the image along a pixel.
const SAMPLES: usize = 3;

/// The largest pixel, in λ/NA: its samples are those that the finest pattern of light, λ/(2 NA), needs.
const LARGEST: f64 = 0.25 * SAMPLES as f64;

/// A term of the wavefront's aberration.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Zernike {
    /// The radial order n. Range: 2 to 20.
    pub n: u32,
    /// The azimuthal order m, of n's parity and at most n: cosines of m ≥ 0, sines of m < 0.
    pub m: i32,
    /// The root of its mean square over the pupil, in wavelengths. Range: −10 to 10.
    pub waves: f64,
}

impl Zernike {
    /// A term. (2, 0) moves the focus, (4, 0) is spherical aberration, (2, 2) and (2, −2) astigmatism, (3, 1) and (3, −1) coma.
    pub const fn new(n: u32, m: i32, waves: f64) -> Self {
        Self { n, m, waves }
    }

    fn validate(&self, name: &'static str) -> Result<(), SimulationError> {
        let Self { n, m, waves } = *self;
        check(name, n.into(), 2.0, 20.0, "n of 2 to 20: a tilt would move the spots")?;
        let sound = m.unsigned_abs() <= n && (n - m.unsigned_abs()).is_multiple_of(2);
        let range = "m of −n to n, of the parity of n";
        check(name, m.into(), if sound { -20.0 } else { f64::NAN }, 20.0, range)?;
        check(name, waves, -10.0, 10.0, "-10 to 10 wavelengths")
    }

    /// Its value at a point of the unit disc, for one wavelength (Noll 1976, with a mean square of 1).
    fn at(&self, rho: f64, angle: f64) -> f64 {
        let (n, m) = (f64::from(self.n), self.m.unsigned_abs());
        let radial = radial(self.n, m, rho);
        match self.m {
            0 => libm::sqrt(n + 1.0) * radial,
            1.. => libm::sqrt(2.0 * (n + 1.0)) * radial * libm::cos(f64::from(m) * angle),
            _ => libm::sqrt(2.0 * (n + 1.0)) * radial * libm::sin(f64::from(m) * angle),
        }
    }
}

/// Zernike's radial polynomial, from that of the highest power down.
fn radial(n: u32, m: u32, rho: f64) -> f64 {
    let factorial = |k: u32| (1..=k).map(f64::from).product::<f64>();
    let term = |k: u32| {
        let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        let below = factorial(k) * factorial((n + m) / 2 - k) * factorial((n - m) / 2 - k);
        sign * factorial(n - k) / below * libm::pow(rho, f64::from(n - 2 * k))
    };
    (0..=(n - m) / 2).map(term).sum()
}

/// How a molecule shines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Dipole {
    /// It turns freely, faster than the camera looks.
    #[default]
    Free,
    /// It stands still.
    Fixed {
        /// The angle from the optical axis, in degrees. Range: −360 to 360.
        polar: f64,
        /// The angle in the image, from x towards y, in degrees. Range: −360 to 360.
        azimuth: f64,
    },
}

fit_core::__options! {
    /// A microscope's objective, and where molecules are behind it. By default one of NA 1.4 in oil, for 680 nm, in a sample of the same index
    /// (1.518), without aberrations, of molecules that turn freely.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct Objective {
        /// The numerical aperture. Range: 0.1 to below the immersion's index.
        pub na(with_na): f64 = 1.4,
        /// The wavelength of the light in vacuum, in nanometres. Range: 100 to 10⁵.
        pub wavelength(with_wavelength): f64 = 680.0,
        /// The refractive index of the immersion. Range: 1 to 4.
        pub index(with_index): f64 = 1.518,
        /// That of the sample. Range: 1 to 4.
        pub sample_index(with_sample_index): f64 = 1.518,
        /// How far behind the coverslip a molecule is that is in focus, in nanometres. Range: 0 to 10⁶; where the sample's index is not that of
        /// the immersion, at least as far as molecules are from the focus.
        pub sample_depth(with_sample_depth): f64 = 0.0,
        /// The aberrations.
        pub zernike(with_zernike): Vec<Zernike> = Vec::new(),
        /// Aberrations besides, as they are in the corners of the frame. They grow from its middle on with the distance to the power |m|, but the square
        /// where m is 0, and are turned with the direction from the middle, as those of a lens are: coma points there or away.
        pub zernike_corner(with_zernike_corner): Vec<Zernike> = Vec::new(),
        /// How molecules shine.
        pub dipole(with_dipole): Dipole = Dipole::Free,
    }
}

/// A complex number.
type Complex = [f64; 2];

fn times(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

fn over(a: Complex, b: Complex) -> Complex {
    let square = b[0] * b[0] + b[1] * b[1];
    [(a[0] * b[0] + a[1] * b[1]) / square, (a[1] * b[0] - a[0] * b[1]) / square]
}

/// e^(i·z).
fn turned(z: Complex) -> Complex {
    let size = libm::exp(-z[1]);
    [size * libm::cos(z[0]), size * libm::sin(z[0])]
}

/// A point of the pupil.
struct PupilPoint {
    /// Its row and column, and the share of its cell that is within the aperture.
    place: [usize; 2],
    share: f64,
    /// The cosines of the angles to the axis, in the immersion and in the sample.
    cosine: f64,
    inside: Complex,
    /// The aberration, in radians.
    aberration: f64,
    /// What dipoles along x, y and z give of the field along x and y.
    fields: [[Complex; 3]; 2],
}

impl Objective {
    /// # Errors
    /// [`SimulationError::Parameter`] for a number out of its range.
    pub fn validate(&self) -> Result<(), SimulationError> {
        let Self { na, wavelength, index, sample_index, sample_depth, .. } = *self;
        check("index", index, 1.0, 4.0, "1 to 4")?;
        check("sample_index", sample_index, 1.0, 4.0, "1 to 4")?;
        check("psf_na", na, 0.1, 0.999 * index, "0.1 to 0.999 of the immersion's index")?;
        check("wavelength", wavelength, 100.0, 1e5, "100 to 1e5 nm")?;
        check("sample_depth", sample_depth, 0.0, 1e6, "0 to 1e6 nm")?;
        if let Dipole::Fixed { polar, azimuth } = self.dipole {
            check("dipole", polar, -360.0, 360.0, "-360 to 360 degrees")?;
            check("dipole", azimuth, -360.0, 360.0, "-360 to 360 degrees")?;
        }
        self.zernike.iter().try_for_each(|term| term.validate("zernike"))?;
        self.zernike_corner.iter().try_for_each(|term| term.validate("zernike_corner"))
    }

    /// The same objective as it is everywhere for molecules at a place of the frame: x and y from −1 at its left and upper edge to 1.
    #[must_use]
    pub fn at(&self, [x, y]: [f64; 2]) -> Self {
        let (distance, angle) = (libm::hypot(x, y) / 2.0_f64.sqrt(), libm::atan2(y, x));
        let turned = |term: &Zernike| {
            let Zernike { n, m, waves } = *term;
            let power = if m == 0 { 2 } else { m.unsigned_abs() };
            let waves = waves * libm::pow(distance, power.into());
            let (sin, cos) = libm::sincos(f64::from(m.unsigned_abs()) * angle);
            // cos m(θ − φ) and sin m(θ − φ).
            let other = if m < 0 { -sin } else { sin };
            [Zernike::new(n, m, waves * cos), Zernike::new(n, -m, waves * other)]
        };
        let corner = self.zernike_corner.iter().flat_map(turned).filter(|term| term.waves != 0.0);
        let zernike = self.zernike.iter().copied().chain(corner).collect();
        self.clone().with_zernike(zernike).with_zernike_corner(Vec::new())
    }

    /// The points of the pupil.
    fn pupil(&self) -> Vec<PupilPoint> {
        let step = 2.0 / ACROSS as f64;
        let middle = |cell: usize| (cell as f64 + 0.5) * step - 1.0;
        let mut all = Vec::new();
        for row in 0..ACROSS {
            for column in 0..ACROSS {
                let (x, y) = (middle(column), middle(row));
                let share = share_within(x, y, step);
                if share > 0.0 {
                    all.push(self.point([row, column], share, x, y));
                }
            }
        }
        all
    }

    fn point(&self, place: [usize; 2], share: f64, x: f64, y: f64) -> PupilPoint {
        let Self { na, index, sample_index, .. } = *self;
        // The middle of a cell at the edge may lie beyond it.
        let (rho, angle) = (libm::hypot(x, y).min(1.0), libm::atan2(y, x));
        let (sine, sine_inside) = (rho * na / index, rho * na / sample_index);
        let cosine = libm::sqrt(1.0 - sine * sine);
        let square = 1.0 - sine_inside * sine_inside;
        // Beyond the critical angle the field decays from the coverslip on.
        let inside =
            if square >= 0.0 { [libm::sqrt(square), 0.0] } else { [0.0, libm::sqrt(-square)] };
        let scaled = |z: Complex, by: f64| [by * z[0], by * z[1]];
        let twice = [2.0 * index * cosine, 0.0];
        let (own, other) = (scaled(inside, sample_index), scaled(inside, index));
        let across = over(twice, [index * cosine + own[0], own[1]]);
        let along = over(twice, [sample_index * cosine + other[0], other[1]]);
        // Lenses keep energy (aplanatic factor).
        let amplitude = 1.0 / libm::sqrt(cosine);
        let (cos, sin) = (libm::cos(angle), libm::sin(angle));
        let along = scaled(along, amplitude);
        let across = scaled(across, amplitude);
        let tilted = times(along, inside);
        // Of dipoles along x, y and z: the field in the plane of incidence, which the lens turns into the pupil's, and across it.
        let plane = [scaled(tilted, cos), scaled(tilted, sin), scaled(along, -sine_inside)];
        let aside = [scaled(across, -sin), scaled(across, cos), [0.0; 2]];
        let sum = |a: f64, b: f64| {
            std::array::from_fn(|k| [0, 1].map(|part| a * plane[k][part] + b * aside[k][part]))
        };
        let aberration =
            self.zernike.iter().map(|term| term.waves * term.at(rho, angle)).sum::<f64>();
        PupilPoint {
            place,
            share,
            cosine,
            inside,
            aberration: TAU * aberration,
            fields: [sum(cos, -sin), sum(sin, cos)],
        }
    }

    /// How far the objective is moved, so that a molecule at the depth has the flattest wavefront: in nanometres of its focus in the
    /// immersion.
    fn focus(&self, pupil: &[PupilPoint]) -> f64 {
        let weight: f64 = pupil.iter().map(|point| point.share).sum();
        let mean = |of: &dyn Fn(&PupilPoint) -> f64| {
            pupil.iter().map(|point| point.share * of(point)).sum::<f64>() / weight
        };
        let (own, other) = (
            |p: &PupilPoint| self.index * p.cosine,
            |p: &PupilPoint| self.sample_index * p.inside[0],
        );
        let (own_mean, other_mean) = (mean(&own), mean(&other));
        let square = mean(&|p| (own(p) - own_mean) * (own(p) - own_mean));
        let both = mean(&|p| (own(p) - own_mean) * (other(p) - other_mean));
        self.sample_depth * both / square
    }

    /// The light in squares of samples around a molecule, `half` samples of `step` nanometres to each side, for each height in nanometres
    /// (upwards, from the coverslip away): shares of all the light that reaches the camera of a molecule in focus, in a sample's area.
    fn samples(
        &self,
        (pupil, focus): (&[PupilPoint], f64),
        heights: &[f64],
        half: usize,
        step: f64,
    ) -> Array3<f64> {
        let cell = 2.0 * self.na / (self.wavelength * ACROSS as f64);
        let side = 2 * half + 1;
        // Of the row or column of the pupil, and the sample.
        let wave_of = |(k, place): (usize, usize)| {
            let frequency = (k as f64 + 0.5 - 0.5 * ACROSS as f64) * cell;
            turned([-TAU * frequency * step * (place as f64 - half as f64), 0.0])
        };
        let waves =
            [0, 1].map(|part| Array2::from_shape_fn((ACROSS, side), |at| wave_of(at)[part]));
        let dipoles = self.dipoles();
        let plane = |&height: &f64| {
            let mut light = Array2::zeros((side, side));
            for &dipole in &dipoles {
                for axis in 0..2 {
                    let field = self.field(pupil, dipole, axis, self.sample_depth + height, focus);
                    add_light(&field, &waves, &mut light);
                }
            }
            light
        };
        let planes: Vec<Array2<f64>> = heights.par_iter().map(plane).collect();
        // By Parseval's theorem the light of all the image is that of the pupil.
        let all: f64 = pupil.iter().map(|point| point.share * self.light(point, &dipoles)).sum();
        let unit = cell * cell * step * step / all;
        let mut found = Array3::zeros((heights.len(), side, side));
        for (mut to, plane) in found.outer_iter_mut().zip(planes) {
            to.assign(&(unit * plane));
        }
        found
    }

    /// The light that dipoles in focus give a point of the pupil.
    fn light(&self, point: &PupilPoint, dipoles: &[[f64; 3]]) -> f64 {
        let decay = TAU / self.wavelength * self.sample_index * point.inside[1] * self.sample_depth;
        let square = |dipole: &[f64; 3], axis: usize, part: usize| {
            let sum: f64 = (0..3).map(|k| dipole[k] * point.fields[axis][k][part]).sum();
            sum * sum
        };
        let all = dipoles.iter().flat_map(|dipole| {
            [0, 1].into_iter().flat_map(move |axis| [0, 1].map(|part| square(dipole, axis, part)))
        });
        libm::exp(-2.0 * decay) * all.sum::<f64>()
    }

    /// The dipoles that shine one after the other.
    fn dipoles(&self) -> Vec<[f64; 3]> {
        match self.dipole {
            Dipole::Free => vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Dipole::Fixed { polar, azimuth } => {
                let [polar, azimuth] = [polar, azimuth].map(f64::to_radians);
                let sine = libm::sin(polar);
                vec![[sine * libm::cos(azimuth), sine * libm::sin(azimuth), libm::cos(polar)]]
            }
        }
    }

    /// The field that a dipole gives the pupil along an axis of the image.
    /// The phase of a point of the pupil, in radians, and how much of the light decays before the coverslip.
    fn wave(&self, point: &PupilPoint, behind: f64, focus: f64) -> Complex {
        let wave = TAU / self.wavelength;
        let [travels, decays] = point.inside.map(|part| wave * self.sample_index * part);
        let path = travels * behind - wave * self.index * point.cosine * focus + point.aberration;
        // No molecule is within the coverslip.
        [path, decays * behind.max(0.0)]
    }

    /// How far light goes from the middle of the image of a molecule at a height, in λ/NA: by the slopes of the wavefront.
    fn reach(&self, pupil: &[PupilPoint], height: f64, focus: f64) -> f64 {
        let mut waves = Array2::from_elem((ACROSS + 1, ACROSS + 1), f64::NAN);
        for point in pupil {
            let [path, _] = self.wave(point, self.sample_depth + height, focus);
            waves[point.place] = path / TAU;
        }
        let step = 2.0 / ACROSS as f64;
        let slope = |point: &PupilPoint| {
            let [row, column] = point.place;
            let to = |other: f64| (other - waves[[row, column]]) / step;
            libm::hypot(to(waves[[row, column + 1]]), to(waves[[row + 1, column]]))
        };
        let mut slopes: Vec<f64> =
            pupil.iter().map(slope).filter(|slope| !slope.is_nan()).collect();
        slopes.sort_by(f64::total_cmp);
        slopes[(COUNTED * (slopes.len() - 1) as f64) as usize]
    }

    fn field(
        &self,
        pupil: &[PupilPoint],
        dipole: [f64; 3],
        axis: usize,
        behind: f64,
        focus: f64,
    ) -> [Array2<f64>; 2] {
        let mut field = [(); 2].map(|()| Array2::zeros((ACROSS, ACROSS)));
        for point in pupil {
            let of =
                |part: usize| (0..3).map(|k| dipole[k] * point.fields[axis][k][part]).sum::<f64>();
            let value = times(turned(self.wave(point, behind, focus)), [of(0), of(1)]);
            for (field, value) in field.iter_mut().zip(value) {
                field[point.place] = point.share * value;
            }
        }
        field
    }
}

/// The share of a cell of the pupil that is within the unit disc.
fn share_within(x: f64, y: f64, step: f64) -> f64 {
    let place = |middle: f64, k: usize| middle + ((k as f64 + 0.5) / EDGE as f64 - 0.5) * step;
    let (near, far) = (libm::hypot(x, y) - step, libm::hypot(x, y) + step);
    if far <= 1.0 || near >= 1.0 {
        return if far <= 1.0 { 1.0 } else { 0.0 };
    }
    let within =
        (0..EDGE * EDGE).filter(|k| libm::hypot(place(x, k % EDGE), place(y, k / EDGE)) <= 1.0);
    within.count() as f64 / (EDGE * EDGE) as f64
}

/// Adds the square of a field's Fourier transform: first along rows, then along columns.
fn add_light(field: &[Array2<f64>; 2], waves: &[Array2<f64>; 2], light: &mut Array2<f64>) {
    let side = light.ncols();
    let mut rows = [(); 2].map(|()| Array2::<f64>::zeros((ACROSS, side)));
    product(field, waves, &mut rows);
    let turned = waves.each_ref().map(|waves| waves.t().as_standard_layout().into_owned());
    let mut image = [(); 2].map(|()| Array2::<f64>::zeros((side, side)));
    product(&turned, &rows, &mut image);
    for ((to, real), imaginary) in light.iter_mut().zip(&image[0]).zip(&image[1]) {
        *to += real * real + imaginary * imaginary;
    }
}

/// The product of complex matrices, of which real and imaginary parts are given.
fn product(a: &[Array2<f64>; 2], b: &[Array2<f64>; 2], to: &mut [Array2<f64>; 2]) {
    let [real, imaginary] = to;
    let rows = a[0].outer_iter().zip(a[1].outer_iter());
    let to = real.outer_iter_mut().zip(imaginary.outer_iter_mut());
    for ((a_real, a_imaginary), (mut real, mut imaginary)) in rows.zip(to) {
        for (k, (&re, &im)) in a_real.iter().zip(&a_imaginary).enumerate() {
            if re == 0.0 && im == 0.0 {
                continue;
            }
            let b = b[0].row(k).into_iter().zip(b[1].row(k));
            for ((real, imaginary), (x, y)) in real.iter_mut().zip(&mut imaginary).zip(b) {
                *real += re * x - im * y;
                *imaginary += re * y + im * x;
            }
        }
    }
}

/// Weights of a spline's coefficients in its integral over a pixel: differences of the integral of the cubic B-spline.
const PIXEL: [f64; 4] = [191.0 / 192.0, 307.0 / 384.0, 77.0 / 384.0, 1.0 / 384.0];

/// The point-spread function of an objective: the share of a molecule's light that a pixel has, at any height within a range. Cubic
/// B-splines with knots a third of a pixel apart, and along the optical axis some tens of nanometres, of which the integral over pixels
/// is exact. Where aberrations grow towards the corners of the frame, it is known at nodes of a grid, and linear between them.
#[derive(Clone, Debug, PartialEq)]
pub struct PupilPsf {
    /// (height, y, x), at each node, row after row; one where all of the frame is the same.
    nodes: Vec<Array3<f64>>,
    /// The first height, and from one to the next, in nanometres.
    heights: [f64; 2],
    range: f64,
    /// Samples from the middle to the edge.
    half: usize,
    sigma: f64,
}

/// The most distance between heights, in nanometres, as a share of λ/n: light changes over half of that.
const HEIGHT_STEP: f64 = 0.12;

/// The most samples of the light at all heights, and at all nodes.
const MOST_SAMPLES: usize = 1 << 24;
const MOST_OF_NODES: usize = 1 << 26;

/// Nodes along each axis of the frame, and those of which the light is computed: the others follow by polynomials through these.
const NODES: usize = 9;
const COMPUTED: usize = 5;

/// So many times λ/NA from the middle there is light that counts, in focus.
const LEAST_HALF: f64 = 4.0;

impl PupilPsf {
    /// That of an objective, for pixels of so many nanometres in the sample, and molecules up to `range` nanometres from the focus.
    ///
    /// # Errors
    /// [`SimulationError::Parameter`] for a number out of its range.
    pub fn new(objective: &Objective, pixel: f64, range: f64) -> Result<Self, SimulationError> {
        objective.validate()?;
        check("range", range, 0.0, 2e4, "0 to 2e4 nm")?;
        let Objective { na, wavelength, index, sample_index, sample_depth, .. } = *objective;
        let unit = wavelength / na;
        check("pixel_size", pixel, 1.0, LARGEST * unit, "1 nm to 0.75 λ/NA")?;
        if index != sample_index {
            let why = "at least the range of heights, where the indices differ: molecules are behind the coverslip";
            // But for rounding.
            check("sample_depth", sample_depth, range * (1.0 - 1e-6), f64::MAX, why)?;
        }
        let objectives: Vec<Objective> = match objective.zernike_corner.is_empty() {
            true => vec![objective.clone()],
            false => (0..COMPUTED * COMPUTED)
                .map(|node| [node % COMPUTED, node / COMPUTED].map(|at| at as f64 / 2.0 - 1.0))
                .map(|place| objective.at(place))
                .collect(),
        };
        let pupils: Vec<(Vec<PupilPoint>, f64)> = objectives
            .iter()
            .map(|objective| {
                let pupil = objective.pupil();
                let focus = objective.focus(&pupil);
                (pupil, focus)
            })
            .collect();
        let slopes = objectives.iter().zip(&pupils).flat_map(|(objective, (pupil, focus))| {
            [-range, 0.0, range].map(|height| objective.reach(pupil, height, *focus))
        });
        let most = slopes.fold(0.0, f64::max);
        let far = if most <= FARTHEST { index } else { 0.0 };
        let why = "less, or less aberration, depth or range of heights: light would go farther than 20 λ/NA";
        check("psf_na", na, 0.0, far, why)?;
        let reach = (LEAST_HALF + most) * unit;
        let half = SAMPLES * libm::ceil(reach / pixel) as usize;
        let most = HEIGHT_STEP * wavelength / index;
        let sides = libm::ceil(range / most).max(1.0);
        let between = if range > 0.0 { range / sides } else { most };
        // Splines are rough at their ends, so that there is one more on either side.
        let sides = sides + 1.0;
        let heights: Vec<f64> =
            (0..=2 * sides as usize).map(|k| (k as f64 - sides) * between).collect();
        let samples = (2 * (half + MARGIN) + 1).saturating_pow(2).saturating_mul(heights.len());
        let nodes = if objectives.len() > 1 { NODES * NODES } else { 1 };
        let all = samples.saturating_mul(nodes);
        let most = if samples > MOST_SAMPLES || all > MOST_OF_NODES { 0.0 } else { 1e4 };
        let few = "larger, for so long a wavelength, so small an aperture or so many heights";
        check("pixel_size", pixel, 1.0, most, few)?;
        let each = objectives.iter().zip(&pupils).map(|(objective, (pupil, focus))| {
            let step = pixel / SAMPLES as f64;
            splines(objective.samples((pupil, *focus), &heights, half + MARGIN, step))
        });
        let computed: Vec<Array3<f64>> = each.collect();
        let nodes = if nodes == 1 { computed } else { interpolated(&computed) };
        let (sigma, half) = (0.21 * unit / pixel, half + MARGIN);
        Ok(Self { nodes, heights: [-sides * between, between], range, half, sigma })
    }

    /// The largest distance from the focus for which it was made, in nanometres.
    pub const fn range(&self) -> f64 {
        self.range
    }

    /// The standard deviation of the Gaussian that is most like a spot in focus, in pixels: 0.21 λ/NA (Zhang et al. 2007), without
    /// aberrations.
    pub const fn sigma(&self) -> f64 {
        self.sigma
    }

    /// How many pixels to each side of a molecule have light.
    pub fn half(&self) -> f64 {
        // Four coefficients belong to each place.
        (self.half - 1) as f64 / SAMPLES as f64
    }

    /// The share of the light of a molecule at a height (nanometres from the focus, away from the objective) that a pixel has whose centre
    /// is (x, y) pixels from it. Heights beyond the range count as its ends. The molecule is in the middle of the frame.
    pub fn share(&self, x: f64, y: f64, height: f64) -> f64 {
        self.share_at([0.0; 2], [x, y, height])
    }

    /// The same for a molecule at a place of the frame, from −1 at its left and upper edge to 1.
    pub fn share_at(&self, place: [f64; 2], [x, y, height]: [f64; 3]) -> f64 {
        if let [all] = &self.nodes[..] {
            return self.share_of(all, [x, y, height]);
        }
        let [of_x, of_y] = place.map(|at| {
            let at = (0.5 * (at + 1.0) * (NODES - 1) as f64).clamp(0.0, (NODES - 1) as f64);
            let before = (at as usize).min(NODES - 2);
            let share = at - before as f64;
            [(before, 1.0 - share), (before + 1, share)]
        });
        let mut sum = 0.0;
        for (row, of_row) in of_y {
            for (column, of_column) in of_x {
                let node = &self.nodes[row * NODES + column];
                sum += of_row * of_column * self.share_of(node, [x, y, height]);
            }
        }
        sum
    }

    fn share_of(&self, coefficients: &Array3<f64>, [x, y, height]: [f64; 3]) -> f64 {
        let (planes, side, _) = coefficients.dim();
        let last = (planes - 3) as f64;
        let height = height.clamp(-self.range, self.range);
        let z = ((height - self.heights[0]) / self.heights[1]).clamp(0.0, last);
        let floor = libm::floor(z).min(last - 1.0);
        let (plane, of_z) = (floor as usize, basis(z - floor));
        let place = |distance: f64| {
            let place = distance * SAMPLES as f64 + self.half as f64;
            let floor = libm::floor(place);
            let within = floor >= 1.0 && floor + 3.0 <= side as f64;
            within.then(|| (floor as usize - 1, basis(place - floor)))
        };
        let (Some((row, of_y)), Some((column, of_x))) = (place(y), place(x)) else { return 0.0 };
        let all = coefficients.as_slice().unwrap_or_default();
        let mut sum = 0.0;
        for (k, weight_z) in of_z.into_iter().enumerate() {
            for (j, weight_y) in of_y.into_iter().enumerate() {
                let first = ((plane + k) * side + row + j) * side + column;
                let line = all[first..].iter().zip(of_x).map(|(own, weight)| own * weight);
                sum += weight_z * weight_y * line.sum::<f64>();
            }
        }
        // A spline through almost nothing may be below it.
        sum.max(0.0)
    }
}

/// The coefficients at all nodes, from those that were computed.
fn interpolated(computed: &[Array3<f64>]) -> Vec<Array3<f64>> {
    // Lagrange's polynomials at a node.
    let weights = |node: usize| {
        let at = node as f64 * (COMPUTED - 1) as f64 / (NODES - 1) as f64;
        let own = |k: usize| {
            let others = (0..COMPUTED).filter(|&other| other != k).map(|other| other as f64);
            others.map(|other| (at - other) / (k as f64 - other)).product::<f64>()
        };
        (0..COMPUTED).map(own).collect::<Vec<f64>>()
    };
    let node = |node: usize| {
        let [of_x, of_y] = [node % NODES, node / NODES].map(weights);
        let mut all = Array3::zeros(computed[0].dim());
        for (at, own) in computed.iter().enumerate() {
            all.scaled_add(of_x[at % COMPUTED] * of_y[at / COMPUTED], own);
        }
        all
    };
    (0..NODES * NODES).map(node).collect()
}

/// The splines of samples, whose values are integrals over pixels.
fn splines(mut light: Array3<f64>) -> Array3<f64> {
    for axis in [1, 2] {
        along(&mut light, axis, |line| {
            fit(line, false);
            integrate(line);
            fit(line, false);
        });
    }
    along(&mut light, 0, |line| fit(line, true));
    let (planes, side, _) = light.dim();
    // Beyond its ends the spline along the axis goes on as a line, so that four coefficients are there for each height.
    Array3::from_shape_fn((planes + 2, side, side), |(plane, y, x)| {
        let at = |plane: usize| light[(plane, y, x)];
        match plane {
            0 => 2.0 * at(0) - at(1),
            _ if plane > planes => 2.0 * at(planes - 1) - at(planes - 2),
            _ => at(plane - 1),
        }
    })
}

/// Samples beyond the patch, so that what its last pixels have is whole.
const MARGIN: usize = 4;

/// The cubic B-splines at a place between two knots.
fn basis(t: f64) -> [f64; 4] {
    let rest = 1.0 - t;
    [
        rest * rest * rest / 6.0,
        (t * t * (3.0 * t - 6.0) + 4.0) / 6.0,
        (rest * rest * (3.0 * rest - 6.0) + 4.0) / 6.0,
        t * t * t / 6.0,
    ]
}

/// Does something with each line along an axis.
fn along(all: &mut Array3<f64>, axis: usize, work: impl Fn(&mut [f64]) + Sync) {
    all.lanes_mut(Axis(axis)).into_iter().par_bridge().for_each(|mut lane| {
        let mut line = lane.to_vec();
        work(&mut line);
        lane.assign(&ArrayView1::from(&line));
    });
}

/// Makes values the coefficients of the spline through them: with none beyond, or such that it goes on as a line.
fn fit(line: &mut [f64], natural: bool) {
    let last = line.len() - 1;
    // (c₋ + 4c + c₊)/6 = f; at a natural end c = f. Thomas' algorithm.
    let is_end = |k: usize| natural && (k == 0 || k == last);
    let mut above = vec![0.0; line.len()];
    for k in 0..=last {
        let (off, middle) = if is_end(k) { (0.0, 1.0) } else { (1.0 / 6.0, 2.0 / 3.0) };
        let (before, value) = if k > 0 { (above[k - 1], line[k - 1]) } else { (0.0, 0.0) };
        let pivot = middle - off * before;
        above[k] = off / pivot;
        line[k] = (line[k] - off * value) / pivot;
    }
    for k in (0..last).rev() {
        line[k] -= above[k] * line[k + 1];
    }
}

/// Makes a spline's coefficients its integrals over a pixel around each sample.
fn integrate(line: &mut [f64]) {
    let of = line.to_vec();
    for (k, to) in line.iter_mut().enumerate() {
        let at =
            |place: Option<usize>| place.and_then(|place| of.get(place)).copied().unwrap_or(0.0);
        *to = PIXEL[0] * of[k];
        for (j, weight) in PIXEL.into_iter().enumerate().skip(1) {
            *to += weight * (at(k.checked_sub(j)) + at(Some(k + j)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn psf(objective: &Objective, range: f64) -> PupilPsf {
        PupilPsf::new(objective, 100.0, range).expect("sound")
    }

    /// Proves that pixels have the light of an independent simulation: NumPy's Fourier transform of 1024² points, pixels of 5×5 samples (NA
    /// 1.4, 680 nm, index 1.518; 0.04 waves of spherical aberration, 0.05 of astigmatism and 0.03 of coma). Its samples are the middles of
    /// their squares, which costs it 0.15 % of the highest pixel.
    #[test]
    fn light_is_that_of_an_independent_simulation() {
        let zernike = [(4, 0, 0.04), (2, 2, 0.05), (3, 1, 0.03)];
        let zernike = zernike.map(|(n, m, waves)| Zernike::new(n, m, waves)).to_vec();
        let psf = psf(&Objective::default().with_zernike(zernike), 200.0);
        // Columns −2 to 4 of the row through the molecule, and of the second above, which that below equals.
        for (z, middle, aside) in [
            (
                0.0,
                [0.021_427, 0.055_808, 0.075_015, 0.052_483, 0.018_037, 0.005_573, 0.005_175],
                [0.004_616, 0.013_818, 0.019_321, 0.012_894, 0.004_713, 0.003_366, 0.003_149],
            ),
            (
                200.0,
                [0.012_653, 0.041_52, 0.060_534, 0.041_506, 0.012_566, 0.005_173, 0.006_049],
                [0.006_503, 0.015_941, 0.021_975, 0.015_367, 0.006_761, 0.005_054, 0.003_798],
            ),
        ] {
            for (y, expected) in [(0.0, middle), (2.0, aside), (-2.0, aside)] {
                for (x, expected) in (-2..).zip(expected) {
                    let found = psf.share(x.into(), y, z);
                    assert!(
                        (found - expected).abs() < 2.5e-3 * middle[2],
                        "{z} {x} {y}: {found}, {expected}"
                    );
                }
            }
        }
        let patch = (-15..=15).flat_map(|y| (-15..=15).map(move |x| (f64::from(x), f64::from(y))));
        let sum: f64 = patch.map(|(x, y)| psf.share(x, y, 0.0)).sum();
        assert!((sum - 0.9454).abs() < 2e-3, "{sum}");
    }

    /// Proves that the light is that of the package psfmodels 0.3.3 (`vectorial_psf`, oversampled 15 times, over the light of 31×31 pixels), whose
    /// PSF is Aguet's vectorial one: along a row from the molecule on, and along a diagonal.
    #[test]
    fn the_light_is_that_of_psfmodels() {
        let psf = psf(&Objective::default(), 400.0);
        for (z, along, diagonal) in [
            (
                0e+00,
                [
                    0.095684, 0.067761, 0.022235, 0.0034171, 0.0019341, 0.0010064, 0.00049417,
                    0.00042248, 0.00020847, 0.00019659, 0.00012392,
                ],
                [0.047363, 0.0047192, 0.00054144],
            ),
            (
                2e+02,
                [
                    0.075643, 0.05434, 0.019951, 0.0055733, 0.0032448, 0.0014728, 0.00080093,
                    0.00058163, 0.00029996, 0.00026121, 0.00016022,
                ],
                [0.038874, 0.0066607, 0.00088909],
            ),
            (
                4e+02,
                [
                    0.034925, 0.0268, 0.014354, 0.0087364, 0.0054064, 0.0026505, 0.0017089,
                    0.0010621, 0.00061359, 0.00047705, 0.00028709,
                ],
                [0.021092, 0.0093578, 0.0019166],
            ),
        ] {
            let all =
                (-15..=15).flat_map(|y| (-15..=15).map(move |x| [f64::from(x), f64::from(y)]));
            let light: f64 = all.map(|[x, y]| psf.share(x, y, z)).sum();
            let along = (0..).zip(along).map(|(x, expected)| ([x, 0], expected));
            let diagonal = [1, 2, 4].into_iter().zip(diagonal).map(|(x, one)| ([x, x], one));
            for ([x, y], expected) in along.chain(diagonal) {
                for (x, z) in [(x, z), (-x, z), (x, -z)] {
                    let found = psf.share(x.into(), y.into(), z) / light;
                    let off = (found - expected).abs();
                    assert!(
                        off < 4e-4 * 0.095 + 0.01 * expected,
                        "{z} {x} {y}: {found}, {expected}"
                    );
                }
            }
        }
    }

    /// Proves that a small aperture gives Airy's pattern, wherever the molecule is in its pixel.
    #[test]
    fn a_small_aperture_gives_airys_pattern() {
        let objective = Objective::default().with_na(0.2).with_index(1.0).with_sample_index(1.0);
        let psf = PupilPsf::new(&objective.with_wavelength(500.0), 100.0, 0.0).expect("sound");
        let airy = |r: f64| {
            let v = TAU * 0.2 / 500.0 * 100.0 * r;
            if v == 0.0 { 1.0 } else { libm::pow(2.0 * libm::j1(v) / v, 2.0) }
        };
        let peak = psf.share(0.0, 0.0, 0.0);
        for k in 0..60 {
            let (x, y) = (0.31 * f64::from(k), 0.17 * f64::from(k) - 3.0);
            let (found, expected) = (psf.share(x, y, 0.0) / peak, airy(libm::hypot(x, y)));
            assert!((found - expected).abs() < 4e-3, "{x} {y}: {found}, {expected}");
        }
    }

    /// Proves that a molecule that turns freely shines as three dipoles at right angles do, of which that along the axis is dark in the middle.
    #[test]
    fn three_dipoles_are_a_free_one() {
        let fixed = |polar: f64, azimuth: f64| {
            let [polar, azimuth] = [polar, azimuth].map(f64::to_degrees);
            psf(&Objective::default().with_dipole(Dipole::Fixed { polar, azimuth }), 0.0)
        };
        let quarter = TAU / 4.0;
        let [x, y, z] = [fixed(quarter, 0.0), fixed(quarter, quarter), fixed(0.0, 0.0)];
        let free = psf(&Objective::default(), 0.0);
        assert!(z.share(0.0, 0.0, 0.0) < 0.3 * z.share(2.0, 0.0, 0.0));
        // Each has a share of its own of all the light, which two places tell.
        let at = |psf: &PupilPsf, place: f64| psf.share(place, 0.5 * place, 0.0);
        let places = [0.0, 0.8, 1.6, 2.4, 3.1];
        let (aside, along) = (|place| at(&x, place) + at(&y, place), |place| at(&z, place));
        let [a, b] = [places[0], places[3]];
        let determinant = aside(a) * along(b) - aside(b) * along(a);
        let share = (at(&free, a) * along(b) - at(&free, b) * along(a)) / determinant;
        let rest = (aside(a) * at(&free, b) - aside(b) * at(&free, a)) / determinant;
        for place in places {
            let sum = share * aside(place) + rest * along(place);
            assert!((sum - at(&free, place)).abs() < 1e-9, "{place}");
        }
        assert!((2.0 * share + rest - 1.0).abs() < 1e-9);
    }

    /// Proves that depth changes nothing in a sample of the immersion's index, and in water spreads the light.
    #[test]
    fn depth_aberrates_where_indices_differ() {
        let objective = Objective::default();
        let near = psf(&objective, 0.0);
        let deep = psf(&objective.clone().with_sample_depth(1500.0), 0.0);
        let water = psf(&objective.with_sample_index(1.33).with_sample_depth(1500.0), 0.0);
        for place in [0.0, 1.3, 4.0] {
            let [near, deep] = [&near, &deep].map(|psf| psf.share(place, 0.0, 0.0));
            assert!((near - deep).abs() < 1e-9, "{near} {deep}");
        }
        assert!(water.share(0.0, 0.0, 0.0) < 0.6 * near.share(0.0, 0.0, 0.0));
    }

    /// Proves that heights between those that were computed have the light of a PSF whose heights are others.
    #[test]
    fn heights_between_are_interpolated() {
        let objective = Objective::default().with_zernike(vec![Zernike::new(2, 2, 0.05)]);
        let [one, other] = [200.0, 331.0].map(|range| psf(&objective, range));
        let highest = one.share(0.0, 0.0, 0.0);
        for step in -10..=10 {
            let z = 19.7 * f64::from(step);
            for (x, y) in [(0.0, 0.0), (0.3, -0.4), (1.5, 0.7), (-2.2, 1.9)] {
                let [one, other] = [&one, &other].map(|psf| psf.share(x, y, z));
                assert!((one - other).abs() < 2e-3 * highest, "{x} {y} {z}: {one} {other}");
            }
        }
    }

    /// Proves that light beyond the critical angle decays with the distance from the coverslip, and that no light is made: of coarse pixels
    /// or far from the focus neither.
    #[test]
    fn there_is_no_more_light_than_there_is() {
        let water = Objective::default().with_na(1.45).with_sample_index(1.33);
        let water = psf(&water.with_sample_depth(400.0), 400.0);
        let sum = |psf: &PupilPsf, z: f64| {
            let half = psf.half().ceil() as i32;
            let row =
                |y: i32| (-half..=half).map(|x| psf.share(x.into(), y.into(), z)).sum::<f64>();
            (-half..=half).map(row).sum::<f64>()
        };
        let sums = [-400.0, -100.0, 0.0, 200.0, 400.0].map(|z| sum(&water, z));
        assert!(sums.is_sorted_by(|near, far| near > far), "{sums:?}");
        assert!(sums[0] < 2.0 && sums[2] < 1.0 && sums[4] > 0.8, "{sums:?}");
        let coarse = PupilPsf::new(&Objective::default(), 360.0, 0.0).expect("sound");
        let wide = psf(&Objective::default(), 800.0);
        for sum in [sum(&coarse, 0.0), sum(&wide, 0.0), sum(&wide, 800.0), sum(&wide, -800.0)] {
            assert!((0.9..=1.0).contains(&sum), "{sum}");
        }
    }

    /// Proves that aberrations of the corners are there at the corners, turned with the direction, and grow towards them; that nothing varies
    /// without; and that what is between computed nodes is as an objective there has it.
    #[test]
    fn aberrations_grow_towards_corners() {
        let corner = vec![Zernike::new(3, 1, 0.1), Zernike::new(2, 2, 0.08)];
        let objective = Objective::default().with_zernike(vec![Zernike::new(4, 0, 0.03)]);
        let varies = objective.clone().with_zernike_corner(corner);
        let at = varies.at([-1.0, 1.0]).zernike;
        // Coma points to the corner, and astigmatism along the diagonal.
        let expected = [(4, 0, 0.03), (3, 1, -0.070_711), (3, -1, 0.070_711), (2, -2, -0.08)];
        for (n, m, waves) in expected {
            let own = at.iter().filter(|term| (term.n, term.m) == (n, m));
            let own: f64 = own.map(|term| term.waves).sum();
            assert!((own - waves).abs() < 1e-6, "{n} {m}: {own}");
        }
        let sum: f64 = varies.at([0.5, 0.5]).zernike.iter().map(|term| term.waves.powi(2)).sum();
        assert!((sum - (0.03_f64.powi(2) + 0.05_f64.powi(2) + 0.02_f64.powi(2))).abs() < 1e-9);
        let (psf, same) = (psf(&varies, 0.0), psf(&objective, 0.0));
        let highest = same.share(0.0, 0.0, 0.0);
        for (place, most) in [([0.0, 0.0], 1e-9), ([1.0, -1.0], 1e-9), ([0.75, 0.25], 3e-3)] {
            let local = self::psf(&varies.at(place), 0.0);
            for (x, y) in [(0.0, 0.0), (1.3, -0.4), (-1.0, 2.0), (0.2, 3.0)] {
                let [own, expected] = [psf.share_at(place, [x, y, 0.0]), local.share(x, y, 0.0)];
                assert!((own - expected).abs() < most * highest, "{place:?}: {own} {expected}");
            }
        }
        assert_eq!(same.share_at([1.0, 0.3], [0.4, 0.1, 0.0]), same.share(0.4, 0.1, 0.0));
    }

    /// Proves that numbers out of their range are refused by name.
    #[test]
    fn wrong_numbers_are_refused() {
        let objective = Objective::default;
        for (objective, name) in [
            (objective().with_na(1.6), "psf_na"),
            (objective().with_na(f64::NAN), "psf_na"),
            (objective().with_wavelength(0.68), "wavelength"),
            (objective().with_index(0.9), "index"),
            (objective().with_sample_depth(-1.0), "sample_depth"),
            (objective().with_zernike(vec![Zernike::new(3, 2, 0.1)]), "zernike"),
            (objective().with_zernike(vec![Zernike::new(2, -4, 0.1)]), "zernike"),
            (objective().with_zernike(vec![Zernike::new(2, 0, f64::INFINITY)]), "zernike"),
            (objective().with_zernike(vec![Zernike::new(1, 1, 0.1)]), "zernike"),
            (objective().with_zernike_corner(vec![Zernike::new(1, 1, 0.1)]), "zernike_corner"),
            (objective().with_zernike(vec![Zernike::new(4, 0, 4.0)]), "psf_na"),
            (objective().with_sample_index(1.33).with_sample_depth(1e5), "psf_na"),
        ] {
            let error = PupilPsf::new(&objective, 100.0, 0.0).expect_err(name);
            assert!(error.to_string().starts_with(name), "{error}");
        }
        assert!(PupilPsf::new(&objective(), 0.0, 0.0).is_err());
        assert!(PupilPsf::new(&objective(), 100.0, -1.0).is_err());
        assert!(PupilPsf::new(&objective(), 400.0, 0.0).is_err());
        assert!(PupilPsf::new(&objective().with_sample_index(1.33), 100.0, 100.0).is_err());
    }

    /// Proves that Zernike's polynomials are orthonormal over the disc.
    #[test]
    fn aberrations_are_orthonormal() {
        let terms = [(0, 0), (2, 0), (2, 2), (2, -2), (3, 1), (3, -1), (4, 0), (4, 2), (5, 3)];
        let terms = terms.map(|(n, m)| Zernike::new(n, m, 1.0));
        let (rings, angles) = (400, 24);
        for (number, first) in terms.iter().enumerate() {
            for (other, second) in terms.iter().enumerate() {
                let mut mean = 0.0;
                for ring in 0..rings {
                    let rho = libm::sqrt((f64::from(ring) + 0.5) / f64::from(rings));
                    for k in 0..angles {
                        let angle = TAU * f64::from(k) / f64::from(angles);
                        mean += first.at(rho, angle) * second.at(rho, angle);
                    }
                }
                mean /= f64::from(rings * angles);
                let expected = f64::from(number == other);
                assert!((mean - expected).abs() < 2e-3, "{first:?} {second:?} {mean}");
            }
        }
    }
}
