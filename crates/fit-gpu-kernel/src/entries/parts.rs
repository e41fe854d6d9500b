//! What the fits of a block come with, on its way from the device's or the host's memory to shared memory.

use crate::{CurveJob, device};

/// Words that a thread reads at the same time.
const AT_ONCE: u32 = 8;

/// Where numbers go that come one after the other, `length` of each fit.
struct Places {
    /// The place of the next number in shared memory, and in its fit.
    at: u32,
    place: u32,
    length: u32,
    /// What lies between the numbers of a fit and those of the next.
    gap: u32,
    /// From a number to that of the same thread which comes next.
    step: u32,
    places: u32,
}

impl Places {
    /// Those of a thread that reads so many numbers together, from `to` on, where fits are `stride` numbers apart.
    #[inline(always)]
    fn new(to: u32, length: u32, stride: u32, together: u32) -> Self {
        let (thread, _, threads) = device::place();
        let length = length.max(1);
        let (first, step) = (together * thread, together * threads);
        let (fit, place) = (first / length, first % length);
        let (fits, places) = (step / length, step % length);
        let (at, step, gap) =
            (to + fit * stride + place, fits * stride + places, stride.wrapping_sub(length));
        Self { at, place, length, gap, step, places }
    }

    /// Moves on to the next.
    #[inline(always)]
    fn step(&mut self) {
        self.at += self.step;
        self.place += self.places;
        if self.place >= self.length {
            self.place -= self.length;
            self.at += self.gap;
        }
    }
}

/// Numbers that each fit of a block has, on their way to shared memory.
pub(super) struct Part {
    /// Words, or, if they are `halves` of words, whole numbers.
    from: *const u32,
    halves: bool,
    /// Words and numbers of all fits of the block.
    end: u32,
    numbers: u32,
    places: Places,
    /// The next word of this thread, and the threads of the block.
    next: u32,
    threads: u32,
}

impl Part {
    /// `length` numbers of each fit for `to` and where other fits have the same.
    #[inline(always)]
    pub(super) fn new(
        job: &CurveJob,
        from: *const f32,
        length: usize,
        to: usize,
        halves: bool,
    ) -> Self {
        let (thread, block, threads) = device::place();
        let fits = threads / job.lanes.max(1);
        let first = block as usize * fits as usize;
        let count = job.count as usize - first;
        // A block's numbers are counted in 32 bits.
        let count = if count < fits as usize { count as u32 } else { fits };
        let numbers = count * length as u32;
        let (together, end) = if halves { (2, numbers.div_ceil(2)) } else { (1, numbers) };
        let from = from.cast::<u32>().wrapping_add(first * length / together as usize);
        let places = Places::new(to as u32, length as u32, job.stride() as u32, together);
        Self { from, halves, end, numbers, places, next: thread, threads }
    }

    /// Reads the next words of this thread; 0 past the last.
    ///
    /// # Safety
    /// There are as many as were said, and halves fill whole words.
    #[inline(always)]
    pub(super) unsafe fn read(&self) -> [u32; AT_ONCE as usize] {
        let mut words = [0; AT_ONCE as usize];
        for i in 0..AT_ONCE {
            let at = self.next + i * self.threads;
            if at < self.end {
                // SAFETY: the caller's promise.
                words[i as usize] = unsafe { self.from.add(at as usize).read() };
            }
        }
        words
    }

    /// Puts them into their places, which are no other thread's.
    ///
    /// # Safety
    /// The block has shared memory for them.
    #[inline(always)]
    pub(super) unsafe fn put(&mut self, words: &[u32; AT_ONCE as usize]) {
        for i in 0..AT_ONCE {
            if self.next < self.end {
                // SAFETY: the caller's promise.
                unsafe { self.put_word(words[i as usize]) }
            }
            self.next += self.threads;
            self.places.step();
        }
    }

    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn put_word(&self, word: u32) {
        let Places { at: place, gap, .. } = self.places;
        // SAFETY: the caller's promise.
        unsafe {
            if !self.halves {
                at(place).write(f32::from_bits(word));
                return;
            }
            at(place).write((word & 0xffff) as f32);
            if 2 * self.next + 1 < self.numbers {
                let last = self.places.place + 1 == self.places.length;
                at(place + 1 + if last { gap } else { 0 }).write((word >> 16) as f32);
            }
        }
    }

    /// Copies all that are left.
    ///
    /// # Safety
    /// As for reading and writing.
    #[inline(always)]
    pub(super) unsafe fn copy(mut self) {
        while self.halves && self.next < self.end {
            // SAFETY: the caller's promise.
            unsafe {
                let words = self.read();
                self.put(&words);
            }
        }
        let (together, last) = (AT_ONCE * self.threads, self.end.wrapping_sub(1));
        while self.next < self.end {
            let mut words = [0; AT_ONCE as usize];
            // Words that are all there need no look at each; past the last, the last is read again.
            let whole = self.next + together - self.threads < self.end;
            // SAFETY: the caller's promise.
            unsafe {
                if whole {
                    for i in 0..AT_ONCE {
                        let at = self.next + i * self.threads;
                        words[i as usize] = self.from.add(at as usize).read();
                    }
                    for i in 0..AT_ONCE {
                        at(self.places.at).write(f32::from_bits(words[i as usize]));
                        self.places.step();
                    }
                    self.next += together;
                    continue;
                }
                for i in 0..AT_ONCE {
                    let at = self.next + i * self.threads;
                    let at = if at < last { at } else { last };
                    words[i as usize] = self.from.add(at as usize).read();
                }
                for i in 0..AT_ONCE {
                    if self.next < self.end {
                        at(self.places.at).write(f32::from_bits(words[i as usize]));
                    }
                    self.next += self.threads;
                    self.places.step();
                }
            }
        }
    }
}

/// A number of the block's shared memory.
#[inline(always)]
fn at(place: u32) -> *mut f32 {
    device::shared_memory().wrapping_add(place as usize)
}
