//! `spotfit batch`: many movies, a table for each.

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use common::{Folder, rows, until};
use spotfit::output::Lock;

/// A camera that is known, so that there is nothing to warn about.
const CAMERA: [&str; 4] = ["--baseline", "100", "--sensitivity", "1"];

/// Runs the command in a folder: its exit status and what it says.
fn spotfit(folder: &Folder, words: &[&str]) -> (i32, String) {
    let output = command(folder, words).output().expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().unwrap_or(-1);
    assert_ne!(code, 101, "a panic: {said}");
    (code, said)
}

fn command(folder: &Folder, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"));
    command.args(words).current_dir(folder.0.path()).stdin(Stdio::null());
    command
}

#[track_caller]
fn does(folder: &Folder, words: &[&str]) -> String {
    let (code, said) = spotfit(folder, words);
    assert_eq!(code, 0, "{words:?}: {said}");
    said
}

/// It fails with status 1 and says all of this.
#[track_caller]
fn fails(folder: &Folder, words: &[&str], says: &[&str]) -> String {
    let (code, said) = spotfit(folder, words);
    assert_eq!(code, 1, "{words:?}: {said}");
    for part in says {
        assert!(said.contains(part), "'{part}' is missing in: {said}");
    }
    said
}

/// Simulates movies of so many frames, each unlike the others.
fn movies(folder: &Folder, names: &[&str], frames: usize) {
    for (index, name) in names.iter().enumerate() {
        let (seed, frames) = (index.to_string(), frames.to_string());
        let size = ["--width", "64", "--height", "56", "--spots", "6", "--read-noise", "0"];
        let words = [&["simulate", "movie", "--frames", &frames, "--seed", &seed], &size[..]];
        does(folder, &[&words.concat()[..], &["-o", name]].concat());
    }
}

/// `batch` with a known camera.
fn batch<'a>(manifest: &'a str, out: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&["batch", manifest, "--out", out], &CAMERA[..], words].concat()
}

/// All files of a folder.
fn files(folder: &Folder, name: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder.path(name)).expect("a folder");
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        (name, fs::read(entry.path()).expect("a file"))
    };
    entries.map(|entry| file(entry.expect("an entry"))).collect()
}

fn names(folder: &Folder, name: &str) -> Vec<String> {
    files(folder, name).into_keys().collect()
}

/// When each file of a folder was written, without the summary.
fn times(folder: &Folder, name: &str) -> BTreeMap<String, SystemTime> {
    let time = |name: String, path: &Path| {
        let metadata = fs::metadata(path).expect("a file");
        (name, metadata.modified().expect("a time"))
    };
    let all = names(folder, name).into_iter().filter(|file| file != "summary.csv");
    all.map(|file| time(file.clone(), &folder.path(name).join(&file))).collect()
}

/// The table that `localize` makes of a movie.
fn localized(folder: &Folder, movie: &str, ending: &str, words: &[&str]) -> Vec<u8> {
    let output = format!("alone.{ending}");
    does(folder, &[&["localize", movie, "-o", &output], words].concat());
    let bytes = fs::read(folder.path(&output)).expect("the table");
    fs::remove_file(folder.path(&output)).expect("the table");
    bytes
}

/// The cells of a column of a summary.
fn summary(folder: &Folder, name: &str, column: &str) -> Vec<String> {
    let table = rows(&fs::read(folder.path(name)).expect("a summary"));
    let at = table[0].iter().position(|name| name == column).expect("a column");
    table[1..].iter().map(|row| row[at].clone()).collect()
}

/// Proves that a plain list gives for each movie the bytes of `localize`, under the movie's name, that its paths count from
/// its folder, and that lines without a movie are skipped.
#[test]
fn a_list_gives_what_localize_gives() {
    let folder = Folder::new();
    fs::create_dir(folder.path("day")).expect("a folder");
    movies(&folder, &["day/a.tif", "day/b.ome.tif", "c.1.npy"], 20);
    folder.file("day/list.txt", b"# today\n\na.tif\r\n  \nb.ome.tif\n../c.1.npy");
    let said = does(&folder, &batch("day/list.txt", "deep/out", &[]));
    assert!(said.contains("3 movies: 3 localized now, 0 finished before, 0 failed"), "{said}");
    assert!(said.contains("frames/s") && !said.contains("warning"), "{said}");
    assert!(said.contains("\nread ") && said.contains(" s, detect "), "{said}");
    let made = files(&folder, "deep/out");
    assert_eq!(made.len(), 3 * 3 + 1);
    let pairs = [("day/a.tif", "a"), ("day/b.ome.tif", "b"), ("c.1.npy", "c.1")];
    for (movie, name) in pairs {
        let alone = localized(&folder, movie, "hdf5", &CAMERA);
        assert_eq!(made[&format!("{name}.hdf5")], alone, "{movie}");
        assert_eq!(made[&format!("{name}.yaml")], fs::read(folder.path("alone.yaml")).unwrap());
    }
    does(&folder, &batch("day/list.txt", "text", &["--format", "csv"]));
    let made = files(&folder, "text");
    assert_eq!(made.len(), 3 * 2 + 1);
    for (movie, name) in pairs {
        assert_eq!(made[&format!("{name}.csv")], localized(&folder, movie, "csv", &CAMERA));
    }
    assert_eq!(summary(&folder, "text/summary.csv", "movie"), ["a.tif", "b.ome.tif", "../c.1.npy"]);
    assert_eq!(summary(&folder, "text/summary.csv", "output"), ["a.csv", "b.csv", "c.1.csv"]);
    assert_eq!(summary(&folder, "text/summary.csv", "frames"), ["20"; 3]);
    let counts = pairs.map(|(_, name)| rows(&made[&format!("{name}.csv")]).len() - 1);
    let counts = counts.map(|count| count.to_string());
    assert_eq!(summary(&folder, "text/summary.csv", "localizations"), counts);
}

/// Proves that the cells of a table override and add to the words of the command line, that flags can be given and taken
/// away, that empty cells change nothing, that files in cells count from the manifest's folder, and that one movie may be
/// fitted twice under two names.
#[test]
fn cells_override_options() {
    let folder = Folder::new();
    fs::create_dir(folder.path("day")).expect("a folder");
    movies(&folder, &["day/a.tif", "day/b.tif"], 20);
    folder.file("day/places.csv", b"frame,x,y\n0,20,20\n3,30,31\n");
    let table = "\u{feff}# cells\n\noutput;movie;baseline;flags;positions;roi\n\
                 ;a.tif;90;true;;\n\n# the second\n\
                 \"b\";b.tif;;;;\n;;;;;\ntwo;a.tif;;false;places.csv;\nthree;b.tif;;;;0,0,40,30\n";
    folder.file("day/table.txt", table.as_bytes());
    does(&folder, &batch("day/table.txt", "out", &["--format", "csv", "--flags"]));
    let made = files(&folder, "out");
    let case = |name: &str, movie: &str, words: &[&str]| {
        assert_eq!(made[name], localized(&folder, movie, "csv", words), "{name}");
    };
    let flags = [&CAMERA[..], &["--flags"]].concat();
    case("a.csv", "day/a.tif", &["--baseline", "90", "--sensitivity", "1", "--flags"]);
    case("b.csv", "day/b.tif", &flags);
    let places = [&CAMERA[..], &["--positions", "day/places.csv"]].concat();
    case("two.csv", "day/a.tif", &places);
    case("three.csv", "day/b.tif", &[&flags[..], &["--roi", "0,0,40,30"]].concat());
    assert_eq!(made.len(), 4 * 2 + 1);
    // Another file under the same name is another option.
    folder.file("day/places.csv", b"frame,x,y\n0,20,20\n");
    let words = batch("day/table.txt", "out", &["--format", "csv", "--flags"]);
    let said = fails(&folder, &words, &["made before --positions places.csv was changed"]);
    assert!(said.contains("3 finished before, 1 failed"), "{said}");
}

/// Proves that the outputs have the same bytes however many movies are localized at a time and by however many processes,
/// and that their summaries together are that of one process.
#[test]
fn jobs_and_shards_change_nothing() {
    let folder = Folder::new();
    let all = ["a.tif", "b.tif", "c.tif", "d.tif", "e.tif"];
    movies(&folder, &all, 12);
    folder.file("list.txt", all.join("\n").as_bytes());
    does(&folder, &batch("list.txt", "one", &[]));
    let one = files(&folder, "one");
    assert_eq!(one.len(), 16);
    does(&folder, &batch("list.txt", "three", &["--jobs", "3", "--threads", "5"]));
    assert!(one == files(&folder, "three"), "--jobs");
    for shard in ["2/3", "1/3", "3/3"] {
        does(&folder, &batch("list.txt", "shards", &["--shard", shard, "--jobs", "2"]));
    }
    let mut shards = files(&folder, "shards");
    let parts = [1, 2, 3].map(|part| {
        let name = format!("summary-{part}-of-3.csv");
        rows(&shards.remove(&name).expect("a summary"))
    });
    assert_eq!(parts[1].iter().map(|row| &row[0]).collect::<Vec<_>>(), ["movie", "b.tif", "e.tif"]);
    let mut together: Vec<_> = parts.iter().flat_map(|part| &part[1..]).collect();
    together.sort();
    let whole = rows(&one["summary.csv"]);
    assert!(together == whole[1..].iter().collect::<Vec<_>>());
    let mut one = one;
    one.remove("summary.csv");
    assert!(one == shards, "--shard");
    does(&folder, &batch("list.txt", "few", &["--shard", "7/9"]));
    assert_eq!(names(&folder, "few"), ["summary-7-of-9.csv"]);
    for wrong in ["0/3", "4/3", "3", "a/b", "-1/2", "1/0"] {
        let shard = format!("--shard={wrong}");
        let (code, said) = spotfit(&folder, &batch("list.txt", "few", &[&shard]));
        assert!(code == 2 && said.contains("I/N"), "{wrong}: {said}");
    }
    let (code, said) = spotfit(&folder, &batch("list.txt", "few", &["--jobs", "0"]));
    assert!(code == 2 && said.contains("--jobs"), "{said}");
}

/// Proves that movies that are finished are not touched again, also when others are added, that the summary is the same on
/// every run, and that a version that is newer fits nothing again.
#[test]
fn finished_movies_are_skipped() {
    let folder = Folder::new();
    movies(&folder, &["a.tif", "b.tif", "c.tif"], 10);
    folder.file("list.txt", b"a.tif\nb.tif\n");
    does(&folder, &batch("list.txt", "out", &[]));
    let (first, when) = (files(&folder, "out"), times(&folder, "out"));
    let said = does(&folder, &batch("list.txt", "out", &["--threads", "1", "--jobs", "2"]));
    assert!(said.contains("0 localized now, 2 finished before, 0 failed"), "{said}");
    assert!(when == times(&folder, "out") && first == files(&folder, "out"));

    let record = String::from_utf8(first["a.hdf5.spotfit.json"].clone()).expect("text");
    let older = record.replace(env!("CARGO_PKG_VERSION"), "0.0.1");
    assert_ne!(record, older);
    folder.file("out/a.hdf5.spotfit.json", older.as_bytes());
    folder.file("list.txt", b"c.tif\na.tif\nb.tif\n");
    let when = times(&folder, "out");
    let said = does(&folder, &batch("list.txt", "out", &[]));
    assert!(said.contains("1 localized now, 2 finished before, 0 failed"), "{said}");
    let now = times(&folder, "out");
    assert!(when.iter().all(|(name, time)| now[name] == *time));
    assert_eq!(summary(&folder, "out/summary.csv", "state"), ["done"; 3]);

    // What somebody has removed is made again.
    let whole = files(&folder, "out");
    fs::remove_file(folder.path("out/b.yaml")).expect("a file");
    let said = does(&folder, &batch("list.txt", "out", &[]));
    assert!(said.contains("1 localized now, 2 finished before"), "{said}");
    assert!(whole == files(&folder, "out"));
}

/// Proves that a movie whose pixel size only its metadata give is finished also where widths are in nanometres, and that other
/// widths are noticed.
#[test]
fn widths_in_nanometres_are_remembered() {
    let folder = Folder::new();
    let size = r#"PhysicalSizeX="0.11" PhysicalSizeY="0.11""#;
    let metadata = common::set::ome("XYZCT", [1, 1, 3], size, "");
    let dark = vec![vec![100; 24 * 20]; 3];
    folder.file("a.tif", &common::set::frames(dark, (24, 20), &metadata, None));
    folder.file("list.txt", b"a.tif\n");
    let limits = ["--sigma-min", "90nm", "--sigma-max", "0.4um"];
    for (out, words) in [("fixed", &["--fixed-sigma", "150nm"][..]), ("limits", &limits)] {
        does(&folder, &batch("list.txt", out, words));
        let said = does(&folder, &batch("list.txt", out, words));
        assert!(said.contains("0 localized now, 1 finished before"), "{said}");
    }
    let reason = "--fixed-sigma 150nm then, 140nm now";
    fails(&folder, &batch("list.txt", "fixed", &["--fixed-sigma", "140nm"]), &[reason]);
}

/// Proves that outputs are not replaced when options or the movie have changed, or nothing says how they were made, that
/// the reason is told, and that `--overwrite` makes them again.
#[test]
fn changes_are_refused_without_overwrite() {
    let folder = Folder::new();
    movies(&folder, &["a.tif", "b.tif", "other.tif"], 10);
    folder.file("list.txt", b"a.tif\nb.tif\n");
    does(&folder, &batch("list.txt", "out", &[]));
    let first = files(&folder, "out");
    let other = ["batch", "list.txt", "--out", "out", "--baseline", "90", "--flags"];
    let said = fails(&folder, &other, &["--overwrite fits it again", "2 of 2 movies failed"]);
    let reason =
        "made with other options (--baseline 100.0 then, 90.0 now; --flags false then, true now)";
    assert!(said.contains(&format!("a.tif: {reason}")), "{said}");
    let mut now = files(&folder, "out");
    now.insert("summary.csv".to_owned(), first["summary.csv"].clone());
    assert!(first == now, "nothing was replaced");
    assert_eq!(summary(&folder, "out/summary.csv", "state"), ["failed"; 2]);
    // Tables of both formats stand side by side, each with its record.
    does(&folder, &batch("list.txt", "out", &["--format", "csv"]));
    for name in ["a", "b"] {
        for ending in ["csv", "csv.spotfit.json"] {
            fs::remove_file(folder.path(&format!("out/{name}.{ending}"))).expect("a file");
        }
    }

    does(&folder, &[&other[..], &["--overwrite"]].concat());
    let alone = ["--baseline", "90", "--flags"];
    assert_eq!(files(&folder, "out")["b.hdf5"], localized(&folder, "b.tif", "hdf5", &alone));
    does(&folder, &other);
    does(&folder, &batch("list.txt", "out", &["--overwrite"]));
    assert!(first == files(&folder, "out"));

    // The same movie at another time, and another one.
    let file = fs::File::options().append(true).open(folder.path("a.tif")).expect("the movie");
    file.set_modified(SystemTime::now() + Duration::from_secs(5)).expect("a time");
    fs::copy(folder.path("other.tif"), folder.path("b.tif")).expect("a copy");
    let reasons = ["a.tif: made before a.tif was changed", "b.tif: made before b.tif was changed"];
    fails(&folder, &batch("list.txt", "out", &[]), &reasons);
    let said = does(&folder, &batch("list.txt", "out", &["--overwrite"]));
    assert!(said.contains("2 localized now"), "{said}");

    folder.file("out/a.hdf5.spotfit.json", b"{\"state\": \"done\"}");
    fs::remove_file(folder.path("out/b.hdf5.spotfit.json")).expect("a record");
    let reasons = ["a.hdf5.spotfit.json: it is no record", "b.hdf5 is there", "no record"];
    fails(&folder, &batch("list.txt", "out", &[]), &reasons);
    assert!(!folder.path("out/b.hdf5.spotfit.json").exists());
}

/// Proves that a movie in several files is one, by its folder or a file of it, and that a change of any file is noticed, as
/// is one that came later.
#[test]
fn several_files_are_one_movie() {
    let folder = Folder::new();
    fs::create_dir(folder.path("set.1")).expect("a folder");
    let parts = ["set.1/x_MMStack_Pos0.ome.tif", "set.1/x_MMStack_Pos0_1.ome.tif"];
    movies(&folder, &parts, 7);
    folder.file("list.txt", format!("set.1/\n{}\n", parts[0]).as_bytes());
    let said = does(&folder, &batch("list.txt", "out", &[]));
    assert_eq!(said.matches("2 files are one movie").count(), 1, "{said}");
    assert_eq!(summary(&folder, "out/summary.csv", "frames"), ["14"; 2]);
    let made = files(&folder, "out");
    assert!(made["set.1.hdf5"] == localized(&folder, "set.1", "hdf5", &CAMERA));
    assert!(made.contains_key("x_MMStack_Pos0.hdf5"), "{:?}", made.keys());
    does(&folder, &batch("list.txt", "out", &[]));
    assert!(made == files(&folder, "out"));
    let file = fs::File::options().append(true).open(folder.path(parts[1])).expect("a file");
    file.set_modified(SystemTime::now() + Duration::from_secs(5)).expect("a time");
    let reason = "set.1/: made before x_MMStack_Pos0_1.ome.tif was changed";
    fails(&folder, &batch("list.txt", "out", &[]), &[reason, "2 of 2 movies failed"]);

    does(&folder, &batch("list.txt", "out", &["--overwrite"]));
    movies(&folder, &["set.1/x_MMStack_Pos0_2.ome.tif"], 7);
    let reason = "made before x_MMStack_Pos0_2.ome.tif was there";
    let said = fails(&folder, &batch("list.txt", "out", &[]), &["2 of 2 movies failed"]);
    assert_eq!(said.matches(reason).count(), 2, "{said}");
}

/// Proves that a movie that is missing, broken, or too small fails alone, with its reason in the message, the record and the
/// summary, the same on every run, and that it is localized once it is there.
#[test]
fn a_failure_is_one_movies_own() {
    let folder = Folder::new();
    movies(&folder, &["a.tif", "late.tif", "z.tif"], 10);
    let whole = fs::read(folder.path("a.tif")).expect("a movie");
    folder.file("broken.tif", &whole[..200]);
    folder.file("text.tif", b"no movie at all");
    fs::rename(folder.path("late.tif"), folder.path("later.tif")).expect("a movie");
    folder.file("list.txt", b"broken.tif\na.tif\nlate.tif\ntext.tif\nz.tif\n");
    let words = batch("list.txt", "out", &["--jobs", "2"]);
    let said = fails(&folder, &words, &["failed: late.tif", "3 of 5 movies failed"]);
    assert!(said.contains("2 localized now, 0 finished before, 3 failed"), "{said}");
    let states = ["failed", "done", "failed", "failed", "done"];
    assert_eq!(summary(&folder, "out/summary.csv", "state"), states);
    let errors = summary(&folder, "out/summary.csv", "error");
    assert!(errors[0].contains("broken.tif") && errors[2].contains("late.tif"), "{errors:?}");
    let first = files(&folder, "out");
    let text = String::from_utf8_lossy(&first["late.hdf5.spotfit.json"]);
    assert!(text.contains("\"failed\"") && text.contains("late.tif"), "{text}");
    assert!(!first.contains_key("broken.hdf5") && first.contains_key("z.hdf5"));
    fails(&folder, &batch("list.txt", "out", &[]), &["0 localized now, 2 finished before"]);
    assert!(first == files(&folder, "out"));
    fs::rename(folder.path("later.tif"), folder.path("late.tif")).expect("a movie");
    fails(&folder, &batch("list.txt", "out", &[]), &["1 localized now, 2 finished before"]);
    assert!(folder.path("out/late.hdf5").exists());
}

/// Proves that whatever is wrong with a manifest is told with its line, before anything is made.
#[test]
fn errors_of_the_manifest_have_their_line() {
    let folder = Folder::new();
    movies(&folder, &["a.tif", "b.tif"], 4);
    let cases: &[(&str, &[&str])] = &[
        ("", &["it is empty"]),
        ("# a.tif\n\n", &["it is empty"]),
        ("movie,baseline\n", &["it is empty"]),
        (
            "# x\nmovie,pixel_size\na.tif,100\n",
            &["line 2: unknown column 'pixel_size'", "pixel-size"],
        ),
        ("movie,gian\na.tif,1\n", &["line 1: unknown column 'gian'", "is em-gain"]),
        ("movie,threads,threads\na.tif,1,1\n", &["line 1: there are two columns 'threads'"]),
        (
            "movie,baseline\r\n\r\n# c\r\na.tif,90\r\nb.tif,dark\r\n",
            &["line 5: ", "'dark'", "--baseline"],
        ),
        ("movie,shape\na.tif,\nb.tif,square\n", &["line 3: ", "'square'", "elliptical"]),
        ("movie,flags\na.tif,yes\n", &["line 2: column flags: 'yes' is neither true nor false"]),
        ("movie,roi\na.tif,\"1,2\"\n", &["line 2: --roi 1,2 is out of its range"]),
        ("movie,frames\na.tif,9:3\n", &["line 2: --frames 9:3 is out of its range"]),
        ("movie,frames\na.tif,0:3\n", &["line 2: --frames 0:3", "counted from 1"]),
        ("movie,box\na.tif,8\n", &["line 2: --box 8 is out of its range"]),
        ("movie,pixel-size\na.tif,-3\n", &["line 2: --pixel-size -3 is out of its range"]),
        ("movie,filter\na.tif,photons >\n", &["line 2: the condition"]),
        ("movie,psf\na.tif,no.hdf5\n", &["line 2: no.hdf5: "]),
        ("movie,positions\na.tif,-\n", &["line 2: --positions -: standard input"]),
        ("movie,threshold,false-rate\na.tif,7,2\n", &["line 2: ", "cannot be used with"]),
        ("movie,baseline\na.tif\n", &["line 2: 1 cells, where the header has 2 columns"]),
        ("movie,baseline\n,90\n", &["line 2: there is no movie"]),
        ("a.tif\nb.tif\n./a.tif\n", &["line 3: ", "'a', like that of line 1", "column 'output'"]),
        ("movie,output\na.tif,\nb.tif,A\n", &["line 3: ", "'A', like that of line 2"]),
        ("movie,output\na.tif,../a\n", &["line 2: the output '../a' is no name"]),
        (
            "movie,output\na.tif,/a\nb.tif,..\n",
            &["line 2: the output '/a'", "line 3: the output '..'"],
        ),
        ("movie,output\na.tif,x.csv\n", &["line 2: ", "without its ending"]),
        ("a.tif\n..\n", &["line 2: '..' has no name"]),
    ];
    for (text, says) in cases {
        folder.file("m.txt", text.as_bytes());
        for part in fails(&folder, &batch("m.txt", "out", &[]), says).lines() {
            let named = part.starts_with("spotfit: m.txt: ") || part.starts_with("m.txt: ");
            assert!(named || part.starts_with(' ') || says[0].contains("condition"), "{part}");
        }
        assert!(!folder.path("out").exists(), "{text}");
    }
    folder.file("m.csv", b"a.tif\n");
    fails(&folder, &batch("m.csv", "out", &[]), &["m.csv: line 1: there is no column 'movie'"]);
    folder.file("m.txt", b"a.tif\n\xff\n");
    fails(&folder, &batch("m.txt", "out", &[]), &["m.txt: line 2: it is not text in UTF-8"]);
    fails(&folder, &batch("none.txt", "out", &[]), &["none.txt"]);
    // What is wrong on the command line is no line's fault.
    folder.file("m.txt", b"a.tif\nb.tif\n");
    let said = fails(&folder, &batch("m.txt", "out", &["--roi", "1,2"]), &["--roi 1,2"]);
    assert!(!said.contains("line"), "{said}");
    folder.file("m.txt", b"a.tif\nb.tif\n");
    fs::write(folder.path("a.yaml"), "not mine").expect("a file");
    let said = fails(&folder, &batch("m.txt", ".", &[]), &["line 1: ", "would replace"]);
    assert!(said.contains("a.yaml"), "{said}");
    folder.file("summary.csv", b"movie\na.tif\n");
    fails(
        &folder,
        &batch("summary.csv", ".", &["--format", "csv"]),
        &["would replace the manifest"],
    );
    assert_eq!(fs::read(folder.path("summary.csv")).unwrap(), b"movie\na.tif\n");
}

/// Proves that no manifest, however broken, makes the command panic or leave temporary files.
#[test]
fn broken_manifests_are_survived() {
    let folder = Folder::new();
    movies(&folder, &["a.tif", "b.tif"], 2);
    let whole = b"# x\nmovie,output,baseline,flags,roi,psf\r\n\"a.tif\",a,90,true,\"0,0,40,40\",\n\nb.tif,,,,,\n";
    let mut random = fit_sim::Random::new(5, 0);
    let mut endings = [0; 2];
    for _ in 0..60 {
        let mut text = whole.to_vec();
        for _ in 0..1 + (1.5 * random.uniform()) as usize {
            let at = (random.uniform() * text.len() as f64) as usize;
            let odd = b"\"\n\r,;\t#\0\xff/.-0atrue";
            let byte = odd[(random.uniform() * odd.len() as f64) as usize];
            match (random.uniform() * 3.0) as usize {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => drop(text.remove(at)),
            }
        }
        folder.file("m.csv", &text);
        let (code, said) = spotfit(&folder, &batch("m.csv", "out", &["--overwrite"]));
        assert!([0, 1].contains(&code), "{code}: {said}");
        endings[code as usize] += 1;
        let made = fs::read_dir(folder.path("out")).into_iter().flatten().flatten();
        let parts = made.filter(|file| file.file_name().to_string_lossy().contains(".part"));
        assert_eq!(parts.count(), 0, "{:?}", String::from_utf8_lossy(&text));
    }
    assert!(endings.iter().all(|&count| count > 2), "{endings:?} proves nothing");
}

/// Proves that a manifest may come from standard input, whose paths count from the current folder, and that each warning
/// is told once.
#[test]
fn standard_input_and_warnings() {
    let folder = Folder::new();
    movies(&folder, &["a.tif", "b.tif", "c.tif"], 10);
    let words = ["batch", "-", "--out", "out", "--jobs", "2"];
    let mut child = command(&folder, &words)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(b"movie,frames\na.tif,\nb.tif,3:5\nc.tif,:4\n").expect("it reads");
    drop(pipe);
    let output = child.wait_with_output().expect("its end");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(summary(&folder, "out/summary.csv", "frames"), ["10", "3", "4"]);
    for warning in ["no --baseline given", "no --sensitivity given"] {
        assert_eq!(said.matches(warning).count(), 1, "{said}");
    }
}

/// Proves that each movie whose noise contradicts the sensitivity that is given has its own warning: on the terminal, in its record and in
/// the summary, whose bytes are the same when all of them were finished before; and that the others have none.
#[test]
fn each_movie_has_its_warnings() {
    let folder = Folder::new();
    let words = "--frames 40 --width 64 --height 64 --spots 1 --background 200";
    for (name, sensitivity) in [("a.tif", "1"), ("b.tif", "3"), ("c.tif", "10"), ("d.tif", "0.1")] {
        let mut line = vec!["simulate", "movie", "-o", name, "--sensitivity", sensitivity];
        line.extend(words.split(' '));
        does(&folder, &line);
    }
    folder.file("list.txt", b"a.tif\nb.tif\nc.tif\nd.tif\n");
    let camera = ["--read-noise", "1"];
    let first = does(&folder, &batch("list.txt", "out", &camera));
    let whole = fs::read(folder.path("out/summary.csv")).expect("a summary");
    let mut table = csv::Reader::from_reader(&whole[..]);
    let at = table.headers().expect("names").iter().position(|name| name == "warnings");
    let at = at.expect("a column");
    let warnings = table.records().map(|row| row.expect("a row")[at].to_owned());
    let warnings: Vec<String> = warnings.collect();
    assert_eq!(warnings[0], "", "{first}");
    for (number, name) in [(1, "b"), (2, "c"), (3, "d")] {
        let warning = &warnings[number];
        assert!(warning.contains("sensitivity or EM gain is wrong"), "{name}: {warning}");
        assert!(!warnings[..number].contains(warning), "{warnings:?}");
        assert!(first.contains(&format!("({name}.tif)")), "{name}: {first}");
        let record = fs::read(folder.path(&format!("out/{name}.hdf5.spotfit.json")));
        let record: serde_json::Value =
            serde_json::from_slice(&record.expect("a record")).expect("JSON");
        assert_eq!(record["warnings"][0].as_str(), Some(warning.as_str()), "{record}");
    }
    assert!(first.contains("3 of the movies have warnings"), "{first}");
    let again = does(&folder, &batch("list.txt", "out", &camera));
    assert!(again.contains("4 finished before"), "{again}");
    assert!(fs::read(folder.path("out/summary.csv")).expect("a summary") == whole);
}

/// Proves that what a process leaves that was killed between two files of one movie is completed by the next run, to the
/// same bytes, and that its temporary files vanish; those of others stay.
#[test]
fn states_between_two_files_are_completed() {
    let folder = Folder::new();
    movies(&folder, &["a.tif", "b.tif"], 10);
    folder.file("list.txt", b"a.tif\nb.tif\n");
    does(&folder, &batch("list.txt", "out", &[]));
    let whole = files(&folder, "out");
    let record = String::from_utf8(whole["a.hdf5.spotfit.json"].clone()).expect("text");
    let begun = record.replace("\"done\"", "\"begun\"");
    for there in [&[][..], &["a.hdf5"], &["a.hdf5", "a.yaml"]] {
        folder.file("out/a.hdf5.spotfit.json", begun.as_bytes());
        for name in ["a.hdf5", "a.yaml"] {
            if !there.contains(&name) {
                fs::remove_file(folder.path("out").join(name)).expect("a file");
            }
        }
        for name in [".spotfit-a.hdf5-aBcD12.part", ".spotfit-b.hdf5.spotfit.json-abcdef.part"] {
            folder.file(&format!("out/{name}"), b"part");
        }
        let said = does(&folder, &batch("list.txt", "out", &[]));
        assert!(said.contains("1 localized now, 1 finished before"), "{said}");
        assert!(whole == files(&folder, "out"), "{there:?}");
    }
    let other = "out/.spotfit-other.hdf5-abcdef.part";
    folder.file(other, b"part");
    does(&folder, &batch("list.txt", "out", &[]));
    assert!(folder.path(other).exists());
}

/// The right to make a table: until it is given back, no run comes to its end.
fn locked(folder: &Folder, table: &str) -> Lock {
    Lock::take(&folder.path(table)).expect("a lock").expect("free")
}

/// Starts a run whose first movie, a.tif, another process is at, and gives the lock back with what is done then, when the
/// run has passed it over for its second movie: its status and what it says.
fn while_another_is_at_a(
    folder: &Folder,
    words: &[&str],
    and: impl FnOnce(),
) -> (Option<i32>, String) {
    let lock = locked(folder, "out/a.hdf5");
    let second = folder.path("out/.b.hdf5.spotfit-lock");
    let written = || fs::metadata(folder.path("out/b.hdf5.spotfit.json"))?.modified();
    let before = written().ok();
    let mut child = command(folder, words);
    let mut child = child.stderr(Stdio::piped()).spawn().expect("the command runs");
    let mut has_ended = || child.try_wait().expect("its state").is_some();
    // It may be done with it between two looks.
    until(|| (second.exists() || written().ok() != before || has_ended()).then_some(()));
    and();
    drop(lock);
    let output = child.wait_with_output().expect("its end");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Proves that also with `--overwrite` a run takes what another process makes meanwhile.
#[test]
fn a_movie_that_another_made_is_taken() {
    let folder = Folder::new();
    movies(&folder, &["a.tif", "b.tif"], 300);
    folder.file("list.txt", b"a.tif\nb.tif\n");
    does(&folder, &batch("list.txt", "out", &[]));
    let when = times(&folder, "out");
    let again = batch("list.txt", "out", &["--overwrite", "--backend", "reference"]);
    let record = folder.path("out/a.hdf5.spotfit.json");
    let text = fs::read_to_string(&record).expect("a record").replace("\"auto\"", "\"reference\"");
    let other = || fs::write(&record, text).expect("a record");
    let (code, said) = while_another_is_at_a(&folder, &again, other);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 localized now, 1 finished before"), "{said}");
    let now = times(&folder, "out");
    assert!(now["a.hdf5"] == when["a.hdf5"] && now["b.hdf5"] != when["b.hdf5"]);
}

/// Proves that no failure is recorded in place of a file of somebody else that came meanwhile, nor without the lock.
#[test]
fn failures_replace_nothing() {
    let folder = Folder::new();
    movies(&folder, &["a.tif", "b.tif"], 300);
    folder.file("list.txt", b"a.tif\nb.tif\n");
    fs::create_dir(folder.path("out")).expect("a folder");
    let record = folder.path("out/a.hdf5.spotfit.json");
    let words = batch("list.txt", "out", &["--backend", "reference"]);
    let stranger = || fs::write(&record, "{}").expect("a file");
    let (code, said) = while_another_is_at_a(&folder, &words, stranger);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("a.tif: a.hdf5.spotfit.json: it is no record"), "{said}");
    assert_eq!(fs::read(&record).expect("a file"), b"{}");
    fs::remove_file(&record).expect("a file");
    fs::create_dir(folder.path("out/.a.hdf5.spotfit-lock")).expect("a folder");
    fails(&folder, &words, &["a.tif", "is in the way", "1 of 2 movies failed"]);
    assert!(!record.exists());
}

/// Proves that rows that Picasso would not read are counted where they are left out: in the message, and in the record, which has
/// as many rows more in CSV.
#[test]
fn rows_that_are_left_out_are_counted() {
    let folder = Folder::new();
    movies(&folder, &["a.tif"], 20);
    folder.file("list.txt", b"a.tif\n");
    let words = ["--all", "--false-rate", "10000"];
    let said = does(&folder, &batch("list.txt", "out", &words));
    does(&folder, &batch("list.txt", "out", &[&words[..], &["--format", "csv"]].concat()));
    let count = |ending: &str, name: &str| {
        let text =
            fs::read(folder.path(&format!("out/a.{ending}.spotfit.json"))).expect("a record");
        let record: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        record["counts"][name].as_u64().expect("a count")
    };
    let left_out = count("hdf5", "left_out");
    assert!(left_out > 0 && count("csv", "left_out") == 0, "{said}");
    assert_eq!(count("hdf5", "localizations") + left_out, count("csv", "localizations"));
    assert!(said.contains(&format!("a.tif: {left_out} rows left out")), "{said}");
}

#[cfg(unix)]
mod signals {
    use super::*;
    use std::process::Child;

    /// How many movies are done in a folder, and whether one of them is being written.
    fn progress(folder: &Folder, out: &str) -> (usize, bool) {
        let entries = fs::read_dir(folder.path(out)).expect("a folder").flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.fold((0, false), |(done, is_written), name| {
            let record = || fs::read_to_string(folder.path(out).join(&name)).unwrap_or_default();
            let is_done = name.ends_with(".hdf5.spotfit.json") && record().contains("\"done\"");
            (done + usize::from(is_done), is_written || name.ends_with(".part"))
        })
    }

    /// Proves that a run that is killed at any instant loses nothing but the movies it was at: what is there is whole, and
    /// the same command makes the same bytes as one that nothing disturbed, and leaves nothing else.
    #[test]
    fn a_killed_run_goes_on() {
        let folder = Folder::new();
        let all = ["a.tif", "b.tif", "c.tif", "d.tif", "e.tif", "f.tif"];
        movies(&folder, &all, 100);
        folder.file("list.txt", all.join("\n").as_bytes());
        let words = ["--jobs", "2", "--errors", "--flags"];
        does(&folder, &batch("list.txt", "whole", &words));
        let whole = files(&folder, "whole");
        for round in 0..12 {
            let out = format!("out{round}");
            fs::create_dir(folder.path(&out)).expect("a folder");
            let lock = locked(&folder, &format!("{out}/f.hdf5"));
            let mut child = command(&folder, &batch("list.txt", &out, &words))
                .stderr(Stdio::null())
                .spawn()
                .expect("the command runs");
            // After each movie and, where it is seen, within the next: beyond five it waits for the sixth.
            let (movies, within) = (round / 2, round % 2 == 1);
            until(|| {
                let (done, is_written) = progress(&folder, &out);
                (done >= movies && (!within || is_written || done == 5)).then_some(())
            });
            child.kill().expect("it has no other end");
            assert!(!child.wait().expect("its end").success());
            drop(lock);
            for (name, bytes) in files(&folder, &out) {
                let begun = String::from_utf8_lossy(&bytes).contains("\"begun\"");
                let lock = name.starts_with('.') && name.ends_with(".spotfit-lock");
                let part = lock || name.starts_with(".spotfit-");
                assert!(part || begun || whole[&name] == bytes, "{round}: {name}");
            }
            let said = does(&folder, &batch("list.txt", &out, &words));
            assert!(movies == 0 || !said.contains(" 0 finished before"), "{round}: {said}");
            assert!(whole == files(&folder, &out), "round {round}: {:?}", names(&folder, &out));
        }
    }

    /// Proves that Ctrl-C ends the run with status 130, that finished movies stay and nothing else does, that it is said how
    /// many there are, and that the same command goes on.
    #[test]
    fn an_interrupted_run_goes_on() {
        let folder = Folder::new();
        let all = ["a.tif", "b.tif", "c.tif", "d.tif"];
        movies(&folder, &all, 100);
        folder.file("list.txt", all.join("\n").as_bytes());
        let slow = ["--backend", "reference", "--threads", "1", "--criteria", "tight"];
        does(&folder, &batch("list.txt", "whole", &slow));
        let whole = files(&folder, "whole");
        fs::create_dir(folder.path("out")).expect("a folder");
        let lock = locked(&folder, "out/d.hdf5");
        let mut child = command(&folder, &batch("list.txt", "out", &slow));
        let child = child.stderr(Stdio::piped()).spawn().expect("the command runs");
        until(|| (progress(&folder, "out").0 > 0).then_some(()));
        common::signal(&child, "INT");
        let output = child.wait_with_output().expect("its end");
        drop(lock);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.contains("of 4 movies are finished; the same command goes on"), "{said}");
        let left = files(&folder, "out");
        assert!(left.contains_key("a.hdf5") && !left.contains_key("d.hdf5"), "{:?}", left.keys());
        assert_eq!(left.len() % 3, 0, "{:?}", left.keys());
        assert!(left.iter().all(|(name, bytes)| whole[name] == *bytes));
        let said = does(&folder, &batch("list.txt", "out", &slow));
        assert!(!said.contains(" 0 finished before"), "{said}");
        assert!(whole == files(&folder, "out"));
    }

    /// Proves that two processes share a folder: together they localize each movie once, whatever instant one of them is killed
    /// at, whole movies are not touched again, and in the end there are the bytes of one process and nothing else.
    #[test]
    fn two_runs_share_a_folder() {
        let rounds = if common::thorough() { 20 } else { 3 };
        let folder = Folder::new();
        let all = ["a.tif", "b.tif", "c.tif", "d.tif", "e.tif", "f.tif"];
        movies(&folder, &all, 100);
        folder.file("list.txt", all.join("\n").as_bytes());
        let words = ["--threads", "1", "--errors", "--flags"];
        does(&folder, &batch("list.txt", "whole", &words));
        let whole = files(&folder, "whole");
        let start = |out: &str| {
            let mut child = command(&folder, &batch("list.txt", out, &words));
            child.stderr(Stdio::piped()).spawn().expect("the command runs")
        };
        let end = |child: Child| {
            let output = child.wait_with_output().expect("its end");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            let count = said.split(" movies: ").nth(1).and_then(|rest| rest.split(' ').next());
            count.and_then(|count| count.parse::<usize>().ok()).unwrap_or_else(|| panic!("{said}"))
        };
        // Whole movies: their tables and records, and when each was written. Other files come and go meanwhile.
        let done = |out: &str| {
            let names = all.iter().map(|name| name.replace(".tif", ".hdf5"));
            let names = names.map(|name| [format!("{name}.spotfit.json"), name]);
            let whole = |[record, table]: [String; 2]| {
                let at = |name: &str| folder.path(out).join(name);
                let text = fs::read_to_string(at(&record)).ok()?;
                let when = |name: &String| fs::metadata(at(name)).ok()?.modified().ok();
                let times = (when(&record)?, when(&table)?);
                text.contains("\"done\"").then_some((table, times))
            };
            names.filter_map(whole).collect::<BTreeMap<_, _>>()
        };
        let (one, other) = (start("both"), start("both"));
        let counts = [end(one), end(other)];
        assert_eq!(counts.iter().sum::<usize>(), 6, "{counts:?}");
        assert!(whole == files(&folder, "both"), "{:?}", names(&folder, "both"));

        let mut random = fit_sim::Random::new(4, 0);
        let mut before = 0;
        for round in 0..rounds {
            let out = format!("shared{round}");
            fs::create_dir(folder.path(&out)).expect("a folder");
            let lock = locked(&folder, &format!("{out}/f.hdf5"));
            let (mut dies, lives) = (start(&out), start(&out));
            let movies = (6.0 * random.uniform()) as usize;
            until(|| (progress(&folder, &out).0 >= movies).then_some(()));
            dies.kill().expect("it has no other end");
            assert!(!dies.wait().expect("its end").success());
            drop(lock);
            let there = done(&out);
            // A third one comes when the first is dead.
            let third = start(&out);
            let counts = [end(lives), end(third)];
            let made = counts.iter().sum::<usize>();
            assert!(
                made <= 6 && whole == files(&folder, &out),
                "{round}: {:?}",
                names(&folder, &out)
            );
            let now = done(&out);
            let kept = there.iter().all(|(table, times)| now.get(table) == Some(times));
            assert!(kept, "{round}: {there:?}, then {now:?}");
            before += there.len();
        }
        println!("{rounds} were killed; {before} movies were whole then");
    }
}
