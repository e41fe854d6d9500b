//! `cargo xtask mutants`: faults that the tests must find. Each is a patch in xtask/mutants, which names the test that finds it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{TaskError, none, output_of};

/// A fault.
#[derive(Debug)]
struct Mutant {
    patch: PathBuf,
    /// What is wrong with it.
    fault: String,
    /// Arguments of `cargo test` for the test that finds it.
    test: Vec<String>,
}

impl Mutant {
    fn name(&self) -> String {
        self.patch.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A mutant from the text of its patch, of which the first lines say what is wrong and which test finds it.
fn parse(patch: PathBuf, text: &str) -> Result<Mutant, TaskError> {
    let line = |word: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(word));
        found.map(str::trim).filter(|rest| !rest.is_empty()).ok_or_else(|| TaskError::Failed {
            what: patch.display().to_string(),
            output: format!("it has no line '{word}'"),
        })
    };
    let test = line("Test:")?.split_whitespace().map(str::to_owned).collect();
    Ok(Mutant { fault: line("Fault:")?.to_owned(), test, patch })
}

/// Runs a command in a folder, and fails where it fails.
fn done(folder: &Path, program: &str, words: &[&str]) -> Result<(), TaskError> {
    let what = format!("{program} {}", words.join(" "));
    output_of(&what, Command::new(program).args(words).current_dir(folder)).map(drop)
}

/// Puts each fault whose name contains one of the words (all without) into a clone of the last commit, and fails if a test
/// does not find one.
pub(crate) fn check(root: &Path, words: &[String]) -> Result<(), TaskError> {
    let folder = root.join("xtask/mutants");
    let listed = std::fs::read_dir(&folder).map_err(TaskError::of_file(&folder))?;
    let mut patches: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    patches.sort();
    let clone = root.join("target/mutants");
    if clone.exists() {
        std::fs::remove_dir_all(&clone).map_err(TaskError::of_file(&clone))?;
    }
    let (from, to) = (root.display().to_string(), clone.display().to_string());
    done(root, "git", &["clone", "--quiet", &from, &to])?;
    let target = root.join("target/mutants-built").display().to_string();
    let mut survivors = Vec::new();
    for patch in patches {
        let text = std::fs::read_to_string(&patch).map_err(TaskError::of_file(&patch))?;
        let mutant = parse(patch, &text)?;
        let name = mutant.name();
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let path = mutant.patch.display().to_string();
        done(&clone, "git", &["apply", &path])?;
        let mut test = vec!["test", "--quiet", "--locked", "--target-dir", &target];
        test.extend(mutant.test.iter().map(String::as_str));
        // What does not compile proves nothing.
        let mut built = test.clone();
        built.insert(1, "--no-run");
        done(&clone, "cargo", &built)?;
        let found = done(&clone, "cargo", &test).is_err();
        println!("{} {name}: {}", if found { "found   " } else { "SURVIVED" }, mutant.fault);
        done(&clone, "git", &["apply", "--reverse", &path])?;
        if !found {
            survivors.push(format!("{name} survives: cargo test {}", mutant.test.join(" ")));
        }
    }
    none(survivors)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that there are thirty faults, each with a sentence and a test.
    #[test]
    fn faults_name_their_tests() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("mutants");
        let patches = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mutants = patches.map(|patch| {
            let text = std::fs::read_to_string(&patch).unwrap();
            parse(patch, &text).unwrap()
        });
        let mutants: Vec<Mutant> = mutants.collect();
        assert!(mutants.len() >= 30);
        assert!(mutants.iter().all(|mutant| mutant.test[0] == "-p" && mutant.test.len() >= 4));
        assert!(parse(PathBuf::from("a.patch"), "Fault: none\n").is_err());
    }
}
