//! PSFs that are learnt from movies.

use std::sync::Arc;

use fit_core::{Background, Camera, Estimator, Options};
use fit_sim::{MovieSimulation, Objective, PupilPsf, SimulatedPsf, Zernike};
use spotfit::localize::{Emitters, LocalizeOptions, Localizer, Sigma};
use spotfit::movie::{Block, MovieOptions, Pixels};
use spotfit::psf::{self, LearnPsfError, learn_psf};
use spotfit::steps::learn;
use spotfit::steps::localize::{self as step, CameraOptions, Given, PsfOption};
use spotfit::steps::{Listener, Note, Silent, Stack, StepError};
use spotfit::table::{Table, TableFormat};
use spotfit::{AsWindows, FitterOptions};

const SIDE: usize = 64;

fn objective() -> Arc<PupilPsf> {
    let zernike = vec![Zernike::new(4, 0, 0.04), Zernike::new(2, 2, 0.05)];
    let objective = Objective::default().with_zernike(zernike);
    Arc::new(PupilPsf::new(&objective, 100.0, 300.0).expect("sound"))
}

/// A movie of molecules within ±200 nm of the focus, 0.3 in a µm².
fn movie(psf: &Arc<PupilPsf>, frames: usize, seed: u64) -> MovieSimulation {
    MovieSimulation::new(SIDE, SIDE, frames)
        .with_uniform(true)
        .with_own_spots(Some(0.3 * (0.1 * SIDE as f64).powi(2)))
        .with_signal(1500.0)
        .with_signal_spread(0.6)
        .with_background(30.0)
        .with_psf(Some(SimulatedPsf::new(psf.clone(), 200.0)))
        .with_seed(seed)
}

fn blocks(movie: &MovieSimulation, frames: usize) -> Vec<Block> {
    let mut plan = movie.clone().plan().expect("sound");
    let starts = (0..frames).step_by(16);
    let of = |first: usize| {
        let frames = plan.piece(first..(first + 16).min(frames)).frames();
        Block { first, pixels: Pixels::U16(frames) }
    };
    starts.map(of).collect()
}

fn options() -> LocalizeOptions {
    let fit = Options::default().with_estimator(Estimator::MaximumLikelihood);
    LocalizeOptions::default()
        .with_fitter(FitterOptions::default().with_fit(fit))
        .with_camera(Camera::default().with_baseline(100.0).with_read_noise(1.5))
}

/// How many spots of a movie are found within 2 pixels, how many rows are of no spot, how many spots have no row, and the rows' photons
/// over those of their spots.
fn found(movie: &MovieSimulation, frames: usize, options: LocalizeOptions) -> ([usize; 3], f64) {
    let mut plan = movie.clone().plan().expect("sound");
    let piece = plan.piece(0..frames);
    let block = Block { first: 0, pixels: Pixels::U16(piece.frames()) };
    let mut localizer = Localizer::new((SIDE, SIDE), options).expect("sound");
    let rows = localizer.process(&block).expect("fits");
    let inside = |x: f64, y: f64| [x, y].iter().all(|&at| at > 4.0 && at < SIDE as f64 - 5.0);
    let (mut counts, mut ratios) = ([0; 3], Vec::new());
    for frame in 0..frames {
        let mut rows: Vec<_> = rows.iter().filter(|row| row.frame == frame).collect();
        for truth in piece.truth(frame) {
            let distance = |x: f64, y: f64| (x - truth.shape.x).hypot(y - truth.shape.y);
            let near = rows.iter().enumerate().map(|(at, row)| (at, distance(row.x, row.y)));
            let nearest = near.min_by(|a, b| a.1.total_cmp(&b.1));
            let hit =
                nearest.filter(|(_, distance)| *distance < 2.0).map(|(at, _)| rows.remove(at));
            if inside(truth.shape.x, truth.shape.y) {
                counts[if hit.is_some() { 0 } else { 2 }] += 1;
                ratios.extend(hit.map(|row| row.intensity / truth.signal));
            }
        }
        counts[1] += rows.iter().filter(|row| inside(row.x, row.y)).count();
    }
    ratios.sort_by(f64::total_cmp);
    (counts, ratios[ratios.len() / 2])
}

/// What hears notes.
#[derive(Default)]
struct Told(std::cell::RefCell<Vec<String>>);

impl Listener for Told {
    fn note(&self, note: &Note) {
        self.0.borrow_mut().push(note.text().to_owned());
    }
}

/// The columns of a table, to the bit.
fn bits(table: &Table) -> Vec<(&str, Vec<u64>)> {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
    table.columns().iter().map(|column| (&column.name[..], bits(&column.values))).collect()
}

/// The share of a molecule's light in the pixels of a learnt PSF.
fn within(psf: &PupilPsf) -> f64 {
    let pixel = |at: i32| f64::from(at % 33 - 16);
    (0..33 * 33).map(|at| psf.share(pixel(at), pixel(at / 33), 0.0)).sum()
}

fn jaccard([right, wrong, missed]: [usize; 3]) -> f64 {
    right as f64 / (right + wrong + missed) as f64
}

/// Proves that a PSF that was learnt from a movie without beads finds the spots of another one where a Gaussian takes many of them for
/// two; that photons are those in the PSF's pixels; that its file has all that it is; and that no z is claimed.
#[test]
fn a_movie_tells_its_psf() {
    let psf = objective();
    let learnt = learn_psf(&blocks(&movie(&psf, 250, 11), 250), &options()).expect("a PSF");
    println!(
        "{} frames, {} spots, {} held out, {} rounds, deviance {:.3}, Gaussian {:.3}, light {:.3}",
        learnt.frames,
        learnt.spots,
        learnt.held_out,
        learnt.rounds,
        learnt.deviance,
        learnt.gaussian,
        learnt.psf.light()
    );
    assert!(learnt.spots > 400 && learnt.deviance < learnt.gaussian - 0.03);
    assert!(!learnt.psf.is_single());
    // All spots that were held out resemble one member or another, but for the few that are several; hardly anything is left of them.
    let members = learnt.members();
    let spots: usize = members.iter().map(|member| member.spots).sum();
    let most = members.iter().filter(|member| member.spots > 10);
    let most =
        most.flat_map(|member| &member.left).fold(0.0, |most: f64, left| most.max(left.abs()));
    println!("{} members, {spots} spots, at most {most:.4} left", members.len());
    assert!(spots <= learnt.held_out && 10 * spots > 8 * learnt.held_out, "{spots}");
    assert!(members.len() > 1 && most < 0.02, "{most}");
    let [low, high] = learnt.psf.range();
    let z: Vec<f64> = members.iter().map(|member| member.z).collect();
    assert!(z.is_sorted() && z[0] > low && z[z.len() - 1] < high, "{z:?}");
    assert!(learnt.field.is_none(), "{:?}", learnt.field);
    assert!(!learnt.psf.has_heights() && (0.8..0.99).contains(&learnt.psf.light()));

    let mut file = std::io::Cursor::new(Vec::new());
    psf::write(&mut file, &learnt.psf, Some(100.0)).expect("a file");
    let mut bytes = file.get_ref().clone();
    let read = psf::read(file).expect("a PSF");
    assert!(read == learnt.psf && read.misfit().is_some());
    let start = b"\"misfit\": [[";
    let at = bytes.windows(start.len()).position(|part| part == start).expect("its misfit");
    bytes[at + start.len()] = b'x';
    let damaged = psf::read(std::io::Cursor::new(bytes)).unwrap_err().to_string();
    assert!(damaged.contains("misfit"), "{damaged}");

    let test = movie(&psf, 60, 901);
    let auto = options().with_emitters(Emitters::Auto);
    let gaussian = auto.clone().with_sigma(Sigma::Shared).with_usual_sigma(Some(1.3));
    let (of_gaussian, _) = found(&test, 60, gaussian.clone());
    let (of_learnt, photons) = found(&test, 60, auto.with_psf(Some(Arc::new(read.clone()))));
    let misfit = gaussian_misfit(&test, &gaussian);
    assert!(misfit.nodes()[0].shares[1] > 0.02, "{misfit:?}");
    let (of_heeded, _) = found(&test, 60, gaussian.clone().with_misfit(Some(misfit)));
    println!(
        "found, wrong, missed: {of_gaussian:?} {of_heeded:?} {of_learnt:?}; photons {photons:.3}"
    );
    assert!(jaccard(of_heeded) > jaccard(of_gaussian) + 0.07, "{of_gaussian:?} {of_heeded:?}");
    assert!(jaccard(of_learnt) > 0.96, "{of_learnt:?}");
    assert!(jaccard(of_learnt) > jaccard(of_gaussian) + 0.1, "{of_gaussian:?} {of_learnt:?}");
    let photons = photons / within(&psf);
    assert!((photons - 1.0).abs() < 0.07, "{photons}");

    let camera = CameraOptions::default().with_baseline(Some(100.0)).with_sensitivity(Some(1.0));
    let given = step::LocalizeOptions::default()
        .with_camera(camera)
        .with_psf(Some(PsfOption::Given(Given::Content(Arc::new(read)))));
    let mut table = Table::default();
    let frames = blocks(&test, 16).remove(0).pixels;
    step::run(&given, Stack::of("movie", frames), TableFormat::Csv, &mut table, &Silent)
        .expect("a table");
    assert!(table.rows() > 50);
    assert!(table.columns().iter().all(|column| !column.name.starts_with('z')));
}

/// Proves that what cannot be learnt is said: too few spots, spots that are too dim, Gaussians, movies that can be read only once, and
/// options that are for localizing.
#[test]
fn what_cannot_be_learnt_is_refused() {
    let psf = objective();
    let few = learn_psf(&blocks(&movie(&psf, 16, 3), 16), &options());
    assert!(matches!(few, Err(LearnPsfError::FewSpots { frames: 16, .. })), "{few:?}");
    let none = learn_psf(&[], &options());
    assert!(matches!(none, Err(LearnPsfError::FewSpots { frames: 0, found: 0 })), "{none:?}");
    let dim = movie(&psf, 250, 5).with_signal(150.0).with_background(5.0).with_signal_spread(0.0);
    let dim = learn_psf(&blocks(&dim, 250), &options());
    assert!(matches!(dim, Err(LearnPsfError::Dim { .. })), "{dim:?}");
    let gaussians = movie(&psf, 120, 7).with_psf(None);
    let gaussians = learn_psf(&blocks(&gaussians, 120), &options());
    assert!(matches!(gaussians, Err(LearnPsfError::NotBetter { .. })), "{gaussians:?}");

    let frames = || blocks(&movie(&psf, 16, 3), 16).remove(0).pixels;
    let refused = |options: step::LocalizeOptions| {
        let error = learn::run(&options, Stack::of("movie", frames()), &Silent).unwrap_err();
        (matches!(error, StepError::Input { .. }), error.to_string())
    };
    let (of_input, said) = refused(step::LocalizeOptions::default());
    assert!(
        of_input && said.starts_with("movie: the PSF cannot be learnt from 16 frames"),
        "{said}"
    );
    // Localizing goes on with Gaussians, as if nobody had asked but for the estimator.
    let told = Told::default();
    let rows = |options: step::LocalizeOptions, listener: &dyn Listener| {
        let (mut table, movie) = (Table::default(), Stack::of("movie", frames()));
        let camera =
            CameraOptions::default().with_baseline(Some(100.0)).with_sensitivity(Some(1.0));
        let options = options.with_camera(camera);
        step::run(&options, movie, TableFormat::Csv, &mut table, listener).expect("a table");
        table
    };
    let learn = step::LocalizeOptions::default().with_psf(Some(PsfOption::Learn));
    let likely = step::LocalizeOptions::default();
    let likely = likely.with_estimator(Some(Estimator::MaximumLikelihood));
    assert_eq!(bits(&rows(learn.clone(), &told)), bits(&rows(likely, &Silent)));
    let told = told.0.into_inner().join("; ");
    assert!(told.contains("cannot be learnt from 16 frames"), "{told}");
    assert!(told.contains("spots are fitted with Gaussians"), "{told}");
    let Pixels::U16(pixels) = frames() else { unreachable!("simulated frames are integers") };
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let format = format!("{SIDE}x{SIDE}:u16").parse().expect("a format");
    let bytes = std::io::Cursor::new(bytes);
    let stream = Stack::stream("pipe", bytes, Some(format), &MovieOptions::default());
    let mut table = Table::default();
    let stream = step::run(&learn, stream.expect("frames"), TableFormat::Csv, &mut table, &Silent);
    let said = stream.unwrap_err().to_string();
    assert!(said.starts_with("pipe: a PSF is learnt before"), "{said}");
    let (_, said) = refused(step::LocalizeOptions::default().with_learn_frames(Some(0)));
    assert!(said.starts_with("learn_frames"), "{said}");
    let given = PsfOption::Given(Given::File("psf.hdf5".into()));
    let (_, said) = refused(step::LocalizeOptions::default().with_psf(Some(given)));
    assert!(said.starts_with("`psf` is for localizing"), "{said}");
}

/// Proves that spots that are alone stay one where they are bright enough to show that they are not quite like the PSF, which has one member
/// where they are in one plane.
#[test]
fn bright_spots_stay_one() {
    let bright = |frames: usize, seed: u64| {
        let movie = movie(&objective(), frames, seed).with_own_spots(Some(2.5));
        let movie = movie.with_psf(Some(SimulatedPsf::new(objective(), 0.0)));
        movie.with_signal(1e5).with_signal_spread(0.0)
    };
    let learnt = learn_psf(&blocks(&bright(250, 31), 250), &options()).expect("a PSF");
    assert!(learnt.psf.is_single());
    let members = learnt.members();
    assert!(members.len() == 1 && members[0].spots > 20, "{members:?}");
    let misfit = learnt.psf.misfit().expect("its misfit");
    assert!(misfit.nodes().iter().all(|node| node.shares[1] < 0.02), "{misfit:?}");
    let auto = options().with_emitters(Emitters::Auto);
    let of_all =
        found(&bright(60, 907), 60, auto.clone().with_psf(Some(Arc::new(learnt.psf.clone()))));
    let unknown = Arc::new(learnt.psf.with_misfit(None));
    let of_none = found(&bright(60, 907), 60, auto.clone().with_psf(Some(unknown)));
    println!("found, wrong, missed; photons: {of_all:?}, without the misfit {of_none:?}");
    let ([right, wrong, _], photons) = of_all;
    assert!(right > 80 && wrong <= 1 && of_none.0[1] > 10 * wrong.max(1), "{of_all:?} {of_none:?}");
    let photons = photons / within(&objective());
    assert!((photons - 1.0).abs() < 0.03, "{photons}");

    // With Gaussians all of them are several where nobody knows how they differ.
    let gaussian = auto.with_sigma(Sigma::Shared).with_usual_sigma(Some(1.2));
    let misfit = gaussian_misfit(&bright(60, 907), &gaussian);
    let (of_all, _) = found(&bright(60, 907), 60, gaussian.clone().with_misfit(Some(misfit)));
    let (of_none, _) = found(&bright(60, 907), 60, gaussian);
    println!("Gaussians: {of_all:?}, without the misfit {of_none:?}");
    assert!(of_all[2] <= 1 && 15 * of_all[1] < of_none[1], "{of_all:?} {of_none:?}");
}

/// How the spots of the first frames of a movie differ from Gaussians.
fn gaussian_misfit(movie: &MovieSimulation, options: &LocalizeOptions) -> psf::Misfit {
    let mut plan = movie.clone().plan().expect("sound");
    let frames = Pixels::U16(plan.piece(0..32).frames());
    let told = options.clone().with_misfit_of(frames.windows()).expect("frames of this size");
    told.misfit.expect("a misfit")
}

/// Proves that spots that are Gaussians are taken for what they are: nothing changes, alone and in crowds.
#[test]
fn gaussians_have_no_misfit() {
    for density in [0.3, 3.0] {
        let movie = movie(&objective(), 32, 41).with_psf(None);
        let movie = movie.with_own_spots(Some(density * (0.1 * SIDE as f64).powi(2)));
        let options = options().with_emitters(Emitters::Auto).with_sigma(Sigma::Shared);
        let options = options.with_usual_sigma(Some(1.3));
        let misfit = gaussian_misfit(&movie, &options);
        assert!(misfit.nodes().iter().all(|node| node.shares[1] < 0.015), "{density}: {misfit:?}");
    }
}

/// Proves that spots of one brightness, whose backgrounds tell nothing of the PSF's pedestal, have the photons that they have; and that
/// neither pixels that are no numbers nor options that are for localizing keep a movie from telling its PSF.
#[test]
fn equal_spots_have_their_photons() {
    let psf = objective();
    let equal = |frames: usize, seed: u64| movie(&psf, frames, seed).with_signal_spread(0.0);
    let mut plan = equal(150, 21).plan().expect("sound");
    let mut frames = plan.piece(0..150).frames().mapv(f32::from);
    frames
        .index_axis_mut(ndarray::Axis(2), 30)
        .slice_axis_mut(ndarray::Axis(1), (0..20).into())
        .fill(f32::NAN);
    let fit = Options::default()
        .with_shape(fit_core::Shape::ELLIPTICAL)
        .with_criteria(fit_core::Criteria::DEFAULT);
    let engine = LocalizeOptions::default()
        .with_fitter(FitterOptions::default().with_fit(fit))
        .with_emitters(Emitters::Auto)
        .with_sigma(Sigma::Shared)
        .with_threshold(7.0)
        .with_keep_all(true);
    let camera = CameraOptions::default().with_baseline(Some(100.0)).with_sensitivity(Some(1.0));
    let asked = step::LocalizeOptions::default()
        .with_localizer(engine)
        .with_camera(camera.with_read_noise(Some(1.5)))
        .with_estimator(Some(Estimator::MaximumLikelihood))
        .with_background(Some(Background::Plane))
        .with_box_size(Some(spotfit::Length::pixels(17.0)));
    let stack = Stack::of("movie", Pixels::F32(frames));
    let learnt = learn::run(&asked, stack, &Silent).expect("a PSF");
    println!("{}", learnt.report);
    assert!(learnt.report.field.is_none(), "{:?}", learnt.report.field);
    let auto = options().with_emitters(Emitters::Auto).with_psf(Some(Arc::new(learnt.psf.clone())));
    let (counts, photons) = found(&equal(40, 905), 40, auto);
    println!("found, wrong, missed: {counts:?}; photons {photons:.3}");
    assert!(jaccard(counts) > 0.94, "{counts:?}");
    let photons = photons / within(&psf);
    assert!((photons - 1.0).abs() < 0.07, "{photons}");

    let tracked = spotfit::track::TrackOptions::default().with_psf(Some(Arc::new(learnt.psf)));
    let frame = vec![100.0_f32; SIDE * SIDE];
    let pixels = spotfit::track::FramePixels::F32(&frame);
    let view = spotfit::track::FrameView::new(SIDE, SIDE, pixels);
    let error = spotfit::track::Tracker::new(view, &tracked).unwrap_err();
    assert!(error.to_string().contains("without heights"), "{error}");
}
