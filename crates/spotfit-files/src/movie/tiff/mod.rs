//! Multi-page TIFF, BigTIFF, OME-TIFF, and ImageJ's stacks.

mod buffered;
mod failure;
pub(super) mod growing;
mod imagej;
mod layout;
mod ome;
mod pages;
mod run;
pub(super) mod set;

use std::fs::File;
use std::path::{Path, PathBuf};

use ::tiff::decoder::ifd::Value;
use ::tiff::decoder::{ChunkType, Decoder, DecodingResult, Limits};
use ::tiff::tags::Tag;
use ::tiff::{ColorType, TiffError};

use super::raw::RawSource;
use super::{
    Dimensions, MovieAxes, MovieError, MovieOptions, PixelSizeSource, Pixels, Reader, stack,
};
use crate::excerpt::excerpt;
use buffered::Buffered;
use failure::{undecodable, wrong};
use imagej::{ImageJ, Resolution};
use layout::{Layout, Order, Page};
use pages::Greys;
use set::{Described, Set};

/// A movie in TIFF files, of which one is open at a time.
pub(super) struct TiffSource {
    size: (u32, u32),
    order: Order,
    /// Pages up to the end of each file.
    ends: Vec<usize>,
    files: Vec<Option<PathBuf>>,
    /// Of each file.
    greys: Vec<Greys>,
    /// The next frame.
    next: usize,
    open: Open,
}

/// The file that is open.
enum Open {
    /// It is read page by page.
    Pages {
        decoder: Box<Pages>,
        file: usize,
        /// The page that the decoder is at, unless it failed.
        page: Option<usize>,
    },
    /// It is one run of pixels.
    Run {
        source: RawSource,
        /// The page that comes next.
        page: usize,
    },
}

/// A movie that was opened.
pub(super) struct Opened {
    pub(super) source: TiffSource,
    pub(super) dimensions: Dimensions,
    pub(super) axes: MovieAxes,
    pub(super) notes: Vec<String>,
    pub(super) files: Vec<PathBuf>,
}

/// The decoder of a file's pages.
type Pages = Decoder<Buffered<Reader>>;

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// The memory that a page may take: its pixels in the largest type, and twice that compressed, but some
/// megabytes for the lists of its strips in any case.
fn decoding_limits(pixels: usize) -> Limits {
    let mut limits = Limits::default();
    limits.decoding_buffer_size = pixels.saturating_mul(8).max(1 << 26);
    limits.intermediate_buffer_size = limits.decoding_buffer_size.saturating_mul(2);
    limits
}

/// The decoder of a file, at its first page. All pages in which values are stored as greys are grey.
fn decoder(reader: Reader, greys: &Greys) -> Result<Pages, TiffError> {
    Decoder::new(Buffered::new(reader, BUFFER)?.with_ones(greys.ones.clone()))
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

impl TiffSource {
    /// Opens a movie. The other files of a set can be found if the file has a `path`.
    pub(super) fn open(
        mut reader: Reader,
        path: Option<&Path>,
        options: &MovieOptions,
    ) -> Result<Opened, MovieError> {
        let survey = pages::survey(&mut reader)?;
        let mut decoder = decoder(reader, &survey.greys).map_err(|error| undecodable(0, error))?;
        let size = decoder.dimensions().map_err(|error| undecodable(0, error))?;
        let (width, height) = (size.0 as usize, size.1 as usize);
        options.limits.check(width, height)?;
        let pixels = width * height;
        let mut decoder = decoder.with_limits(decoding_limits(pixels));
        check_page(&mut decoder).map_err(|reason| wrong(0, reason))?;

        let imagej = ImageJ::read(&survey.description);
        let resolution = resolution(&mut decoder);
        let mut pixel = resolution.and_then(|resolution| resolution.pixel(imagej.as_ref()));
        let run = imagej.as_ref().and_then(|text| text.images.filter(|&images| images > 1));
        let (grey, planes) = ((survey.pages, survey.greys), survey.planes.unwrap_or(0));
        let mut set = Set::find(path, grey, &survey.description)?;
        let (mut layout, open) = match (run, &set.ome, imagej) {
            (Some(images), _, Some(text)) if survey.pages == 1 && set.files.len() == 1 => {
                let layout = Layout::imagej(&text, images, false, options)?;
                set.pages = vec![images];
                let source = run::open(decoder, (images, "ImageJ"), pixels as u64)?;
                (layout, Open::Run { source, page: 0 })
            }
            (None, None, None) if planes > 1 && set.files.len() == 1 => {
                let layout = Layout::plain(planes, options)?;
                set.pages = vec![planes];
                let source = run::open(decoder, (planes, "MetaMorph"), pixels as u64)?;
                (layout, Open::Run { source, page: 0 })
            }
            (_, described, imagej) => {
                let total = set.pages.iter().sum();
                let layout = match (described, imagej) {
                    (Some(Described { ome, image, parts }), _) => {
                        let (chosen, series) = (&ome.images[*image], ome.images.len());
                        pixel = chosen.pixel.map(|size| (size, PixelSizeSource::Ome)).or(pixel);
                        let parts = (&parts[..], set.own);
                        let mut layout = Layout::ome(chosen, parts, &set.pages, series, options)?;
                        layout.note_series(*image, series, path);
                        layout
                    }
                    (None, Some(text)) => {
                        Layout::imagej(&text, total, set.files.len() > 1, options)?
                    }
                    (None, None) => Layout::plain(total, options)?,
                };
                // A file that names others need not be one of them.
                let file = if set.files[set.own].as_deref() == path { set.own } else { usize::MAX };
                (layout, Open::Pages { decoder: Box::new(decoder), file, page: Some(0) })
            }
        };
        let Layout { mut axes, order, frames, mut notes } = {
            layout.notes.splice(0..0, std::mem::take(&mut set.notes));
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
        let greys = set.greys;
        let source = Self { size, order, ends, files: set.files, greys, next: 0, open };
        let dimensions = Dimensions(frames, height, width);
        Ok(Opened { source, dimensions, axes, notes, files })
    }

    pub(super) fn skip(&mut self, frames: usize) {
        self.next = self.next.saturating_add(frames);
    }

    pub(super) fn read(&mut self, shape: (usize, usize, usize)) -> Result<Pixels, MovieError> {
        let first = self.next;
        if let (Open::Run { source, page }, Order::Strided { step: 1, first: offset }) =
            (&mut self.open, &self.order)
        {
            let wanted = offset + first;
            source.skip(wanted - *page)?;
            let pixels = source.read(shape)?;
            *page = wanted + shape.0;
            self.next += shape.0;
            return Ok(pixels);
        }
        let mut collected: Option<Collected> = None;
        for frame in first..first + shape.0 {
            let Some(page) = self.order.page(frame, &self.ends) else {
                return Err(wrong(frame, "its page is missing"));
            };
            let read = self.page(page, (1, shape.1, shape.2)).and_then(|pixels| {
                Collected::add(&mut collected, pixels, shape.1 * shape.2).map_err(Problem::Page)
            });
            read.map_err(|problem| match problem {
                Problem::Movie(error) => error,
                Problem::Page(reason) => wrong(frame, reason + &self.which(frame, page)),
            })?;
            self.next = frame + 1;
        }
        collected.ok_or(MovieError::Empty)?.stacked(shape)
    }

    /// The page of a frame, where the frame's number does not say it.
    fn which(&self, frame: usize, page: Page) -> String {
        let Page { file, page } = page;
        let name = self.files.get(file).and_then(|path| path.as_deref()?.file_name());
        match name {
            Some(name) if self.files.len() > 1 => {
                let name = excerpt(&name.to_string_lossy());
                format!(" (page {} of {name})", page + 1)
            }
            _ if page != frame => format!(" (page {})", page + 1),
            _ => String::new(),
        }
    }

    /// One page.
    fn page(&mut self, wanted: Page, shape: (usize, usize, usize)) -> Result<Collected, Problem> {
        let Self { size, files, greys, open, .. } = self;
        let (open, at, page) = match open {
            Open::Run { source, page } => {
                let read = source.skip(wanted.page - *page).and_then(|()| source.read(shape));
                *page = wanted.page + 1;
                return Ok(read.map_err(Problem::Movie)?.into());
            }
            Open::Pages { decoder, file, page } => (decoder, file, page),
        };
        let said = |error: TiffError| Problem::Page(excerpt(&error.to_string()));
        if *at != wanted.file {
            let Some(path) = &files[wanted.file] else {
                return Err(Problem::Movie(MovieError::NotAFile));
            };
            let reader = File::open(path).map_err(|error| Problem::Movie(error.into()))?;
            let other = decoder(Box::new(reader), &greys[wanted.file]).map_err(said)?;
            **open = other.with_limits(decoding_limits(shape.1 * shape.2));
            (*at, *page) = (wanted.file, Some(0));
        }
        match page.take() {
            Some(at) if at == wanted.page => {}
            Some(at) if at + 1 == wanted.page => open.next_image().map_err(said)?,
            _ => open.seek_to_image(wanted.page).map_err(said)?,
        }
        *page = Some(wanted.page);
        decoded(open, *size).map_err(Problem::Page)
    }
}

/// The page that a decoder is at, if it is as large as the first frame and can be read.
fn decoded(decoder: &mut Pages, size: (u32, u32)) -> Result<Collected, String> {
    let said = |error: TiffError| excerpt(&error.to_string());
    let found = decoder.dimensions().map_err(said)?;
    if found != size {
        return Err(format!(
            "it is {}×{} pixels, but the first frame is {}×{}",
            found.0, found.1, size.0, size.1
        ));
    }
    check_page(decoder)?;
    Collected::new(decoder.read_image().map_err(said)?)
}

/// What went wrong while a page was read.
enum Problem {
    Movie(MovieError),
    /// The page is wrong.
    Page(String),
}

enum Collected {
    U8(Vec<u8>),
    U16(Vec<u16>),
    F32(Vec<f32>),
}

impl From<Pixels> for Collected {
    fn from(pixels: Pixels) -> Self {
        match pixels {
            Pixels::U8(frames) => Self::U8(frames.into_raw_vec_and_offset().0),
            Pixels::U16(frames) => Self::U16(frames.into_raw_vec_and_offset().0),
            Pixels::F32(frames) => Self::F32(frames.into_raw_vec_and_offset().0),
        }
    }
}

impl Collected {
    fn new(frame: DecodingResult) -> Result<Self, String> {
        macro_rules! converted {
            ($frame:ident) => {
                Self::F32($frame.into_iter().map(|p| p as f32).collect())
            };
        }
        Ok(match frame {
            DecodingResult::U8(frame) => Self::U8(frame),
            DecodingResult::U16(frame) => Self::U16(frame),
            DecodingResult::F32(frame) => Self::F32(frame),
            DecodingResult::U32(frame) => converted!(frame),
            DecodingResult::U64(frame) => converted!(frame),
            DecodingResult::I8(frame) => converted!(frame),
            DecodingResult::I16(frame) => converted!(frame),
            DecodingResult::I32(frame) => converted!(frame),
            DecodingResult::I64(frame) => converted!(frame),
            DecodingResult::F64(frame) => converted!(frame),
            DecodingResult::F16(_) => {
                return Err("floating point of 16 bits is not supported".to_owned());
            }
        })
    }

    /// Frames (frame, row, column).
    fn stacked(self, shape: (usize, usize, usize)) -> Result<Pixels, MovieError> {
        Ok(match self {
            Self::U8(pixels) => Pixels::U8(stack(shape, pixels)?),
            Self::U16(pixels) => Pixels::U16(stack(shape, pixels)?),
            Self::F32(pixels) => Pixels::F32(stack(shape, pixels)?),
        })
    }

    fn add(all: &mut Option<Self>, frame: Self, pixels: usize) -> Result<(), String> {
        let length = match &frame {
            Self::U8(frame) => frame.len(),
            Self::U16(frame) => frame.len(),
            Self::F32(frame) => frame.len(),
        };
        if length != pixels {
            return Err(format!("it has {length} values for {pixels} pixels"));
        }
        match (all.as_mut(), frame) {
            (None, frame) => *all = Some(frame),
            (Some(Self::U8(all)), Self::U8(mut frame)) => all.append(&mut frame),
            (Some(Self::U16(all)), Self::U16(mut frame)) => all.append(&mut frame),
            (Some(Self::F32(all)), Self::F32(mut frame)) => all.append(&mut frame),
            _ => return Err("its pixels are of another type than the first frame's".to_owned()),
        }
        Ok(())
    }
}

/// Refuses what is not grey, and tiles that are far larger than the frame: a row of one is held.
fn check_page(decoder: &mut Pages) -> Result<(), String> {
    let said = |error: TiffError| excerpt(&error.to_string());
    match decoder.colortype().map_err(said)? {
        ColorType::Gray(8 | 16 | 32 | 64) => {}
        ColorType::Gray(bits) => return Err(format!("{bits} bits a pixel are not supported")),
        other => {
            return Err(format!("it is a colour image ({other:?}); only grey ones can be read"));
        }
    }
    let (width, height) = decoder.dimensions().map_err(said)?;
    let (across, down) = decoder.chunk_dimensions();
    let pixels = |width, height| u64::from(width) * u64::from(height);
    let tiled = decoder.get_chunk_type() == ChunkType::Tile;
    if tiled && pixels(across, down) > pixels(width, height).max(1 << 22) {
        return Err(format!("its tiles of {across}×{down} pixels are larger than the frame"));
    }
    Ok(())
}
