//! Micro-Manager's metadata of a frame: an object of JSON, in TIFF files in the tag 51123.

use serde_json::{Map, Value};

use crate::movie::Acquisition;

/// Who says what the metadata say.
pub(super) const METADATA: &str = "Micro-Manager's metadata";

/// The tag that has it.
#[cfg(feature = "tiff")]
pub(super) const TAG: u16 = 51_123;
/// Properties that tell how cameras are read out.
const MODES: [&str; 9] = [
    "Sensitivity/DynamicRange",
    "Gain",
    "ScanMode",
    "SCAN MODE",
    "ReadoutMode",
    "Readout-Mode",
    "Output_Amplifier",
    "Pre-Amp-Gain",
    "Port",
];
/// The longest text that is read.
const LONGEST: usize = 1 << 20;

/// What the text says.
pub(super) fn acquisition(text: &str) -> Acquisition {
    let Some(values) = values(text) else { return Acquisition::default() };
    let camera = words(&values, "Camera").or_else(|| words(&values, "Core-Camera"));
    // Properties of a device begin with its label.
    let of_camera = |names: &[&str]| {
        let label = camera.as_deref()?;
        names.iter().find_map(|name| words(&values, &format!("{label}-{name}")))
    };
    let model = of_camera(&["CameraName", "CameraModel", "ChipName", "Camera"]);
    let gain = of_camera(&["MultiplierGain", "EMGain", "Gain"]).filter(|_| {
        // Of other cameras a gain is a mode, or an amplifier.
        let is_em = |key: &String| {
            key.contains("EMSwitch") || key.contains("EMGain") || key.contains("MultiplierGain")
        };
        values.keys().any(is_em) && of_camera(&["EMSwitch"]).as_deref() != Some("Off")
    });
    let modes = MODES.iter().filter(|&&name| name != "Gain" || gain.is_none());
    let modes = modes.filter_map(|name| Some(format!("{name} {}", of_camera(&[name])?)));
    let modes: Vec<String> = modes.collect();
    let binning = of_camera(&["Binning"]).or_else(|| words(&values, "Binning"));
    let found = Acquisition {
        exposure: number(&values, "Exposure-ms")
            .or_else(|| number(&values, "Exposure"))
            .map(|time| time / 1e3),
        frame_time: number(&values, "Interval_ms").map(|time| time / 1e3),
        em_gain: gain.and_then(|text| text.trim().parse().ok()),
        binning: binning.as_deref().and_then(sides),
        significant_bits: number(&values, "BitDepth").map(|bits| bits as u32),
        mode: Some(modes.join("; ")),
        camera: model.or(camera),
        ..Acquisition::default()
    };
    found.by(METADATA)
}

/// The object that the text is.
fn values(text: &str) -> Option<Map<String, Value>> {
    let text = Some(text).filter(|text| text.len() <= LONGEST)?;
    serde_json::from_str(text.trim_end_matches('\0')).ok()
}

/// The side of a pixel in nanometres.
pub(super) fn pixel_size(text: &str) -> Option<f64> {
    let values = values(text)?;
    Some(1e3 * number(&values, "PixelSizeUm").or_else(|| number(&values, "PixelSize_um"))?)
}

/// When the frame was taken, in seconds since the begin. The text, of which there is one for each frame, is not parsed as a whole.
pub(super) fn elapsed(text: &str) -> Option<f64> {
    let (_, rest) = text.split_once("\"ElapsedTime-ms\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().trim_start_matches('"');
    let end = rest.find(|one: char| !(one.is_ascii_digit() || ".eE+-".contains(one)))?;
    rest[..end].parse::<f64>().ok().map(|time| time / 1e3)
}

/// Binning as it is written: `2`, `2x2` or `2,2`.
fn sides(text: &str) -> Option<[u32; 2]> {
    let mut sides = text.split(['x', 'X', '×', ',']).map(|side| side.trim().parse().ok());
    let x: u32 = sides.next()??;
    Some([x, sides.next().unwrap_or(Some(x))?])
}

/// A value as text: old versions have it in an object.
fn words(values: &Map<String, Value>, name: &str) -> Option<String> {
    let value = values.get(name)?;
    let value = value.get("PropVal").unwrap_or(value);
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn number(values: &Map<String, Value>, name: &str) -> Option<f64> {
    words(values, name)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the versions' ways to write a property are read, and that the gain of a camera without EM gain is left out.
    #[test]
    fn properties_are_read() {
        let new = r#"{"Camera": "Andor", "Andor-CameraName": "DU897", "Exposure-ms": 30.5, "Andor-Gain": "200", "Andor-EMSwitch": "On", "Andor-Binning": "2x1"}"#;
        let found = acquisition(new);
        assert_eq!(found.camera.as_deref(), Some("DU897"));
        assert_eq!((found.exposure, found.em_gain), (Some(0.0305), Some(200.0)));
        assert_eq!(found.binning, Some([2, 1]));
        assert_eq!(found.source, Some(METADATA));
        let off = acquisition(&new.replace("\"On\"", "\"Off\""));
        assert_eq!((off.camera.as_deref(), off.em_gain), (Some("DU897"), None));
        let old = r#"{"Core-Camera": {"PropVal": "Zyla"}, "Zyla-Gain": {"PropVal": "4"}, "Exposure-ms": "10", "Binning": 1}"#;
        let found = acquisition(old);
        assert_eq!(found.camera.as_deref(), Some("Zyla"));
        assert_eq!((found.exposure, found.em_gain), (Some(0.01), None));
        let short = r#"{"Exposure": 20, "ElapsedTime-ms": "1520.5", "PixelSizeUm": 0.108}"#;
        assert_eq!(acquisition(short).exposure, Some(0.02));
        assert_eq!((elapsed(short), pixel_size(short)), (Some(1.5205), Some(108.0)));
        assert_eq!(elapsed(r#"{"ElapsedTime-ms":-12}"#), Some(-0.012));
        for wrong in
            ["", r#"{"ElapsedTime-ms""#, r#"{"ElapsedTime-ms": "#, r#"{"ElapsedTime-ms":7"#]
        {
            assert_eq!((elapsed(wrong), pixel_size(wrong)), (None, None), "{wrong}");
        }
        for wrong in ["", "[]", "{", r#"{"Exposure-ms": -1}"#, r#"{"Exposure-ms": "a"}"#] {
            assert_eq!(acquisition(wrong), Acquisition::default(), "{wrong}");
        }
    }
}
