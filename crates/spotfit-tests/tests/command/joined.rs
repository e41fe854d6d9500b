//! Several tables become one.

use std::fs;
use std::path::PathBuf;

use crate::common::{Folder, fails, rows, succeeds};

fn written(folder: &Folder, name: &str, text: &str) -> PathBuf {
    let path = folder.path(name);
    fs::write(&path, text).expect("a table");
    path
}

/// The columns of a table by its header.
fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let place = table[0].iter().position(|one| one.trim_matches('"') == name);
    let place = place.unwrap_or_else(|| panic!("{name} in {:?}", table[0]));
    table[1..].iter().map(|row| row[place].parse().expect("a number")).collect()
}

/// Proves that frames go on or stay, labels go on, and that lengths, origins and kinds of numbers become those of the first table.
#[test]
fn tables_become_one() {
    let folder = Folder::new();
    let one = written(
        &folder,
        "one.csv",
        "id,frame,x [nm],y [nm],molecule\n1,1,150.5,250,0\n2,4,300,400,1\n",
    );
    let two = written(&folder, "two.csv", "id,frame,x,y,molecule\n7,0,2,3,0\n8,2,4.25,5,2\n");
    let out = folder.path("all.csv");
    let words: [&dyn AsRef<std::ffi::OsStr>; 7] =
        [&"convert", &one, &two, &"-o", &out, &"--pixel-size", &"100"];
    let output = succeeds(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("4 localizations of 2 tables"), "{said}");
    let all = rows(&fs::read(&out).expect("a table"));
    assert_eq!(column(&all, "x [nm]"), [150.5, 300.0, 200.0, 425.0]);
    // Those of the first count from 1 and have four frames.
    assert_eq!(column(&all, "frame"), [1.0, 4.0, 5.0, 7.0]);
    assert_eq!(column(&all, "file"), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(column(&all, "molecule"), [0.0, 1.0, 2.0, 4.0]);
    let ids = column(&all, "id");
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    let record = fs::read_to_string(folder.path("all.csv.spotfit.json")).expect("a record");
    assert!(record.contains("one.csv") && record.contains("two.csv"), "{record}");

    succeeds(&[&words[..], &[&"--frames", &"keep", &"--unit", &"px"]].concat());
    let all = rows(&fs::read(&out).expect("a table"));
    assert_eq!(column(&all, "frame"), [0.0, 3.0, 0.0, 2.0].map(|frame| frame + 1.0));
    assert_eq!(column(&all, "x [px]"), [1.505, 3.0, 2.0, 4.25]);

    // What was joined is joined again, and from Picasso's tables, of which each says its own pixels.
    let (again, picasso, coarse) =
        (folder.path("again.csv"), folder.path("one.hdf5"), folder.path("two.hdf5"));
    succeeds(&[&"convert", &out, &out, &"-o", &again, &"--frames", &"keep"]);
    let all = rows(&fs::read(&again).expect("a table"));
    assert_eq!(column(&all, "file"), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    succeeds(&[&"convert", &one, &"-o", &picasso, &"--pixel-size", &"100"]);
    succeeds(&[&"convert", &two, &"-o", &coarse, &"--pixel-size", &"200"]);
    succeeds(&[&"convert", &picasso, &coarse, &"-o", &again]);
    let all = rows(&fs::read(&again).expect("a table"));
    assert_eq!(column(&all, "x [px]"), [1.505, 3.0, 4.0, 8.5]);
    // The corner of a pixel is half a pixel from its centre.
    let bare = written(&folder, "bare.csv", "frame,x,y\n0,10.5,3.5\n");
    let corner = folder.path("corner.csv");
    succeeds(&[&"convert", &bare, &"-o", &corner, &"--origin", &"corner"]);
    let centre = written(&folder, "centre.csv", "frame,x,y\n0,10,3\n");
    for (first, second, wanted) in [(&corner, &centre, 10.5), (&centre, &corner, 10.0)] {
        succeeds(&[&"convert", first, second, &"-o", &again]);
        let all = rows(&fs::read(&again).expect("a table"));
        assert_eq!(column(&all, "x [px]"), [wanted; 2], "{first:?}");
    }
}

/// Proves that tables that do not go together are refused, and that nothing is written then.
#[test]
fn tables_that_differ_are_refused() {
    let folder = Folder::new();
    let one = written(&folder, "one.csv", "frame,x [nm],y [nm],intensity\n1,10,20,5\n");
    let other = written(&folder, "other.csv", "frame,x,y,intensity\n1,10,20,5\n");
    let fewer = written(&folder, "fewer.csv", "frame,x [nm],y [nm]\n1,10,20\n");
    let words = written(&folder, "words.csv", "frame,x [nm],y [nm],intensity,w\n1,10,20,5,a\n");
    let numbers = written(&folder, "numbers.csv", "frame,x [nm],y [nm],intensity,w\n1,10,20,5,3\n");
    let late = written(&folder, "late.csv", "frame,x [nm],y [nm],intensity\n4294967295,1,2,5\n");
    let out = folder.path("all.csv");
    for (tables, wanted) in [
        ([&one, &other], ["other.csv", "the size of a pixel is not known"]),
        ([&one, &fewer], ["fewer.csv", "it lacks the column 'photons' of"]),
        ([&fewer, &one], ["fewer.csv", "it lacks the column 'photons' of"]),
        (
            [&words, &numbers],
            ["numbers.csv", "has words where that of the first table has numbers"],
        ),
        ([&late, &late], ["late.csv", "the number of a frame"]),
    ] {
        fails(&[&"convert", tables[0], tables[1], &"-o", &out], &wanted);
        assert!(!out.exists(), "{tables:?}");
    }
    fails(&[&"convert", &one, &"-o", &out, &"--frames", &"keep"], &["--frames", "there is one"]);
    fails(&[&"convert", &one, &late, &"-o", &late], &["replace an input"]);
    fails(&[&"convert", &"-", &"-", &"-o", &out], &["standard input"]);
}

/// Proves that what belongs to no group stays so, that times go on where they begin again, that a movie is as long as its record says, and
/// that Picasso's file has the frames of all.
#[test]
fn joined_movies_go_on() {
    let folder = Folder::new();
    let table = |frames: [usize; 3]| {
        let [a, b, c] = frames;
        let time = |frame: usize| 0.5 * (frame - 1) as f64;
        format!(
            "frame,x [nm],y [nm],group,time [s]\n{a},100,200,-1,{}\n{b},100,200,0,{}\n{c},100,200,2,{}\n",
            time(a),
            time(b),
            time(c)
        )
    };
    let one = written(&folder, "one.csv", &table([1, 3, 7]));
    let two = written(&folder, "two.csv", &table([1, 2, 4]));
    let out = folder.path("all.csv");
    let joined = || {
        succeeds(&[&"convert", &one, &two, &"-o", &out, &"--pixel-size", &"100", &"--overwrite"]);
        let all = rows(&fs::read(&out).expect("a table"));
        ["frame", "time [s]", "group"].map(|name| column(&all, name))
    };
    let [frames, times, groups] = joined();
    assert_eq!(frames, [1.0, 3.0, 7.0, 8.0, 9.0, 11.0]);
    assert_eq!(times, [0.0, 1.0, 3.0, 3.5, 4.0, 5.0]);
    assert_eq!(groups, [-1.0, 0.0, 2.0, -1.0, 3.0, 5.0]);
    // The record of the first says that its movie had ten frames.
    let record = r#"{"format": "spotfit record 1", "spotfit": "0.1.0", "verb": "localize", "state": "done",
        "counts": {"frames": 10, "localizations": 3}, "output": "one.csv", "options": {"frames": null}, "inputs": []}"#;
    written(&folder, "one.csv.spotfit.json", record);
    let [frames, times, _] = joined();
    assert_eq!(frames, [1.0, 3.0, 7.0, 11.0, 12.0, 14.0]);
    assert_eq!(times, [0.0, 1.0, 3.0, 5.0, 5.5, 6.5]);
    // Clocks that go on by themselves stay.
    let late = table([1, 2, 4])
        .replace(",0\n", ",60\n")
        .replace("0.5\n", "60.5\n")
        .replace("1.5\n", "61.5\n");
    fs::write(&two, late).expect("a table");
    assert_eq!(joined()[1], [0.0, 1.0, 3.0, 60.0, 60.5, 61.5]);
    let [first, second, all] = ["one.hdf5", "two.hdf5", "all.hdf5"].map(|name| folder.path(name));
    for (from, to) in [(&one, &first), (&two, &second)] {
        succeeds(&[&"convert", from, &"-o", to, &"--pixel-size", &"100"]);
    }
    succeeds(&[&"convert", &first, &second, &"-o", &all]);
    let text = fs::read_to_string(folder.path("all.yaml")).expect("a file beside it");
    assert!(text.contains("Frames: 11\n"), "{text}");
}
