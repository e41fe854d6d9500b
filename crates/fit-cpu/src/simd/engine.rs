//! Many fits at once, one per lane, with lanes refilled as fits finish.
//!
//! Two packs of lanes take turns: while the search of one waits for its divisions, the processor evaluates the
//! other. What happens in a lane depends only on its own window, so a window gives the same bits in any lane and
//! beside any other windows.
//!
//! Neither the type of the pixels nor that of the outcomes is known here, so that all of this is compiled once
//! for an instruction set: [`Load`] and [`Sink`] know them.

use std::ops::Range;

use fit_core::pass::{Axes, Finish, Method, RawFit, Serial};
use fit_core::search::{LaneState, Resumable};
use fit_core::{Outline, Size, Start};
use fit_windows::NoteKind;

use super::arch::pack::Pack;
use super::arch::register::Task;
use super::lanes::{Occupied, Take, enough, lanes, room, turn};
use super::load::{How, Load};

/// Where outcomes go.
pub(super) trait Sink {
    /// Takes the outcomes of the lanes whose bits are set: the window in each lane, and each number of what was found
    /// for all lanes.
    fn put(&mut self, lanes: u32, windows: &[usize; 32], found: &Numbers);
    /// Records that a window cannot be fitted.
    fn put_invalid(&mut self, window: usize);
}

/// The numbers of [`RawFit`], each for all lanes.
pub(super) type Numbers = [[f32; 32]; 13];

/// Packs at work in turn.
const PACKS: usize = 2;

/// Windows that are ready to go into lanes, one per lane. They are prepared together: they are loaded one
/// after the other, transposed all at once, so that each is in a lane of its own, and then conditioned and
/// estimated side by side.
struct Pool<P: Pack, M: Method<P>> {
    /// The windows, or their notes, as they come; each begins a pack.
    rows: Vec<P>,
    /// The windows in lanes, conditioned.
    pixels: Vec<P>,
    /// The notes in lanes, if there are any.
    notes: Vec<P>,
    how: How,
    seeds: M::Seed,
    /// The window in the first lane.
    first: usize,
    /// The lanes that are still to be taken.
    ready: u32,
}

/// Fits in the lanes of one pack.
pub(super) struct Slots<P: Pack, M: Method<P>> {
    pixels: Vec<P>,
    notes: Vec<P>,
    search: M::Search,
    seeds: M::Seed,
    lanes: Occupied,
}

/// Working memory of a thread.
pub(super) struct Scratch<P: Pack, M: Method<P>> {
    size: Size,
    how: How,
    packs: [Slots<P, M>; PACKS],
    axes: Vec<P>,
    pool: Pool<P, M>,
}

impl<P: Pack, M: Method<P>> Scratch<P, M> {
    #[inline(always)]
    pub(super) fn new(method: &M, how: How) -> Self {
        let size = method.size();
        // Packs that a window begins and ends.
        let packs = size.pixels().div_ceil(P::LANES);
        let all = packs * P::LANES;
        Self {
            size,
            how,
            // There are two of them, and one copy of what makes them.
            packs: [P::compiled(MakeSlots(method)), P::compiled(MakeSlots(method))],
            axes: room(2 * Axes::<P>::scratch_len(size)),
            pool: Pool {
                rows: room(all),
                pixels: room(all),
                notes: room(if method.takes_notes() { all } else { 0 }),
                how,
                seeds: method.idle(),
                first: 0,
                ready: 0,
            },
        }
    }
}

/// Fits windows.
pub(super) struct Run<'a, P: Pack, M: Method<P>> {
    pub(super) method: &'a M,
    pub(super) scratch: &'a mut Scratch<P, M>,
    pub(super) source: &'a dyn Load<P>,
    pub(super) start: Start<'a>,
    pub(super) windows: Range<usize>,
    pub(super) sink: &'a mut dyn Sink,
}

impl<P: Pack, M: Method<P>> Task<P> for Run<'_, P, M> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { method, scratch, source, start, windows, sink } = self;
        run(method, scratch, source, start, windows, sink);
    }
}

/// What [`Run`] does. References that are arguments, and not in a struct, are known to point to different things.
#[inline(always)]
fn run<P: Pack, M: Method<P>>(
    method: &M,
    scratch: &mut Scratch<P, M>,
    source: &dyn Load<P>,
    start: Start<'_>,
    windows: Range<usize>,
    sink: &mut dyn Sink,
) {
    let Scratch { size, how, packs, axes, pool } = scratch;
    // A panic may have left fits of an earlier batch.
    pool.ready = 0;
    for slots in packs.iter_mut() {
        slots.lanes.busy = 0;
    }
    let (these, others) = axes.split_at_mut(Axes::<P>::scratch_len(*size));
    let (Some(mut axes), Some(mut other_axes)) =
        (Axes::new(these, *size), Axes::new(others, *size))
    else {
        return;
    };
    let Range { start: next, end } = windows;
    let mut feed = Feed { source, start, size: *size, how: *how, pool, next, end };
    // While the search of one pack waits for its divisions, the processor sums the other; branches on the
    // outcome of a search, which are hard to predict, come after these sums.
    let [a, b] = packs;
    let (mut here, mut there) = (a, b);
    while here.lanes.busy | there.lanes.busy != 0 || !feed.is_empty() {
        let mut evaluation = None;
        if here.lanes.busy != 0 {
            let mut tile = Serial::new(&here.pixels[..], *size, &mut axes).with_notes(&here.notes);
            evaluation = Some(method.evaluate(&mut tile, &here.seeds, &here.search));
        }
        let done = there.lanes.busy & !P::bits(there.search.running());
        let idle = there.lanes.busy == 0;
        if done.count_ones() >= enough(P::LANES)
            || (done != 0 && feed.is_empty())
            || (idle && !feed.is_empty())
        {
            if done != 0 {
                there.collect(method, done, &mut other_axes, sink);
            }
            there.refill(method, &mut feed, &mut other_axes, sink);
        }
        if let Some(evaluation) = &evaluation {
            method.update(&mut here.search, evaluation);
        }
        std::mem::swap(&mut here, &mut there);
    }
}

/// The windows that are still to be fitted.
pub(super) struct Feed<'a, P: Pack, M: Method<P>> {
    source: &'a dyn Load<P>,
    start: Start<'a>,
    size: Size,
    how: How,
    pool: &'a mut Pool<P, M>,
    /// The next to be made ready.
    next: usize,
    /// One more than the last.
    end: usize,
}

impl<P: Pack, M: Method<P>> Feed<'_, P, M> {
    /// Whether all windows have been taken.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.pool.ready == 0 && self.next == self.end
    }
}

/// Makes the next windows ready; those with nothing to fit get their outcome.
struct MakeReady<'a, 'f, 'x, P: Pack, M: Method<P>> {
    feed: &'a mut Feed<'f, P, M>,
    method: &'a M,
    axes: &'a mut Axes<'x, P>,
    sink: &'a mut dyn Sink,
}

impl<P: Pack, M: Method<P>> Task<P> for MakeReady<'_, '_, '_, P, M> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { feed, method, axes, sink } = self;
        let first = feed.next;
        let Feed { pool, size, how, .. } = feed;
        let pixels = size.pixels();
        let count = P::LANES.min(feed.end - first);
        let these = first..first + count;
        feed.source.load(these.clone(), &mut pool.rows, How { kind: NoteKind::None, ..*how });
        // Lanes that are left over have pixels of earlier windows.
        turn(&pool.rows, &mut pool.pixels, pixels);
        if how.kind != NoteKind::None {
            feed.source.load(these, &mut pool.rows, *how);
            turn(&pool.rows, &mut pool.notes, pixels);
        }
        let mut tile =
            Serial::new(&mut pool.pixels[..pixels], *size, axes).with_notes(&pool.notes).apart();
        let start = match feed.start {
            Start::Estimate => None,
            _ => {
                let numbers = outlines(feed.start, first..first + count);
                Some(Outline {
                    x: P::load(&numbers[0]),
                    y: P::load(&numbers[1]),
                    sigma_x: P::load(&numbers[2]),
                    sigma_y: P::load(&numbers[3]),
                    angle: P::load(&numbers[4]),
                })
            }
        };
        let (seeds, usable) = method.prepare(&mut tile, start);
        pool.seeds = seeds;
        let there = u32::MAX >> (32 - count);
        pool.ready = P::bits(usable) & there;
        pool.first = first;
        for lane in lanes(there & !pool.ready) {
            sink.put_invalid(first + lane);
        }
        feed.next += count;
    }
}

/// The numbers of the outlines to start from, each for all lanes.
// Single numbers: compiled once for all instruction sets.
#[inline(never)]
fn outlines(start: Start<'_>, windows: Range<usize>) -> [[f32; 32]; 5] {
    let mut numbers = [[f32::NAN; 32]; 5];
    for (lane, window) in windows.enumerate() {
        if let Some(Outline { x, y, sigma_x, sigma_y, angle }) = start.outline(window) {
            for (numbers, number) in numbers.iter_mut().zip([x, y, sigma_x, sigma_y, angle]) {
                numbers[lane] = number;
            }
        }
    }
    numbers
}

/// Makes lanes without a fit.
struct MakeSlots<'a, M>(&'a M);

impl<P: Pack, M: Method<P>> Task<P> for MakeSlots<'_, M> {
    type Output = Slots<P, M>;
    #[inline(always)]
    fn run(self) -> Slots<P, M> {
        let Self(method) = self;
        let pixels = room(method.size().pixels());
        let notes = room(if method.takes_notes() { pixels.len() } else { 0 });
        let seeds = method.idle();
        let search = method.begin(&seeds, P::mask(0));
        Slots { search, seeds, pixels, notes, lanes: Occupied::NONE }
    }
}

impl<P: Pack, M: Method<P>> Slots<P, M> {
    /// Puts new fits into the lanes that are free.
    #[inline(always)]
    fn refill(
        &mut self,
        method: &M,
        feed: &mut Feed<'_, P, M>,
        axes: &mut Axes<'_, P>,
        sink: &mut dyn Sink,
    ) {
        while !self.lanes.is_full::<P>() {
            if feed.pool.ready == 0 {
                if feed.next == feed.end {
                    break;
                }
                P::compiled(MakeReady { feed, method, axes, sink });
            }
            self.take(method, feed.pool);
        }
    }

    /// Puts fits that are ready into lanes that are free, as many as there are of both.
    #[inline(always)]
    fn take(&mut self, method: &M, pool: &mut Pool<P, M>) {
        let take = self.lanes.fill::<P>(&mut pool.ready, pool.first);
        let Take { mask, moves } = take;
        P::put(&mut self.pixels, mask, &pool.pixels, moves);
        if pool.how.kind != NoteKind::None {
            P::put(&mut self.notes, mask, &pool.notes, moves);
        }
        self.seeds.merge(&pool.seeds, &take);
        let started = method.begin(&self.seeds, mask);
        self.search.refill(mask, &started);
    }

    /// Takes the outcomes of fits that have ended.
    #[inline(always)]
    fn collect(&mut self, method: &M, done: u32, axes: &mut Axes<'_, P>, sink: &mut dyn Sink) {
        self.lanes.busy &= !done;
        let Self { search, seeds, pixels, notes, lanes } = self;
        let mut tile = Serial::new(&pixels[..], method.size(), axes).with_notes(notes);
        let finish = Finish::WhereSumsCancel;
        let found: RawFit<P> = method.end(&mut tile, seeds, search, P::mask(done), finish);
        let mut numbers: Numbers = [[0.0; 32]; 13];
        for (to, number) in numbers.iter_mut().zip(found.numbers()) {
            number.store(to);
        }
        sink.put(done, &lanes.fits, &numbers);
    }
}
