//! TIFF files of which more pages come.

mod chain;
mod directory;
mod plan;

use std::io;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

use super::decode::{OTHER_TYPE, check_page, decode, decode_signed, kind};
use super::failure::wrong;
use super::imagej::{self, ImageJ};
use super::layout::{Order, Page};
use super::set::numbered;
use super::{MovieAxes, MovieError, MovieOptions, Pixels, resolution, undecodable};
use crate::movie::Movie;
use crate::movie::follow::source::{Attempt, Grows, Growth, Progress};
use crate::movie::follow::watched::Watched;
use crate::movie::room::{FrameType, rooms};
use chain::{Chain, Next, limited};
use directory::Directory;
use plan::{Plan, Summary};

/// The frames of TIFF files, as they come.
pub(super) struct GrowingTiff {
    growth: Growth,
    options: MovieOptions,
    size: (u32, u32),
    /// Whether unsigned numbers of 16 bits are signed ones, stored as ImageJ stores them.
    signed: bool,
    plan: Plan,
    /// The file that is read, its number, and the pages of all files before it.
    chain: Chain,
    file: usize,
    before: usize,
    /// The file after it, if that is there.
    following: Option<Chain>,
    /// The frames that may lie behind the only directory, by the metadata, and how long the file was when they were looked for.
    run: Option<(usize, u64)>,
    /// The movie, once it was found to be whole.
    whole: Option<Box<Movie>>,
    /// What was wrong with a frame after those that were read.
    failed: Option<MovieError>,
}

impl Grows for GrowingTiff {
    fn growth(&self) -> &Growth {
        &self.growth
    }

    fn growth_mut(&mut self) -> &mut Growth {
        &mut self.growth
    }

    fn look(&mut self) -> Result<(usize, u64), MovieError> {
        let frame = self.growth.next;
        self.chain.file.check_name(frame)?;
        Ok((self.file, self.chain.file.measure(frame)?))
    }

    fn read(&mut self, most: usize) -> Result<Option<Pixels>, MovieError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.is_run()? {
            let block = self.whole.as_mut().map_or(Ok(None), |movie| movie.read(most))?;
            self.growth.progress = Progress { missing: None, is_done: block.is_none() };
            self.growth.next += block.as_ref().map_or(0, |block| block.pixels.dim().0);
            return Ok(block.map(|block| block.pixels));
        }
        let (mut all, mut count): (Option<Pixels>, _) = (None, 0);
        while count < most {
            let added = self.frame().and_then(|pixels| {
                let Some(pixels) = pixels else { return Ok(false) };
                match &mut all {
                    None => all = Some(pixels),
                    Some(all) if discriminant(all) == discriminant(&pixels) => {
                        all.append(&pixels)?;
                    }
                    Some(_) => return Err(wrong(self.growth.next, OTHER_TYPE)),
                }
                self.growth.next += 1;
                Ok(true)
            });
            match added {
                Ok(true) => count += 1,
                Ok(false) => break,
                Err(error) if count == 0 => return Err(error),
                // What came before it is right.
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok(all)
    }
}

impl GrowingTiff {
    /// Opens a file when its first page is there.
    pub(super) fn open(path: &Path, options: &MovieOptions) -> Result<Self, Attempt> {
        let mut chain = Chain::new(Watched::open(path).map_err(Attempt::not_yet)?);
        let first = match chain.next(0).map_err(Attempt::not_yet)? {
            Next::Page(first) => first,
            Next::Nothing => return Err(Attempt::NotYet(wrong(0, "there is no page yet"))),
            Next::Part(missing) => {
                let reason = format!("its page is not whole: {missing} is missing");
                return Err(Attempt::NotYet(wrong(0, reason)));
            }
        };
        Ok(Self::with_first(path, options, chain, &first)?)
    }

    fn with_first(
        path: &Path,
        options: &MovieOptions,
        chain: Chain,
        first: &Directory,
    ) -> Result<Self, MovieError> {
        let mut decoder = chain.decoder(first, 0)?;
        let size = decoder.dimensions().map_err(|error| undecodable(0, error))?;
        let (width, height) = (size.0 as usize, size.1 as usize);
        if width == 0 || height == 0 {
            return Err(MovieError::Empty);
        }
        options.limits.check(width, height)?;
        let mut decoder = limited(decoder, width * height);
        check_page(&mut decoder).map_err(|reason| wrong(0, reason))?;
        let description = chain.description(first)?;
        let mut plan = Plan::new(path, &description, options)?;
        let imagej = ImageJ::read(&description);
        let summary =
            Summary::read(first.is_little_endian(), |at, bytes| chain.file.read_at(at, bytes, 0))?;
        // Where there is a description, the acquisition has ended, or another program has written it.
        let summary = summary.filter(|_| description.is_empty());
        if let Some(Summary { frames, planes }) = summary {
            if planes > 1 {
                let reason = "Micro-Manager says at the end which pages are of which channel and slice; read the movie when it is written";
                return Err(wrong(0, reason));
            }
            plan.promised = frames;
        }
        let images = imagej.as_ref().and_then(|text| text.images).filter(|&images| images > 1);
        let run = images.or_else(|| first.planes()).filter(|_| plan.files.is_empty());
        let resolution = resolution(&mut decoder).filter(|_| summary.is_none());
        let pixel = resolution.and_then(|resolution| resolution.pixel(imagej.as_ref()));
        let mut notes = std::mem::take(&mut plan.notes);
        notes.extend(first.greys().notes());
        notes.extend(imagej.iter().flat_map(|text| text.notes.iter().cloned()));
        let mut axes = MovieAxes { pixel_size: None, ..plan.axes };
        match plan.pixel.or(pixel).map(|(size, source)| imagej::side(size, source)) {
            Some(Ok(size)) => axes.pixel_size = size,
            Some(Err(odd)) => notes.push(odd),
            None => {}
        }
        axes.times = plan.promised.map_or(0, |frames| match options.slice {
            Some(_) => frames,
            None => frames / axes.slices.max(1),
        });
        let growth = Growth {
            path: path.to_owned(),
            size: (width, height),
            axes,
            promised: plan.promised,
            next: 0,
            files: Vec::new(),
            progress: Progress::default(),
            ends_with_metadata: summary.is_some(),
            notes,
        };
        Ok(Self {
            growth,
            options: options.clone(),
            size,
            signed: imagej.is_some_and(|text| text.signed),
            chain,
            file: plan.own,
            before: 0,
            following: None,
            run: run.map(|frames| (frames, 0)),
            whole: None,
            failed: None,
            plan,
        })
    }

    /// Width and height.
    fn size(&self) -> (usize, usize) {
        (self.size.0 as usize, self.size.1 as usize)
    }

    /// The next frame, if it is there.
    fn frame(&mut self) -> Result<Option<Pixels>, MovieError> {
        let frame = self.growth.next;
        loop {
            if !self.is_at_file(frame)? {
                return Ok(None);
            }
            let part = match self.chain.next(frame)? {
                Next::Page(directory) if self.is_left_out(&directory) => {
                    self.chain.leave(&directory);
                    continue;
                }
                Next::Page(directory) => {
                    let wanted = self.wants();
                    let pixels = wanted.then(|| self.pixels(&directory, frame)).transpose()?;
                    self.chain.take(&directory);
                    if let Some(pixels) = pixels {
                        self.note_file();
                        return Ok(Some(pixels));
                    }
                    continue;
                }
                Next::Part(missing) => Some(missing),
                Next::Nothing => None,
            };
            // A writer ends one file before it begins the next: what is there of the first is whole by then.
            if self.has_following(frame)? {
                if !self.chain.is_left {
                    self.chain.is_left = true;
                    continue;
                }
                if let Some(following) = self.following.take_if(|_| part.is_none()) {
                    self.before += self.chain.pages;
                    self.file += 1;
                    self.chain = following;
                    continue;
                }
            }
            let is_done = part.is_none() && self.plan.promised == Some(frame);
            self.growth.progress = Progress { missing: part, is_done };
            return Ok(None);
        }
    }

    /// Whether the file that is read is the one with the next frame, as far as the metadata name files.
    fn is_at_file(&mut self, frame: usize) -> Result<bool, MovieError> {
        let Order::Listed(pages) = &self.plan.order else { return Ok(true) };
        let Some(&Page { file, .. }) = pages.get(frame) else {
            self.growth.progress = Progress { missing: None, is_done: true };
            return Ok(false);
        };
        if file != self.file {
            let path = &self.plan.files[file];
            match opened(path)? {
                Some(chain) => (self.chain, self.file) = (chain, file),
                None => {
                    let missing =
                        format!("the file {}", path.file_name().unwrap_or_default().display());
                    self.growth.progress = Progress { missing: Some(missing), is_done: false };
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether the page that comes next in the file is the next frame.
    fn wants(&self) -> bool {
        let page = self.chain.pages;
        match &self.plan.order {
            Order::Listed(pages) => {
                pages.get(self.growth.next) == Some(&Page { file: self.file, page })
            }
            order => order.strided(self.growth.next) == self.before.checked_add(page),
        }
    }

    /// Whether a page shows another one smaller; OME metadata count these, too.
    fn is_left_out(&self, directory: &Directory) -> bool {
        let is_first = self.before == 0 && self.chain.pages == 0;
        !is_first && matches!(self.plan.order, Order::Strided { .. }) && directory.is_reduced()
    }

    fn pixels(&self, directory: &Directory, frame: usize) -> Result<Pixels, MovieError> {
        let (width, height) = self.size();
        let mut decoder = limited(self.chain.decoder(directory, frame)?, width * height);
        let kind = match kind(&mut decoder) {
            FrameType::U16 if self.signed => FrameType::F32,
            kind => kind,
        };
        let decode = if self.signed { decode_signed } else { decode };
        let mut pixels = kind.frames((1, height, width))?;
        let room = rooms(&mut pixels, width * height).pop();
        let room = room.ok_or(MovieError::Empty)?;
        decode(&mut decoder, self.size, room).map(|()| pixels).map_err(|reason| {
            let name = self.current().file_name().map(|name| name.display().to_string());
            let page = self.chain.pages + 1;
            match name {
                Some(name) if self.file > 0 => {
                    wrong(frame, format!("{reason} (page {page} of {name})"))
                }
                _ if page != frame + 1 => wrong(frame, format!("{reason} (page {page})")),
                _ => wrong(frame, reason),
            }
        })
    }

    /// The file that is read.
    fn current(&self) -> PathBuf {
        match self.plan.files.get(self.file) {
            Some(path) => path.clone(),
            None if self.file == 0 => self.growth.path.clone(),
            None => continuation(&self.growth.path, self.file)
                .unwrap_or_else(|| self.growth.path.clone()),
        }
    }

    fn note_file(&mut self) {
        let path = self.current();
        if self.growth.files.last() != Some(&path) {
            self.growth.files.push(path);
        }
    }

    /// Whether the next file of Micro-Manager's series has begun.
    fn has_following(&mut self, frame: usize) -> Result<bool, MovieError> {
        let is_strided = matches!(self.plan.order, Order::Strided { .. });
        if self.following.is_none() && is_strided {
            let path = continuation(&self.growth.path, self.file + 1);
            self.following = path.map_or(Ok(None), |path| opened(&path))?;
        }
        self.following.as_mut().map_or(Ok(false), |chain| chain.has_begun(frame))
    }

    /// Whether all frames lie behind the only directory, as ImageJ writes them: they are read when all of them are there.
    fn is_run(&mut self) -> Result<bool, MovieError> {
        let (Some((frames, seen)), None, 1) = (self.run, &self.whole, self.chain.pages) else {
            return Ok(self.whole.is_some());
        };
        let length = self.chain.file.measure(self.growth.next)?;
        let (width, height) = self.size();
        let least = (width as u64 * height as u64).saturating_mul(frames as u64);
        if length != seen && length >= least && self.chain.ends_here(self.growth.next)? {
            self.run = Some((frames, length));
            // Where it is none, or not whole, that is an error.
            let movie =
                Movie::open_with(&self.growth.path, &self.options.clone().with_strict(true)).ok();
            let mut movie = movie.filter(|movie| movie.frames() > 1);
            if let Some(movie) = &mut movie {
                movie.skip_to(self.growth.next)?;
            }
            self.whole = movie.map(Box::new);
        }
        Ok(self.whole.is_some())
    }
}

/// A file of pages, if it is there.
fn opened(path: &Path) -> Result<Option<Chain>, MovieError> {
    match Watched::open(path) {
        Ok(file) => Ok(Some(Chain::new(file))),
        Err(MovieError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The path of a continuation of a file of Micro-Manager, which is no continuation itself.
fn continuation(path: &Path, number: usize) -> Option<PathBuf> {
    let own = numbered(path)?;
    own.first(path).is_none().then(|| path.with_file_name(own.continuation(number)))
}
