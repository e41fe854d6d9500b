//! Arrays in Fortran order: the first axis is the fastest, and items are read along it.
//!
//! Such a file is a matrix with one row for each number of an item and one column for each item. The
//! reader wants columns. A slab is a few of them.

use std::io::{self, Read};

use super::number::fill;
use super::reader::Goto;
use super::{NpyError, NpyHeader};

/// The most bytes of an array in Fortran order that are held in memory, if an item is not larger.
pub const FORTRAN_BYTES: usize = 1 << 28;

/// Two runs with no more bytes between them than this are read as one, because that is faster on a disk.
const GAP: usize = 1 << 16;

/// The most bytes that are read as one, for the runs in them.
const SPAN: usize = 1 << 20;

/// How often a file may be read over.
const TIMES: usize = 32;

/// Side of the squares in which numbers change places, so that no cache line is fetched twice.
const TILE: usize = 32;

/// Items that follow each other, as the file has them: for each number of an item a run of `items`.
pub(super) struct Slab {
    bytes: Vec<u8>,
    first: usize,
    items: usize,
    /// The most bytes, if an item is not larger.
    most: usize,
}

impl Slab {
    /// An empty one, for at most so many bytes, or one item.
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), first: 0, items: 0, most }
    }

    /// The numbers of an item, and how many items a slab has.
    fn plan(&self, header: &NpyHeader) -> (usize, usize) {
        let rows = header.shape.iter().skip(1).product::<usize>();
        let most = self.most / (rows * header.number.size());
        (rows, most.clamp(1, header.shape[0]))
    }

    /// Whether such an array can be read.
    pub(super) fn check(&self, header: &NpyHeader, seeks: bool) -> Result<(), NpyError> {
        let ((_, items), all) = (self.plan(header), header.shape[0]);
        let size = header.number.size();
        let (run, gap) = (items * size, (all - items) * size);
        if items == all {
            Ok(())
        } else if !seeks {
            Err(NpyError::FortranOrder("a stream of it may have at most 256 MiB"))
        } else if run + gap.min(GAP) > TIMES * run {
            Err(NpyError::FortranOrder("its items are too large to collect from the whole file"))
        } else {
            Ok(())
        }
    }

    pub(super) fn holds(&self, item: usize) -> bool {
        (self.first..self.first + self.items).contains(&item)
    }

    /// Reads the items from `first` on. Returns how many bytes of data there are if these are not
    /// enough.
    pub(super) fn load<R: Read>(
        &mut self,
        reader: &mut R,
        goto: Option<(Goto<R>, u64)>,
        header: &NpyHeader,
        first: usize,
    ) -> Result<Option<usize>, NpyError> {
        let (rows, most) = self.plan(header);
        let (size, all) = (header.number.size(), header.shape[0]);
        let whole = most == all;
        let first = if whole { 0 } else { first };
        let items = most.min(all - first);
        let (run, stride) = (items * size, all * size);
        self.items = 0;
        self.bytes.clear();
        let room = self.bytes.try_reserve_exact(rows * run);
        room.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        self.bytes.resize(rows * run, 0);
        let missing = match goto {
            Some((goto, start)) if !whole => {
                let start = start + (first * size) as u64;
                let goto = |reader: &mut R, at: usize| goto(reader, start + at as u64);
                let got = read_runs(reader, goto, &mut self.bytes, run, stride)?;
                got.map(|got| first * size + got)
            }
            _ => {
                let got = fill(reader, &mut self.bytes)?;
                (got < rows * run).then_some(got)
            }
        };
        if missing.is_none() {
            (self.first, self.items) = (first, items);
        }
        Ok(missing)
    }

    /// How many items there are from `first` on, up to `most`.
    pub(super) fn count(&self, first: usize, most: usize) -> usize {
        most.min(self.first + self.items - first)
    }

    /// Hands on the items from `first` on, `most` of them if there are so many here: the bytes of some numbers that follow each
    /// other in C order, with the place of the first of them, but not in this order. Returns how many items there were.
    pub(super) fn ordered(
        &self,
        header: &NpyHeader,
        first: usize,
        most: usize,
        each: &mut dyn FnMut(usize, &[u8]),
    ) -> usize {
        match header.number.size() {
            1 => self.ordered_by::<1>(header, first, most, each),
            2 => self.ordered_by::<2>(header, first, most, each),
            4 => self.ordered_by::<4>(header, first, most, each),
            _ => self.ordered_by::<8>(header, first, most, each),
        }
    }

    /// The same for numbers of `SIZE` bytes.
    fn ordered_by<const SIZE: usize>(
        &self,
        header: &NpyHeader,
        first: usize,
        most: usize,
        each: &mut dyn FnMut(usize, &[u8]),
    ) -> usize {
        let count = self.count(first, most);
        let from = first - self.first;
        let (rows, _) = self.plan(header);
        let (numbers, _) = self.bytes.as_chunks::<SIZE>();
        let mut order = Rows::new(&header.shape[1..]);
        let mut done = 0;
        while done < rows {
            let wide = TILE.min(rows - done);
            let mut runs = [&[][..]; TILE];
            for run in &mut runs[..wide] {
                let start = order.next_row() * self.items + from;
                *run = &numbers[start..start + count];
            }
            for item in (0..count).step_by(TILE) {
                let high = TILE.min(count - item);
                let mut square = [[[0; SIZE]; TILE]; TILE];
                for (column, run) in runs[..wide].iter().enumerate() {
                    for (line, number) in square.iter_mut().zip(&run[item..item + high]) {
                        line[column] = *number;
                    }
                }
                for (i, line) in square[..high].iter().enumerate() {
                    each((item + i) * rows + done, line[..wide].as_flattened());
                }
            }
            done += wide;
        }
        count
    }
}

/// Reads runs of `run` bytes, which start `stride` bytes apart, into `bytes`. If the reader ends too
/// early, returns the bytes up to its end.
fn read_runs<R: Read>(
    reader: &mut R,
    goto: impl Fn(&mut R, usize) -> io::Result<()>,
    bytes: &mut [u8],
    run: usize,
    stride: usize,
) -> io::Result<Option<usize>> {
    // Runs that are read as one.
    let together = if stride - run <= GAP { (SPAN / stride).max(1) } else { 1 };
    let mut span = vec![0; if together > 1 { together * stride } else { 0 }];
    for (i, runs) in bytes.chunks_mut(together * run).enumerate() {
        let at = i * together * stride;
        goto(reader, at)?;
        let wanted = (runs.len() / run - 1) * stride + run;
        let into = if together > 1 { &mut span[..wanted] } else { &mut *runs };
        let got = fill(reader, into)?;
        if got < wanted {
            return Ok(Some(at + got));
        }
        if together > 1 {
            for (run_bytes, stored) in runs.chunks_exact_mut(run).zip(span.chunks(stride)) {
                run_bytes.copy_from_slice(&stored[..run]);
            }
        }
    }
    Ok(None)
}

/// Gives, for the numbers of an item in C order, their rows in the file.
struct Rows<'a> {
    shape: &'a [usize],
    /// For each axis the present index, and the rows from one index to the next.
    axes: Vec<(usize, usize)>,
}

impl<'a> Rows<'a> {
    fn new(shape: &'a [usize]) -> Self {
        let mut stride = 1;
        let mut axes = Vec::with_capacity(shape.len());
        for length in shape {
            axes.push((0, stride));
            stride *= length;
        }
        Self { shape, axes }
    }

    fn next_row(&mut self) -> usize {
        let row = self.axes.iter().map(|(index, stride)| index * stride).sum();
        for ((index, _), &length) in self.axes.iter_mut().zip(self.shape).rev() {
            *index += 1;
            if *index < length {
                break;
            }
            *index = 0;
        }
        row
    }
}
