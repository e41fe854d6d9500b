#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

macro_rules! modules {
    ($($name:literal),*) => {
        /// The names of the modules, each of which has one entry, `fit`: `side4` to `side32` and `quick4` to
        /// `quick32` in order, for square windows in large and in small batches; `team8` to `team32` for others; `published` and
        /// `published_large` for the paper's way.
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
    "side4",
    "side5",
    "side6",
    "side7",
    "side8",
    "side9",
    "side10",
    "side11",
    "side12",
    "side13",
    "side14",
    "side15",
    "side16",
    "side17",
    "side18",
    "side19",
    "side20",
    "side21",
    "side22",
    "side23",
    "side24",
    "side25",
    "side26",
    "side27",
    "side28",
    "side29",
    "side30",
    "side31",
    "side32",
    "quick4",
    "quick5",
    "quick6",
    "quick7",
    "quick8",
    "quick9",
    "quick10",
    "quick11",
    "quick12",
    "quick13",
    "quick14",
    "quick15",
    "quick16",
    "quick17",
    "quick18",
    "quick19",
    "quick20",
    "quick21",
    "quick22",
    "quick23",
    "quick24",
    "quick25",
    "quick26",
    "quick27",
    "quick28",
    "quick29",
    "quick30",
    "quick31",
    "quick32",
    "team8",
    "team16",
    "team32",
    "published",
    "published_large"
);
