#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

macro_rules! modules {
    ($($name:literal),*) => {
        /// The names of the modules.
        pub const MODULES: &[&str] = &[$($name),*];

        /// The PTX of a module.
        pub fn ptx(module: &str) -> Option<&'static str> {
            match module {
                $($name => Some(include_str!(concat!("../", $name, ".ptx"))),)*
                _ => None,
            }
        }
    };
}
modules!("side4", "side5", "side6", "side7", "side8", "side9", "side10", "side11", "team");
