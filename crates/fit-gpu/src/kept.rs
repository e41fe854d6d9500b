//! What the driver has compiled, kept to be used again.

use std::sync::{Arc, Mutex, OnceLock};

use crate::GpuError;
use crate::pool::lock;

/// What was compiled, by what it is known by. The last that was used comes first.
pub(crate) struct Kept<K, V> {
    all: Mutex<Vec<Entry<K, V>>>,
    /// The place of one that is too much, if there is any.
    surplus: fn(&[Entry<K, V>]) -> Option<usize>,
}

/// What is known by a key, and has a place from when it is needed first.
pub(crate) type Entry<K, V> = (K, Arc<Place<V>>);

/// What the driver made, and who is about to have it made.
pub(crate) struct Place<V> {
    made: OnceLock<V>,
    making: Mutex<()>,
}

impl<K, V: Clone> Kept<K, V> {
    pub(crate) fn new(surplus: fn(&[Entry<K, V>]) -> Option<usize>) -> Self {
        Self { all: Mutex::default(), surplus }
    }

    /// The place of a key, which comes first from now on.
    fn place(&self, is: impl Fn(&K) -> bool, key: impl FnOnce() -> K) -> Arc<Place<V>> {
        // Who uses them still has a share in them; else to unload them may take a while, and others need not wait for that.
        let mut gone = Vec::new();
        let mut all = lock(&self.all);
        if let Some(at) = all.iter().position(|(its, _)| is(its)) {
            all[..=at].rotate_right(1);
        } else {
            let place = Place { made: OnceLock::new(), making: Mutex::new(()) };
            all.insert(0, (key(), Arc::new(place)));
            while let Some(at) = (self.surplus)(&all) {
                gone.push(all.remove(at));
            }
        }
        Arc::clone(&all[0].1)
    }

    /// What is made once for a key. Whoever needs another one does not wait for that.
    pub(crate) fn get(
        &self,
        is: impl Fn(&K) -> bool,
        key: impl FnOnce() -> K,
        make: impl FnOnce() -> Result<V, GpuError>,
    ) -> Result<V, GpuError> {
        let place = self.place(is, key);
        if let Some(made) = place.made.get() {
            return Ok(made.clone());
        }
        let _making = lock(&place.making);
        match place.made.get() {
            Some(made) => Ok(made.clone()),
            None => make().map(|made| place.made.get_or_init(|| made).clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that what is needed is made once, or again after an error.
    #[test]
    fn each_is_made_once() {
        let kept = Kept::<usize, usize>::new(|_| None);
        let made = |value| kept.get(|&its| its == 7, || 7, || value);
        assert!(made(Err(GpuError::NoDriver)).is_err());
        assert_eq!(made(Ok(5)).expect("made"), 5);
        assert_eq!(made(Ok(6)).expect("made before"), 5);
    }
}
