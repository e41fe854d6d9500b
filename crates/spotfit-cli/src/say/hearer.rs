//! Who hears what a verb says and asks: the terminal, or somebody who runs the verb within this process.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;

use spotfit::output::Seen;
use spotfit::steps::Listener;
use spotfit::table::Table;

/// Runs a verb within this process, and hears what the terminal would.
pub(crate) trait Hearer: Listener {
    /// A message, which goes to standard error otherwise.
    fn tell(&self, text: &str);
    /// A result, which goes to standard output otherwise.
    fn print(&self, text: &str);
    /// The report of the verb as JSON.
    fn report(&self, report: &str);
    /// Rows of the table that is being written.
    fn rows(&self, block: &Table);
    /// What a file of this name may replace, if not anything.
    fn seen(&self, output: &Path) -> Option<Seen>;
    /// The verb as it would be typed, without the word `spotfit`.
    fn words(&self) -> &[OsString];
}

thread_local! {
    static HEARER: RefCell<Option<Rc<dyn Hearer>>> = const { RefCell::new(None) };
}

/// Does something of which somebody hears. Verbs say and ask everything on the thread that runs them.
#[cfg(feature = "view")]
pub(crate) fn heard_by<T>(hearer: Rc<dyn Hearer>, work: impl FnOnce() -> T) -> T {
    HEARER.set(Some(hearer));
    let done = work();
    HEARER.set(None);
    done
}

/// Who hears of the verb that this thread runs, if that is not the terminal.
pub(crate) fn hearer() -> Option<Rc<dyn Hearer>> {
    // A thread that ends has nobody any more.
    HEARER.try_with(|hearer| hearer.borrow().clone()).ok().flatten()
}
