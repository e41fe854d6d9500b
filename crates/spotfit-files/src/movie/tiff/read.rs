//! Reading the frames of TIFF files: every thread reads and decodes pages by itself.

use std::collections::VecDeque;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::ThreadPool;

use super::decode::{decode, decode_signed, kind};
use super::failure::{said, wrong};
use super::layout::{Order, Page};
use super::page::{Pages, Places, decoding_limits};
use super::{MovieError, Pixels};
use crate::excerpt::excerpt;
use crate::movie::raw::RawSource;
use crate::movie::room::{FrameType, Room, SpareBlocks, rooms};
use crate::movie::threads::try_each;
use crate::place::Bytes;

/// The most pixels of packed frames that are read ahead, for threads that would have nothing to do otherwise.
const AHEAD: usize = 1 << 26;

/// A movie in TIFF files.
pub(in crate::movie) struct TiffSource {
    pub(super) size: (u32, u32),
    pub(super) order: Order,
    /// Pages up to the end of each file.
    pub(super) ends: Vec<usize>,
    pub(super) files: Vec<Option<PathBuf>>,
    /// Of each file.
    pub(super) places: Vec<Places>,
    /// What is read as 1 of each file.
    pub(super) ones: Vec<Arc<[u64]>>,
    /// Whether unsigned numbers of 16 bits are signed ones, stored as ImageJ stores them.
    pub(super) signed: bool,
    pub(super) frames: usize,
    /// The next frame.
    pub(super) next: usize,
    pub(super) open: Open,
}

/// How the pages lie in the files.
pub(super) enum Open {
    /// Each has a directory.
    Pages(Paged),
    /// They are one run of pixels.
    Run(RawSource),
}

/// Pages of which each has a directory.
pub(super) struct Paged {
    /// The file that was read last, and its number.
    current: Option<(usize, Bytes)>,
    /// Whether decoding takes longer than reading.
    packed: bool,
    /// Blocks that were read ahead.
    ahead: VecDeque<Ahead>,
}

impl Paged {
    pub(super) fn new(current: Option<(usize, Bytes)>, packed: bool) -> Self {
        Self { current, packed, ahead: VecDeque::new() }
    }
}

/// So many frames from the first one on, or the frame that could not be read.
struct Ahead {
    first: usize,
    count: usize,
    pixels: Result<Pixels, (usize, MovieError)>,
}

/// What went wrong while a page was read.
enum Problem {
    Movie(MovieError),
    /// The page is wrong.
    Page(String),
}

impl TiffSource {
    pub(in crate::movie) fn skip(&mut self, frames: usize) {
        self.next = self.next.saturating_add(frames);
    }

    /// The next frames, if they lie in the file one after the other; it goes on behind them.
    pub(in crate::movie) fn take(&mut self, count: usize) -> Option<RawSource> {
        let (Open::Run(source), Order::Strided { step: 1, first, .. }) = (&self.open, &self.order)
        else {
            return None;
        };
        let mut stored = source.clone();
        stored.go_to(first + self.next);
        self.next += count;
        Some(stored)
    }

    pub(in crate::movie) fn read(
        &mut self,
        shape: (usize, usize, usize),
        pool: Option<&ThreadPool>,
        spare: &SpareBlocks,
    ) -> Result<Pixels, MovieError> {
        let first = self.next;
        let read = match (&mut self.open, &self.order) {
            (Open::Run(source), Order::Strided { step: 1, first: offset, .. }) => {
                source.go_to(offset + first);
                source.read(shape, pool, spare).map_err(|error| (first, error))
            }
            (Open::Run(source), _) => {
                let mut pixels = source.kind().any_frames(shape, spare)?;
                let parts = rooms(&mut pixels, shape.1 * shape.2);
                let read = |number, room| {
                    let Some(page) = self.order.page(first + number, &self.ends) else {
                        return Err(wrong(first + number, "its page is missing"));
                    };
                    source.frame(page.page, room)
                };
                let done = try_each(pool, parts, read);
                done.map(|()| pixels).map_err(|(number, error)| (first + number, error))
            }
            (Open::Pages(_), _) => self.block(shape, pool),
        };
        match read {
            Ok(pixels) => {
                self.next += shape.0;
                Ok(pixels)
            }
            Err((frame, error)) => {
                self.next = frame;
                Err(error)
            }
        }
    }

    /// The next block of pages, if it was not read ahead already.
    fn block(
        &mut self,
        shape: (usize, usize, usize),
        pool: Option<&ThreadPool>,
    ) -> Result<Pixels, (usize, MovieError)> {
        let (first, (count, ..)) = (self.next, shape);
        let mut ahead = match &mut self.open {
            Open::Pages(paged) => std::mem::take(&mut paged.ahead),
            Open::Run(_) => VecDeque::new(),
        };
        // Others were meant for a reader that has changed its mind.
        while ahead.front().is_some_and(|block| (block.first, block.count) != (first, count)) {
            ahead.pop_front();
        }
        if ahead.is_empty() {
            ahead = self.blocks(shape, pool).map_err(|error| (first, error))?.into();
        }
        let block = ahead.pop_front();
        if let Open::Pages(paged) = &mut self.open {
            paged.ahead = ahead;
        }
        block.map_or(Err((first, MovieError::Empty)), |block| block.pixels)
    }

    /// How many blocks are read at a time, so that every thread has a page.
    fn together(&self, (count, height, width): (usize, usize, usize), threads: usize) -> usize {
        let packed = matches!(&self.open, Open::Pages(paged) if paged.packed);
        let most = AHEAD / (count * height * width).max(1);
        if packed { threads.div_ceil(count).min(most).max(1) } else { 1 }
    }

    /// The blocks that come next, up to the first that is wrong.
    fn blocks(
        &mut self,
        shape: (usize, usize, usize),
        pool: Option<&ThreadPool>,
    ) -> Result<Vec<Ahead>, MovieError> {
        let (count, height, width) = shape;
        let together = self.together(shape, pool.map_or(1, ThreadPool::current_num_threads));
        let mut blocks = Vec::with_capacity(together);
        for number in 0..together {
            let first = self.next + number * count;
            let count = count.min(self.frames.saturating_sub(first));
            match self.kind(first).frames((count, height, width)) {
                Ok(pixels) if count > 0 => blocks.push((first, count, pixels)),
                Err(error) if number == 0 => return Err(error),
                _ => break,
            }
        }
        let parts = blocks.iter_mut().flat_map(|(first, _, pixels)| {
            let rooms = rooms(pixels, height * width).into_iter().enumerate();
            rooms.map(|(number, room)| (*first + number, room))
        });
        let read = |_, (frame, room)| self.frame(frame, room);
        let failed = try_each(pool, parts.collect(), read).err();
        let failed = failed.map(|(number, error)| (self.next + number, error));

        let last = blocks.last().map_or(self.next, |(first, count, _)| first + count - 1);
        self.stay_at(last);
        let wrong = failed.as_ref().map_or(usize::MAX, |&(frame, _)| frame);
        blocks.retain(|&(first, ..)| first <= wrong);
        let blocks = blocks.into_iter();
        let mut blocks: Vec<Ahead> = blocks
            .map(|(first, count, pixels)| Ahead { first, count, pixels: Ok(pixels) })
            .collect();
        if let (Some(failed), Some(block)) = (failed, blocks.last_mut()) {
            block.pixels = Err(failed);
        }
        Ok(blocks)
    }

    /// Keeps the file with a frame open.
    fn stay_at(&mut self, frame: usize) {
        let Some(page) = self.order.page(frame, &self.ends) else { return };
        let file = self.bytes(page.file).ok();
        if let (Open::Pages(paged), Some(bytes)) = (&mut self.open, file) {
            paged.current = Some((page.file, bytes));
        }
    }

    /// The file of a number.
    fn bytes(&self, number: usize) -> Result<Bytes, MovieError> {
        if let Open::Pages(Paged { current: Some((current, bytes)), .. }) = &self.open
            && *current == number
        {
            return Ok(bytes.clone());
        }
        let path = self.files.get(number).and_then(Option::as_ref);
        Ok(Arc::new(File::open(path.ok_or(MovieError::NotAFile)?)?))
    }

    /// The decoder of a page.
    fn decoder(&self, Page { file, page }: Page) -> Result<Pages, Problem> {
        let bytes = self.bytes(file).map_err(Problem::Movie)?;
        let decoder = self.places[file].decoder(page, bytes, &self.ones[file]);
        let decoder = decoder.map_err(|error| Problem::Page(said(error)))?;
        Ok(decoder.with_limits(decoding_limits(self.size.0 as usize * self.size.1 as usize)))
    }

    /// The type of a frame. Where it cannot be known, reading the frame says why.
    fn kind(&self, frame: usize) -> FrameType {
        let page = self.order.page(frame, &self.ends);
        let decoder = page.and_then(|page| self.decoder(page).ok());
        match decoder.map(|mut decoder| kind(&mut decoder)) {
            Some(FrameType::U16) if self.signed => FrameType::F32,
            kind => kind.unwrap_or(FrameType::F32),
        }
    }

    /// One frame.
    fn frame(&self, frame: usize, room: Room<'_>) -> Result<(), MovieError> {
        let Some(page) = self.order.page(frame, &self.ends) else {
            return Err(wrong(frame, "its page is missing"));
        };
        let decode = if self.signed { decode_signed } else { decode };
        let read = self
            .decoder(page)
            .and_then(|mut decoder| decode(&mut decoder, self.size, room).map_err(Problem::Page));
        read.map_err(|problem| match problem {
            Problem::Movie(error) => error,
            Problem::Page(reason) => wrong(frame, reason + &self.which(frame, page)),
        })
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
}
