//! What fits are made with: the project's backends, the explicit baseline, fitters of others.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use fit_core::{Background, Criteria, Fit, Options, Size, Start};
use fit_cpu::{Reference, Simd};
use fit_gpu::{Family, Gpu, GpuSession, Pinnable, PinnedBuffer};
use fit_tests::emulation::fit_in_turn;
use fit_tests::explicit::{ExplicitCriteria, ExplicitStart, fit_explicit};
use fit_tests::single;
use ndarray::{ArrayView2, ArrayView3};
use rayon::prelude::*;
use spotfit::model::{CurveFits, CurveFitter, CurveStart, Curves, Model, Points};

use crate::library::{PeerBatch, PeerLibrary};
use crate::{Workload, peers};

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
        match self {
            Self::Reference => "reference",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::GpuPublished => "gpu-published",
            Self::Explicit => "explicit",
        }
    }
}

/// Memory that a GPU reaches by itself where there is one, else ordinary memory.
pub enum Store<T: Pinnable> {
    /// Pinned.
    Pinned(PinnedBuffer<T>),
    /// Ordinary.
    Plain(Vec<T>),
}

impl<T: Pinnable> Store<T> {
    fn new(length: usize, value: T, pinned: bool) -> Self {
        if pinned && let Ok(mut buffer) = PinnedBuffer::new(length) {
            buffer.fill(value);
            return Self::Pinned(buffer);
        }
        Self::Plain(vec![value; length])
    }
}

impl<T: Pinnable> Deref for Store<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Self::Pinned(buffer) => buffer,
            Self::Plain(values) => values,
        }
    }
}

impl<T: Pinnable> DerefMut for Store<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Pinned(buffer) => buffer,
            Self::Plain(values) => values,
        }
    }
}

/// Room for windows, start values and outcomes, which is made once.
pub struct Room {
    pixels: Store<f32>,
    starts: Store<[f32; 3]>,
    fits: Store<Fit<f32>>,
    double: Vec<Fit<f64>>,
    peer: Option<PeerBatch>,
    /// Start values of formulas, and what was found.
    initial: Vec<[f32; 5]>,
    curves: Option<CurveFits>,
    pinned: bool,
    size: Size,
    count: usize,
    in_double: bool,
}

impl Room {
    /// Room that grows when it must; `pinned` if there is a GPU.
    pub fn new(pinned: bool) -> Self {
        Self {
            pixels: Store::new(0, 0.0, false),
            starts: Store::new(0, [0.0; 3], false),
            fits: Store::new(0, Fit::invalid(), false),
            double: Vec::new(),
            peer: None,
            initial: Vec::new(),
            curves: None,
            pinned,
            size: Size::new(0, 0),
            count: 0,
            in_double: false,
        }
    }

    /// Takes in the windows and start values of a workload, again and again up to `count`.
    pub fn load(&mut self, work: &Workload, count: usize) {
        let window = work.size().pixels();
        if self.pixels.len() < count * window {
            // What was there goes first.
            self.pixels = Store::new(0, 0.0, false);
            self.pixels = Store::new(count * window, 0.0, self.pinned);
        }
        if self.starts.len() < count {
            self.starts = Store::new(count, [0.0; 3], self.pinned);
            self.fits = Store::new(count, Fit::invalid(), self.pinned);
        }
        let source = work.spots.pixels.as_slice().expect("simulations are in standard layout");
        let block = source.len().max(1);
        self.pixels[..count * window]
            .par_chunks_mut(block)
            .for_each(|to| to.copy_from_slice(&source[..to.len()]));
        for (to, from) in self.starts[..count].iter_mut().zip(work.starts.iter().cycle()) {
            *to = *from;
        }
        self.peer = None;
        self.initial = work.initial.iter().copied().cycle().take(count).collect();
        self.curves = None;
        (self.size, self.count) = (work.size(), count);
    }

    /// The windows loaded.
    pub fn count(&self) -> usize {
        self.count
    }

    fn spots(&self, count: usize) -> ArrayView3<'_, f32> {
        let Size { width, height } = self.size;
        let pixels = &self.pixels[..count * width * height];
        ArrayView3::from_shape((count, height, width), pixels).expect("as many pixels")
    }

    /// The first outcomes of the last fit.
    pub fn outcomes(&self, count: usize) -> Vec<Fit<f64>> {
        if self.in_double {
            self.double[..count].to_vec()
        } else {
            self.fits[..count].iter().map(Fit::cast).collect()
        }
    }
}

enum Kind {
    Double(Reference<f64>),
    Single(Reference<f32>),
    Cpu(Simd),
    Explicit,
    Gpu {
        gpu: Gpu,
        session: Option<Box<(Size, usize, GpuSession)>>,
    },
    Published(Gpu),
    /// The paper's iteration on the host.
    InTurn {
        double: bool,
    },
    Peer(PeerLibrary),
    /// The spot as a formula with five parameters.
    Formula(Box<(CurveFitter, Model)>),
    Crate(fn(&Workload, usize) -> Vec<Fit<f64>>),
}

/// Something that fits.
pub struct Method {
    /// What it is called.
    pub name: String,
    /// The backend it belongs to; `None` for fitters of others.
    pub backend: Option<Backend>,
    options: Options,
    kind: Kind,
}

/// Batches of no more than this go through a session.
const SESSION: usize = 500;

impl Method {
    fn new(backend: Backend, name: &str, kind: Kind) -> Self {
        Self { name: name.to_owned(), backend: Some(backend), options: Options::default(), kind }
    }

    fn with(self, change: impl FnOnce(&mut Options)) -> Self {
        let mut options = self.options;
        change(&mut options);
        Self { options, ..self }
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
        let text = |error: &dyn std::error::Error| error.to_string();
        if matches!(self.kind, Kind::Double(_) | Kind::Crate(_) | Kind::InTurn { double: true })
            && room.double.len() < count
        {
            room.double.resize(count, Fit::invalid());
        }
        room.in_double = false;
        let mut fits = std::mem::replace(&mut room.fits, Store::Plain(Vec::new()));
        let mut double = std::mem::take(&mut room.double);
        let (spots, start) = (room.spots(count), Start::F32(&room.starts[..count]));
        let single = &mut fits[..count];
        let result = match &mut self.kind {
            Kind::Double(reference) => {
                let result = reference.fit_into(&options, spots, start, &mut double[..count]);
                room.in_double = true;
                result.map_err(|error| text(&error))
            }
            Kind::Single(reference) => single::fit_into(reference, &options, spots, start, single)
                .map_err(|error| text(&error)),
            Kind::Cpu(simd) => {
                simd.fit_into(&options, spots, start, single).map_err(|error| text(&error))
            }
            Kind::Explicit => {
                let criteria = ExplicitCriteria::default();
                let max_iterations = most_iterations.map_or(criteria.max_iterations, u32::from);
                let criteria = ExplicitCriteria { max_iterations, ..criteria };
                let (size, window) = (room.size, room.size.pixels());
                let pixels = room.pixels.chunks_exact(window).zip(work.initial.iter().cycle());
                let mut result = Ok(());
                for ((pixels, &[amplitude, x, y, sigma, background]), fit) in
                    pixels.zip(single.iter_mut())
                {
                    let shape = fit_core::Circle::new(x, y, sigma);
                    let start = ExplicitStart { shape, amplitude, background };
                    match fit_explicit(pixels, size, start, &criteria) {
                        Ok(outcome) => *fit = outcome,
                        Err(error) => result = Err(text(&error)),
                    }
                }
                result
            }
            Kind::Gpu { gpu, session } => {
                if count > SESSION {
                    gpu.fit_into(&options, spots, start, single).map_err(|error| text(&error))
                } else {
                    let same = |s: &(Size, usize, GpuSession)| s.0 == room.size && s.1 == count;
                    if !session.as_deref().is_some_and(same) {
                        let new = GpuSession::new(0, room.size, count, &options);
                        let new = new.map_err(|error| text(&error))?;
                        *session = Some(Box::new((room.size, count, new)));
                    }
                    let (_, _, session) = &mut **session.as_mut().expect("made above");
                    session.fit_into(spots, start, single).map_err(|error| text(&error))
                }
            }
            Kind::Published(gpu) => {
                gpu.fit_into(&options, spots, start, single).map_err(|error| text(&error))
            }
            Kind::InTurn { double: in_double } => {
                let (size, window) = (room.size, room.size.pixels());
                room.in_double = *in_double;
                let pixels = room.pixels[..count * window].par_chunks_exact(window);
                let inputs = pixels.zip(&room.starts[..count]);
                if *in_double {
                    inputs.zip(&mut double[..count]).try_for_each(|((pixels, start), fit)| {
                        fit_in_turn::<f64>(pixels, size, *start, &options).map(|new| *fit = new)
                    })
                } else {
                    inputs.zip(single).try_for_each(|((pixels, start), fit)| {
                        fit_in_turn::<f32>(pixels, size, *start, &options).map(|new| *fit = new)
                    })
                }
                .map_err(|error| text(&error))
            }
            Kind::Peer(library) => {
                let mut batch = match room.peer.take() {
                    Some(batch) => batch,
                    None => PeerBatch::without_pixels(work, room.count),
                };
                batch.max_iterations = most_iterations.unwrap_or(20);
                let result = library.fit_pixels(&mut batch, &room.pixels, count);
                room.peer = Some(batch);
                result
            }
            Kind::Formula(both) => {
                let (fitter, model) = &**both;
                let Size { width, height } = room.size;
                let pixels = &room.pixels[..count * width * height];
                let data = ArrayView2::from_shape((count, width * height), pixels);
                let data = data.expect("as many pixels");
                let points = Points::Grid { width, height };
                let starts = room.initial[..count].as_flattened();
                let starts = ArrayView2::from_shape((count, 5), starts).expect("five each");
                let start = CurveStart::PerFit(starts.into());
                let mut options = model.options().with_covariance(false);
                if let Some(most) = most_iterations {
                    options.max_iterations = most.into();
                }
                let found = model.fit_with(fitter, &Curves::new(data, points), start, &options);
                found.map(|found| room.curves = Some(found.fits)).map_err(|error| text(&error))
            }
            Kind::Crate(fit) => {
                let outcome = fit(work, count);
                double[..count].copy_from_slice(&outcome);
                room.in_double = true;
                Ok(())
            }
        };
        (room.fits, room.double) = (fits, double);
        result
    }

    /// The first outcomes of the last fit.
    pub fn outcomes(&self, room: &mut Room, count: usize) -> Vec<Fit<f64>> {
        match (&self.kind, &room.peer, &room.curves) {
            (Kind::Peer(_), Some(batch), _) => batch.fits(count).iter().map(Fit::cast).collect(),
            (Kind::Formula(_), _, Some(found)) => {
                (0..count).map(|number| spot_of(found, number)).collect()
            }
            _ => room.outcomes(count),
        }
    }
}

/// A spot that a formula was fitted to.
fn spot_of(found: &CurveFits, number: usize) -> Fit<f64> {
    let of = |parameter: usize| found.parameters[[number, parameter]];
    Fit {
        x: of(1),
        y: of(2),
        // The model knows σ² only.
        sigma: of(3).abs(),
        amplitude: of(0),
        background: of(4),
        chi2: found.chi2[number],
        iterations: found.iterations[number],
        evaluations: found.evaluations[number],
        status: found.statuses[number],
        ..Fit::invalid()
    }
}

/// All that fits in a run, and why others do not.
pub struct Roster {
    /// For speed.
    pub timed: Vec<Method>,
    /// For errors: more of them, with other criteria or precisions.
    pub judged: Vec<Method>,
    /// What is in the figures of Gpufit's paper alone: the spot as a formula, and crates of others.
    pub crates: Vec<Method>,
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
    pub fn new(backends: &[Backend], peers: &[(String, PathBuf)]) -> Result<Self, String> {
        let mut roster = Self {
            timed: Vec::new(),
            judged: Vec::new(),
            crates: Vec::new(),
            missing: Vec::new(),
            gpu: false,
        };
        let paper = |options: &mut Options| options.criteria = Criteria::PAPER;
        for &backend in backends {
            let method = |name: &str, kind| Method::new(backend, name, kind);
            let name = backend.name();
            match backend {
                Backend::Reference => {
                    let double = |threads| {
                        Reference::<f64>::new(threads).map(Kind::Double).map_err(|e| e.to_string())
                    };
                    let single = || Reference::<f32>::new(0).map_err(|e| e.to_string());
                    roster.timed.push(method("reference", double(1)?));
                    roster.judged.push(method("reference", double(0)?));
                    roster.judged.push(method("reference f32", Kind::Single(single()?)));
                    for (name, kind) in [
                        ("reference, paper's criteria", double(0)?),
                        ("reference f32, paper's criteria", Kind::Single(single()?)),
                        ("paper's iteration f64", Kind::InTurn { double: true }),
                        ("paper's iteration f32", Kind::InTurn { double: false }),
                    ] {
                        roster.judged.push(method(name, kind).with(paper));
                    }
                }
                Backend::Cpu => {
                    let simd = |threads| {
                        Simd::new(threads, None).map(Kind::Cpu).map_err(|e| e.to_string())
                    };
                    roster.timed.push(method(name, simd(0)?));
                    roster.timed.push(method(ONE_CORE, simd(1)?));
                    roster.judged.push(method(name, simd(0)?));
                    let held = method("cpu, background ≥ 0", simd(0)?);
                    roster
                        .judged
                        .push(held.with(|options| options.background = Background::NonNegative));
                }
                Backend::Gpu => {
                    for list in [&mut roster.timed, &mut roster.judged] {
                        match Gpu::new(&[0]) {
                            Ok(gpu) => {
                                roster.gpu = true;
                                list.push(method(name, Kind::Gpu { gpu, session: None }));
                            }
                            Err(error) => missing(&mut roster.missing, name, &error),
                        }
                    }
                }
                Backend::GpuPublished => {
                    for list in [&mut roster.timed, &mut roster.judged] {
                        match Gpu::with_family(&[0], Family::Published) {
                            Ok(gpu) => {
                                roster.gpu = true;
                                list.push(method(name, Kind::Published(gpu)).with(paper));
                            }
                            Err(error) => missing(&mut roster.missing, name, &error),
                        }
                    }
                }
                Backend::Explicit => {
                    roster.timed.push(method(name, Kind::Explicit));
                    roster.judged.push(method(name, Kind::Explicit));
                }
            }
        }
        let other = |name: &str, kind| Method {
            name: name.to_owned(),
            backend: None,
            options: Options::default(),
            kind,
        };
        for (name, path) in peers {
            for list in [&mut roster.timed, &mut roster.judged] {
                list.push(other(name, Kind::Peer(PeerLibrary::open(path)?)));
            }
        }
        let formula = |backend, threads| -> Result<Kind, String> {
            let fitter = CurveFitter::new(backend, threads).map_err(|e| e.to_string())?;
            let model = Model::named("gauss_2d").map_err(|e| e.to_string())?;
            Ok(Kind::Formula(Box::new((fitter, model))))
        };
        if backends.contains(&Backend::Cpu) {
            roster.crates.push(other("formula", formula(spotfit::Backend::Cpu, 0)?));
            roster.crates.push(other("formula, one core", formula(spotfit::Backend::Cpu, 1)?));
        }
        if backends.contains(&Backend::Gpu) && roster.gpu {
            roster.crates.push(other("formula, gpu", formula(spotfit::Backend::Gpu, 0)?));
        }
        let crates = [
            other("levenberg-marquardt", Kind::Crate(peers::levenberg_marquardt)),
            other("varpro", Kind::Crate(peers::varpro)),
        ];
        roster.crates.extend(crates);
        Ok(roster)
    }
}

fn missing(list: &mut Vec<(String, String)>, name: &str, error: &dyn std::error::Error) {
    if !list.iter().any(|(other, _)| other == name) {
        list.push((name.to_owned(), error.to_string()));
    }
}
