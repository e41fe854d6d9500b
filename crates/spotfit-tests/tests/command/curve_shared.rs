//! `spotfit curve --share`, `--where` and `--prior`, as a user types them.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use common::{Folder, fails, rows, succeeds};

type Word<'a> = &'a dyn AsRef<OsStr>;

/// Decays of three data sets, of which the first two share a time.
fn decays(folder: &Folder) -> PathBuf {
    let mut text = "x,low,high,other\n".to_owned();
    for at in 0..30 {
        let x = f64::from(at);
        let noise = |fit: i32| 0.01 * f64::from((at * 7 + fit * 3) % 11 - 5);
        let of = |fit: i32, a: f64, t: f64| a * (-x / t).exp() + 1.0 + noise(fit);
        text += &format!("{x},{},{},{}\n", of(0, 5.0, 4.0), of(1, 9.0, 4.0), of(2, 7.0, 8.0));
    }
    folder.file("decays.csv", text.as_bytes())
}

fn fit(folder: &Folder, words: &[Word<'_>]) -> (Vec<Vec<String>>, String) {
    let (data, fits) = (decays(folder), folder.path("fits.csv"));
    let output = succeeds(&[&[&"curve" as Word<'_>, &data, &"-o", &fits][..], words].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (rows(&fs::read(fits).expect("the fits")), said)
}

fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let at = table[0].iter().position(|column| column == name).expect(name);
    table[1..].iter().map(|row| row[at].parse().expect("a number")).collect()
}

/// Proves that parameters are shared by all data sets or by groups, whose files name them or follow their order.
#[test]
fn shared_by_all_or_by_groups() {
    let folder = Folder::new();
    let (table, said) = fit(&folder, &[&"-m", &"exponential", &"--share", &"t,c"]);
    let t = column(&table, "t");
    assert!(t[0] == t[1] && t[1] == t[2], "{t:?}");
    assert!(said.contains("shared t = ") && said.contains("85 degrees of freedom"), "{said}");
    let named = folder.file("groups.csv", b"set,group\nother,warm\nlow,cold\nhigh,cold\n");
    let ordered = folder.file("ordered.txt", b"cold\ncold\nwarm\n");
    let mut all = Vec::new();
    for file in [named, ordered] {
        let share = format!("t:{},c", file.display());
        let (table, said) = fit(&folder, &[&"-m", &"exponential", &"--share", &share]);
        assert!(said.contains("shared t of cold") && said.contains("shared t of warm"), "{said}");
        all.push(column(&table, "t"));
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0][0], all[0][1]);
    assert!((all[0][0] - 4.0).abs() < 0.1 && (all[0][2] - 8.0).abs() < 0.2, "{all:?}");
}

/// Proves that shared fits are in double precision on each backend, and number by number unless lanes are asked for.
#[test]
fn shared_on_each_backend() {
    let folder = Folder::new();
    let of = |backend: &str| {
        let words: [Word<'_>; 6] =
            [&"-m", &"exponential", &"--share", &"t", &"--backend", &backend];
        fit(&folder, &words)
    };
    let (table, said) = of("reference");
    assert!(!said.contains("on the CPU"), "{said}");
    assert_eq!(of("auto").0, table);
    let (lanes, said) = of("cpu");
    assert!(
        said.contains("--share and --prior are fitted in double precision on the CPU"),
        "{said}"
    );
    for name in ["a", "t", "c", "t_error", "chi2"] {
        for (wanted, found) in column(&table, name).into_iter().zip(column(&lanes, name)) {
            assert!((found - wanted).abs() < 1e-6 * wanted.abs(), "{name}: {wanted} {found}");
        }
    }
}

/// Proves that the table has parameters that follow from others, with errors, and that a prior pulls.
#[test]
fn ties_and_priors() {
    let folder = Folder::new();
    let model = "a*exp(-x/t) + c";
    let start = "a=5,t=3";
    let (table, _) = fit(&folder, &[&"-m", &model, &"--start", &start, &"--where", &"c=a/5"]);
    let [a, c, of_a, of_c] = ["a", "c", "a_error", "c_error"].map(|name| column(&table, name));
    for fit in 0..3 {
        assert!((c[fit] - a[fit] / 5.0).abs() < 1e-6 * c[fit], "{a:?} {c:?}");
        assert!((of_c[fit] - of_a[fit] / 5.0).abs() < 1e-4 * of_c[fit], "{of_a:?} {of_c:?}");
    }
    let words = |prior: &'static str| -> Vec<f64> {
        let words: &[Word<'_>] =
            &[&"-m", &"exponential", &"--absolute", &"--weights", &"25", &"--prior", &prior];
        column(&fit(&folder, words).0, "t")
    };
    for (sign, t) in [("t=6+-0.001", 6.0), ("t=6±0.001", 6.0), ("t=6+/-0.001,c=1+-5", 6.0)] {
        assert!(words(sign).iter().all(|found| (found - t).abs() < 0.01), "{sign}");
    }
}

/// Proves that what contradicts itself, or means nothing, is refused, and no table is left.
#[test]
fn what_is_refused() {
    let folder = Folder::new();
    let (data, fits) = (decays(&folder), folder.path("none.csv"));
    let few = folder.file("few.txt", b"cold\n");
    let twice = folder.file("twice.csv", b"low,a\nlow,b\nhigh,a\nother,a\n");
    let lost = folder.file("lost.csv", b"low,a\nhigh,a\n");
    let mixed = folder.file("mixed.csv", b"low,a\nb\nc\n");
    let of = |file: &PathBuf| format!("t:{}", file.display());
    let (few, twice, lost, mixed) = (of(&few), of(&twice), of(&lost), of(&mixed));
    let cases: &[(&[&str], &str)] = &[
        (&["--share", "q"], "no parameter 'q'"),
        (&["--share", "t,t"], "shared twice"),
        (&["--share", "t:nowhere.csv"], "nowhere.csv"),
        (&["--share", &few], "1 groups for 3 data sets"),
        (&["--share", &twice], "two groups"),
        (&["--share", &lost], "'other' has no group"),
        (&["--share", &mixed], "some lines"),
        (&["--share", "t", "--start", "a=1,t=1,c=0", "--fixed", "t"], "fixed"),
        (&["--share", "t", "--loss", "huber", "--intervals", "0.68"], "not of a loss"),
        (&["--share", "t", "--loss", "huber", "--compare", "linear"], "not of a loss"),
        (&["--share", "t", "--weights", "1/f"], "weights that follow the model"),
        (&["--prior", "t=7+-1", "--absolute", "--loss", "huber"], "not against a loss"),
        (&["--prior", "t=7+-1", "--absolute", "--compare", "linear"], "without priors"),
        (&["--prior", "t=7+-1", "--absolute", "--intervals", "0.68"], "without priors"),
        (&["--prior", "t=7+-1"], "absolute"),
        (&["--prior", "t=7+-0", "--absolute", "--weights", "1"], "not above 0"),
        (&["--prior", "t=7+--1", "--absolute", "--weights", "1"], "not above 0"),
        (&["--prior", "t=7", "--absolute"], "NAME=MEAN+-DEVIATION"),
        (&["--prior", "t=nan+-1", "--absolute", "--weights", "1"], "not finite"),
        (&["--prior", "t=7+-1,t=8+-1", "--absolute", "--weights", "1"], "two priors"),
        (
            &["--prior", "t=7+-1", "--absolute", "--weights", "1", "--bounds", "t=8:"],
            "outside its limits",
        ),
        (&["--prior", "t=7+-1", "--absolute"], "give weights"),
        (&["--where", "c=1-c"], "tied to itself"),
        (&["--where", "c=a", "--where", "a=c"], "circle"),
        (&["--where", "c=x"], "variable"),
        (&["--where", "c=q"], "no parameter 'q'"),
        (&["--where", "c"], "NAME=EXPRESSION"),
        (&["--where", "c=a", "--bounds", "c=0:"], "no parameter any more"),
        (&["--where", "c=a", "--prior", "c=1+-1", "--absolute"], "no parameter any more"),
        (&["--where", "c=a", "--share", "c"], "no parameter any more"),
    ];
    for (words, told) in cases {
        let mut all: Vec<Word<'_>> = vec![&"curve", &data, &"-o", &fits, &"-m", &"exponential"];
        all.extend(words.iter().map(|word| word as Word<'_>));
        fails(&all, &[told]);
        assert!(!fits.exists(), "{words:?}");
    }
}

/// Proves that data which harm a shared fit neither panic nor keep it going for ever, whatever is asked for beside: they are fitted, or
/// refused with a message.
#[test]
fn harmful_data_end() {
    let folder = Folder::new();
    let table = |name: &str, of: &dyn Fn(usize, usize) -> String| {
        let mut text = "x,a,b\n".to_owned();
        for at in 0..12 {
            text += &format!("{},{},{}\n", of(at, 0), of(at, 1), of(at, 2));
        }
        folder.file(name, text.as_bytes())
    };
    let plain = |at: usize, column: usize| match column {
        0 => at.to_string(),
        column => {
            let noise = ((at * 7 + column * 3) % 5) as f64;
            (column as f64 * 3.0 * (-(at as f64) / 3.0).exp() + 1.0 + 0.02 * noise).to_string()
        }
    };
    let with = |own: &'static str, [row, in_column]: [usize; 2]| {
        move |at: usize, column: usize| {
            let is_here = (row == usize::MAX || at == row) && column == in_column;
            if is_here { own.to_owned() } else { plain(at, column) }
        }
    };
    const ALL: usize = usize::MAX;
    let scaled = |by: f64| {
        move |at: usize, column: usize| {
            let value = plain(at, column);
            if column == 0 { value } else { (value.parse::<f64>().expect("one") * by).to_string() }
        }
    };
    let tables = [
        table("far_x.csv", &with("1e300", [5, 0])),
        table("same_x.csv", &with("1", [ALL, 0])),
        table("far_y.csv", &with("1e300", [5, 1])),
        table("flat.csv", &with("2", [ALL, 1])),
        table("none.csv", &with("nan", [ALL, 1])),
        table("some.csv", &with("nan", [3, 2])),
        table("huge.csv", &scaled(1e250)),
        table("tiny.csv", &scaled(1e-250)),
        folder.file("few.csv", b"x,a,b\n0,1,2\n"),
    ];
    let beside: [&[&str]; 9] = [
        &[],
        &["--compare", "0.5"],
        &["--compare", "linear", "--intervals", "0.68"],
        &["--intervals", "0.95", "--bounds", "t=0.1:"],
        &["--loss", "tukey"],
        &["--estimator", "mle"],
        &["--absolute", "--weights", "1", "--prior", "t=3+-1e-200"],
        &["--absolute", "--weights", "1", "--prior", "a=3+-1e200"],
        &["--weights", "1/y^2", "--precision", "f64"],
    ];
    for data in &tables {
        for (number, words) in beside.iter().enumerate() {
            let fits = folder.path("fits.csv");
            let start = ["auto", "a=2,t=2,c=1"][number % 2];
            let model = "a*exp(-x/t) + c";
            let mut all: Vec<Word<'_>> = vec![&"curve" as Word<'_>, data, &"-m", &model];
            all.extend([&"--start" as Word<'_>, &start, &"--share", &"t", &"-o", &fits]);
            all.extend(words.iter().map(|word| word as Word<'_>));
            let output = common::spotfit(&all);
            let said = String::from_utf8_lossy(&output.stderr);
            let what = format!("{} {words:?}: {said}", data.display());
            assert!(matches!(output.status.code(), Some(0..=2)), "{what}");
            assert!(output.status.success() || said.starts_with("spotfit: "), "{what}");
        }
    }
}
