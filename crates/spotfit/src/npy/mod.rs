//! NPY files, as NumPy writes them, read piece by piece: see [`spotfit_files::npy`].
//!
//! [`StackReader`] gives the windows of a stack as [`Fitter::fit_windows`](crate::Fitter::fit_windows) takes them.

mod stack;
mod window_buffer;

pub use spotfit_files::npy::{
    ByteRoom, FORTRAN_BYTES, MaybeFile, NpyError, NpyHeader, NpyNumber, NpyReader, NumberType,
    write_header,
};
pub use stack::StackReader;
pub(crate) use window_buffer::WindowBuffer;
