//! What fits are made with: the project's backends, the explicit baseline, fitters of others.

use std::ops::DerefMut;
use std::path::PathBuf;

use fit_core::{Background, Circle, Criteria, Fit, Options, Scalar, Size, Start};
use fit_cpu::{InstructionSet, Reference, Simd};
use fit_gpu::{Family, Gpu, GpuError, GpuSession, Pinnable, PinnedBuffer};
use fit_tests::emulation::fit_in_turn;
use fit_tests::explicit::{ExplicitCriteria, ExplicitStart, fit_explicit};
use fit_tests::single;
use ndarray::{ArrayView2, ArrayView3};
use rayon::prelude::*;
use spotfit::model::{CurveFits, CurveFitter, CurveStart, Curves, Model, Points};

use crate::library::{PeerBatch, PeerLibrary};
use crate::report::{AnyError, sets};
use crate::{Workload, outcome, peers};

/// A backend of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    /// The f64 reference.
    Reference,
    /// The fast path of the CPU.
    Cpu,
    /// The GPU.
    Gpu,
    /// The GPU, as the paper did it.
    GpuPublished,
    /// The explicit five-parameter baseline.
    Explicit,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Reference, Self::Cpu, Self::Gpu, Self::GpuPublished, Self::Explicit];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        ["reference", "cpu", "gpu", "gpu-published", "explicit"][self as usize]
    }
}

/// Memory that a GPU reaches by itself where there is one, else ordinary memory.
type Store<T> = Box<dyn DerefMut<Target = [T]>>;

fn store<T: Pinnable + 'static>(length: usize, value: T, pinned: bool) -> Store<T> {
    if pinned && let Ok(mut buffer) = PinnedBuffer::new(length) {
        buffer.fill(value);
        return Box::new(buffer);
    }
    Box::new(vec![value; length])
}

/// Where the outcomes of the last fit are.
#[derive(Clone, Copy)]
enum Latest {
    Single,
    Double,
    Peer,
    Curves,
}

/// Room for windows, start values and outcomes, which is made once.
pub struct Room {
    pixels: Store<f32>,
    starts: Store<[f32; 3]>,
    single: Store<Fit<f32>>,
    double: Vec<Fit<f64>>,
    peer: Option<PeerBatch>,
    /// Start values of all five parameters.
    initial: Vec<[f32; 5]>,
    curves: Option<CurveFits>,
    pinned: bool,
    size: Size,
    latest: Latest,
}

/// Windows and start values, and room for the outcomes of one precision.
type Batch<'r, T> = (ArrayView3<'r, f32>, Start<'r>, &'r mut [Fit<T>]);

impl Room {
    /// Room that grows when it must; `pinned` if there is a GPU.
    pub fn new(pinned: bool) -> Self {
        Self {
            pixels: store(0, 0.0, false),
            starts: store(0, [0.0; 3], false),
            single: store(0, Fit::invalid(), false),
            double: Vec::new(),
            peer: None,
            initial: Vec::new(),
            curves: None,
            pinned,
            size: Size::new(0, 0),
            latest: Latest::Single,
        }
    }

    /// Takes in the windows and start values of a workload, again and again up to `count`.
    pub fn load(&mut self, work: &Workload, count: usize) {
        let window = work.size().pixels();
        if self.pixels.len() < count * window {
            // What was there goes first.
            self.pixels = store(0, 0.0, false);
            self.pixels = store(count * window, 0.0, self.pinned);
        }
        if self.starts.len() < count {
            self.starts = store(count, [0.0; 3], self.pinned);
            self.single = store(count, Fit::invalid(), self.pinned);
        }
        let source = work.pixels();
        let parts = self.pixels[..count * window].par_chunks_mut(source.len().max(1));
        parts.for_each(|to| to.copy_from_slice(&source[..to.len()]));
        for (to, from) in self.starts[..count].iter_mut().zip(work.starts.iter().cycle()) {
            *to = *from;
        }
        self.peer = None;
        self.initial = work.initial.iter().copied().cycle().take(count).collect();
        self.curves = None;
        self.size = work.size();
    }

    fn single(&mut self, count: usize) -> Batch<'_, f32> {
        self.latest = Latest::Single;
        let start = Start::F32(&self.starts[..count]);
        (spots(&self.pixels, self.size, count), start, &mut self.single[..count])
    }

    fn double(&mut self, count: usize) -> Batch<'_, f64> {
        self.latest = Latest::Double;
        if self.double.len() < count {
            self.double.resize(count, Fit::invalid());
        }
        let start = Start::F32(&self.starts[..count]);
        (spots(&self.pixels, self.size, count), start, &mut self.double[..count])
    }

    /// The first outcomes of the last fit.
    pub fn outcomes(&self, count: usize) -> Vec<Fit<f64>> {
        match (self.latest, &self.peer, &self.curves) {
            (Latest::Double, ..) => self.double[..count].to_vec(),
            (Latest::Peer, Some(batch), _) => batch.fits(count),
            (Latest::Curves, _, Some(found)) => (0..count).map(|i| spot_of(found, i)).collect(),
            _ => self.single[..count].iter().map(Fit::cast).collect(),
        }
    }
}

fn spots(pixels: &[f32], Size { width, height }: Size, count: usize) -> ArrayView3<'_, f32> {
    let pixels = &pixels[..count * width * height];
    ArrayView3::from_shape((count, height, width), pixels).expect("as many pixels")
}

/// A spot that a formula was fitted to.
fn spot_of(found: &CurveFits, number: usize) -> Fit<f64> {
    let parameters = std::array::from_fn(|j| found.parameters[[number, j]]);
    let counts = [found.iterations[number], found.evaluations[number]];
    outcome(parameters, found.chi2[number], counts, found.statuses[number])
}

/// Fits the first windows of a room, with at most so many iterations if that is said.
pub type Work =
    Box<dyn FnMut(&mut Room, &Workload, usize, Options, Option<u16>) -> Result<(), AnyError>>;

/// What fits windows into outcomes of one precision.
fn batch<T: 'static, E: Into<AnyError>>(
    room: fn(&mut Room, usize) -> Batch<'_, T>,
    mut fit: impl FnMut(&Options, ArrayView3<'_, f32>, Start<'_>, &mut [Fit<T>]) -> Result<(), E>
    + 'static,
) -> Work {
    Box::new(move |all, _, count, options, _| {
        let (spots, start, fits) = room(all, count);
        fit(&options, spots, start, fits).map_err(Into::into)
    })
}

/// The reference.
///
/// # Errors
/// Why there are no threads.
pub fn double(threads: usize) -> Result<Work, AnyError> {
    let reference = Reference::<f64>::new(threads)?;
    Ok(batch(Room::double, move |options, spots, start, fits| {
        reference.fit_into(options, spots, start, fits)
    }))
}

/// The reference in single precision.
///
/// # Errors
/// Why there are no threads.
pub fn single(threads: usize) -> Result<Work, AnyError> {
    let reference = Reference::<f32>::new(threads)?;
    Ok(batch(Room::single, move |options, spots, start, fits| {
        single::fit_into(&reference, options, spots, start, fits)
    }))
}

/// The fast path, with the best instructions if none are named.
///
/// # Errors
/// Why there are no threads, or no such instructions.
pub fn simd(threads: usize, set: Option<InstructionSet>) -> Result<Work, AnyError> {
    let simd = Simd::new(threads, set)?;
    Ok(batch(Room::single, move |options, spots, start, fits| {
        simd.fit_into(options, spots, start, fits)
    }))
}

/// Batches of no more than this go through a session.
const SESSION: usize = 500;

fn on_gpu(gpu: Gpu, sessions: bool) -> Work {
    let mut session: Option<(Size, usize, GpuSession)> = None;
    batch(Room::single, move |options, spots, start, fits| {
        let (count, height, width) = spots.dim();
        let size = Size::new(width, height);
        if !sessions || count > SESSION {
            return gpu.fit_into(options, spots, start, fits);
        }
        if session.as_ref().is_none_or(|old| (old.0, old.1) != (size, count)) {
            session = Some((size, count, GpuSession::new(0, size, count, options)?));
        }
        session.as_mut().expect("made above").2.fit_into(spots, start, fits)
    })
}

/// The paper's iteration on the host.
fn in_turn<T: Scalar + Send + 'static>(room: fn(&mut Room, usize) -> Batch<'_, T>) -> Work {
    Box::new(move |all, _, count, options, _| {
        let size = all.size;
        let (spots, start, fits) = room(all, count);
        let (Some(pixels), Start::F32(starts)) = (spots.to_slice(), start) else {
            return Err("windows in no order".into());
        };
        let inputs = pixels.par_chunks_exact(size.pixels()).zip(starts).zip(fits);
        let fitted = inputs.try_for_each(|((pixels, start), fit)| {
            fit_in_turn(pixels, size, *start, &options).map(|new| *fit = new)
        });
        fitted.map_err(Into::into)
    })
}

/// The explicit baseline.
pub fn explicit() -> Work {
    Box::new(|room, _, count, _, most_iterations| {
        let criteria = ExplicitCriteria::default();
        let max_iterations = most_iterations.map_or(criteria.max_iterations, u32::from);
        let criteria = ExplicitCriteria { max_iterations, ..criteria };
        room.latest = Latest::Single;
        let pixels = room.pixels.chunks_exact(room.size.pixels());
        let inputs = pixels.zip(&room.initial).zip(&mut room.single[..count]);
        for ((pixels, &[amplitude, x, y, sigma, background]), fit) in inputs {
            let start = ExplicitStart { shape: Circle::new(x, y, sigma), amplitude, background };
            *fit = fit_explicit(pixels, room.size, start, &criteria)?;
        }
        Ok(())
    })
}

/// A library with Gpufit's interface.
pub fn peer(library: PeerLibrary) -> Work {
    Box::new(move |room, _, count, _, most_iterations| {
        let batch = room.peer.get_or_insert_with(|| PeerBatch::new(room.size, &room.initial));
        batch.max_iterations = most_iterations.unwrap_or(20);
        room.latest = Latest::Peer;
        Ok(library.fit_pixels(batch, &room.pixels, count)?)
    })
}

/// The spot as a formula with five parameters.
fn formula(backend: spotfit::Backend, threads: usize) -> Result<Work, AnyError> {
    let fitter = CurveFitter::new(backend, threads)?;
    let model = Model::named("gauss_2d")?;
    Ok(Box::new(move |room, _, count, _, most_iterations| {
        let Size { width, height } = room.size;
        let pixels = &room.pixels[..count * width * height];
        let data = ArrayView2::from_shape((count, width * height), pixels)?;
        let starts = room.initial[..count].as_flattened();
        let starts = ArrayView2::from_shape((count, 5), starts)?;
        let start = CurveStart::PerFit(starts.into());
        let mut options = model.options().with_covariance(false);
        if let Some(most) = most_iterations {
            options.max_iterations = most.into();
        }
        let curves = Curves::new(data, Points::Grid { width, height });
        let found = model.fit_with(&fitter, &curves, start, &options)?;
        room.curves = Some(found.fits);
        room.latest = Latest::Curves;
        Ok(())
    }))
}

/// A crate of others.
pub fn of_others(fit: fn(&Workload, usize) -> Vec<Fit<f64>>) -> Work {
    Box::new(move |room, work, count, _, _| {
        let outcome = fit(work, count);
        room.double(count).2.copy_from_slice(&outcome);
        Ok(())
    })
}

/// What a method is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Speed.
    Timed,
    /// Errors.
    Judged,
    /// The figures of Gpufit's paper alone: the spot as a formula, and crates of others.
    Compared,
}

const BOTH: &[Use] = &[Use::Timed, Use::Judged];

/// Something that fits.
pub struct Method {
    /// What it is called.
    pub name: String,
    /// The backend it belongs to; `None` for fitters of others.
    pub backend: Option<Backend>,
    uses: &'static [Use],
    options: Options,
    work: Work,
}

impl Method {
    /// What is called by its name and nothing else.
    pub fn new(name: &str, work: Work) -> Self {
        let options = Options::default();
        Self { name: name.to_owned(), backend: None, uses: &[], options, work }
    }

    /// The fast path on one processor, with each set of instructions.
    ///
    /// # Errors
    /// Why there is none.
    pub fn sets() -> Result<Vec<Self>, AnyError> {
        let of = |set: InstructionSet| Ok(Self::new(set.name(), simd(1, Some(set))?));
        sets().into_iter().map(of).collect()
    }

    /// Whether it is there for this.
    pub fn is(&self, wanted: Use) -> bool {
        self.uses.contains(&wanted)
    }

    /// Fits the first `count` windows of the room, with at most `most_iterations` if that is said.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn fit(
        &mut self,
        room: &mut Room,
        work: &Workload,
        count: usize,
        most_iterations: Option<u16>,
    ) -> Result<(), String> {
        let mut options = self.options;
        if let Some(most) = most_iterations {
            options.criteria.max_iterations = most.into();
        }
        (self.work)(room, work, count, options, most_iterations).map_err(|error| error.to_string())
    }
}

/// All that fits in a run, and why others do not.
#[derive(Default)]
pub struct Roster {
    /// What fits. Those that are judged are more, with other criteria or precisions.
    pub methods: Vec<Method>,
    /// What was asked for and is not there: name and reason.
    pub missing: Vec<(String, String)>,
    /// Whether there is a GPU.
    pub gpu: bool,
}

/// One processor of the fast path.
pub const ONE_CORE: &str = "cpu, one core";

impl Roster {
    /// The backends and the libraries asked for.
    ///
    /// # Errors
    /// What is wrong with a library, or if threads cannot be started.
    pub fn new(backends: &[Backend], peers: &[(String, PathBuf)]) -> Result<Self, AnyError> {
        let mut roster = Self::default();
        for &backend in backends {
            roster.add_backend(backend)?;
        }
        let plain = Options::default();
        for (name, path) in peers {
            roster.add(None, name, BOTH, plain, peer(PeerLibrary::open(path)?));
        }
        let compared: &[Use] = &[Use::Compared];
        for (name, owner, backend, threads) in [
            ("formula", Backend::Cpu, spotfit::Backend::Cpu, 0),
            ("formula, one core", Backend::Cpu, spotfit::Backend::Cpu, 1),
            ("formula, gpu", Backend::Gpu, spotfit::Backend::Gpu, 0),
        ] {
            if backends.contains(&owner) && (owner == Backend::Cpu || roster.gpu) {
                roster.add(None, name, compared, plain, formula(backend, threads)?);
            }
        }
        let minpack = of_others(peers::levenberg_marquardt);
        roster.add(None, "levenberg-marquardt", compared, plain, minpack);
        roster.add(None, "varpro", compared, plain, of_others(peers::varpro));
        Ok(roster)
    }

    fn add_backend(&mut self, backend: Backend) -> Result<(), AnyError> {
        let (name, of) = (backend.name(), Some(backend));
        let plain = Options::default();
        let paper = plain.with_criteria(Criteria::PAPER);
        let judged: &[Use] = &[Use::Judged];
        match backend {
            Backend::Reference => {
                self.add(of, name, &[Use::Timed], plain, double(1)?);
                self.add(of, name, judged, plain, double(0)?);
                self.add(of, "reference f32", judged, plain, single(0)?);
                self.add(of, "reference, paper's criteria", judged, paper, double(0)?);
                self.add(of, "reference f32, paper's criteria", judged, paper, single(0)?);
                self.add(of, "paper's iteration f64", judged, paper, in_turn(Room::double));
                self.add(of, "paper's iteration f32", judged, paper, in_turn(Room::single));
            }
            Backend::Cpu => {
                self.add(of, name, BOTH, plain, simd(0, None)?);
                self.add(of, ONE_CORE, &[Use::Timed], plain, simd(1, None)?);
                let held = plain.with_background(Background::NonNegative);
                self.add(of, "cpu, background ≥ 0", judged, held, simd(0, None)?);
            }
            Backend::Gpu => self.add_gpu(backend, plain, Gpu::new(&[0])),
            Backend::GpuPublished => {
                self.add_gpu(backend, paper, Gpu::with_family(&[0], Family::Published));
            }
            Backend::Explicit => self.add(of, name, BOTH, plain, explicit()),
        }
        Ok(())
    }

    fn add_gpu(&mut self, backend: Backend, options: Options, gpu: Result<Gpu, GpuError>) {
        let name = backend.name();
        match gpu {
            Ok(gpu) => {
                self.gpu = true;
                let work = on_gpu(gpu, backend == Backend::Gpu);
                self.add(Some(backend), name, BOTH, options, work);
            }
            Err(error) => self.missing.push((name.to_owned(), error.to_string())),
        }
    }

    fn add(
        &mut self,
        backend: Option<Backend>,
        name: &str,
        uses: &'static [Use],
        options: Options,
        work: Work,
    ) {
        self.methods.push(Method { name: name.to_owned(), backend, uses, options, work });
    }

    /// The numbers of the methods that are there for this.
    pub fn of(&self, wanted: Use) -> Vec<usize> {
        (0..self.methods.len()).filter(|&i| self.methods[i].is(wanted)).collect()
    }

    /// Whether the speed of a backend is measured.
    pub fn has(&self, backend: Backend) -> bool {
        self.methods.iter().any(|method| method.backend == Some(backend))
    }
}
