//! The table of verbs.

use std::collections::BTreeSet;

use crate::common::succeeds;

/// A way to use a verb.
pub struct Case {
    /// The verb, and what follows it, with `{}` for the folder of the inputs.
    pub words: &'static str,
    /// The options that name files which it writes, each with an ending. The first is the main one.
    pub outputs: &'static [(&'static str, &'static str)],
    /// The files that it writes besides, under names that nobody gave.
    pub also: &'static [&'static str],
}

const fn case(
    words: &'static str,
    outputs: &'static [(&'static str, &'static str)],
    also: &'static [&'static str],
) -> Case {
    Case { words, outputs, also }
}

impl Case {
    /// The words without names of outputs.
    pub fn line(&self) -> String {
        format!(
            "spotfit {}",
            self.words.replace("{}", &super::inputs::INPUTS.0.path().display().to_string())
        )
    }

    /// What the outputs are called if the main one has this stem.
    pub fn names(&self, stem: &str) -> Vec<String> {
        let more = |(option, ending): &(&str, &str)| match *option {
            "-o" => format!("{stem}.{ending}"),
            option => format!("{stem}{}.{ending}", option.trim_start_matches('-')),
        };
        self.outputs.iter().map(more).collect()
    }

    /// The words with these names of outputs.
    pub fn with(&self, names: &[String]) -> String {
        let options = self.outputs.iter().zip(names);
        let options = options.map(|((option, _), name)| format!(" {option} '{name}'"));
        self.line() + &options.collect::<String>()
    }
}

/// Every verb, with every kind of file that it writes. The words of a camera say all that there is to know of one.
pub const CASES: [Case; 51] = [
    case("fit {}/spots.npy", &[("-o", "csv")], &[]),
    case("fit {}/spots.npy --errors --baseline 0 --sensitivity 1", &[("-o", "npy")], &[]),
    case("localize {}/movie.tif --baseline 100 --sensitivity 1", &[("-o", "csv")], &[]),
    case(
        "localize {}/movie.tif --baseline 100 --sensitivity 1 --frame-time 0.02",
        &[("-o", "csv")],
        &[],
    ),
    case(
        "localize {}/movie.tif --baseline 100 --sensitivity 1 --pixel-size 100 --origin corner",
        &[("-o", "csv")],
        &[],
    ),
    case(
        "localize {}/movie.tif --baseline 100 --sensitivity 1 --pixel-size 100",
        &[("-o", "hdf5")],
        &[],
    ),
    case(
        "preview {}/movie.tif --frame 2 --baseline 100 --sensitivity 1 --read-noise 1",
        &[("-o", "png")],
        &[],
    ),
    case(
        "preview {}/movie.tif --frame 1,2 --pixel-size 100 --baseline 100 --sensitivity 1",
        &[("-o", "svg")],
        &[],
    ),
    case("preview {}/movie.tif --json --baseline 100 --sensitivity 1", &[], &[]),
    case(
        "batch {}/list.txt --out . --baseline 100 --sensitivity 1 --pixel-size 100",
        &[],
        &["movie.hdf5", "movie.yaml", "movie.hdf5.spotfit.json", "summary.csv"],
    ),
    case(
        "batch {}/list.txt --out . --shard 1/2 --format csv --baseline 100 --sensitivity 1 --pixel-size 100",
        &[],
        &["movie.csv", "movie.csv.spotfit.json", "summary-1-of-2.csv"],
    ),
    case(
        "calibrate {}/beads.tif --step 40 --pixel-size 100 --baseline 100 --sensitivity 1",
        &[("-o", "yaml"), ("--plot", "svg")],
        &[],
    ),
    case(
        "calibrate {}/coarse.tif --step 80 --pixel-size 100 --baseline 100 --sensitivity 1 --spline --box 9",
        &[("-o", "hdf5"), ("--plot", "svg")],
        &[],
    ),
    case(
        "psf {}/seen.tif --learn-frames 40 --baseline 100 --sensitivity 1",
        &[("-o", "hdf5"), ("--plot", "svg")],
        &[],
    ),
    case(
        "camera {}/darks.npy {}/flats.npy",
        &[("-o", "npz"), ("--mask", "npy"), ("--plot", "svg")],
        &[],
    ),
    case("camera {}/darks.npy --sensitivity 1", &[("-o", "hdf5")], &[]),
    case(
        "pick {}/locs.csv --circle 3000,3000,2000 --box 0,0,3um,3um",
        &[("-o", "csv"), ("--locs", "csv")],
        &[],
    ),
    case(
        "profile {}/locs.csv --line 0,0,6000,6000 --width 2000",
        &[("-o", "csv"), ("--plot", "svg")],
        &[],
    ),
    case("z {}/locs.csv --calibration {}/calibration.yaml", &[("-o", "csv")], &[]),
    case("z {}/locs.hdf5 --calibration {}/calibration.yaml", &[("-o", "hdf5")], &[]),
    case("filter {}/locs.csv 'photons > 1'", &[("-o", "csv")], &[]),
    case("filter {}/locs.csv 'photons > 1'", &[("-o", "h5")], &[]),
    case("filter {}/locs.csv --columns", &[], &[]),
    case("stats {}/locs.csv", &[], &[]),
    case("stats {}/locs.csv --json", &[], &[]),
    case("stats {}/locs.csv", &[("-o", "html")], &[]),
    case("convert {}/locs.hdf5", &[("-o", "csv")], &[]),
    case("convert {}/locs.csv --picasso 1", &[("-o", "hdf5")], &[]),
    case("filter {}/locs.csv --merge 1px --json", &[("-o", "hdf5")], &[]),
    case("score {}/locs.csv {}/truth.csv", &[], &[]),
    case("link {}/locs.csv", &[("-o", "csv")], &[]),
    case("link {}/locs.hdf5 --label", &[("-o", "hdf5")], &[]),
    case(
        "drift {}/locs.csv --anyway",
        &[("-o", "csv"), ("--table", "csv"), ("--plot", "svg")],
        &[],
    ),
    case(
        "track {}/stage.tif --baseline 100 --sensitivity 1 --pixel-size 100",
        &[("-o", "csv"), ("--plot", "svg")],
        &[],
    ),
    case("track {}/stage.tif --rate 100", &[("-o", "npy")], &[]),
    case("track {}/stage.tif --json-lines", &[], &[]),
    case("render {}/locs.csv", &[("-o", "png")], &[]),
    case("render {}/locs.csv --raw", &[("-o", "tif")], &[]),
    case(
        "simulate --count 3 --size 9",
        &[("-o", "npy"), ("--truth", "csv"), ("--corners", "csv"), ("--camera", "npz")],
        &[],
    ),
    case(
        "simulate movie --frames 2 --width 32 --height 32",
        &[("-o", "tif"), ("--truth", "csv"), ("--camera", "npz")],
        &[],
    ),
    case(
        "simulate movie --frames 2 --width 32 --height 32 --hot-pixels 3",
        &[("-o", "npy"), ("--write-defects", "npy")],
        &[],
    ),
    case(
        "localize {}/movie.tif --baseline 100 --sensitivity 1 --defects auto",
        &[("-o", "csv"), ("--write-defects", "npy")],
        &[],
    ),
    case(
        "simulate beads --width 48 --height 48 --beads 2 --step 200",
        &[("-o", "npy"), ("--truth", "csv"), ("--camera", "npz")],
        &[],
    ),
    case("curve {}/decays.csv -m exponential", &[("-o", "csv"), ("--plot", "svg")], &[]),
    case(
        "curve {}/decays.csv -m exponential --loss tukey",
        &[("-o", "csv"), ("--outliers", "csv")],
        &[],
    ),
    case(
        "curve {}/decays.csv -m 'a*exp(-x/t)+c' --start auto --statistics --covariance --derive 'h=t*ln(2)' --intervals 0.68 --compare linear --bands 0.95",
        &[("-o", "csv"), ("--bands-table", "csv"), ("--report", "html")],
        &[],
    ),
    case(
        "curve {}/decays.csv -m exponential_2 --share t1,t2 --where a2=0.1*a1 --prior c=1+-0.5 --absolute --weights 1",
        &[("-o", "csv"), ("--plot", "svg")],
        &[],
    ),
    case("info {}/locs.hdf5", &[], &[]),
    case("model exponential --show", &[], &[]),
    case("devices", &[], &[]),
    case("demo --out . --count 100", &[], DEMO),
];

/// What a demonstration writes.
const DEMO: &[&str] = &[
    "spots.npy",
    "truth.csv",
    "fits.csv",
    "movie.tif",
    "movie-truth.csv",
    "locs.csv",
    "movie.png",
    "beads.tif",
    "cal.yaml",
    "cal.svg",
    "depth.tif",
    "depth-truth.csv",
    "depth.csv",
    "simulated.csv",
    "still.csv",
    "drift.csv",
    "drift.svg",
    "straight.csv",
    "depth.png",
    "fits.csv.spotfit.json",
    "locs.csv.spotfit.json",
    "cal.yaml.spotfit.json",
    "depth.csv.spotfit.json",
    "still.csv.spotfit.json",
    "drift.csv.spotfit.json",
    "straight.csv.spotfit.json",
];

/// Proves that no verb is missing in the table, nor any of what a verb can simulate, nor any option that names a file to write.
#[test]
fn all_verbs_are_in_the_table() {
    let told = succeeds(&[&"options"]).stdout;
    let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
    let mut missing = BTreeSet::new();
    for (verb, words) in told.as_object().expect("verbs") {
        // It writes what others write.
        if verb == "view" {
            continue;
        }
        let own = |case: &&Case| case.words == verb || case.words.starts_with(&format!("{verb} "));
        let own: Vec<&Case> = CASES.iter().filter(own).collect();
        if own.is_empty() {
            missing.insert(verb.clone());
        }
        let options = words["options"].as_array().expect("options").iter();
        let writes = options.filter(|option| option["written"] == "file");
        for name in writes.filter_map(|option| option["name"].as_str()) {
            let name = if name == "output" { "-o".to_owned() } else { format!("--{name}") };
            let in_words = |case: &&Case| case.words.contains(&format!("{name} "));
            let has = |case: &&Case| case.outputs.iter().any(|(own, _)| *own == name);
            if !own.iter().any(|case| has(case) || in_words(case)) {
                missing.insert(format!("{verb} {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
    let help = String::from_utf8(succeeds(&[&"--help"]).stdout).expect("text");
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs = verbs.take_while(|line| line.starts_with("  "));
    let verbs = verbs.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let verbs: Vec<&str> = verbs.filter(|verb| !verb.is_empty() && *verb != "help").collect();
    assert!(verbs.len() >= 19, "{help}");
    for verb in verbs {
        assert!(told.get(verb).is_some(), "{verb}");
    }
}
