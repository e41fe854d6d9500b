//! Raw frames of a stream.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::{Arrival, Arrived, FrameFormat, FrameSource, FrameType};
use crate::steps::StepError;
use crate::track::{FramePixels, FrameView};

/// Frames that may wait to be looked at; whoever writes more waits.
const WAITING: usize = 8;
/// How long to wait for a frame.
const WAIT: Duration = Duration::from_millis(50);

/// Room for a frame.
#[derive(Debug)]
enum Room {
    U8(Vec<u8>),
    U16(Vec<u16>),
    F32(Vec<f32>),
}

impl Room {
    fn new(format: &FrameFormat) -> Self {
        let pixels = format.width * format.height;
        match format.pixels {
            FrameType::U8 => Self::U8(vec![0; pixels]),
            FrameType::U16 => Self::U16(vec![0; pixels]),
            FrameType::F32 => Self::F32(vec![0.0; pixels]),
        }
    }

    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::U8(pixels) => pixels,
            Self::U16(pixels) => bytemuck::cast_slice_mut(pixels),
            Self::F32(pixels) => bytemuck::cast_slice_mut(pixels),
        }
    }

    /// Puts the bytes of pixels, the lowest first, in the order of the machine.
    fn order(&mut self) {
        if cfg!(target_endian = "little") {
            return;
        }
        match self {
            Self::U8(_) => {}
            Self::U16(pixels) => {
                for pixel in pixels {
                    *pixel = pixel.swap_bytes();
                }
            }
            Self::F32(pixels) => {
                for pixel in pixels {
                    *pixel = f32::from_bits(pixel.to_bits().swap_bytes());
                }
            }
        }
    }

    fn view(&self, format: &FrameFormat) -> FrameView<'_> {
        let pixels = match self {
            Self::U8(pixels) => FramePixels::U8(pixels),
            Self::U16(pixels) => FramePixels::U16(pixels),
            Self::F32(pixels) => FramePixels::F32(pixels),
        };
        FrameView::new(format.width, format.height, pixels)
    }
}

/// What the thread that reads has to say.
#[derive(Debug)]
enum Told {
    /// A frame, and when it was there.
    Frame(Room, u64),
    /// The stream has ended, with so many bytes that are no whole frame.
    End(usize),
    Failed(io::Error),
}

/// Raw frames of a stream, such as standard input, one after the other without anything between them.
///
/// A thread of its own reads them, and ends with the stream. Whoever writes faster than frames are looked at has to wait: nothing is
/// lost here.
#[derive(Debug)]
pub struct RawFrames {
    name: String,
    format: FrameFormat,
    told: Receiver<Told>,
    /// Where frames go that were looked at.
    back: SyncSender<Room>,
    frame: Option<Room>,
    number: u64,
    first: Option<u64>,
    ended: bool,
}

impl RawFrames {
    /// Frames of this size and type, with a name for errors.
    ///
    /// # Errors
    /// [`StepError::Read`] if there can be no thread.
    pub fn new(
        name: &str,
        stream: impl Read + Send + 'static,
        format: FrameFormat,
    ) -> Result<Self, StepError> {
        let (tell, told) = sync_channel(WAITING);
        let (back, rooms) = sync_channel(WAITING + 2);
        let read = move || read_all(stream, &format, &tell, &rooms);
        let failed = |source| StepError::Read { name: name.to_owned(), source };
        thread::Builder::new().name("frames".to_owned()).spawn(read).map_err(failed)?;
        let name = name.to_owned();
        Ok(Self { name, format, told, back, frame: None, number: 0, first: None, ended: false })
    }
}

/// Reads frames until the stream ends, or nobody listens any more.
fn read_all(
    mut stream: impl Read,
    format: &FrameFormat,
    tell: &SyncSender<Told>,
    rooms: &Receiver<Room>,
) {
    loop {
        let mut room = rooms.try_recv().unwrap_or_else(|_| Room::new(format));
        let told = match fill(&mut stream, room.bytes()) {
            Ok(0) => Told::End(0),
            Ok(bytes) if bytes < format.bytes() => Told::End(bytes),
            Ok(_) => {
                let stamp = spotfit_ring::now();
                room.order();
                Told::Frame(room, stamp)
            }
            Err(error) => Told::Failed(error),
        };
        let more = matches!(told, Told::Frame(..));
        if tell.send(told).is_err() || !more {
            return;
        }
    }
}

/// Reads until the room is full or the stream ends; the result is how many bytes came.
fn fill(stream: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match stream.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl FrameSource for RawFrames {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self) -> Result<Arrived<'_>, StepError> {
        if let Some(seen) = self.frame.take() {
            // Where there is no room for it, it goes.
            let _ = self.back.try_send(seen);
        }
        if self.ended {
            return Ok(Arrived::End);
        }
        match self.told.recv_timeout(WAIT) {
            Ok(Told::Frame(room, stamp)) => {
                let first = *self.first.get_or_insert(stamp);
                let (number, time) = (self.number, 1e-9 * stamp.saturating_sub(first) as f64);
                self.number += 1;
                let view = self.frame.insert(room).view(&self.format);
                let arrival =
                    Arrival::new(view, number).with_time(Some(time)).with_stamp(Some(stamp));
                Ok(Arrived::Frame(arrival))
            }
            Ok(Told::End(0)) | Err(RecvTimeoutError::Disconnected) => {
                self.ended = true;
                Ok(Arrived::End)
            }
            Ok(Told::End(bytes)) => {
                self.ended = true;
                let Self { format, number, .. } = self;
                let reason = format!(
                    "after {number} frames of {format} ({} bytes each), {bytes} bytes are left, which are no whole frame; is `frame` right?",
                    format.bytes()
                );
                Err(StepError::input(&self.name, reason))
            }
            Ok(Told::Failed(source)) => {
                self.ended = true;
                Err(StepError::Read { name: self.name.clone(), source })
            }
            Err(RecvTimeoutError::Timeout) => Ok(Arrived::Nothing),
        }
    }
}
