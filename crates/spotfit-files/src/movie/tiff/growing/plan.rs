//! What the first page says of those that will come.

use std::path::{Path, PathBuf};

use super::super::failure::wrong;
use super::super::imagej::ImageJ;
use super::super::layout::{Layout, Order, PLAIN, Page};
use super::super::ome::{self, is_ome};
use super::super::set::{Told, in_folder, told};
use super::{MovieAxes, MovieError, MovieOptions};

/// The most planes whose places are held.
const MOST_PLANES: usize = 1 << 22;

/// Which pages will be which frames.
pub(super) struct Plan {
    pub(super) order: Order,
    pub(super) axes: MovieAxes,
    /// The number of frames, if the metadata say it.
    pub(super) promised: Option<usize>,
    /// The files that the metadata name, in their order; none if they name no others.
    pub(super) files: Vec<PathBuf>,
    /// Which of them has the metadata.
    pub(super) own: usize,
    /// Width and height of a pixel, if the description says it.
    pub(super) pixel: Option<((f64, f64), &'static str)>,
    pub(super) notes: Vec<String>,
}

impl Plan {
    /// By the description of the first page of a file.
    pub(super) fn new(
        path: &Path,
        description: &str,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let mut notes = Vec::new();
        if is_ome(description)
            && let Some(told) = told(Some(path), description, options, &mut notes)?
        {
            return Self::ome(path, &told, notes, options);
        }
        let Some(text) = ImageJ::read(description) else {
            return Ok(Self::of(Layout::plain(1, options)?, None, notes));
        };
        let planes = text.channels.saturating_mul(text.slices).saturating_mul(text.frames);
        // A description need not name axes at all.
        let planes = if planes > 1 { planes } else { text.images.unwrap_or(1) };
        let layout = Layout::imagej(&text, planes, false, options)?;
        let frames = layout.frames;
        Ok(Self::of(layout, Some(frames), notes))
    }

    fn of(layout: Layout, frames: Option<usize>, mut notes: Vec<String>) -> Self {
        notes.extend(layout.notes);
        Self {
            order: layout.order,
            axes: layout.axes,
            // One frame is what is said of a movie by programs that do not know how long it will be.
            promised: frames.filter(|&frames| frames > 1),
            files: Vec::new(),
            own: 0,
            pixel: None,
            notes,
        }
    }

    fn ome(
        path: &Path,
        told: &Told,
        mut notes: Vec<String>,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let Told { ome, image, named, is_own } = told;
        let (chosen, series) = (&ome.images[*image], ome.images.len());
        let planes = chosen.sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
        let planes = planes.filter(|&planes| planes <= MOST_PLANES).ok_or_else(|| {
            let reason = format!("the OME metadata promise more than {MOST_PLANES} planes");
            wrong(0, reason)
        })?;
        let several = named.len() > 1;
        if several && chosen.blocks.iter().any(|block| block.page.is_none()) {
            let reason = "the OME metadata do not say which planes each file has; read the movie when it is written";
            return Err(wrong(0, reason));
        }
        let (mut parts, mut own, mut files) = (vec![0; ome.files.len()], 0, Vec::new());
        for (place, file) in named.iter().enumerate().filter(|_| several) {
            match file {
                Some(file) => {
                    parts[*file] = place;
                    files.push(in_folder(path, &ome.files[*file].0)?);
                }
                None => {
                    own = place;
                    let mine = parts.iter_mut().zip(is_own).filter(|&(_, own)| *own);
                    mine.for_each(|(part, _)| *part = place);
                    files.push(path.to_owned());
                }
            }
        }
        // Each file may have all of them: what it has is not known before it is there.
        let pages = vec![planes; named.len().max(1)];
        let mut layout = Layout::ome(chosen, (&parts, own), &pages, series, options)?;
        if several {
            // Of pages that will not be there.
            layout.notes.clear();
        }
        layout.note_series(*image, series, Some(path));
        let frames = layout.frames;
        if let Order::Listed(pages) = &layout.order {
            let key = |page: &Page| (page.file, page.page);
            if pages.windows(2).any(|pair| key(&pair[0]) >= key(&pair[1])) {
                let reason = "the metadata put the frames in another order than that of the pages; read the movie when it is written";
                return Err(wrong(0, reason));
            }
            // Pages that the metadata do not know are frames of a movie of one channel in one file.
            let is_plain = pages.iter().enumerate().all(|(frame, page)| page.page == frame);
            if is_plain && !several && layout.axes.channels == 1 && series == 1 {
                layout.order = PLAIN;
            }
        }
        notes.append(&mut layout.notes);
        let pixel = chosen.pixel.map(|size| (size, ome::METADATA));
        Ok(Self { files, own, pixel, ..Self::of(layout, Some(frames), notes) })
    }
}

/// What Micro-Manager's file says at its beginning of the acquisition, of which everything else comes at its end.
pub(super) struct Summary {
    /// The number of frames, if it is a movie of one channel and one slice.
    pub(super) frames: Option<usize>,
    /// Channels and slices.
    pub(super) planes: usize,
}

impl Summary {
    /// By the bytes behind the header of a TIFF file, read by `read` from a place on.
    pub(super) fn read(
        little_endian: bool,
        read: impl Fn(u64, &mut [u8]) -> Result<usize, MovieError>,
    ) -> Result<Option<Self>, MovieError> {
        /// What stands before the length of the summary.
        const MARK: u32 = 2_355_492;
        const LONGEST: usize = 1 << 24;
        let mut head = [0; 8];
        if read(32, &mut head)? < head.len() {
            return Ok(None);
        }
        let number = |bytes: &[u8]| {
            let bytes = bytes.try_into().unwrap_or_default();
            if little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
        };
        let length = number(&head[4..]) as usize;
        if number(&head[..4]) != MARK || length > LONGEST {
            return Ok(None);
        }
        let mut text = vec![0; length];
        let got = read(40, &mut text)?;
        let json: Option<serde_json::Value> = serde_json::from_slice(&text[..got]).ok();
        let count = |name: &str| {
            let value = json.as_ref()?.get(name)?.as_u64()?;
            usize::try_from(value).ok().filter(|&count| count > 0)
        };
        let planes = count("Channels").unwrap_or(1).saturating_mul(count("Slices").unwrap_or(1));
        let frames = count("Frames").filter(|&frames| planes == 1 && frames > 1);
        Ok(Some(Self { frames, planes }))
    }
}
