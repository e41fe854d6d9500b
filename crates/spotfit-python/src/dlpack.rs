//! Tensors of other libraries, and ours for them, by DLPack (<https://dmlc.github.io/dlpack/latest/>, version 1.0).

use std::ffi::{CStr, c_void};
use std::slice;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Memory of an NVIDIA GPU, and memory that it shares with the host.
pub(crate) const CUDA: i32 = 2;
pub(crate) const CUDA_MANAGED: i32 = 13;

/// What a tensor lies in: `DLDevice`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Device {
    kind: i32,
    number: i32,
}

/// The type of a number: `DLDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Kind {
    code: u8,
    bits: u8,
    lanes: u16,
}

impl Kind {
    pub(crate) const I32: Self = Self::of(0, 32);
    pub(crate) const U8: Self = Self::of(1, 8);
    pub(crate) const U16: Self = Self::of(1, 16);
    pub(crate) const F32: Self = Self::of(2, 32);
    pub(crate) const BOOL: Self = Self::of(6, 8);

    const fn of(code: u8, bits: u8) -> Self {
        Self { code, bits, lanes: 1 }
    }

    /// Its bytes.
    pub(crate) fn bytes(self) -> usize {
        usize::from(self.bits) / 8 * usize::from(self.lanes)
    }

    /// Its name, as NumPy has it.
    pub(crate) fn name(self) -> String {
        let word = match self.code {
            0 => "int",
            1 => "uint",
            2 => "float",
            4 => "bfloat",
            5 => "complex",
            6 => return "bool".to_owned(),
            code => return format!("DLPack's type {code} of {} bits", self.bits),
        };
        let times = if self.lanes == 1 { String::new() } else { format!("x{}", self.lanes) };
        format!("{word}{}{times}", self.bits)
    }
}

/// `DLTensor`.
#[derive(Debug)]
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    dimensions: i32,
    kind: Kind,
    shape: *mut i64,
    /// In numbers, not in bytes; null in C order.
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Legacy {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    tensor: Tensor,
}

const LEGACY: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const VERSION: [u32; 2] = [1, 0];

/// What a capsule says of its tensor.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) shape: Vec<usize>,
    /// In numbers; `None` in C order.
    pub(crate) strides: Option<Vec<i64>>,
    pub(crate) address: usize,
}

/// Reads a capsule. It keeps the tensor, and gives it back when it goes.
pub(crate) fn read(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Seen> {
    let wrong = |what: &str| PyTypeError::new_err(format!("{name}.__dlpack__() gives {what}"));
    let capsule = object.cast::<PyCapsule>().map_err(|_| wrong("no capsule"))?;
    let tensor = if capsule.is_valid_checked(Some(VERSIONED)) {
        let pointer = capsule.pointer_checked(Some(VERSIONED))?.cast::<Versioned>();
        // SAFETY: a capsule of this name has such a tensor, as long as nobody has renamed it.
        let [major, _] = unsafe { (*pointer.as_ptr()).version };
        if major != VERSION[0] {
            return Err(wrong(&format!("a tensor of DLPack {major}, not {}", VERSION[0])));
        }
        // SAFETY: as above; of this version the fields are known.
        unsafe { &(*pointer.as_ptr()).tensor }
    } else if capsule.is_valid_checked(Some(LEGACY)) {
        let pointer = capsule.pointer_checked(Some(LEGACY))?.cast::<Legacy>();
        // SAFETY: as above.
        unsafe { &(*pointer.as_ptr()).tensor }
    } else {
        return Err(wrong("a capsule that has no tensor, or whose tensor is used already"));
    };
    let dimensions = usize::try_from(tensor.dimensions).unwrap_or(0);
    let sides = |from: *mut i64| match from.is_null() || dimensions == 0 {
        true => None,
        // SAFETY: there are as many as the tensor has dimensions.
        false => Some(unsafe { slice::from_raw_parts(from, dimensions) }.to_vec()),
    };
    let shape = sides(tensor.shape).unwrap_or_default();
    let shape = shape.into_iter().map(usize::try_from).collect::<Result<_, _>>();
    Ok(Seen {
        kind: tensor.kind,
        shape: shape.map_err(|_| wrong("a tensor with a negative side"))?,
        strides: sides(tensor.strides),
        address: (tensor.data as usize).wrapping_add(tensor.byte_offset as usize),
    })
}

/// A tensor that is given away, with its owner.
#[repr(C)]
struct Given<M, T> {
    // First: a pointer to it is one to all.
    managed: M,
    shape: [i64; 2],
    strides: [i64; 2],
    _owner: T,
}

/// What is given away.
pub(crate) struct Offer {
    pub(crate) address: usize,
    pub(crate) device: i32,
    pub(crate) kind: Kind,
    /// At most two sides.
    pub(crate) shape: Vec<usize>,
    /// In numbers.
    pub(crate) strides: Vec<usize>,
}

impl Offer {
    fn sides(from: &[usize]) -> [i64; 2] {
        let mut sides = [0; 2];
        for (to, &side) in sides.iter_mut().zip(from) {
            *to = side as i64;
        }
        sides
    }

    fn tensor(&self) -> Tensor {
        Tensor {
            data: self.address as *mut c_void,
            device: Device { kind: CUDA, number: self.device },
            dimensions: self.shape.len() as i32,
            kind: self.kind,
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        }
    }
}

/// A managed tensor of either form.
trait Managed: Sized {
    const NAME: &'static CStr;
    fn new(tensor: Tensor, deleter: unsafe extern "C" fn(*mut Self)) -> Self;
    fn tensor(&mut self) -> &mut Tensor;
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)>;
}

impl Managed for Legacy {
    const NAME: &'static CStr = LEGACY;

    fn new(tensor: Tensor, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        Self { tensor, context: std::ptr::null_mut(), deleter: Some(deleter) }
    }

    fn tensor(&mut self) -> &mut Tensor {
        &mut self.tensor
    }

    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
}

impl Managed for Versioned {
    const NAME: &'static CStr = VERSIONED;

    fn new(tensor: Tensor, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        let (context, deleter) = (std::ptr::null_mut(), Some(deleter));
        Self { version: VERSION, context, deleter, flags: 0, tensor }
    }

    fn tensor(&mut self) -> &mut Tensor {
        &mut self.tensor
    }

    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
}

/// A capsule with a tensor, which keeps its owner for whoever takes it. `versioned` is the form of DLPack 1.
pub(crate) fn give<'py, T: Send + 'static>(
    py: Python<'py>,
    offer: &Offer,
    owner: T,
    versioned: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    if versioned {
        capsule::<Versioned, T>(py, offer, owner)
    } else {
        capsule::<Legacy, T>(py, offer, owner)
    }
}

fn capsule<'py, M: Managed, T: Send + 'static>(
    py: Python<'py>,
    offer: &Offer,
    owner: T,
) -> PyResult<Bound<'py, PyCapsule>> {
    /// Called once by whoever has the tensor last, from any thread.
    unsafe extern "C" fn delete<M, T>(managed: *mut M) {
        if !managed.is_null() {
            // SAFETY: `capsule` has made it as the first field of this, and nobody uses it again.
            drop(unsafe { Box::from_raw(managed.cast::<Given<M, T>>()) });
        }
    }

    /// Python calls it when the capsule goes. A tensor that was taken has another name.
    unsafe extern "C" fn unused<M: Managed>(capsule: *mut pyo3::ffi::PyObject) {
        // SAFETY: Python gives the capsule; with this name it has what `capsule` put into it.
        unsafe {
            if pyo3::ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) == 1 {
                let managed =
                    pyo3::ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()).cast::<M>();
                if let Some(delete) = (*managed).deleter() {
                    delete(managed);
                }
            }
        }
    }

    if offer.shape.len() > 2 || offer.shape.len() != offer.strides.len() {
        return Err(PyBufferError::new_err("a tensor of one or two dimensions was expected"));
    }
    let managed = M::new(offer.tensor(), delete::<M, T>);
    let (shape, strides) = (Offer::sides(&offer.shape), Offer::sides(&offer.strides));
    let mut given = Box::new(Given { managed, shape, strides, _owner: owner });
    let (shape, strides) = (given.shape.as_mut_ptr(), given.strides.as_mut_ptr());
    let tensor = given.managed.tensor();
    (tensor.shape, tensor.strides) = (shape, strides);
    let pointer = std::ptr::NonNull::from(Box::leak(given)).cast::<c_void>();
    // SAFETY: the pointer is that of a tensor of this name, which the destructor knows. If there is no capsule the tensor stays
    // for ever, with some bytes of memory.
    unsafe { PyCapsule::new_with_pointer_and_destructor(py, pointer, M::NAME, Some(unused::<M>)) }
}
