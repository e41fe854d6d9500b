//! Who hears what is said during an operation.

/// Hears how far an operation is, what is to be known about its input, and may end it.
///
/// All methods do nothing by default.
pub trait Listener {
    /// So many units of work are ahead, such as `frames`.
    fn begin(&self, total: u64, unit: &'static str) {
        let _ = (total, unit);
    }

    /// So many of them are done.
    fn progress(&self, done: u64) {
        let _ = done;
    }

    /// The work that began has ended, well or not.
    fn end(&self) {}

    /// Something that whoever reads the result should know.
    fn note(&self, note: &Note) {
        let _ = note;
    }

    /// Whether the operation is to end without a result: it is asked between blocks of rows.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Listener for Silent {}

/// Something to be known about an input or an option.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Note {
    /// It was understood in a way that the user should know.
    Notice(String),
    /// The result may not be what the user thinks.
    Warning(String),
    /// What came of a part of the work, whose numbers are in the report too.
    Part(String),
}

impl Note {
    /// The words. Names of options stand in backticks, as in `` `pixel_size` ``.
    pub fn text(&self) -> &str {
        match self {
            Self::Notice(text) | Self::Warning(text) | Self::Part(text) => text,
        }
    }
}
