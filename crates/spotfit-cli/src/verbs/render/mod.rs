//! `spotfit render`: localizations in, the super-resolved picture out.

mod arguments;
mod show;
mod source;

use std::fmt::Write as _;

pub(crate) use arguments::RenderArguments;
pub(crate) use show::label;
use show::{Format, Scale, Shown, write};
use source::Source;

use crate::error::CliError;
use crate::say::message::say;
use crate::words::locs::Locs;
use crate::words::output::Output;
use crate::words::paths::refuse_same_file;
use spotfit::render::{
    Blur, Canvas, ColourMap, Colours, Drawn, Picture, RenderOptions, Survey, View,
};
use spotfit::table::Unit;

pub(crate) fn run(arguments: &RenderArguments) -> Result<(), CliError> {
    let format = Format::of(&arguments.output)?;
    arguments.check(format)?;
    let inputs: Vec<Locs> = arguments
        .localizations
        .iter()
        .map(|path| arguments.table.open(path))
        .collect::<Result<_, _>>()?;
    for file in inputs.iter().flat_map(Locs::files).chain(arguments.drift.iter().cloned()) {
        refuse_same_file(&file, &arguments.output)?;
    }
    let mut sources = Source::all(inputs, arguments)?;
    let name = sources[0].locs.name.clone();
    let mut survey = survey(&sources)?;
    if arguments.chooses_colours() && !shows_something(&survey) {
        // Heights that are all the same, or none, are no reason for colours.
        sources.iter_mut().for_each(|source| source.value = None);
        survey = self::survey(&sources)?;
    }
    let colours = arguments.colours(&sources, &survey)?;
    let options = arguments.options(colours[0], Source::field(&sources));
    let view = survey.view(&options).map_err(CliError::render(&name))?;
    let output = Output::create(&arguments.output)?;
    let scale = Scale::of(&sources[0], view.pixel);
    let (shown, drawn) = draw(&sources, &colours, &options, view, format, arguments)?;
    let shown = shown.with_labels(arguments.scale_bar, &scale, &sources[0], &colours[0], &view);
    write(output, &shown, format, scale.nanometres())?;
    tell(&sources, &colours[0], &view, drawn);
    Ok(())
}

fn survey(sources: &[Source]) -> Result<Survey, CliError> {
    let mut survey = Survey::default();
    sources.iter().try_for_each(|source| source.each(|points| survey.add(points)))?;
    Ok(survey)
}

/// Whether the values differ.
fn shows_something(survey: &Survey) -> bool {
    survey.value(0.01).zip(survey.value(0.99)).is_some_and(|(low, high)| high > low)
}

/// Draws every table in its colours.
fn draw(
    sources: &[Source],
    colours: &[Colours],
    options: &RenderOptions,
    view: View,
    format: Format,
    arguments: &RenderArguments,
) -> Result<(Shown, Drawn), CliError> {
    let contrast = &options.contrast;
    let mut sum: Option<Picture> = None;
    let mut all = Drawn::default();
    for (source, &colours) in sources.iter().zip(colours) {
        let failed = |error| CliError::render(&source.locs.name)(error);
        let mut canvas = Canvas::new(view, colours).map_err(failed)?;
        source.each(|points| canvas.add(points))?;
        crate::interrupt::check()?;
        all.inside += canvas.drawn().inside;
        all.outside += canvas.drawn().outside;
        all.not_finite += canvas.drawn().not_finite;
        all.too_wide += canvas.drawn().too_wide;
        if arguments.raw {
            return Ok((Shown::Density(Box::new(canvas), *contrast), all));
        }
        let grey = colours == Colours::Density(ColourMap::Grey);
        if format == Format::Tiff && grey && sources.len() == 1 {
            return Ok((Shown::Grey(canvas.grey(contrast).map_err(failed)?), all));
        }
        let picture = canvas.picture(contrast).map_err(failed)?;
        match &mut sum {
            Some(sum) => sum.add(&picture),
            None => sum = Some(picture),
        }
    }
    let picture = sum.unwrap_or_else(|| Picture::filled(view.width, view.height, [0; 3]));
    Ok((Shown::Colour(picture), all))
}

/// Says what the picture shows.
fn tell(sources: &[Source], colours: &Colours, view: &View, drawn: Drawn) {
    let symbol = if sources[0].unit == Unit::Nanometre { "nm" } else { "px" };
    let View { left, top, pixel, width, height, .. } = *view;
    let (right, bottom) = (left + width as f64 * pixel, top + height as f64 * pixel);
    let mut text = format!(
        "{} localizations in {width}×{height} pixels of {} {symbol}: x from {} to {}, y from {} to {}",
        drawn.inside,
        show::short(pixel),
        show::short(left),
        show::short(right),
        show::short(top),
        show::short(bottom)
    );
    if view.least > pixel && view.blur == Blur::Uncertainty {
        let written = write!(text, "\neach is at least {} {symbol} wide", show::short(view.least));
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    let mut more = |count: u64, what: &str| {
        if count > 0 {
            let written = write!(text, "\n{count} {what}");
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        }
    };
    more(drawn.outside, "outside of the picture");
    more(drawn.not_finite, "left out: a number is not finite");
    more(drawn.too_wide, "left out: their uncertainty is more than 1000 pixels of the picture");
    let failing = sources.iter().map(|source| source.failing.get()).sum();
    more(failing, "left out: they do not fulfil the condition");
    if let (Some(value), Colours::Value { low, high, .. }) = (&sources[0].value, colours) {
        let (low, high) = (show::short(*low), show::short(*high));
        let written = write!(text, "\ncolours: {} from {low} to {high}", value.name);
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    say!("{text}");
}
