//! Gpufit's models: formulas, and where the points of the data lie.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use fit_curves::Points;
use fit_formula::Formula;
use ndarray::{ArrayView2, ArrayView3};
use spotfit::model::Model;

use crate::error::Wrong;
use crate::splines::{self, Form};

/// Where the points of a model lie.
enum Kind {
    /// Where `user_info` says.
    Placed,
    /// In an image.
    Image,
    Index,
    /// Where `user_info` says with the coefficients of its splines.
    Splines(Form),
}

/// The names of our models by Gpufit's numbers, and their parameters.
const MODELS: [(&str, usize, Kind); 15] = [
    ("gauss_1d", 4, Kind::Placed),
    ("gauss_2d", 5, Kind::Image),
    ("gauss_2d_elliptic", 6, Kind::Image),
    ("gauss_2d_rotated", 7, Kind::Image),
    ("cauchy_2d_elliptic", 6, Kind::Image),
    ("linear", 2, Kind::Placed),
    ("helix", 3, Kind::Index),
    ("brown_dennis", 4, Kind::Index),
    ("spline_1d", 3, splines(1, false, 1)),
    ("spline_2d", 4, splines(2, false, 1)),
    ("spline_3d", 5, splines(3, false, 1)),
    ("spline_3d_multichannel", 5, splines(3, true, 1)),
    ("spline_3d_phase", 6, splines(3, true, 3)),
    ("spline_4d", 6, splines(4, false, 1)),
    ("spline_5d", 7, splines(5, false, 1)),
];

const fn splines(axes: usize, channels: bool, splines: usize) -> Kind {
    Kind::Splines(Form { axes, channels, splines })
}

/// The number of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(usize);

impl Id {
    pub(crate) const MOST_PARAMETERS: usize = 7;

    pub(crate) fn from_number(number: i32) -> Option<Self> {
        usize::try_from(number).ok().filter(|&number| number < MODELS.len()).map(Self)
    }
    pub(crate) fn parameters(self) -> usize {
        MODELS[self.0].1
    }
    pub(crate) fn name(self) -> &'static str {
        MODELS[self.0].0
    }
    /// Whether `user_info` has the places of the points.
    pub(crate) fn takes_places(self) -> bool {
        matches!(MODELS[self.0].2, Kind::Placed)
    }
}

/// A formula, and where the points of the data lie.
pub(crate) struct Prepared<'a> {
    pub(crate) formula: Arc<Formula>,
    places: Places<'a>,
}

#[derive(Clone)]
pub(crate) enum Places<'a> {
    Index,
    Grid {
        width: usize,
        height: usize,
    },
    /// Variable after variable, the same for all fits.
    Shared(Arc<[f64]>),
    /// Those of `user_info`: as many as points for all fits, or as many for each.
    Given(Cow<'a, [f32]>),
}

impl<'a> Prepared<'a> {
    /// The model, with what `user_info` says of it.
    pub(crate) fn new(id: Id, fits: usize, points: usize, info: &'a [u8]) -> Result<Self, Wrong> {
        let places = match &MODELS[id.0].2 {
            Kind::Placed => given(fits, points, info)?,
            Kind::Image => rows(points),
            Kind::Index => Places::Index,
            Kind::Splines(form) => {
                let (formula, places) = splines::prepared(id, form, points, info)?;
                return Ok(Self { formula, places });
            }
        };
        Ok(Self { formula: plain(id), places })
    }

    /// The points of some fits.
    pub(crate) fn points(&self, fits: &Range<usize>, points: usize) -> Points<'_> {
        let variables = self.formula.variables().len();
        let whole = "as many places as points";
        match &self.places {
            Places::Index => Points::Index,
            Places::Grid { width, height } => Points::Grid { width: *width, height: *height },
            Places::Shared(places) => Points::Shared(
                ArrayView2::from_shape((variables, points), places).expect(whole).into(),
            ),
            Places::Given(values) if values.len() == points => {
                Points::Shared(ArrayView2::from_shape((1, points), values).expect(whole).into())
            }
            Places::Given(values) => {
                let places = &values[fits.start * points..fits.end * points];
                let places = ArrayView3::from_shape((fits.len(), 1, points), places).expect(whole);
                Points::PerFit(places.into())
            }
        }
    }
}

/// A model that needs nothing else.
fn plain(id: Id) -> Arc<Formula> {
    static FORMULAS: [OnceLock<Arc<Formula>>; 8] = [const { OnceLock::new() }; 8];
    let make = || {
        let model = Model::named(id.name()).expect("the library has Gpufit's models");
        Arc::new(model.as_formula().clone())
    };
    FORMULAS[id.0].get_or_init(make).clone()
}

/// Places that are given: none, for all fits, or for each. Fewer than points are all 0, as in Gpufit.
fn given(fits: usize, points: usize, info: &[u8]) -> Result<Places<'_>, Wrong> {
    let count = info.len() / size_of::<f32>();
    if info.is_empty() {
        return Ok(Places::Index);
    }
    if count < points {
        return Ok(Places::Given(vec![0.0; points].into()));
    }
    let wanted = fits * points;
    if count != points && count < wanted {
        return Err(Wrong::UserInfo(format!(
            "it has {count} places of points; {points} are needed for all fits, or {wanted} for each of {fits}"
        )));
    }
    Ok(Places::Given(floats(info)))
}

/// The numbers of an array of bytes.
pub(crate) fn floats(info: &[u8]) -> Cow<'_, [f32]> {
    // SAFETY: any four bytes are a number.
    let (before, values, _) = unsafe { info.align_to::<f32>() };
    if before.is_empty() {
        return Cow::Borrowed(values);
    }
    let number = |bytes: &[u8]| f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Cow::Owned(info.chunks_exact(4).map(number).collect())
}

/// An image as wide as the root of its pixels, rounded down; its last row may be shorter.
fn rows(points: usize) -> Places<'static> {
    let width = points.isqrt();
    if points.is_multiple_of(width) {
        return Places::Grid { width, height: points / width };
    }
    let columns = (0..points).map(|point| (point % width) as f64);
    let rows = (0..points).map(|point| (point / width) as f64);
    Places::Shared(columns.chain(rows).collect())
}
