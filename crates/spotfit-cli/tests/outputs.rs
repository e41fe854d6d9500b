//! How output files appear: which files a command may touch, what it says of the others, and where a stream goes.
#![cfg(unix)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::Folder;

const TABLE: &str = "\"id\",\"frame\",\"x [nm]\",\"y [nm]\",\"sigma [nm]\",\"intensity [photon]\",\"offset [photon]\",\"uncertainty_xy [nm]\"\n\
    1,1,1000,1000,130,500,10,10\n2,1,1020,1000,130,400,10,12\n3,2,1004,1002,130,300,10,14\n4,2,5000,5000,130,900,10,5\n";

/// A folder with a table of localizations.
fn with_table() -> Folder {
    let folder = Folder::new();
    folder.file("in.csv", TABLE.as_bytes());
    folder
}

/// Runs a line of the shell in a folder, where `spotfit` is the command; whatever waits is killed.
fn shell(folder: &Path, line: &str) -> Output {
    let line =
        format!("spotfit() {{ timeout 60 '{}' \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_spotfit"));
    let mut command = Command::new("bash");
    command.args(["-c", &line]).current_dir(folder).stdin(Stdio::null());
    command.output().expect("a shell")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn does(folder: &Path, line: &str) -> String {
    let output = shell(folder, line);
    assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
    said(&output)
}

/// It fails with status 1 and says all of this.
#[track_caller]
fn fails(folder: &Path, line: &str, says: &[&str]) {
    let output = shell(folder, line);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{line}: {said}");
    for part in says {
        assert!(said.contains(part), "{line}: '{part}' is missing in: {said}");
    }
}

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("a plain name");
        entry.path().is_file().then(|| (name, fs::read(entry.path()).expect("a file")))
    };
    entries.filter_map(file).collect()
}

/// Names that files of other people and programs are likely to have, or that a command would choose.
const STRANGERS: [&str; 29] = [
    "cells.yaml",
    "cal.yaml",
    "psf.yaml",
    "locs.yaml",
    "locs.csv",
    "summary.csv",
    "summary-1-of-2.csv",
    "maps.npz",
    "cells.inf",
    "cells.hdf5.spotfit.json",
    "fits.csv",
    "truth.csv",
    "windows.svg",
    "movie.tif",
    "movie-truth.csv",
    "movie.png",
    "beads.tif",
    "cal.svg",
    "depth.tif",
    "depth-truth.csv",
    "depth.csv",
    "straight.csv",
    "drift.csv",
    "drift.svg",
    "depth.png",
    ".cells.hdf5.part",
    ".spotfit-cells.part",
    "new.yaml.bak",
    "README",
];

/// Proves that no verb that writes touches a file that nobody named: in a folder full of files of other people all of them
/// stay, whether the verb writes beside them or has to refuse because its file would need the place of one.
#[test]
fn strangers_stay_as_they_are() {
    let (inputs, outputs) = (with_table(), Folder::new());
    let at = |name: &str| inputs.path(name);
    let (inputs_at, outputs_at) = (inputs.0.path(), outputs.0.path());
    does(
        inputs_at,
        "spotfit simulate movie -o cells.tif --frames 40 --width 64 --height 64 --spots 3 --truth m.csv &&
         spotfit simulate beads -o stack.tif --width 96 --height 96 --beads 12 --step 40 --signal 20000 &&
         spotfit simulate --count 5 --size 9 -o spots.npy && echo ../cells.tif > list.txt",
    );
    for name in STRANGERS {
        outputs.file(name, format!("{name} of somebody else\n").as_bytes());
    }
    let strangers = files(outputs_at);
    let camera = "--baseline 100 --sensitivity 1 --read-noise 1.5";
    let from = inputs_at.display();
    let verbs = [
        ("convert", format!("convert {from}/in.csv --pixel-size 100")),
        ("filter", format!("filter {from}/in.csv 'photons > 1' --pixel-size 100")),
        ("link", format!("link {from}/in.csv --pixel-size 100")),
        ("localize", format!("localize {from}/cells.tif --pixel-size 100 {camera}")),
    ];
    fs::write(at("list.txt"), format!("{from}/cells.tif\n")).expect("a list");
    // Each line, and what it says if it has to refuse.
    let mut lines: Vec<(String, &[&str])> = Vec::new();
    for (_, verb) in &verbs {
        lines.push((format!("{verb} -o cells.hdf5"), &["cells.yaml", "--overwrite"]));
        lines.push((format!("{verb} -o new.hdf5"), &[]));
        lines.push((format!("{verb} -o new.csv"), &[]));
        // What is there is ours now.
        lines.push((format!("{verb} -o new.hdf5"), &[]));
    }
    let calibrate = format!("calibrate {from}/stack.tif --step 40 --pixel-size 100 {camera}");
    let batch = format!("batch {from}/list.txt --out . --pixel-size 100 {camera}");
    let movie = "simulate movie --frames 2 --width 32 --height 32 -o new.tif";
    lines.extend::<[(String, &[&str]); 14]>([
        (format!("{calibrate} -o new-cal.yaml --plot new.svg"), &[]),
        (format!("{calibrate} --spline -o cal.hdf5"), &[]),
        (format!("z {from}/in.csv -o cells.hdf5 --calibration new-cal.yaml"), &[""]),
        (batch.clone(), &["summary.csv", "--overwrite"]),
        (format!("{batch} --shard 1/2"), &["summary-1-of-2.csv", "--overwrite"]),
        (format!("{batch} --shard 2/2"), &[]),
        (format!("{movie} --camera maps.npz"), &["maps.npz", "--overwrite"]),
        (format!("{movie} --camera new.npz --truth new.csv"), &[]),
        (format!("{movie} --camera new.npz"), &[]),
        (
            "simulate --count 2 --size 5 -o new.npy --camera maps.npz --corners new.csv".to_owned(),
            &["maps.npz", "--overwrite"],
        ),
        ("demo --out . --count 100".to_owned(), &["fits.csv", "depth.png", "--overwrite"]),
        (format!("render {from}/in.csv -o new.png"), &[]),
        (format!("stats {from}/in.csv -o new.html"), &[]),
        (format!("fit {from}/spots.npy -o new.csv"), &[]),
    ]);
    for (line, refused) in &lines {
        let line = format!("spotfit {line}");
        match refused {
            [] => drop(does(outputs_at, &line)),
            parts => fails(outputs_at, &line, parts),
        }
        let mut left = files(outputs_at);
        left.retain(|name, _| strangers.contains_key(name));
        assert!(left == strangers, "{line} changed a file of somebody else");
        let parts = files(outputs_at);
        let parts: Vec<&String> = parts
            .keys()
            .filter(|name| name.starts_with('.') && !strangers.contains_key(*name))
            .collect();
        assert!(parts.is_empty(), "{line} left {parts:?}");
    }
}

/// Proves that a YAML file beside a table is replaced if Spotfit wrote it and by the word `--overwrite`, and otherwise stays,
/// also if it is Picasso's, made of one of ours; and that a refused table is not written at all.
#[test]
fn a_sidecar_is_replaced_only_if_it_is_ours() {
    let folder = with_table();
    let at = folder.0.path();
    let (hdf5, yaml) = (folder.path("cells.hdf5"), folder.path("cells.yaml"));
    let convert = "spotfit convert in.csv -o cells.hdf5 --pixel-size";
    let read = || fs::read_to_string(&yaml).expect("YAML");
    does(at, &format!("{convert} 100"));
    does(at, &format!("{convert} 130"));
    assert!(read().contains("Pixelsize: 130.0") && read().contains("Generated by: Spotfit "));
    // A step of Picasso's after ours.
    let of_picasso = read() + "---\nGenerated by: 'Picasso v0.7.0 : Filter'\n";
    let table = fs::read(&hdf5).expect("a table");
    for stranger in [of_picasso.as_str(), "Spotfit: no\n", "Frames: 10\nWidth: 5\n", "\u{0}: [", ""]
    {
        fs::write(&yaml, stranger).expect("a file");
        fails(at, &format!("{convert} 100"), &["cells.yaml", "did not write it", "--overwrite"]);
        assert_eq!(read(), stranger);
        assert_eq!(fs::read(&hdf5).expect("a table"), table);
    }
    does(at, &format!("{convert} 100 --overwrite"));
    assert!(read().contains("Pixelsize: 100.0"));
    // The table is named, and replaced whatever it is.
    fs::write(&hdf5, "no table").expect("a file");
    does(at, &format!("{convert} 100"));
    assert!(fs::read(&hdf5).expect("a table").starts_with(b"\x89HDF"));
}

/// Proves that summaries, simulated maps and the demonstration's files are known again, and what `--overwrite` makes of others.
#[test]
fn other_files_that_nobody_named_have_a_sign() {
    let folder = Folder::new();
    let at = folder.0.path();
    does(
        at,
        "spotfit simulate movie -o a.tif --frames 10 --width 48 --height 48 && echo a.tif > list && mkdir out",
    );
    let batch = "spotfit batch list --out out --pixel-size px --baseline 100 --sensitivity 1";
    fs::write(folder.path("out/summary.csv"), "of,others\n").expect("a file");
    fails(at, batch, &["summary.csv", "did not write it", "--overwrite"]);
    assert!(!folder.path("out/a.hdf5").exists());
    does(at, &format!("{batch} --overwrite"));
    does(at, batch);
    assert!(fs::read_to_string(folder.path("out/summary.csv")).expect("CSV").starts_with("movie,"));

    let simulate = "spotfit simulate movie -o b.tif --frames 1 --width 48 --height 48 --camera";
    fs::write(folder.path("maps.npz"), "maps of a real camera").expect("a file");
    fails(at, &format!("{simulate} maps.npz"), &["maps.npz", "did not write it", "--overwrite"]);
    assert!(!folder.path("b.tif").exists());
    does(at, &format!("{simulate} maps.npz --overwrite"));
    does(at, &format!("{simulate} maps.npz"));
    does(at, "spotfit localize b.tif -o b.csv --camera maps.npz --pixel-size px");

    fs::write(folder.path("drift.svg"), "a drawing").expect("a file");
    fails(at, "spotfit demo --out .", &["drift.svg", "is there already", "--overwrite", "--out"]);
    assert!(!folder.path("fits.csv").exists());
}

/// Proves that a descriptor is written to, by whatever name: what is in the file behind it stays, later lines follow, and a
/// pipe takes it too.
#[test]
fn descriptors_are_written_to() {
    let folder = with_table();
    let at = folder.0.path();
    std::os::unix::fs::symlink("/dev/stdout", folder.path("link")).expect("a link");
    let same = |log: &str| {
        let text = fs::read_to_string(folder.path(log)).expect("a log");
        let table = text.strip_prefix("first\n").and_then(|rest| rest.strip_suffix("last\n"));
        table.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let filter = "spotfit filter in.csv 'photons > 1' -o";
    does(at, &format!("{filter} - > plain"));
    let plain = fs::read_to_string(folder.path("plain")).expect("a table");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", "./link"]
    {
        if name.starts_with("/proc") && !Path::new("/proc/thread-self/fd").exists() {
            continue;
        }
        does(at, &format!("echo first > log; {filter} {name} >> log; echo last >> log"));
        assert_eq!(same("log"), plain, "{name}");
        does(at, &format!("(echo first; {filter} {name}; echo last) > log"));
        assert_eq!(same("log"), plain, "{name}");
        does(at, &format!("{filter} {name} | cat > piped"));
        assert_eq!(fs::read_to_string(folder.path("piped")).expect("a table"), plain, "{name}");
    }
    does(at, &format!("(echo first >&3; {filter} /dev/fd/3; echo last >&3) 3> log"));
    assert_eq!(same("log"), plain);
    does(at, &format!("echo first > log; {filter} /dev/stderr 2>> log; echo last >> log"));
    assert!(same("log").starts_with(&plain));
    fails(at, &format!("{filter} /dev/fd/99"), &["/dev/fd/99"]);
    // A report is alone there, without its numbers after it.
    for name in ["-", "/dev/stdout"] {
        does(at, &format!("spotfit stats in.csv -o {name} > page"));
        let page = fs::read_to_string(folder.path("page")).expect("a page");
        assert!(page.trim_end().ends_with("</html>"), "{name}: {page}");
        let line = format!("spotfit stats in.csv -o {name} --json");
        fails(at, &line, &["--json", "write the report to a file"]);
    }
    // Both would be on standard output.
    let both = "spotfit drift in.csv -o - --table /dev/stdout | cat; exit ${PIPESTATUS[0]}";
    fails(at, both, &["/dev/stdout", "the same file"]);
}

/// Proves that a pipe where a file is to be is an error that names it, or nothing to care about, and never waited for.
#[test]
fn pipes_in_place_of_files_are_not_waited_for() {
    let folder = with_table();
    let at = folder.0.path();
    does(at, "mkfifo .spotfit-new.csv-abcdef.part && spotfit convert in.csv -o new.csv");
    does(at, "spotfit convert in.csv -o in.hdf5 --pixel-size 100 && rm in.yaml && mkfifo in.yaml");
    fails(at, "spotfit convert in.hdf5 -o new.csv", &["in.yaml", "not a file"]);
    for word in ["", " --overwrite"] {
        let line = format!("spotfit convert in.csv -o in.hdf5 --pixel-size 100{word}");
        fails(at, &line, &["in.yaml", "other than a file"]);
    }
    does(
        at,
        "spotfit simulate movie -o a.tif --frames 3 --width 48 --height 48 && echo a.tif > list && mkdir out",
    );
    let batch = "spotfit batch list --out out --pixel-size px --baseline 100 --sensitivity 1";
    fails(
        at,
        &format!("mkfifo out/a.hdf5.spotfit.json; {batch}"),
        &["a.hdf5.spotfit.json", "no file"],
    );
    fails(at, &format!("rm out/*; mkfifo out/summary.csv; {batch}"), &["summary.csv"]);
}

/// Proves that the folder that is missing is named, and no file that nobody knows.
#[test]
fn a_missing_folder_is_named() {
    let folder = with_table();
    let at = folder.0.path();
    for line in [
        "convert in.csv -o none/new.csv",
        "render in.csv -o none/new.png",
        "stats in.csv -o none/new.html",
        "drift in.csv -o new.csv --table none/new.csv",
        "simulate --count 2 --size 5 -o none/new.npy",
        "simulate --count 2 --size 5 -o new.npy --truth none/new.csv",
    ] {
        let output = shell(at, &format!("spotfit {line}"));
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(
            said.contains("cannot write none/new.") && said.contains("no folder none"),
            "{said}"
        );
        assert!(!said.contains(".part"), "{said}");
    }
    fails(at, "spotfit convert in.csv -o in.csv/new.csv", &["in.csv is no folder"]);
    assert_eq!(folder.names(), ["in.csv"]);
}

/// Proves that a name whose ending promises something else is refused with those that would do, before the input is even
/// opened; and that the name of a folder is none of a file.
#[test]
fn endings_that_do_not_fit_are_refused() {
    let folder = with_table();
    let at = folder.0.path();
    for (line, says) in [
        ("drift none.csv -o new.csv --plot x.png", ["x.png", "ends in .svg"]),
        ("drift none.csv -o new.csv --table x.svg", ["x.svg", "ends in .csv"]),
        ("drift none.csv -o x.png", ["x.png", "ends in .csv, or in .hdf5"]),
        ("stats none.csv -o x.png", ["x.png", "ends in .html"]),
        ("render none.csv -o x.svg", ["x.svg", "ends in .png, .tif or .tiff"]),
        ("fit none.npy -o x.svg", ["x.svg", "end in .csv or .npy"]),
        ("curve none.npy -m line -o x.svg", ["x.svg", "end in .csv or .npy"]),
        ("calibrate none.tif --step 20 -o x.txt", ["x.txt", "ends in .yaml or .yml"]),
        ("calibrate none.tif --step 20 -o x.yaml --plot x.png", ["x.png", "ends in .svg"]),
        ("calibrate none.tif --step 20 --spline -o x.csv", ["x.csv", "ends in .hdf5 or .h5"]),
        ("simulate --count 2 --size 5 -o x.svg", ["x.svg", "end in .npy"]),
        ("simulate --count 2 --size 5 -o x.npy --truth x.svg", ["x.svg", "ends in .csv"]),
        ("simulate movie -o x.png", ["x.png", "ends in .tif or .npy"]),
        ("simulate movie -o x.tif --truth x.npy", ["x.npy", "ends in .csv"]),
        ("filter none.csv -o x.png", ["x.png", "ends in .csv, or in .hdf5"]),
        ("convert in.csv -o new.csv/", ["new.csv/", "that of a folder"]),
        ("fit none.npy -o new.csv/", ["new.csv/", "that of a folder"]),
        ("render none.csv -o new.png/", ["new.png/", "that of a folder"]),
        ("drift none.csv -o new.csv --plot new.svg/", ["new.svg/", "that of a folder"]),
        ("simulate --count 2 --size 5 -o new.npy/", ["new.npy/", "that of a folder"]),
        ("simulate movie -o new.tif/", ["new.tif/", "that of a folder"]),
    ] {
        fails(at, &format!("spotfit {line}"), &says);
    }
    assert_eq!(folder.names(), ["in.csv"]);
}

/// Proves that whatever is printed ends quietly, and with success, where nobody reads it.
#[test]
fn a_closed_pipe_is_no_reason_to_complain() {
    let folder = with_table();
    for words in [
        &["filter", "in.csv", "--columns"][..],
        &["model"],
        &["model", "exponential", "--show"],
        &["devices"],
        &["stats", "in.csv", "--no-nena", "--no-frc", "--json"],
        &["stats", "in.csv", "--no-nena", "--no-frc", "-o", "-"],
        &["filter", "in.csv", "photons > 1", "-o", "-"],
        &["filter", "in.csv", "photons > 1", "-o", "/dev/stdout"],
        &["simulate", "--count", "3", "--size", "9", "-o", "/dev/fd/1"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_spotfit"));
        command.args(words).current_dir(folder.0.path()).stdout(writer);
        let output = command.output().expect("the command runs");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", said(&output));
        assert!(!said(&output).contains("panic"), "{words:?}: {}", said(&output));
    }
}

/// Proves that the size of a pixel is known before a pipe is read, as it is for a file.
#[test]
fn pipes_heed_the_size_of_a_pixel() {
    let folder = with_table();
    let at = folder.0.path();
    folder.file("mixed.csv", b"frame,x [nm],y [px],sigma [px]\n1,1000.5,7,1.5\n");
    let convert = "spotfit convert --pixel-size 100 -o";
    does(at, &format!("{convert} file.csv mixed.csv && cat mixed.csv | {convert} pipe.csv -"));
    let read = |name: &str| fs::read_to_string(folder.path(name)).expect("a table");
    assert_eq!(read("pipe.csv"), read("file.csv"));
    assert!(read("pipe.csv").contains("1000.5,700,150"), "{}", read("pipe.csv"));
    let wrong = "cat mixed.csv | spotfit convert --pixel-size 0 -o pipe.csv -";
    fails(at, wrong, &["--pixel-size", "1e-6"]);
}
