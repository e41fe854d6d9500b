//! `spotfit curve` and `spotfit model`, as a user types them.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use common::{Folder, bytes, fails, npy, rows, spotfit, succeeds};

type Word<'a> = &'a dyn AsRef<OsStr>;

const POINTS: usize = 30;

/// Exponential decays with different amplitudes and times, exact.
fn decays(count: usize) -> Vec<f64> {
    (0..count * POINTS)
        .map(|i| {
            let (fit, x) = ((i / POINTS) as f64, (i % POINTS) as f64);
            (5.0 + fit) * (-x / (3.0 + fit)).exp() + 1.0
        })
        .collect()
}

fn doubles(shape: &str, numbers: &[f64]) -> Vec<u8> {
    npy("'<f8'", "False", shape, &bytes(numbers, |number| number.to_le_bytes()))
}

fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let at = table[0].iter().position(|column| column == name).expect(name);
    table[1..].iter().map(|row| row[at].parse().expect("a number")).collect()
}

fn fit(folder: &Folder, data: &Path, words: &[Word<'_>]) -> (Vec<Vec<String>>, String) {
    let fits = folder.path("fits.csv");
    let output = succeeds(&[&[&"curve" as Word<'_>, &data, &"-o", &fits][..], words].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (rows(&fs::read(fits).expect("the fits")), said)
}

#[track_caller]
fn close(found: &[f64], wanted: impl Fn(f64) -> f64) {
    for (fit, found) in found.iter().enumerate() {
        let wanted = wanted(fit as f64);
        assert!((found - wanted).abs() < 1e-6 * (1.0 + wanted.abs()), "{fit}: {found}, {wanted}");
    }
}

/// Proves that the backend can be chosen, that single precision finds what double precision finds, and that without a GPU
/// nothing is written.
#[test]
fn backends() {
    let folder = Folder::new();
    let mut noisy = decays(4);
    for (i, value) in noisy.iter_mut().enumerate() {
        *value += 0.05 * ((i * 7 % 11) as f64 - 5.0);
    }
    let data = folder.file("data.npy", &doubles(&format!("(4, {POINTS})"), &noisy));
    let of = |backend: &str| {
        let words: &[Word<'_>] = &[&"-m", &"exponential", &"--backend", &backend];
        fit(&folder, &data, words).0
    };
    let (double, single) = (of("reference"), of("cpu"));
    assert_eq!(double[0], single[0]);
    for name in ["a", "t", "c"] {
        let errors = column(&double, &format!("{name}_error"));
        for (fit, found) in column(&single, name).into_iter().enumerate() {
            let wanted = column(&double, name)[fit];
            assert!((found - wanted).abs() < 0.01 * errors[fit], "{name} {fit}: {found}, {wanted}");
        }
    }
    if spotfit::model::CurveFitter::new(spotfit::Backend::Gpu, 1).is_ok() {
        println!("SKIPPED: this machine has a GPU");
        return;
    }
    let fits = folder.path("none.csv");
    let words: &[Word<'_>] =
        &[&"curve", &data, &"-m", &"exponential", &"--backend", &"gpu", &"-o", &fits];
    fails(words, &["the GPU cannot be used: "]);
    assert!(!fits.exists());
}

/// Proves that vector instructions can be chosen, that those which the processor lacks are refused, and that a device is a number.
#[test]
fn instructions_are_chosen() {
    let folder = Folder::new();
    let data = folder.file("data.npy", &doubles(&format!("(4, {POINTS})"), &decays(4)));
    let of = |set: &str| {
        let words: &[Word<'_>] =
            &[&"-m", &"exponential", &"--backend", &"cpu", &"--instruction-set", &set];
        fit(&folder, &data, words).0
    };
    let found = of("portable");
    for (fit, time) in column(&found, "t").into_iter().enumerate() {
        assert!((time - 3.0 - fit as f64).abs() < 1e-3, "{fit}: {time}");
    }
    let foreign = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    let fits = folder.path("none.csv");
    let refused = |name: &str, value: &str, says: &[&str]| {
        let words: &[Word<'_>] = &[
            &"curve",
            &data,
            &"-m",
            &"exponential",
            &"-o",
            &fits,
            &"--backend",
            &"cpu",
            &name,
            &value,
        ];
        fails(words, says);
    };
    refused("--instruction-set", foreign, &[foreign]);
    refused("--instruction-set", "sse9", &["sse9"]);
    refused("--device", "first", &["--device", "first"]);
    assert!(!fits.exists());
}

/// Proves that formulas and models with names find the same parameters, from NPY and CSV, and that the table is there in
/// both formats.
#[test]
fn formulas_and_names() {
    let folder = Folder::new();
    let data = folder.file("data.npy", &doubles(&format!("(4, {POINTS})"), &decays(4)));
    let mut text = "time,one,two,three,four\n".to_owned();
    for x in 0..POINTS {
        let row: Vec<String> =
            (0..4).map(|fit| format!("{:?}", decays(4)[fit * POINTS + x])).collect();
        text += &format!("{x},{}\n", row.join(","));
    }
    let table = folder.file("data.csv", text.as_bytes());
    let cases: [(&Path, &[Word<'_>]); 4] = [
        (&data, &[&"-m", &"exponential"]),
        (&table, &[&"-m", &"exponential", &"--start", &"auto"]),
        (&data, &[&"-m", &"a*exp(-x/t) + c", &"--start", &"a=6,t=2,c=0"]),
        (
            &table,
            &[
                &"-m",
                &"c + a*exp(-s/t)",
                &"--variables",
                &"s",
                &"--parameters",
                &"a,t,c",
                &"--start",
                &"a=6,t=2,c=0",
            ],
        ),
    ];
    for (data, words) in cases {
        let (fits, said) = fit(&folder, data, words);
        let head = "fit,a,t,c,a_error,t_error,c_error,chi2,degrees,iterations,status";
        assert_eq!(fits[0].join(","), head);
        close(&column(&fits, "a"), |fit| 5.0 + fit);
        close(&column(&fits, "t"), |fit| 3.0 + fit);
        close(&column(&fits, "c"), |_| 1.0);
        assert!(said.contains("4 fits: ") && said.contains("4 converged"), "{said}");
    }
    let fits = folder.path("fits.npy");
    succeeds(&[&"curve", &data, &"-m", &"exponential", &"-o", &fits]);
    let written = fs::read(fits).expect("the fits");
    let text = String::from_utf8_lossy(&written);
    assert!(text.contains("('t_error', '<f8')") && text.contains("'shape': (4,)"), "{text}");
    let size = 8 + 7 * 8 + 4 + 4 + 14 * 4;
    assert_eq!(written.len() % 64, 4 * size % 64, "rows of {size} bytes");
}

/// Proves that points, weights, limits, held parameters, images and maximum likelihood are taken as they are given.
#[test]
fn everything_beside_the_data() {
    let folder = Folder::new();
    let mut numbers = decays(3);
    // What a weight hides may be anything.
    numbers[4] = f64::NAN;
    numbers[POINTS + 7] = 1e12;
    let mut weights = vec![1.0; 3 * POINTS];
    weights[4] = 0.0;
    weights[POINTS + 7] = f64::NAN;
    let shape = format!("(3, {POINTS})");
    let data = folder.file("data.npy", &doubles(&shape, &numbers));
    let hidden = folder.file("weights.npy", &doubles(&shape, &weights));
    let x: Vec<f64> = (0..POINTS).map(|x| 2.0 * x as f64).collect();
    let twice = folder.file("x.npy", &doubles(&format!("({POINTS},)"), &x));
    let plot = folder.path("plot.svg");
    let words: [Word<'_>; 8] =
        [&"-m", &"exponential", &"--weights", &hidden, &"--x", &twice, &"--plot", &plot];
    let (fits, _) = fit(&folder, &data, &words);
    close(&column(&fits, "t"), |fit| 2.0 * (3.0 + fit));
    assert_eq!(column(&fits, "degrees"), [26.0, 26.0, 27.0]);
    let drawn = fs::read_to_string(&plot).expect("a plot");
    assert!(drawn.starts_with("<svg") && !drawn.contains("NaN") && !drawn.contains("10¹²"));
    // Points are in the curve and in the residuals, but for the two of weight 0 or NaN; one more is in the legend.
    assert_eq!(drawn.matches("<circle").count(), 2 * (3 * POINTS - 2) + 1);
    assert_eq!(drawn.matches(">residual</text>").count(), 3);
    assert!(drawn.contains("± their errors"));

    let clean = folder.file("clean.npy", &doubles(&shape, &decays(3)));
    let formula: [Word<'_>; 2] = [&"-m", &"a*exp(-x/t) + c"];
    let with = |words: &[Word<'_>]| fit(&folder, &clean, &[&formula[..], words].concat()).0;
    let fits = with(&[&"--start", &"a=6,t=2,c=0", &"--bounds", &"t=:3.5,c=0:"]);
    assert_eq!(column(&fits, "t")[1..], [3.5, 3.5]);
    assert!(fits[2].last().is_some_and(|status| status == "at_limit"));
    // Those count as found, and the errors of the others are those of the fit in which t is held there.
    let (limited, said) = fit(
        &folder,
        &clean,
        &[&formula[..], &[&"--start", &"a=6,t=2,c=0", &"--bounds", &"t=:2.5"]].concat(),
    );
    assert!(said.contains("0 converged, 3 found at a limit"), "{said}");
    let held = with(&[&"--start", &"a=6,t=2.5,c=0", &"--fixed", &"t"]);
    assert_eq!(column(&limited, "t_error"), [0.0; 3]);
    assert_eq!(column(&limited, "degrees"), column(&held, "degrees"));
    for (found, wanted) in column(&limited, "a_error").iter().zip(column(&held, "a_error")) {
        assert!((found / wanted - 1.0).abs() < 1e-3, "{found}, {wanted}");
    }
    let fits = with(&[&"--start", &"a=6,t=2,c=1", &"--fixed", &"c"]);
    assert_eq!(column(&fits, "c_error"), [0.0; 3]);
    close(&column(&fits, "t"), |fit| 3.0 + fit);
    let starts: Vec<f64> = (0..3).flat_map(|fit| [6.0, 3.0 + f64::from(fit), 1.0]).collect();
    let starts = folder.file("starts.npy", &doubles("(3, 3)", &starts));
    let fits = with(&[&"--start", &starts, &"--fixed", &"t,c"]);
    close(&column(&fits, "a"), |fit| 5.0 + fit);
    let fits = with(&[&"--start", &"a=6,t=2,c=1", &"--estimator", &"mle"]);
    assert!(fits[0].contains(&"deviance".to_owned()));
    close(&column(&fits, "a"), |fit| 5.0 + fit);

    let image: Vec<f64> = (0..2 * 7 * 9)
        .map(|i| {
            let (x, y) = ((i % 9) as f64, (i / 9 % 7) as f64);
            9.0 * (-((x - 4.2).powi(2) + (y - 2.9).powi(2)) / (2.0 * 1.3_f64.powi(2))).exp() + 2.0
        })
        .collect();
    let images = folder.file("images.npy", &doubles("(2, 7, 9)", &image));
    let (fits, _) = fit(&folder, &images, &[&"-m", &"gauss_2d"]);
    close(&column(&fits, "x0"), |_| 4.2);
    close(&column(&fits, "y0"), |_| 2.9);
    close(&column(&fits, "s").iter().map(|s| s.abs()).collect::<Vec<_>>(), |_| 1.3);
    // To a model of one variable the pixels of an image are a curve.
    let plot = folder.path("plot.svg");
    fit(&folder, &images, &[&"-m", &"gauss_1d", &"--plot", &plot]);
    assert!(fs::read_to_string(&plot).expect("a plot").contains("f(x) = "));
}

/// Proves that what is wrong is named, and that nothing is left behind.
#[test]
fn wrong_requests_are_named() {
    let folder = Folder::new();
    let data = folder.file("data.npy", &doubles(&format!("(4, {POINTS})"), &decays(4)));
    let short = folder.file("short.npy", &doubles("(4, 2)", &[1.0; 8]));
    let five = folder.file("five.npy", &doubles("(5, 3)", &[1.0; 15]));
    let deep = folder.file("deep.npy", &doubles("(1, 1, 2, 2)", &[1.0; 4]));
    let fits = folder.path("none.csv");
    let formula = "a*exp(-x/t) + c";
    let start: [Word<'_>; 2] = [&"--start", &"a=1,t=1,c=0"];
    let tall = folder.file("tall.npy", &doubles(&format!("({POINTS}, 2)"), &[1.0; 2 * POINTS]));
    let cases: [(&Path, &str, &[Word<'_>], &[&str]); 30] = [
        (
            &data,
            formula,
            &[&"--start", &"a=8,t=1,c=0", &"--fixed", &"a", &"--bounds", &"a=0:1"],
            &[
                "start value 8 of parameter 'a', which is held there, is not within its limits 0 to 1",
            ],
        ),
        (
            &data,
            formula,
            &[&"--start", &"a=1,t=1,c=0", &"--x", &tall],
            &["(point), (variable, point)", "this array is [", ", 2], which is (point, variable)"],
        ),
        (&data, "linear", &[&"--x", &tall], &["this array is [", ", 2], which is"]),
        (&data, "a*exp(-x/t", &start, &["--model:\na*exp(-x/t", "but the formula ends"]),
        (
            &data,
            "a*exq(-x/t)",
            &start,
            &["there is no function `exq`; did you mean `exp`?", "  ^^^"],
        ),
        (&data, "", &start, &["the formula has no value"]),
        (&data, formula, &[], &["a formula needs start values: --start a=…,t=…,c=…"]),
        (&data, formula, &[&"--start", &"a=1,t=1"], &["--start has no value for c"]),
        (
            &data,
            formula,
            &[&"--start", &"a=1,t=1,c=0,d=1"],
            &["--start: the model has no parameter 'd'", "a, t, c"],
        ),
        (&data, formula, &[&"--start", &"a=1,t=1,c=0,a=2"], &["'a' is given twice"]),
        (&data, formula, &[&"--start", &"a=1,t=1,c=zero"], &["'zero' is not a number"]),
        (&data, formula, &[&"--start", &"a=1,t=inf,c=0"], &["'inf' is not a number"]),
        (&data, formula, &[&"--start", &"1,1,0"], &["'1' is not NAME=VALUE"]),
        (&data, formula, &[&"--start", &five], &["5 rows for 4 data sets"]),
        (
            &data,
            formula,
            &[&"--start", &short],
            &["start values are (parameter) or (fit, parameter), with 3 parameters (a, t, c)"],
        ),
        (
            &data,
            formula,
            &[start[0], start[1], &"--bounds", &"t=5:2"],
            &["limits 5 to 2 of parameter 't'"],
        ),
        (&data, formula, &[start[0], start[1], &"--bounds", &"t=5"], &["'5' is not LOW:HIGH"]),
        (
            &data,
            formula,
            &[start[0], start[1], &"--bounds", &"t=2:"],
            &["start value 1 of parameter 't' is not within its limits 2 to inf"],
        ),
        (
            &data,
            formula,
            &[start[0], start[1], &"--fixed", &"q"],
            &["--fixed: the model has no parameter 'q'"],
        ),
        (
            &data,
            "exponential",
            &[&"--fixed", &"t"],
            &["parameters that are held need start values"],
        ),
        (
            &data,
            formula,
            &[start[0], start[1], &"--x", &short],
            &["here of 4 data sets with 30 points; this array is [4, 2]"],
        ),
        (&data, formula, &[start[0], start[1], &"--weights", &five], &["5 rows for 4 data sets"]),
        (
            &data,
            formula,
            &[start[0], start[1], &"--max-iterations", &"0"],
            &["--max-iterations 0 is out of its range (1 to 100000)"],
        ),
        (&data, "exponential", &[&"--bounds", &"t=5:2"], &["limits 5 to 2 of parameter 't'"]),
        (&data, "exponential", &[&"--variables", &"t"], &["a model with a name has names"]),
        (&data, "a*exp(-\"x\"/\"t<\")", &start, &["`t<` cannot be the name of a parameter"]),
        (
            &data,
            formula,
            &[start[0], start[1], &"--x", &"-", &"--weights", &"-"],
            &["one thing only"],
        ),
        (&short, formula, &start, &["3 parameters cannot be found from 2 points"]),
        (&deep, formula, &start, &["data are (point), (fit, point) or (fit, row, column)"]),
        (
            &data,
            "fit*x + status",
            &[&"--start", &"fit=1,status=1"],
            &["parameter 'fit'", "another column"],
        ),
    ];
    for (data, model, words, says) in cases {
        fails(
            &[&[&"curve" as Word<'_>, &data, &"-m", &model, &"-o", &fits][..], words].concat(),
            says,
        );
        assert!(!folder.names().iter().any(|name| name.contains("none.csv")), "{says:?}");
    }
    fails(&[&"curve", &data, &"-m", &"exponential", &"-o", &data], &["data.npy"]);
    let plot = folder.path("none.pdf");
    fails(
        &[&"curve", &data, &"-m", &"exponential", &"-o", &fits, &"--plot", &plot],
        &["ends in .svg"],
    );
    for (text, says) in [
        ("x,y\n1,2\n2,3,4\n", "line 3 has 3 columns"),
        ("x,y\n1,2\n2,a\n", "line 3, column 2: 'a' is not a number"),
        ("x,y\n", "no rows"),
        ("", "no rows"),
        ("1\n2\n", "no rows"),
    ] {
        let file = folder.file("data.csv", text.as_bytes());
        fails(&[&"curve", &file, &"-m", &"linear", &"-o", &fits], &[says]);
    }
}

/// Proves that batches of several parts are fitted as one, with start values of each fit, and that what is wrong in a later
/// part is named by its number in the whole; and that a single data set, and names with Greek letters, are no exception.
#[test]
fn large_and_small_batches() {
    let folder = Folder::new();
    // Two million values at a time.
    let count = 2_100_000 / POINTS;
    let numbers: Vec<f64> = (0..count * POINTS)
        .map(|i| ((i / POINTS) % 7 + 1) as f64 + 0.5 * (i % POINTS) as f64)
        .collect();
    let shape = format!("({count}, {POINTS})");
    let data = folder.file("data.npy", &doubles(&shape, &numbers));
    let starts: Vec<f64> = (0..count).flat_map(|fit| [fit as f64, 0.0]).collect();
    let starts = folder.file("starts.npy", &doubles(&format!("({count}, 2)"), &starts));
    let words: [Word<'_>; 4] = [&"-m", &"c + k*x", &"--start", &starts];
    let (fits, _) = fit(&folder, &data, &words);
    let offsets = column(&fits, "c");
    assert_eq!(offsets.len(), count);
    close(&offsets, |fit| (fit as usize % 7 + 1) as f64);
    let mut weights = vec![1.0; count * POINTS];
    weights[(count - 1) * POINTS + 3] = -1.0;
    let weights = folder.file("weights.npy", &doubles(&shape, &weights));
    let says = format!("the weight of point 3 of fit {} is negative", count - 1);
    let none = folder.path("none.csv");
    fails(&[&"curve", &data, &"-m", &"linear", &"--weights", &weights, &"-o", &none], &[&says]);
    assert!(!folder.names().iter().any(|name| name.contains("none.csv")));

    let one = folder.file("one.npy", &doubles(&format!("({POINTS},)"), &decays(1)));
    let (fits, _) = fit(&folder, &one, &[&"-m", &"a*exp(-x/τ) + c", &"--start", &"a=6,τ=2,c=0"]);
    close(&column(&fits, "τ"), |_| 3.0);
    let fits = folder.path("greek.npy");
    succeeds(&[
        &"curve",
        &one,
        &"-m",
        &"a*exp(-x/τ) + c",
        &"--start",
        &"a=6,τ=2,c=0",
        &"-o",
        &fits,
    ]);
    let written = fs::read(fits).expect("the fits");
    let length = u32::from_le_bytes(written[8..12].try_into().expect("four bytes")) as usize;
    let header = std::str::from_utf8(&written[12..12 + length]).expect("UTF-8");
    assert!(written[6] == 3 && (12 + length).is_multiple_of(64), "{header}");
    assert!(header.contains("('τ_error', '<f8')") && header.ends_with('\n'), "{header}");
    assert_eq!(written.len() - 12 - length, 8 + 7 * 8 + 4 + 4 + 14 * 4);
}

/// Proves that data that are not finite are a status of their fit alone, and that no data are no error.
#[test]
fn bad_data_are_a_status() {
    let folder = Folder::new();
    let mut numbers = decays(3);
    numbers[POINTS + 3] = f64::NAN;
    let data = folder.file("data.npy", &doubles(&format!("(3, {POINTS})"), &numbers));
    let (fits, said) = fit(&folder, &data, &[&"-m", &"exponential"]);
    let statuses: Vec<&str> = fits[1..].iter().map(|row| row[row.len() - 1].as_str()).collect();
    assert_eq!(statuses[1], "invalid");
    assert!(
        statuses[0] != "invalid" && statuses[2] != "invalid" && said.contains("1 invalid"),
        "{said}"
    );
    let none = folder.file("none.npy", &doubles(&format!("(0, {POINTS})"), &[]));
    let (fits, said) = fit(&folder, &none, &[&"-m", &"exponential"]);
    assert!(fits.len() == 1 && said.contains("0 fits: nothing to do"), "{said}");
}

/// Proves that hostile tables and words are refused without a panic.
#[test]
fn hostile_tables() {
    let folder = Folder::new();
    let good = "x,y\n1,2\n2,3\n3,5\n4,4\n5,6\n";
    let pieces =
        ["", ",", "\n", "\"", "nan", "inf", "1e999", "-", ";", "\t", "#", "\0", "é", "0x10", ",,,"];
    let mut state = 1_u64;
    let mut next = |limit: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    for _ in 0..60 {
        let mut text = good.as_bytes().to_vec();
        for _ in 0..1 + next(3) {
            let at = next(text.len());
            let end = (at + next(3)).min(text.len());
            let piece = pieces[next(pieces.len())].bytes();
            text.splice(at..end, piece);
        }
        let file = folder.file("data.csv", &text);
        let output = spotfit(&[&"curve", &file, &"-m", &"linear", &"-o", &"-"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{text:?}: {said}");
    }
}

/// Proves that `spotfit model` lists what there is, and shows what a formula becomes.
#[test]
fn models_are_listed_and_shown() {
    let said = |words: &[Word<'_>]| {
        let output = succeeds(words);
        String::from_utf8(output.stdout).expect("text")
    };
    let list = said(&[&"model"]);
    for part in ["gauss_2d_rotated", "Michaelis", "erfcx(x)", "a*exp(-x/t) + c"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let shown = said(&[&"model", &"a*exp(-x/t) + c", &"--show"]);
    for part in
        ["linear parameters: a, c", "other parameters: t", "for each point:", "by t: r3 * r7"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let grid = said(&[&"model", &"gauss_2d", &"--show", &"--grid"]);
    assert!(grid.contains("for each y:"), "{grid}");
    fails(&[&"model", &"a*exp(-x/t"], &["but the formula ends"]);
}

/// Proves that a formula calls splines from files, whose first axis is the first argument, and that a wrong one is told.
#[test]
fn splines() {
    let folder = Folder::new();
    let sample = |at: usize| (-0.1 * (at as f64 - 10.0).powi(2)).exp();
    let samples: Vec<f64> = (0..21).map(sample).collect();
    let psf = folder.file("psf.npy", &doubles("(21,)", &samples));
    // Places of samples, where the spline is exact.
    let numbers: Vec<f64> = (0..3 * POINTS)
        .map(|i| 2.0 + 5.0 * if i % POINTS < 21 { sample(i % POINTS) } else { 0.0 })
        .collect();
    let data = folder.file("data.npy", &doubles(&format!("(3, {POINTS})"), &numbers));
    let weights: Vec<f64> = (0..POINTS).map(|i| f64::from(u8::from(i < 21))).collect();
    let weights = folder.file("weights.npy", &doubles(&format!("({POINTS},)"), &weights));
    let given = format!("psf={}", psf.display());
    let words: &[Word<'_>] = &[
        &"-m",
        &"a*psf(x - x0) + b",
        &"--spline",
        &given,
        &"--start",
        &"a=4,x0=0.5,b=1",
        &"--weights",
        &weights,
    ];
    let (table, _) = fit(&folder, &data, words);
    close(&column(&table, "a"), |_| 5.0);
    close(&column(&table, "x0"), |_| 0.0);
    close(&column(&table, "b"), |_| 2.0);
    // A model with a name finds its own start.
    let named = format!("f={}", psf.display());
    let words: &[Word<'_>] = &[&"-m", &"spline_1d", &"--spline", &named, &"--weights", &weights];
    close(&column(&fit(&folder, &data, words).0, "a"), |_| 5.0);
    let fits = folder.path("none.csv");
    let fails_with = |spline: &str, model: &str, said: &str| {
        fails(
            &[
                &"curve",
                &data,
                &"-m",
                &model,
                &"--spline",
                &spline,
                &"-o",
                &fits,
                &"--start",
                &"a=1",
            ],
            &[said],
        );
        assert!(!fits.exists());
    };
    let at = |text: &str| text.replace('@', &psf.display().to_string());
    fails_with("psf", "a*psf(x)", "--spline 'psf': NAME=SAMPLES.npy is needed");
    fails_with(&at("psf=@:1"), "a*psf(x)", "there is no axis 1");
    fails_with(&at("f=@"), "a*psf(x)", "there is no function `psf`");
    fails_with(&at("exp=@"), "a*exp(x)", "`exp` is already the name of something else");
    fails_with(
        &at("f=@"),
        "spline_2d",
        "the spline `f` has 1 axis, and is called with 2 arguments",
    );
    fails(&[&"model", &"spline_2d"], &["calls f: a spline for each"]);
}
