//! The tables of the window, in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use spotfit::table::Unit;

use super::answer::Refused;
use super::held::Held;

/// The symbol of a unit.
pub(super) fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::Pixel => "px",
        Unit::Nanometre => "nm",
        Unit::Photon => "photon",
        Unit::Radian => "rad",
        Unit::Second => "s",
        _ => "",
    }
}

/// The most tables of a request.
const MOST: usize = 8;

/// Refuses a request for more tables than a window shows together, or for one of them twice.
pub(super) fn each_once(tables: &[usize]) -> Result<(), Refused> {
    let twice = |at: usize| tables[..at].contains(&tables[at]);
    if tables.len() > MOST || (0..tables.len()).any(twice) {
        return Err(Refused::wrong(format!("a request is for at most {MOST} tables, each once")));
    }
    Ok(())
}

/// A table as the page knows it.
#[derive(Clone, Debug)]
struct Entry {
    name: String,
    /// As commands name it; none while it is made.
    path: Option<String>,
    held: Arc<Held>,
    growing: bool,
    /// Why it cannot be read.
    error: Option<String>,
    /// What made it.
    command: Option<String>,
}

/// All tables; each has the number of its place, which stays empty when the table is gone.
#[derive(Debug, Default)]
pub(super) struct Tables(Mutex<Vec<Option<Entry>>>);

impl Tables {
    fn all(&self) -> MutexGuard<'_, Vec<Option<Entry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(
        &self,
        name: &str,
        path: Option<&str>,
        held: Held,
        growing: bool,
        command: Option<&str>,
    ) -> usize {
        let (name, path) = (name.to_owned(), path.map(str::to_owned));
        let (held, command) = (Arc::new(held), command.map(str::to_owned));
        let mut all = self.all();
        all.push(Some(Entry { name, path, held, growing, error: None, command }));
        all.len() - 1
    }

    /// The same table has other rows from now on.
    pub(super) fn set(&self, id: usize, held: Held, growing: bool) {
        if let Some(Some(entry)) = self.all().get_mut(id) {
            (entry.held, entry.growing) = (Arc::new(held), growing);
        }
    }

    /// A table cannot be read.
    pub(super) fn fails(&self, id: usize, error: &str) {
        if let Some(Some(entry)) = self.all().get_mut(id) {
            (entry.growing, entry.error) = (false, Some(error.to_owned()));
        }
    }

    /// A table is in this file from now on.
    pub(super) fn is_in(&self, id: usize, path: &str) {
        if let Some(Some(entry)) = self.all().get_mut(id) {
            entry.path = Some(path.to_owned());
        }
    }

    /// A table is gone.
    pub(super) fn remove(&self, id: usize) {
        if let Some(entry) = self.all().get_mut(id) {
            *entry = None;
        }
    }

    /// Those before this one that were in the same file are gone.
    pub(super) fn replaces(&self, id: usize) {
        let mut all = self.all();
        let Some(Some(own)) = all.get(id).cloned() else { return };
        for entry in all.iter_mut().take(id) {
            entry.take_if(|entry| entry.path.is_some() && entry.path == own.path);
        }
    }

    pub(super) fn get(&self, id: usize) -> Result<Arc<Held>, Refused> {
        let missing = || Refused::missing(format!("there is no table {id}"));
        let found = self.all().get(id).and_then(Option::as_ref).map(|entry| entry.held.clone());
        found.ok_or_else(missing)
    }

    /// As commands name it.
    pub(super) fn path(&self, id: usize) -> Option<String> {
        self.all().get(id).and_then(Option::as_ref).and_then(|entry| entry.path.clone())
    }

    /// Those that are in files, with their paths.
    pub(super) fn named(&self) -> Vec<(usize, String)> {
        let all = self.all();
        let named =
            |(id, entry): (usize, &Option<Entry>)| Some((id, entry.as_ref()?.path.clone()?));
        all.iter().enumerate().filter_map(named).collect()
    }

    pub(super) fn all_told(&self) -> Vec<Value> {
        let count = self.all().len();
        (0..count).map(|id| self.told(id)).filter(|told| !told.is_null()).collect()
    }

    /// What the page must know of a table.
    pub(super) fn told(&self, id: usize) -> Value {
        let Some(Some(entry)) = self.all().get(id).cloned() else { return Value::Null };
        let Held { unit, info, summary, .. } = &*entry.held;
        json!({
            "id": id,
            "name": entry.name,
            "path": entry.path,
            "rows": entry.held.rows(),
            "unit": symbol(*unit),
            "pixel_size": info.pixel_size,
            "extent": summary.extent,
            "frames": info.frames.or(summary.frames),
            "columns": summary.columns,
            "growing": entry.growing,
            "error": entry.error,
            "command": entry.command,
        })
    }
}
