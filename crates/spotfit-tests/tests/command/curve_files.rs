//! Columns of numbers as instruments, Excel and Prism export them.

use std::fs;
use std::path::Path;

use crate::common::{Folder, fails, succeeds};

type Word<'a> = &'a dyn AsRef<std::ffi::OsStr>;

/// The table of fits, and what was said.
fn fitted(folder: &Folder, data: &Path, words: &[Word<'_>]) -> (Vec<Vec<String>>, String) {
    let fits = folder.path("fits.csv");
    let mut all: Vec<Word<'_>> = vec![&"curve", &data, &"-o", &fits];
    all.extend(words);
    let output = succeeds(&all);
    let table = fs::read_to_string(fits).expect("the table");
    let rows = table.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    (rows, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A number of the first data set.
fn first(table: &[Vec<String>], name: &str) -> f64 {
    let column = table[0].iter().position(|own| own == name).expect(name);
    table[1][column].parse().expect(name)
}

/// Proves that files as people have them give the same decay, 10·exp(−t/7) + 1, and that the names of their columns stay.
#[test]
fn files_are_read_as_they_are() {
    let folder = Folder::new();
    let rows = |row: &dyn Fn(u32, &str) -> String| -> String {
        let at = [0, 1, 2, 4, 6, 9, 13, 18, 24, 31];
        at.map(|t| row(t, &format!("{:.4}", 10.0 * (-f64::from(t) / 7.0).exp() + 1.0))).concat()
    };
    let utf_16 = |text: String| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let with_comma = |y: &str| y.replace('.', ",");
    let text = |head: &str, row: &dyn Fn(u32, &str) -> String| head.to_owned() + &rows(row);
    let files: [(&str, Vec<u8>, &str, &str); 7] = [
        (
            "decimal_comma.csv",
            text("Zeit (s);Kontrolle;Behandelt\r\n", &|t, y| {
                format!("{t};{};{t},5\r\n", with_comma(y))
            })
            .into(),
            "Kontrolle",
            "",
        ),
        (
            "sep.csv",
            text("\u{feff}sep=;\r\nx;y\r\n", &|t, y| format!("{t};{y}\r\n")).into(),
            "y",
            "",
        ),
        (
            "blanks.csv",
            text("Time,Rep 1,Rep 2\n", &|t, y| {
                format!("{t},{y},{}\n", if t == 2 { "" } else { y })
            })
            .into(),
            "Rep 1",
            "1 cell without a number is left out",
        ),
        (
            "trailing.csv",
            text("t,signal,,\n[s],[a.u.],,\n", &|t, y| format!("{t},{y},,\n")).into(),
            "signal",
            "a row of units is left out",
        ),
        (
            "utf16.txt",
            utf_16(text("t\tsignal µA\r\n", &|t, y| format!("{t}\t{y}\r\n"))),
            "signal µA",
            "",
        ),
        (
            "latin1.csv",
            text("t (µs),U (mV)\n", &|t, y| format!("{t},{y}\n"))
                .chars()
                .map(|c| c as u8)
                .collect(),
            "U (mV)",
            "",
        ),
        (
            "nan.csv",
            text("t,y\n", &|t, y| format!("{t},{}\n", if t == 4 { "NaN" } else { y })).into(),
            "y",
            "1 cell without a number is left out",
        ),
    ];
    for (name, bytes, fit, says) in files {
        let file = folder.file(name, &bytes);
        let (table, said) = fitted(&folder, &file, &[&"-m", &"exponential"]);
        assert_eq!(table[1][0], fit, "{name}");
        for (parameter, value) in [("t", 7.0), ("a", 10.0), ("c", 1.0)] {
            let found = first(&table, parameter);
            assert!((found / value - 1.0).abs() < 1e-3, "{name}: {parameter} = {found}");
        }
        assert!(said.contains(says), "{name}: '{says}' is missing in: {said}");
    }
}

/// Proves that columns are chosen and lines skipped, that weights and gaps go together, and that plots have the names.
#[test]
fn columns_are_chosen() {
    let folder = Folder::new();
    let mut text = "made 2026\n7 lines\nlabel;dose;\"A; <1>\";B\n".to_owned();
    for x in 0..6 {
        // The fourth point of A is missing, the fifth of B is wrong.
        let a = if x == 3 { String::new() } else { format!("{},5", 2 * x) };
        let b = if x == 4 { 99 } else { 3 * x };
        text += &format!("row {x};{x};{a};{b}\n");
    }
    let data = folder.file("data.txt", text.as_bytes());
    let plot = folder.path("fits.svg");
    let words: [Word<'_>; 8] =
        [&"-m", &"k*x + c", &"--start", &"k=1,c=0", &"--skip", &"2", &"--columns", &"dose,A; <1>"];
    let (table, said) =
        fitted(&folder, &data, &[&words[..], &[&"--plot" as Word<'_>, &plot]].concat());
    assert_eq!((table.len(), table[1][0].as_str()), (2, "A; <1>"));
    assert!((first(&table, "k") - 2.0).abs() < 1e-9 && (first(&table, "c") - 0.5).abs() < 1e-9);
    assert_eq!(table[1][table[0].iter().position(|name| name == "degrees").expect("degrees")], "3");
    assert!(said.contains("1 cell without a number is left out"), "{said}");
    assert!(fs::read_to_string(plot).expect("a plot").contains(">A; &lt;1&gt;: "));

    let numbers: Vec<u8> =
        [1.0, 1.0, 1.0, 1.0, 0.0, 1.0_f64].iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut weights = Vec::new();
    spotfit::npy::write_header(&mut weights, "'<f8'", &[6]).expect("a header");
    weights.extend(numbers);
    let weights = folder.file("weights.npy", &weights);
    let words: [Word<'_>; 10] = [
        &"-m",
        &"k*x + c",
        &"--start",
        &"k=1,c=0",
        &"--skip",
        &"2",
        &"--columns",
        &"2,4,3",
        &"--weights",
        &weights,
    ];
    let (table, _) = fitted(&folder, &data, &words);
    assert_eq!([&table[1][0], &table[2][0]], ["B", "A; <1>"]);
    assert!((first(&table, "k") - 3.0).abs() < 1e-9, "{table:?}");
    let fits = folder.path("none.csv");
    for count in [1, 5] {
        let mut short = Vec::new();
        spotfit::npy::write_header(&mut short, "'<f8'", &[count]).expect("a header");
        short.extend([0; 40].iter().take(8 * count));
        let short = folder.file("short.npy", &short);
        let words: [Word<'_>; 10] = [
            &"curve",
            &data,
            &"--skip",
            &"2",
            &"--columns",
            &"2,3",
            &"-m",
            &"linear",
            &"--weights",
            &short,
        ];
        fails(&[&words[..], &[&"-o" as Word<'_>, &fits]].concat(), &["weights"]);
    }
    for (words, says) in [
        (["--columns", "dose,C"], "there is no column 'C': the file has label, dose, A; <1>, B"),
        (["--skip", "99"], "no rows"),
        (["--columns", "label,B"], "'row 0' is not a number"),
    ] {
        let all: [Word<'_>; 8] =
            [&"curve", &data, &"-m", &"linear", &"-o", &fits, &words[0], &words[1]];
        fails(&all, &["data.txt", says]);
    }
    let words: [Word<'_>; 10] = [
        &"curve",
        &data,
        &"--skip",
        &"2",
        &"--columns",
        &"dose,B",
        &"-m",
        &"exponentail",
        &"-o",
        &fits,
    ];
    fails(&words, &["did you mean 'exponential'?"]);
}
