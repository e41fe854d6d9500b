//! Calls of the interface with arrays that are long enough.

#![allow(dead_code, unreachable_pub)] // Each test takes what it needs.

use std::ffi::{CStr, c_char};

/// Tests that look at the last error, which is that of any thread, take turns.
pub static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// A call, with Gpufit's usual settings.
#[derive(Clone)]
pub struct Call {
    pub fits: usize,
    pub points: usize,
    pub data: Vec<f32>,
    pub weights: Option<Vec<f32>>,
    pub model: i32,
    pub initial: Vec<f32>,
    pub constraints: Option<(Vec<f32>, Vec<i32>)>,
    pub tolerance: f32,
    pub max_iterations: i32,
    pub to_fit: Vec<i32>,
    pub estimator: i32,
    pub info: Vec<f32>,
}

/// What a call found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub parameters: Vec<f32>,
    pub states: Vec<i32>,
    pub chi2: Vec<f32>,
    pub iterations: Vec<i32>,
}

/// The parameters of each model.
pub const PARAMETERS: [usize; 15] = [4, 5, 6, 7, 6, 2, 3, 4, 3, 4, 5, 5, 6, 6, 7];

impl Call {
    /// Data sets of so many points, all from the same start values.
    pub fn new(model: i32, points: usize, data: Vec<f32>, start: &[f32]) -> Self {
        let fits = data.len() / points;
        Self {
            fits,
            points,
            data,
            weights: None,
            model,
            initial: start.repeat(fits),
            constraints: None,
            tolerance: 1e-6,
            max_iterations: 50,
            to_fit: vec![1; start.len()],
            estimator: 0,
            info: Vec::new(),
        }
    }

    /// Makes the call of `gpufit`; what it wrote, or the last error.
    pub fn run(&self) -> Result<Found, String> {
        self.run_by(false)
    }

    /// Makes the call of `cpufit`.
    pub fn run_on_cpu(&self) -> Result<Found, String> {
        self.run_by(true)
    }

    fn run_by(&self, cpu: bool) -> Result<Found, String> {
        let parameters = PARAMETERS[self.model as usize];
        let mut found = Found {
            parameters: vec![-7.0; self.fits * parameters],
            states: vec![-7; self.fits],
            chi2: vec![-7.0; self.fits],
            iterations: vec![-7; self.fits],
        };
        let null = std::ptr::null_mut();
        let (mut data, mut initial, mut to_fit) =
            (self.data.clone(), self.initial.clone(), self.to_fit.clone());
        let (mut weights, mut info) = (self.weights.clone(), self.info.clone());
        let (mut bounds, mut types) = self.constraints.clone().unwrap_or_default();
        let limited = self.constraints.is_some();
        let call = if cpu { Gpufit::cpufit_constrained } else { Gpufit::gpufit_constrained };
        // SAFETY: all arrays are as long as the call says, which the tests take care of.
        let code = unsafe {
            call(
                self.fits,
                self.points,
                data.as_mut_ptr(),
                weights.as_mut().map_or(null, Vec::as_mut_ptr),
                self.model,
                initial.as_mut_ptr(),
                if limited { bounds.as_mut_ptr() } else { null },
                types.as_mut_ptr(),
                self.tolerance,
                self.max_iterations,
                to_fit.as_mut_ptr(),
                self.estimator,
                info.len() * 4,
                info.as_mut_ptr().cast::<c_char>(),
                found.parameters.as_mut_ptr(),
                found.states.as_mut_ptr(),
                found.chi2.as_mut_ptr(),
                found.iterations.as_mut_ptr(),
            )
        };
        match code {
            0 => Ok(found),
            -1 => Err(words(Gpufit::spotfit_get_last_error())),
            other => panic!("a call returns {other}"),
        }
    }
}

/// A text that the library gave.
pub fn words(text: *const c_char) -> String {
    // SAFETY: the library gives a string that stays until this thread asks again.
    unsafe { CStr::from_ptr(text) }.to_str().expect("plain text").to_owned()
}

/// Pixels of an image, row after row.
pub fn image(width: usize, pixels: usize, of: impl Fn(f64, f64) -> f64) -> Vec<f32> {
    (0..pixels).map(|at| of((at % width) as f64, (at / width) as f64) as f32).collect()
}
