//! What the tests of every backend share: the cases, the tolerances, the data of others.
//!
//! A test is written once, as a function of a backend, and expanded over [`backends`]. Adding a
//! backend there makes all of it run.

pub mod bounds;
pub mod cases;
pub mod compiled;
pub mod curves;
pub mod data;
pub mod emulation;
pub mod explicit;
pub mod hostile;
pub mod models;
pub mod peaks;
pub mod records;
pub mod single;
pub mod spots;
pub mod stated;
pub mod statistics;
pub mod tolerances;

use spotfit::{Backend, FitError, Fitter, FitterOptions, InstructionSet, Options};

/// Tests of checks, a row each: on what any machine has, and, ignored where there is none, on a GPU.
#[macro_export]
macro_rules! on_backends {
    ($($(#[$doc:meta])* $here:ident $those:tt, $gpu:ident $that:tt => $check:path;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $here() {
            $check $those;
        }

        /// Proves the same for the GPU.
        #[test]
        #[ignore = "needs an NVIDIA GPU"]
        fn $gpu() {
            $check $that;
        }
    )*};
}

/// Whether the tests have the time of a night, for what is only more of the same: `SPOTFIT_NIGHTLY=1`.
pub fn nightly() -> bool {
    std::env::var_os("SPOTFIT_NIGHTLY").is_some_and(|value| value == "1")
}

/// How many of something a test takes: in a plain `cargo test`, with `SPOTFIT_TESTS=all`, which CI sets, and in a night
/// ([`nightly`]).
pub fn effort(plain: usize, all: usize, night: usize) -> usize {
    match () {
        () if nightly() => night,
        () if cfg!(long_tests) => all,
        () => plain,
    }
}

/// The instruction sets that this processor has.
pub fn sets() -> impl Iterator<Item = InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available())
}

/// A backend under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestBackend {
    /// What to ask the facade for.
    pub backend: Backend,
    /// Threads to use.
    pub threads: usize,
    /// The instruction set to force, if any.
    pub set: Option<InstructionSet>,
}

/// The GPU, whose tests are ignored where there is none.
pub const GPU: TestBackend = TestBackend { backend: Backend::Gpu, threads: 1, set: None };

/// Every backend that any machine has, by itself and with threads.
pub fn backends() -> Vec<TestBackend> {
    let mut all = vec![
        TestBackend::new(Backend::Reference, 1),
        TestBackend::new(Backend::Reference, 3),
        TestBackend::new(Backend::Cpu, 3),
        TestBackend::new(Backend::Auto, 0),
    ];
    for set in InstructionSet::ALL {
        if set.is_available() {
            all.push(TestBackend { set: Some(set), ..TestBackend::new(Backend::Cpu, 1) });
        } else {
            println!("SKIPPED: this processor does not have {set}");
        }
    }
    all
}

/// One backend for each arithmetic that any machine has: the reference, and every instruction set. What [`backends`] has
/// besides gives the same bits with other numbers of threads, which the tests of `spots::parity` prove; in a night all are tried.
pub fn arithmetics() -> Vec<TestBackend> {
    if nightly() {
        return backends();
    }
    let sets =
        sets().map(|set| TestBackend { set: Some(set), ..TestBackend::new(Backend::Cpu, 3) });
    [TestBackend::new(Backend::Reference, 3)].into_iter().chain(sets).collect()
}

impl TestBackend {
    /// A backend with the instruction set that it chooses.
    pub const fn new(backend: Backend, threads: usize) -> Self {
        Self { backend, threads, set: None }
    }

    /// A fitter of this backend, if the options are sound.
    ///
    /// # Errors
    /// As [`Fitter::new`].
    pub fn try_fitter(&self, options: Options) -> Result<Fitter, FitError> {
        let options = FitterOptions::from(options)
            .with_backend(self.backend)
            .with_instruction_set(self.set)
            .with_threads(self.threads);
        Fitter::new(&options)
    }

    /// A fitter of this backend.
    ///
    /// # Panics
    /// If it cannot be made: a test would be worthless.
    pub fn fitter(&self, options: Options) -> Fitter {
        match self.try_fitter(options) {
            Ok(fitter) => fitter,
            Err(error) => panic!("{self:?}: {error}"),
        }
    }
}
