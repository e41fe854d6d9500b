//! Values of the command's options.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use fit_sim::Random;
use spotfit::npy::{NpyReader, NumberType};

use crate::common::{Folder, HANGS, in_parallel, listens, nightly, until, worked};
use crate::mutate::pick;
use crate::process::{end_unless, end_within, kill, signal, spotfit, words};
use crate::{effort, is_long};

/// A verb of the command: its words, its input if it has one, and options with which it ends soon and well.
struct Verb {
    words: &'static [&'static str],
    input: Option<&'static str>,
    options: &'static [(&'static str, &'static str)],
}

const VERBS: [Verb; 11] = [
    Verb { words: &["fit"], input: Some("spots.npy"), options: &[("output", "fits.csv")] },
    Verb { words: &["localize"], input: Some("movie.npy"), options: &[("output", "locs.csv")] },
    Verb { words: &["render"], input: Some("table.csv"), options: &[("output", "image.png")] },
    Verb {
        words: &["simulate"],
        input: None,
        options: &[("count", "20"), ("size", "7"), ("output", "s.npy"), ("truth", "t.csv")],
    },
    Verb {
        words: &["simulate", "movie"],
        input: None,
        options: &[("frames", "3"), ("width", "40"), ("height", "32"), ("output", "m.npy")],
    },
    Verb {
        words: &["simulate", "beads"],
        input: None,
        options: &[
            ("beads", "1"),
            ("width", "40"),
            ("height", "32"),
            ("step", "200"),
            ("output", "b.npy"),
        ],
    },
    Verb {
        words: &["curve"],
        input: Some("table.csv"),
        options: &[
            ("model", "a*exp(-x/t)"),
            ("start", "auto"),
            ("intervals", "0.68"),
            ("bands", "0.9"),
            ("compare", "linear"),
            ("derive", "h=t*2"),
            ("output", "fits.csv"),
        ],
    },
    Verb { words: &["batch"], input: Some("list.txt"), options: &[("out", "tables")] },
    Verb {
        words: &["curve"],
        input: Some("decays.csv"),
        options: &[("model", "exponential"), ("output", "fits.csv"), ("estimator", "lse")],
    },
    Verb {
        words: &["curve"],
        input: Some("table.csv"),
        options: &[
            ("model", "a*exp(-x/t) + c"),
            ("start", "a=1,t=1"),
            ("where", "c=a/9"),
            ("share", "t"),
            ("prior", "a=1+-1"),
            ("estimator", "mle"),
            ("output", "fits.csv"),
        ],
    },
    Verb { words: &["demo"], input: None, options: &[("count", "100"), ("out", "demo")] },
];

const INPUTS: [&str; 6] =
    ["spots.npy", "movie.npy", "table.csv", "positions.csv", "list.txt", "decays.csv"];

/// What an option may be given; `long` stands for a word of 100 000 letters.
const VALUES: [&str; 34] = [
    "0",
    "-1",
    "1",
    "3",
    "0.5",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "1e-300",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "",
    " ",
    "word",
    "long",
    "0,0",
    "1e308,-1e308",
    "0,0,9,9",
    "1:2",
    "0:9223372036854775807",
    "-",
    ".",
    "é",
    "spots.npy",
    "positions.csv",
    "table.csv",
    "/dev/null",
    "/dev/zero",
    "missing/file.csv",
];

/// How many of the values are numbers: they stand first.
const NUMBERS: usize = 16;

/// What did harm once: verb, option and value, where an option without a name is the input.
const FOUND: [(usize, &[(&str, &str)]); 23] = [
    (0, &[("threads", "2147483648")]),
    (0, &[("", "-"), ("start", "-")]),
    (1, &[("threads", "3000")]),
    (1, &[("positions", "/dev/zero")]),
    (1, &[("pixel-size", "1e308")]),
    (1, &[("sensitivity", "1e308")]),
    (1, &[("sensitivity", "1e-320")]),
    (1, &[("read-noise", "1e308")]),
    (1, &[("baseline", "-1e308")]),
    (2, &[("", "/dev/zero")]),
    (3, &[("count", "9223372036854775807")]),
    (4, &[("beads", "9223372036854775807")]),
    // Noise that cannot be.
    (8, &[("loss", "tukey"), ("estimator", "mle")]),
    (8, &[("loss", "tukey"), ("scale", "1e-300")]),
    (8, &[("trials", "-1"), ("estimator", "binomial")]),
    (8, &[("x-errors", "1e308"), ("error-columns", "_sd")]),
    (8, &[("by", "1"), ("columns", "time,y"), ("loss", "cauchy")]),
    (8, &[("by", "time"), ("columns", "1,y")]),
    (9, &[("share", "t:/dev/zero")]),
    (9, &[("share", "t:spots.npy,a:table.csv")]),
    (9, &[("prior", "a=1e308+-1e-320")]),
    (9, &[("where", "t=t"), ("share", "t")]),
    (9, &[("where", "c=exp(exp(exp(a)))"), ("start", "a=9,t=1e-300")]),
];

/// The long names of a verb's options, as its help has them: none can be forgotten.
fn options(verb: &Verb) -> Vec<String> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_spotfit-tested")).args(verb.words).arg("--help").output();
    let help = String::from_utf8(output.expect("the command runs").stdout).expect("text");
    let names = help.lines().filter(|line| line.trim_start().starts_with('-')).filter_map(|line| {
        let (_, rest) = line.split_once("--")?;
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()?;
        Some(name.to_owned())
    });
    let names: BTreeSet<String> = names.filter(|name| name != "help").collect();
    assert!(names.len() > 2, "the help is not understood: {help}");
    names.into_iter().collect()
}

/// A verb with options that are given a value.
struct Case {
    verb: &'static Verb,
    given: Vec<(String, &'static str)>,
}

impl Case {
    fn arguments(&self) -> Vec<String> {
        let given = |name: &str| self.given.iter().any(|(given, _)| given == name);
        let usual = self.verb.options.iter().filter(|(name, _)| !given(name));
        let option = |name: &str, value: &str| match value {
            "long" => format!("--{name}={}", "x".repeat(100_000)),
            value => format!("--{name}={value}"),
        };
        let mut all: Vec<String> = self.verb.words.iter().map(|&word| word.to_owned()).collect();
        // The input may be another, too.
        match self.given.iter().find(|(name, _)| name.is_empty()) {
            Some((_, input)) => all.extend(["--".to_owned(), (*input).to_owned()]),
            None => all.extend(self.verb.input.map(str::to_owned)),
        }
        let others = self.given.iter().filter(|(name, _)| !name.is_empty());
        let options = usual
            .map(|(name, value)| option(name, value))
            .chain(others.map(|(name, value)| option(name, value)));
        // What follows two dashes is no option.
        let at = self.verb.words.len();
        all.splice(at..at, options);
        all
    }
}

/// Every option with values, what did harm once, then pairs of options at random.
fn cases() -> Vec<Case> {
    let mut random = Random::new(13, 0);
    let mut cases = Vec::new();
    let names: Vec<Vec<String>> = VERBS.iter().map(options).collect();
    let named = |verb: usize, random: &mut Random| {
        let places = names[verb].len() + usize::from(VERBS[verb].input.is_some());
        // The input counts as an option without a name.
        names[verb].get(pick(random, places)).cloned().unwrap_or_default()
    };
    for (verb, names) in VERBS.iter().zip(&names) {
        let input = verb.input.map(|_| String::new());
        for name in names.iter().cloned().chain(input) {
            let count = effort(2, VALUES.len());
            let first = pick(&mut random, VALUES.len());
            for step in 0..count {
                // Steps that meet every value once; of a few, most are numbers.
                let value = (first + 13 * step) % VALUES.len();
                let value =
                    VALUES[if step + 1 < count && !is_long() { value % NUMBERS } else { value }];
                cases.push(Case { verb, given: vec![(name.clone(), value)] });
            }
        }
    }
    for (verb, given) in FOUND {
        let given = given.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        cases.push(Case { verb: &VERBS[verb], given });
    }
    for _ in 0..effort(20, 6000) {
        // The demonstration takes long.
        let verb = pick(&mut random, VERBS.len() - usize::from(!is_long()));
        let mut given = Vec::new();
        for _ in 0..2 {
            let name = named(verb, &mut random);
            if given.iter().all(|(other, _)| *other != name) {
                given.push((name, VALUES[pick(&mut random, VALUES.len())]));
            }
        }
        cases.push(Case { verb: &VERBS[verb], given });
    }
    cases
}

/// Proves that no value of an option makes the command panic, die, take more than 4 GB or go on for ever when it is told
/// to end; that an output is there only after success, with finite numbers; and that no input is replaced.
#[test]
fn option_values() {
    let inputs = inputs();
    let cases = cases();
    let endings = Mutex::new(std::collections::BTreeMap::<String, usize>::new());
    let wrong = in_parallel(cases.len(), |number| {
        let case = &cases[number];
        let folder = Folder::new();
        for (name, bytes) in INPUTS.iter().zip(&inputs) {
            folder.file(name, bytes);
        }
        let outcome = attack(case, &folder, &inputs);
        let ending = outcome.as_ref().map_or("wrong".to_owned(), Clone::clone);
        *endings.lock().expect("no panic").entry(ending).or_default() += 1;
        let mut given = format!("{:?} {:?}", case.verb.words, case.given);
        given.truncate(300);
        outcome.err().map(|reason| format!("{given}: {reason}"))
    });
    let endings = endings.into_inner().expect("no panic");
    println!("option values: {} runs: {endings:?}", cases.len());
    assert!(wrong.is_empty(), "{} are wrong: {wrong:#?}", wrong.len());
    assert!(endings.len() >= 3, "{endings:?} proves nothing");
}

/// A stack, a movie, a table, positions and a list of movies, all small.
fn inputs() -> Vec<Vec<u8>> {
    let folder = Folder::new();
    let run = |arguments: &[&str]| {
        let status = spotfit(&folder, "", "").args(arguments).status().expect("a shell");
        assert!(status.success(), "{arguments:?}: {}", words(status));
    };
    run(&["simulate", "--count", "20", "--size", "7", "-o", "spots.npy"]);
    let movie = ["--frames", "4", "--width", "64", "--height", "48", "-o", "movie.npy"];
    run(&[&["simulate", "movie"][..], &movie].concat());
    run(&["localize", "movie.npy", "-o", "table.csv", "--baseline", "100"]);
    folder.file("positions.csv", b"frame,x,y\n0,20,20\n1,30.5,20\n3,9,11\n");
    folder.file("list.txt", b"movie.npy\n");
    let decay = |x: u32| 10.0 * (-f64::from(x) / 7.0).exp() + 1.0;
    let rows = (0..40).map(|x| {
        let (well, y) = (["A", "B"][x as usize % 2], decay(x) + f64::from(x * 7 % 5) / 20.0);
        format!("{well},{x},{y},0.1,20\n")
    });
    let text = "0,time,y,y_sd,n\n".to_owned() + &rows.collect::<String>();
    folder.file("decays.csv", text.replace("A,", "1,").replace("B,", "2,").as_bytes());
    INPUTS.iter().map(|name| fs::read(folder.path(name)).expect("an input")).collect()
}

/// How the command ended, or what is wrong with that.
fn attack(case: &Case, folder: &Folder, inputs: &[Vec<u8>]) -> Result<String, String> {
    let messages = folder.0.path().with_extension("messages");
    let file = fs::File::create(&messages).expect("a file beside the folder");
    let mut child = spotfit(folder, "", "")
        .args(case.arguments())
        .stderr(Stdio::from(file))
        .spawn()
        .expect("a shell");
    let patience = Duration::from_secs(if is_long() { 10 } else { 3 });
    let process = child.id().to_string();
    // What ends soon takes some hundredths of a second of a processor: with a hundred, it goes on for long.
    let has_time = is_long() || nightly();
    let goes_on = || !has_time && worked(&process).is_some_and(|time| time >= 100);
    let ended = end_unless(&mut child, patience, goes_on);
    let status = match ended {
        Some(status) => status,
        None => {
            // Before that it would end as any other process.
            until(|| {
                let has_ended = child.try_wait().expect("a child").is_some();
                (has_ended || listens(&child)).then_some(())
            });
            signal(&child, "TERM");
            let Some(status) = end_within(&mut child, HANGS) else {
                kill(&mut child);
                return Err("no end".to_owned());
            };
            status
        }
    };
    let said = fs::read(&messages).expect("its messages");
    fs::remove_file(&messages).expect("its messages");
    let said = String::from_utf8_lossy(&said);
    let begin: String = said.chars().take(300).collect();
    if said.contains("panicked") || said.chars().any(|c| c.is_control() && c != '\n') {
        return Err(format!("it said {begin:?}"));
    }
    let new: Vec<String> =
        folder.names().into_iter().filter(|name| !INPUTS.contains(&name.as_str())).collect();
    for (name, bytes) in INPUTS.iter().zip(inputs) {
        let same = fs::read(folder.path(name)).is_ok_and(|found| found == *bytes);
        // What is no input of this verb is a file like any other to it.
        let is_input = case.verb.input == Some(*name) || !status.success();
        if is_input && !same && !replaced_by_input(case) {
            return Err(format!("{name} was replaced; {}", words(status)));
        }
    }
    match (ended.is_some(), status.code()) {
        (_, Some(0)) => finite(case, folder, &new).map(|()| "exit 0".to_owned()),
        (_, Some(1 | 2)) | (false, Some(130 | 143)) => {
            // The demonstration writes one file after the other, and a failure has a record.
            let several = [["demo"], ["batch"]].iter().any(|words| case.verb.words == words);
            let left =
                new.iter().any(|name| name.contains(".part")) || (!new.is_empty() && !several);
            if left {
                Err(format!("{}, but there is {new:?}", words(status)))
            } else if said.is_empty() {
                Err(format!("{} without a word", words(status)))
            } else {
                Ok(words(status))
            }
        }
        _ => Err(format!("{}: it said {begin:?}", words(status))),
    }
}

/// Whether the usual input is none of this case's.
fn replaced_by_input(case: &Case) -> bool {
    case.given.iter().any(|(name, _)| name.is_empty())
}

/// All numbers of the outputs are finite. A fit that failed is kept with `--all` only, and may lack some. Curves keep theirs: errors of
/// what data do not determine are infinite, and so are the ends of intervals that do not close, which their words say.
fn finite(case: &Case, folder: &Folder, new: &[String]) -> Result<(), String> {
    if case.given.iter().any(|(name, _)| name == "all") {
        return Ok(());
    }
    for name in new {
        let Ok(bytes) = fs::read(folder.path(name)) else { continue };
        if let Ok(mut reader) = NpyReader::new(&bytes[..], Some(bytes.len() as u64)) {
            let mut numbers = Vec::<f32>::new();
            if reader.header().number == NumberType::F32 {
                reader.read(usize::MAX, &mut numbers).map_err(|error| error.to_string())?;
            }
            if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
                return Err(format!("{name} has {number}"));
            }
        } else if let Ok(text) = String::from_utf8(bytes) {
            let is_bad = |row: &&str| {
                let said = ["not_converged", "_open", "_failed"];
                let may_be_infinite =
                    case.verb.words == ["curve"] && said.iter().any(|word| row.contains(word));
                let is_bad = |n: f64| n.is_nan() || n.is_infinite() && !may_be_infinite;
                row.split(',').any(|value| value.parse().is_ok_and(is_bad))
            };
            if let Some(row) = text.lines().find(is_bad) {
                return Err(format!("{name} has the row {row}"));
            }
        }
    }
    Ok(())
}
