//! Calls of the driver that fail: nothing is on its way afterwards.

use std::cell::RefCell;

use fit_core::{Corner, Fit, Options, Size, Start};
use fit_gpu::internals::each_fault;
use fit_gpu::{Gpu, GpuSession, Pinnable, PinnedBuffer, Resident};
use fit_windows::{AnyWindows, Weights, Windows};
use ndarray::{Array3, ArrayView2, ArrayView3};

/// Proves that nothing is on its way when a batch ends, whichever call failed: neither frames and an image of weights, nor windows
/// and outcomes.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn batches_leave_no_copies_under_way() {
    const SIDE: usize = 8000;
    const COUNT: usize = 2_000_000;
    fn pinned<T: Pinnable>(length: usize) -> PinnedBuffer<T> {
        PinnedBuffer::new(length).expect("memory")
    }
    let mut image = pinned::<f32>(SIDE * SIDE);
    image.fill(1.0);
    let pixels = pinned::<u8>(COUNT * 81);
    let corners: Vec<Corner> = (0..100).map(|x| Corner { frame: 0, x, y: 0 }).collect();
    let frames = ArrayView3::from_shape((1, SIDE, SIDE), &pixels[..SIDE * SIDE]).expect("all");
    let image = ArrayView2::from_shape((SIDE, SIDE), &image).expect("as many");
    let spots = ArrayView3::from_shape((COUNT, 9, 9), &pixels).expect("as many");
    let cuts = Windows::cuts(frames, Size::new(9, 9), &corners);
    let options = &Options::default();
    let mut fits = pinned::<Fit<f32>>(COUNT);
    for windows in
        [AnyWindows::from(cuts.with_weights(Weights::Frame(image))), Windows::stack(spots).into()]
    {
        let fits = RefCell::new(&mut fits[..windows.count()]);
        each_fault(
            &mut Gpu::new(&[0]).expect("a GPU"),
            |gpu| {
                let mut fits = fits.borrow_mut();
                gpu.fit_windows(options, windows, Start::Estimate, (&mut **fits).into())
            },
            |gpu, told| assert!(gpu.is_done().expect("no fault"), "{told}"),
        );
    }
}

/// Proves the same for windows that stay on a device, whichever call of the driver failed.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn residents_leave_no_copies_under_way() {
    const COUNT: usize = 1_000_000;
    let (window, options) = (Array3::<u8>::zeros((1, 9, 9)), Options::default());
    let spots = window.broadcast((COUNT, 9, 9)).expect("a view without memory");
    let mut resident = Resident::new(0, spots, Start::Estimate).expect("a GPU");
    let look = |resident: &Resident, told: &str| {
        assert!(resident.is_done().expect("no fault"), "{told}");
    };
    each_fault(&mut resident, |resident| resident.fit(&options), look);
    let fits = RefCell::new(PinnedBuffer::new(COUNT).expect("memory"));
    each_fault(&mut resident, |resident| resident.fetch(&mut fits.borrow_mut()), look);
    let errors = RefCell::new(PinnedBuffer::new(COUNT).expect("memory"));
    let find_errors =
        |resident: &mut Resident| resident.errors_into(&options, &mut errors.borrow_mut());
    each_fault(&mut resident, find_errors, look);
}

/// Proves the same for sessions whose calls end with an error.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn sessions_leave_no_copies_under_way() {
    const COUNT: usize = 300_000;
    let spots = Array3::<f32>::zeros((COUNT, 9, 9));
    let options = Options::default();
    let mut session = GpuSession::new(0, Size::new(9, 9), COUNT, &options).expect("a GPU");
    let fits = RefCell::new(vec![Fit::invalid(); COUNT]);
    each_fault(
        &mut session,
        |session| session.fit_into(spots.view(), Start::Estimate, &mut fits.borrow_mut()),
        |session, told| {
            // Who got all outcomes does not wait for the end of the kernel.
            let all_well = told.ends_with("None");
            assert!(all_well || session.is_done().expect("no fault"), "{told}");
        },
    );
}
