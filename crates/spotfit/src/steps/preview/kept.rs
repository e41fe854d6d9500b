//! What stays known between previews, as long as what it depends on does.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::CameraMap;
use crate::camera_maps;
use crate::localize::{ApertureCorrection, Defects, Flags, Positions, Surroundings};
use crate::psf::{Misfit, Psf};
use crate::record::Origin;
use crate::steps::localize::{
    CameraOptions, DefectsOption, Given, LocalizeOptions, PsfOption, measured, read_positions,
};
use crate::steps::{Listener, Note, StepError};

/// Something, with what it depends on.
#[derive(Debug)]
pub(super) struct Kept<T> {
    of: String,
    what: T,
}

impl<T> Kept<T> {
    pub(super) fn new(of: String, what: T) -> Self {
        Self { of, what }
    }
}

/// Something that is still known.
pub(super) fn kept<T: Clone>(kept: &Option<Kept<T>>, of: &str) -> Option<T> {
    kept.as_ref().filter(|kept| kept.of == of).map(|kept| kept.what.clone())
}

/// Something that is made anew only if what it depends on has changed.
pub(super) fn keep<T: Clone>(
    kept: &mut Option<Kept<T>>,
    of: String,
    make: impl FnOnce() -> Result<T, StepError>,
) -> Result<T, StepError> {
    if let Some(known) = self::kept(kept, &of) {
        return Ok(known);
    }
    let what = make()?;
    *kept = Some(Kept::new(of, what.clone()));
    Ok(what)
}

/// All that stays known.
#[derive(Debug, Default)]
pub(super) struct Cache {
    maps: Option<Kept<Option<Arc<CameraMap>>>>,
    mask: Option<Kept<Arc<Defects>>>,
    psf: Option<Kept<Arc<Psf>>>,
    positions: Option<Kept<(Arc<Positions>, Vec<Note>)>>,
    /// Of the first frames.
    pub(super) defects: Option<Kept<Option<Arc<Defects>>>>,
    /// Of frames of all of the movie.
    pub(super) learnt: Option<Kept<(Option<PsfOption>, Vec<Note>)>>,
    pub(super) doubts: Option<Kept<Vec<Note>>>,
    pub(super) sigma: Option<Kept<f64>>,
    pub(super) misfit: Option<Kept<Misfit>>,
    pub(super) aperture: Option<Kept<ApertureCorrection>>,
    pub(super) around: Option<Kept<Option<Arc<Surroundings>>>>,
}

/// What tells whether files are as they were; their content may have any other cause to change.
fn stamp(files: &[PathBuf]) -> String {
    let of = |file: &PathBuf| {
        let metadata = fs::metadata(file).ok();
        (file.clone(), metadata.map(|metadata| (metadata.len(), metadata.modified().ok())))
    };
    format!("{:?}", files.iter().map(of).collect::<Vec<_>>())
}

/// What a given thing is: a file as it is now, or this content.
fn identity<T>(given: &Given<T>, files: impl Fn(&Path) -> Vec<PathBuf>) -> String {
    match given {
        Given::File(path) => stamp(&files(path)),
        Given::Content(content) => format!("{:p}", Arc::as_ptr(content)),
    }
}

fn alone(path: &Path) -> Vec<PathBuf> {
    vec![path.to_owned()]
}

/// All that localizations depend on, in words that differ where it does.
pub(super) fn identity_of(options: &LocalizeOptions) -> String {
    let LocalizeOptions { camera, positions, defects, calibration, psf, .. } = options;
    let mask = match defects {
        Some(DefectsOption::Given(given)) => identity(given, alone),
        other => format!("{other:?}"),
    };
    let given = [
        camera.maps.as_ref().map(|given| identity(given, |path| camera_maps::files(path))),
        positions.as_ref().map(|given| identity(given, alone)),
        calibration.as_ref().map(|given| identity(given, alone)),
        psf.as_ref().and_then(PsfOption::given).map(|given| identity(given, alone)),
        Some(matches!(psf, Some(PsfOption::Learn)).to_string()),
        Some(mask),
    ];
    let localizer = options
        .localizer
        .clone()
        .with_positions(None)
        .with_map(None)
        .with_defects(None)
        .with_calibration(None)
        .with_psf(None);
    let plain = options
        .clone()
        .with_localizer(localizer)
        .with_camera(camera.clone().with_maps(None))
        .with_positions(None)
        .with_defects(None)
        .with_calibration(None)
        .with_psf(None);
    format!("{given:?} {plain:?}")
}

/// The same without what comes after fits.
pub(super) fn identity_of_fits(options: &LocalizeOptions) -> String {
    let localizer = options.localizer.clone();
    let localizer = localizer.with_drop(Flags::default()).with_keep_all(false).with_checks(false);
    let plain = options.clone().with_localizer(localizer.with_errors(false));
    let plain = plain.with_filter(None).with_frames(None).with_frame_time(None);
    identity_of(&plain.with_origin(Origin::Centre))
}

/// The same of what a PSF is learnt with.
pub(super) fn identity_of_learning(options: &LocalizeOptions) -> String {
    let LocalizeOptions { localizer, camera, defects, roi, frames, .. } = options.clone();
    let plain = crate::localize::LocalizeOptions::default()
        .with_false_rate(localizer.false_rate)
        .with_saturation(localizer.saturation);
    let plain = LocalizeOptions::default().with_localizer(plain).with_camera(camera);
    let plain = plain.with_defects(defects).with_roi(roi).with_frames(frames);
    let plain = plain.with_pixel_size(options.pixel_size);
    identity_of(&plain.with_learn_frames(options.learn_frames))
}

/// The same of a camera.
pub(super) fn identity_of_camera(camera: &CameraOptions) -> String {
    identity_of(&LocalizeOptions::default().with_camera(camera.clone()))
}

impl Cache {
    /// The same options with the content of files that take long to read; without positions, which are the other thing.
    pub(super) fn read(
        &mut self,
        options: &LocalizeOptions,
        pixel_size: Option<f64>,
        notes: &mut Vec<Note>,
    ) -> Result<(LocalizeOptions, Option<Arc<Positions>>), StepError> {
        let mut options = options.clone();
        if let Some(Given::File(path)) = &options.camera.maps {
            let of = stamp(&camera_maps::files(path));
            let of = format!("{of} {:?}", options.camera.sensitivity);
            let read = keep(&mut self.maps, of, || options.camera.map())?;
            options.camera.maps = read.map(Given::Content);
        }
        if let Some(DefectsOption::Given(Given::File(path))) = &options.defects {
            let read = || Defects::read(path).map(Arc::new).map_err(StepError::refused);
            let read = keep(&mut self.mask, stamp(&alone(path)), read)?;
            options.defects = Some(DefectsOption::Given(Given::Content(read)));
        }
        if let Some(PsfOption::Given(Given::File(path))) = &options.psf {
            let read = keep(&mut self.psf, stamp(&alone(path)), || measured(path).map(Arc::new))?;
            options.psf = Some(PsfOption::Given(Given::Content(read)));
        }
        let positions = match options.positions.take() {
            Some(Given::File(path)) => {
                let of = format!("{} {pixel_size:?} {:?}", stamp(&alone(&path)), options.origin);
                let read = || {
                    let heard = Heard::default();
                    let read = read_positions(&path, pixel_size, options.origin, &heard)?;
                    Ok((Arc::new(read), heard.0.into_inner()))
                };
                let (read, heard) = keep(&mut self.positions, of, read)?;
                notes.extend(heard);
                Some(read)
            }
            Some(Given::Content(positions)) => Some(positions),
            None => None,
        };
        Ok((options, positions))
    }
}

/// A listener that remembers notes.
#[derive(Debug, Default)]
pub(super) struct Heard(pub(super) RefCell<Vec<Note>>);

impl Listener for Heard {
    fn note(&self, note: &Note) {
        self.0.borrow_mut().push(note.clone());
    }
}
