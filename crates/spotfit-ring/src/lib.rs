#![doc = include_str!("../README.md")]
//!
//! # Where a ring is
//!
//! A ring is a file. A name without a separator, such as `camera`, is that of `/dev/shm/camera`, which is memory; this is where
//! `shm_open("/camera")` has it on Linux. Any other name is a path: on systems without `/dev/shm`, and for rings between containers.
//!
//! # The layout, version 1
//!
//! All numbers are unsigned and in the byte order of the machine. The header has 256 bytes:
//!
//! | offset | bytes | what |
//! |---:|---:|---|
//! | 0 | 8 | the text `SPOTRING` |
//! | 8 | 4 | `0x0A0B0C0D`, which has other bytes on a machine with another byte order |
//! | 12 | 4 | version of the layout: 1 |
//! | 16 | 4 | size of this header: 256 |
//! | 20 | 4 | size of the header of a slot: 64 |
//! | 24 | 4 | type of the pixels: 1 `u8`, 2 `u16`, 3 `f32`, 4 `f64` |
//! | 28 | 4 | width of a frame in pixels |
//! | 32 | 4 | height of a frame in pixels |
//! | 36 | 4 | number of slots, 2 to 65536 |
//! | 40 | 8 | bytes of a frame: width × height × bytes of a pixel |
//! | 48 | 8 | bytes from one slot to the next: 64 + bytes of a frame, rounded up to a multiple of 64 |
//! | 56 | 8 | a number that each new ring has anew |
//! | 64 | 64 | 0 |
//! | 128 | 8 | `written`: how many frames were written |
//! | 136 | 8 | `state`: 0 while the writer is there, 1 when it has ended the ring |
//! | 144 | 8 | `heartbeat`: when the writer last showed that it is alive, in nanoseconds of the monotonic clock |
//! | 152 | 104 | 0 |
//!
//! Nothing before offset 128 ever changes. The slots follow. The `n`-th frame, from 0, is in the slot `n` modulo their number:
//!
//! | offset | bytes | what |
//! |---:|---:|---|
//! | 0 | 8 | `sequence`: 2n + 1 while frame `n` is being written, 2n + 2 when it is whole |
//! | 8 | 8 | the camera's number of the frame, from 0; numbers that are left out are frames that the camera has lost |
//! | 16 | 8 | when the frame was there, in nanoseconds of the monotonic clock (`CLOCK_MONOTONIC`, see [`now`]) |
//! | 24 | 8 | bytes of the frame, as in the header |
//! | 32 | 32 | 0 |
//! | 64 | | the pixels, row by row |
//!
//! # How a frame is written and read
//!
//! The writer stores 2n + 1 in `sequence`, then everything else of the slot, then 2n + 2, then n + 1 in `written`; each store is seen
//! before the next (*release*). It waits for nobody. The reader waits until `written` is more than `n`, reads `sequence`, the slot,
//! and `sequence` again, in this order (*acquire*). The frame is whole if both were 2n + 2; otherwise the writer has overtaken the
//! reader, which counts a torn slot and goes on with the newest frame. Frames that it has left out are counted as missed.
//!
//! # What the reader trusts: nothing
//!
//! - Every number of the header is checked before memory is taken by it, and compared with the file's size.
//! - The reader copies what it reads with `pread`, out of a file that it may not write to. A file that is made shorter is an error of
//!   that call ([`RingError::Shrunk`]); memory that is mapped would end the process with SIGBUS. The copy is needed in any case, since
//!   a frame in the ring may change while it is looked at. `pread` costs less than a microsecond more than a copy of mapped memory, and
//!   this crate has no `unsafe`.
//! - `written` is believed when the slot that it leads to says the same.
//! - A header that changes, and another ring under the name of this one, are errors ([`RingError::Changed`], [`RingError::Replaced`]).
//! - A writer that shows no sign of life for a while is dead ([`RingError::Silent`]).
//!
//! A ring takes the place of one that has ended, or whose writer has been silent for [`LIVING`]; that of a living writer stays
//! ([`RingError::Alive`]).
#![forbid(unsafe_code)]

use std::time::Duration;

mod clock;
mod error;
mod file;
mod layout;
mod pixels;
mod reader;
mod writer;

pub use clock::now;
pub use error::RingError;
pub use file::{check_free, is_ring, path_of};
pub use layout::{MOST_FRAME_BYTES, MOST_SLOTS, PixelType, RingLayout};
pub use pixels::RingPixels;
pub use reader::{RingCounts, RingFrame, RingOptions, RingReader, RingStep};
pub use writer::RingWriter;

/// Whoever writes a ring shows every second that it is alive. One that was silent for so long has been killed, and another may have its
/// name.
pub const LIVING: Duration = Duration::from_secs(3);
