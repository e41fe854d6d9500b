//! Formats by the names of files: supported formats, and common formats of other programs.

use std::fmt;
use std::path::Path;

/// The end of a file's name, in small letters.
pub(super) fn extension(path: &Path) -> Option<String> {
    path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase)
}

/// How the names of movies end, in small letters, whatever features there are. A folder, `NDTiff.index` and pipes may be movies, too.
pub const ENDINGS: [&str; 17] = [
    "tif", "tiff", "btf", "tf2", "tf8", "stk", "nd", "npy", "raw", "dax", "sif", "fits", "fit",
    "fts", "spe", "nd2", "czi",
];
/// Those of TIFF files.
#[cfg(feature = "tiff")]
const TIFF: [&str; 6] = ["tif", "tiff", "btf", "tf2", "tf8", "stk"];
/// Those that are followed besides.
const FOLLOWED: [&str; 3] = ["npy", "raw", "dax"];
/// Those of movies that are read when they are complete.
const COMPLETE: [&str; 7] = ["sif", "fits", "fit", "fts", "spe", "nd2", "czi"];

/// That of lists of files.
const LIST: &str = "nd";

fn ends(path: &Path, endings: &[&str]) -> bool {
    extension(path).is_some_and(|ending| endings.contains(&ending.as_str()))
}

/// Whether a file is called like a TIFF file.
#[cfg(feature = "tiff")]
pub(super) fn is_tiff(path: &Path) -> bool {
    ends(path, &TIFF)
}

/// Whether a file is called like a list of files.
pub(super) fn is_list(path: &Path) -> bool {
    ends(path, &[LIST])
}

/// Whether a file is called like those that are followed, without TIFF.
pub(super) fn is_followed(path: &Path) -> bool {
    ends(path, &FOLLOWED)
}

/// Whether a file is called like those that are read when they are complete.
pub(super) fn is_complete_only(path: &Path) -> bool {
    ends(path, &COMPLETE)
}

/// A format that is recognized by its name, but must be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// Leica, `.lif`, `.lof` and `.xlef`.
    Lif,
    /// Olympus, `.oif` and `.oib`.
    OifOib,
    /// Olympus, `.oir` and `.vsi`.
    OirVsi,
    /// Zeiss before CZI, `.lsm` and `.zvi`.
    LsmZvi,
    /// Imaris, `.ims`.
    Ims,
    /// DeltaVision, `.dv`.
    Dv,
    /// Hamamatsu's HCImage, `.cxd`.
    Cxd,
    /// PCO, `.pcoraw` and `.b16`.
    Pco,
    /// OME-Zarr, `.zarr`.
    Zarr,
    /// Andor's spooled frames, `.sifx`.
    Sifx,
    /// Hamamatsu, `.dcimg`.
    Dcimg,
    /// Film: `.mp4`, `.avi`, `.mov` and the like.
    Video,
}

impl Foreign {
    /// The format of a file whose name ends like this, in small letters.
    pub(super) fn of(extension: &str) -> Option<Self> {
        Some(match extension {
            "lif" | "lof" | "xlef" => Self::Lif,
            "oif" | "oib" => Self::OifOib,
            "oir" | "vsi" => Self::OirVsi,
            "lsm" | "zvi" => Self::LsmZvi,
            "ims" => Self::Ims,
            "dv" => Self::Dv,
            "cxd" => Self::Cxd,
            "pcoraw" | "b16" => Self::Pco,
            "zarr" => Self::Zarr,
            "sifx" => Self::Sifx,
            "dcimg" => Self::Dcimg,
            "mp4" | "m4v" | "avi" | "mov" | "mkv" | "wmv" => Self::Video,
            _ => return None,
        })
    }

    /// How to convert it.
    pub(super) fn way(self) -> String {
        let tool = |ending: &str| {
            format!(
                "open it in Fiji with Bio-Formats and save it as TIFF, or run Bio-Formats' \
                 'bfconvert movie.{ending} movie.ome.tif'"
            )
        };
        match self {
            Self::Lif => tool("lif"),
            Self::OifOib => tool("oib"),
            Self::OirVsi => tool("vsi"),
            Self::LsmZvi => tool("lsm"),
            Self::Ims => tool("ims"),
            Self::Dv => tool("dv"),
            Self::Cxd => tool("cxd"),
            Self::Zarr => tool("zarr"),
            Self::Pco => "export it from pco.camware as TIFF".to_owned(),
            Self::Sifx => "export it from Andor Solis as SIF or TIFF".to_owned(),
            Self::Dcimg => "export it from HCImage, or open it in Fiji with Hamamatsu's plugin, and save it as TIFF".to_owned(),
            Self::Video => "open it in Fiji (File > Import > AVI, or Movie (FFMPEG)), make it 8 or 16 bits and \
                            save it as TIFF; compressed film has lost what photons are counted by"
                .to_owned(),
        }
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lif => "Leica's LIF",
            Self::OifOib => "Olympus' OIF and OIB",
            Self::OirVsi => "Olympus' OIR and VSI",
            Self::LsmZvi => "Zeiss' LSM and ZVI",
            Self::Ims => "Imaris' IMS",
            Self::Dv => "DeltaVision's DV",
            Self::Cxd => "HCImage's CXD",
            Self::Pco => "PCO's PCORAW and B16",
            Self::Zarr => "OME-Zarr",
            Self::Sifx => "Andor's spooled SIFX",
            Self::Dcimg => "Hamamatsu's DCIMG",
            Self::Video => "film (MP4, AVI and the like)",
        })
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "tiff")]
    use super::*;

    /// Proves that every ending is that of a format.
    #[cfg(feature = "tiff")]
    #[test]
    fn endings_are_those_of_formats() {
        assert_eq!([&TIFF[..], &[LIST], &FOLLOWED, &COMPLETE].concat(), ENDINGS);
    }
}
