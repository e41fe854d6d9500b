//! What the metadata of a movie say of its camera, for those who ask for it.

use super::camera::CameraOptions;
use super::cameras::{KnownCamera, known};
use super::given::Given;
use super::options::LocalizeOptions;
use crate::CameraMap;
use crate::camera_maps::{self, CameraMapsProblem};
use crate::movie::Movie;
use crate::steps::{Note, PixelScale, Stack, StepError};

/// What is said twice is the same if it differs by less than this share.
const SAME: f64 = 1e-3;

/// A number of the camera, and what says it.
struct Said {
    option: &'static str,
    value: f64,
    source: String,
}

impl LocalizeOptions {
    /// The same with what the metadata of a movie say of its camera and its times, where that is asked for, and what is to be told of
    /// it.
    ///
    /// # Errors
    /// [`StepError::Input`] names what is neither given nor said.
    pub fn by_metadata(&self, movie: &Movie, name: &str) -> Result<(Self, Vec<Note>), StepError> {
        let (camera, notes) = self.camera.by_metadata(movie, self.pixel_size, name)?;
        Ok((self.clone().with_camera(camera).timed(movie, name)?, notes))
    }
}

impl CameraOptions {
    /// The same with what the metadata of a movie say, if that is asked for, and what is to be told of it. What is given stays.
    ///
    /// # Errors
    /// [`StepError::Input`] names what is neither given nor said.
    pub fn by_stack(
        &self,
        stack: &mut Stack,
        pixel_size: PixelScale,
    ) -> Result<(Self, Vec<Note>), StepError> {
        let name = stack.name().to_owned();
        stack.about(|movie| self.by_metadata(movie, pixel_size, &name))?
    }

    /// The same with what the metadata of a movie say, if that is asked for, and what is to be told of it. What is given stays.
    ///
    /// # Errors
    /// [`StepError::Input`] names what is neither given nor said.
    pub(crate) fn by_metadata(
        &self,
        movie: &Movie,
        pixel_size: PixelScale,
        name: &str,
    ) -> Result<(Self, Vec<Note>), StepError> {
        let mut all = self.clone();
        if all.from.take().is_none() {
            return Ok((all, Vec::new()));
        }
        let found = movie.acquisition();
        let cameras = known(found, self.cameras.as_deref())?;
        let by_file = |option: &'static str, value: Option<f64>| {
            let source = found.source.unwrap_or_default().to_owned();
            value.map(|value| Said { option, value, source })
        };
        let by_table = |option: &'static str, of: fn(&KnownCamera) -> Option<f64>| {
            let value = |one: &KnownCamera| {
                let source = format!("the table of cameras ({})", one.name);
                of(one).map(|value| Said { option, value, source })
            };
            cameras.iter().find_map(value)
        };
        let baseline = by_file("baseline", found.baseline)
            .or_else(|| by_table("baseline", |one| one.baseline));
        let sensitivity = by_file("sensitivity", found.sensitivity)
            .or_else(|| by_table("sensitivity", |one| one.sensitivity));
        let read_noise = by_file("read_noise", found.read_noise)
            .or_else(|| by_table("read_noise", |one| one.read_noise));
        let has_maps = self.maps.is_some();
        // What reads past the register has no such gain, whatever its settings hold.
        let mode = found.mode.as_deref().unwrap_or_default().to_lowercase();
        let plain = mode.contains("conventional") || mode.contains("standard ccd");
        let em_gain = by_file("em_gain", found.em_gain).filter(|_| !plain);
        let is_emccd = cameras.iter().any(|one| one.emccd) && !plain;
        let mut told = Told::default();
        if !has_maps {
            all.baseline = told.take(self.baseline, baseline, "baseline", true);
        }
        if !has_maps || self.maps.as_ref().is_some_and(lack_gain) {
            all.sensitivity = told.take(self.sensitivity, sensitivity, "sensitivity", true);
        }
        if !has_maps {
            all.read_noise = told.take(self.read_noise, read_noise, "read_noise", true);
        }
        all.em_gain = told.take(self.em_gain, em_gain, "em_gain", is_emccd);
        let said = movie.axes().pixel_size;
        match pixel_size {
            PixelScale::OfMovie if said.is_none() => told.missing.push("pixel_size"),
            PixelScale::Nanometres(given) => {
                let said = said.map(|size| Said {
                    option: "pixel_size",
                    value: size.nanometres,
                    source: size.source.to_string(),
                });
                told.take(Some(given), said, "pixel_size", false);
            }
            _ => {}
        }
        told.finish(name, found.camera.as_deref()).map(|notes| (all, notes))
    }
}

/// Whether maps are without a gain, so that one sensitivity is that of all pixels. What else may be wrong with them is said by who reads them.
fn lack_gain(maps: &Given<CameraMap>) -> bool {
    let Given::File(path) = maps else { return false };
    let found = camera_maps::read(path).map_err(|error| error.problem);
    matches!(found, Err(CameraMapsProblem::Missing { name: "gain", .. }))
}

/// What is to be told.
#[derive(Default)]
struct Told {
    taken: Vec<Said>,
    notes: Vec<Note>,
    missing: Vec<&'static str>,
}

impl Told {
    /// The number that counts.
    fn take(
        &mut self,
        given: Option<f64>,
        said: Option<Said>,
        option: &'static str,
        needed: bool,
    ) -> Option<f64> {
        match (given, said) {
            (Some(given), Some(Said { value, source, .. })) => {
                if (given - value).abs() > SAME * value.abs().max(given.abs()) {
                    let text = format!(
                        "`{option}` {given} is given and counts; by {source} it is {value}"
                    );
                    self.notes.push(Note::Warning(text));
                }
                Some(given)
            }
            (Some(given), None) => Some(given),
            (None, Some(said)) => {
                let value = said.value;
                self.taken.push(said);
                Some(value)
            }
            (None, None) => {
                if needed {
                    self.missing.push(option);
                }
                None
            }
        }
    }

    fn finish(mut self, name: &str, camera: Option<&str>) -> Result<Vec<Note>, StepError> {
        if !self.missing.is_empty() {
            let missing: Vec<String> =
                self.missing.iter().map(|option| format!("`{option}`")).collect();
            let missing = missing.join(", ");
            let camera = match camera {
                Some(camera) => format!("the camera, {camera}, is not known well enough"),
                None => "they name no camera".to_owned(),
            };
            let reason = format!(
                "the metadata do not say {missing}, and {camera}: give {missing}, or a table with your camera (`cameras` FILE)"
            );
            return Err(StepError::input(name, reason));
        }
        let mut sources: Vec<(String, Vec<String>)> = Vec::new();
        for Said { option, value, source } in self.taken {
            let text = format!("`{option}` {value}");
            match sources.iter_mut().find(|(known, _)| *known == source) {
                Some((_, all)) => all.push(text),
                None => sources.push((source, vec![text])),
            }
        }
        let taken = sources
            .into_iter()
            .map(|(source, all)| Note::Notice(format!("{}, by {source}", all.join(", "))));
        self.notes.extend(taken);
        Ok(self.notes)
    }
}
