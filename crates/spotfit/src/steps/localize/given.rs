//! Files that options name, and the content of such files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::steps::StepError;

/// A file that an option names, or the content of such a file. Only files are serialized.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged, bound = ""))]
pub enum Given<T> {
    /// The file.
    File(PathBuf),
    /// Its content.
    #[cfg_attr(feature = "serde", serde(skip))]
    Content(Arc<T>),
}

impl<T> From<OsString> for Given<T> {
    fn from(file: OsString) -> Self {
        Self::File(file.into())
    }
}

impl<T> Given<T> {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Content(_) => None,
        }
    }

    pub(super) fn read(
        &self,
        read: impl FnOnce(&Path) -> Result<T, StepError>,
    ) -> Result<Arc<T>, StepError> {
        match self {
            Self::File(path) => read(path).map(Arc::new),
            Self::Content(content) => Ok(content.clone()),
        }
    }
}
