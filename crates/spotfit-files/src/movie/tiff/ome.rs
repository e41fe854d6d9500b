//! OME-XML, the description of an OME-TIFF (schema 2016-06): how many planes there are, and in which file and page
//! each of them is.

use std::collections::HashMap;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::excerpt::excerpt;
use crate::movie::Acquisition;

/// Who says what the metadata say.
pub(super) const METADATA: &str = "the OME metadata";

/// How deep elements may be nested; in the schema it is about ten.
const DEEPEST: usize = 64;

/// The most blocks of planes. One for each plane of a movie takes a hundred bytes of text, of which there are 64 MiB.
const MOST_BLOCKS: usize = 1 << 20;

/// What is read of the metadata.
#[derive(Debug, Default)]
pub(super) struct Ome {
    /// What this file is called in the set.
    pub(super) uuid: Option<String>,
    /// The file beside this one that has the metadata in its place.
    pub(super) elsewhere: Option<String>,
    pub(super) images: Vec<Image>,
    /// The files of the set that are named: name and UUID.
    pub(super) files: Vec<(String, String)>,
    /// The name of the first detector.
    pub(super) camera: Option<String>,
    /// Why reading ended early.
    pub(super) broken: Option<String>,
}

/// A series of planes: one position of the stage, for instance.
#[derive(Debug)]
pub(super) struct Image {
    /// Its name; that of a position, for instance.
    pub(super) name: String,
    /// Time points of the first slice and channel, and when they were taken in seconds.
    pub(super) times: Vec<(usize, f64)>,
    /// Slices, channels and time points.
    pub(super) sizes: [usize; 3],
    /// Which of `sizes` runs fastest, and so on.
    pub(super) order: [usize; 3],
    /// Width and height of a pixel in nanometres.
    pub(super) pixel: Option<(f64, f64)>,
    pub(super) acquisition: Acquisition,
    pub(super) blocks: Vec<Block>,
}

/// Consecutive planes in consecutive pages of a file.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Block {
    /// The first plane: slice, channel and time point.
    pub(super) first: [usize; 3],
    pub(super) page: Option<usize>,
    pub(super) count: Option<usize>,
    /// The file in [`Ome::files`], if one is named.
    pub(super) file: Option<usize>,
}

/// Whether a description is meant to be OME-XML.
pub(super) fn is_ome(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('<') && (text.contains("<OME") || text.contains("<ome:OME"))
}

impl Ome {
    /// Reads what can be read.
    pub(super) fn read(text: &str) -> Self {
        let mut ome = Self::default();
        ome.broken = ome.fill(text).err();
        for image in &mut ome.images {
            let mut found = std::mem::take(&mut image.acquisition);
            found.camera.clone_from(&ome.camera);
            image.acquisition = found.by(METADATA);
        }
        ome
    }

    fn fill(&mut self, text: &str) -> Result<(), String> {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        let (mut depth, mut blocks) = (0, 0);
        // Other elements may be called UUID, too.
        let mut block_depth = None;
        let mut in_uuid = false;
        let mut planes = Planes::default();
        let mut called = None;
        let mut known: HashMap<(String, String), usize> = HashMap::new();
        let mut named: Option<(String, String)> = None;
        loop {
            match reader.read_event().map_err(|error| excerpt(&error.to_string()))? {
                Event::Start(element) => {
                    depth += 1;
                    if depth > DEEPEST {
                        return Err(format!("elements are nested more than {DEEPEST} deep"));
                    }
                    match element.local_name().as_ref() {
                        "OME" if depth == 1 => self.uuid = attribute(&element, "UUID")?,
                        "BinaryOnly" => self.elsewhere = attribute(&element, "MetadataFile")?,
                        "Image" => called = attribute(&element, "Name")?,
                        "Pixels" => {
                            planes = Planes::default();
                            let name = called.take().unwrap_or_default();
                            self.images.push(Image { name, ..image(&element)? });
                        }
                        "Detector" if self.camera.is_none() => {
                            self.camera = Some(name_of(&element)?);
                        }
                        "DetectorSettings" => {
                            if let Some(image) = self.images.last_mut() {
                                settings(&mut image.acquisition, &element)?;
                            }
                        }
                        "Plane" => {
                            if let Some(image) = self.images.last_mut() {
                                planes.see(image, &element)?;
                            }
                        }
                        "TiffData" => {
                            blocks += 1;
                            if blocks > MOST_BLOCKS {
                                return Err(format!("there are more than {MOST_BLOCKS} TiffData"));
                            }
                            let image = self.images.last_mut().ok_or("TiffData without Pixels")?;
                            image.blocks.push(block(&element)?);
                            block_depth = Some(depth);
                        }
                        "UUID" if block_depth == Some(depth - 1) => {
                            // A block is in one file.
                            (in_uuid, block_depth) = (true, None);
                            let name = attribute(&element, "FileName")?;
                            named = Some((name.unwrap_or_default(), String::new()));
                        }
                        _ => {}
                    }
                }
                Event::Text(text) if in_uuid => {
                    if let Some((_, uuid)) = &mut named {
                        uuid.push_str(text.xml10_content().trim());
                    }
                }
                Event::End(_) => {
                    if in_uuid && let Some(name) = named.take() {
                        let next = self.files.len();
                        let index = *known.entry(name.clone()).or_insert(next);
                        if index == next {
                            self.files.push(name);
                        }
                        let blocks = self.images.last_mut().map(|image| &mut image.blocks);
                        if let Some(block) = blocks.and_then(|blocks| blocks.last_mut()) {
                            block.file = Some(index);
                        }
                    }
                    in_uuid = false;
                    if block_depth == Some(depth) {
                        block_depth = None;
                    }
                    depth = depth.saturating_sub(1);
                }
                Event::Eof if depth > 0 => return Err("it ends in the middle".to_owned()),
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }
}

/// The value of an attribute. Duplicates are not looked for: that takes the square of their number.
fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| excerpt(&error.to_string()))?;
        if attribute.key.as_ref() == name {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|error| excerpt(&error.to_string()))?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

fn number(element: &BytesStart<'_>, name: &str) -> Result<Option<usize>, String> {
    let Some(text) = attribute(element, name)? else { return Ok(None) };
    let number = text.trim().parse();
    number.map(Some).map_err(|_| format!("{name} is not a number: {}", excerpt(&text)))
}

fn image(element: &BytesStart<'_>) -> Result<Image, String> {
    let size = |name: &str| match number(element, name)? {
        Some(0) | None => Err(format!("{name} is missing or 0")),
        Some(size) => Ok(size),
    };
    let sizes = [size("SizeZ")?, size("SizeC")?, size("SizeT")?];
    let order = match attribute(element, "DimensionOrder")?.as_deref() {
        Some("XYZCT") => [0, 1, 2],
        Some("XYZTC") => [0, 2, 1],
        Some("XYCZT") => [1, 0, 2],
        Some("XYCTZ") => [1, 2, 0],
        Some("XYTZC") => [2, 0, 1],
        Some("XYTCZ") => [2, 1, 0],
        Some(other) => return Err(format!("DimensionOrder is {}", excerpt(other))),
        None => return Err("DimensionOrder is missing".to_owned()),
    };
    let length = |size: &str, unit: &str| -> Result<Option<f64>, String> {
        let Some(text) = attribute(element, size)? else { return Ok(None) };
        let unit = attribute(element, unit)?;
        let nanometres = nanometres(unit.as_deref().unwrap_or("µm"));
        Ok(text.trim().parse::<f64>().ok().zip(nanometres).map(|(size, unit)| size * unit))
    };
    let width = length("PhysicalSizeX", "PhysicalSizeXUnit")?;
    let height = length("PhysicalSizeY", "PhysicalSizeYUnit")?;
    let pixel = width.map(|width| (width, height.unwrap_or(width)));
    let frame_time = time(element, "TimeIncrement", "TimeIncrementUnit")?;
    let significant_bits = attribute(element, "SignificantBits")?;
    let significant_bits = significant_bits.and_then(|text| text.trim().parse().ok());
    let acquisition = Acquisition { frame_time, significant_bits, ..Acquisition::default() };
    Ok(Image {
        name: String::new(),
        times: Vec::new(),
        sizes,
        order,
        pixel,
        acquisition,
        blocks: Vec::new(),
    })
}

fn block(element: &BytesStart<'_>) -> Result<Block, String> {
    let first = |name| Ok::<_, String>(number(element, name)?.unwrap_or(0));
    Ok(Block {
        first: [first("FirstZ")?, first("FirstC")?, first("FirstT")?],
        page: number(element, "IFD")?,
        count: number(element, "PlaneCount")?,
        file: None,
    })
}

/// A time in seconds.
fn time(element: &BytesStart<'_>, name: &str, unit: &str) -> Result<Option<f64>, String> {
    let Some(text) = attribute(element, name)? else { return Ok(None) };
    let unit = attribute(element, unit)?;
    let Some(seconds) = seconds(unit.as_deref().unwrap_or("s")) else { return Ok(None) };
    Ok(text.trim().parse::<f64>().ok().map(|time| time * seconds))
}

/// What a detector is called.
fn name_of(element: &BytesStart<'_>) -> Result<String, String> {
    let maker = attribute(element, "Manufacturer")?.unwrap_or_default();
    let model = attribute(element, "Model")?.unwrap_or_default();
    let twice = model.to_lowercase().contains(&maker.to_lowercase());
    Ok(if twice { model } else { format!("{maker} {model}") }.trim().to_owned())
}

/// The settings of a detector; those of the first channel count.
fn settings(found: &mut Acquisition, element: &BytesStart<'_>) -> Result<(), String> {
    let number =
        |name| Ok::<_, String>(attribute(element, name)?.and_then(|text| text.trim().parse().ok()));
    found.baseline = found.baseline.or(number("Offset")?);
    let binning = attribute(element, "Binning")?;
    let sides = binning.as_deref().and_then(|text| text.split_once('x'));
    let sides = sides.and_then(|(x, y)| Some([x.trim().parse().ok()?, y.trim().parse().ok()?]));
    found.binning = found.binning.or(sides);
    Ok(())
}

/// The times of planes.
#[derive(Default)]
struct Planes {
    /// The first time point of a plane of the first slice and channel, and when it was taken.
    first: Option<(usize, f64)>,
}

impl Planes {
    fn see(&mut self, image: &mut Image, element: &BytesStart<'_>) -> Result<(), String> {
        let found = &mut image.acquisition;
        if found.exposure.is_none() {
            found.exposure = time(element, "ExposureTime", "ExposureTimeUnit")?;
        }
        let place = |name| {
            Ok::<_, String>(attribute(element, name)?.and_then(|text| text.trim().parse().ok()))
        };
        if place("TheC")? != Some(0) || place("TheZ")? != Some(0) {
            return Ok(());
        }
        let taken = time(element, "DeltaT", "DeltaTUnit")?;
        let Some((point, taken)) = place("TheT")?.zip(taken) else { return Ok(()) };
        image.times.push((point, taken));
        match self.first {
            None => self.first = Some((point, taken)),
            // The last plane tells it best.
            Some((first, begun)) if point > first => {
                found.frame_time = Some((taken - begun) / (point - first) as f64);
            }
            Some(_) => {}
        }
        Ok(())
    }
}

/// A unit of time, as OME and ImageJ write it, in seconds.
pub(super) fn seconds(unit: &str) -> Option<f64> {
    Some(match unit.trim() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "ms" | "msec" | "millisecond" | "milliseconds" => 1e-3,
        // The micro sign, and the Greek letter.
        "µs" | "μs" | "us" | "usec" | "µsec" | "μsec" | "microsecond" | "microseconds" => 1e-6,
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => 1e-9,
        "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// A unit of length, as OME and ImageJ write it, in nanometres.
pub(super) fn nanometres(unit: &str) -> Option<f64> {
    Some(match unit.trim() {
        // The micro sign, and the Greek letter.
        "µm" | "μm" | "um" | "micron" | "microns" | "micrometer" | "micrometre" => 1e3,
        "nm" | "nanometer" | "nanometre" => 1.0,
        "pm" => 1e-3,
        "Å" | "\u{212b}" => 0.1,
        "mm" | "millimeter" | "millimetre" => 1e6,
        "cm" | "centimeter" | "centimetre" => 1e7,
        "m" => 1e9,
        "inch" | "in" => 2.54e7,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIXELS: &str =
        r#"<Pixels DimensionOrder="XYCZT" SizeX="4" SizeY="3" SizeZ="1" SizeC="2" SizeT="3" "#;

    /// Proves that sizes, blocks, files and units are read, whatever the namespace, and that no UUID but a block's counts.
    #[test]
    fn what_matters_is_read() {
        let text = format!(
            r#"<?xml version="1.0" encoding="UTF-8"?><!-- a comment --><OME xmlns="http://x" UUID="urn:uuid:1">
            <Instrument><Detector Manufacturer="Andor" Model="iXon"/><Detector Model="other"/></Instrument><Image ID="Image:0">{PIXELS} PhysicalSizeX="0.108" PhysicalSizeY="108" PhysicalSizeYUnit="nm">
            <Channel><DetectorSettings Offset="100" Binning="2x2"/></Channel>
            <Plane TheC="0" TheZ="0" TheT="0" DeltaT="5" DeltaTUnit="ms" ExposureTime="20" ExposureTimeUnit="ms"/>
            <Plane TheC="1" TheZ="0" TheT="9" DeltaT="99"/><Plane TheC="0" TheZ="0" TheT="2" DeltaT="0.065"/><TiffData FirstC="1" FirstT="2" IFD="5" PlaneCount="1"><UUID FileName="a &amp; b.tif">urn:uuid:1</UUID>
            </TiffData><TiffData/></Pixels></Image><Other><UUID FileName="c.tif">2</UUID></Other></OME>"#
        );
        let ome = Ome::read(&text);
        assert_eq!(ome.broken, None);
        assert_eq!(ome.uuid.as_deref(), Some("urn:uuid:1"));
        assert_eq!(ome.files, [("a & b.tif".to_owned(), "urn:uuid:1".to_owned())]);
        let [image] = &ome.images[..] else { panic!("{ome:?}") };
        assert_eq!((image.sizes, image.order), ([1, 2, 3], [1, 0, 2]));
        assert_eq!(image.pixel, Some((108.0, 108.0)));
        let Acquisition { camera, exposure, frame_time, baseline, binning, .. } =
            &image.acquisition;
        assert_eq!(
            (camera.as_deref(), *exposure, *baseline),
            (Some("Andor iXon"), Some(0.02), Some(100.0))
        );
        assert!((frame_time.expect("a time") - 0.03).abs() < 1e-12 && *binning == Some([2, 2]));
        let [first, second] = image.blocks[..] else { panic!("{image:?}") };
        assert_eq!((first.first, first.page, first.count), ([0, 1, 2], Some(5), Some(1)));
        assert_eq!((first.file, second.file, second.page), (Some(0), None, None));
    }

    /// Proves that whatever is wrong is said in a few words, that what came before it is kept, and that neither depth,
    /// nor many attributes, nor entities take long.
    #[test]
    fn broken_metadata_are_said_to_be() {
        let deep = "<a>".repeat(100_000);
        let many = format!("<OME {}/>", "a='1' ".repeat(200_000));
        let blocks = format!("<OME>{PIXELS}>{}", "<TiffData/>".repeat((1 << 20) + 1));
        let lengthy = format!("<OME>{}/></OME>", PIXELS.replace("XYCZT", &"Z".repeat(9999)));
        for (text, says) in [
            ("<OME>", "in the middle"),
            ("<OME></Image>", ""),
            ("<OME><TiffData/></OME>", "TiffData without Pixels"),
            ("<OME><Pixels SizeZ='1' SizeC='0' SizeT='2'/></OME>", "SizeC"),
            ("<OME><Pixels SizeZ='1' SizeC='-3' SizeT='2'/></OME>", "SizeC is not a number: -3"),
            (&lengthy, "DimensionOrder is ZZZ"),
            (&deep, "nested"),
            (&blocks, "more than 1048576 TiffData"),
            ("<!DOCTYPE x [<!ENTITY a 'b'>]><OME><Pixels SizeZ='&a;'/></OME>", "a"),
        ] {
            let broken = Ome::read(text).broken.unwrap_or_else(|| panic!("{}", excerpt(text)));
            assert!(broken.contains(says) && broken.chars().count() < 120, "{broken}");
        }
        assert_eq!(Ome::read(&many).broken, None);
        let cut = Ome::read(&format!("<OME><Image>{PIXELS}><TiffData"));
        assert!(cut.broken.is_some() && cut.images[0].sizes == [1, 2, 3]);
    }
}
