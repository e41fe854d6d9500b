//! A point-spread function as a B-spline.

use fit_crowd::private::{LatticePlace, Patch};
use fit_crowd::{CrowdError, Misfit, SplineImage};
use ndarray::{Array2, Array3, Array4, ArrayView3, Axis};

use super::PsfError;
use super::bounds::{Information, inverse};
use super::field::{CELLS, PsfField, middle};
use crate::model::{Spline, SplineAxis};

/// The fewest and the most coefficients along an axis.
const COUNTS: std::ops::RangeInclusive<usize> = 5..=1003;
/// The most coefficients.
pub(super) const MOST: usize = 1 << 20;
/// How far z = 0 may be from where the PSF begins, in steps.
const FARTHEST: f64 = 1e4;
/// Field terms have no light, but for rounding.
const NO_LIGHT: f64 = 1e-6;
/// Photons of the darkest pixels: a likelihood takes pixels of a model that are darker for as dark as this, whatever the parameters are.
pub(super) const DARKEST: f64 = 1e-3;

/// A point-spread function: a cubic B-spline whose knots are a pixel apart in x and y, and a step apart in z.
///
/// An axis of n coefficients has n − 3 intervals between knots. The PSF's centre is in the middle of the intervals along x
/// and y, and z = 0 is at a given plane, which need not be a knot. The value is the share of the photons in a pixel: over
/// the pixels at ½, 1½, 2½, … intervals along x and y it adds up to 1 at z = 0 (or at the end of the PSF that is next to it), so that the
/// amplitude of a spot is its number of photons. (A table of Picasso adds up to 1 over the pixels of its box.) At other z the sum may differ, as the light outside of these pixels does.
/// Where it is known how much light falls beyond these pixels, as with a PSF that was [learnt](super::learn_psf), [`Psf::light`] says
/// which share of all a spot's photons it is.
///
/// A PSF that was learnt from spots of unknown height has members in place of heights: [`Psf::has_heights`] is false, and z only says
/// which member a spot resembles.
///
/// A PSF may vary across the frame ([`Psf::field`]): then it is the mean, and [`Psf::local`] that at a place. Localizing takes the local one;
/// what is asked of the PSF itself is of the mean.
///
/// Where there is hardly any light, a measured PSF may be slightly below 0. The likelihood is not defined for such
/// values of the model, and takes 10⁻³ photons instead.
#[derive(Clone, Debug)]
pub struct Psf {
    /// (plane, row, column).
    coefficients: Array3<f64>,
    step: f64,
    zero: f64,
    /// The share of all light in the pixels at z = 0.
    light: f64,
    /// Whether z is a height.
    heights: bool,
    /// Whether all planes are the same.
    single: bool,
    /// What spots look like that are not quite like it.
    misfit: Option<Misfit>,
    /// How it varies across the frame.
    field: Option<PsfField>,
    /// The same for the engines: (plane, column, row).
    spline: Spline,
}

impl PartialEq for Psf {
    fn eq(&self, other: &Self) -> bool {
        let of = |psf: &Self| (psf.step, psf.zero, psf.light, psf.heights);
        let same = of(self) == of(other) && self.misfit == other.misfit;
        same && self.coefficients == other.coefficients && self.field == other.field
    }
}

impl Psf {
    /// A PSF of B-spline coefficients (z, y, x), with knots `step` nm apart in z, and z = 0 at `zero` intervals from the first
    /// one, which may be beyond the PSF. The coefficients are divided by what the pixels at z = 0 add up to.
    ///
    /// # Errors
    /// If there are fewer than 5 coefficients along an axis, or too many; if one is not finite; if the step is not
    /// above 0, or z = 0 more than 10⁴ steps away; if the sum of the pixels at z = 0 is not above 0; or if x, y, z,
    /// photons and background cannot be distinguished at any z. (Where all planes are the same, there is no z to be distinguished: [`Psf::is_single`].)
    pub fn new(coefficients: Array3<f64>, step: f64, zero: f64) -> Result<Self, PsfError> {
        Self::with_rim(coefficients, step, zero, 0)
    }

    /// The same where the pixels at z = 0 have this share of the light, and z may be no height.
    pub(super) fn of_light(
        coefficients: Array3<f64>,
        step: f64,
        zero: f64,
        light: f64,
        heights: bool,
    ) -> Result<Self, PsfError> {
        let good = light > 0.0 && light <= 1.0;
        PsfError::check("the light in the PSF's pixels", light, good, "above 0, 1 at most")?;
        let mut psf = Self::new(coefficients.clone(), step, zero)?;
        let sum = sum(&coefficients, zero.clamp(0.0, (coefficients.dim().0 - 3) as f64), 0);
        // What was written is read as it was.
        if (sum - 1.0).abs() < 1e-9 {
            psf.spline = spline_of(&coefficients);
            psf.coefficients = coefficients;
        }
        (psf.light, psf.heights) = (light, heights && !psf.single);
        Ok(psf)
    }

    /// The same, with the sum over the pixels that are `rim` intervals or more inside along x and y.
    pub(super) fn with_rim(
        mut coefficients: Array3<f64>,
        step: f64,
        zero: f64,
        rim: usize,
    ) -> Result<Self, PsfError> {
        let (planes, rows, columns) = coefficients.dim();
        let counts = [planes, rows, columns].iter().all(|count| COUNTS.contains(count));
        if !counts || planes * rows * columns > MOST {
            return Err(PsfError::Shape { planes, rows, columns });
        }
        if let Some(((plane, row, column), _)) =
            coefficients.indexed_iter().find(|(_, value)| !value.is_finite())
        {
            return Err(PsfError::NotFinite { plane, row, column });
        }
        PsfError::check("the step in z", step, step > 0.0 && step.is_finite(), "above 0")?;
        let near = (-FARTHEST..=FARTHEST).contains(&zero);
        PsfError::check("the plane of z = 0", zero, near, "within 10^4 steps")?;
        coefficients = coefficients.as_standard_layout().into_owned();
        let zeroth = zero.clamp(0.0, (planes - 3) as f64);
        let sum = sum(&coefficients, zeroth, rim);
        // Shares of photons that single precision can hold.
        if !(sum > 0.0 && (1.0 / sum).is_finite()) {
            return Err(PsfError::NoLight { sum });
        }
        coefficients /= sum;
        if let Some(((plane, row, column), _)) =
            coefficients.indexed_iter().find(|(_, value)| !(-1e15..1e15).contains(*value))
        {
            return Err(PsfError::NotFinite { plane, row, column });
        }
        let spline = spline_of(&coefficients);
        let first = coefficients.index_axis(Axis(0), 0);
        let single = coefficients.outer_iter().all(|plane| plane == first);
        let psf = Self {
            coefficients,
            step,
            zero,
            light: 1.0,
            heights: !single,
            single,
            misfit: None,
            field: None,
            spline,
        };
        let planes = 4 * (psf.shape()[0] - 3);
        let [low, high] = psf.range();
        let place = |at: usize| low + (high - low) * (at as f64 + 0.5) / planes as f64;
        let size = psf.extent();
        if !(0..planes).any(|at| psf.bound(place(at), 1000.0, 1.0, size).is_some()) {
            return Err(PsfError::NotIdentifiable);
        }
        Ok(psf)
    }

    /// The coefficients (z, y, x).
    pub fn coefficients(&self) -> ArrayView3<'_, f64> {
        self.coefficients.view()
    }

    /// The distance of two planes in nm.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The plane of z = 0, in steps from where the range of z begins.
    pub fn zero(&self) -> f64 {
        self.zero
    }

    /// The share of all light of a spot in the pixels at z = 0, or 1 where nothing is known of the light beyond. Fitted photons are those in the
    /// pixels: divided by it, they are all of a spot's.
    pub fn light(&self) -> f64 {
        self.light
    }

    /// Whether z is a height; otherwise it numbers the members of a family.
    pub fn has_heights(&self) -> bool {
        self.heights
    }

    /// How spots differ from this PSF, where that was measured: bright ones are not taken for several because of it.
    pub fn misfit(&self) -> Option<&Misfit> {
        self.misfit.as_ref()
    }

    /// The same PSF with this misfit.
    #[must_use]
    pub fn with_misfit(self, misfit: Option<Misfit>) -> Self {
        Self { misfit, ..self }
    }

    /// How it varies across the frame; `None` if it does not.
    pub fn field(&self) -> Option<&PsfField> {
        self.field.as_ref()
    }

    /// The same PSF, but it varies so across the frame.
    ///
    /// # Errors
    /// If the terms have another shape than its coefficients, or if their light is not 0.
    pub fn with_field(self, field: Option<PsfField>) -> Result<Self, PsfError> {
        let Some(field) = field else { return Ok(Self { field: None, ..self }) };
        let (_, planes, rows, columns) = field.terms().dim();
        if self.shape() != [planes, rows, columns] {
            return Err(PsfError::Shape { planes, rows, columns });
        }
        let zeroth = self.zero.clamp(0.0, (planes - 3) as f64);
        for term in field.terms().outer_iter() {
            let light = sum(&term.to_owned(), zeroth, 0);
            let none = light.is_nan() || light.abs() <= NO_LIGHT;
            PsfError::check("the light of a field term", light, none, "0")?;
        }
        Ok(Self { field: Some(field), ..self })
    }

    /// The PSF at a place of the frame, in pixels from the middle of the first one; beyond what it was made for, that at the edge. It
    /// does not vary, and is the same where this one does not.
    #[must_use]
    pub fn local(&self, at: [f64; 2]) -> Self {
        match &self.field {
            Some(field) => self.local_at(field.place(at)),
            None => self.clone(),
        }
    }

    /// The same at a place from −1 to 1.
    pub(super) fn local_at(&self, place: [f64; 2]) -> Self {
        let Some(field) = &self.field else { return self.clone() };
        let mut coefficients = self.coefficients.clone();
        let local = field.at(self.knots(), place);
        coefficients.iter_mut().zip(local).for_each(|(to, local)| *to = local);
        let (spline, misfit) = (spline_of(&coefficients), self.misfit.clone());
        Self { coefficients, spline, misfit, field: None, ..*self }
    }

    /// The same of these coefficients and those of its terms across this part of the frame, one after the other, with this light.
    pub(super) fn varying(
        &self,
        mut mean: Vec<f64>,
        light: f64,
        part: [[f64; 2]; 2],
    ) -> Result<Self, PsfError> {
        let [planes, rows, columns] = self.shape();
        let terms = mean.split_off(planes * rows * columns);
        let [mean, terms] = [mean, terms].map(|all| {
            let count = all.len() / (planes * rows * columns);
            Array4::from_shape_vec((count, planes, rows, columns), all).expect("as many of each")
        });
        let mean = mean.index_axis_move(Axis(0), 0);
        let psf = Self::of_light(mean, self.step, self.zero, light, self.heights)?;
        psf.with_field(Some(PsfField::new(terms, part)?))
    }

    /// The number of the cell of the frame that a place is in, in pixels from the middle of the first one; 0 if it does not vary.
    pub(crate) fn cell_at(&self, at: [f64; 2]) -> usize {
        let Some(field) = &self.field else { return 0 };
        let place = field.place(at);
        let [column, row] =
            place.map(|at| (0.5 * (at + 1.0) * CELLS as f64) as usize).map(|at| at.min(CELLS - 1));
        row * CELLS + column
    }

    /// How many cells of the frame have PSFs of their own.
    pub(crate) fn cells(&self) -> usize {
        if self.field.is_some() { CELLS * CELLS } else { 1 }
    }

    /// The PSF in the middle of a cell.
    pub(crate) fn in_cell(&self, cell: usize) -> Self {
        self.local_at(middle(cell))
    }

    /// Whether it is the same at all z: nothing tells z then, which is 0 in all fits, has no error, and is no height.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// The range of z in nm.
    pub fn range(&self) -> [f64; 2] {
        [0.0, (self.shape()[0] - 3) as f64].map(|plane| self.z_of(plane))
    }

    /// The PSF for fits of emitters that overlap, in a part of the frame that begins at this column and row.
    ///
    /// # Errors
    /// If it covers fewer than 5 pixels along x or y.
    pub(crate) fn image(&self, origin: [usize; 2]) -> Result<SplineImage, CrowdError> {
        let of = |knots: &[f64]| SplineImage::new(knots, self.shape(), self.step, self.zero);
        let mean = of(self.knots())?;
        let Some(field) = &self.field else { return Ok(mean) };
        let cells = (0..CELLS * CELLS).map(|cell| of(&field.at(self.knots(), middle(cell))));
        let cells: Result<Vec<SplineImage>, CrowdError> = cells.collect();
        let corner = [0, 1].map(|axis| field.part()[axis][0] - origin[axis] as f64);
        mean.with_cells(corner, field.side(), [CELLS; 2], cells?)
    }

    /// The number of pixels (rows, columns) that the PSF covers.
    pub fn extent(&self) -> [usize; 2] {
        let [_, rows, columns] = self.shape();
        [rows - 3, columns - 3]
    }

    /// The side of windows in which spots need not be in the middle: the largest one up to 13 that leaves 5 pixels of
    /// the PSF around, but at least 5.
    pub fn usual_box(&self) -> usize {
        let side = self.extent()[0].min(self.extent()[1]).saturating_sub(5);
        (side.clamp(5, 13) - 1) | 1
    }

    /// The value at a pixel that is this far from the spot in x and y (px), for a spot at z (nm); and its derivatives by them, in 1/px
    /// and 1/nm. `None` beyond the PSF.
    pub fn at(&self, [x, y, z]: [f64; 3]) -> Option<[f64; 4]> {
        let [rows, columns] = self.extent().map(|count| count as f64);
        let plane = self.plane_of(z);
        let arguments = [plane, x + 0.5 * columns, y + 0.5 * rows];
        let intervals = [(self.shape()[0] - 3) as f64, columns, rows];
        let inside = |(at, most): (&f64, &f64)| (0.0..=*most).contains(at);
        arguments.iter().zip(&intervals).all(inside).then(|| {
            let [value, by_plane, by_x, by_y, ..] = self.spline.at(&arguments);
            [value, by_x, by_y, by_plane / self.step]
        })
    }

    /// The values at the pixels (row, column) of a window, of a spot at (x, y, z): px from the centre of the window's
    /// first pixel, and nm. Pixels beyond the PSF are 0; all pixels are 0 if a number is NaN. For z beyond the range,
    /// its end is taken.
    pub fn window(&self, [x, y, z]: [f64; 3], size: [usize; 2]) -> Array2<f64> {
        let mut patch = Patch::default();
        let place = self.place([x, y, z], size);
        patch.evaluate(self.knots(), self.shape(), &place, false);
        let mut window = Array2::zeros(size);
        let mut values = patch.value.iter();
        for row in place.rows.clone() {
            for column in place.columns.clone() {
                window[[row, column]] = *values.next().expect("a value for each covered pixel");
            }
        }
        window
    }

    /// The Cramér–Rao bounds of the standard errors of x, y (px), z (nm), photons and background (photons per pixel) of
    /// a spot in the middle of a window (rows, columns), for Poisson noise; pixels with less than 10⁻³ photons are
    /// ignored. `None` if the parameters cannot be distinguished, or if a number is invalid.
    pub fn bound(
        &self,
        z: f64,
        photons: f64,
        background: f64,
        size: [usize; 2],
    ) -> Option<[f64; 5]> {
        let [height, width] = size;
        let inside =
            size.iter().zip(self.extent()).all(|(size, extent)| (1..=extent).contains(size));
        let [low, high] = self.range();
        let sound = photons > 0.0 && background >= 0.0 && (low..=high).contains(&z);
        if !inside || !sound {
            return None;
        }
        let place = self.place([0.5 * (width - 1) as f64, 0.5 * (height - 1) as f64, z], size);
        let mut patch = Patch::default();
        patch.evaluate(self.knots(), self.shape(), &place, true);
        let mut information = Information::NONE;
        for pixel in 0..patch.value.len() {
            let mean = photons * patch.value[pixel] + background;
            if mean > DARKEST {
                information.add(&self.slopes(&patch, pixel, photons), 1.0 / mean);
            }
        }
        if self.is_single() {
            information.hold(2);
        }
        let covariance = inverse(&information)?;
        let mut errors: [f64; 5] = std::array::from_fn(|j| covariance[j][j].sqrt());
        if self.is_single() {
            errors[2] = 0.0;
        }
        Some(errors)
    }

    /// What the model photons·f + background changes by with x, y, z, photons and background.
    pub(super) fn slopes(&self, patch: &Patch, pixel: usize, photons: f64) -> [f64; 5] {
        let [by_plane, by_y, by_x] = &patch.slopes;
        let [by_plane, by_y, by_x] = [by_plane[pixel], by_y[pixel], by_x[pixel]];
        let value = patch.value[pixel];
        [-photons * by_x, -photons * by_y, photons * by_plane / self.step, value, 1.0]
    }

    /// Where the pixels of a window are in the spline, for a spot at (x, y, z).
    pub(super) fn place(&self, [x, y, z]: [f64; 3], size: [usize; 2]) -> LatticePlace {
        let [rows, columns] = self.extent().map(|count| 0.5 * count as f64);
        LatticePlace::new(self.shape(), [self.plane_of(z), rows - y, columns - x], size)
    }

    pub(super) fn knots(&self) -> &[f64] {
        self.coefficients.as_slice().expect("standard layout")
    }

    pub(super) fn shape(&self) -> [usize; 3] {
        self.coefficients.dim().into()
    }

    pub(super) fn plane_of(&self, z: f64) -> f64 {
        z / self.step + self.zero
    }

    pub(super) fn z_of(&self, plane: f64) -> f64 {
        (plane - self.zero) * self.step
    }

    pub(super) fn spline(&self) -> &Spline {
        &self.spline
    }
}

/// The spline of coefficients (plane, row, column), for the engines.
fn spline_of(coefficients: &Array3<f64>) -> Spline {
    let (planes, rows, columns) = coefficients.dim();
    let axes = [planes - 3, columns - 3, rows - 3].map(SplineAxis::Cubic);
    let turned = coefficients.view().permuted_axes([0, 2, 1]);
    let turned: Vec<f64> = turned.iter().copied().collect();
    Spline::from_knots(&axes, &turned).expect("as many finite coefficients")
}

/// What the pixels at a plane add up to, those in a rim of so many left out.
pub(super) fn sum(coefficients: &Array3<f64>, plane: f64, rim: usize) -> f64 {
    let shape: [usize; 3] = coefficients.dim().into();
    let size = [shape[1], shape[2]].map(|count| (count - 3).saturating_sub(2 * rim));
    let mut patch = Patch::default();
    let first = 0.5 + rim as f64;
    let place = LatticePlace::new(shape, [plane, first, first], size);
    let knots = coefficients.as_slice().expect("standard layout");
    patch.evaluate(knots, shape, &place, false);
    patch.value.iter().sum()
}
