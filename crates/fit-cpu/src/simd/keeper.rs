//! Working memory that is kept from batch to batch: making it takes longer than working on a handful of windows.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was made, with what it was made for.
pub(super) struct Keeper<K, M>(Mutex<Vec<(K, M)>>);

impl<K, M> Default for Keeper<K, M> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: fmt::Debug, M> fmt::Debug for Keeper<K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kept().iter().map(|(key, _)| key)).finish()
    }
}

/// What is in use; it goes back when it is dropped.
pub(super) struct Lent<'a, K, M> {
    keeper: &'a Keeper<K, M>,
    /// So many others may be kept besides.
    most: usize,
    made: Option<(K, M)>,
}

impl<K, M> Keeper<K, M> {
    fn kept(&self) -> MutexGuard<'_, Vec<(K, M)>> {
        // Nothing that can panic is done while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was made for the same earlier if there is any, or is made now.
    pub(super) fn lend<E>(
        &self,
        key: K,
        most: usize,
        make: impl FnOnce() -> Result<M, E>,
    ) -> Result<Lent<'_, K, M>, E>
    where
        K: PartialEq,
    {
        let mut kept = self.kept();
        let same = kept.iter().position(|(other, _)| *other == key);
        let found = same.map(|index| kept.remove(index).1);
        drop(kept);
        let made = found.map_or_else(make, Ok)?;
        Ok(Lent { keeper: self, most, made: Some((key, made)) })
    }
}

impl<K, M> Lent<'_, K, M> {
    /// It is there until this is dropped.
    pub(super) fn get(&mut self) -> Option<&mut M> {
        self.made.as_mut().map(|(_, made)| made)
    }
}

impl<K, M> Drop for Lent<'_, K, M> {
    fn drop(&mut self) {
        let mut kept = self.keeper.kept();
        // That of other sizes or options goes first.
        if kept.len() > self.most {
            kept.remove(0);
        }
        kept.extend(self.made.take());
    }
}
