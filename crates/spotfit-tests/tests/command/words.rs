//! The words of all verbs, as programs and people find them.

use crate::common;

use std::fs;
use std::path::Path;

use common::succeeds;

/// The words with which a test of Python compares its keywords.
const WORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spotfit-python/tests/options.json");

/// Proves that the words that Python is compared with are those of the command, and that every example in a help is understood. With
/// SPOTFIT_UPDATE in the environment it writes them anew.
#[test]
fn words_for_python_are_those_of_the_command() {
    let told = String::from_utf8(succeeds(&[&"options"]).stdout).expect("text");
    if std::env::var_os("SPOTFIT_UPDATE").is_some() {
        fs::write(WORDS, &told).expect("a file");
    }
    let kept = fs::read_to_string(Path::new(WORDS)).expect("words");
    assert!(told == kept, "run this test with SPOTFIT_UPDATE=1, and look at what changed");
    let all: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let with_examples = |name: &str| all[name]["examples"].as_array().map_or(0, Vec::len);
    let verbs = [
        "batch",
        "calibrate",
        "camera",
        "convert",
        "curve",
        "demo",
        "drift",
        "filter",
        "fit",
        "info",
        "link",
        "localize",
        "model",
        "pick",
        "preview",
        "profile",
        "render",
        "score",
        "simulate",
        "simulate beads",
        "simulate movie",
        "stats",
        "track",
        "view",
        "z",
    ];
    for verb in verbs {
        assert!(with_examples(verb) >= 2, "{verb}");
    }
}

/// Proves that every word stands under the heading of its own group, and none under that of the group before it.
#[test]
fn headings_end_with_their_groups() {
    let told = succeeds(&[&"options"]).stdout;
    let all: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
    let heading = |verb: &str, name: &str| {
        let options = all[verb]["options"].as_array().expect("options");
        let found = options.iter().find(|option| option["name"] == name).expect("an option");
        found["heading"].as_str().unwrap_or_default().to_owned()
    };
    for (verb, name, group) in [
        ("simulate movie", "sigma-spread", "Spots"),
        ("simulate movie", "seed", "Movie"),
        ("simulate movie", "json", "Output"),
        ("simulate", "count", ""),
        ("localize", "all", "Output"),
        ("localize", "false-rate", "Detection"),
        ("localize", "read-noise", "Camera"),
        ("fit", "estimator", "Fit"),
        ("fit", "backend", "Fit"),
        ("calibrate", "channel", "Movie"),
        ("link", "overwrite", "Output"),
    ] {
        assert_eq!(heading(verb, name), group, "--{name} of {verb}");
    }
}

/// Proves that the words of a verb stand under headings: what belongs to the camera, the fit and the output is together.
#[test]
fn help_is_in_groups() {
    for (verb, headings) in [
        ("fit", &["Fit:", "Camera:", "Output:"][..]),
        ("calibrate", &["Movie:", "Fit:", "Camera:", "Output:"]),
        ("curve", &["Model:", "Fit:", "Output:"]),
        ("localize", &["Movie:", "Detection:", "Fit:", "Camera:", "Output:"]),
        ("convert", &["Tables:", "Output:"]),
        ("drift", &["Tables:", "Output:"]),
        ("filter", &["Tables:", "Output:"]),
        ("link", &["Tables:", "Output:"]),
        ("pick", &["Tables:", "Output:"]),
        ("profile", &["Tables:", "Output:"]),
        ("render", &["Tables:", "Colours:", "Output:"]),
        ("score", &["Tables:", "Output:"]),
        ("stats", &["Tables:", "Output:"]),
        ("track", &["Source:", "Movie:", "Beads:", "Drift:", "Fit:", "Camera:", "Output:"]),
        ("z", &["Tables:", "Output:"]),
    ] {
        let help = String::from_utf8(succeeds(&[&verb, &"--help"]).stdout).expect("text");
        for heading in headings.iter().chain(&["Examples:"]) {
            let count = help.lines().filter(|line| line == heading).count();
            assert_eq!(count, 1, "{heading} in the help of {verb}:\n{help}");
        }
    }
}
