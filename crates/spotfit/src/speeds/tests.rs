//! Which jobs go to the GPU, and what becomes of files.

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

/// Proves that a file has what was kept, in a folder that was not there; that no file is none; and that others are errors that say what
/// is wrong and where.
#[test]
fn files_are_read_again_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings/spotfit/speeds.json");
    assert!(Speeds::read(&path).unwrap().is_none());
    for kept in [Speeds::default(), speeds(0.1 + 0.2, 1.0 / 3.0, None)] {
        kept.save(&path).unwrap();
        assert_eq!(Speeds::read(&path).unwrap(), Some(kept));
    }
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    let good = fs::read_to_string(&path).unwrap();
    let spoiled = [
        (String::new(), "EOF"),
        (good[..good.len() / 2].to_owned(), "EOF"),
        (good.replace("context", "contest"), "contest"),
        (good.replace("0.3333333333333333", "\"fast\""), "invalid type"),
        (good.replace("0.3333333333333333", "-1"), "out of its range"),
        (good.replace("0.3333333333333333", "0"), "out of its range"),
        (good.replace("0.3333333333333333", "1e300"), "out of its range"),
        ("[]".to_owned(), "invalid"),
        ("null".to_owned(), "invalid type"),
    ];
    for (text, why) in spoiled {
        fs::write(&path, &text).unwrap();
        let error = Speeds::read(&path).unwrap_err().to_string();
        assert!(error.contains("speeds.json") && error.contains(why), "{text}: {error}");
    }
    assert!(matches!(Speeds::read(folder.path()), Err(SpeedsError::File { .. })));
    let below_a_file = path.join("speeds.json");
    assert!(matches!(speeds(1.0, 1.0, None).save(&below_a_file), Err(SpeedsError::File { .. })));
}
