//! What every crate that is published must have.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("the workspace")
}

/// The crates of the workspace that are published: what cargo says of them, and their folders.
fn published() -> Vec<(Value, PathBuf)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    // Cargo says an empty list of registries for what is not to be published.
    let published = packages.filter(|package| package["publish"].is_null());
    published
        .map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
            (package.clone(), manifest.parent().expect("a folder").to_path_buf())
        })
        .collect()
}

/// Targets of a text's links, inline and by reference.
fn links(markdown: &str) -> Vec<&str> {
    let inline = markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let named = markdown.lines().filter(|line| line.starts_with('['));
    let named = named.filter_map(|line| Some(line.split_once("]: ")?.1));
    inline.chain(named).map(str::trim).collect()
}

/// Proves that every published crate has the repository's licences, a README whose links lead somewhere from anywhere, and
/// what registries and docs.rs ask for.
#[test]
fn crates_can_be_published() {
    let crates = published();
    assert!(crates.len() >= 8, "only {} crates are published", crates.len());
    for (package, folder) in crates {
        let name = package["name"].as_str().expect("a name");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let ours = std::fs::read_to_string(root().join(licence)).expect("a licence");
            let its = std::fs::read_to_string(folder.join(licence)).unwrap_or_default();
            assert!(its == ours, "{name}: {licence} is not the repository's");
        }
        for key in ["description", "license", "readme", "rust_version", "documentation"] {
            assert!(package[key].is_string(), "{name} has no {key}");
        }
        for key in ["keywords", "categories"] {
            let words = package[key].as_array().map_or(0, Vec::len);
            assert!((1..=5).contains(&words), "{name} has {words} {key}; one to five are allowed");
        }
        assert!(package["metadata"]["docs"]["rs"].is_object(), "{name} says nothing to docs.rs");
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        assert!(readme.lines().count() > 3, "{name} has no README");
        for link in links(&readme) {
            assert!(link.starts_with("https://"), "{name}: README.md links to '{link}'");
        }
    }
}
