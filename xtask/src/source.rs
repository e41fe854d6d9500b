//! The source: its files by crate, and what kernels are made of, whose hash the manifest has.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::TaskError;

/// The crates that kernels are compiled from, and those that these depend on, for the device, by their names in `Cargo.lock`.
const CRATES: [&str; 3] = ["crates/fit-core", "crates/fit-engine", "crates/fit-gpu-kernel"];
const OTHERS: [&str; 1] = ["libm"];

/// A line that says something to the compiler.
fn says_something(line: &&str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

/// All Rust files below a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(TaskError::of_file(folder))? {
        let path = entry.map_err(TaskError::of_file(folder))?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The text of a file.
pub(crate) fn text(file: &Path) -> Result<String, TaskError> {
    std::fs::read_to_string(file).map_err(TaskError::of_file(file))
}

/// A file as it is called from the root of the workspace, on every system.
pub(crate) fn place(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/")
}

/// The crates of the workspace by their names, each with the Rust files of its source.
pub(crate) fn crates(root: &Path) -> Result<Vec<(String, Vec<PathBuf>)>, TaskError> {
    let folder = root.join("crates");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(TaskError::of_file(&folder))? {
        let entry = entry.map_err(TaskError::of_file(&folder))?;
        all.push((
            entry.file_name().to_string_lossy().into_owned(),
            files(&entry.path().join("src"))?,
        ));
    }
    Ok(all)
}

/// The versions of other crates in a lock file.
fn versions(lock: &str) -> String {
    let packages = lock.split("[[package]]").filter(|package| {
        let name = package.lines().find_map(|line| line.strip_prefix("name = "));
        name.is_some_and(|name| OTHERS.contains(&name.trim_matches('"')))
    });
    packages
        .flat_map(|package| package.lines().filter(|line| line.starts_with("version")))
        .collect()
}

/// A hash of all that may change a kernel besides compiler and flags. Lines that are comments, or empty, do not count.
pub(crate) fn hash(root: &Path) -> Result<String, TaskError> {
    let mut all = Sha256::new();
    all.update(versions(&text(&root.join("Cargo.lock"))?));
    for name in CRATES {
        let mut found = files(&root.join(name).join("src"))?;
        found.push(root.join(name).join("Cargo.toml"));
        found.sort_unstable();
        for file in found {
            all.update(place(root, &file));
            for line in text(&file)?.lines().filter(says_something) {
                all.update(line.trim());
                all.update("\n");
            }
        }
    }
    Ok(all.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a hash changes with the code and with the version of a crate that kernels call, and not with comments.
    #[test]
    fn code_changes_the_hash() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().expect("it has one")).expect("made");
            std::fs::write(file, text).expect("written");
        };
        let of = || hash(folder.path()).expect("all files are there");
        let lock = "[[package]]\nname = \"libm\"\nversion = \"0.2.1\"\n[[package]]\nname = \"png\"\nversion = \"1.0.0\"\n";
        write("Cargo.lock", lock);
        for name in CRATES {
            write(&format!("{name}/Cargo.toml"), "[package]\n");
            write(&format!("{name}/src/a/mod.rs"), "//! Words.\n\npub fn f() {}\n");
        }
        let before = of();
        write(
            "crates/fit-core/src/a/mod.rs",
            "//! Other words.\npub fn f() {}\n    // And more.\n",
        );
        write("Cargo.lock", &lock.replace("1.0.0", "1.0.1"));
        assert_eq!(of(), before);
        write("Cargo.lock", &lock.replace("0.2.1", "0.2.2"));
        assert_ne!(of(), before);
        write("Cargo.lock", lock);
        write("crates/fit-gpu-kernel/src/a/mod.rs", "pub fn f() { 1; }\n");
        assert_ne!(of(), before);
    }
}
