//! The PSF of spots, by the option `psf`.

use std::ffi::OsString;

use super::given::Given;
use crate::psf::Psf;

/// The PSF with which spots are fitted, in place of a Gaussian.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum PsfOption {
    /// It is learnt from the movie itself ([`learn`](crate::steps::learn)). Spots have Gaussians where they tell too little, and a note says why.
    Learn,
    /// This one.
    #[cfg_attr(feature = "serde", serde(untagged))]
    Given(Given<Psf>),
}

/// `learn` or a file.
impl From<OsString> for PsfOption {
    fn from(word: OsString) -> Self {
        if word == "learn" { Self::Learn } else { Self::Given(word.into()) }
    }
}

impl PsfOption {
    /// The PSF or its file, if somebody gave it.
    pub fn given(&self) -> Option<&Given<Psf>> {
        match self {
            Self::Learn => None,
            Self::Given(given) => Some(given),
        }
    }
}
