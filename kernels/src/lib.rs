#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

macro_rules! modules {
    ($($name:literal),*) => {
        /// The names of the modules: `side4` to `side32` in order, for square windows with one thread a fit, and
        /// those for 8, 16 and 32 threads a fit. Each has one entry, `fit`.
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
modules!(
    "side4", "side5", "side6", "side7", "side8", "side9", "side10", "side11", "side12", "side13",
    "side14", "side15", "side16", "side17", "side18", "side19", "side20", "side21", "side22",
    "side23", "side24", "side25", "side26", "side27", "side28", "side29", "side30", "side31",
    "side32", "team8", "team16", "team32"
);
