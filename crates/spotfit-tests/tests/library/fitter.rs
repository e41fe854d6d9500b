//! What fitters refuse.

use ndarray::Array3;
use spotfit::{Backend, BatchError, Corner, Fit, FitError, Fitter, FitterOptions, Size, Start};

/// Proves that windows whose pixels cannot be counted are an argument error, on whatever backend.
#[test]
fn absurd_windows_are_refused() {
    let frames = Array3::<u16>::zeros((1, 16, 16));
    for backend in [Backend::Auto, Backend::Cpu, Backend::Reference] {
        let options = FitterOptions::default().with_backend(backend).with_threads(1);
        let fitter = Fitter::new(&options).unwrap();
        let quarter = 1 << (usize::BITS - 2);
        for size in [Size::new(usize::MAX, 3), Size::new(quarter, quarter)] {
            for corners in [&[][..], &[Corner::default()]] {
                let fits: Result<Vec<Fit<f64>>, _> =
                    fitter.fit_in_frames(frames.view(), size, corners, Start::Estimate);
                match fits {
                    Err(FitError::Batch(BatchError::Argument(_))) => {}
                    other => panic!("{backend}, {size:?}: {other:?}"),
                }
            }
        }
    }
}
