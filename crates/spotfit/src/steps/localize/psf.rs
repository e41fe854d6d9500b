//! The PSF of spots, by the option `psf`.

use std::path::PathBuf;
use std::str::FromStr;

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

impl FromStr for PsfOption {
    type Err = std::convert::Infallible;

    /// `learn` or a file.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "learn" => Self::Learn,
            path => Self::Given(Given::File(PathBuf::from(path))),
        })
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
