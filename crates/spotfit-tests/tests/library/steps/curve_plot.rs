//! Fits that are drawn.

use spotfit::model::Model;
use spotfit::steps::curve::{CurvePlot, LogX, PlottedFit};

fn drawn(log_x: LogX, x: &[f64], data: &[f64], weights: Option<&[f64]>) -> String {
    let model = Model::of_variables("a*dose + b", &["dose"]).expect("a model");
    let mut plot = CurvePlot::new(1, 6).with_log_x(log_x).with_absolute(true);
    let name = "a <b> & c";
    let mut fit = PlottedFit::new(name, &[2.0, 1.0], &[0.1, f64::INFINITY], data.to_vec());
    fit.at = x.iter().map(|x| vec![*x]).collect();
    fit.data_errors = weights.map(|of| plot.data_errors(of.iter().copied(), 1.0, 3));
    plot.draw(&model, &fit);
    plot.drawing().svg()
}

/// Proves that axes have their names, errors of data their bars, that what was left out by its weight does not stretch the axes,
/// and that no data, however odd, give anything but a drawing.
#[test]
fn fits_are_drawn() {
    let x: Vec<f64> = (0..6).map(|step| 10f64.powi(step - 3)).collect();
    let data: Vec<f64> = x.iter().map(|x| 2.0 * x + 1.0).collect();
    let svg = drawn(LogX::Auto, &x, &data, None);
    for part in [
        ">dose<",
        ">f(dose)<",
        ">residual<",
        ">10⁻²<",
        "a = 2.00 ± 0.10",
        "b = 1<",
        "f(dose) = a*dose + b",
        "a &lt;b&gt; &amp; c",
    ] {
        assert!(svg.contains(part), "{part} is missing in {svg}");
    }
    let count = |svg: &str, part: &str| svg.matches(part).count();
    // Each bar is a line with two ends, in both charts.
    let with = drawn(LogX::Auto, &x, &data, Some(&[1.0; 6]));
    assert_eq!(count(&with, "<polyline") - count(&svg, "<polyline"), 6 * 3 * 2);
    assert!(with.contains("± their errors") && !svg.contains("± their errors"));
    let mut wrong = data.clone();
    wrong[2] = 1e12;
    let hidden = drawn(LogX::No, &x, &wrong, Some(&[1.0, 1.0, 0.0, 1.0, 1.0, f64::NAN]));
    assert!(!hidden.contains("10¹²") && count(&hidden, "<circle") == 2 * 4 + 1, "{hidden}");
    assert!(!drawn(LogX::No, &x, &data, None).contains(">10⁻²<"));
    for odd in [0.0, f64::NAN, f64::INFINITY, 1e300, -1e300, 1e-320] {
        for log_x in [LogX::Auto, LogX::Yes, LogX::No] {
            for svg in [
                drawn(log_x, &[odd; 4], &[1.0, 2.0, odd, 4.0], None),
                drawn(log_x, &[1.0, 2.0, 3.0, 4.0], &[odd; 4], Some(&[odd; 4])),
                drawn(log_x, &[], &[], None),
            ] {
                assert!(!svg.contains("NaN") && svg.ends_with("</svg>\n"), "{odd}: {svg}");
            }
        }
    }
    assert!(CurvePlot::new(0, 6).drawing().svg().contains("<svg"));
    assert_eq!(CurvePlot::new(100, 4).chosen(), [0, 25, 50, 75]);
}

/// Proves that of an image data, model and residuals are drawn, data and model with the same colours.
#[test]
fn images_are_drawn() {
    let model = Model::named("gauss_2d").expect("a model");
    let parameters: Vec<f64> = model.parameters().iter().map(|_| 3.0).collect();
    let mut fit = PlottedFit::new("spot", &parameters, &parameters, Vec::new());
    fit.at = (0..63).map(|point| vec![f64::from(point % 9), f64::from(point / 9)]).collect();
    fit.data = model.values(&parameters, &fit.at);
    fit.image = Some(9);
    let mut plot = CurvePlot::new(1, 6);
    plot.draw(&model, &fit);
    let svg = plot.drawing().svg();
    for part in [">data<", ">model<", ">data − model<", ">x<", ">y<"] {
        assert!(svg.contains(part), "{part} is missing in {svg}");
    }
    let images: Vec<&str> = svg
        .split("<image")
        .skip(1)
        .filter_map(|rest| {
            rest.split_once("href=").map(|(_, url)| url.lines().next().unwrap_or_default())
        })
        .collect();
    assert_eq!(images.len(), 6);
    assert!(images[0] == images[2] && images[1] == images[3] && images[0] != images[4]);
}

/// Proves that on a logarithmic axis of values only what is above 0 is drawn, that the rest is counted, and that no data give anything
/// but a drawing.
#[test]
fn values_are_drawn_in_decades() {
    let model = Model::of_variables("a*exp(-t/7)", &["t"]).expect("a model");
    let drawn = |log_y: bool, data: &[f64], weights: bool| {
        let mut plot = CurvePlot::new(1, 6).with_log_y(log_y);
        let mut fit = PlottedFit::new("decay", &[1000.0], &[1.0], data.to_vec());
        fit.data_errors = weights.then(|| vec![400.0; data.len()]);
        plot.draw(&model, &fit);
        plot.drawing().svg()
    };
    let mut data: Vec<f64> = (0..40).map(|t| 1000.0 * (-f64::from(t) / 7.0).exp()).collect();
    let whole = drawn(true, &data, false);
    assert!(whole.contains(">10²<") || whole.contains(">100<"), "{whole}");
    assert!(!whole.contains("not drawn"));
    [data[3], data[9]] = [0.0, -5.0];
    for weights in [false, true] {
        let some = drawn(true, &data, weights);
        assert!(some.contains("2 points at or below 0 are not drawn"));
        assert!(!some.contains("NaN") && !some.contains("inf"));
    }
    assert!(!drawn(false, &data, true).contains("not drawn"));
    for odd in [&[-1.0, -2.0, 0.0][..], &[], &[f64::NAN, 1.0], &[f64::INFINITY; 3], &[1e-320; 3]] {
        for weights in [false, true] {
            let svg = drawn(true, odd, weights);
            assert!(svg.ends_with("</svg>\n") || svg.ends_with("</svg>"), "{odd:?}");
            assert!(!svg.contains("NaN"), "{odd:?}");
        }
    }
}
