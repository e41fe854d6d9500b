//! What the tests of every backend share: the cases, the tolerances, the data of others.
//!
//! A test is written once, as a function of a backend, and expanded over [`backends`]. Adding a
//! backend there makes all of it run.

pub mod bounds;
pub mod cases;
pub mod data;
pub mod statistics;
pub mod tolerances;

use spotfit::{Backend, Fitter, Options};

/// A backend under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestBackend {
    /// What to ask the facade for.
    pub backend: Backend,
    /// Threads to use.
    pub threads: usize,
}

/// Every backend that exists, by itself and with threads.
pub fn backends() -> Vec<TestBackend> {
    let of = |backend, threads| TestBackend { backend, threads };
    vec![
        of(Backend::Reference, 1),
        of(Backend::Reference, 3),
        of(Backend::Cpu, 1),
        of(Backend::Cpu, 3),
        of(Backend::Auto, 0),
    ]
}

impl TestBackend {
    /// A fitter of this backend.
    ///
    /// # Panics
    /// If it cannot be made: a test would be worthless.
    pub fn fitter(&self, options: Options) -> Fitter {
        match Fitter::new(self.backend, options, self.threads) {
            Ok(fitter) => fitter,
            Err(error) => panic!("{self:?}: {error}"),
        }
    }
}
