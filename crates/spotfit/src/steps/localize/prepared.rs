//! What options mean for a movie of which all is known but its frames.

use std::sync::Arc;

use super::auto::with_sooner_backend;
use super::options::{LocalizeOptions, Told};
use super::short_movie;
use crate::localize::{Defects, Localizer, Positions};
use crate::steps::StepError;
use crate::steps::words::condition;
use crate::table::{Filter, Info, Layout, TableFormat};

/// What is known of a movie, and wanted of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfMovie {
    /// Width and height of the frames.
    pub(crate) size: (usize, usize),
    /// How many frames there are; 0 if that is not known.
    pub(crate) count: usize,
    /// How many are localized.
    pub(crate) wanted: usize,
    /// The size of a pixel in nanometres, if it is known.
    pub(crate) pixel_size: Option<f64>,
    /// The format of the table.
    pub(crate) format: TableFormat,
}

/// A localizer, and what becomes of its localizations.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) localizer: Localizer,
    pub(crate) layout: Layout,
    pub(crate) filter: Option<Filter>,
    pub(crate) info: Info,
    /// The defective pixels that are masked, if somebody asked for it.
    pub(crate) defects: Option<Arc<Defects>>,
    /// What is odd about the options.
    pub(crate) notes: Vec<String>,
}

impl LocalizeOptions {
    /// What these options, of which this was `told`, mean for a movie with such positions and defects, which were found in it.
    pub(crate) fn prepared(
        &self,
        told: Told,
        positions: Option<Positions>,
        found: Option<Arc<Defects>>,
        of: &OfMovie,
    ) -> Result<Prepared, StepError> {
        let OfMovie { size, count, wanted, pixel_size, format } = *of;
        let Told { options: engine, notes } = told;
        let layout = self.layout(pixel_size, format, &engine);
        let short = short_movie(engine.temporal_background, wanted);
        let notes = notes.into_iter().chain(short).collect();
        let engine = engine.with_positions(positions);
        let engine = if found.is_some() { engine.with_defects(found) } else { engine };
        let defects = engine.defects.clone();
        // Of a movie that is being written it is not known how much there will be.
        let pixels = size.0.saturating_mul(size.1).saturating_mul(wanted.min(count));
        let engine = with_sooner_backend(engine, pixels);
        let localizer = Localizer::new(size, engine).map_err(StepError::localize(None))?;
        let info = Info::default().with_movie(pixel_size, [size.0, size.1], count);
        let parse = |text: &String| condition(text, &layout.table(&[], &info));
        let filter = self.filter.as_ref().map(parse).transpose()?;
        Ok(Prepared { localizer, layout, filter, info, defects, notes })
    }
}
