//! Rings of frames in shared memory.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use spotfit::ring::{self, PixelType, RingError, RingLayout, RingOptions, RingPixels, RingStep};

use crate::work::check_signals;

/// How often Python is asked whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(50);

/// The types of pixels by NumPy's names.
const TYPES: [(&str, PixelType); 4] = [
    ("uint8", PixelType::U8),
    ("uint16", PixelType::U16),
    ("float32", PixelType::F32),
    ("float64", PixelType::F64),
];

fn name_of(of: PixelType) -> &'static str {
    TYPES.iter().find(|(_, own)| *own == of).map_or("", |(name, _)| name)
}

fn of_ring(error: RingError) -> PyErr {
    let told = error.to_string();
    match error {
        // Python chooses the class, such as FileNotFoundError, by the kind.
        RingError::Io { source, .. } => std::io::Error::new(source.kind(), told).into(),
        RingError::Silent { .. } => pyo3::exceptions::PyTimeoutError::new_err(told),
        RingError::Name(_) | RingError::Layout(_) | RingError::Pixels { .. } => {
            PyValueError::new_err(told)
        }
        _ => PyOSError::new_err(told),
    }
}

/// Writes frames into a ring.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct RingWriter {
    layout: RingLayout,
    /// Nothing once the ring has ended.
    writer: Mutex<Option<ring::RingWriter>>,
}

impl RingWriter {
    fn locked(&self) -> MutexGuard<'_, Option<ring::RingWriter>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(
        &self,
        on: impl FnOnce(&mut ring::RingWriter) -> Result<(), RingError>,
    ) -> PyResult<()> {
        let mut writer = self.locked();
        let writer = writer.as_mut().ok_or_else(|| PyValueError::new_err("the ring is closed"))?;
        on(writer).map_err(of_ring)
    }
}

#[pymethods]
impl RingWriter {
    #[new]
    fn new(name: &str, width: u32, height: u32, dtype: &str, slots: u32) -> PyResult<Self> {
        let kind = crate::options::choose("dtype", dtype, &TYPES)?;
        let layout = RingLayout::new(width, height, kind, slots).map_err(of_ring)?;
        let writer = ring::RingWriter::create(name, layout).map_err(of_ring)?;
        Ok(Self { layout, writer: Mutex::new(Some(writer)) })
    }

    /// Writes the pixels of a frame, row by row, in the type of the ring; now, if no time is given.
    fn write(
        &self,
        pixels: &Bound<'_, PyAny>,
        number: Option<u64>,
        timestamp: Option<u64>,
    ) -> PyResult<()> {
        let timestamp = timestamp.unwrap_or_else(ring::now);
        macro_rules! write {
            ($type:ty, $variant:ident) => {{
                let pixels: PyReadonlyArray1<'_, $type> = pixels.extract()?;
                let pixels = pixels.as_slice()?;
                self.with(|writer| {
                    let number = number.unwrap_or(writer.written());
                    writer.write(number, timestamp, RingPixels::$variant(pixels))
                })
            }};
        }
        match self.layout.pixel_type() {
            PixelType::U8 => write!(u8, U8),
            PixelType::U16 => write!(u16, U16),
            PixelType::F32 => write!(f32, F32),
            _ => write!(f64, F64),
        }
    }

    /// How many frames were written.
    #[getter]
    fn written(&self) -> u64 {
        self.locked().as_ref().map_or(0, ring::RingWriter::written)
    }

    /// Tells readers that the writer is alive.
    fn alive(&self) -> PyResult<()> {
        self.with(ring::RingWriter::alive)
    }

    /// Ends the ring.
    fn close(&self) {
        drop(self.locked().take());
    }
}

/// Reads frames from a ring.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct RingReader {
    layout: RingLayout,
    reader: Mutex<ring::RingReader>,
}

impl RingReader {
    fn locked(&self) -> MutexGuard<'_, ring::RingReader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The camera's number of a frame, its time in nanoseconds, and its pixels.
type RingFrame<'py> = (u64, u64, Bound<'py, PyAny>);

#[pymethods]
impl RingReader {
    #[new]
    fn new(name: &str, timeout: f64) -> PyResult<Self> {
        let timeout = Duration::try_from_secs_f64(timeout);
        let timeout =
            timeout.map_err(|error| PyValueError::new_err(format!("timeout: {error}")))?;
        let reader = ring::RingReader::open(name, &RingOptions::default().with_timeout(timeout));
        let reader = reader.map_err(of_ring)?;
        Ok(Self { layout: *reader.layout(), reader: Mutex::new(reader) })
    }

    /// Width and height of the frames in pixels, their type, and the number of slots.
    #[getter]
    fn layout(&self) -> (u32, u32, &'static str, u32) {
        let kind = name_of(self.layout.pixel_type());
        (self.layout.width(), self.layout.height(), kind, self.layout.slots())
    }

    /// Frames that were read and lost, slots that were torn, and numbers that were not above the one before.
    #[getter]
    fn counts(&self) -> (u64, u64, u64, u64) {
        let counts = self.locked().counts();
        (counts.frames, counts.missed, counts.torn, counts.disorder)
    }

    /// The next frame, for which it waits; nothing at the end of the ring.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Option<RingFrame<'py>>> {
        loop {
            let step = py.detach(|| self.locked().wait(PATIENCE)).map_err(of_ring)?;
            match step {
                RingStep::End => return Ok(None),
                RingStep::Nothing => check_signals(py)?,
                RingStep::Frame { .. } => {}
            }
            let reader = self.locked();
            let Some(frame) = reader.frame() else { continue };
            let pixels = match frame.pixels {
                RingPixels::U8(pixels) => PyArray1::from_slice(py, pixels).into_any(),
                RingPixels::U16(pixels) => PyArray1::from_slice(py, pixels).into_any(),
                RingPixels::F32(pixels) => PyArray1::from_slice(py, pixels).into_any(),
                RingPixels::F64(pixels) => PyArray1::from_slice(py, pixels).into_any(),
                _ => return Err(PyOSError::new_err("the ring has pixels of an unknown type")),
            };
            return Ok(Some((frame.number, frame.timestamp, pixels)));
        }
    }
}

/// Nanoseconds of the clock that the programs of this machine share.
#[pyfunction]
pub(crate) fn ring_now() -> u64 {
    ring::now()
}
