//! The programs whose tables are read.

use std::fmt;

/// The other program whose table a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherProgram {
    /// DECODE's HDF5.
    Decode,
    /// SMAP's `_sml.mat`, of MATLAB 7.3.
    Smap,
    /// storm-analysis' HDF5.
    StormAnalysis,
    /// PYME's `.h5r` and `.hdf`.
    Pyme,
    /// A `.smlm` file, as of ShareLoc.
    Smlm,
}

impl fmt::Display for OtherProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Decode => "DECODE",
            Self::Smap => "SMAP",
            Self::StormAnalysis => "storm-analysis",
            Self::Pyme => "PYME",
            Self::Smlm => "the SMLM format",
        })
    }
}
