//! `cargo xtask layers`: libraries that need others that they may not know.
//!
//! What a crate needs is what its manifest names under `[dependencies]` and `[build-dependencies]`, optional or not, and what
//! those crates need. What only tests need does not count.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{TaskError, cargo, none, output_of};

/// A library, and the crates of the workspace that it may need.
type Layer = (&'static str, &'static [&'static str]);

/// The libraries from below. What is not here is a program or for development only, and may need any of them.
const LAYERS: &[Layer] = &[
    ("fit-core", &[]),
    ("fit-engine", &["fit-core"]),
    ("fit-formula", &[]),
    ("fit-sim", &["fit-core"]),
    ("fit-windows", &["fit-core"]),
    ("fit-crowd", &["fit-core"]),
    ("fit-curves", &["fit-core", "fit-engine", "fit-formula"]),
    ("fit-reference", &["fit-core", "fit-windows"]),
    (
        "fit-cpu",
        &["fit-core", "fit-engine", "fit-formula", "fit-windows", "fit-curves", "fit-reference"],
    ),
    ("fit-gpu-kernel", &["fit-core", "fit-engine"]),
    ("fit-gpu-ptx", &["fit-core", "fit-engine", "fit-gpu-kernel"]),
    (
        "fit-gpu",
        &[
            "fit-core",
            "fit-engine",
            "fit-formula",
            "fit-windows",
            "fit-curves",
            "fit-gpu-kernel",
            "fit-gpu-ptx",
        ],
    ),
    // Files and tables know no fitter.
    ("spotfit-files", &["fit-core"]),
    ("spotfit-locs", &["fit-core", "spotfit-files"]),
    ("spotfit-ring", &[]),
    (
        "spotfit-frames",
        &[
            "fit-core",
            "fit-engine",
            "fit-formula",
            "fit-windows",
            "fit-curves",
            "fit-gpu-kernel",
            "fit-gpu-ptx",
            "fit-gpu",
            "spotfit-files",
            "spotfit-locs",
        ],
    ),
    (
        "spotfit",
        &[
            "fit-core",
            "fit-engine",
            "fit-formula",
            "fit-windows",
            "fit-crowd",
            "fit-curves",
            "fit-reference",
            "fit-cpu",
            "fit-gpu-kernel",
            "fit-gpu-ptx",
            "fit-gpu",
            "spotfit-files",
            "spotfit-locs",
            "spotfit-frames",
            "spotfit-ring",
        ],
    ),
];

/// What `cargo metadata` says of the workspace.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `dev` or `build`; nothing for what the library itself needs.
    kind: Option<String>,
}

impl Package {
    /// What it needs when it is not tested.
    fn needs(&self) -> impl Iterator<Item = &str> {
        let needed =
            self.dependencies.iter().filter(|needed| needed.kind.as_deref() != Some("dev"));
        needed.map(|needed| needed.name.as_str())
    }
}

/// What is wrong, with the manifest that names what must not be needed.
fn violations(packages: &[Package], layers: &[Layer]) -> Vec<String> {
    let packages: BTreeMap<&str, &Package> =
        packages.iter().map(|package| (package.name.as_str(), package)).collect();
    let mut wrong = Vec::new();
    for &(library, allowed) in layers {
        for name in [library].iter().chain(allowed).filter(|name| !packages.contains_key(**name)) {
            wrong.push(format!("xtask/src/layers.rs: there is no crate {name} in the workspace"));
        }
        // Each with the way that leads to it.
        let mut left = VecDeque::from([vec![library]]);
        let mut seen = BTreeSet::from([library]);
        while let Some(way) = left.pop_front() {
            let Some(package) = way.last().and_then(|last| packages.get(last)) else { continue };
            for needed in package.needs() {
                // Crates of others need none of ours.
                let Some((&needed, _)) = packages.get_key_value(needed) else { continue };
                if !seen.insert(needed) {
                    continue;
                }
                let way = [&way[..], &[needed]].concat();
                if allowed.contains(&needed) {
                    left.push_back(way);
                    continue;
                }
                wrong.push(format!(
                    "{}: {library} must not need {needed} ({}); of the workspace it may need {}",
                    package.manifest_path.display(),
                    way.join(" needs "),
                    if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") },
                ));
            }
        }
    }
    wrong
}

/// Proves that no library needs a crate of the workspace that it may not know.
pub(crate) fn check(root: &Path) -> Result<(), TaskError> {
    let what = "cargo metadata";
    let words = ["metadata", "--no-deps", "--format-version", "1", "--manifest-path"];
    let output = output_of(what, cargo().args(words).arg(root.join("Cargo.toml")))?;
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| TaskError::Failed { what: what.to_owned(), output: error.to_string() })?;
    let wrong = violations(&metadata.packages, LAYERS);
    if wrong.is_empty() {
        println!("{} libraries need what they may", LAYERS.len());
    }
    none(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, needs: &[(&str, Option<&str>)]) -> Package {
        let needs = needs.iter().map(|&(name, kind)| Dependency {
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
        });
        Package {
            name: name.to_owned(),
            manifest_path: Path::new("crates").join(name).join("Cargo.toml"),
            dependencies: needs.collect(),
        }
    }

    /// Proves that a crate that must not be needed is found, directly and through others, with the manifest that names it; and
    /// that crates of others and those for tests are no violation.
    #[test]
    fn violations_are_found() {
        let layers: &[Layer] = &[("core", &[]), ("files", &["core"]), ("locs", &["core", "files"])];
        let good = || {
            vec![
                package("core", &[("serde", None), ("sim", Some("dev"))]),
                package("files", &[("core", None), ("sim", Some("dev"))]),
                package("locs", &[("files", None), ("rayon", None)]),
                package("fitter", &[("core", None), ("locs", None)]),
                package("sim", &[("core", None)]),
            ]
        };
        assert_eq!(violations(&good(), layers), Vec::<String>::new());

        let mut packages = good();
        packages[1] = package("files", &[("core", None), ("fitter", Some("build"))]);
        let path = |name| Path::new("crates").join(name).join("Cargo.toml").display().to_string();
        let manifest = path("files");
        assert_eq!(
            violations(&packages, layers),
            [
                format!(
                    "{manifest}: files must not need fitter (files needs fitter); \
                     of the workspace it may need core"
                ),
                format!(
                    "{manifest}: locs must not need fitter (locs needs files needs fitter); \
                     of the workspace it may need core, files"
                ),
            ]
        );

        let mut packages = good();
        packages[0] = package("core", &[("sim", None)]);
        packages.remove(2);
        let found = violations(&packages, layers);
        let manifest = path("core");
        assert_eq!(
            found,
            [
                format!(
                    "{manifest}: core must not need sim (core needs sim); \
                     of the workspace it may need nothing"
                ),
                format!(
                    "{manifest}: files must not need sim (files needs core needs sim); \
                     of the workspace it may need core"
                ),
                "xtask/src/layers.rs: there is no crate locs in the workspace".to_owned(),
            ]
        );
    }
}
