//! Which pixels are defective, by the option `defects`.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use super::doubts::{Hears, Topic};
use super::given::Given;
use crate::localize::Defects;
use crate::movie::Pixels;
use crate::steps::{Note, Stack, StepError};
use crate::{AsWindows, CameraMap};

/// What is done about defective pixels, where something is said of them.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum DefectsOption {
    /// Nothing: all pixels are right.
    None,
    /// They are found in the first frames of the movie ([`Defects::find`]), and masked.
    Auto,
    /// Those of a mask are masked.
    #[cfg_attr(feature = "serde", serde(untagged))]
    Given(Given<Defects>),
}

impl FromStr for DefectsOption {
    type Err = std::convert::Infallible;

    /// `auto`, `none` or a file.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "none" => Self::None,
            "auto" => Self::Auto,
            path => Self::Given(Given::File(PathBuf::from(path))),
        })
    }
}

impl DefectsOption {
    /// The defective pixels, if somebody gave them.
    ///
    /// # Errors
    /// [`StepError`]: they cannot be read.
    pub(super) fn given(&self) -> Result<Option<Arc<Defects>>, StepError> {
        let Self::Given(given) = self else { return Ok(None) };
        given.read(|path| Defects::read(path).map_err(StepError::refused)).map(Some)
    }
}

/// The defective pixels of a movie, if they are to be found: besides those of a mask that was given, pixels that are not finite.
///
/// # Errors
/// [`StepError::Input`] for a movie whose frames can be read only once.
pub(crate) fn find(
    asked: Option<&DefectsOption>,
    given: Option<&Defects>,
    map: Option<&CameraMap>,
    movie: &Stack,
) -> Result<Option<Arc<Defects>>, StepError> {
    if let (Some(DefectsOption::Given(_)), Some(given)) = (asked, given) {
        // Whole numbers are finite.
        let first = movie.first_frames(false).filter(|first| matches!(first, Pixels::F32(_)));
        let frames = first.and_then(|_| movie.first_frames(true));
        let found = frames.map(|frames| Defects::find(frames.windows()));
        return Ok(found.map(|found| Arc::new(given.with_not_finite(&found))));
    }
    let Some(DefectsOption::Auto) = asked else { return Ok(None) };
    let frames = movie.first_frames(true).ok_or_else(|| {
        let reason = "`defects` auto looks at the first frames before the others: give a file, or `defects` with a mask";
        StepError::input(movie.name(), reason.to_owned())
    })?;
    let found = match map {
        Some(map) => Defects::find_mapped(frames.windows(), map),
        None => Defects::find(frames.windows()),
    };
    Ok(Some(Arc::new(found)))
}

/// Says which pixels are masked, or which should be.
pub(crate) fn tell(
    asked: Option<&DefectsOption>,
    masked: Option<&Defects>,
    seen: Option<&Pixels>,
    hears: &dyn Hears,
) {
    let hear_of_frames = |found: &Defects| {
        let text = found.frames_left_out();
        text.into_iter().for_each(|text| hears.hear(Topic::Defects, Note::Warning(text)));
    };
    match (asked, masked) {
        (Some(DefectsOption::Given(_)), Some(defects)) => {
            hear_of_frames(defects);
            if let Some(text) = defects.beside_mask() {
                hears.hear(Topic::Defects, Note::Warning(text));
            }
        }
        (Some(DefectsOption::Auto), Some(defects)) => {
            hear_of_frames(defects);
            let text = if defects.is_empty() {
                "no defective pixels in the first frames".to_owned()
            } else {
                let be = if defects.pixels().len() == 1 { "is" } else { "are" };
                format!("{defects}, which {be} masked")
            };
            hears.hear(Topic::Defects, Note::Notice(text));
        }
        (None, _) => {
            let found = seen.map(|frames| Defects::find(frames.windows()));
            found.iter().for_each(hear_of_frames);
            if let Some(found) = found.filter(|found| !found.is_empty()) {
                let text = format!(
                    "the first frames show {found}: `defects` auto masks them, and `defects` none leaves them as they are"
                );
                hears.hear(Topic::Defects, Note::Warning(text));
            }
        }
        _ => {}
    }
}
