//! Bytes at any place of a file, for several threads at a time.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// Something that can be read from any place.
pub trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

pub(crate) type Reader = Box<dyn ReadSeek>;

/// What has bytes at places. Nothing is mapped: bytes that are no longer there are an error, not the end of the process.
pub(crate) trait ReadAt: Send + Sync {
    /// Reads some of the bytes from a place on; none at the end.
    fn read_at(&self, place: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// How many bytes there are.
    fn length(&self) -> io::Result<u64>;
}

/// The bytes of a file or of a reader.
pub(crate) type Bytes = Arc<dyn ReadAt>;

impl ReadAt for File {
    #[cfg(unix)]
    fn read_at(&self, place: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, place)
    }

    #[cfg(windows)]
    fn read_at(&self, place: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, place)
    }

    #[cfg(not(any(unix, windows)))]
    fn read_at(&self, place: u64, buffer: &mut [u8]) -> io::Result<usize> {
        // One at a time: the place is that of all who have the file.
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = self;
        file.seek(SeekFrom::Start(place))?;
        file.read(buffer)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, place: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let from = usize::try_from(place).map_or(self.len(), |place| place.min(self.len()));
        (&self[from..]).read(buffer)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

/// A reader, of which one thread reads at a time.
struct Shared(Mutex<(Reader, Option<u64>)>);

impl ReadAt for Shared {
    fn read_at(&self, place: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (reader, at) = &mut *reader;
        if at.take() != Some(place) {
            reader.seek(SeekFrom::Start(place))?;
        }
        let count = reader.read(buffer)?;
        *at = place.checked_add(count as u64);
        Ok(count)
    }

    fn length(&self) -> io::Result<u64> {
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reader.1 = None;
        reader.0.seek(SeekFrom::End(0))
    }
}

/// The bytes of a reader, and the place that it is at.
pub(crate) fn shared(mut reader: Reader) -> io::Result<(Bytes, u64)> {
    let at = reader.stream_position()?;
    Ok((Arc::new(Shared(Mutex::new((reader, Some(at))))), at))
}

/// Reads until the buffer is full or there are no more bytes, and returns how many there were.
pub(crate) fn fill_at(bytes: &dyn ReadAt, place: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        let Some(at) = place.checked_add(filled as u64) else { break };
        match bytes.read_at(at, &mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A reader of its own, wherever others read.
pub(crate) struct View {
    bytes: Bytes,
    at: u64,
}

impl View {
    pub(crate) fn new(bytes: Bytes, at: u64) -> Self {
        Self { bytes, at }
    }

    /// Where it is.
    pub(crate) fn place(&self) -> u64 {
        self.at
    }
}

impl Read for View {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read_at(self.at, buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for View {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.bytes.length()?.checked_add_signed(by),
        };
        self.at = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
