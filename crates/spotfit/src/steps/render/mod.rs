//! Renders tables as a super-resolved picture.

mod layer;
mod options;
mod report;

use std::io::{self, Seek, Write};

use spotfit_locs::private::short;

use super::words::go_on;
use super::{Listener, Source, StepError};
use crate::render::{
    Canvas, ColourMap, Colours, Contrast, Drawn, Picture, RenderError, RenderOptions as Look,
    Survey, View,
};
use crate::table::Unit;

pub use crate::render::BlurError;
use layer::Layer;
pub use options::{Blur, Colour, ColourError, RenderOptions};
pub use report::RenderReport;

/// The pixels of a picture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Image {
    /// Red, green and blue.
    Colour {
        /// The picture.
        picture: Picture,
        /// The same with 16 bits for each pixel, where it is grey and [`RenderOptions::deep_grey`] asks for that.
        grey: Option<Picture<u16>>,
    },
    /// Localizations per pixel, where [`RenderOptions::raw`] asks for them, and how they would be shown.
    Density(Box<Canvas>, Contrast),
}

/// A picture with its report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rendered {
    /// The picture with its scale bar and legend.
    pub image: Image,
    /// Side of a pixel in nanometres, if that is known.
    pub nanometres: Option<f64>,
    /// The report.
    pub report: RenderReport,
}

impl Rendered {
    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// The error of the writer; [`io::ErrorKind::InvalidInput`] for densities, which PNG does not hold.
    pub fn write_png(&self, writer: impl Write) -> io::Result<()> {
        match &self.image {
            Image::Colour { picture, .. } => picture.write_png(writer, self.nanometres),
            Image::Density(..) => {
                let reason = "densities are written as TIFF";
                Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
            }
        }
    }

    /// Writes the picture as TIFF, with 16 bits if it has them.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write_tiff(&self, file: impl Write + Seek) -> io::Result<()> {
        match &self.image {
            Image::Colour { grey: Some(grey), .. } => grey.write_tiff(file, self.nanometres),
            Image::Colour { picture, .. } => picture.write_tiff(file, self.nanometres),
            Image::Density(canvas, contrast) => canvas.write_tiff(file, self.nanometres, contrast),
        }
    }
}

/// Draws tables in one picture. `drifts` are tables of drift that is taken out before: none, one for all tables, or one for each.
///
/// # Errors
/// [`StepError`].
pub fn run(
    options: &RenderOptions,
    sources: &[Source],
    drifts: &[Source],
    listener: &dyn Listener,
) -> Result<Rendered, StepError> {
    options.check(sources.len(), drifts.len())?;
    let mut layers = Layer::all(sources, drifts, options)?;
    let mut survey = surveyed(&layers, listener)?;
    if options.chooses_colours(sources.len()) && !shows_something(&survey) {
        // Heights that are all the same, or none, are no reason for colours.
        layers.iter_mut().for_each(|layer| layer.value = None);
        survey = surveyed(&layers, listener)?;
    }
    let colours = colours(options, &layers, &survey)?;
    let look = look(options, colours[0], &layers)?;
    let view = survey.view(&look).map_err(refused(&sources[0]))?;
    let bar = options.scale_bar.map(|bar| in_table("scale_bar", bar, &layers[0])).transpose()?;
    let (image, drawn) = draw(&layers, &colours, &look, view, options, listener)?;
    let image = with_labels(image, bar, &layers[0], &colours[0], &view);
    let report = RenderReport::of(&layers, &colours[0], &view, drawn);
    let nanometres = layers[0].info.nanometres_in(layers[0].unit).map(|unit| unit * view.pixel);
    Ok(Rendered { image, nanometres, report })
}

/// What is wrong with a picture of a table.
fn refused(source: &Source) -> impl Fn(RenderError) -> StepError {
    |error| match error {
        RenderError::Option(error) => error.into(),
        error @ RenderError::Memory { .. } => {
            StepError::Memory { name: source.name().to_owned(), reason: error.to_string() }
        }
        error => source.refused()(error),
    }
}

/// A length in the unit of the picture, which is its unit if it has none.
fn in_table(
    option: &'static str,
    length: crate::Length,
    first: &Layer<'_>,
) -> Result<f64, StepError> {
    first.source.length(option, length.or(first.unit), first.unit, &first.info)
}

fn surveyed(layers: &[Layer<'_>], listener: &dyn Listener) -> Result<Survey, StepError> {
    let mut survey = Survey::default();
    layers.iter().try_for_each(|layer| layer.each(listener, |points| survey.add(points)))?;
    Ok(survey)
}

/// Whether the values differ.
fn shows_something(survey: &Survey) -> bool {
    survey.value_range().is_some_and(|[low, high]| high > low)
}

/// The colours of each table.
fn colours(
    options: &RenderOptions,
    layers: &[Layer<'_>],
    survey: &Survey,
) -> Result<Vec<Colours>, StepError> {
    if layers[0].value.is_some() {
        let map = options.colour_map.unwrap_or(ColourMap::Turbo);
        let range = options.colour_range.or_else(|| survey.value_range());
        let [low, high] = range.unwrap_or([0.0, 1.0]);
        return Ok(vec![Colours::Value { map, low, high }]);
    }
    if options.colour_range.is_some() {
        let reason = "`colour_range` needs `colour_by` and a table with that column";
        return Err(StepError::Options(reason.to_owned()));
    }
    if !options.colours.is_empty() {
        return Ok(options.colours.iter().map(|Colour(colour)| Colours::Tint(*colour)).collect());
    }
    if layers.len() > 1 {
        let usual = Colour::usual().take(layers.len());
        return Ok(usual.map(|Colour(colour)| Colours::Tint(colour)).collect());
    }
    Ok(vec![Colours::Density(options.colour_map.unwrap_or(ColourMap::Inferno))])
}

/// The options of the drawing, in the unit of the picture.
fn look(
    options: &RenderOptions,
    colours: Colours,
    layers: &[Layer<'_>],
) -> Result<Look, StepError> {
    let first = &layers[0];
    let length = |option, length| first.source.length(option, length, first.unit, &first.info);
    let blur = options.blur.with_width(|width| length("blur", width))?;
    let extent = match options.extent {
        Some([left, top, right, bottom]) => {
            let edge = |edge| in_table("extent", edge, first);
            Some([edge(left)?, edge(top)?, edge(right)?, edge(bottom)?])
        }
        None => Layer::field(layers),
    };
    let contrast = Contrast::default().with_saturated(options.saturated).with_gamma(options.gamma);
    Ok(Look::default()
        .with_pixel(options.pixel.map(|pixel| length("pixel", pixel)).transpose()?)
        .with_extent(extent)
        .with_blur(blur)
        .with_colours(colours)
        .with_contrast(contrast)
        .with_most_pixels(options.max_pixels))
}

/// Draws every table in its colours.
fn draw(
    layers: &[Layer<'_>],
    colours: &[Colours],
    look: &Look,
    view: View,
    options: &RenderOptions,
    listener: &dyn Listener,
) -> Result<(Image, Drawn), StepError> {
    let contrast = &look.contrast;
    let mut sum: Option<Picture> = None;
    let mut deep = None;
    let mut all = Drawn::default();
    for (layer, &colours) in layers.iter().zip(colours) {
        let failed = refused(layer.source);
        let mut canvas = Canvas::new(view, colours).map_err(&failed)?;
        layer.each(listener, |points| canvas.add(points))?;
        go_on(listener)?;
        all.inside += canvas.drawn().inside;
        all.outside += canvas.drawn().outside;
        all.not_finite += canvas.drawn().not_finite;
        all.too_wide += canvas.drawn().too_wide;
        if options.raw {
            return Ok((Image::Density(Box::new(canvas), *contrast), all));
        }
        if options.deep_grey && layers.len() == 1 && colours == Colours::Density(ColourMap::Grey) {
            deep = Some(canvas.grey(contrast).map_err(&failed)?);
        }
        let picture = canvas.picture(contrast).map_err(&failed)?;
        match &mut sum {
            Some(sum) => sum.add(&picture),
            None => sum = Some(picture),
        }
    }
    let picture = sum.unwrap_or_else(|| Picture::filled(view.width, view.height, [0; 3]));
    Ok((Image::Colour { picture, grey: deep }, all))
}

/// Draws the scale bar and the legend. `bar` is its length in the unit of the picture, if it was chosen.
fn with_labels(
    mut image: Image,
    bar: Option<f64>,
    first: &Layer<'_>,
    colours: &Colours,
    view: &View,
) -> Image {
    let unit = first.info.nanometres_in(first.unit);
    let (length, text) = view.scale_bar(unit, bar.map(|bar| bar * unit.unwrap_or(1.0)));
    if !(length > 0.0 && length < view.width as f64) {
        return image;
    }
    match &mut image {
        Image::Colour { picture, grey } => {
            picture.scale_bar(length.round() as usize, &text);
            if let Some(grey) = grey {
                grey.scale_bar(length.round() as usize, &text);
            }
            if let (Colours::Value { low, high, .. }, Some(value)) = (colours, &first.value) {
                let symbol = match value.unit {
                    Unit::Nanometre => " nm",
                    Unit::Pixel => " px",
                    Unit::Photon => " photons",
                    Unit::Radian => " rad",
                    Unit::Second => " s",
                    _ => "",
                };
                let ends = [format!("{} {}", value.name, short(*low)), short(*high) + symbol];
                picture.legend(colours, [&ends[0], &ends[1]]);
            }
        }
        // Numbers are not drawn on.
        Image::Density(..) => {}
    }
    image
}
