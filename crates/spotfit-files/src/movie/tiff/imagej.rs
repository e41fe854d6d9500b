//! ImageJ's description of its stacks, and the size of a pixel by the file's resolution.

use super::ome::nanometres;
use crate::movie::{Acquisition, AcquisitionSource, PixelSize, PixelSizeSource};

/// The largest pixel that a resolution per inch or centimetre can mean, in nanometres: coarser ones, such as 72 or 1200 dots per
/// inch, are how the image would be printed.
const LARGEST: f64 = 1e4;
/// A centimetre. Nobody prints by smaller units.
const CENTIMETRE: f64 = 1e7;

/// What the text says.
#[derive(Debug, PartialEq)]
pub(super) struct ImageJ {
    pub(super) images: Option<usize>,
    pub(super) channels: usize,
    pub(super) slices: usize,
    pub(super) frames: usize,
    unit: Option<String>,
    /// From a frame to the next, in seconds.
    interval: Option<f64>,
}

impl ImageJ {
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix("ImageJ=")?;
        let value = |key: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once('='));
            lines.find_map(|(name, value)| (name == key).then_some(value.trim()))
        };
        let count = |key| value(key)?.parse().ok().filter(|&count: &usize| count > 0);
        let number = |key| value(key)?.parse().ok().filter(|&number: &f64| number > 0.0);
        Some(Self {
            images: count("images"),
            channels: count("channels").unwrap_or(1),
            slices: count("slices").unwrap_or(1),
            frames: count("frames").unwrap_or(1),
            unit: value("unit").map(str::to_owned),
            interval: number("finterval").or_else(|| number("fps").map(f64::recip)),
        })
    }

    /// How the frames were acquired.
    pub(super) fn acquisition(&self) -> Acquisition {
        let found = Acquisition { frame_time: self.interval, ..Acquisition::default() };
        found.by(AcquisitionSource::ImageJ)
    }
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
    pub(super) fn pixel(&self, imagej: Option<&ImageJ>) -> Option<((f64, f64), PixelSizeSource)> {
        let own = match self.unit {
            2 => Some(2.54e7),
            3 => Some(CENTIMETRE),
            _ => None,
        };
        let theirs = imagej.and_then(|text| nanometres(text.unit.as_deref()?));
        let (unit, source) = match (theirs, own) {
            (Some(unit), _) => (unit, PixelSizeSource::ImageJ),
            (None, unit) => (unit?, PixelSizeSource::Resolution),
        };
        let size = (unit / self.x, unit / self.y);
        let largest = if unit < CENTIMETRE { f64::MAX } else { LARGEST };
        let sound = |size: f64| size > 0.0 && size <= largest;
        (sound(size.0) && sound(size.1)).then_some((size, source))
    }
}

/// The side of a square pixel, or what is odd about it.
pub(super) fn side(
    (width, height): (f64, f64),
    source: PixelSizeSource,
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
        let source = PixelSizeSource::Resolution;
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
