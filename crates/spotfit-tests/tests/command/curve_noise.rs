//! Noise and data of other kinds, as a user types them.

use std::fs;
use std::path::Path;

use crate::common::{Folder, bytes, fails, npy, rows, succeeds};

type Word<'a> = &'a dyn AsRef<std::ffi::OsStr>;

/// The table of fits, and what was said.
fn fitted(folder: &Folder, data: &Path, words: &str) -> (Vec<Vec<String>>, String) {
    let fits = folder.path("fits.csv");
    let mut all: Vec<Word<'_>> = vec![&"curve", &data, &"-o", &fits];
    let words: Vec<&str> = words.split(' ').collect();
    all.extend(words.iter().map(|word| word as Word<'_>));
    let output = succeeds(&all);
    (
        rows(&fs::read(fits).expect("the table")),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[track_caller]
fn refused(folder: &Folder, data: &Path, words: &str, says: &[&str]) {
    let fits = folder.path("none.csv");
    let mut all: Vec<Word<'_>> = vec![&"curve", &data, &"-o", &fits];
    let words: Vec<&str> = words.split(' ').collect();
    all.extend(words.iter().map(|word| word as Word<'_>));
    fails(&all, says);
    assert!(!fits.exists(), "{words:?}");
}

fn number(table: &[Vec<String>], row: usize, name: &str) -> f64 {
    let column = table[0].iter().position(|own| own == name).expect(name);
    table[row][column].parse().expect(name)
}

/// Proves that losses find a line beside outliers, that these are listed with the names of the data sets, and that the list names the
/// points.
#[test]
fn losses_and_outliers() {
    let folder = Folder::new();
    let mut text = "t,one,two too\n".to_owned();
    for x in 0..30 {
        let noise = 0.1 * (f64::from(x * 7 % 11) - 5.0);
        let one = if x == 9 { 50.0 } else { 2.0 * f64::from(x) + 1.0 + noise };
        let two = if x == 20 { -80.0 } else { 3.0 * f64::from(x) + noise };
        text += &format!("{},{one},{two}\n", f64::from(x) + 0.5);
    }
    let data = folder.file("lines.csv", text.as_bytes());
    let list = folder.path("outliers.csv");
    let line = "-m k*x+c --start k=1,c=0";
    let (plain, _) = fitted(&folder, &data, line);
    assert!((number(&plain, 1, "k") - 2.0).abs() > 0.05);
    for loss in ["huber", "tukey", "soft_l1", "cauchy"] {
        let words = format!("{line} --loss {loss} --outliers {}", list.display());
        let (table, said) = fitted(&folder, &data, &words);
        assert!((number(&table, 1, "k") - 2.0).abs() < 0.02, "{loss}: {table:?}");
        assert!((number(&table, 2, "k") - 3.0).abs() < 0.02, "{loss}: {table:?}");
        assert!(said.contains("2 outliers"), "{said}");
        let listed = rows(&fs::read(&list).expect("the list"));
        assert_eq!(listed[0].join(","), "fit,point,x,y,residual,score,p");
        assert_eq!(listed[1][..4], ["one", "9", "9.5", "50.0"]);
        assert_eq!(listed[2][..4], ["two too", "20", "20.5", "-80.0"]);
        assert_eq!(listed.len(), 3);
    }
    let (table, _) = fitted(&folder, &data, &format!("{line} --loss huber --scale 0.3"));
    assert!((number(&table, 1, "k") - 2.0).abs() < 0.02);
    let asked = "--loss tukey --intervals 0.68 --compare k*x+c+q*x^2";
    let (table, _) = fitted(&folder, &data, &format!("{line} {asked}"));
    let ends =
        ["k_low", "k_high"].map(|end| (number(&table, 1, end) - number(&table, 1, "k")).abs());
    let error = number(&table, 1, "k_error");
    assert!(ends.iter().all(|end| (0.9..1.15).contains(&(end / error))), "{ends:?} {error}");
    assert!(number(&table, 1, "compare_p_value") > 0.01, "{table:?}");
    let (table, _) = fitted(&folder, &data, &format!("{line} --loss tukey --share c"));
    assert_eq!(number(&table, 1, "c"), number(&table, 2, "c"));
    assert!((number(&table, 2, "k") - 3.0).abs() < 0.1, "{table:?}");
    let line = |rest: &str| format!("{line} {rest}");
    refused(&folder, &data, &line("--loss tukey --estimator mle"), &["cannot be had together"]);
    refused(&folder, &data, &line("--loss biweight"), &["huber, tukey, soft_l1 and cauchy"]);
    refused(&folder, &data, &line("--scale 2"), &["a scale needs a loss"]);
    refused(&folder, &data, &line("--loss huber --scale 0"), &["the scale must be above 0"]);
    refused(&folder, &data, &line("--loss huber --scale wide"), &["auto or a number"]);
    let none = folder.path("none.txt");
    let words = line(&format!("--loss huber --outliers {}", none.display()));
    refused(&folder, &data, &words, &["ends in .csv"]);
    let own = line(&format!("--loss huber --outliers {}", data.display()));
    refused(&folder, &data, &own, &["lines.csv"]);
    let none = folder.path("none2.csv");
    refused(&folder, &data, &line(&format!("--outliers {}", none.display())), &["needs a loss"]);
    assert!(!none.exists());
}

/// Proves that successes among trials are fitted, with trials as a number, a column and a file, and that what cannot be is refused.
#[test]
fn successes_among_trials() {
    let folder = Folder::new();
    let mut text = "x,k,n\n".to_owned();
    for x in -6..=6 {
        let p = 1.0 / (1.0 + (-(f64::from(x) - 1.0) / 2.0).exp());
        text += &format!("{x},{},20\n", (20.0 * p).round());
    }
    let data = folder.file("seen.csv", text.as_bytes());
    let n =
        npy("'<f8'", "False", "(13,)", &bytes(&[20.0; 13], |number: &f64| number.to_le_bytes()));
    let file = folder.file("n.npy", &n);
    let model = "--columns x,k -m 1/(1+exp(-(x-m)/w)) --start m=0,w=1 --estimator binomial";
    let of = |trials: &str| fitted(&folder, &data, &format!("{model} --trials {trials}")).0;
    let wanted = of("20");
    assert_eq!(wanted[0].join(","), "fit,m,w,m_error,w_error,deviance,degrees,iterations,status");
    assert!((number(&wanted, 1, "m") - 1.0).abs() < 0.3 && number(&wanted, 1, "deviance") < 3.0);
    for trials in ["n", &file.display().to_string()] {
        assert_eq!(of(trials), wanted, "{trials}");
    }
    refused(&folder, &data, model, &["needs --trials"]);
    refused(&folder, &data, &format!("{model} --trials 10"), &["seen.csv", "in 10 trials"]);
    refused(&folder, &data, &format!("{model} --trials=-5"), &["seen.csv", "trials", "-5"]);
    refused(&folder, &data, &format!("{model} --trials m"), &["there is no column 'm'"]);
    refused(&folder, &data, &format!("{model} --trials 20 --weights 1/y"), &["likelihood"]);
    let least = model.replace("binomial", "lse");
    refused(&folder, &data, &format!("{least} --trials 20"), &["--estimator binomial"]);
}

/// Proves that rules, errors of y and errors of x weigh points, from numbers, columns and files.
#[test]
fn weights_and_errors() {
    let folder = Folder::new();
    let mut text = "x,y,y_sd,sx\n".to_owned();
    for x in 1..=20 {
        let y = 2.0 * f64::from(x) + 0.1 * (f64::from(x * 7 % 11) - 5.0) * f64::from(x);
        text += &format!("{x},{y},{},0.5\n", 0.1 * f64::from(x));
    }
    let data = folder.file("line.csv", text.as_bytes());
    let line = "--columns x,y -m k*x+c --start k=1,c=0";
    let fit = |rest: &str| fitted(&folder, &data, &format!("{line} {rest}")).0;
    let rules = ["1/y", "1/y^2", "1/f", "1/f^2"].map(|rule| fit(&format!("--weights {rule}")));
    let slopes: Vec<f64> = rules.iter().map(|table| number(table, 1, "k")).collect();
    assert!(slopes.iter().all(|slope| (slope - 2.0).abs() < 0.5), "{slopes:?}");
    assert!((0..4).all(|a| (0..a).all(|b| slopes[a] != slopes[b])), "{slopes:?}");
    let weighted = fit("--error-columns _sd");
    let listed = fit("--error-columns y_sd");
    assert_eq!(weighted, listed);
    assert!(
        number(&weighted, 1, "k_error")
            != number(&fit("--error-columns _sd --absolute"), 1, "k_error")
    );
    let both = fit("--error-columns _sd --x-errors 0.5");
    assert_eq!(both, fit("--error-columns _sd --x-errors sx"));
    let sx =
        npy("'<f8'", "False", "(20,)", &bytes(&[0.5; 20], |number: &f64| number.to_le_bytes()));
    let file = folder.file("sx.npy", &sx);
    assert_eq!(both, fit(&format!("--error-columns _sd --x-errors {}", file.display())));
    assert!(number(&both, 1, "chi2") < number(&weighted, 1, "chi2"));
    let refused = |rest: &str, says: &str| {
        refused(&folder, &data, &format!("{line} {rest}"), &[says]);
    };
    refused("--x-errors 0.5", "errors of x needs errors of y");
    refused("--error-columns _sd --x-errors=-1", "0 or more");
    refused("--error-columns _sd --x-errors none", "there is no column 'none'");
    refused("--error-columns _sd --x-errors 1 --loss huber", "cannot be had together");
    refused("--weights 1/z", "1/z");
    refused("--error-columns _err", "there is no column '_err'");
}

/// Proves that absolute errors are refused where nothing says how large those of the points are, with what can be given, and are what is given.
#[test]
fn absolute_errors_need_weights() {
    let folder = Folder::new();
    let mut text = "x,y\n".to_owned();
    for x in 1..=12 {
        text += &format!("{x},{}\n", 2 * x + x * 7 % 5 + 1);
    }
    let data = folder.file("line.csv", text.as_bytes());
    let line = |rest: &str| format!("-m k*x+c --start k=1,c=0 --absolute{rest}");
    let says = &["give weights", "1/y", "maximum likelihood", "scatter"];
    for rest in ["", " --loss huber", " --share k", " --statistics", " --backend cpu"] {
        refused(&folder, &data, &line(rest), says);
    }
    let error = |rest: &str| number(&fitted(&folder, &data, &line(rest)).0, 1, "k_error");
    // The sum of the squares of x from their mean is 143.
    let one = error(" --weights 1");
    assert!((one - 143.0_f64.sqrt().recip()).abs() < 1e-6, "{one}");
    assert!((error(" --weights 4") * 2.0 / one - 1.0).abs() < 1e-6);
    assert!(error(" --weights 1/y") > 0.0 && error(" --estimator mle") > 0.0);
    refused(&folder, &data, &line(" --weights 0"), &["--weights 0", "above 0"]);
    refused(&folder, &data, &line(" --weights=-2"), &["--weights -2", "above 0"]);
}

/// Proves that points which count for nothing, though nobody says so, are counted: those of 0 by a rule for the data, and those without trials.
#[test]
fn points_that_are_left_out_are_counted() {
    let folder = Folder::new();
    let mut text = "x,a,b,n\n".to_owned();
    for x in 0..20 {
        text += &format!("{x},{},{},{}\n", x % 3, x % 4 + 1, if x < 2 { 0 } else { 9 });
    }
    let data = folder.file("counts.csv", text.as_bytes());
    let said = |words: &str| fitted(&folder, &data, words).1;
    for rule in ["1/y", "1/y^2"] {
        let words = format!("--columns x,a,b -m linear --weights {rule}");
        assert!(said(&words).contains("7 of 40 points are left out"), "{}", said(&words));
        let shared = format!("{words} --share slope");
        assert!(said(&shared).contains("7 of 40 points are left out"), "{}", said(&shared));
    }
    assert!(!said("--columns x,b -m linear --weights 1/y").contains("left out"));
    assert!(!said("--columns x,a -m linear --weights 1/f").contains("left out"));
    let trials = "-m 1/(1+exp(-(x-m)/w)) --start m=5,w=9 --estimator binomial --trials n";
    let few = text.lines().enumerate().map(|(at, line)| match at {
        1 | 2 => format!("{},0,0,0\n", at - 1),
        _ => format!("{line}\n"),
    });
    let few = folder.file("trials.csv", few.collect::<String>().as_bytes());
    let (_, said) = fitted(&folder, &few, &format!("--columns x,b {trials}"));
    assert!(said.contains("2 of 20 points are left out: there are no trials"), "{said}");
}

/// Proves that a fit with errors of x ends where the weights of the effective variance go round, with a χ² that is the sum of both errors.
#[test]
fn errors_of_x_end() {
    let folder = Folder::new();
    let stored = include_str!("../../../fit-tests/data/orthogonal.txt");
    let mut sums = Vec::new();
    let mut text = "set,x,y\n".to_owned();
    for (set, case) in stored.split("\n\n").filter(|case| case.starts_with("cubic")).enumerate() {
        let of = |name: &str| -> Vec<f64> {
            let line = case.lines().find_map(|line| line.strip_prefix(name)).expect(name);
            line.split_whitespace().map(|number| number.parse().expect(number)).collect()
        };
        for (x, y) in of("x ").iter().zip(of("data ")) {
            text += &format!("{set},{x},{y}\n");
        }
        sums.push(of("sum ")[0]);
    }
    let data = folder.file("cubics.csv", text.as_bytes());
    let words =
        "--by set -m a+b*x+c*x^3 --start a=1,b=0,c=0 --weights 0.25 --x-errors 0.3 --absolute";
    let (table, said) = fitted(&folder, &data, words);
    assert!(said.contains("30 converged"), "{said}");
    for (set, sum) in sums.iter().enumerate() {
        assert!(number(&table, set + 1, "chi2") < sum + 1e-3, "{set}: {sum}");
    }
}

/// Proves that each value of a column of a long table is a data set, of its own length, that models of several variables have theirs,
/// and that a group with one point has a status.
#[test]
fn long_tables_and_variables() {
    let folder = Folder::new();
    let mut text = "well;time;dose;signal\n".to_owned();
    for (well, k, count) in [("A1", 2.0, 12), ("B2", 3.0, 9), ("C3", 1.0, 1)] {
        for x in 0..count {
            text += &format!(
                "{well};{x},5;{};{}\n",
                x % 3,
                k * (f64::from(x) + 0.5) + f64::from(x % 3)
            )
            .replace('.', ",");
        }
    }
    let data = folder.file("long.csv", text.as_bytes());
    let words = "--by well --x-columns time,dose --columns signal -m k*x+d*y+c --start k=1,d=0,c=0";
    let (table, _) = fitted(&folder, &data, words);
    assert_eq!(table[1..].iter().map(|row| &row[0]).collect::<Vec<_>>(), ["A1", "B2", "C3"]);
    for (row, k, degrees) in [(1, 2.0, 9.0), (2, 3.0, 6.0)] {
        assert!((number(&table, row, "k") - k).abs() < 1e-9, "{table:?}");
        assert!((number(&table, row, "d") - 1.0).abs() < 1e-9, "{table:?}");
        assert_eq!(number(&table, row, "degrees"), degrees);
    }
    assert_ne!(table[3].last().map(String::as_str), Some("min_step"));
    refused(&folder, &data, "--by hole -m linear", &["there is no column 'hole'"]);
    refused(&folder, &data, "--by well --columns well,signal -m linear", &["cannot be"]);
    let data = folder.file("one.npy", &npy("'<f8'", "False", "(9,)", &[0; 72]));
    refused(&folder, &data, "--by well -m linear", &["are for text"]);
}
