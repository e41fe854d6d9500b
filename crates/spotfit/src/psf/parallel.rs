//! Work for all threads: rayon's code stands once in the program, whatever is done.

use std::sync::OnceLock;

use rayon::prelude::*;

/// What a function makes of each number below a count.
pub(super) fn of_each<T: Send + Sync>(count: usize, of: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let all: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    each(count, &|number| drop(all[number].set(of(number))));
    all.into_iter().filter_map(OnceLock::into_inner).collect()
}

fn each(count: usize, of: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(of);
}

/// Changes each of many.
pub(super) fn change_each<T: Send>(all: &mut [T], of: &(dyn Fn(&mut T) + Sync)) {
    all.par_iter_mut().for_each(of);
}
