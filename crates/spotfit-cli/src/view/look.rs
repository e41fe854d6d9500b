//! Parts of pictures: what `render` draws, of tables in memory.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use spotfit::render::{
    Canvas, ColourMap, Colours, Contrast, Picture, Point, RenderError, RenderOptions as Options,
    Survey,
};
use spotfit::steps::render::{Blur, Colour, RenderOptions};
use spotfit::table::{Meaning, Unit};

use super::answer::{Answer, Refused};
use super::held::Held;
use super::query::Query;
use super::session::Session;
use super::tables::each_once;

/// The side of a tile in pixels.
const SIDE: f64 = 256.0;
/// The most pixels of a part whose contrast is asked for.
const MOST_PIXELS: usize = 1 << 24;
/// The most localizations that say what all have in common.
const SAMPLE: usize = 1 << 18;
/// Tiles further away than this have coordinates that are not exact any more.
const FARTHEST: f64 = 1e12;

/// What is asked for.
struct Asked {
    layers: Vec<Layer>,
    pixel: f64,
    contrast: Contrast,
    look: Options,
}

/// A table with its colours.
struct Layer {
    held: Arc<Held>,
    shown: Arc<Vec<bool>>,
    value: Option<String>,
    colours: Colours,
    survey: Survey,
}

impl Asked {
    fn of(session: &Session, query: &Query) -> Result<Self, Refused> {
        let tables: Vec<usize> = query.several("tables")?;
        each_once(&tables)?;
        if tables.is_empty() {
            return Err(Refused::wrong("tables is needed"));
        }
        let pixel: f64 = query.needed("pixel")?;
        if !(pixel > 0.0 && pixel.is_finite()) {
            return Err(Refused::wrong("pixel must be above 0"));
        }
        let blur = query.value::<Blur>("blur")?.unwrap_or_default();
        let range: Vec<f64> = query.several("colour_range")?;
        let range = match range[..] {
            [] => None,
            [low, high] => Some([low, high]),
            _ => return Err(Refused::wrong("colour_range has two values")),
        };
        let options = RenderOptions::default()
            .with_blur(blur)
            .with_colour_map(query.text("colour_map").map(word::<ColourMap>).transpose()?)
            .with_colour_by(query.text("colour_by").map(str::to_owned))
            .with_colour_range(range)
            .with_colours(query.several::<Colour>("colours")?)
            .with_filter(query.text("filter").map(str::to_owned))
            .with_saturated(query.number("saturated")?)
            .with_gamma(query.number("gamma")?.unwrap_or(1.0));
        options.check(tables.len(), 0)?;
        let mut layers: Vec<Layer> = Vec::new();
        for id in tables {
            let held = session.tables.get(id)?;
            let held = match layers.first() {
                Some(first) => held.like(&first.held)?,
                None => held,
            };
            layers.push(Layer::new(held, &options)?);
        }
        let colours = colours(&options, &mut layers)?;
        layers.iter_mut().zip(colours).for_each(|(layer, colours)| layer.colours = colours);
        let first = &layers[0].held;
        let blur = options.blur.with_width(|width| {
            let width = width.or(Unit::Nanometre).within(first.unit, first.info.pixel_size);
            let reason =
                "the width has another unit than the table, and the size of a pixel is not known";
            width.ok_or_else(|| Refused::wrong(reason))
        })?;
        let contrast =
            Contrast::default().with_saturated(options.saturated).with_gamma(options.gamma);
        let look = Options::default()
            .with_pixel(Some(pixel))
            .with_blur(blur)
            .with_contrast(contrast)
            .with_most_pixels(MOST_PIXELS);
        Ok(Self { layers, pixel, contrast, look })
    }

    /// The light of a layer in a part; nothing where there are no localizations at all.
    fn draw(&self, layer: &Layer, extent: [f64; 4]) -> Result<Option<Canvas>, Refused> {
        let wrong = |error: RenderError| Refused::wrong(error.to_string());
        let view = match layer.survey.view(&self.look.with_extent(Some(extent))) {
            Err(RenderError::Empty) => return Ok(None),
            view => view.map_err(wrong)?,
        };
        let mut canvas = Canvas::new(view, layer.colours).map_err(wrong)?;
        canvas.add_part(&layer.held.arranged(layer.value.as_deref(), &layer.shown)?);
        Ok(Some(canvas))
    }
}

impl Layer {
    fn new(held: Arc<Held>, options: &RenderOptions) -> Result<Self, Refused> {
        let shown = held.shown(options.filter.as_deref())?;
        let value = match options.colour_by.as_deref() {
            Some("density") => None,
            Some(column) => Some(held.column(column)?.name.clone()),
            None => held.column(Meaning::Z.name()).ok().map(|column| column.name.clone()),
        };
        let mut survey = Survey::default();
        let arranged = held.arranged(value.as_deref(), &shown)?;
        let step = arranged.x.len().div_ceil(SAMPLE).max(1);
        let places = (0..arranged.x.len()).step_by(step);
        let points = places.filter(|&place| arranged.shows(place)).map(|at| arranged.point(at));
        survey.add(&points.collect::<Vec<Point>>());
        drop(arranged);
        Ok(Self { held, shown, value, colours: Colours::default(), survey })
    }
}

/// The colours of each layer, as `render` chooses them.
fn colours(options: &RenderOptions, layers: &mut [Layer]) -> Result<Vec<Colours>, Refused> {
    let chosen = layers.len() > 1
        || options.colour_by.is_some()
        || options.colour_map.is_some()
        || !options.colours.is_empty();
    if options.colour_by.is_none() {
        let survey = &layers[0].survey;
        let differ = survey.value(0.01).zip(survey.value(0.99)).is_some_and(|(a, b)| b > a);
        if chosen || !differ {
            layers.iter_mut().for_each(|layer| layer.value = None);
        }
    }
    let survey = &layers[0].survey;
    if layers[0].value.is_some() {
        let map = options.colour_map.unwrap_or(ColourMap::Turbo);
        let found = || Some([survey.value(0.01)?, survey.value(0.99)?]);
        let [low, high] = options.colour_range.or_else(found).unwrap_or([0.0, 1.0]);
        return Ok(vec![Colours::Value { map, low, high }]);
    }
    if !options.colours.is_empty() {
        return Ok(options.colours.iter().map(|Colour(colour)| Colours::Tint(*colour)).collect());
    }
    if layers.len() > 1 {
        return Ok(Colour::usual()
            .take(layers.len())
            .map(|Colour(it)| Colours::Tint(it))
            .collect());
    }
    Ok(vec![Colours::Density(options.colour_map.unwrap_or(ColourMap::Inferno))])
}

/// A word of options.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, Refused> {
    let read = serde_json::from_value(Value::from(text));
    read.map_err(|error: serde_json::Error| Refused::wrong(error.to_string()))
}

/// A tile as PNG. `peak` has the density with the brightest colour for each table, or for all.
pub(super) fn tile(session: &Session, query: &Query) -> Result<Answer, Refused> {
    let asked = Asked::of(session, query)?;
    let peaks: Vec<f32> = query.several("peak")?;
    let at = |name| -> Result<f64, Refused> {
        let number: i64 = query.needed(name)?;
        let low = number as f64 * SIDE * asked.pixel;
        let far = low.abs() / asked.pixel > FARTHEST || !low.is_finite();
        if far { Err(Refused::wrong(format!("{name} is too far away"))) } else { Ok(low) }
    };
    let (left, top) = (at("x")?, at("y")?);
    let side = SIDE * asked.pixel;
    let wrong = |error: RenderError| Refused::wrong(error.to_string());
    let mut sum = Picture::filled(SIDE as usize, SIDE as usize, [0; 3]);
    for (number, layer) in asked.layers.iter().enumerate() {
        let Some(canvas) = asked.draw(layer, [left, top, left + side, top + side])? else {
            continue;
        };
        let given = peaks.get(number).or(peaks.first());
        let white = given.copied().unwrap_or_else(|| canvas.white(&asked.contrast));
        let picture = canvas.picture_at(&asked.contrast, white).map_err(wrong)?;
        if asked.layers.len() == 1 {
            sum = picture;
        } else {
            sum.add(&picture);
        }
    }
    let mut bytes = Vec::new();
    let written = sum.write_png(&mut bytes, None);
    written.map_err(|error| Refused::wrong(error.to_string()))?;
    Ok(Answer::new("image/png", bytes))
}

/// What `render` would saturate in a part, and which colours it would give to which values.
pub(super) fn contrast(session: &Session, query: &Query) -> Result<Answer, Refused> {
    let asked = Asked::of(session, query)?;
    let extent: Vec<f64> = query.several("extent")?;
    let extent = extent.try_into().map_err(|_| Refused::wrong("extent has four edges"))?;
    let (mut peaks, mut shown) = (Vec::new(), 0);
    for layer in &asked.layers {
        let canvas = asked.draw(layer, extent)?;
        shown += canvas.as_ref().map_or(0, |canvas| canvas.drawn().inside);
        peaks.push(canvas.map_or(1.0, |canvas| canvas.white(&asked.contrast)));
    }
    let first = &asked.layers[0];
    let range = match first.colours {
        Colours::Value { low, high, .. } => Some([low, high]),
        _ => None,
    };
    let peak = match peaks[..] {
        [peak] => json!(peak),
        _ => json!(peaks),
    };
    let colour_by = first.value.as_deref();
    Ok(Answer::json(&json!({
        "peak": peak, "shown": shown, "colour_by": colour_by, "colour_range": range,
    })))
}
