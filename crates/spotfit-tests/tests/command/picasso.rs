//! `--picasso`: every verb that writes tables writes those of either Picasso, with the same localizations.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Folder, fails, rows, succeeds};
use spotfit::table::{Table, Unit};

type Word<'a> = &'a dyn AsRef<std::ffi::OsStr>;

/// Proves that two tables hold the same localizations, the one in pixels and the other in nanometres.
fn same(pixels: &Path, nanometres: &Path) {
    let [zero, one] = [pixels, nanometres].map(|path| Table::load(path).expect("a table"));
    assert_eq!(zero.length_unit().expect("x"), Unit::Pixel);
    assert_eq!(one.length_unit().expect("x"), Unit::Nanometre);
    assert!(zero.rows() > 0);
    let names = |table: &Table| {
        table.columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&zero), names(&one));
    for column in zero.columns() {
        let of = |table: &Table| match column.is_length() {
            true => table.lengths(&column.name, Unit::Nanometre).expect("lengths").into_owned(),
            false => table.values(&column.name).expect("values").to_vec(),
        };
        for (zero, one) in of(&zero).iter().zip(of(&one)) {
            assert!((zero - one).abs() <= 4e-7 * one.abs(), "{}: {zero}, {one}", column.name);
        }
    }
}

/// Runs a verb for either Picasso.
fn both(folder: &Folder, words: &[Word<'_>]) -> [PathBuf; 2] {
    ["0", "1"].map(|version| {
        let out = folder.path(&format!("{}-{version}.hdf5", words[0].as_ref().display()));
        let more: [Word<'_>; 4] = [&"-o", &out, &"--picasso", &version];
        succeeds(&[words, &more].concat());
        out
    })
}

/// Proves that a movie's table and those made of it hold the same for either Picasso, whichever they were made of, and that a CSV table stays
/// what it is.
#[test]
fn verbs_write_either_form() {
    let folder = Folder::new();
    let movie = folder.path("movie.tif");
    let few: [Word<'_>; 6] = [&"--frames", &"20", &"--width", &"64", &"--height", &"64"];
    let simulate: [Word<'_>; 4] = [&"simulate", &"movie", &"-o", &movie];
    succeeds(&[&simulate[..], &few].concat());
    let size: [Word<'_>; 2] = [&"--pixel-size", &"110"];
    let [zero, one] = both(&folder, &[&"localize", &movie, size[0], size[1]]);
    same(&zero, &one);
    for locs in [&zero, &one] {
        let filter: [Word<'_>; 3] = [&"filter", locs, &"photons > 100"];
        let convert: [Word<'_>; 2] = [&"convert", locs];
        let link: [Word<'_>; 4] = [&"link", locs, &"--radius", &"50nm"];
        for words in [&filter[..], &convert, &link] {
            let [zero, one] = both(&folder, words);
            same(&zero, &one);
        }
    }
    let csv = |locs: &Path, version: &str| {
        let out = folder.path("out.csv");
        succeeds(&[&"convert", &locs, &"-o", &out, &"--picasso", &version]);
        fs::read(&out).expect("a table")
    };
    assert_eq!(csv(&one, "0"), csv(&one, "1"));
    assert!(rows(&csv(&one, "1"))[0].contains(&"\"x [nm]\"".to_owned()));
}

/// Proves that the word is refused where it means nothing, and that a table for Picasso 1.0 needs the size of a pixel.
#[test]
fn what_is_wrong_is_named() {
    let folder = Folder::new();
    let (locs, out) = (folder.path("locs.csv"), folder.path("out.hdf5"));
    fs::write(&locs, "frame,x,y\n0,1,2\n").expect("a table");
    succeeds(&[&"convert", &locs, &"-o", &out]);
    let one: [Word<'_>; 6] = [&"convert", &locs, &"-o", &out, &"--picasso", &"1"];
    fails(&one, &["the size of a pixel is not known", "--pixel-size"]);
    succeeds(&[&one[..], &[&"--pixel-size", &"100"]].concat());
    assert_eq!(Table::load(&out).expect("a table").values("x").expect("x"), [100.0]);
    let output = common::spotfit(&[&"convert", &locs, &"-o", &out, &"--picasso", &"2"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--picasso") && said.contains("0 or 1"), "{said}");
}

/// Proves that `batch` writes either form, and does not take the one for the other when it goes on.
#[test]
fn batch_writes_either_form() {
    let folder = Folder::new();
    let (movie, list, out) =
        (folder.path("movie.tif"), folder.path("list.csv"), folder.path("out"));
    succeeds(&[&"simulate", &"movie", &"-o", &movie, &"--frames", &"5", &"--spots", &"5"]);
    fs::write(&list, "movie\nmovie.tif\n").expect("a list");
    let words: [Word<'_>; 6] = [&"batch", &list, &"--out", &out, &"--pixel-size", &"100"];
    let unit = || Table::load(out.join("movie.hdf5")).expect("a table").length_unit().expect("x");
    succeeds(&words);
    assert_eq!(unit(), Unit::Pixel);
    let one = [&words[..], &[&"--picasso", &"1"]].concat();
    fails(&one, &["made with other options (--picasso not given then, 1 now)"]);
    assert_eq!(unit(), Unit::Pixel);
    succeeds(&[&one[..], &[&"--overwrite"]].concat());
    assert_eq!(unit(), Unit::Nanometre);
    let said = succeeds(&one).stderr;
    assert!(!String::from_utf8_lossy(&said).contains("other options"));
}
