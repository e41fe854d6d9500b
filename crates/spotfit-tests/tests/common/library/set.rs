//! TIFF files with metadata, as other programs write them.

use std::io::Cursor;

use tiff::encoder::{Rational, TiffEncoder, colortype};
use tiff::tags::Tag;

/// The size of the frames.
pub const WIDTH: u32 = 5;
pub const HEIGHT: u32 = 4;

/// A TIFF file whose pages are constant and hold these numbers, with a description and with the resolution x, y and
/// its unit.
pub fn pages(
    numbers: &[u16],
    description: &str,
    resolution: Option<(Rational, Rational, u16)>,
) -> Vec<u8> {
    frames(
        numbers.iter().map(|&n| vec![n; (WIDTH * HEIGHT) as usize]),
        (WIDTH, HEIGHT),
        description,
        resolution,
    )
}

/// A TIFF file with these pages.
pub fn frames(
    pages: impl IntoIterator<Item = Vec<u16>>,
    (width, height): (u32, u32),
    description: &str,
    resolution: Option<(Rational, Rational, u16)>,
) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).expect("a file in memory");
    for (number, page) in pages.into_iter().enumerate() {
        let mut image = encoder.new_image::<colortype::Gray16>(width, height).expect("an image");
        if number == 0 {
            if description.is_ascii() {
                image.encoder().write_tag(Tag::ImageDescription, description).expect("a tag");
            } else {
                let bytes = description.as_bytes();
                image.encoder().write_tag(Tag::ImageDescription, bytes).expect("a tag");
            }
            if let Some((x, y, unit)) = &resolution {
                let tags = image.encoder();
                tags.write_tag(Tag::XResolution, Rational { n: x.n, d: x.d }).expect("a tag");
                tags.write_tag(Tag::YResolution, Rational { n: y.n, d: y.d }).expect("a tag");
                tags.write_tag(Tag::ResolutionUnit, *unit).expect("a tag");
            }
        }
        image.write_data(&page).expect("pixels");
    }
    file.into_inner()
}

/// OME-XML of one image: its order, its sizes along z, c and t, more attributes, and its blocks.
pub fn ome(order: &str, [z, c, t]: [usize; 3], more: &str, blocks: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="urn:uuid:own"><Image ID="Image:0" Name="a"><Pixels ID="Pixels:0" DimensionOrder="{order}" Type="uint16" SizeX="{WIDTH}" SizeY="{HEIGHT}" SizeZ="{z}" SizeC="{c}" SizeT="{t}" {more}>{blocks}</Pixels></Image></OME>"#
    )
}

/// One plane of an image in a page of a file.
pub fn block([z, c, t]: [usize; 3], page: usize, file: &str) -> String {
    format!(
        r#"<TiffData FirstZ="{z}" FirstC="{c}" FirstT="{t}" IFD="{page}" PlaneCount="1"><UUID FileName="{file}">urn:uuid:{file}</UUID></TiffData>"#
    )
}
