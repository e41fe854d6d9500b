//! Arrays in the memory of a GPU: those of other libraries, and outcomes for them.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use fit_core::{Errors, Fit};
use numpy::ndarray::{ArrayView3, ShapeBuilder};
use pyo3::exceptions::{PyBufferError, PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use spotfit::FitError;
use spotfit::gpu::{DeviceFits, DeviceStart, DeviceWindows, InPlace};

use crate::camera::CameraMap;
use crate::dlpack::{self, Kind, Offer};
use crate::error;
use crate::numbers::{self, Starts, WeightArray};
use crate::pixels::{Stack, View};
use crate::rows::{self, Field};
use crate::threads::{Here, Own};
use crate::work::check_signals;

/// Fitters by the number of their device, of this process.
static IN_PLACE: Own<Mutex<HashMap<usize, Arc<InPlace>>>> = Own::new();

fn in_place(py: Python<'_>, device: usize) -> PyResult<Arc<InPlace>> {
    // Making a context takes a while, and another thread may be at it.
    py.detach(|| of_process(device))
}

fn of_process(device: usize) -> PyResult<Arc<InPlace>> {
    let all = IN_PLACE.get(|| Ok(Mutex::default()))?;
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = all.get(&device) {
        return Ok(found.clone());
    }
    let made = Arc::new(InPlace::new(device).map_err(|error| error::of_fit(error.into()))?);
    all.insert(device, made.clone());
    Ok(made)
}

/// The number of the GPU in whose memory an object is an array; `None` for what is in the host's.
///
/// # Errors
/// What the object raises, and `TypeError` for memory of other devices.
#[pyfunction]
pub(crate) fn device_of(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let py = object.py();
    let (protocol, interface) =
        (intern!(py, "__dlpack_device__"), intern!(py, "__cuda_array_interface__"));
    if let Some(device) = object.getattr_opt(protocol)? {
        let (kind, number): (i32, i32) = match device.call0() {
            // It cannot be shared, but perhaps copied.
            Err(error) if error.is_instance_of::<PyBufferError>(py) => return Ok(None),
            told => told?.extract()?,
        };
        return match kind {
            dlpack::CUDA | dlpack::CUDA_MANAGED => Ok(usize::try_from(number).ok()),
            // Of the processor, and pinned.
            1 | 3 => Ok(None),
            kind => Err(PyTypeError::new_err(format!(
                "{name} is in the memory of a device that is no NVIDIA GPU (DLPack's type {kind}): copy it to the host"
            ))),
        };
    }
    let Some(words) = object.getattr_opt(interface)? else { return Ok(None) };
    let (address, _): (usize, bool) = item(name, &words, "data")?.extract()?;
    owner(address)?.map(Some).ok_or_else(|| {
        PyValueError::new_err(format!(
            "{name}: there is no memory of a GPU at address {address:#x}"
        ))
    })
}

/// The number of the GPU in whose memory an address lies.
fn owner(address: usize) -> PyResult<Option<usize>> {
    let found = spotfit::gpu::device_of(address as *const c_void);
    found.map_err(|error| error::of_fit(error.into()))
}

/// What `__cuda_array_interface__` says.
fn item<'py>(name: &str, words: &Bound<'py, PyAny>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    words.get_item(key).map_err(|_| {
        PyTypeError::new_err(format!("{name}.__cuda_array_interface__ has no '{key}'"))
    })
}

/// An array that someone else has on a GPU.
struct Foreign<'py> {
    address: usize,
    kind: Kind,
    shape: Vec<usize>,
    /// What keeps it.
    _keep: Bound<'py, PyAny>,
}

impl<'py> Foreign<'py> {
    /// The array that an object is on this device, after all that writes it. It must be in C order.
    fn of(
        name: &str,
        object: &Bound<'py, PyAny>,
        device: usize,
        fitter: &InPlace,
    ) -> PyResult<Self> {
        let py = object.py();
        let found = match object.getattr_opt(intern!(py, "__dlpack__"))? {
            Some(protocol) => Self::by_dlpack(name, &protocol, fitter)?,
            None => Self::by_interface(name, object, fitter)?,
        };
        if found.address % found.kind.bytes().max(1) != 0 {
            return Err(PyValueError::new_err(format!("{name} is not aligned to its numbers")));
        }
        if !found.shape.contains(&0) && owner(found.address)? != Some(device) {
            return Err(elsewhere(name, device));
        }
        Ok(found)
    }

    fn by_dlpack(name: &str, protocol: &Bound<'py, PyAny>, fitter: &InPlace) -> PyResult<Self> {
        let py = protocol.py();
        let words = PyDict::new(py);
        words.set_item(intern!(py, "stream"), fitter.stream() as usize)?;
        words.set_item(intern!(py, "max_version"), (1, 0))?;
        // Libraries share what is on the device that is theirs at the moment.
        let _context = fitter.enter().map_err(|error| error::of_fit(error.into()))?;
        let capsule = match protocol.call((), Some(&words)) {
            // Before DLPack 1 there was no such word.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                words.del_item(intern!(py, "max_version"))?;
                protocol.call((), Some(&words))?
            }
            other => other?,
        };
        let seen = dlpack::read(name, &capsule)?;
        let strides = seen.strides.map(|strides| {
            let bytes = seen.kind.bytes() as i64;
            strides.iter().map(|stride| stride.saturating_mul(bytes)).collect::<Vec<_>>()
        });
        in_order(name, &seen.shape, strides.as_deref(), seen.kind.bytes())?;
        let (address, kind, shape) = (seen.address, seen.kind, seen.shape);
        Ok(Self { address, kind, shape, _keep: capsule })
    }

    fn by_interface(name: &str, object: &Bound<'py, PyAny>, fitter: &InPlace) -> PyResult<Self> {
        let py = object.py();
        let Some(words) = object.getattr_opt(intern!(py, "__cuda_array_interface__"))? else {
            return Err(PyTypeError::new_err(format!(
                "{name} must be in the memory of the GPU, as the pixels are, or in the host's: it is {}",
                object.get_type().name()?
            )));
        };
        let shape: Vec<usize> = item(name, &words, "shape")?.extract()?;
        let (address, _): (usize, bool) = item(name, &words, "data")?.extract()?;
        let text: String = item(name, &words, "typestr")?.extract()?;
        let kind = match text.trim_start_matches(['<', '|']) {
            "f4" => Kind::F32,
            "u2" => Kind::U16,
            "u1" => Kind::U8,
            "b1" => Kind::BOOL,
            _ => return Err(wrong_kind(name, &text)),
        };
        let strides: Option<Vec<i64>> = match words.get_item(intern!(py, "strides")) {
            Ok(strides) => strides.extract()?,
            Err(_) => None,
        };
        in_order(name, &shape, strides.as_deref(), kind.bytes())?;
        if words.get_item(intern!(py, "mask")).is_ok_and(|mask| !mask.is_none()) {
            return Err(PyTypeError::new_err(format!(
                "{name} is a masked array: give its data, and weights of 0 where it is masked"
            )));
        }
        // 1 is the default stream, 2 that of the thread: both are addresses to the driver. Some say nothing where they mean the
        // default stream, which is 0 there.
        let stream: Option<usize> = match words.get_item(intern!(py, "stream")) {
            Ok(stream) => stream.extract()?,
            Err(_) => None,
        };
        let stream = stream.unwrap_or_default();
        // SAFETY: the array's owner says that the stream exists.
        let waits = py.detach(|| unsafe { fitter.wait_for(stream as *mut c_void) });
        waits.map_err(|error| error::of_fit(error.into()))?;
        Ok(Self { address, kind, shape, _keep: object.clone() })
    }

    /// Three sides.
    fn stack(&self, name: &str, what: &str) -> PyResult<(usize, usize, usize)> {
        match self.shape[..] {
            [count, height, width] => Ok((count, height, width)),
            _ => Err(PyValueError::new_err(format!(
                "{name} must be an array {what}, not one of shape {:?}",
                self.shape
            ))),
        }
    }
}

fn elsewhere(name: &str, device: usize) -> PyErr {
    PyValueError::new_err(format!("{name} is not in the memory of GPU {device}, as the pixels are"))
}

fn wrong_kind(name: &str, given: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{name} on a GPU must be float32, uint16 or uint8, not {given}: convert it there"
    ))
}

/// Fails unless numbers follow each other. Strides are in bytes.
fn in_order(name: &str, shape: &[usize], strides: Option<&[i64]>, bytes: usize) -> PyResult<()> {
    let Some(strides) = strides else { return Ok(()) };
    let mut expected = bytes as i64;
    let mut ordered = strides.len() == shape.len();
    for (&side, &stride) in shape.iter().zip(strides).rev() {
        ordered &= side <= 1 || stride == expected;
        expected = expected.saturating_mul(i64::try_from(side).unwrap_or(i64::MAX));
    }
    if ordered || shape.contains(&0) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name} on a GPU must be in C order: make it so there, for instance by .contiguous()"
    )))
}

/// A stack of these sides, whose pixels are never looked at.
fn shown<'a>(kind: Kind, sides: (usize, usize, usize)) -> Option<View<'a>> {
    static F32: [f32; 1] = [0.0];
    static U16: [u16; 1] = [0];
    static U8: [u8; 1] = [0];
    fn view<T>(
        (count, height, width): (usize, usize, usize),
        pixel: &[T],
    ) -> Option<ArrayView3<'_, T>> {
        ArrayView3::from_shape((count, height, width).strides((0, 0, 0)), pixel).ok()
    }
    match kind {
        Kind::F32 => view(sides, &F32).map(View::F32),
        Kind::U16 => view(sides, &U16).map(View::U16),
        _ => view(sides, &U8).map(View::U8),
    }
}

/// What a call needs of windows on a GPU.
pub(crate) struct There<'a, 'py> {
    pub(crate) pixels: &'a Bound<'py, PyAny>,
    pub(crate) corners: Option<&'a Bound<'py, PyAny>>,
    pub(crate) size: Option<(usize, usize)>,
    pub(crate) start: Option<&'a Bound<'py, PyAny>>,
    pub(crate) weights: Option<&'a Bound<'py, PyAny>>,
    pub(crate) map: Option<&'a Bound<'py, CameraMap>>,
    pub(crate) errors: bool,
}

impl There<'_, '_> {
    /// Fits the windows where they lie.
    pub(crate) fn fit(&self, options: &spotfit::Options, device: usize) -> PyResult<Outcomes> {
        let py = self.pixels.py();
        let name = if self.size.is_some() { "frames" } else { "spots" };
        let fitter = in_place(py, device)?;
        let pixels = Foreign::of(name, self.pixels, device, &fitter)?;
        let kind = match pixels.kind {
            Kind::BOOL => Kind::U8,
            kind @ (Kind::F32 | Kind::U16 | Kind::U8) => kind,
            kind => return Err(wrong_kind(name, &kind.name())),
        };
        let sides = pixels.stack(name, "(n, height, width)")?;
        let view = shown(kind, sides);
        let view = view.ok_or_else(|| PyValueError::new_err(format!("{name} is too large")))?;
        let corners =
            self.corners.map(|given| numbers::corners(given, self.size.is_some())).transpose()?;
        let size = self.size.map(|(height, width)| fit_core::Size::new(width, height));
        let stack = Stack::of(view, size, corners.as_deref(), self.map.map(|map| &map.get().0));
        let count = stack.count;
        let mut shapes = stack.windows(0, count);

        let on_device = |name, object: Option<&Bound<'_, PyAny>>| {
            let found = object.map_or(Ok(None), |object| device_of(name, object))?;
            match found.is_some_and(|found| found != device) {
                true => Err(elsewhere(name, device)),
                false => Ok(found),
            }
        };
        let foreign = match (on_device("weights", self.weights)?, self.weights) {
            (Some(_), Some(given)) => Some(Foreign::of("weights", given, device, &fitter)?),
            _ => None,
        };
        if let Some(weights) = &foreign {
            let size = shapes.size();
            let wanted = [count, size.height, size.width];
            if weights.kind != Kind::F32 || weights.shape != wanted {
                return Err(PyValueError::new_err(format!(
                    "weights on a GPU must be float32 of shape {wanted:?}, not {} of shape {:?}",
                    weights.kind.name(),
                    weights.shape
                )));
            }
        }
        let of_host = self.weights.filter(|_| foreign.is_none());
        let of_host = of_host.map(WeightArray::of).transpose()?;
        if let Some(weights) = &of_host {
            shapes = shapes.with_weights(weights.values());
        }

        let there = match (on_device("start", self.start)?, self.start) {
            (Some(_), Some(given)) => Some(Foreign::of("start", given, device, &fitter)?),
            _ => None,
        };
        let of_host = Starts::of(self.start.filter(|_| there.is_none()), count)?;
        let start = match &there {
            None => DeviceStart::Host(of_host.values()?),
            Some(Foreign { kind: Kind::F32, shape, address, .. }) if *shape == [count, 3] => {
                DeviceStart::Circles(*address as *const _)
            }
            Some(Foreign { kind: Kind::F32, shape, address, .. }) if *shape == [count, 5] => {
                DeviceStart::Outlines(*address as *const _)
            }
            Some(Foreign { kind, shape, .. }) => {
                return Err(PyValueError::new_err(format!(
                    "start on a GPU must be float32 (n, 3): x, y, sigma; or (n, 5): x, y, sigma_x, sigma_y, angle; with n = \
                     {count}; not {} of shape {shape:?}",
                    kind.name()
                )));
            }
        };
        let windows = Sent(DeviceWindows {
            shapes,
            pixels: pixels.address as *const c_void,
            weights: foreign.map_or(0, |weights| weights.address) as *const f32,
            start,
        });
        let errors = self.errors;
        // SAFETY: the arrays' owners say what is there, and their streams come before; the capsules are kept, and shapes and types
        // were checked.
        let fitted = py.detach(|| unsafe { fitter.fit(options, &windows.get(), errors) });
        let fits = fitted.map_err(|error| error::of_fit(FitError::from(error)))?;
        check_signals(py)?;
        Ok(Outcomes { fits: Arc::new(Here::new(fits)), device })
    }
}

/// Addresses of a device on their way to another thread.
struct Sent<'a>(DeviceWindows<'a>);

// SAFETY: addresses of a device are the same in every thread, and the rest is borrowed for reading.
unsafe impl Send for Sent<'_> {}
// SAFETY: as above.
unsafe impl Sync for Sent<'_> {}

impl<'a> Sent<'a> {
    fn get(&self) -> DeviceWindows<'a> {
        self.0
    }
}

/// Outcomes on a GPU.
#[pyclass(frozen, module = "spotfit._spotfit", name = "DeviceOutcomes")]
pub(crate) struct Outcomes {
    fits: Arc<Here<DeviceFits>>,
    device: usize,
}

const WHAT: &str = "what is on a GPU";

#[pymethods]
impl Outcomes {
    fn __len__(&self) -> PyResult<usize> {
        Ok(self.fits.get(WHAT)?.len())
    }

    /// The number of the GPU.
    #[getter]
    fn device(&self) -> usize {
        self.device
    }

    /// Whether there are errors.
    #[getter]
    fn has_errors(&self) -> PyResult<bool> {
        Ok(self.fits.get(WHAT)?.has_errors())
    }

    /// Copies outcomes, and errors if there are any, to the host.
    fn fetch<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let judged = self.has_errors()?.then(|| self.fetch_errors(py)).transpose()?;
        Ok((self.fetch_fits(py)?, judged))
    }

    /// A field of the outcomes, or of their errors.
    fn column(&self, name: &str, of_errors: bool) -> PyResult<DeviceArray> {
        let found = self.fits.get(WHAT)?;
        let wrong = || PyKeyError::new_err(format!("there is no field '{name}'"));
        let (row, fields) = match of_errors {
            true if !found.has_errors() => return Err(wrong()),
            true => (size_of::<Errors>(), rows::errors_fields().to_vec()),
            false => (size_of::<Fit<f32>>(), rows::fit_fields().to_vec()),
        };
        let field = fields.into_iter().find(|field| field.0 == name);
        let (_, format, many, offset): Field = field.ok_or_else(wrong)?;
        let (kind, text) = match format {
            "=f4" => (Kind::F32, "<f4"),
            // Not every library has unsigned ones of 32 bits. Counts are small.
            "=u4" => (Kind::I32, "<i4"),
            "u1" => (Kind::U8, "|u1"),
            _ => (Kind::BOOL, "|b1"),
        };
        let (mut shape, mut strides) = (vec![found.len()], vec![row]);
        if many > 1 {
            shape.push(many);
            strides.push(kind.bytes());
        }
        let owner = self.fits.clone();
        let field = name.to_owned();
        Ok(DeviceArray {
            owner,
            device: self.device,
            field,
            of_errors,
            offset,
            kind,
            text,
            shape,
            strides,
        })
    }
}

impl Outcomes {
    fn fetch_fits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = self.fits.get(WHAT)?;
        let mut fits = rows::room::<Fit<f32>>(py, found.len())?;
        // SAFETY: nobody else has the array.
        let to = unsafe { rows::unfilled::<Fit<f32>>(&mut fits) };
        let fetched = py.detach(|| found.fetch_bytes(rows::unfilled_values(to)));
        fetched.map_err(|error| error::of_fit(FitError::Gpu(error)))?;
        Ok(fits.into_any())
    }

    fn fetch_errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = self.fits.get(WHAT)?;
        let mut errors = rows::room::<Errors>(py, found.len())?;
        // SAFETY: as above.
        let to = unsafe { rows::unfilled::<Errors>(&mut errors) };
        let fetched = py.detach(|| found.fetch_error_bytes(rows::unfilled_values(to)));
        fetched.map_err(|error| error::of_fit(FitError::Gpu(error)))?;
        Ok(errors.into_any())
    }
}

/// A column of outcomes on a GPU, without a copy. It is the same to PyTorch, CuPy and others (`torch.from_dlpack(column)`,
/// `cupy.asarray(column)`), which keep the outcomes as long as they need them.
#[pyclass(frozen, module = "spotfit")]
pub(crate) struct DeviceArray {
    owner: Arc<Here<DeviceFits>>,
    device: usize,
    field: String,
    of_errors: bool,
    /// In bytes from the first outcome.
    offset: usize,
    kind: Kind,
    text: &'static str,
    shape: Vec<usize>,
    /// In bytes.
    strides: Vec<usize>,
}

impl DeviceArray {
    /// Where it begins, for someone who may put work with it into any stream.
    fn address(&self) -> PyResult<usize> {
        let found = self.owner.get(WHAT)?;
        let first = match found.errors() {
            Some(errors) if self.of_errors => errors as usize,
            _ => found.fits() as usize,
        };
        Ok(first + self.offset)
    }
}

#[pymethods]
impl DeviceArray {
    /// Its sides.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.shape)
    }

    /// The type of its numbers.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import(intern!(py, "numpy"))?;
        numpy.call_method1(intern!(py, "dtype"), (self.text,))
    }

    /// The number of its GPU.
    #[getter]
    fn device(&self) -> usize {
        self.device
    }

    fn __len__(&self) -> usize {
        self.shape[0]
    }

    fn __repr__(&self) -> String {
        format!("DeviceArray {} of {} on GPU {}", self.shape[0], self.kind.name(), self.device)
    }

    fn __dlpack_device__(&self) -> (i32, usize) {
        (dlpack::CUDA, self.device)
    }

    /// Fits are done when they are given: no stream has to wait.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, usize)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = stream;
        if dl_device.is_some_and(|device| device != (dlpack::CUDA, self.device))
            || copy == Some(true)
        {
            return Err(PyBufferError::new_err(
                "it stays where it is: numpy() copies it to the host",
            ));
        }
        let strides = self.strides.iter().map(|stride| stride / self.kind.bytes()).collect();
        let (kind, shape) = (self.kind, self.shape.clone());
        let device = i32::try_from(self.device).unwrap_or_default();
        let offer = Offer { address: self.address()?, device, kind, shape, strides };
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        dlpack::give(py, &offer, self.owner.clone(), versioned)
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let words = PyDict::new(py);
        let tuple = |sides: &[usize]| pyo3::types::PyTuple::new(py, sides);
        words.set_item("shape", tuple(&self.shape)?)?;
        words.set_item("typestr", self.text)?;
        words.set_item("data", (self.address()?, false))?;
        words.set_item("strides", tuple(&self.strides)?)?;
        words.set_item("version", 3)?;
        words.set_item("stream", py.None())?;
        Ok(words)
    }

    /// A copy in the host's memory.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let outcomes = Outcomes { fits: self.owner.clone(), device: self.device };
        let rows =
            if self.of_errors { outcomes.fetch_errors(py) } else { outcomes.fetch_fits(py) }?;
        let column = rows.get_item(&self.field)?;
        column.call_method1(intern!(py, "astype"), (self.text,))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err(
                "what is on a GPU cannot be an array without a copy",
            ));
        }
        let array = self.numpy(py)?;
        match dtype {
            Some(dtype) => array.call_method1(intern!(py, "astype"), (dtype,)),
            None => Ok(array),
        }
    }
}
