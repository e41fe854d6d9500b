//! Which page is which frame.

use std::path::Path;

use super::MovieError;
use super::failure::wrong;
use super::imagej::ImageJ;
use super::ome::{Block, Image};
use crate::movie::{MovieAxes, MovieOptions};
use crate::sort::sort_by_key;

/// The most channels that ImageJ shows together. More of them, without slices or time points, are frames that a program
/// saved under the wrong axis.
const MOST_CHANNELS: usize = 7;

/// A page of one of the files of a movie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) file: usize,
    pub(super) page: usize,
}

/// The pages of the frames.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Every so many pages from the first one, through all files: each time `run` of them that follow each other.
    Strided {
        first: usize,
        step: usize,
        run: usize,
    },
    Listed(Vec<Page>),
}

/// The pages in their order.
pub(super) const PLAIN: Order = Order::Strided { first: 0, step: 1, run: 1 };

impl Order {
    /// The page of a frame, if there is one; `ends` counts the pages up to the end of each file.
    pub(super) fn page(&self, frame: usize, ends: &[usize]) -> Option<Page> {
        match self {
            Self::Listed(pages) => pages.get(frame).copied(),
            Self::Strided { .. } => {
                let page = self.strided(frame)?;
                let file = ends.partition_point(|&end| end <= page);
                let before = if file == 0 { 0 } else { ends[file - 1] };
                (file < ends.len()).then(|| Page { file, page: page - before })
            }
        }
    }

    /// The page of a frame among those of all files, if these are not listed.
    pub(super) fn strided(&self, frame: usize) -> Option<usize> {
        let &Self::Strided { first, step, run } = self else { return None };
        (frame / run).checked_mul(step)?.checked_add(first)?.checked_add(frame % run)
    }
}

/// What is made of a file's pages.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) axes: MovieAxes,
    pub(super) order: Order,
    pub(super) frames: usize,
    pub(super) notes: Vec<String>,
}

impl Image {
    /// When frames were taken, in seconds since the first, where each is a time point and all of them are told.
    pub(super) fn times(&self, layout: &Layout) -> Option<Vec<f64>> {
        let mut times = self.times.clone();
        sort_by_key(&mut times, |&(point, _)| point);
        times.dedup_by_key(|&mut (point, _)| point);
        let [(_, begin), .., (_, end)] = *times.as_slice() else { return None };
        let all = times.len() == layout.frames && layout.axes.times == layout.frames;
        let rising = times.windows(2).all(|pair| pair[0].1 <= pair[1].1);
        // Writers that do not know them write zeros.
        (all && rising && end > begin && (end - begin).is_finite())
            .then(|| times.iter().map(|(_, time)| time - begin).collect())
    }
}

/// Frames that were saved as channels.
fn notes_of_frames(channels: usize) -> Vec<String> {
    vec![format!(
        "the metadata call the {channels} pages channels, without slices or time points; they are read as frames"
    )]
}

impl Layout {
    /// Every page is a frame.
    pub(super) fn plain(pages: usize, options: &MovieOptions) -> Result<Self, MovieError> {
        let axes = MovieAxes::frames(pages);
        options.channel_of(&axes)?;
        Ok(Self { axes, order: PLAIN, frames: pages, notes: Vec::new() })
    }

    /// The order of ImageJ's stacks: channels, then slices (or slices, then channels), then time points. Where one file of `several` has the
    /// description, it need not count the pages of the others.
    pub(super) fn imagej(
        text: &ImageJ,
        pages: usize,
        several: bool,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let ImageJ { channels, slices, frames: times, slices_first, .. } = *text;
        let mut axes = MovieAxes { channels, slices, times, pixel_size: None };
        let mut notes = Vec::new();
        let promised = axes.planes();
        if options.channel.is_none() && channels > MOST_CHANNELS && slices == 1 && times == 1 {
            axes = MovieAxes::frames(channels);
            notes = notes_of_frames(channels);
        }
        if promised != pages {
            // A description need not name axes at all.
            if promised > 1 && !several {
                notes.push(format!(
                    "ImageJ's description promises {promised} planes, but there are {pages} pages"
                ));
            }
            let whole = pages.div_ceil(axes.channels);
            // Slices that the pages do not fill are frames, unless channels lie between them.
            if !whole.is_multiple_of(axes.slices) && (axes.channels == 1 || !slices_first) {
                axes.slices = 1;
            }
            axes.times = whole.div_ceil(axes.slices);
        }
        let channel = options.channel_of(&axes)?;
        let MovieAxes { channels, slices, .. } = axes;
        let all = channels.saturating_mul(slices);
        let (first, step, run) = match (slices_first && channels > 1, options.slice) {
            (false, None) => (channel, channels, 1),
            (false, Some(slice)) => (channel + channels * slice, all, 1),
            (true, None) => (channel.saturating_mul(slices), all, slices),
            (true, Some(slice)) => (channel.saturating_mul(slices).saturating_add(slice), all, 1),
        };
        let left = pages.saturating_sub(first);
        let frames = left / step * run + (left % step).min(run);
        Ok(Self { axes, order: Order::Strided { first, step, run }, frames, notes })
    }

    /// The pages that OME metadata name. `parts` says where the files that blocks name are in the list of files, whose
    /// numbers of pages are `pages`; `own` is the file that was opened. `series` is the number of images in the
    /// metadata.
    pub(super) fn ome(
        image: &Image,
        (parts, own): (&[usize], usize),
        pages: &[usize],
        series: usize,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let total: usize = pages.iter().sum();
        let alone = pages.len() == 1 && series == 1;
        let fallback = |reason: String| {
            let mut layout = Self::plain(total, options)?;
            layout.notes.push(format!("{reason}; the pages are read as frames"));
            Ok(layout)
        };
        let mut planes = Planes::new(image);
        let mut notes = Vec::new();
        let mut axes = planes.axes();
        let MovieAxes { channels, slices, times, .. } = axes;
        if options.channel.is_none() && channels > MOST_CHANNELS && slices == 1 && times == 1 {
            notes = notes_of_frames(channels);
            planes.swap_channels_and_times();
            axes = planes.axes();
        }
        let mapped = planes.mapped(|block| {
            let file = block.file.and_then(|file| parts.get(file)).copied().unwrap_or(own);
            (file, pages.get(file).copied().unwrap_or(0))
        });
        let mapped = match mapped {
            Ok(mapped) => mapped,
            Err(reason) if alone && axes.channels == 1 => return fallback(reason),
            Err(reason) => return Err(wrong(0, reason)),
        };
        let found: usize = mapped.iter().map(|run| run.count).sum();
        if alone && axes.channels == 1 && found < total {
            let said = format!("the OME metadata describe {found} planes of {total} pages");
            return fallback(said);
        }
        let channel = options.channel_of(&axes)?;
        if found < total && series == 1 {
            let left = total - found;
            notes
                .push(format!("{left} pages are no planes of the OME metadata; they are not read"));
        }
        let mut frames = planes.frames(&mapped, channel, options.slice);
        // Where a plane is named twice, the first counts.
        sort_by_key(&mut frames, |&(time, _)| time);
        frames.dedup_by_key(|&mut (time, _)| time);
        let promised = if options.slice.is_some() { 1 } else { axes.slices } * axes.times;
        if frames.len() < promised {
            let missing = promised - frames.len();
            notes.push(format!("{missing} of {promised} planes of the OME metadata are not there"));
        }
        let pages: Vec<Page> = frames.into_iter().map(|(_, page)| page).collect();
        let frames = pages.len();
        Ok(Self { axes, order: Order::Listed(pages), frames, notes })
    }

    /// Says of which file or series something is read.
    pub(super) fn note_series(&mut self, chosen: usize, series: usize, path: Option<&Path>) {
        if series > 1 {
            let whose = match path.and_then(Path::file_name) {
                Some(name) => format!(" ({})", name.display()),
                None => String::new(),
            };
            let number = chosen + 1;
            self.notes.push(format!(
                "the OME metadata describe {series} images; image {number} is read{whose}"
            ));
        }
    }
}

/// The planes of an image by their place in the order of its axes.
struct Planes {
    sizes: [usize; 3],
    order: [usize; 3],
    blocks: Vec<Block>,
}

/// Consecutive planes that are there.
struct Run {
    plane: usize,
    count: usize,
    page: Page,
}

impl Planes {
    fn new(image: &Image) -> Self {
        let blocks = match &image.blocks[..] {
            [] => vec![Block::default()],
            blocks => blocks.to_vec(),
        };
        Self { sizes: image.sizes, order: image.order, blocks }
    }

    fn axes(&self) -> MovieAxes {
        let [slices, channels, times] = self.sizes;
        MovieAxes { channels, slices, times, pixel_size: None }
    }

    /// Only where all other axes have the length 1.
    fn swap_channels_and_times(&mut self) {
        self.sizes.swap(1, 2);
        self.blocks.iter_mut().for_each(|block| block.first.swap(1, 2));
    }

    /// The planes that blocks name and files have; `file` gives the file of a block, and its pages.
    fn mapped(&self, file: impl Fn(&Block) -> (usize, usize)) -> Result<Vec<Run>, String> {
        let Self { sizes, order, blocks } = self;
        let all = sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
        let all = all.ok_or("the OME metadata promise more planes than can be counted")?;
        let mut runs = Vec::with_capacity(blocks.len());
        // Each page once: otherwise a small file could claim any number of planes.
        let mut named: Vec<(usize, usize, usize)> = Vec::with_capacity(blocks.len());
        for block in blocks {
            let (file, pages) = file(block);
            let page = block.page.unwrap_or(0);
            let count = block.count.unwrap_or(if block.page.is_none() { pages } else { 1 });
            if (0..3).any(|axis| block.first[axis] >= sizes[axis]) {
                continue;
            }
            let place = |axis: usize| block.first[order[axis]];
            let (fast, middle) = (sizes[order[0]], sizes[order[1]]);
            let plane = place(0) + fast * (place(1) + middle * place(2));
            let count = count.min(pages.saturating_sub(page)).min(all - plane);
            if count > 0 {
                named.push((file, page, page + count));
                runs.push(Run { plane, count, page: Page { file, page } });
            }
        }
        named.sort_unstable();
        let twice =
            |pair: &[(usize, usize, usize)]| pair[0].0 == pair[1].0 && pair[1].1 < pair[0].2;
        if named.windows(2).any(twice) {
            return Err("the OME metadata name a page more than once".to_owned());
        }
        Ok(runs)
    }

    /// The pages of a channel, of one slice or all, with their place in time (and along z).
    fn frames(&self, runs: &[Run], channel: usize, slice: Option<usize>) -> Vec<(usize, Page)> {
        let Self { sizes, order, .. } = self;
        let mut frames = Vec::new();
        for run in runs {
            for offset in 0..run.count {
                let mut plane = run.plane + offset;
                let mut place = [0; 3];
                for &axis in order {
                    place[axis] = plane % sizes[axis];
                    plane /= sizes[axis];
                }
                let [z, c, t] = place;
                if c == channel && slice.is_none_or(|slice| slice == z) {
                    let page = Page { page: run.page.page + offset, ..run.page };
                    frames.push((t * sizes[0] + z, page));
                }
            }
        }
        frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::Acquisition;

    fn image(sizes: [usize; 3], order: [usize; 3], blocks: Vec<Block>) -> Image {
        let acquisition = Acquisition::default();
        let (name, times) = (String::new(), Vec::new());
        Image { name, times, sizes, order, pixel: None, acquisition, blocks }
    }

    /// Proves that frames are sorted by time and then by slice, whatever order the planes have in the file, for each
    /// channel and each slice.
    #[test]
    fn every_order_gives_time_points_of_slices() {
        let sizes = [2, 3, 4];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let page = |z: usize, c: usize, t: usize| {
                let place = [z, c, t];
                let (fast, middle) = (sizes[order[0]], sizes[order[1]]);
                place[order[0]] + fast * (place[order[1]] + middle * place[order[2]])
            };
            let image = image(sizes, order, Vec::new());
            for channel in 0..3 {
                let options = MovieOptions::default().with_channel(Some(channel));
                for slice in [None, Some(0), Some(1)] {
                    let options = options.clone().with_slice(slice);
                    let layout = Layout::ome(&image, (&[], 0), &[24], 1, &options).unwrap();
                    let wanted = (0..4).flat_map(|t| (0..2).map(move |z| (t, z)));
                    let wanted = wanted.filter(|&(_, z)| slice.is_none_or(|slice| slice == z));
                    let wanted = wanted.map(|(t, z)| Page { file: 0, page: page(z, channel, t) });
                    assert_eq!(layout.order, Order::Listed(wanted.collect()), "{order:?}");
                    assert!(layout.notes.is_empty(), "{:?}", layout.notes);
                }
            }
        }
    }

    /// Proves that blocks that lie, overlap, or ask for endless planes are found out, and that what is there of one channel
    /// is read all the same.
    #[test]
    fn blocks_that_lie_are_found_out() {
        let block =
            |page, count| Block { page: Some(page), count: Some(count), ..Block::default() };
        let options = MovieOptions::default();
        let read = |sizes, blocks| {
            Layout::ome(&image(sizes, [1, 0, 2], blocks), (&[], 0), &[6], 1, &options)
        };
        let cases: [([usize; 3], Vec<Block>, &str); 6] = [
            ([1, 1, 6], vec![block(0, 6), block(0, 6)], "more than once"),
            ([1, 1, 4], Vec::new(), "4 planes of 6 pages"),
            ([1, 1, 9], Vec::new(), "3 of 9 planes"),
            ([1, 1, 6], vec![block(7, 6)], "0 planes of 6 pages"),
            ([usize::MAX, 1, usize::MAX], Vec::new(), "more planes than can be counted"),
            ([1, 1, 6], vec![Block { first: [0, 3, 0], ..block(0, 6) }], "0 planes of 6"),
        ];
        for (sizes, blocks, says) in cases {
            let layout = read(sizes, blocks).unwrap();
            assert_eq!(layout.frames, 6, "{says}");
            assert!(layout.notes.iter().any(|note| note.contains(says)), "{:?}", layout.notes);
        }
        assert!(matches!(read([1, 2, 3], Vec::new()), Err(MovieError::Channels(2))));
        let endless = vec![block(0, usize::MAX), Block { count: None, ..block(usize::MAX, 1) }];
        assert_eq!(read([1, 1, 6], endless).unwrap().frames, 6);
    }
}
