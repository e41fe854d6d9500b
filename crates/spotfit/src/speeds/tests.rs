//! Which jobs go to the GPU.

use super::*;

fn speeds(context: f64, thread: f64, gpu: Option<f64>) -> Speeds {
    let rates = Rates::new(thread, gpu);
    Speeds { context, least_squares: rates, likelihood: rates, localize: rates, curve: rates }
}

/// Proves that the least job for a GPU takes as long on either: the start and its pixels there, and its pixels here; that more threads
/// need a larger one; and that there is none where threads are as fast, or without a GPU.
#[test]
fn crossovers_follow_from_rates() {
    for (context, thread, gpu, threads) in
        [(0.35, 3e8, 1e10, 2), (0.1, 1e6, 1e7, 9), (2.0, 5.0, 7.0, 1)]
    {
        let rates = Rates::new(thread, Some(gpu));
        let least = rates.gpu_from(context, threads).unwrap();
        let (here, there) = (least / (thread * threads as f64), context + least / gpu);
        assert!((here / there - 1.0).abs() < 1e-12, "{here} {there}");
        let fewer = rates.gpu_from(context, threads.saturating_sub(1).max(1)).unwrap();
        assert!(fewer <= least);
    }
    let rates = Rates::new(1e9, Some(8e9));
    assert!(rates.gpu_from(0.1, 7).is_some());
    assert_eq!([8, 9, 100].map(|threads| rates.gpu_from(0.1, threads)), [None; 3]);
    assert_eq!(Rates::new(1e9, None).gpu_from(0.1, 1), None);
    assert_eq!(speeds(1.0, 1e9, None).fit_on_gpu_from(Estimator::LeastSquares, 1), usize::MAX);
    assert_eq!(speeds(1.0, 1e9, Some(2e9)).localize_on_gpu_from(1), 2_000_000_000);
    // Likelihood takes a processor longer, and a GPU as long: that of the bus.
    let usual = Speeds::default();
    let [squares, likelihood] = [Estimator::LeastSquares, Estimator::MaximumLikelihood]
        .map(|estimator| usual.fit_on_gpu_from(estimator, 4));
    assert!(1_000_000 < likelihood && likelihood < squares && squares < usize::MAX);
    // From files only few threads are slower than the way to a GPU and back.
    let file = |threads| usual.file_on_gpu_from(Estimator::LeastSquares, threads);
    assert!(usual.fit_on_gpu_from(Estimator::LeastSquares, 2) < file(2) && file(2) < usize::MAX);
    assert_eq!(file(16), usize::MAX);
}
