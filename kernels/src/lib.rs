#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod recency;

use std::io::Read;

use fit_gpu_kernel::CurveMethod;
use lzma_rust2::LzmaReader;

macro_rules! embed {
    ($($name:literal: $family:ident, $layout:ident::<$($number:literal),+>, $shape:ident;)*) => {
        fn packed(kernel: &str) -> Option<&'static [u8]> {
            match kernel {
                $($name => Some(include_bytes!(concat!("../", $name, ".ptx.lzma"))),)*
                _ => None,
            }
        }
    };
}
fit_gpu_kernel::kernels!(embed);

macro_rules! embed_templates {
    ($($name:literal: $parameters:literal, $method:ident;)*) => {
        fn packed_template(parameters: usize, method: CurveMethod) -> Option<&'static [u8]> {
            match (parameters, method) {
                $(($parameters, CurveMethod::$method) => {
                    Some(include_bytes!(concat!("../", $name, ".ptx.lzma")))
                })*
                _ => None,
            }
        }
    };
}
fit_gpu_kernel::templates!(embed_templates);

macro_rules! embed_written {
    ($($name:literal: $parameters:literal, $variables:literal, $model:ident;)*) => {
        fn packed_written(model: &str) -> Option<&'static [u8]> {
            match ["written_", model].concat().as_str() {
                $($name => Some(include_bytes!(concat!("../", $name, ".ptx.lzma"))),)*
                _ => None,
            }
        }
    };
}
fit_gpu_kernel::written!(embed_written);

/// Memory that unpacking may take, in KiB: enough for any module.
const MOST_MEMORY: u32 = 64 << 10;

/// The PTX of a kernel of the catalogue by its name: a module with one entry, `fit`. It is unpacked anew each time,
/// which takes a few milliseconds. `None` if no kernel has that name.
pub fn ptx(kernel: &str) -> Option<String> {
    unpacked(packed(kernel)?)
}

/// The PTX for models of so many parameters that are given as formulas: a module with one entry, `fit`, in which lines that
/// begin with `//@` stand for a formula's own instructions. `None` if there is no template for so many.
pub fn template(parameters: usize, method: CurveMethod) -> Option<String> {
    unpacked(packed_template(parameters, method)?)
}

/// The PTX of a model that is written in Rust, `exponential` or `gauss_2d`, to measure formulas beside it: a module with one entry,
/// `fit`. `None` for other models.
pub fn written(model: &str) -> Option<String> {
    unpacked(packed_written(model)?)
}

/// The PTX of functions that formulas call: a module without an entry.
pub fn curve_functions() -> Option<String> {
    unpacked(include_bytes!("../curve_functions.ptx.lzma"))
}

fn unpacked(packed: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut reader = LzmaReader::new_mem_limit(packed, MOST_MEMORY, None).ok()?;
    reader.read_to_string(&mut text).ok()?;
    recency::decode(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that every kernel of the catalogue is here, whole, as a module with the entry that is launched.
    #[test]
    fn every_kernel_is_here() {
        for kernel in fit_gpu_kernel::KERNELS {
            let text = ptx(kernel.name).unwrap_or_else(|| panic!("{} is not whole", kernel.name));
            assert_eq!(text.matches(".visible .entry fit(").count(), 1, "{}", kernel.name);
            assert!(text.ends_with("}\n"), "{}: {:?}", kernel.name, text.get(text.len() - 20..));
        }
        assert_eq!(ptx("side3"), None);
    }

    /// Proves that every template is here, with an entry and marks: three visits to a point, and one place where parameters
    /// are taken and factors are given; for least squares one more of both, for parameters that are eliminated; for Gpufit's
    /// search one visit, and for cooperative kernels, which eliminate parameters too, two times the parameters and three times the factors.
    #[test]
    fn every_template_has_its_marks() {
        for (method, expected) in [
            (CurveMethod::Plain, [2, 2, 3, 3, 1]),
            (CurveMethod::Weighted, [2, 2, 3, 3, 1]),
            (CurveMethod::Poisson, [1, 1, 3, 3, 0]),
            (CurveMethod::Gpufit, [1, 1, 1, 1, 0]),
            (CurveMethod::Cooperative, [2, 3, 1, 1, 1]),
        ] {
            let cooperative = method == CurveMethod::Cooperative;
            let (all, step) = match method {
                CurveMethod::Gpufit => (2..=7, 1),
                CurveMethod::Cooperative => (16..=32, 16),
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

    /// Proves that the models written in Rust are here, without marks.
    #[test]
    fn written_models_are_here() {
        for model in ["exponential", "gauss_2d"] {
            let text = written(model).expect("there is one");
            assert_eq!(text.matches(".visible .entry fit(").count(), 1, "{model}");
            assert!(!text.contains("//@"), "{model}");
            assert!(fit_gpu_kernel::written_extent(model).is_some(), "{model}");
        }
        assert_eq!(written("sine"), None);
        assert_eq!(fit_gpu_kernel::written_extent("sine"), None);
    }
}
