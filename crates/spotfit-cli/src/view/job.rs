//! Verbs that the window runs, one after the other.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spotfit::output::Seen;
use spotfit::steps::{Listener, Note, Silent, Source};
use spotfit::table::Table;

use super::answer::Refused;
use super::held::Held;
use super::session::Session;
use super::words::Checked;
use crate::error::{CliError, words_of};
use crate::say::hearer::{Hearer, heard_by};

/// The most jobs that wait.
const MOST: usize = 100;
/// How often progress is told.
const PACE: Duration = Duration::from_millis(100);
/// A table that grows is shown anew when it is larger by this, and no sooner than after [`PAUSE`].
const GROWTH: f64 = 1.25;
const PAUSE: Duration = Duration::from_millis(500);

/// A verb that waits or runs.
struct Job {
    number: u64,
    checked: Checked,
    cancelled: Arc<AtomicBool>,
}

/// All that wait, and the one that runs.
#[derive(Default)]
struct Queue {
    last: u64,
    waiting: VecDeque<Job>,
    running: Option<(u64, String, Arc<AtomicBool>)>,
    closed: bool,
}

/// The jobs of a window.
#[derive(Default)]
pub(super) struct Jobs {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Jobs {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job; the result is its number.
    pub(super) fn add(&self, checked: Checked) -> Result<u64, Refused> {
        let mut queue = self.queue();
        if queue.waiting.len() >= MOST {
            return Err(Refused::wrong("too many jobs are waiting"));
        }
        queue.last += 1;
        let number = queue.last;
        queue.waiting.push_back(Job { number, checked, cancelled: Arc::default() });
        self.changed.notify_one();
        Ok(number)
    }

    /// Ends a job. One that waits is told to have failed when its turn comes.
    pub(super) fn cancel(&self, number: u64) {
        let queue = self.queue();
        let running = queue.running.iter().map(|(own, _, cancelled)| (*own, cancelled));
        let waiting = queue.waiting.iter().map(|job| (job.number, &job.cancelled));
        let found = running.chain(waiting).filter(|(own, _)| *own == number);
        found.for_each(|(_, cancelled)| cancelled.store(true, Ordering::Relaxed));
    }

    pub(super) fn cancel_all(&self) {
        let mut queue = self.queue();
        queue.closed = true;
        queue.waiting.clear();
        if let Some((_, _, cancelled)) = &queue.running {
            cancelled.store(true, Ordering::Relaxed);
        }
        self.changed.notify_all();
    }

    pub(super) fn is_running(&self) -> bool {
        self.queue().running.is_some()
    }

    /// The number of the one that runs, unless jobs are being changed.
    pub(super) fn running(&self) -> Option<u64> {
        self.queue.try_lock().ok()?.running.as_ref().map(|(number, ..)| *number)
    }

    /// Those that run and wait.
    pub(super) fn told(&self) -> Value {
        let queue = self.queue();
        let running = queue.running.iter().map(|(number, command, _)| (*number, command.as_str()));
        let waiting = queue.waiting.iter().map(|job| (job.number, job.checked.command.as_str()));
        let all = running.chain(waiting);
        all.map(|(job, command)| json!({ "job": job, "command": command })).collect()
    }

    /// Runs what is asked for, until the window is closed.
    pub(super) fn work(session: &Arc<Session>) {
        loop {
            let mut queue = session.jobs.queue();
            queue.running = None;
            let job = loop {
                if queue.closed {
                    return;
                }
                if let Some(job) = queue.waiting.pop_front() {
                    break job;
                }
                let waited = session.jobs.changed.wait(queue);
                queue = waited.unwrap_or_else(PoisonError::into_inner);
            };
            let command = job.checked.command.clone();
            queue.running = Some((job.number, command, job.cancelled.clone()));
            drop(queue);
            run(session, &job);
        }
    }
}

/// Runs a job, and tells what came of it.
fn run(session: &Arc<Session>, job: &Job) {
    let hearer = Rc::new(Page::new(session.clone(), job));
    let work = || match job.cancelled.load(Ordering::Relaxed) {
        true => Err(CliError::Interrupted),
        false => (session.verbs.run)(&job.checked.words),
    };
    let told = match heard_by(hearer.clone(), work).and_then(|()| hearer.made()) {
        Ok(told) => told,
        Err(error) => {
            hearer.forget();
            let text = match error {
                CliError::Interrupted => "cancelled; no output was written".to_owned(),
                error => error.to_string(),
            };
            failed(Some(job.number), &text)
        }
    };
    session.events.tell(&told);
}

/// That a job has failed, or something that is none.
pub(super) fn failed(job: Option<u64>, error: &str) -> Value {
    json!({ "kind": "failed", "job": job, "error": error })
}

/// What the page hears of a job.
struct Page {
    session: Arc<Session>,
    number: u64,
    checked: Checked,
    cancelled: Arc<AtomicBool>,
    /// The total and its unit, and how much of it is done.
    total: Cell<(u64, &'static str)>,
    done: Cell<u64>,
    found: Cell<Option<u64>>,
    told: Cell<Option<Instant>>,
    text: RefCell<Vec<String>>,
    printed: RefCell<String>,
    report: RefCell<Option<Value>>,
    growing: RefCell<Option<Growing>>,
}

/// The table of a job, as far as it is there.
struct Growing {
    /// Its number, if it can be shown.
    id: Option<usize>,
    rows: Table,
    shown: usize,
    when: Instant,
}

impl Page {
    fn new(session: Arc<Session>, job: &Job) -> Self {
        Self {
            session,
            number: job.number,
            checked: job.checked.clone(),
            cancelled: job.cancelled.clone(),
            total: Cell::new((0, "")),
            done: Cell::new(0),
            found: Cell::new(None),
            told: Cell::new(None),
            text: RefCell::default(),
            printed: RefCell::default(),
            report: RefCell::default(),
            growing: RefCell::default(),
        }
    }

    fn tell_progress(&self, always: bool) {
        let due = self.told.get().is_none_or(|told| told.elapsed() >= PACE);
        if !(due || always) {
            return;
        }
        self.told.set(Some(Instant::now()));
        let (total, unit) = self.total.get();
        self.session.events.tell(&json!({
            "kind": "progress", "job": self.number, "done": self.done.get(), "total": total, "unit": unit,
            "found": self.found.get(),
        }));
    }

    /// Shows the rows so far.
    fn show(&self, growing: &mut Growing) {
        let source = Source::of(growing.rows.emptied());
        let Ok(held) = Held::of(growing.rows.clone(), &source) else { return };
        let (tables, Some(id)) = (&self.session.tables, growing.id) else { return };
        tables.set(id, held, true);
        let table = tables.told(id);
        self.session.events.tell(&json!({ "kind": "rows", "job": self.number, "table": table }));
        (growing.shown, growing.when) = (growing.rows.rows(), Instant::now());
    }

    /// The table that was shown while it grew will not be.
    fn forget(&self) {
        if let Some(id) = self.growing.take().and_then(|growing| growing.id) {
            self.session.tables.remove(id);
        }
    }

    /// What was made, when all of it is there.
    fn made(&self) -> Result<Value, CliError> {
        let Self { session, checked, .. } = self;
        let (mut tables, mut files) = (Vec::new(), Vec::new());
        for made in &checked.outputs {
            session.makes(&made.name);
            if !made.is_table {
                files.push(made.name.clone());
                continue;
            }
            // As everybody will read it.
            let source = Source::file(&made.name);
            let held = Held::of(source.load(None, &Silent)?, &source)?;
            let (name, command) = (made.name.as_str(), checked.command.as_str());
            let growing = self.growing.take().and_then(|growing| growing.id);
            let id = match growing {
                Some(id) => {
                    session.tables.set(id, held, false);
                    session.tables.is_in(id, name);
                    id
                }
                None => session.tables.add(name, Some(name), held, false, Some(command)),
            };
            session.tables.replaces(id);
            tables.push(session.tables.told(id));
        }
        let printed = self.printed.take();
        let report = self.report.take().or_else(|| serde_json::from_str(&printed).ok());
        let mut text = self.text.take();
        text.extend(Some(printed.trim_end().to_owned()).filter(|text| !text.is_empty()));
        Ok(json!({
            "kind": "done", "job": self.number, "text": text.join("\n"), "report": report, "tables": tables,
            "files": files, "command": checked.command,
        }))
    }
}

impl Listener for Page {
    fn begin(&self, total: u64, unit: &'static str) {
        self.total.set((total, unit));
        self.done.set(0);
        self.tell_progress(true);
    }

    fn progress(&self, done: u64) {
        self.done.set(done);
        self.tell_progress(done == self.total.get().0);
    }

    fn found(&self, localizations: u64) {
        self.found.set(Some(localizations));
    }

    fn note(&self, note: &Note) {
        let text = words_of(note.text());
        self.session.events.tell(&json!({ "kind": "note", "job": self.number, "text": text }));
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl Hearer for Page {
    fn tell(&self, text: &str) {
        self.text.borrow_mut().push(text.to_owned());
    }

    fn print(&self, text: &str) {
        self.printed.borrow_mut().push_str(text);
    }

    fn report(&self, report: &str) {
        *self.report.borrow_mut() = serde_json::from_str(report).ok();
    }

    fn rows(&self, block: &Table) {
        if self.checked.verb != "localize" {
            return;
        }
        let mut growing = self.growing.borrow_mut();
        let growing = growing.get_or_insert_with(|| {
            let source = Source::of(block.emptied());
            let name = self.checked.outputs.first().map_or("", |made| made.name.as_str());
            let command = Some(self.checked.command.as_str());
            let held = Held::empty(block, &source).ok();
            let id = held.map(|held| self.session.tables.add(name, None, held, true, command));
            Growing { id, rows: Table::default(), shown: 0, when: Instant::now() }
        });
        if growing.rows.append(block).is_err() {
            return;
        }
        let enough = growing.rows.rows() as f64 >= GROWTH * growing.shown as f64;
        if enough && growing.rows.rows() > growing.shown && growing.when.elapsed() >= PAUSE {
            self.show(growing);
        }
    }

    fn seen(&self, output: &Path) -> Option<Seen> {
        let own = self.checked.outputs.iter().find(|made| Path::new(&made.name) == output);
        // What the window itself has made since then is replaced.
        own.filter(|made| !self.session.has_made(&made.name)).map(|made| made.seen.clone())
    }

    fn words(&self) -> &[OsString] {
        &self.checked.words
    }
}
