//! Work for all threads: rayon's code stands once in the program, whatever is done.

use std::sync::OnceLock;

use rayon::prelude::*;

/// What a function makes of each number below a count.
pub fn of_each<T: Send + Sync>(count: usize, of: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let all: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    each(count, &|number| drop(all[number].set(of(number))));
    all.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// What a function makes of each of many.
pub fn of_all<A: Sync, T: Send + Sync>(all: &[A], of: impl Fn(&A) -> T + Sync) -> Vec<T> {
    of_each(all.len(), &|number| of(&all[number]))
}

fn each(count: usize, of: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(of);
}

/// Changes parts of so many, of which the last may be shorter, with their numbers.
pub fn change_parts<T: Send>(all: &mut [T], length: usize, of: &(dyn Fn(usize, &mut [T]) + Sync)) {
    all.par_chunks_mut(length).enumerate().for_each(|(number, part)| of(number, part));
}

/// Changes each of many.
pub fn change_each<T: Send>(all: &mut [T], of: &(dyn Fn(&mut T) + Sync)) {
    all.par_iter_mut().for_each(of);
}
