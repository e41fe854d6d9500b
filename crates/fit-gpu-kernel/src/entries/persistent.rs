//! The windows that a warp has in turn.

use crate::{Job, device};

/// Threads of a warp.
const WARP: u32 = 32;

/// The windows of this thread's warp.
pub(super) struct WarpWindows {
    /// The thread's number in its warp.
    lane: u32,
    /// The window that is taken next, and that after the last one.
    next: u32,
    end: u32,
    /// The window of this thread.
    pub(super) own: Option<u32>,
}

impl WarpWindows {
    /// Those of this warp, as many for each thread as the job says; `None` if there are none.
    #[inline(always)]
    pub(super) fn new(job: &Job) -> Option<Self> {
        let (thread, block, threads) = device::place();
        let windows = WARP * job.turns;
        let first = (block * threads + thread) / WARP * windows;
        // Whole warps leave.
        if first >= job.count {
            return None;
        }
        let left = job.count - first;
        let end = first + if left < windows { left } else { windows };
        Some(Self { lane: thread % WARP, next: first, end, own: None })
    }

    /// Whether so many threads are free, or all of them if there is nothing left to take.
    #[inline(always)]
    pub(super) fn is_time(&self, free: bool, enough: u32) -> bool {
        let free = device::ballot(free).count_ones();
        free == WARP || (self.next < self.end && free >= enough)
    }

    /// Gives the threads that are `free` the next windows.
    #[inline(always)]
    pub(super) fn next(&mut self, free: bool) {
        let all = device::ballot(free);
        // As many threads before this one take one too.
        let before = (all & ((1 << self.lane) - 1)).count_ones();
        if free {
            let number = self.next + before;
            self.own = if number < self.end { Some(number) } else { None };
        }
        let (wanted, left) = (all.count_ones(), self.end - self.next);
        self.next += if wanted < left { wanted } else { left };
    }

    /// Whether no thread has a window.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        device::ballot(self.own.is_some()) == 0
    }
}
