//! Sorting by a comparison behind a pointer: the code of a sort stands once in the program, and not for each type and comparison.

use std::cmp::Ordering;
use std::mem::replace;

/// Sorts; equal ones keep their order. It is for few, or for what is done once: it takes memory, and is slower than the sort of a slice.
pub fn sort_by<T>(all: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let swaps = swaps(all.len(), &|a, b| compare(&all[a], &all[b]));
    swaps.into_iter().for_each(|(a, b)| all.swap(a, b));
}

/// The same by a key.
pub fn sort_by_key<T, K: Ord>(all: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(all, |a, b| key(a).cmp(&key(b)));
}

/// What is to be swapped, one after the other, until all are sorted.
fn swaps(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<(usize, usize)> {
    let mut from: Vec<usize> = (0..count).collect();
    from.sort_by(|&a, &b| compare(a, b));
    let mut swaps = Vec::new();
    for start in 0..count {
        let mut at = start;
        loop {
            // The first of a circle has been swapped to its end.
            let next = replace(&mut from[at], at);
            if next == start {
                break;
            }
            swaps.push((at, next));
            at = next;
        }
    }
    swaps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that it sorts as slices do, and keeps the order of equal ones.
    #[test]
    fn it_sorts_as_slices_do() {
        for count in 0..200_u64 {
            let all = (0..count).map(|n| (n * n * 7919 % 23, n.to_string()));
            let (mut ours, mut theirs): (Vec<_>, Vec<_>) =
                all.map(|one| (one.clone(), one)).unzip();
            sort_by_key(&mut ours, |one| one.0);
            theirs.sort_by_key(|one| one.0);
            assert_eq!(ours, theirs);
            sort_by(&mut ours, |a, b| b.1.cmp(&a.1));
            theirs.sort_by(|a, b| b.1.cmp(&a.1));
            assert_eq!(ours, theirs);
        }
    }
}
