//! Listeners: progress and notes during an operation.

/// Receives the progress of an operation and notes about its input, and can end it.
///
/// All methods do nothing by default.
pub trait Listener {
    /// The work begins: its total, and the unit, such as `frames`.
    fn begin(&self, total: u64, unit: &'static str) {
        let _ = (total, unit);
    }

    /// The number of units that are done.
    fn progress(&self, done: u64) {
        let _ = done;
    }

    /// The number of localizations that were found so far.
    fn found(&self, localizations: u64) {
        let _ = localizations;
    }

    /// The work that began has ended, well or not.
    fn end(&self) {}

    /// A note for the reader of the result.
    fn note(&self, note: &Note) {
        let _ = note;
    }

    /// Whether the operation should end without a result. Operations ask this between blocks of rows.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A listener that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Listener for Silent {}

/// A note about an input or an option.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Note {
    /// How Spotfit interpreted it.
    Notice(String),
    /// The result may not be what the user expects.
    Warning(String),
    /// The result of a part of the work, whose numbers are in the report too.
    Part(String),
}

impl Note {
    /// The text. Names of options are in backticks, as in `` `pixel_size` ``.
    pub fn text(&self) -> &str {
        match self {
            Self::Notice(text) | Self::Warning(text) | Self::Part(text) => text,
        }
    }
}
