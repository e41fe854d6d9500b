//! What `spotfit curve` says of fits besides parameters, as a user types it.

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Folder, fails, succeeds};

type Word<'a> = &'a dyn AsRef<OsStr>;

/// Three decays with noise that is always the same, whose names are hostile to CSV and HTML.
fn decays(folder: &Folder) -> PathBuf {
    let mut text = String::from("x,\"a,1\",<b>&,c\n");
    for i in 0..30 {
        let x = f64::from(i);
        let noise = |k: i32| 0.02 * (f64::from((i * 37 + k * 11) % 19) - 9.0);
        let decay = |k: i32| (5.0 + f64::from(k)) * (-x / 7.0).exp() + 1.0 + noise(k);
        text.push_str(&format!("{x},{},{},{}\n", decay(0), decay(1), decay(2)));
    }
    folder.file("decays.csv", text.as_bytes())
}

fn column<'a>(table: &'a [Vec<String>], name: &str) -> Vec<&'a str> {
    let at = table[0].iter().position(|column| column == name).expect(name);
    table[1..].iter().map(|row| row[at].as_str()).collect()
}

/// The rows of a table whose names have commas.
fn rows(csv: &[u8]) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let mut fields = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                c => fields.last_mut().expect("a field").push(c),
            }
        }
        fields
    };
    String::from_utf8(csv.to_vec()).expect("text").lines().map(row).collect()
}

fn numbers(table: &[Vec<String>], name: &str) -> Vec<f64> {
    column(table, name).iter().map(|text| text.parse().expect(text)).collect()
}

fn fit(folder: &Folder, data: &Path, words: &[Word<'_>]) -> (Vec<Vec<String>>, String) {
    let fits = folder.path("fits.csv");
    let begin: &[Word<'_>] = &[&"curve", &data, &"-o", &fits];
    let output = succeeds(&[begin, words].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (rows(&fs::read(fits).expect("the fits")), said)
}

/// Proves that each answer has its columns after the others, that the default table stays as it is, and that the report counts them.
#[test]
fn answers_are_columns() {
    let folder = Folder::new();
    let data = decays(&folder);
    let model: &[Word<'_>] = &[&"-m", &"exponential"];
    let plain = fit(&folder, &data, model).0;
    let asked: &[Word<'_>] = &[
        &"--statistics",
        &"--covariance",
        &"--derive",
        &"half_life=t*ln(2)",
        &"--derive",
        &"start=a+c",
        &"--intervals",
        &"0.6827",
        &"--compare",
        &"a*exp(-x/t)",
    ];
    let (table, said) = fit(&folder, &data, &[model, asked].concat());
    let width = plain[0].len();
    for (row, plain) in table.iter().zip(&plain) {
        assert_eq!(&row[..width], plain);
    }
    assert_eq!(
        table[0][width..].join(" "),
        "cov(a,t) cov(a,c) cov(t,c) half_life half_life_error start start_error a_low a_high a_interval t_low t_high t_interval \
         c_low c_high c_interval r_squared adjusted_r_squared aicc bic p_value compare_chi2 compare_degrees compare_p_value \
         aicc_difference aicc_weight compare_status preferred"
    );
    for (half, t) in numbers(&table, "half_life").iter().zip(numbers(&table, "t")) {
        assert!((half - t * 2f64.ln()).abs() < 1e-12);
    }
    let errors = numbers(&table, "t_error");
    let ends = [numbers(&table, "t_low"), numbers(&table, "t_high")];
    for (fit, t) in numbers(&table, "t").into_iter().enumerate() {
        let length = ends[1][fit] - ends[0][fit];
        assert!(ends[0][fit] < t && t < ends[1][fit] && (length / errors[fit] - 2.0).abs() < 0.2);
    }
    assert_eq!(column(&table, "t_interval"), ["closed"; 3]);
    assert_eq!(column(&table, "p_value"), [""; 3]);
    assert_eq!(column(&table, "preferred"), ["model"; 3]);
    assert!(said.contains("median of R² 0.99") && said.contains("intervals: 9 closed"), "{said}");
    assert!(said.contains("preferred: 3 model"), "{said}");
    let words: &[Word<'_>] =
        &[&"-m", &"exponential", &"--statistics", &"--absolute", &"--weights", &"1"];
    assert!(
        numbers(&fit(&folder, &data, words).0, "p_value").iter().all(|p| (0.0..=1.0).contains(p))
    );
}

/// Proves that any formula finds its start, and finds what the model with that name finds.
#[test]
fn formulas_find_their_start() {
    let folder = Folder::new();
    let data = decays(&folder);
    let named = fit(&folder, &data, &[&"-m", &"exponential"]).0;
    let found = fit(&folder, &data, &[&"-m", &"p*exp(-k*x) + q", &"--start", &"auto"]).0;
    for (t, k) in numbers(&named, "t").iter().zip(numbers(&found, "k")) {
        assert!((t * k - 1.0).abs() < 1e-4, "{t} {k}");
    }
    let none = folder.path("none.csv");
    fails(&[&"curve", &data, &"-m", &"p*exp(-k*x)", &"-o", &none], &["--start auto"]);
}

/// Proves that the report is one page with model, names, numbers and plots, in which names are no markup, and that bands are a table.
#[test]
fn reports_and_bands_are_files() {
    let folder = Folder::new();
    let data = decays(&folder);
    let (page, bands, plot) =
        (folder.path("fits.html"), folder.path("bands.csv"), folder.path("p.svg"));
    let words: &[Word<'_>] = &[
        &"-m",
        &"exponential",
        &"--report",
        &page,
        &"--bands",
        &"0.95",
        &"--bands-table",
        &bands,
        &"--plot",
        &plot,
    ];
    fit(&folder, &data, words);
    let html = fs::read_to_string(&page).expect("a page");
    for part in [
        "a*exp(-x/t) + c",
        "&lt;b&gt;&amp;",
        "<svg",
        " ± ",
        "R²",
        "decays.csv: exponential",
        "--bands 0.95",
    ] {
        assert!(html.contains(part), "{part} is missing");
    }
    assert!(!html.contains("<b>&") && !html.contains("<script") && html.ends_with("</html>\n"));
    assert_eq!(html.matches("<figure>").count(), 3);
    assert!(
        fs::read_to_string(&plot)
            .expect("a plot")
            .contains("bands of confidence and prediction at 95 %")
    );
    let table = rows(&fs::read(&bands).expect("bands"));
    assert_eq!(
        table[0].join(","),
        "fit,x,value,confidence_low,confidence_high,prediction_low,prediction_high"
    );
    assert_eq!(table.len(), 1 + 3 * 30);
    assert_eq!(table[1][0], "a,1");
    let all = |name: &str| numbers(&table, name);
    let ends = ["prediction_low", "confidence_low", "value", "confidence_high", "prediction_high"]
        .map(all);
    for row in 0..90 {
        assert!((1..5).all(|at| ends[at - 1][row] < ends[at][row]), "row {row}");
    }
}

/// Proves that bands of prediction are in the unit of y: q·√(σ² + σ_f²) with the errors of the points and `--absolute`, with those times the root of
/// χ²/degrees otherwise, also at a point without data; that those of a rule follow the model, at points of 0 too; and that a point whose error nobody knows has an
/// infinite one.
#[test]
fn bands_are_in_the_unit_of_y() {
    let folder = Folder::new();
    let table = |name: &str, text: &str, words: &str| {
        let data = folder.file(name, text.as_bytes());
        let bands = folder.path("bands.csv");
        let words = format!("-m linear --bands 0.95 {words}");
        let mut all: Vec<Word<'_>> = vec![&"--bands-table", &bands];
        let words: Vec<&str> = words.split(' ').collect();
        all.extend(words.iter().map(|word| word as Word<'_>));
        let (fits, _) = fit(&folder, &data, &all);
        (fits, rows(&fs::read(&bands).expect("bands")))
    };
    let half = |bands: &[Vec<String>], name: &str| -> Vec<f64> {
        let ends = ["low", "high"].map(|end| numbers(bands, &format!("{name}_{end}")));
        ends[1].iter().zip(&ends[0]).map(|(high, low)| (high - low) / 2.0).collect()
    };
    let mut text = "x,y,y_sd\n".to_owned();
    for x in 0..12 {
        let y = 2.0 * f64::from(x) + 0.1 * f64::from(x * 7 % 5 - 2);
        text += &if x == 4 { "4,,\n".to_owned() } else { format!("{x},{y},0.1\n") };
    }
    // Normal, and Student's of nine degrees of freedom.
    for (rest, quantile) in [(" --absolute", 1.959964), ("", 2.262157)] {
        let (fits, bands) = table("line.csv", &text, &format!("--error-columns _sd{rest}"));
        let scaled = (numbers(&fits, "chi2")[0] / 9.0).sqrt();
        let scale = if rest.is_empty() { scaled } else { 1.0 };
        let [own, new] = ["confidence", "prediction"].map(|name| half(&bands, name));
        assert_eq!(own.len(), 12);
        for (own, new) in own.iter().zip(&new) {
            let wanted = own.hypot(quantile * 0.1 * scale);
            assert!((new / wanted - 1.0).abs() < 1e-5, "{rest}: {new} {wanted}");
        }
    }
    let (_, bands) = table(
        "counts.csv",
        "x,y\n0,3\n1,0\n2,5\n3,9\n4,12\n5,11\n6,15\n",
        "--weights 1/y --absolute",
    );
    let [own, new] = ["confidence", "prediction"].map(|name| half(&bands, name));
    for ((own, new), value) in own.iter().zip(&new).zip(numbers(&bands, "value")) {
        let wanted = own.hypot(1.959964 * value.sqrt());
        assert!((new / wanted - 1.0).abs() < 1e-5, "{new} {wanted}");
    }
    let text = text.replacen(",0.1\n", ",0.3\n", 3);
    let (_, bands) = table("uneven.csv", &text, "--error-columns _sd");
    let new = half(&bands, "prediction");
    let infinite: Vec<usize> = (0..12).filter(|&at| new[at].is_infinite()).collect();
    assert_eq!(infinite, [4]);
    assert!(new[0] > 2.0 * new[11], "{new:?}");
}

/// Proves that answers that cannot be given are refused before anything is written, with the word that is wrong.
#[test]
fn wrong_answers_are_refused() {
    let folder = Folder::new();
    let data = decays(&folder);
    let fits = folder.path("none.csv");
    let refused = |words: &[Word<'_>], told: &str| {
        let begin: &[Word<'_>] = &[&"curve", &data, &"-m", &"exponential", &"-o", &fits];
        fails(&[begin, words].concat(), &[told]);
        assert!(!fits.exists(), "{told}");
    };
    refused(&[&"--intervals", &"1"], "--intervals 1 is out of its range");
    refused(&[&"--bands", &"nan"], "--bands NaN is out of its range");
    refused(&[&"--derive", &"half"], "--derive: 'half' is not NAME=FORMULA");
    refused(
        &[&"--derive", &"h=q*2"],
        "--derive: 'q' is no parameter of the model (it has a, t, c)",
    );
    refused(&[&"--derive", &"h=2"], "depends on no parameter");
    refused(&[&"--derive", &"h h=t"], "is no name");
    refused(&[&"--derive", &"h=t*("], "--derive: 't*('");
    refused(&[&"--derive", &"t=2*t"], "two columns 't'");
    refused(&[&"--derive", &"chi2=2*t"], "two columns 'chi2'");
    refused(&[&"--derive", &"aicc=2*t", &"--statistics"], "two columns 'aicc'");
    refused(&[&"--compare", &"exponentail"], "did you mean 'exponential'?");
    refused(&[&"--compare", &"gauss_2d"], "--compare: its variables are x, y");
    refused(&[&"--compare", &"p*x", &"--compare-start", &"q=1"], "--compare-start: ");
    refused(&[&"--compare-start", &"a=1"], "--compare");
    refused(&[&"--bands-table", &"b.csv"], "--bands");
    refused(&[&"--report", &"page.pdf"], "ends in .html");
    refused(&[&"--bands", &"0.9", &"--bands-table", &"bands.npy"], "ends in .csv");
    let same: &[Word<'_>] = &[&"--bands", &"0.9", &"--bands-table", &fits];
    refused(same, "it is the same file as");
}
