//! Spline models, whose coefficients come with every call.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use fit_formula::{Formula, Spline, SplineAxis};
use spotfit::model::Model;

use crate::error::Wrong;
use crate::model::{Id, Places, floats};

/// The splines of a model.
pub(crate) struct Form {
    /// Cubic axes.
    pub(crate) axes: usize,
    pub(crate) channels: bool,
    /// As many sets of coefficients.
    pub(crate) splines: usize,
}

/// A model that was made for coefficients.
struct Made {
    id: Id,
    points: usize,
    info: Vec<u8>,
    formula: Arc<Formula>,
    places: Places<'static>,
}

/// Programs call with the same coefficients again and again: to prepare them may take longer than the fits.
static MADE: Mutex<VecDeque<Made>> = Mutex::new(VecDeque::new());
/// The bytes of `user_info` that are kept, at most; what is made of them takes up to three times as many beside them.
const MOST_BYTES: usize = 128 << 20;
const MOST_MADE: usize = 8;

/// The model with the coefficients of `user_info`, and its points.
pub(crate) fn prepared(
    id: Id,
    form: &Form,
    points: usize,
    info: &[u8],
) -> Result<(Arc<Formula>, Places<'static>), Wrong> {
    let lock = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut all = lock();
        let is_it = |made: &Made| made.id == id && made.points == points && made.info == info;
        if let Some(at) = all.iter().position(is_it) {
            all.make_contiguous()[..=at].rotate_right(1);
            return Ok((all[0].formula.clone(), all[0].places.clone()));
        }
    }
    // Others need not wait for it.
    let made = make(id, form, points, info)?;
    let outcome = (made.formula.clone(), made.places.clone());
    let mut all = lock();
    all.push_front(made);
    let mut bytes = 0;
    all.retain(|made| {
        bytes += made.info.len();
        bytes <= MOST_BYTES
    });
    all.truncate(MOST_MADE);
    Ok(outcome)
}

fn make(id: Id, form: &Form, points: usize, info: &[u8]) -> Result<Made, Wrong> {
    let values = floats(info);
    // The numbers before the coefficients.
    let header = if form.axes == 1 { 1 } else { 2 * form.axes + usize::from(form.channels) };
    if values.len() < header {
        return Err(Wrong::UserInfo(format!(
            "it has {} numbers, but a {} begins with {header} that say how large it is",
            values.len(),
            id.name()
        )));
    }
    let mut sizes = Vec::new();
    // As Gpufit, which does not read how many points the slowest axis has.
    let unread = (!form.channels).then_some(form.axes - 1).filter(|_| form.axes > 1);
    for (at, &size) in values[..header].iter().enumerate() {
        let is_size = (1.0..=1e9).contains(&size) && size.fract() == 0.0;
        if !is_size && unread != Some(at) {
            return Err(Wrong::UserInfo(format!("number {at}, {size}, is no size")));
        }
        sizes.push(size as usize);
    }
    let (channels, sizes) =
        if form.channels { (sizes[0], &sizes[1..]) } else { (1, sizes.as_slice()) };
    let (shape, intervals) =
        if form.axes == 1 { (&[][..], sizes) } else { sizes.split_at(form.axes) };
    let mut extent = shape.to_vec();
    if form.axes == 1 {
        extent.push(points);
    }
    if let Some(slowest) = unread {
        let below =
            extent[..slowest].iter().fold(1_usize, |below, &size| below.saturating_mul(size));
        extent[slowest] = points.div_ceil(below);
    }
    let product = extent.iter().try_fold(channels, |product, &size| product.checked_mul(size));
    if form.channels && product != Some(points) {
        let shape: Vec<String> = extent.iter().map(usize::to_string).collect();
        let shape = shape.join("×");
        return Err(Wrong::UserInfo(format!(
            "it is for {shape} points in each of {channels} channels, but n_points is {points}"
        )));
    }
    let mut axes = Vec::new();
    if form.channels {
        axes.push(SplineAxis::Steps(channels));
    }
    axes.extend(intervals.iter().map(|&count| SplineAxis::Cubic(count)));
    let pieces = intervals.iter().try_fold(channels, |all, &count| all.checked_mul(count));
    let each = pieces.and_then(|pieces| pieces.checked_mul(1 << (2 * form.axes)));
    let wanted = each.and_then(|each| each.checked_mul(form.splines));
    let coefficients = &values[header..];
    let (Some(each), Some(wanted)) = (each, wanted.filter(|&wanted| wanted <= coefficients.len()))
    else {
        let wanted =
            wanted.map_or_else(|| "more than can be counted".to_owned(), |n| n.to_string());
        return Err(Wrong::UserInfo(format!(
            "it has {} coefficients of {wanted}",
            coefficients.len()
        )));
    };
    let coefficients: Vec<f64> = coefficients[..wanted].iter().map(|&c| f64::from(c)).collect();
    let splines: Result<Vec<Spline>, _> =
        coefficients.chunks_exact(each).map(|of| Spline::from_polynomials(&axes, of)).collect();
    let splines = splines.map_err(|error| Wrong::UserInfo(error.to_string()))?;
    let named: Vec<(&str, &Spline)> = ["f", "g", "h"].into_iter().zip(&splines).collect();
    let flat = id.name() == "spline_3d" && extent[2] == 1;
    let formula = if flat {
        // Points in a plane are pixels of an image, for which much less has to be computed.
        let parameters = ["a", "x0", "y0", "z0", "b"];
        Formula::with_splines("a*f(x - x0, y - y0, -z0) + b", &["x", "y"], &parameters, &named)
            .map_err(|error| Wrong::UserInfo(error.to_string()))?
    } else {
        let model = Model::named_with_splines(id.name(), &named);
        model.map_err(|error| Wrong::UserInfo(error.to_string()))?.as_formula().clone()
    };
    if flat {
        extent.truncate(2);
    }
    let places = match extent[..] {
        [_] => Places::Index,
        [width, height] if width * height == points => Places::Grid { width, height },
        _ => Places::Shared(places(&extent, form.channels, points)),
    };
    Ok(Made { id, points, info: info.to_vec(), formula: Arc::new(formula), places })
}

/// Places of points, the first axis fastest and the channel, if there is one, slowest: that is the last variable.
fn places(extent: &[usize], channels: bool, points: usize) -> Arc<[f64]> {
    let mut all = Vec::with_capacity((extent.len() + 1) * points);
    let mut below = 1;
    for &size in extent {
        all.extend((0..points).map(|point| (point / below % size) as f64));
        below *= size;
    }
    if channels {
        all.extend((0..points).map(|point| (point / below) as f64));
    }
    all.into()
}
