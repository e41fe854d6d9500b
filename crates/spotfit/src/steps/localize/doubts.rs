//! What is not known of a movie and its camera, or hardly right, and what it costs.

use std::cell::RefCell;
use std::path::Path;

use super::camera::CameraOptions;
use crate::localize::{
    CameraDoubt, FullScale, MisfitDoubt, SlopeDoubt, camera_doubts, estimate_sensitivity,
    median_of_first, share_below, two_digits,
};
use crate::movie::{Acquisition, Movie, Pixels};
use crate::steps::{Listener, Note, PixelScale};
use crate::{AsWindows, Camera};

/// The subject of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// The metadata of the movie.
    Metadata,
    /// No baseline is given.
    Baseline,
    /// The baseline does not go with the pixels.
    Median,
    /// No sensitivity is given.
    Sensitivity,
    /// The camera does not go with the noise of the movie.
    Camera,
    /// No read noise is given.
    ReadNoise,
    /// Options are odd, whatever the movie.
    Options,
    /// Pixels are defective.
    Defects,
    /// The light has slopes.
    Slopes,
    /// Spots are not Gaussians.
    Misfit,
    /// The camera has another full scale than the type of its pixels.
    FullScale,
}

/// Hears of doubts.
pub(crate) trait Hears {
    /// Something about a movie.
    fn hear(&self, topic: Topic, note: Note);
}

impl Hears for &dyn Listener {
    fn hear(&self, _: Topic, note: Note) {
        self.note(&note);
    }
}

/// Keeps what is told for somebody who hears it later.
#[derive(Debug, Default)]
pub(super) struct Kept(RefCell<Vec<(Topic, Note)>>);

impl Hears for Kept {
    fn hear(&self, topic: Topic, note: Note) {
        self.0.borrow_mut().push((topic, note));
    }
}

impl Kept {
    pub(super) fn into_notes(self) -> Vec<(Topic, Note)> {
        self.0.into_inner()
    }
}

impl CameraOptions {
    /// Tells what is not given of the camera and what the first frames of the movie say against it. The frames are asked for where
    /// they are needed: the first, or as `many` as estimates look at.
    pub fn doubt(&self, frames: impl FnOnce(bool) -> Option<Pixels>, listener: &dyn Listener) {
        self.doubt_to(frames, &listener);
    }

    /// What the first frame says against the baseline, or against having none: pixels of less than no light.
    pub fn unlike_light(&self, frames: &Pixels) -> Option<Note> {
        let lacks_baseline = self.baseline.is_none() && self.maps.is_none();
        let camera = self.camera().unwrap_or_default();
        let above = median_of_first(frames).filter(|&median| camera.baseline > median);
        let below = share_below(frames, lowest(&camera)).filter(|&below| below > MANY);
        let text = match (above, below) {
            (Some(median), _) if !lacks_baseline => format!(
                "`baseline` {} is above the median of the first frame, {median} ADU; most pixels would have less than no light",
                camera.baseline
            ),
            (_, Some(below)) => {
                let share = two_digits(100.0 * below);
                let known = if lacks_baseline {
                    "below 0, and no `baseline` is given: something was subtracted that nothing tells"
                } else {
                    "farther below `baseline` than noise explains: it is too high, or more was subtracted"
                };
                format!(
                    "{share} % of the pixels of the first frame are {known}; uncertainties there follow from the scatter of residuals"
                )
            }
            _ => return None,
        };
        Some(Note::Warning(text))
    }

    pub(super) fn doubt_to(&self, frames: impl FnOnce(bool) -> Option<Pixels>, hears: &dyn Hears) {
        let has_maps = self.maps.is_some();
        let lacks = |number: Option<f64>| number.is_none() && !has_maps;
        let (lacks_baseline, lacks_sensitivity) = (lacks(self.baseline), lacks(self.sensitivity));
        let lacks_read_noise = lacks(self.read_noise);
        let warn = |topic, text: String| hears.hear(topic, Note::Warning(text));
        if lacks_baseline {
            let text = "no `baseline` given; photons and uncertainties assume 0 ADU";
            warn(Topic::Baseline, text.to_owned());
        }
        let camera = self.camera().unwrap_or_default();
        // With maps of the camera there is nothing to look for.
        let wanted = !lacks_baseline && !has_maps && self.camera().is_some();
        let seen = if wanted || lacks_baseline { frames(wanted) } else { None };
        if let Some(note) = seen.as_ref().and_then(|first| self.unlike_light(first)) {
            hears.hear(Topic::Median, note);
        }
        let seen = seen.filter(|_| wanted);
        let estimated = seen
            .as_ref()
            .filter(|_| lacks_sensitivity)
            .and_then(|frames| estimate_sensitivity(frames.windows(), &camera));
        // What a read noise is depends on the sensitivity: on the one that is offered, or assumed.
        let likely = estimated.map_or(camera, |found| camera.with_sensitivity(found));
        let wants_doubts = !lacks_sensitivity || lacks_read_noise;
        let doubts = seen.as_ref().filter(|_| wants_doubts);
        for doubt in doubts.map_or(Vec::new(), |seen| camera_doubts(seen.windows(), &likely)) {
            match doubt {
                // It was not given.
                CameraDoubt::Sensitivity { .. } if lacks_sensitivity => {}
                CameraDoubt::ReadNoise { found } if lacks_read_noise => {
                    let text = format!("{doubt}: `read_noise` {}", two_digits(found));
                    warn(Topic::ReadNoise, text);
                }
                // It was said to be 0.
                CameraDoubt::ReadNoise { .. } => {}
                doubt => warn(Topic::Camera, doubt.to_string()),
            }
        }
        if lacks_sensitivity {
            let offer = match estimated {
                _ if lacks_baseline => "; with `baseline` it can be estimated".to_owned(),
                Some(found) => {
                    let found = two_digits(found);
                    format!("; about {found} e/ADU by variance over mean: `sensitivity` {found}")
                }
                None => String::new(),
            };
            let assumed = "photons and uncertainties assume 1 photo-electron per ADU";
            warn(Topic::Sensitivity, format!("no `sensitivity` given; {assumed}{offer}"));
        }
    }
}

/// What a pixel of photons is not below, in ADU. A read noise that is not given is not above 2 photo-electrons.
fn lowest(camera: &Camera) -> f64 {
    let noise = if camera.read_noise > 0.0 { camera.read_noise } else { 2.0 };
    camera.baseline - 5.0 * noise / camera.sensitivity - 1.0
}

/// More than this share of pixels is not there by chance.
const MANY: f64 = 1e-3;

/// What slopes of the light do, and what to do about them.
pub fn slopes(doubt: &SlopeDoubt) -> Note {
    Note::Warning(format!("{doubt}; `background` plane fits slopes, too"))
}

/// How unlike Gaussians or a PSF spots are, and what to do about it.
pub fn unlike_gaussians(doubt: &MisfitDoubt) -> Note {
    let offer = match doubt {
        MisfitDoubt { is_learnable: true, .. } => "; `psf` learn learns what spots look like",
        MisfitDoubt { is_of_psf: true, .. } => "; more spots, or sparser ones, tell it better",
        _ => "",
    };
    Note::Notice(format!("{doubt}{offer}"))
}

/// From which value on pixels are taken for saturated.
pub fn at_full_scale(scale: &FullScale) -> Note {
    let text = format!("{scale}; `saturation` ADU overrules it");
    if scale.saturation().is_some() { Note::Notice(text) } else { Note::Warning(text) }
}

/// Pixels that a microscope may have, in nanometres.
const USUAL_PIXELS: std::ops::RangeInclusive<f64> = 5.0..=2000.0;

/// A length with as many digits as matter.
fn shown(nanometres: f64) -> String {
    if (0.01..1e9).contains(&nanometres) {
        ((nanometres * 1e4).round() / 1e4).to_string()
    } else {
        format!("{nanometres:e}")
    }
}

/// What was made of the metadata of a movie.
pub(crate) fn metadata(movie: &Movie, scale: PixelScale, camera: &CameraOptions) -> Vec<Note> {
    let mut told: Vec<Note> = movie.notes().iter().cloned().map(Note::Warning).collect();
    if let [first, .., last] = movie.files() {
        let name = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
        let count = movie.files().len();
        let (first, last) = (name(first), name(last));
        told.push(Note::Notice(format!("{count} files are one movie: {first} to {last}")));
    }
    let said = movie.axes().pixel_size.filter(|_| scale == PixelScale::OfMovie);
    if let Some(size) = said {
        let (shown, source) = (shown(size.nanometres), size.source);
        let text = format!("pixels of {shown} nm, by {source}; `pixel_size` NM|px overrules it");
        told.push(Note::Notice(text));
    }
    told.extend(unusual(scale.of(movie)));
    told.extend(offered(movie.acquisition(), camera));
    told
}

/// What the metadata say of the camera where nothing else says it. It is not used: what programs write there is not always in these
/// units.
fn offered(found: &Acquisition, camera: &CameraOptions) -> Option<Note> {
    let has_maps = camera.maps.is_some();
    let offers = [
        ("baseline", found.baseline, camera.baseline, has_maps),
        ("sensitivity", found.sensitivity, camera.sensitivity, has_maps),
        ("em_gain", found.em_gain, camera.em_gain, false),
        ("read_noise", found.read_noise, camera.read_noise, has_maps),
    ];
    let wanted = offers.into_iter().filter(|(_, _, given, known)| given.is_none() && !known);
    let offers: Vec<String> = wanted
        .filter_map(|(name, said, ..)| said.map(|value| format!("`{name}` {value}")))
        .collect();
    let source = found.source.filter(|_| !offers.is_empty())?;
    Some(Note::Notice(format!(
        "{source} offers {}, which is not used unless it is given",
        offers.join(", ")
    )))
}

/// A warning where pixels have a size that is hardly right.
pub fn unusual(pixel_size: Option<f64>) -> Option<Note> {
    let size = pixel_size.filter(|size| !USUAL_PIXELS.contains(size))?;
    let shown = shown(size);
    Some(Note::Warning(format!("pixels of {shown} nm are unusual; `pixel_size` is in nanometres")))
}

/// What the frames of a movie are, of which a slice may be chosen, where it is not plain.
pub fn frames_are(movie: &Movie, slice: Option<usize>) -> Option<String> {
    let axes = movie.axes();
    let (slices, times) = (axes.slices, axes.times);
    (slice.is_none() && slices > 1 && times > 1).then(|| {
        format!("frames are {slices} z slices at each of {times} time points; `slice` N localizes one slice")
    })
}
