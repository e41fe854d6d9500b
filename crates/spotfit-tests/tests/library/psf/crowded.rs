//! Crowds of spots behind an objective, found with the PSF of beads.

use std::sync::Arc;

use fit_core::{Camera, Estimator, Options};
use fit_sim::{MovieSimulation, Objective, PupilPsf, SimulatedPsf, Zernike};
use ndarray::Array3;
use spotfit::FitterOptions;
use spotfit::localize::{Emitters, LocalizeOptions, Localizer};
use spotfit::movie::{Block, Pixels};
use spotfit::psf::{BeadStack, Psf, PsfCalibrationOptions, calibrate_psf};

const SIDE: usize = 48;
const FRAMES: usize = 6;

/// The PSF of beads that were seen up to so many nanometres from the focus.
fn measured(psf: &PupilPsf, reach: f64) -> Psf {
    let heights: Vec<f64> = (-12..=12).map(|k| reach * f64::from(k) / 12.0).collect();
    let beads: Vec<BeadStack> = [[0.3, -0.2], [-0.4, 0.1], [0.05, 0.45], [-0.15, -0.35]]
        .into_iter()
        .map(|[x, y]: [f64; 2]| {
            let stack = Array3::from_shape_fn((heights.len(), 21, 21), |(slice, row, column)| {
                let [dx, dy] = [column as f64 - 10.0 - x, row as f64 - 10.0 - y];
                (20.0 + 1e5 * psf.share(dx, dy, heights[slice])) as f32
            });
            BeadStack { stack, heights: heights.clone() }
        })
        .collect();
    calibrate_psf(&beads, &PsfCalibrationOptions::default()).expect("a PSF").psf
}

/// Proves that crowds are found whatever the range of the beads: the room for spots is that of their width in focus, and not of what the
/// farthest beads looked like, with which every region was full, and none of its spots in a row.
#[test]
fn crowds_have_room_with_beads_of_any_range() {
    let zernike = vec![Zernike::new(4, 0, 0.04), Zernike::new(2, 2, 0.05)];
    let objective = Objective::default().with_zernike(zernike);
    let psf = Arc::new(PupilPsf::new(&objective, 100.0, 600.0).expect("sound"));
    let area = (0.1 * SIDE as f64).powi(2);
    let options = LocalizeOptions::default()
        .with_fitter(
            FitterOptions::default()
                .with_fit(Options::default().with_estimator(Estimator::MaximumLikelihood)),
        )
        .with_camera(Camera::default().with_baseline(100.0).with_read_noise(1.5))
        .with_emitters(Emitters::Auto);
    for (reach, density, least) in [(240.0, 3.0, 0.7), (600.0, 3.0, 0.7), (600.0, 4.0, 0.6)] {
        let measured = Arc::new(measured(&psf, reach));
        let mut plan = MovieSimulation::new(SIDE, SIDE, FRAMES)
            .with_uniform(true)
            .with_own_spots(Some(density * area))
            .with_signal(1500.0)
            .with_background(30.0)
            .with_psf(Some(SimulatedPsf::new(psf.clone(), 200.0)))
            .plan()
            .expect("sound");
        let piece = plan.piece(0..FRAMES);
        let spots = (0..FRAMES).map(|frame| piece.truth(frame).count()).sum::<usize>();
        let block = Block { first: 0, pixels: Pixels::U16(piece.frames()) };
        let options = options.clone().with_psf(Some(measured.clone()));
        let mut localizer = Localizer::new((SIDE, SIDE), options).expect("sound");
        let found = localizer.process(&block).expect("fits").len();
        println!("±{reach} nm, {density} per µm²: {found} rows of {spots} spots");
        assert!(found as f64 > least * spots as f64, "±{reach}, {density}: {found} of {spots}");
    }
}
