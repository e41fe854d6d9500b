//! What is known of fits with a loss: intervals and comparisons, by simulation; 1000 data sets of each with
//!
//! ```sh
//! SPOTFIT_NIGHTLY=1 cargo test --release -p fit-tests --test formulas loss_answers:: -- --nocapture
//! ```

use fit_tests::curves::{Curve, row, shared};
use fit_tests::effort;
use ndarray::Array2;
use spotfit::Backend;
use spotfit::model::answers::{AnswerColumn, AnswerValues, ComparedModel, FitAnswers};
use spotfit::model::{CurveFitter, CurveNoise, Loss, LossScale, Model, Sharing};

use crate::noise_simulated::{MODELS, SETS};

/// Answers for data, by name.
fn answers(
    case: &Curve,
    model: &Model,
    data: &Array2<f64>,
    noise: &CurveNoise<'_>,
    asked: &FitAnswers,
    absolute: bool,
) -> (spotfit::model::NoiseFits, Vec<AnswerColumn>) {
    let weights = Array2::from_elem((1, case.points), case.noise.powi(-2));
    let x = row(&case.x());
    let curves = shared(data, &x, Some(&weights));
    let fitter = CurveFitter::new(Backend::Cpu, 0).expect("a fitter");
    let options = model.options().with_absolute(absolute);
    let start = case.start();
    let found = model.fit_noise(&fitter, &curves, start[..].into(), &options, noise);
    let found = found.expect("fits");
    let columns = asked.columns(model, &fitter, &curves, &found, &options, &Sharing::default());
    (found, columns.expect("answers"))
}

pub(crate) fn numbers<'a>(columns: &'a [AnswerColumn], name: &str) -> &'a [f64] {
    let column = columns.iter().find(|column| column.name == name).expect("a column");
    let AnswerValues::Numbers(numbers) = &column.values else { panic!("{name} has numbers") };
    numbers
}

/// Proves that intervals by the profile of a loss hold the truth as often as they say, of clean data and beside outliers, and that about a line, whose
/// profile is nearly a parabola, they are a quantile of errors wide.
#[test]
fn intervals_hold_the_truth() {
    let seldom = effort(150, 150, SETS);
    for (seed, case) in (40..).zip(&MODELS) {
        for (loss, outliers, absolute) in [
            (Loss::Tukey, 0, false),
            (Loss::Huber, 0, true),
            (Loss::Cauchy, 0, false),
            (Loss::Tukey, case.points / 10, false),
        ] {
            let (data, _) = case.data_of(SETS, outliers, [8.0, 30.0], seed);
            let data = data.slice(ndarray::s![..seldom, ..]).to_owned();
            let model = case.model();
            let noise = CurveNoise::default().with_loss(loss);
            let asked = FitAnswers::default().with_intervals(Some(0.68));
            let (found, columns) = answers(case, &model, &data, &noise, &asked, absolute);
            for (j, (name, truth)) in model.parameters().iter().zip(case.truth).enumerate() {
                let [low, high] =
                    ["low", "high"].map(|end| numbers(&columns, &format!("{name}_{end}")));
                let inside = (0..seldom).filter(|&fit| low[fit] <= *truth && *truth <= high[fit]);
                let share = inside.count() as f64 / seldom as f64;
                println!("{} {} {outliers} {name}: {share:.3}", case.formula, loss.name());
                let spread = 4.0 * (0.68 * 0.32 / seldom as f64).sqrt();
                assert!((share - 0.68).abs() < spread.max(0.02), "{share}");
                if seed == 40 && outliers == 0 {
                    let width = |fit: usize| {
                        (high[fit] - low[fit]) / found.fits.fits.errors[[fit, j]] / 2.0
                    };
                    let mean = (0..seldom).map(width).sum::<f64>() / seldom as f64;
                    assert!((mean - 1.0).abs() < 0.05, "{loss:?} {mean}");
                }
            }
        }
    }
}

/// Proves that comparing a model with a larger one that contains it gives small p-values as often as they say, that AICc then prefers it, and that
/// outliers do not hide a term that is there.
#[test]
fn comparisons() {
    let line = &MODELS[0];
    let parabola = Model::of_variables("a + b*x + c*x^2", &["x"]).expect("a formula");
    let model = line.model();
    for (loss, outliers, absolute) in [
        (Loss::Tukey, 0, false),
        (Loss::Huber, 0, true),
        (Loss::SoftL1, 0, false),
        (Loss::Tukey, 4, false),
    ] {
        let (mut data, _) = line.data_of(SETS, outliers, [8.0, 30.0], 60);
        let noise = CurveNoise::default().with_loss(loss);
        let other = ComparedModel::new(parabola.clone(), Some(vec![1.0, 0.5, 0.0]));
        let asked = FitAnswers::default().with_compare(Some(Box::new(other)));
        let (_, columns) = answers(line, &model, &data, &noise, &asked, absolute);
        let p = numbers(&columns, "compare_p_value");
        let share = |most: f64| p.iter().filter(|p| **p < most).count() as f64 / SETS as f64;
        let [few, half] = [share(0.05), share(0.5)];
        println!("{} {outliers} {absolute}: {few:.3} below 0.05, {half:.3} below 0.5", loss.name());
        assert!((few - 0.05).abs() < 0.022 && (half - 0.5).abs() < 0.07, "{few} {half}");
        let difference = numbers(&columns, "aicc_difference");
        let kept = difference.iter().filter(|more| **more > 0.0).count() as f64 / SETS as f64;
        assert!(kept > 0.75, "{kept}");
        // A term of five errors.
        for mut row in data.rows_mut() {
            row.iter_mut().zip(line.x()).for_each(|(y, x)| *y += 0.0075 * (x - 14.5).powi(2));
        }
        let (_, columns) = answers(line, &model, &data, &noise, &asked, absolute);
        let p = numbers(&columns, "compare_p_value");
        let seen = p.iter().filter(|p| **p < 0.05).count() as f64 / SETS as f64;
        println!("  of a term {seen:.3}");
        assert!(seen > 0.95, "{seen}");
    }
}

/// Proves that answers with a loss whose scale is so large that all cost their squares are those of least squares.
#[test]
fn a_wide_loss_is_none() {
    let case = &MODELS[1];
    let (data, _) = case.data_of(SETS, 0, [0.0; 2], 70);
    let data = data.slice(ndarray::s![..20, ..]).to_owned();
    let model = case.model();
    let other = Model::of_variables("a*exp(-x/t)", &["x"]).expect("a formula");
    let other = Box::new(ComparedModel::new(other, Some(vec![10.0, 7.0])));
    let asked = FitAnswers::default().with_intervals(Some(0.9)).with_compare(Some(other));
    let (_, plain) = answers(case, &model, &data, &CurveNoise::default(), &asked, false);
    let wide = CurveNoise::default().with_loss(Loss::Huber).with_scale(LossScale::Held(1e3));
    let (_, found) = answers(case, &model, &data, &wide, &asked, false);
    for name in ["a_low", "a_high", "t_low", "t_high", "c_low", "c_high", "compare_p_value"] {
        for (own, wanted) in numbers(&found, name).iter().zip(numbers(&plain, name)) {
            let off = (own - wanted).abs();
            assert!(off <= 1e-3 * wanted.abs() + 1e-12, "{name}: {own} {wanted}");
        }
    }
}
