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

/// The search for the number that is above exactly `rank` others. Where it is, is known better with every count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    rank: usize,
    /// Where numbers are counted next.
    at: f32,
    /// How far apart numbers of successive ranks are there.
    step: f32,
    /// So many numbers are not above `low`, no more than the rank, and so many not above `high`, more than that.
    low: (f32, usize),
    high: (f32, usize),
}

impl Search {
    /// A search among `count` numbers that begins where the number is expected.
    #[inline(always)]
    pub(super) fn new(rank: usize, count: usize, at: f32, step: f32) -> Self {
        let (low, high) = ((f32::NEG_INFINITY, 0), (f32::INFINITY, count));
        Self { rank, at, step, low, high }
    }

    /// Whether the number is known to be above a place.
    #[inline(always)]
    pub(super) fn is_above(&self, place: f32) -> bool {
        self.low.0 >= place
    }

    /// Goes on after `below` numbers turned out to be not above the place. There are no branches: the counts of several searches
    /// run into each other.
    #[inline(always)]
    fn counted(&mut self, below: usize) {
        let Self { rank, at, low, high, .. } = *self;
        let is_low = below <= rank;
        self.low = if is_low { (at, below) } else { low };
        self.high = if is_low { high } else { (at, below) };
        let ((low, few), (high, many)) = (self.low, self.high);
        let missing = rank as f32 + 0.5;
        let share = (missing - few as f32) / (many - few) as f32;
        let between = low + share * (high - low);
        let beyond = at + (missing - below as f32) * self.step;
        let bounded = (low > f32::NEG_INFINITY) & (high < f32::INFINITY);
        let next = if bounded { between } else { beyond };
        self.step *= 2.0;
        self.at = if (low < next) & (next < high) { next } else { at };
    }
}

/// Counts of searches side by side, before each goes on by itself.
const COUNTS: usize = 3;

/// Goes on with some searches side by side, each among numbers of its own.
#[inline(always)]
pub(super) fn narrow<const MOST: usize>(numbers: &[Numbers<MOST>], searches: &mut [Search]) {
    for _ in 0..COUNTS {
        for (numbers, search) in numbers.iter().zip(searches.iter_mut()) {
            search.counted(numbers.up_to(search.at));
        }
    }
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

    /// The number that a search is for.
    #[inline(always)]
    pub(super) fn end(&mut self, mut search: Search) -> f32 {
        let rank = search.rank;
        for _ in 0..MOST_COUNTS {
            let Search { at, low, high, .. } = search;
            if low.1 == rank {
                return self.next_above(low.0);
            }
            if high.1 == rank + 1 && high.0 < f32::INFINITY {
                return self.last_up_to(high.0);
            }
            let below = self.up_to(at);
            if below == low.1 || below == high.1 {
                // Between two places that are told apart by no number lies at most one, many times.
                search.at = self.next_above(low.0);
                let below = self.up_to(search.at);
                if below > rank {
                    return search.at;
                }
                search.counted(below);
            } else {
                search.counted(below);
            }
        }
        let count = self.count;
        let numbers = &mut self.numbers.as_flattened_mut()[..count];
        *numbers.select_nth_unstable_by(rank, f32::total_cmp).1
    }
}

#[cfg(test)]
mod tests {
    use fit_sim::Random;

    use super::*;

    /// Proves that searches find what sorting finds: wherever they begin, among numbers that differ, among equals, and among numbers of very
    /// different sizes.
    #[test]
    fn ranks_are_those_of_sorted_numbers() {
        let mut random = Random::new(5, 0);
        for case in 0..2000 {
            let count = 1 + (random.uniform() * 590.0) as usize;
            let mut some = [Numbers::<10>::new()];
            some[0].clear();
            for _ in 0..count {
                let number = random.normal() as f32;
                some[0].add(match case % 5 {
                    0 => number,
                    1 => (3.0 * number).round(),
                    2 => number.abs().floor(),
                    3 => (20.0 * number).exp().min(1e30),
                    _ => 100.0,
                });
            }
            let mut sorted = some[0].all().to_vec();
            sorted.sort_by(f32::total_cmp);
            for rank in [0, count / 6, count / 2, count - 1] {
                let start = [0.0, sorted[rank], 1e6, -7.0, 3.0][(random.uniform() * 5.0) as usize];
                let step = [0.0, 1.0 / count as f32, 100.0][case % 3];
                let mut search = [Search::new(rank, count, start, step)];
                narrow(&some, &mut search);
                let found = some[0].end(search[0]);
                assert_eq!(found, sorted[rank], "case {case}: {rank} of {count}");
                assert!(!search[0].is_above(found));
            }
        }
    }
}
