//! What every backend makes of every case, to the last bit: `cargo run --release -p fit-tests --bin bits` prints a
//! line for each backend and case with a digest of all outcomes. Two versions of the project that print the same
//! compute the same. `-- --fits PART` prints the outcomes themselves of the lines whose name has PART in it.
//!
//! Where there is a GPU its kernels follow: each side of a window in small and in large batches, other shapes, and
//! the paper's own way.

use fit_core::{Fit, Number, Options, Scalar, Size, Start};
use fit_cpu::Reference;
use fit_gpu::{Family, Gpu};
use fit_sim::SpotSimulation;
use fit_tests::backends;
use fit_tests::cases::cases;
use fit_tests::emulation::estimates;
use fit_tests::single;
use ndarray::{ArrayView3, s};
use spotfit::StatusCounts;

/// Enough windows for the kernels that want many.
const MANY: usize = 8000;

/// Prints lines, or the outcomes behind some of them.
struct Printer {
    wanted: Option<String>,
}

impl Printer {
    fn line<T: Scalar>(&self, name: &str, fits: &[Fit<T>]) {
        let numbers = |fit: &Fit<T>| {
            let Fit { x, y, sigma, amplitude, background, chi2, .. } = *fit;
            [x, y, sigma, amplitude, background, chi2].map(Number::to_f64)
        };
        match &self.wanted {
            None => {
                let mut digest = 0xcbf2_9ce4_8422_2325u64;
                let mut add = |word: u64| {
                    for byte in word.to_le_bytes() {
                        digest = (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
                    }
                };
                let mut counts = StatusCounts::default();
                counts.add(fits);
                for fit in fits {
                    // There are several NaNs.
                    let word = |n: f64| if n.is_nan() { u64::MAX } else { n.to_bits() };
                    numbers(fit).into_iter().for_each(|n| add(word(n)));
                    add(u64::from(fit.iterations) << 32 | u64::from(fit.evaluations));
                    add(fit.status as u64);
                }
                println!("{name:<60} {digest:016x} {counts}");
            }
            Some(part) if name.contains(part.as_str()) => {
                for (spot, fit) in fits.iter().enumerate() {
                    let Fit { iterations, evaluations, status, .. } = fit;
                    println!(
                        "{name} {spot}: {:?} {iterations} {evaluations} {status}",
                        numbers(fit)
                    );
                }
            }
            Some(_) => {}
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--fits");
    let printer = Printer { wanted: arguments.nth(1) };
    for backend in backends() {
        for case in cases() {
            let set = backend.set.map_or_else(String::new, |set| format!(" {set}"));
            let name = format!("{}{set} x{}, {}", backend.backend, backend.threads, case.name);
            printer.line(&name, &case.fit(&backend.fitter(case.options)));
        }
    }
    let reference = Reference::<f32>::new(1).expect("one thread needs no other");
    for (width, height) in [(5, 5), (9, 9), (13, 7)] {
        let spots = SpotSimulation::new(Size::new(width, height)).generate(0..2000).expect("sound");
        let mut fits = vec![Fit::<f32>::invalid(); 2000];
        let pixels = spots.pixels.view();
        single::fit_into(&reference, &Options::default(), pixels, Start::Estimate, &mut fits)
            .expect("sound");
        printer.line(&format!("reference f32, {width}×{height}"), &fits);
    }
    if let Err(error) = on_gpu(&printer) {
        eprintln!("no lines for a GPU: {error}");
    }
}

fn on_gpu(printer: &Printer) -> Result<(), fit_gpu::GpuError> {
    let fast = Gpu::new(&[0])?;
    let published = Gpu::with_family(&[0], Family::Published)?;
    let options = Options::default();
    let squares = (4..=32).map(|side| (side, side));
    for (width, height) in squares.chain([(3, 3), (5, 9), (9, 5), (33, 12), (12, 40), (63, 63)]) {
        let size = Size::new(width, height);
        let spots = SpotSimulation::new(size).generate(0..MANY).expect("sound").pixels;
        let short = spots.mapv(|pixel| pixel as u16);
        let mut fits = vec![Fit::<f32>::invalid(); MANY];
        let mut line = |gpu: &Gpu, how: &str, spots: ArrayView3<'_, f32>, start: Start<'_>| {
            let fits = &mut fits[..spots.dim().0];
            gpu.fit_into(&options, spots, start, fits)?;
            printer.line(&format!("gpu {how}, {width}×{height}"), fits);
            Ok::<(), fit_gpu::GpuError>(())
        };
        line(&fast, "many", spots.view(), Start::Estimate)?;
        line(&fast, "few", spots.slice(s![..400, .., ..]), Start::Estimate)?;
        if size.pixels() <= 1024 {
            let some = spots.slice(s![..2000, .., ..]);
            line(&published, "published", some, Start::F32(&estimates(some)))?;
        }
        fast.fit_into(&options, short.view(), Start::Estimate, &mut fits)?;
        printer.line(&format!("gpu many u16, {width}×{height}"), &fits);
    }
    Ok(())
}
