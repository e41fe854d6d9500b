#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use std::io::Read;

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

/// Memory that unpacking may take, in KiB: enough for any module.
const MOST_MEMORY: u32 = 64 << 10;

/// The PTX of a kernel of the catalogue by its name: a module with one entry, `fit`. It is unpacked anew each time,
/// which takes a few milliseconds. `None` if no kernel has that name.
pub fn ptx(kernel: &str) -> Option<String> {
    let mut text = String::new();
    let mut reader = LzmaReader::new_mem_limit(packed(kernel)?, MOST_MEMORY, None).ok()?;
    reader.read_to_string(&mut text).ok()?;
    Some(text)
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
}
