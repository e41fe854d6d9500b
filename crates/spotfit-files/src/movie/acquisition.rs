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
    /// What says all of this, in words.
    pub source: Option<&'static str>,
}

/// The longest name of a camera, or of its mode, that is kept.
const LONGEST: usize = 200;

impl Acquisition {
    /// What a source says. What cannot be is left out: times that are not positive or longer than a year, gains below 0.
    pub(super) fn by(mut self, source: &'static str) -> Self {
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
