//! How a movie was acquired, as far as its metadata say it.

use std::fmt;

/// How a movie was acquired, as far as its metadata say it. Nothing is computed with it unless somebody asks for that.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Acquisition {
    /// The camera's name.
    pub camera: Option<String>,
    /// How long a frame was exposed, in seconds.
    pub exposure: Option<f64>,
    /// From the begin of a frame to that of the next, in seconds.
    pub frame_time: Option<f64>,
    /// The value of a dark pixel, in ADU.
    pub baseline: Option<f64>,
    /// Photo-electrons per ADU.
    pub sensitivity: Option<f64>,
    /// The EM gain as it was set; not every camera has it calibrated.
    pub em_gain: Option<f64>,
    /// Read noise in photo-electrons.
    pub read_noise: Option<f64>,
    /// How many pixels of the camera are one, along x and y.
    pub binning: Option<[u32; 2]>,
    /// How many bits of the camera's numbers are significant, where they are not as many as types of numbers have.
    pub significant_bits: Option<u32>,
    /// How the camera was read out, in its own words: its gain, amplifier or speed.
    pub mode: Option<String>,
    /// What says all of this.
    #[serde(serialize_with = "words")]
    pub source: Option<AcquisitionSource>,
}

/// What says how a movie was acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcquisitionSource {
    /// The header of a SIF file.
    Sif,
    /// The header of a FITS file.
    Fits,
    /// The header of an SPE file.
    Spe,
    /// The metadata of an ND2 file.
    Nd2,
    /// The metadata of a CZI file.
    Czi,
    /// The OME metadata.
    Ome,
    /// Micro-Manager's metadata of the first frame.
    MicroManager,
    /// ImageJ's description.
    ImageJ,
}

impl fmt::Display for AcquisitionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sif => "the SIF header",
            Self::Fits => "the FITS header",
            Self::Spe => "the SPE header",
            Self::Nd2 => "the ND2 metadata",
            Self::Czi => "the CZI metadata",
            Self::Ome => "the OME metadata",
            Self::MicroManager => "Micro-Manager's metadata",
            Self::ImageJ => "ImageJ's description",
        })
    }
}

fn words<S: serde::Serializer>(
    source: &Option<AcquisitionSource>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match source {
        Some(source) => serializer.collect_str(source),
        None => serializer.serialize_none(),
    }
}

/// The longest name of a camera, or of its mode, that is kept.
const LONGEST: usize = 200;

impl Acquisition {
    /// What a source says. What cannot be is left out: times that are not positive or longer than a year, gains below 0.
    pub(super) fn by(mut self, source: AcquisitionSource) -> Self {
        let positive = |value: &f64| *value > 0.0 && *value < 3e7;
        self.exposure = self.exposure.filter(positive);
        self.frame_time = self.frame_time.filter(positive);
        self.sensitivity = self.sensitivity.filter(positive);
        // One is none.
        self.em_gain = self.em_gain.filter(|&gain| gain > 1.0 && gain < 1e6);
        self.read_noise = self.read_noise.filter(positive);
        self.baseline = self.baseline.filter(|value| value.is_finite());
        // As many as types of numbers have say nothing.
        let tells = |bits: &u32| (2..64).contains(bits) && ![8, 16, 32].contains(bits);
        self.significant_bits = self.significant_bits.filter(tells);
        self.binning = self.binning.filter(|sides| sides.iter().all(|&side| side > 0));
        let named = |name: String| {
            let plain = name.trim().chars().filter(|c| !c.is_control()).take(LONGEST);
            let name: String = plain.collect();
            (!name.is_empty()).then_some(name)
        };
        self.camera = self.camera.and_then(named);
        self.mode = self.mode.and_then(named);
        self.source = (self != Self::default()).then_some(source);
        self
    }
}

/// In one line, without its source: empty if nothing is known.
impl fmt::Display for Acquisition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |time: f64| format!("{} ms", (time * 1e8).round() / 1e5);
        let parts = [
            self.camera.clone(),
            self.exposure.map(|time| format!("exposure {}", milliseconds(time))),
            self.frame_time.map(|time| format!("a frame every {}", milliseconds(time))),
            self.baseline.map(|value| format!("baseline {value} ADU")),
            self.sensitivity.map(|value| format!("{value} photo-electrons per ADU")),
            self.em_gain.map(|value| format!("EM gain set to {value}")),
            self.read_noise.map(|value| format!("read noise {value} photo-electrons")),
            self.binning.filter(|&sides| sides != [1, 1]).map(|[x, y]| format!("binning {x}×{y}")),
            self.significant_bits.map(|bits| format!("{bits} significant bits")),
            self.mode.as_ref().map(|mode| format!("read out by {mode}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}
