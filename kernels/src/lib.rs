#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod list;
mod pack;
mod recency;

use fit_gpu_kernel::{CurveMethod, DETECTIONS, DetectionStep, KERNELS};

use list::PACKS;
use pack::{Pack, family};

macro_rules! name_templates {
    ($($name:literal: $parameters:literal, $method:ident;)*) => {
        fn name_of_template(parameters: usize, method: CurveMethod) -> Option<&'static str> {
            match (parameters, method) {
                $(($parameters, CurveMethod::$method) => Some($name),)*
                _ => None,
            }
        }
    };
}
fit_gpu_kernel::templates!(name_templates);

/// The PTX of a kernel of the catalogue by its name: a module with one entry, `fit`. It is unpacked anew each time,
/// with those that are packed before it, which takes a few milliseconds. `None` if no kernel has that name.
pub fn ptx(kernel: &str) -> Option<String> {
    unpacked(KERNELS.iter().find(|known| known.name == kernel)?.name)
}

/// The PTX for models of so many parameters that are given as formulas: a module with one entry, `fit`, in which lines that
/// begin with `//@` stand for a formula's own instructions. `None` if there is no template for so many.
pub fn template(parameters: usize, method: CurveMethod) -> Option<String> {
    unpacked(name_of_template(parameters, method)?)
}

/// The PTX of functions that formulas call: a module without an entry.
pub fn curve_functions() -> Option<String> {
    unpacked("curve_functions")
}

/// The PTX of a kernel that finds spots: a module with one entry, `fit`.
pub fn detection(step: DetectionStep) -> Option<String> {
    unpacked(DETECTIONS.iter().find(|(_, known)| *known == step)?.0)
}

fn unpacked(name: &str) -> Option<String> {
    let packs = PACKS.iter().filter(|(of, _)| *of == family(name));
    packs.map(|(_, packed)| Pack::open(packed)?.text(name)).find_map(|text| text.ok().flatten())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Proves that every kernel of the catalogue is here, whole, as a module with the entry that is launched. It prints how
    /// long they take to unpack (`cargo test --release -p fit-gpu-ptx every -- --nocapture`).
    #[test]
    fn every_kernel_is_here() {
        let mut took = Vec::new();
        for kernel in KERNELS {
            let start = Instant::now();
            let text = ptx(kernel.name).unwrap_or_else(|| panic!("{} is not whole", kernel.name));
            took.push((start.elapsed(), text.len(), kernel.name));
            assert_eq!(text.matches(".visible .entry fit(").count(), 1, "{}", kernel.name);
            assert!(text.ends_with("}\n"), "{}: {:?}", kernel.name, text.get(text.len() - 20..));
        }
        assert_eq!(ptx("side3"), None);
        took.sort_unstable();
        println!("median {:?}, at most {:?}", took[took.len() / 2], took[took.len() - 1]);
    }

    /// Proves that every template is here, with an entry and marks: three visits to a point, and one place where parameters
    /// are taken and factors are given; for least squares one more of both, for parameters that are eliminated; for Gpufit's
    /// search, and for the end in double precision, one visit, and for cooperative kernels, which eliminate parameters too, two times the parameters and three times the factors.
    #[test]
    fn every_template_has_its_marks() {
        for (method, expected) in [
            (CurveMethod::Plain, [2, 2, 3, 3, 1]),
            (CurveMethod::Weighted, [2, 2, 3, 3, 1]),
            (CurveMethod::Poisson, [1, 1, 3, 3, 0]),
            (CurveMethod::Gpufit, [1, 1, 1, 1, 0]),
            (CurveMethod::Cooperative, [2, 3, 1, 1, 1]),
            (CurveMethod::Double, [1, 1, 1, 1, 0]),
        ] {
            let cooperative = method == CurveMethod::Cooperative;
            let (all, step) = match method {
                CurveMethod::Gpufit => (2..=7, 1),
                CurveMethod::Cooperative => (16..=32, 16),
                CurveMethod::Double => (1..=12, 1),
                _ => (1..=10, 1),
            };
            assert_eq!(template(all.start() - 1, method), None);
            assert_eq!(template(all.end() + 1, method), None);
            for parameters in all.step_by(step) {
                let text = template(parameters, method).expect("there is one");
                let what = format!("{parameters}, {method:?}");
                assert_eq!(text.matches(".visible .entry fit(").count(), 1, "{what}");
                let of = if cooperative { "all_" } else { "" };
                let marks = ["prepare", "scales", "point"].map(|mark| format!("//@{of}{mark} "));
                let others = ["//@value ", "//@eliminated "].map(str::to_owned);
                let marks = [&marks[..], &others].concat();
                let counts: Vec<usize> =
                    marks.iter().map(|mark| text.matches(mark).count()).collect();
                assert_eq!(counts, expected, "{what}");
            }
        }
        assert!(curve_functions().expect("it is here").contains("spotfit_power"));
    }

    /// Proves that the kernels that find spots are here.
    #[test]
    fn kernels_that_find_spots_are_here() {
        for step in DetectionStep::ALL {
            let text = detection(step).expect("there is one");
            assert_eq!(text.matches(".visible .entry fit(").count(), 1, "{step:?}");
        }
    }
}
