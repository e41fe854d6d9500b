//! ImageJ's description of its stacks, and the size of a pixel by the file's resolution.

use super::ome::{nanometres, seconds};
use crate::excerpt::excerpt;
use crate::movie::raw::Adjust;
use crate::movie::{Acquisition, PixelSize};

/// Who says what the description says.
const DESCRIPTION: &str = "ImageJ's description";
/// The same of the tags of resolution.
const RESOLUTION: &str = "the resolution of the TIFF file";

/// The largest pixel that a resolution per inch or centimetre can mean, in nanometres: coarser ones, such as 72 or 1200 dots per
/// inch, are how the image would be printed.
const LARGEST: f64 = 1e4;
/// A centimetre. Nobody prints by smaller units.
const CENTIMETRE: f64 = 1e7;

/// What is added to signed numbers of 16 bits where they are stored as unsigned ones.
pub(super) const SIGNED: i32 = 1 << 15;

/// What is done with such numbers.
pub(super) const ADJUST: Adjust =
    Adjust::Scaled { scale: 1.0, zero: -(SIGNED as f64), blank: None };

/// What the text says.
#[derive(Debug, PartialEq)]
pub(super) struct ImageJ {
    pub(super) images: Option<usize>,
    pub(super) channels: usize,
    pub(super) slices: usize,
    pub(super) frames: usize,
    /// Whether the slices of a channel follow each other, and not the channels of a slice.
    pub(super) slices_first: bool,
    /// Whether grey values of 16 bits are signed numbers to which [`SIGNED`] was added.
    pub(super) signed: bool,
    /// The units of the width and of the height of a pixel.
    units: [Option<String>; 2],
    /// From a frame to the next, in seconds.
    interval: Option<f64>,
    /// What is odd about it.
    pub(super) notes: Vec<String>,
}

impl ImageJ {
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix("ImageJ=")?;
        // As in files of properties, the last value of a key counts.
        let value = |key: &str| {
            let mut lines = text.lines().rev().filter_map(|line| line.split_once('='));
            let (_, value) = lines.find(|(name, _)| name.trim() == key)?;
            Some(unescaped(value.trim()))
        };
        let number = |key: &str| value(key)?.parse().ok().filter(|number: &f64| number.is_finite());
        let count = |key| number(key).filter(|&count| count >= 1.0).map(|count| count as usize);
        let mut notes = Vec::new();
        let order = value("order").unwrap_or_default().to_lowercase();
        if !["", "czt", "zct"].contains(&&*order) {
            notes.push(format!(
                "ImageJ's description has order={}, which ImageJ does not know; channels are read first, then slices, then frames",
                excerpt(&order)
            ));
        }
        let coefficients: Vec<f64> = (0..5).map_while(|n| number(&format!("c{n}"))).collect();
        let unit = value("vunit").filter(|_| number("cf").is_some());
        let straight = number("cf") == Some(0.0);
        let signed = unit.is_some() && straight && coefficients == [-f64::from(SIGNED), 1.0];
        let plain = unit.is_none() || straight && matches!(coefficients[..], [0.0, 1.0] | []);
        if let (Some(unit), false, false) = (unit, signed, plain) {
            notes.push(format!(
                "ImageJ's description has a calibration of grey values ({}); values are read as they are stored",
                excerpt(&unit)
            ));
        }
        let units = [value("unit"), value("yunit").or_else(|| value("unit"))];
        let interval = interval([number("finterval"), number("fps")], value("tunit"), &mut notes);
        Some(Self {
            images: count("images"),
            channels: count("channels").unwrap_or(1),
            slices: count("slices").unwrap_or(1),
            frames: count("frames").unwrap_or(1),
            slices_first: order == "zct",
            signed,
            units,
            interval,
            notes,
        })
    }

    /// How the frames were acquired.
    pub(super) fn acquisition(&self) -> Acquisition {
        let found = Acquisition { frame_time: self.interval, ..Acquisition::default() };
        found.by(DESCRIPTION)
    }
}

/// From a frame to the next in seconds, by the interval in its unit, or by frames per second.
fn interval(
    [interval, rate]: [Option<f64>; 2],
    unit: Option<String>,
    notes: &mut Vec<String>,
) -> Option<f64> {
    let positive = |number: &f64| *number > 0.0;
    let unit = unit.unwrap_or_else(|| "sec".to_owned());
    match (interval.filter(positive), rate.filter(positive), seconds(&unit)) {
        (Some(interval), _, Some(unit)) => Some(interval * unit),
        (Some(interval), _, None) => {
            notes.push(format!(
                "ImageJ's description gives {interval} {} from frame to frame, which is no time; it is left aside",
                excerpt(&unit)
            ));
            None
        }
        (None, Some(rate), _) => {
            notes.push(format!(
                "ImageJ's description has no interval between frames but fps={rate}, which is taken for it; ImageJ itself plays \
                 stacks at that speed"
            ));
            Some(rate.recip())
        }
        (None, None, _) => None,
    }
}

/// A value without the escapes of files of properties: `\\u00B5m` is µm.
fn unescaped(value: &str) -> String {
    let mut parts = value.split("\\u");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code.and_then(char::from_u32) {
            Some(one) => {
                text.push(one);
                text.push_str(&part[4..]);
            }
            None => text.extend(["\\u", part]),
        }
    }
    text
}

/// The resolution of a TIFF file: pixels per unit along x and y, and the tag `ResolutionUnit`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolution {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) unit: u16,
}

impl Resolution {
    /// Width and height of a pixel in nanometres, and what says so.
    pub(super) fn pixel(&self, imagej: Option<&ImageJ>) -> Option<((f64, f64), &'static str)> {
        let own = match self.unit {
            2 => Some(2.54e7),
            3 => Some(CENTIMETRE),
            _ => None,
        };
        let theirs = |axis: usize| nanometres(imagej?.units[axis].as_deref()?);
        // So Micro-Manager writes micrometres, and ImageJ reads them.
        let per_centimetre =
            self.unit == 3 && imagej.is_some_and(|text| text.units[0].as_deref() == Some("um"));
        let (units, source) = match (theirs(0), own) {
            (Some(x), _) if !per_centimetre => ((x, theirs(1).unwrap_or(x)), DESCRIPTION),
            (_, unit) => ((unit?, unit?), RESOLUTION),
        };
        let size = (units.0 / self.x, units.1 / self.y);
        let largest = if units.0 < CENTIMETRE { f64::MAX } else { LARGEST };
        let sound = |size: f64| size > 0.0 && size <= largest;
        (sound(size.0) && sound(size.1)).then_some((size, source))
    }
}

/// The side of a square pixel, or what is odd about it.
pub(super) fn side(
    (width, height): (f64, f64),
    source: &'static str,
) -> Result<Option<PixelSize>, String> {
    if (width / height - 1.0).abs() > 1e-3 {
        let odd = format!("pixels are {width} by {height} nm by {source}; they should be square");
        return Err(odd);
    }
    PixelSize::new(width, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that ImageJ's units and the file's own give the size of a pixel, and that resolutions of printing do not.
    #[test]
    fn resolutions_give_the_size_of_a_pixel() {
        let size = |unit: &str, x: f64, own: u16| {
            let text = ImageJ::read(&format!("ImageJ=1.54f\nimages=2\nunit={unit}\nloop=false\n"));
            let pixel = Resolution { x, y: x, unit: own }.pixel(text.as_ref());
            pixel.map(|((width, _), _)| (width * 1e3).round() / 1e3)
        };
        assert_eq!(size("micron", 9.25925926, 1), Some(108.0));
        assert_eq!(size("\\u00B5m", 10.0, 1), Some(100.0));
        assert_eq!(size("µm", 10.0, 2), Some(100.0));
        assert_eq!(size("nm", 0.00625, 1), Some(160.0));
        assert_eq!(size("pixel", 1.0, 1), None);
        assert_eq!(size("pixel", 1e5, 3), Some(100.0));
        assert_eq!(size("inch", 72.0, 2), None);
        assert_eq!(size("inch", 1200.0, 2), None);
        assert_eq!(size("micron", 0.0, 1), None);
        assert_eq!(size("micron", -1.0, 1), None);
        assert_eq!(size("micron", f64::NAN, 1), None);
        let source = RESOLUTION;
        assert_eq!(side((100.0, 100.05), source).unwrap().unwrap().nanometres, 100.0);
        assert!(side((100.0, 108.0), source).unwrap_err().contains("100 by 108 nm"));
    }

    /// Proves that only ImageJ's text is taken for it, and that counts that are none are 1.
    #[test]
    fn texts_are_read() {
        let text = "ImageJ=1.53c\nimages=24\nchannels=2\nslices=x\nframes=0\nhyperstack=true\n";
        let read = ImageJ::read(text).unwrap();
        assert_eq!((read.images, read.channels, read.slices, read.frames), (Some(24), 2, 1, 1));
        assert_eq!(ImageJ::read("images=24\nchannels=2\n"), None);
    }
}
