//! Whoever fills a ring.

use std::sync::atomic::{Ordering, fence};

use crate::file::RingFile;
use crate::layout::{HEADER, HEARTBEAT, SLOT_HEADER, STATE, WRITTEN};
use crate::{RingError, RingLayout, RingPixels, now};

/// Writes frames into a ring of its own. When it is dropped, the ring has ended: its readers read what is in it, and its name is
/// free again.
#[derive(Debug)]
pub struct RingWriter {
    file: RingFile,
    layout: RingLayout,
    written: u64,
}

impl RingWriter {
    /// Makes a ring of this name, which takes the place of one that has ended or whose writer is dead.
    ///
    /// # Errors
    /// [`RingError::Name`]; [`RingError::Alive`]; [`RingError::Io`], for instance where a file of this name is no ring: it stays.
    pub fn create(name: &str, layout: RingLayout) -> Result<Self, RingError> {
        let (file, part) = RingFile::create(name, layout.bytes())?;
        let mut header = [0; HEADER];
        let fixed = layout.header(now());
        header[..fixed.len()].copy_from_slice(&fixed);
        let heartbeat = HEARTBEAT as usize;
        header[heartbeat..heartbeat + 8].copy_from_slice(&now().to_ne_bytes());
        file.write(&header, 0).inspect_err(|_| {
            let _ = std::fs::remove_file(&part);
        })?;
        file.appear(&part)?;
        Ok(Self { file, layout, written: 0 })
    }

    /// The frames of the ring.
    pub fn layout(&self) -> &RingLayout {
        &self.layout
    }

    /// How many frames were written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes the next frame: the camera's number of it, from 0, and when it was there, in nanoseconds of [`now`].
    ///
    /// # Errors
    /// [`RingError::Pixels`] for pixels that are not those of the ring; [`RingError::Io`], for instance where there is no memory left.
    pub fn write(
        &mut self,
        number: u64,
        timestamp: u64,
        pixels: RingPixels<'_>,
    ) -> Result<(), RingError> {
        let bytes = pixels.bytes_for(&self.layout)?;
        let slot = self.layout.slot_of(self.written);
        let begun = 2 * self.written + 1;
        // What was read of the slot's old frame must not be taken for whole once this one begins.
        self.file.write(&begun.to_ne_bytes(), slot)?;
        fence(Ordering::SeqCst);
        let about = [number, timestamp, bytes.len() as u64];
        self.file.write(bytemuck::cast_slice(&about), slot + 8)?;
        self.file.write(bytes, slot + SLOT_HEADER as u64)?;
        fence(Ordering::SeqCst);
        self.file.write(&(begun + 1).to_ne_bytes(), slot)?;
        fence(Ordering::SeqCst);
        self.written += 1;
        self.file.write(&self.written.to_ne_bytes(), WRITTEN)?;
        self.alive()
    }

    /// Tells readers that the writer is alive although it has no frame for them: to be called at least every second then.
    ///
    /// # Errors
    /// [`RingError::Io`].
    pub fn alive(&mut self) -> Result<(), RingError> {
        self.file.write(&now().to_ne_bytes(), HEARTBEAT)
    }
}

impl Drop for RingWriter {
    fn drop(&mut self) {
        // Readers of a ring that cannot be written end by their timeout.
        let _ = self.file.write(&1_u64.to_ne_bytes(), STATE);
        self.file.disappear();
    }
}
