//! Which data sets depend on each other.

use std::collections::HashMap;

use fit_curves::Sharing;

/// The data sets of each part, in the order of the first of each: those that depend on each other by what they share.
pub(in crate::model) fn parts_of(sharing: &Sharing, count: usize) -> Vec<Vec<usize>> {
    let mut roots: Vec<usize> = (0..count).collect();
    for (_, groups) in &sharing.shared {
        let mut first: HashMap<usize, usize> = HashMap::new();
        for fit in 0..count {
            let group = groups.as_ref().map_or(0, |groups| groups[fit]);
            let other = *first.entry(group).or_insert(fit);
            let (one, two) = (root(&mut roots, fit), root(&mut roots, other));
            roots[one.max(two)] = one.min(two);
        }
    }
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut number = vec![0; count];
    for fit in 0..count {
        let first = root(&mut roots, fit);
        if first == fit {
            number[fit] = parts.len();
            parts.push(Vec::new());
        }
        parts[number[first]].push(fit);
    }
    parts
}

fn root(roots: &mut [usize], mut at: usize) -> usize {
    while roots[at] != at {
        roots[at] = roots[roots[at]];
        at = roots[at];
    }
    at
}
