//! The number of a given rank among a few hundred, as sorting would find it. It is found by counting, many numbers at a time:
//! what is expected of the noise tells about where it is, and how many numbers are below says how far off that was.

/// Numbers that are counted together.
const LANES: usize = 64;

/// So many of a line are looked at together when every other one is added.
pub(super) const BEYOND: usize = 16;

/// How often counts may lead to a better place before the numbers are sorted.
const MOST_COUNTS: usize = 24;

/// Some numbers, none of which is NaN or infinite.
#[derive(Debug)]
pub(super) struct Numbers<const MOST: usize> {
    /// Their keys: whole numbers of the same order, of which loops are over more at a time. The highest ones from `count` on to the end of
    /// the block, once they are [sealed](Numbers::seal).
    keys: [[i32; LANES]; MOST],
    count: usize,
}

/// What has the order of the number among whole ones, and back.
#[inline(always)]
fn key(number: f32) -> i32 {
    turned(number.to_bits().cast_signed())
}

#[inline(always)]
fn number(key: i32) -> f32 {
    f32::from_bits(turned(key).cast_unsigned())
}

/// Negative numbers have the order of their sizes, turned round.
#[inline(always)]
fn turned(bits: i32) -> i32 {
    bits ^ (((bits >> 31).cast_unsigned()) >> 1).cast_signed()
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

/// What lies around a place: how many numbers are not above it, the highest of them, and the lowest of the others.
struct Around {
    up_to: usize,
    last: f32,
    next: f32,
}

impl Search {
    /// A search among `count` numbers that begins where the number is expected.
    #[inline(always)]
    pub(super) fn new(rank: usize, count: usize, at: f32, step: f32) -> Self {
        let (low, high) = ((f32::NEG_INFINITY, 0), (f32::INFINITY, count));
        Self { rank, at, step, low, high }
    }

    /// A place that the number is known not to be above.
    #[inline(always)]
    pub(super) fn highest(&self) -> f32 {
        self.high.0
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

/// Goes on with those of some searches that are wanted, side by side, each among numbers of its own.
#[inline(always)]
pub(super) fn narrow<const MOST: usize>(
    numbers: &[Numbers<MOST>],
    searches: &mut [Search],
    wanted: impl Fn(usize) -> bool,
) {
    for _ in 0..COUNTS {
        for (i, (numbers, search)) in numbers.iter().zip(searches.iter_mut()).enumerate() {
            if wanted(i) {
                search.counted(numbers.up_to(search.at));
            }
        }
    }
}

impl<const MOST: usize> Numbers<MOST> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { keys: [[i32::MAX; LANES]; MOST], count: 0 }
    }

    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// How many of the blocks hold so many numbers.
    pub(super) const fn blocks(numbers: usize) -> usize {
        numbers.div_ceil(LANES)
    }

    /// How many numbers there are.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Adds a number.
    #[inline(always)]
    pub(super) fn add(&mut self, number: f32) {
        self.keys.as_flattened_mut()[self.count] = key(number);
        self.count += 1;
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = f32> {
        self.keys.as_flattened()[..self.count].iter().map(|&key| number(key))
    }

    /// Adds every other number of a part of a line, from its first one on.
    #[inline(always)]
    pub(super) fn add_every_other(&mut self, line: &[f32], [start, end]: [usize; 2]) {
        let mut from = start;
        while from < end {
            let to = &mut self.keys.as_flattened_mut()[self.count..];
            let left = (end - from).div_ceil(2).min(BEYOND / 2);
            // Eight at a time, of which the next ones replace what is too much.
            match (line[from..].first_chunk::<BEYOND>(), to.first_chunk_mut::<{ BEYOND / 2 }>()) {
                (Some(line), Some(to)) => {
                    for i in 0..BEYOND / 2 {
                        to[i] = key(line[2 * i]);
                    }
                }
                _ => {
                    for i in 0..left {
                        to[i] = key(line[from + 2 * i]);
                    }
                }
            }
            self.count += left;
            from += BEYOND;
        }
    }

    /// Ends adding numbers.
    #[inline(always)]
    pub(super) fn seal(&mut self) {
        let end = self.count.next_multiple_of(LANES);
        self.keys.as_flattened_mut()[self.count..end].fill(i32::MAX);
    }

    #[inline(always)]
    fn used(&self) -> &[i32] {
        let end = self.count.next_multiple_of(LANES);
        &self.keys.as_flattened()[..end]
    }

    /// How many numbers are not above one.
    #[inline(always)]
    pub(super) fn up_to(&self, at: f32) -> usize {
        let at = key(at);
        let mut count = 0u32;
        for &key in self.used() {
            count += u32::from(key <= at);
        }
        count as usize
    }

    /// What lies around a place. There must be numbers on the side of which something is wanted.
    #[inline(always)]
    fn around(&self, at: f32) -> Around {
        let at = key(at);
        let above = at.wrapping_add(1);
        // Distances from the place, of which those to the other side are larger than all that there are: they wrap.
        let (mut count, mut down, mut up) = (0u32, u32::MAX, u32::MAX);
        for &key in self.used() {
            count += u32::from(key <= at);
            down = down.min(at.wrapping_sub(key).cast_unsigned());
            up = up.min(key.wrapping_sub(above).cast_unsigned());
        }
        let last = number(at.wrapping_sub_unsigned(down));
        Around { up_to: count as usize, last, next: number(above.wrapping_add_unsigned(up)) }
    }

    /// The number that a search is for.
    #[inline(always)]
    pub(super) fn end(&mut self, mut search: Search) -> f32 {
        let rank = search.rank;
        // The lowest number above what is low, and the highest one that is not above what is high, as far as they are known.
        let (mut first, mut last) = (f32::NEG_INFINITY, f32::INFINITY);
        if search.low.1 == rank {
            search.at = search.low.0;
        } else if search.high.1 == rank + 1 && search.high.0 < f32::INFINITY {
            search.at = search.high.0;
        }
        for _ in 0..MOST_COUNTS {
            let around = self.around(search.at);
            if around.up_to == rank {
                return around.next;
            }
            if around.up_to == rank + 1 {
                return around.last;
            }
            search.counted(around.up_to);
            if around.up_to < rank {
                first = around.next;
            } else {
                last = around.last;
            }
            // All between them are equal.
            if first >= last {
                return last;
            }
            let ((_, few), (_, many)) = (search.low, search.high);
            if first > f32::NEG_INFINITY && last < f32::INFINITY {
                let share = (rank - few) as f32 / (many - 1 - few) as f32;
                search.at = first + share * (last - first);
            }
            // Elsewhere are no numbers.
            search.at = search.at.max(first).min(last.next_down());
        }
        let count = self.count;
        let keys = &mut self.keys.as_flattened_mut()[..count];
        number(*keys.select_nth_unstable(rank).1)
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
            some[0].seal();
            let mut sorted: Vec<f32> = some[0].all().collect();
            sorted.sort_unstable_by(f32::total_cmp);
            for rank in [0, count / 6, count / 2, count - 1] {
                let start = [0.0, sorted[rank], 1e6, -7.0, 3.0][(random.uniform() * 5.0) as usize];
                let step = [0.0, 1.0 / count as f32, 100.0][case % 3];
                let mut search = [Search::new(rank, count, start, step)];
                narrow(&some, &mut search, |_| true);
                let found = some[0].end(search[0]);
                assert_eq!(found, sorted[rank], "case {case}: {rank} of {count}");
                assert!(!search[0].is_above(found));
            }
        }
    }
}
