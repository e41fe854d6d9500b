//! Outputs that would be written over something.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use spotfit::ring::{PixelType, RingLayout, RingPixels, RingWriter, now};

use super::inputs::{INPUTS, files, said, shell};
use super::table::{CASES, Case};
use crate::common::{Folder, for_each_in_parallel, nightly, succeeds};

/// What has the name of an output already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum There {
    /// Another name of a file that is read.
    HardLink(usize),
    SymbolicLink(usize),
    /// A link to another output, which is not there yet.
    Other(usize),
    Folder,
    Ring,
    /// A file of somebody else, where a record tells those of ours.
    Stranger,
}

/// The files that a case reads, by their names in the folder of the inputs.
fn inputs(case: &Case) -> Vec<&'static str> {
    let words = case.words.split(' ').filter_map(|word| word.strip_prefix("{}/"));
    words.filter(|name| !name.ends_with(".txt")).collect()
}

fn ring(path: &Path) -> RingWriter {
    let layout = RingLayout::new(4, 2, PixelType::U16, 4).expect("a layout");
    let mut writer = RingWriter::create(path.to_str().expect("text"), layout).expect("a ring");
    writer.write(0, now(), RingPixels::U16(&[7; 8])).expect("a frame");
    writer
}

/// Tries a case where an output has the name of something that is there: an error with that name, and nothing is touched.
#[track_caller]
fn is_refused(case: &Case, output: usize, there: There) {
    let folder = Folder::new();
    let at = folder.0.path();
    fs::create_dir(folder.path("in")).expect("a folder");
    for name in inputs(case) {
        for file in [Path::new(name).to_owned(), Path::new(name).with_extension("yaml")] {
            let from = INPUTS.path(file.to_str().expect("text"));
            if from.is_file() {
                fs::copy(from, folder.path("in").join(&file)).expect("a copy");
            }
        }
    }
    let names = case.names("new");
    let own = folder.path(&names[output]);
    let mut writer = None;
    match there {
        There::HardLink(input) => {
            fs::hard_link(folder.path("in").join(inputs(case)[input]), &own).expect("a link");
        }
        There::SymbolicLink(input) => {
            symlink(Path::new("in").join(inputs(case)[input]), &own).expect("a link");
        }
        There::Other(other) => symlink(&names[other], &own).expect("a link"),
        There::Folder => fs::create_dir(&own).expect("a folder"),
        There::Ring => writer = Some(ring(&own)),
        There::Stranger => fs::write(&own, "of somebody else\n").expect("a file"),
    }
    let before = (files(at), files(&folder.path("in")), folder.names());
    let line = case.with(&names).replace(INPUTS.0.path().to_str().expect("text"), "in");
    let run = shell(at, &line);
    let told = said(&run);
    assert_eq!(run.status.code(), Some(1), "{there:?}: {line}: {told}");
    // Of two outputs with one name either may be told.
    let named = |name: &String| told.contains(name.as_str());
    assert!(names.iter().any(named), "{there:?}: {line}: {told}");
    if there == There::Stranger {
        assert!(told.contains("--overwrite"), "{line}: {told}");
    }
    let after = (files(at), files(&folder.path("in")), folder.names());
    assert!(before == after, "{there:?}: {line} touched something: {:?}", folder.names());
    drop(writer);
}

/// Proves for every option of every verb that names a file to write, as the list of the command's words has them, that nothing which is read
/// is written over, by whatever link it is named; nor another output, a folder, a ring of frames, or a result of somebody else: each is an
/// error before anything is touched. An option that is new is missing in the table first.
#[test]
fn no_output_takes_the_place_of_something_else() {
    let told: serde_json::Value =
        serde_json::from_slice(&succeeds(&[&"options"]).stdout).expect("JSON");
    let mut written = BTreeSet::new();
    for (verb, words) in told.as_object().expect("verbs") {
        for option in words["options"].as_array().expect("options") {
            let name = option["name"].as_str().expect("a name");
            let help = option["help"].as_str().unwrap_or_default();
            let says = ["Where to write", "Where to draw", "written to this file", "Write each"];
            let writes = says.iter().any(|says| help.contains(says));
            let kind = option["written"].as_str();
            let is_other = !writes || option["positional"] == true || option["switch"] == true;
            assert!(kind.is_some() || is_other, "{verb} --{name} has no type of what is written");
            if let Some(kind) = kind {
                written.insert((verb.as_str(), name, kind));
            }
        }
    }
    let others: BTreeSet<_> = written.iter().filter(|(.., kind)| *kind != "file").collect();
    let known = [
        ("batch", "out", "folder"),
        ("demo", "out", "folder"),
        ("track", "ring-out", "ring"),
        ("view", "output", "folder"),
    ];
    assert_eq!(others, known.iter().collect::<BTreeSet<_>>());
    let mut tries = Vec::new();
    let mut tried = BTreeSet::new();
    for (number, case) in CASES.iter().enumerate() {
        let verb = case.words.split(' ').next().unwrap_or_default();
        let verb = match case.words.split(' ').nth(1) {
            Some(below) if verb == "simulate" && !below.starts_with('-') => {
                format!("simulate {below}")
            }
            _ => verb.to_owned(),
        };
        let options = told[&verb]["options"].as_array().expect("options");
        let has_record = options.iter().any(|option| option["name"] == "no-record");
        for (output, (option, _)) in case.outputs.iter().enumerate() {
            let name = if *option == "-o" { "output" } else { option.trim_start_matches("--") };
            tried.insert((verb.clone(), name));
            let links = (0..inputs(case).len())
                .flat_map(|input| [There::HardLink(input), There::SymbolicLink(input)]);
            let others = (0..output).map(There::Other);
            let all = links.chain(others).chain([There::Folder, There::Ring]);
            // Of picks the table has a record.
            let recorded = if verb == "pick" { "locs" } else { "output" };
            let all = all.chain((has_record && name == recorded).then_some(There::Stranger));
            let all: Vec<There> = all.collect();
            // By day two for each output, of another kind from case to case; at night all.
            let count = if nightly() { all.len() } else { 2.min(all.len()) };
            tries.extend((0..count).map(|at| {
                (case, output, all[(at * all.len() / count + number + output) % all.len()])
            }));
        }
    }
    let all = written.iter().filter(|(verb, _, kind)| *kind == "file" && *verb != "view");
    let all: BTreeSet<_> = all.map(|(verb, name, _)| ((*verb).to_owned(), *name)).collect();
    assert_eq!(
        tried, all,
        "an option of what is written is not in the table, or one in it is not written"
    );
    let kinds: BTreeSet<_> = tries
        .iter()
        .map(|(.., there)| std::mem::discriminant(there).to_owned())
        .map(|kind| format!("{kind:?}"))
        .collect();
    assert_eq!(kinds.len(), 6, "{kinds:?}");
    for_each_in_parallel(&tries, |&(case, output, there)| is_refused(case, output, there));
}

/// Ends the thread that keeps rings alive.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Proves that a tracker takes no ring of a living program, be it the one that it reads, by any name; that neither its table nor its plot
/// is a ring or has the name of its own; that a pipe and a folder are no rings; and that what is there stays.
#[test]
fn rings_of_others_stay() {
    let folder = Folder::new();
    let at = folder.0.path();
    let mut writers =
        ["camera", "other", "drift.csv", "drift.svg"].map(|name| ring(&folder.path(name)));
    symlink("camera", folder.path("link")).expect("a link");
    fs::hard_link(folder.path("camera"), folder.path("hard")).expect("a link");
    assert!(shell(at, "mkfifo pipe; mkdir folder").status.success());
    let before =
        |folder: &Folder| (files(folder.0.path()).into_keys().collect::<Vec<_>>(), folder.names());
    let names = before(&folder);
    // Whoever writes a ring says that it is alive, however busy the machine is.
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let alive = threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                writers.iter_mut().for_each(|writer| writer.alive().expect("a ring"));
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        // Also where a case fails: the thread must end.
        let ends = Ends(&done);
        for (words, says) in [
            ("--ring-out ./camera", "would replace an input"),
            ("--ring-out ./link", "would replace an input"),
            ("--ring-out ./hard", "would replace an input"),
            ("--ring-out ./other", "that of another program"),
            ("-o new.csv --ring-out ./new.csv", "the same file"),
            ("--plot new.svg --ring-out ./new.svg", "the same file"),
            ("-o drift.csv", "a ring of frames"),
            ("--plot drift.svg -o -", "a ring of frames"),
            ("--ring-out ./pipe", "no ring"),
            ("--ring-out ./folder", "no ring"),
        ] {
            let line = format!("spotfit track ring:./camera --idle 600 {words}");
            let run = shell(at, &line);
            let told = said(&run);
            assert_eq!(run.status.code(), Some(1), "{line}: {told}");
            assert!(told.contains(says), "{line}: {told}");
            assert!(before(&folder) == names, "{line}: {:?}", folder.names());
        }
        drop(ends);
        alive.join().expect("rings");
    });
    for (name, writer) in ["camera", "other", "drift.csv", "drift.svg"].iter().zip(&mut writers) {
        writer.write(1, now(), RingPixels::U16(&[9; 8])).expect("it is there");
        let bytes = fs::read(folder.path(name)).expect("a ring");
        assert!(
            bytes.starts_with(b"SPOTRING") && bytes.windows(2).any(|two| two == [9, 0]),
            "{name}"
        );
    }
    for verb in ["batch list.txt", "demo"] {
        fs::write(folder.path("file"), "of somebody else\n").expect("a file");
        let run = shell(at, &format!("echo movie.tif > list.txt; spotfit {verb} --out file"));
        assert_eq!(run.status.code(), Some(1), "{verb}");
        assert!(said(&run).contains("no folder"), "{verb}: {}", said(&run));
    }
}
