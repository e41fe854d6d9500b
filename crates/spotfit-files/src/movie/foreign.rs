//! Common formats of other programs.

use std::fmt;

/// A format that is recognized by its name, but must be converted.
#[derive(Debug)]
pub struct Foreign {
    endings: &'static [&'static str],
    name: &'static str,
    /// Nothing where Bio-Formats converts it.
    way: Option<&'static str>,
}

/// [`Foreign`] in one line; Bio-Formats has the last of the endings.
const fn foreign(
    name: &'static str,
    endings: &'static [&'static str],
    way: Option<&'static str>,
) -> Foreign {
    Foreign { endings, name, way }
}

const FOREIGN: [Foreign; 12] = [
    foreign("Leica's LIF", &["lof", "xlef", "lif"], None),
    foreign("Olympus' OIF and OIB", &["oif", "oib"], None),
    foreign("Olympus' OIR and VSI", &["oir", "vsi"], None),
    foreign("Zeiss' LSM and ZVI", &["lsm", "zvi"], None),
    foreign("Imaris' IMS", &["ims"], None),
    foreign("DeltaVision's DV", &["dv"], None),
    foreign("HCImage's CXD", &["cxd"], None),
    foreign("OME-Zarr", &["zarr"], None),
    foreign("PCO's PCORAW and B16", &["pcoraw", "b16"], Some("export it from pco.camware as TIFF")),
    foreign("Andor's spooled SIFX", &["sifx"], Some("export it from Andor Solis as SIF or TIFF")),
    foreign(
        "Hamamatsu's DCIMG",
        &["dcimg"],
        Some(
            "export it from HCImage, or open it in Fiji with Hamamatsu's plugin, and save it as TIFF",
        ),
    ),
    foreign(
        "film (MP4, AVI and the like)",
        &["mp4", "m4v", "avi", "mov", "mkv", "wmv"],
        Some(
            "open it in Fiji (File > Import > AVI, or Movie (FFMPEG)), make it 8 or 16 bits and \
             save it as TIFF; compressed film has lost what photons are counted by",
        ),
    ),
];

impl Foreign {
    /// The format of files whose names end like this, in small letters.
    pub(super) fn of(ending: &str) -> Option<&'static Self> {
        FOREIGN.iter().find(|foreign| foreign.endings.contains(&ending))
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must be converted first: ", self.name)?;
        match (self.way, self.endings) {
            (None, [.., ending]) => write!(
                f,
                "open it in Fiji with Bio-Formats and save it as TIFF, or run Bio-Formats' \
                 'bfconvert movie.{ending} movie.ome.tif'"
            ),
            (way, _) => f.write_str(way.unwrap_or_default()),
        }
    }
}
