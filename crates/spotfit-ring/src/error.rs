//! What can be wrong with a ring.

use std::io;
use std::time::Duration;

/// Why a ring cannot be made, written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// The name of the ring is none.
    #[error("'{0}' is not the name of a ring: letters, digits and .-_ (at most 200), or a path")]
    Name(String),
    /// There is no such ring, or it cannot be opened, read or written.
    #[error("the ring {name}: {source}")]
    Io {
        /// Its name.
        name: String,
        /// Why not.
        source: io::Error,
    },
    /// Another program writes a ring of this name.
    #[error("the ring {name} is that of another program, which was alive {:.1} s ago; choose another name, or end that program", silent.as_secs_f64())]
    Alive {
        /// Its name.
        name: String,
        /// When it last showed that it is alive.
        silent: Duration,
    },
    /// What is there is no ring, or one with a header that cannot be.
    #[error("{name} is not a ring of frames: {reason}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A ring cannot have such frames or so many slots.
    #[error("a ring cannot have {0}")]
    Layout(String),
    /// Pixels are not those of the ring.
    #[error("{given} do not fit the ring, which has {needed}")]
    Pixels {
        /// What was given.
        given: String,
        /// What the ring has.
        needed: String,
    },
    /// The file has become shorter than the ring.
    #[error("the ring {0} was made shorter by another program")]
    Shrunk(String),
    /// The header has changed, which a writer never does.
    #[error("the header of the ring {0} has changed: its frames are others now")]
    Changed(String),
    /// Another ring has taken the name.
    #[error("another writer has replaced the ring {0}")]
    Replaced(String),
    /// The number of written frames went back.
    #[error("the ring {name} says that {now} frames were written, after it was {was}")]
    Backwards {
        /// Its name.
        name: String,
        /// How many there were.
        was: u64,
        /// How many it says now.
        now: u64,
    },
    /// The writer shows no sign of life.
    #[error("the writer of the ring {name} has been silent for {} s: it has been killed, or has no frames", after.as_secs_f64())]
    Silent {
        /// The ring's name.
        name: String,
        /// For how long.
        after: Duration,
    },
    /// Slots do not hold what the header says.
    #[error("the ring {name} has had no whole frame for {} s, although its writer says that it wrote some", after.as_secs_f64())]
    Torn {
        /// Its name.
        name: String,
        /// For how long.
        after: Duration,
    },
}
