//! What the fits of a block come with, on its way from the device's or the host's memory to shared memory.

use crate::{CurveJob, device};

/// Words that a thread reads at the same time.
const AT_ONCE: u32 = 8;

/// Where numbers go that come one after the other, `length` of each fit.
struct Places {
    fit: u32,
    place: u32,
    length: u32,
    /// From a number to that of the same thread which comes next.
    fits: u32,
    places: u32,
}

impl Places {
    /// Those of a thread that reads so many numbers together.
    #[inline(always)]
    fn new(length: u32, together: u32) -> Self {
        let (thread, _, threads) = device::place();
        let (length, first, step) = (length.max(1), together * thread, together * threads);
        Self {
            fit: first / length,
            place: first % length,
            length,
            fits: step / length,
            places: step % length,
        }
    }

    /// Moves on to the next.
    #[inline(always)]
    fn step(&mut self) {
        self.fit += self.fits;
        self.place += self.places;
        if self.place >= self.length {
            self.place -= self.length;
            self.fit += 1;
        }
    }
}

/// Numbers that each fit of a block has, on their way to shared memory.
pub(super) struct Part {
    /// Words, or, if they are `halves` of words, whole numbers.
    from: *const u32,
    halves: bool,
    /// Words of all fits of the block.
    end: u32,
    /// The fits of the block.
    count: u32,
    /// Where the first fit has them in shared memory, and the numbers to the next fit.
    to: usize,
    stride: usize,
    places: Places,
    /// The next word of this thread, and the threads of the block.
    next: u32,
    threads: u32,
}

impl Part {
    /// `length` numbers of each fit, for `to` and where other fits have the same.
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
        let places = Places::new(length as u32, together);
        Self { from, halves, end, count, to, stride: job.stride(), places, next: thread, threads }
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
        let Places { mut fit, mut place, length, .. } = self.places;
        // SAFETY: the caller's promise.
        unsafe {
            if !self.halves {
                self.at(fit, place).write(f32::from_bits(word));
                return;
            }
            self.at(fit, place).write((word & 0xffff) as f32);
            place += 1;
            if place == length {
                (fit, place) = (fit + 1, 0);
            }
            if fit < self.count {
                self.at(fit, place).write((word >> 16) as f32);
            }
        }
    }

    #[inline(always)]
    fn at(&self, fit: u32, place: u32) -> *mut f32 {
        device::shared_memory().wrapping_add(self.to + fit as usize * self.stride + place as usize)
    }

    /// Copies all that are left.
    ///
    /// # Safety
    /// As for reading and writing.
    #[inline(always)]
    pub(super) unsafe fn copy(mut self) {
        while self.next < self.end {
            // SAFETY: the caller's promise.
            unsafe {
                let words = self.read();
                self.put(&words);
            }
        }
    }
}
