//! The number of a given rank among a few hundred, as sorting would find it. It is found by counting, many numbers at a time:
//! what is expected of the noise tells about where it is, and how many numbers are below says how far off that was.

/// Numbers that are counted together.
const LANES: usize = 64;

/// How often counts may lead to a better place before the numbers are sorted.
const MOST_COUNTS: usize = 24;

/// Some numbers, none of which is NaN or infinite.
#[derive(Debug)]
pub(super) struct Numbers<const MOST: usize> {
    /// Infinite from `count` on.
    numbers: [[f32; LANES]; MOST],
    count: usize,
}

/// Where a number of some rank is expected.
#[derive(Clone, Copy)]
pub(super) struct Guess {
    pub(super) at: f32,
    /// How far apart numbers of successive ranks are there.
    pub(super) step: f32,
}

impl<const MOST: usize> Numbers<MOST> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { numbers: [[f32::INFINITY; LANES]; MOST], count: 0 }
    }

    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.numbers.as_flattened_mut()[..self.count].fill(f32::INFINITY);
        self.count = 0;
    }

    /// How many of the blocks hold so many numbers.
    pub(super) const fn blocks(numbers: usize) -> usize {
        numbers.div_ceil(LANES)
    }

    /// Adds a number.
    #[inline(always)]
    pub(super) fn add(&mut self, number: f32) {
        self.numbers.as_flattened_mut()[self.count] = number;
        self.count += 1;
    }

    #[inline(always)]
    pub(super) fn all(&self) -> &[f32] {
        &self.numbers.as_flattened()[..self.count]
    }

    /// Adds every other number of a line, from the first one on.
    #[inline(always)]
    pub(super) fn add_every_other(&mut self, line: &[f32]) {
        let count = line.len().div_ceil(2);
        let to = &mut self.numbers.as_flattened_mut()[self.count..self.count + count];
        let (pairs, last) = line.as_chunks::<2>();
        for (to, pair) in to.iter_mut().zip(pairs) {
            *to = pair[0];
        }
        if let (Some(to), [last]) = (to.last_mut(), last) {
            *to = *last;
        }
        self.count += count;
    }

    #[inline(always)]
    fn used(&self) -> &[[f32; LANES]] {
        &self.numbers[..self.count.div_ceil(LANES)]
    }

    /// How many numbers are not above one.
    #[inline(always)]
    fn up_to(&self, at: f32) -> usize {
        let mut counts = [0u32; LANES];
        for numbers in self.used() {
            for (count, &number) in counts.iter_mut().zip(numbers) {
                *count += u32::from(number <= at);
            }
        }
        counts.iter().sum::<u32>() as usize
    }

    /// The lowest number above one.
    #[inline(always)]
    fn next_above(&self, at: f32) -> f32 {
        let mut next = [f32::INFINITY; LANES];
        for numbers in self.used() {
            for (next, &number) in next.iter_mut().zip(numbers) {
                let number = if number > at { number } else { f32::INFINITY };
                *next = if number < *next { number } else { *next };
            }
        }
        next.iter().fold(f32::INFINITY, |a, &b| if b < a { b } else { a })
    }

    /// The highest number that is not above one.
    #[inline(always)]
    fn last_up_to(&self, at: f32) -> f32 {
        let mut last = [f32::NEG_INFINITY; LANES];
        for numbers in self.used() {
            for (last, &number) in last.iter_mut().zip(numbers) {
                let number = if number <= at { number } else { f32::NEG_INFINITY };
                *last = if number > *last { number } else { *last };
            }
        }
        last.iter().fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a })
    }

    /// The number above exactly `rank` others, if they were sorted.
    #[inline(always)]
    pub(super) fn of_rank(&mut self, rank: usize, guess: Guess) -> f32 {
        let Guess { mut at, mut step } = guess;
        // So many numbers are not above `low`, fewer than the rank, and so many not above `high`.
        let (mut low, mut high) = ((f32::NEG_INFINITY, 0), (f32::INFINITY, self.count));
        for _ in 0..MOST_COUNTS {
            let below = self.up_to(at);
            if below == rank {
                return self.next_above(at);
            }
            if below == rank + 1 {
                return self.last_up_to(at);
            }
            // Between two places that are told apart by no number lies at most one, many times.
            let tied = below == low.1 || below == high.1;
            if below < rank {
                low = (at, below);
            } else {
                high = (at, below);
            }
            let missing = rank as f32 + 0.5;
            at = if tied || low.1 + 1 >= high.1 {
                let next = self.next_above(low.0);
                let below = self.up_to(next);
                if below > rank {
                    return next;
                }
                low = (next, below);
                next
            } else if low.0 > f32::NEG_INFINITY && high.0 < f32::INFINITY {
                let share = (missing - low.1 as f32) / (high.1 - low.1) as f32;
                low.0 + share * (high.0 - low.0)
            } else {
                let next = at + (missing - below as f32) * step;
                step *= 2.0;
                next
            };
            if !(at >= low.0 && at < high.0) {
                break;
            }
        }
        let count = self.count;
        let numbers = &mut self.numbers.as_flattened_mut()[..count];
        *numbers.select_nth_unstable_by(rank, f32::total_cmp).1
    }
}
