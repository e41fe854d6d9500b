//! Requests that are too large: errors before a device is asked.

use fit_core::{Fit, Options, Size, Start};
use fit_gpu::{GpuError, GpuSession, PinnedBuffer, Resident};
use ndarray::Array3;

/// Proves that more outcomes than have an address are an error, and not a buffer of 56 bytes.
#[test]
fn a_huge_buffer_is_an_error() {
    let result = PinnedBuffer::<Fit<f32>>::new((1 << 62) + 1);
    assert!(matches!(result, Err(GpuError::TooManyBytes { each: 56, .. })), "{result:?}");
}

/// Proves that views which repeat a window more often than a kernel counts, or than there are bytes for, are
/// errors.
#[test]
fn huge_views_are_errors() {
    let window = Array3::<f32>::zeros((1, 9, 9));
    for count in [1 << 32, (isize::MAX as usize) / 81] {
        let spots = window.broadcast((count, 9, 9)).expect("a view without memory");
        let result = Resident::new(0, spots, Start::Estimate);
        assert!(matches!(result, Err(GpuError::TooManyWindows { .. })), "{result:?}");
    }
}

/// Proves that a session for more windows than have an address, or than a kernel counts, is an error.
#[test]
fn a_huge_session_is_an_error() {
    let new = |most| GpuSession::new(0, Size::new(9, 9), most, &Options::default());
    for most in [1 << 32, (1 << 62) + 1, usize::MAX] {
        let error = new(most);
        assert!(matches!(error, Err(GpuError::TooManyWindows { .. })), "{error:?}");
    }
}
