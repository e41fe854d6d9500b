//! Raw frames of a stream, such as standard input.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::error::wrong;
use super::room::{FrameType, Room, rooms};
use super::{MovieError, Pixels};
use crate::npy::{fill, to_native};

/// The types by their names, in their order.
const NAMES: [(FrameType, &str); 3] =
    [(FrameType::U8, "u8"), (FrameType::U16, "u16"), (FrameType::F32, "f32")];

/// The size and the type of raw frames, as in `512x512:u16`: width, height, and `u8`, `u16` or `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameFormat {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Their type.
    pub pixels: FrameType,
}

/// The most bytes of a frame.
const MOST_BYTES: usize = 1 << 30;

impl FrameFormat {
    /// The bytes of a frame.
    pub fn bytes(&self) -> usize {
        self.width * self.height * self.pixels.size()
    }
}

impl FromStr for FrameFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' is not WIDTHxHEIGHT:TYPE, as in 512x512:u16, with TYPE u8, u16 or f32"
            )
        };
        let (size, pixels) = text.split_once(':').ok_or_else(wrong)?;
        let (width, height) = size.split_once('x').ok_or_else(wrong)?;
        let side =
            |text: &str| text.parse::<usize>().ok().filter(|side| *side > 0).ok_or_else(wrong);
        let pixels = NAMES.iter().find(|(_, name)| *name == pixels).ok_or_else(wrong)?.0;
        let (width, height) = (side(width)?, side(height)?);
        let fits = width.checked_mul(height).is_some_and(|all| all <= MOST_BYTES / 4);
        if !fits {
            return Err(format!("frames of {width}×{height} pixels are too large"));
        }
        Ok(Self { width, height, pixels })
    }
}

impl fmt::Display for FrameFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, name) = NAMES[self.pixels as usize];
        write!(f, "{}x{}:{name}", self.width, self.height)
    }
}

/// A reader that does not seek, where one that seeks is asked for.
pub(super) struct Unseekable<R>(pub(super) R);

impl<R: Read> Read for Unseekable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R> Seek for Unseekable<R> {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::NotSeekable.into())
    }
}

/// Raw frames, one after the other without anything between them, until the stream ends. A thread of its own reads them: frames that
/// come while others are worked on are there when they are asked for.
pub(super) struct Flow {
    format: FrameFormat,
    frames: Receiver<Result<Pixels, MovieError>>,
    /// What came after frames that were returned.
    rest: Option<Result<Pixels, MovieError>>,
    is_ended: bool,
}

impl Flow {
    /// Frames of which so many may wait; whoever writes more waits.
    pub(super) fn new(
        stream: impl Read + Send + 'static,
        format: FrameFormat,
        most: usize,
    ) -> Result<Self, MovieError> {
        let (send, frames) = sync_channel(most);
        let read = move || {
            let mut stream = stream;
            for number in 0.. {
                let frame = next(&mut stream, &format, number).transpose();
                let Some(frame) = frame else { break };
                let is_last = frame.is_err();
                if send.send(frame).is_err() || is_last {
                    break;
                }
            }
        };
        thread::Builder::new().name("spotfit-frames".to_owned()).spawn(read)?;
        Ok(Self { format, frames, rest: None, is_ended: false })
    }

    /// The next frames, at least one and at most so many, as far as they are there; nothing at the end.
    pub(super) fn read(&mut self, most: usize) -> Result<Option<Pixels>, MovieError> {
        if self.is_ended {
            return Ok(None);
        }
        let first = self.rest.take().or_else(|| self.frames.recv().ok());
        let Some(Ok(first)) = first else {
            self.is_ended = true;
            return first.transpose();
        };
        let mut parts = vec![first];
        while parts.len() < most
            && let Ok(next) = self.frames.try_recv()
        {
            match next {
                Ok(frame) => parts.push(frame),
                // What came before it is right.
                error => {
                    self.rest = Some(error);
                    break;
                }
            }
        }
        let FrameFormat { width, height, .. } = self.format;
        let mut all = self.format.pixels.frames((parts.len(), height, width))?;
        for (room, mut part) in rooms(&mut all, width * height).into_iter().zip(parts) {
            match (room, rooms(&mut part, width * height).pop()) {
                (Room::U8(room), Some(Room::U8(part))) => room.copy_from_slice(part),
                (Room::U16(room), Some(Room::U16(part))) => room.copy_from_slice(part),
                (Room::F32(room), Some(Room::F32(part))) => room.copy_from_slice(part),
                _ => return Err(MovieError::Empty),
            }
        }
        Ok(Some(all))
    }
}

/// The next frame of a stream, after `number` of them.
fn next(
    stream: &mut impl Read,
    format: &FrameFormat,
    number: usize,
) -> Result<Option<Pixels>, MovieError> {
    let mut frame = raw_frame(format)?;
    Ok(read_raw_frame(stream, format, number, &mut frame)?.then_some(frame))
}

/// Room for a frame.
///
/// # Errors
/// There is no memory for it.
pub fn raw_frame(format: &FrameFormat) -> Result<Pixels, MovieError> {
    format.pixels.frames((1, format.height, format.width))
}

/// Reads the next frame of a stream, after `number` of them, into the room of one; false if there is none.
///
/// # Errors
/// That of the stream, and [`MovieError`] for a frame that is not whole.
pub fn read_raw_frame(
    stream: &mut impl Read,
    format: &FrameFormat,
    number: usize,
    frame: &mut Pixels,
) -> Result<bool, MovieError> {
    let mut room = rooms(frame, format.width * format.height);
    let bytes = match room.first_mut() {
        Some(Room::U8(room)) => &mut **room,
        Some(Room::U16(room)) => bytemuck::cast_slice_mut(room),
        Some(Room::F32(room)) => bytemuck::cast_slice_mut(room),
        None => return Err(MovieError::Empty),
    };
    let got = fill(stream, bytes)?;
    if got == 0 {
        return Ok(false);
    }
    if got < bytes.len() {
        return Err(wrong(format!(
            "after {number} frames of {format} ({} bytes each), {got} bytes are left, which are no whole frame; is `frame` right?",
            format.bytes()
        )));
    }
    to_native(bytes, format.pixels.size(), false);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that formats are read and written, and that what makes no sense is refused.
    #[test]
    fn formats_are_read() {
        for text in ["512x512:u16", "1x2:u8", "640x480:f32"] {
            assert_eq!(text.parse::<FrameFormat>().unwrap().to_string(), text);
        }
        assert_eq!("640x480:f32".parse::<FrameFormat>().unwrap().bytes(), 4 * 640 * 480);
        for wrong in [
            "",
            "512",
            "512x512",
            "512x512:i16",
            "0x5:u8",
            "-1x5:u8",
            "99999999999x99999999999:u8",
            "40000x40000:u8",
        ] {
            assert!(wrong.parse::<FrameFormat>().is_err(), "{wrong}");
        }
    }
}
