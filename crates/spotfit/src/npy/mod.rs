//! NPY files, as NumPy writes them, read piece by piece: see [`spotfit_files::npy`].
//!
//! [`StackReader`] gives the windows of a stack as [`Fitter::fit_windows`](crate::Fitter::fit_windows) takes them.

mod stack;

pub use spotfit_files::npy::{
    FORTRAN_BYTES, NpyError, NpyHeader, NpyNumber, NpyReader, NumberType, write_header,
};
pub use stack::StackReader;
