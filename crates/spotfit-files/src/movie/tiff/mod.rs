//! Multi-page TIFF, BigTIFF, OME-TIFF, and ImageJ's stacks.

mod buffered;
mod cut;
mod decode;
mod failure;
mod format;
mod growing;
mod imagej;
mod images;
mod layout;
mod ome;
mod packed;
mod page;
mod pages;
mod read;
mod run;
mod set;
mod view;
mod zstd;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ::tiff::decoder::ifd::Value;
use ::tiff::tags::{CompressionMethod, Tag};

use super::follow::source::Attempt;
use super::format::{Format, Read, TIFF, extension};
use super::room::FrameType;
use super::{Acquisition, Dimensions, Movie, MovieAxes, MovieError, MovieOptions, Pixels, Source};
use super::{micro_manager, ndtiff};
use crate::place::Bytes;
use decode::{check_page, kind};
use failure::{undecodable, wrong};
use imagej::{ImageJ, Resolution};
use images::Images;
use layout::Layout;
use page::{Pages, decoding_limits};
use read::{Open, Paged};
use run::Run;
use set::{Described, Set};

pub(super) use read::TiffSource;

/// The format: one file, or several of which one tells of the others.
pub(super) const FORMAT: Format = Format {
    follow: Some(|path, options| Ok(Box::new(growing::GrowingTiff::open(path, options)?))),
    begins: Some(|path| match ndtiff::is_stack(path) {
        true => ndtiff::is_first_stack(path),
        false => set::numbered(path).is_none_or(|own| own.first(path).is_none()),
    }),
    new_files: set::new_files,
    ..Format::new(
        "TIFF",
        &TIFF,
        Read::Bytes(|bytes, path, options| open(bytes, path, None, options)),
    )
};

/// A folder of one movie in several files.
pub(super) const FOLDER: Format = Format {
    // OME-Zarr is one, too.
    index: |path| {
        (path.is_dir() && extension(path).as_deref() != Some("zarr")).then(|| path.to_owned())
    },
    follow: Some(|folder, options| {
        let (first, _) = set::first_in(folder).map_err(Attempt::not_yet)?;
        Ok(Box::new(growing::GrowingTiff::open(&first, options)?))
    }),
    begins: Some(|folder| set::first_in(folder).is_ok()),
    new_files: set::new_files,
    ..Format::new("TIFF", &[], Read::Path(open_folder))
};

/// Opens the one movie of a folder.
fn open_folder(folder: &Path, options: &MovieOptions) -> Result<Movie, MovieError> {
    let (first, names) = match set::first_in(folder) {
        Err(error @ MovieError::Wrong { .. }) => {
            let images = images::images_in(folder, options)?.ok_or(error)?;
            let first = folder.join(&images.names[0]);
            return open(Arc::new(File::open(&first)?), Some(&first), Some(&images), options);
        }
        found => found?,
    };
    let movie = Movie::open_with(first, options)?;
    set::refuse_others(&names, &movie.files)?;
    Ok(movie)
}

/// Opens a file as images, whatever it says of axes and of other files.
pub(super) fn open_image(path: &Path, options: &MovieOptions) -> Result<Movie, MovieError> {
    open(Arc::new(File::open(path)?), Some(path), Some(&Images::default()), options)
}

fn resolution(decoder: &mut Pages) -> Option<Resolution> {
    let mut ratio = |tag| match decoder.find_tag(tag).ok()?? {
        Value::Rational(number, of) => Some(f64::from(number) / f64::from(of)),
        _ => None,
    };
    let x = ratio(Tag::XResolution)?;
    let y = ratio(Tag::YResolution).unwrap_or(x);
    // The default is inches.
    let unit = decoder.find_tag_unsigned(Tag::ResolutionUnit).ok()?.unwrap_or(2);
    Some(Resolution { x, y, unit })
}

/// What Micro-Manager says of the first frame.
fn first_metadata(decoder: &mut Pages) -> Acquisition {
    let tag = Tag::from_u16_exhaustive(micro_manager::TAG);
    let text = decoder.find_tag(tag).ok().flatten().and_then(|value| match value {
        Value::Ascii(text) => Some(text),
        value => String::from_utf8(value.into_u8_vec().ok()?).ok(),
    });
    text.map_or_else(Acquisition::default, |text| micro_manager::acquisition(&text))
}

/// Opens a movie. The other files of a set can be found if the file has a `path`. Of numbered `images` it is the first.
fn open(
    bytes: Bytes,
    path: Option<&Path>,
    images: Option<&Images>,
    options: &MovieOptions,
) -> Result<Movie, MovieError> {
    let mut survey = pages::survey(&bytes, options.strict)?;
    let first = survey.pages.decoder(0, bytes.clone(), &survey.greys.ones.clone().into());
    let mut decoder = first.map_err(|error| undecodable(0, error))?;
    let size = decoder.dimensions().map_err(|error| undecodable(0, error))?;
    let (width, height) = (size.0 as usize, size.1 as usize);
    options.limits.check(width, height)?;
    let pixels = width * height;
    let mut decoder = decoder.with_limits(decoding_limits(pixels));
    check_page(&mut decoder).map_err(|reason| wrong(0, reason))?;

    let imagej = ImageJ::read(&survey.description);
    let mut acquisition = first_metadata(&mut decoder);
    if acquisition.source.is_none()
        && let Some(text) = &imagej
    {
        acquisition = text.acquisition();
    }
    let of_pixels = packed::bits(&mut decoder).map(u32::from);
    acquisition.significant_bits = of_pixels.or(acquisition.significant_bits);
    let kind = kind(&mut decoder);
    let signed = imagej.as_ref().is_some_and(|text| text.signed) && kind == FrameType::U16;
    let said = imagej.as_ref().map_or(Vec::new(), |text| text.notes.clone());
    let mut times = None;
    let resolution = resolution(&mut decoder);
    let mut pixel = resolution.and_then(|resolution| resolution.pixel(imagej.as_ref()));
    // What is said of one image says nothing of the others.
    let imagej = imagej.filter(|_| images.is_none());
    if images.is_some() {
        survey.description.clear();
    }
    let run = imagej.as_ref().and_then(|text| text.images.filter(|&images| images > 1));
    let one_page = survey.pages.places.len() == 1;
    let planes = survey.planes.unwrap_or(0);
    // Where the frames are there without their directories, those that are left do not count them.
    let behind = survey.run.filter(|_| images.is_none());
    let cut = behind.and_then(|_| survey.cut.take());
    let mut set = Set::find(path, survey, options)?;
    if let (Some(path), Some(images)) = (path, images) {
        set.add_images(path, images)?;
    }
    let (mut layout, mut open) = match (run, &set.ome, imagej) {
        (Some(images), _, Some(text)) if one_page && set.files.len() == 1 => {
            let run = Run { promised: images, pixels: pixels as u64, program: "ImageJ" };
            let (source, images, note) = run.open(&mut decoder, bytes, options.strict)?;
            // What is missing is said by the file's length, not by the number of pages.
            let mut layout = Layout::imagej(&text, images, note.is_some(), options)?;
            layout.notes.extend(note);
            set.pages = vec![images];
            (layout, Open::Run(source))
        }
        (None, None, None) if planes > 1 && set.files.len() == 1 => {
            let run = Run { promised: planes, pixels: pixels as u64, program: "MetaMorph" };
            let (source, planes, note) = run.open(&mut decoder, bytes, options.strict)?;
            let mut layout = Layout::plain(planes, options)?;
            layout.notes.extend(note);
            set.pages = vec![planes];
            (layout, Open::Run(source))
        }
        (_, described, imagej) => {
            let run = match behind.filter(|_| set.files.len() == 1) {
                Some(promised) => {
                    let program = "the file";
                    let found = Run { promised, pixels: pixels as u64, program };
                    let (source, whole, note) =
                        found.open(&mut decoder, bytes.clone(), options.strict)?;
                    set.notes.push(note.unwrap_or_else(|| {
                        format!("the file is cut off behind its {whole} frames, which are read")
                    }));
                    set.pages = vec![whole];
                    Some(source)
                }
                None => {
                    set.notes.extend(cut.map(|cut| format!("the file {cut}")));
                    None
                }
            };
            let total = set.pages.iter().sum();
            let layout = match (described, imagej) {
                (Some(Described { ome, image, parts }), _) => {
                    let (chosen, series) = (&ome.images[*image], ome.images.len());
                    if chosen.acquisition.source.is_some() {
                        let bits = acquisition.significant_bits;
                        acquisition = chosen.acquisition.clone();
                        acquisition.significant_bits = acquisition.significant_bits.or(bits);
                    }
                    pixel = chosen.pixel.map(|size| (size, ome::METADATA)).or(pixel);
                    let parts = (&parts[..], set.own);
                    let mut layout = Layout::ome(chosen, parts, &set.pages, series, options)?;
                    if options.position.is_none() {
                        layout.note_series(*image, series, path);
                    }
                    times = chosen.times(&layout);
                    layout
                }
                (None, Some(text)) => {
                    let several = set.files.len() > 1 || run.is_some();
                    Layout::imagej(&text, total, several, options)?
                }
                (None, None) => match images {
                    // The channel is chosen already.
                    Some(images) => {
                        let options = options.clone().with_channel(None);
                        let mut layout = Layout::plain(total, &options)?;
                        layout.axes.channels = images.channels;
                        layout
                    }
                    None => Layout::plain(total, options)?,
                },
            };
            // A file that names others need not be one of them.
            let is_own = set.files[set.own].as_deref() == path;
            let own = is_own.then_some((set.own, bytes));
            let stored = u64::from(CompressionMethod::None.to_u16());
            let packed = decoder.get_tag_u64(Tag::Compression).unwrap_or(stored) != stored;
            (layout, run.map_or_else(|| Open::Pages(Paged::new(own, packed)), Open::Run))
        }
    };
    if let Open::Run(source) = &mut open {
        source.adjust(signed.then_some(imagej::ADJUST));
    }
    let Layout { mut axes, order, frames, mut notes } = {
        layout.notes.splice(0..0, std::mem::take(&mut set.notes));
        layout.notes.extend(said);
        layout.notes.extend(set.greys[set.own].notes());
        layout
    };
    match pixel.map(|(size, source)| imagej::side(size, source)) {
        Some(Ok(size)) => axes.pixel_size = size,
        Some(Err(odd)) => notes.push(odd),
        None => {}
    }
    let mut end = 0;
    let ends = set.pages.iter().map(|pages| {
        end += pages;
        end
    });
    let ends = ends.collect();
    let files = set.files.iter().flatten().cloned().collect();
    let ones = set.greys.into_iter().map(|greys| greys.ones.into()).collect();
    let (files_of, places) = (set.files, set.places);
    let source = TiffSource {
        size,
        order,
        ends,
        files: files_of,
        places,
        ones,
        signed,
        frames,
        next: 0,
        open,
    };
    let dimensions = Dimensions(frames, height, width);
    let source = Source::Tiff(Box::new(source));
    let movie = Movie::new(source, dimensions, &options.limits)?;
    Ok(Movie { axes, acquisition, times, notes, files, ..movie })
}
