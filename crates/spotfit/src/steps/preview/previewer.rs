//! A movie that stays open, to be looked at with one set of options after the other.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::frames::Frames;
use super::kept::{
    Cache, Heard, Kept, identity_of, identity_of_camera, identity_of_fits, identity_of_learning,
    keep, kept,
};
use super::options::PreviewOptions;
use super::spots::{Places, Preview, PreviewCounts, reasons, responses};
use super::window::{SpotWindow, Spots};
use crate::localize::usual_sigma::Besides;
use crate::localize::{Defects, DropReason, Fate, Localization, Localizer, Looked, Surroundings};
use crate::movie::{Movie, Pixels};
use crate::steps::localize::{
    DefectsOption, LocalizeOptions, LocalizeReport, OfMovie, Prepared, PsfOption, Told,
    at_full_scale, find_defects, frames_are, frames_of, metadata, tell_defects, unlike_gaussians,
};
use crate::steps::{Listener, Note, Stack, StepError, learn};
use crate::table::{Filter, Info, Layout, Meaning};
use crate::{AsWindows, OutOfRange};
use spotfit_files::private::sort_by;

/// A movie whose frames are looked at.
#[derive(Debug)]
pub struct Previewer {
    frames: Frames,
    size: (usize, usize),
    count: usize,
    /// The size of a pixel that the movie says, in nanometres.
    said: Option<f64>,
    cache: Cache,
    /// The last frame that was looked at, with what it depends on.
    last: Option<(String, Arc<Spots>)>,
}

impl Previewer {
    /// Opens a movie: a file, or frames in memory.
    ///
    /// # Errors
    /// [`StepError`]; streams and movies that are being written are refused.
    pub fn new(mut movie: Stack) -> Result<Self, StepError> {
        if !movie.is_at_hand() {
            let reason =
                "a preview needs a file or frames in memory, which can be read in any order";
            return Err(StepError::input(movie.name(), reason));
        }
        let (size, count, said) = movie.about(|movie| {
            let said = movie.axes().pixel_size.map(|size| size.nanometres);
            (movie.size(), movie.frames(), said)
        })?;
        let frames = Frames::of(movie);
        Ok(Self { frames, size, count, said, cache: Cache::default(), last: None })
    }

    /// The pixels of a frame, counted from 1: an array of one frame.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn pixels(&mut self, frame: usize) -> Result<Arc<Pixels>, StepError> {
        let index = self.index(frame)?;
        self.frames.one(index)
    }

    /// What localizing would make of a frame, counted from 1: the rows and counts of this frame alone.
    ///
    /// Where the background is known over time, it is that of the movie, or of the frames that the options name.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn preview(
        &mut self,
        options: &PreviewOptions,
        frame: usize,
    ) -> Result<Preview, StepError> {
        let begin = Instant::now();
        let spots = self.spots(options, frame)?;
        let mut preview = spots.preview.clone();
        if let Some(column) = &options.colour_by {
            let names = preview.kept.columns().iter().map(|column| column.name.as_str());
            let names: Vec<&str> = names.collect();
            let range = format!("a column of the table: {}", names.join(", "));
            OutOfRange::check("colour_by", column, names.contains(&column.as_str()), range)?;
            preview.colour_by.clone_from(column);
        }
        preview.time = begin.elapsed();
        Ok(preview)
    }

    /// The window of the spot that is nearest to a place in a frame, counted from 1, whatever became of it; where there is none near, the
    /// pixels there. The place is in pixels from the centre of the first one.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn window(
        &mut self,
        options: &PreviewOptions,
        frame: usize,
        x: f64,
        y: f64,
    ) -> Result<SpotWindow, StepError> {
        let (width, height) = self.size;
        let inside = |at: f64, length: usize| (-0.5..=length as f64 - 0.5).contains(&at);
        let good = inside(x, width) && inside(y, height);
        let range = format!("within the frame of {width}×{height} pixels");
        OutOfRange::check("place", format!("{x},{y}"), good, range)?;
        let spots = self.spots(options, frame)?;
        Ok(spots.window([x, y]))
    }

    /// The number of a frame from 0.
    fn index(&self, frame: usize) -> Result<usize, StepError> {
        let count = self.count;
        let range = format!("1 to {count}: frames are counted from 1");
        OutOfRange::check("frame", frame, (1..=count).contains(&frame), range)?;
        Ok(frame - 1)
    }

    /// All that is to be seen in a frame.
    fn spots(&mut self, options: &PreviewOptions, frame: usize) -> Result<Arc<Spots>, StepError> {
        let index = self.index(frame)?;
        let PreviewOptions { format, doubts, .. } = *options;
        let of = identity_of(&options.localize);
        let of = format!("{index} {format:?} {doubts} {of}");
        if let Some((_, spots)) = self.last.as_ref().filter(|(last, _)| *last == of) {
            return Ok(spots.clone());
        }
        let spots = Arc::new(self.look(options, index)?);
        self.last = Some((of, spots.clone()));
        Ok(spots)
    }

    /// Looks at a frame, counted from 0.
    fn look(&mut self, options: &PreviewOptions, index: usize) -> Result<Spots, StepError> {
        let begin = Instant::now();
        let name = self.frames.stack().name().to_owned();
        let of_movie = |movie: &Movie| options.localize.by_metadata(movie, &name);
        let (asked, by_metadata) = self.frames.stack().about(of_movie)??;
        let asked = &asked;
        asked.pixel_size.check()?;
        let pixel_size = self.frames.stack().about(|movie| asked.pixel_size.of(movie))?;
        let mut notes = self.plain_notes(asked)?;
        notes.extend(by_metadata);
        let (read, positions) = self.cache.read(asked, pixel_size, &mut notes)?;
        let read = self.learnt(asked, read, &mut notes)?;
        let mut told = read.told(pixel_size.or(self.said))?;
        let found = self.found_defects(&read, &told)?;
        let pixels = self.frames.one(index)?;
        let window = told.options.temporal_background;
        let all = window.map(|_| self.range(asked, index)).transpose()?;
        let wanted = all.as_ref().map_or(1, Range::len);
        let (size, count, format) = (self.size, self.count, options.format);
        let of = OfMovie { size, count, wanted, pixel_size, format };
        // A window is shown with all errors; rows have those that were asked for.
        told.options.errors = true;
        let of_fits = identity_of_fits(asked);
        let range = self.range(asked, index)?;
        let misfit_of = format!("{range:?} {of_fits}");
        let sigma_of = format!("{index} {all:?} {of_fits}");
        if let Some(known) = kept(&self.cache.sigma, &sigma_of) {
            told.options.usual_sigma = Some(known);
        }
        let mut known = kept(&self.cache.misfit, &misfit_of);
        if told.options.misfit.is_none() && told.options.knows_sigma() {
            told.options.misfit = known.take();
        }
        let lacks_misfit = told.options.lacks_misfit();
        told.options.aperture_correction = kept(&self.cache.aperture, &misfit_of);
        let lacks_aperture = told.options.lacks_aperture_correction();
        let positions = positions.map(Arc::unwrap_or_clone);
        let prepared = read.prepared(told, positions, found, &of)?;
        let Prepared { mut localizer, layout, filter, info, defects, notes: odd } = prepared;
        notes.extend(odd.into_iter().map(Note::Warning));
        if options.doubts {
            notes.extend(self.doubts(asked, defects.as_deref())?);
        }
        let failed = |error| StepError::localize(Some(&name))(error);
        let ahead = localizer.frames_ahead();
        if ahead > 0 {
            let ahead = |range: &Range<usize>| range.start..range.end.min(range.start + ahead);
            let first = match &all {
                Some(all) => Arc::new(self.frames.some(ahead(all))?),
                None => pixels.clone(),
            };
            // One frame tells little of how spots differ from Gaussians.
            let many = (lacks_misfit && known.is_none() || lacks_aperture) && all.is_none();
            let many = many.then(|| self.frames.some(ahead(&range))).transpose()?;
            let besides = Besides {
                frames: many.as_ref().map(|many| many.windows()),
                misfit: known.filter(|_| lacks_misfit),
            };
            let bits = self.frames.stack().about(|movie| movie.acquisition().significant_bits)?;
            localizer.look_ahead_at(first.windows(), besides, bits).map_err(failed)?;
            notes.extend(localizer.full_scale().as_ref().map(at_full_scale));
            let known = localizer.usual_sigma();
            self.cache.sigma = known.map(|known| Kept::new(sigma_of, known));
            let known = localizer.misfit().cloned();
            self.cache.misfit = known.map(|known| Kept::new(misfit_of.clone(), known));
            let known = localizer.aperture_correction();
            self.cache.aperture = known.map(|known| Kept::new(misfit_of, known));
        }
        notes.extend(localizer.misfit_doubt().as_ref().map(unlike_gaussians));
        let around = match window.zip(all) {
            Some((window, all)) => {
                let needed = Surroundings::needed(window, index, all);
                let frames = &mut self.frames;
                keep(&mut self.cache.around, format!("{window} {needed:?}"), || {
                    let frames = frames.some(needed.clone())?;
                    let found = localizer.surroundings(needed.start, frames.windows());
                    found.map(|found| found.map(Arc::new)).map_err(failed)
                })?
            }
            None => None,
        };
        let mut localizer = localizer.watched();
        localizer.leave_out_positions(index..index + 1);
        let looked = localizer.look(index, pixels.windows(), around.as_deref()).map_err(failed)?;
        let slice = self.frames.stack().options().slice;
        let frames_are = self.frames.stack().about(|movie| frames_are(movie, slice))?;
        let of = Found { name, localizer, looked, layout, filter, info, begin, frames_are };
        of.spots(index, pixel_size, pixels, notes)
    }

    /// The frames that tell the background of one of them.
    fn range(&self, asked: &LocalizeOptions, index: usize) -> Result<Range<usize>, StepError> {
        let all = frames_of(asked.frames.as_deref(), self.count)?;
        Ok(if all.contains(&index) { all } else { 0..self.count })
    }

    /// What is to be said of the movie, whatever its frames show.
    fn plain_notes(&mut self, asked: &LocalizeOptions) -> Result<Vec<Note>, StepError> {
        self.frames.stack().about(|movie| metadata(movie, asked.pixel_size, &asked.camera))
    }

    /// The same options with the movie's PSF, if it is to be learnt.
    fn learnt(
        &mut self,
        asked: &LocalizeOptions,
        read: LocalizeOptions,
        notes: &mut Vec<Note>,
    ) -> Result<LocalizeOptions, StepError> {
        if !matches!(read.psf, Some(PsfOption::Learn)) {
            return Ok(read);
        }
        let Self { frames, cache, .. } = self;
        let (psf, heard) = keep(&mut cache.learnt, identity_of_learning(asked), || {
            let heard = Heard::default();
            let learnt = learn::learnt(&read, frames.stack(), &heard)?;
            Ok((learnt.psf, heard.0.into_inner()))
        })?;
        notes.extend(heard);
        Ok(learn::with_learnt(&read, psf))
    }

    /// The defective pixels of the movie, if they are to be found.
    fn found_defects(
        &mut self,
        asked: &LocalizeOptions,
        told: &Told,
    ) -> Result<Option<Arc<Defects>>, StepError> {
        let Self { frames, cache, .. } = self;
        let of =
            format!("{:?} {}", asked.defects.as_ref().map(kind), identity_of_camera(&asked.camera));
        let (given, map) = (told.options.defects.as_deref(), told.options.map.as_deref());
        keep(&mut cache.defects, of, || {
            find_defects(asked.defects.as_ref(), given, map, frames.stack())
        })
    }

    /// What is doubtful about the camera and its pixels.
    fn doubts(
        &mut self,
        asked: &LocalizeOptions,
        masked: Option<&Defects>,
    ) -> Result<Vec<Note>, StepError> {
        let Self { frames, cache, .. } = self;
        let camera = &asked.camera;
        let of = format!("{:?} {}", asked.defects.as_ref().map(kind), identity_of_camera(camera));
        keep(&mut cache.doubts, of, || {
            let heard = Heard::default();
            let looks = asked.defects.is_none() && camera.maps.is_none();
            let seen = looks.then(|| frames.first()).flatten();
            let hears: &dyn Listener = &heard;
            tell_defects(asked.defects.as_ref(), masked, seen.as_deref(), &hears);
            camera.doubt(|_| frames.first().map(Arc::unwrap_or_clone), hears);
            Ok(heard.0.into_inner())
        })
    }
}

/// What is done about defects, without those of a mask.
fn kind(asked: &DefectsOption) -> &'static str {
    match asked {
        DefectsOption::None => "none",
        DefectsOption::Auto => "auto",
        DefectsOption::Given(_) => "given",
    }
}

/// What was found in a frame, before it is put in order.
struct Found {
    name: String,
    localizer: Localizer,
    looked: Looked,
    layout: Layout,
    filter: Option<Filter>,
    info: Info,
    begin: Instant,
    frames_are: Option<String>,
}

impl Found {
    fn spots(
        self,
        index: usize,
        pixel_size: Option<f64>,
        pixels: Arc<Pixels>,
        notes: Vec<Note>,
    ) -> Result<Spots, StepError> {
        let Self { name, localizer, looked, layout, filter, info, begin, frames_are } = self;
        let mut kept = layout.table(&looked.spots, &info);
        let holds = match &filter {
            Some(filter) => filter.keep(&kept).map_err(StepError::refused)?,
            None => vec![true; kept.rows()],
        };
        kept.retain(&holds);
        let (mut stay, mut dropped, mut rows) = (Vec::new(), Vec::new(), holds.into_iter());
        for fate in &looked.fates {
            match (fate.kept.then(|| rows.next()).flatten(), fate.reason) {
                (Some(true), _) => stay.push(*fate),
                (Some(false), _) => dropped.push((*fate, DropReason::Filter)),
                (None, reason) => dropped.extend(reason.map(|reason| (*fate, reason))),
            }
        }
        sort_by(&mut dropped, |(a, _), (b, _)| {
            let place = |fate: &Fate| [fate.spot.y, fate.spot.x];
            let ([y, x], [other_y, other_x]) = (place(a), place(b));
            y.total_cmp(&other_y).then(x.total_cmp(&other_x))
        });
        let lost: Vec<Localization> = dropped.iter().map(|(fate, _)| fate.spot).collect();
        let mut lost = layout.clone().with_status(true).table(&lost, &info);
        lost.set(reasons(&dropped));
        let mut counts = PreviewCounts {
            candidates: localizer.counts().candidates,
            kept: kept.rows(),
            ..PreviewCounts::default()
        };
        for (_, reason) in &dropped {
            *counts.dropped.entry(reason.name()).or_default() += 1;
        }
        let inside = |at: f64, length: usize| (-0.5..length as f64 - 0.5).contains(&at);
        let (_, height, width) = pixels.dim();
        // Fits that failed may end anywhere.
        let place = |fate: &Fate| match [fate.spot.x, fate.spot.y] {
            [x, y] if inside(x, width) && inside(y, height) => [x, y],
            _ => fate.detected,
        };
        let places = Places {
            kept: stay.iter().map(place).collect(),
            dropped: dropped.iter().map(|(fate, _)| place(fate)).collect(),
        };
        let fates: Vec<Fate> =
            stay.into_iter().chain(dropped.into_iter().map(|(fate, _)| fate)).collect();
        let options = localizer.options().clone();
        let fulfilled = filter.is_some().then_some(kept.rows());
        let preview = Preview {
            movie: Path::new(&name).file_name().unwrap_or_default().display().to_string(),
            colour_by: Meaning::Photons.name().to_owned(),
            frame: index + 1,
            width: pixels.dim().2,
            height: pixels.dim().1,
            box_size: options.box_size,
            roi: options.roi,
            pixel_size,
            units: Preview::units_of([&kept, &lost]),
            kept,
            dropped: lost,
            places,
            counts,
            detector: responses(&fates, &looked, options.threshold),
            notes,
            report: LocalizeReport::of(&localizer, frames_are, fulfilled, begin.elapsed()),
            time: begin.elapsed(),
            pixels,
        };
        let reasons = preview.row_reasons();
        Ok(Spots { preview, fates, reasons, looked, options, layout, info })
    }
}
