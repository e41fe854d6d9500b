//! Made by `cargo xtask ptx`: the packs, each with its family.

pub(crate) const PACKS: &[(&str, &[u8])] = &[
    ("cooperative", include_bytes!("../cooperative.ptx.lzma")),
    ("curve", include_bytes!("../curve.ptx.lzma")),
    ("detect", include_bytes!("../detect.ptx.lzma")),
    ("double", include_bytes!("../double.ptx.lzma")),
    ("elliptical", include_bytes!("../elliptical.ptx.lzma")),
    ("errors", include_bytes!("../errors.ptx.lzma")),
    ("fixed", include_bytes!("../fixed.ptx.lzma")),
    ("least", include_bytes!("../least1.ptx.lzma")),
    ("least", include_bytes!("../least2.ptx.lzma")),
    ("likelihood", include_bytes!("../likelihood1.ptx.lzma")),
    ("likelihood", include_bytes!("../likelihood2.ptx.lzma")),
    ("likelihood", include_bytes!("../likelihood3.ptx.lzma")),
    ("published", include_bytes!("../published.ptx.lzma")),
    ("quick", include_bytes!("../quick.ptx.lzma")),
    ("side", include_bytes!("../side.ptx.lzma")),
    ("weighted", include_bytes!("../weighted.ptx.lzma")),
];
