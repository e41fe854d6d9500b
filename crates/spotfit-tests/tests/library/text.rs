//! Options and outcomes as text and back, with the feature `serde`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use spotfit::localize::{LocalizeOptions, Localizer, Positions, Roi};
use spotfit::ndarray::Array2;
use spotfit::{Backend, Camera, Criteria, Fit, FitterOptions, MaxError, Options, Status};

fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("text");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Proves that options come back as they were, and that what a file leaves out has its default.
#[test]
fn options_come_back() {
    let criteria = Criteria::TIGHT.with_max_error(MaxError::PerPixel(0.5));
    let fitter = FitterOptions::from(Options::default().with_criteria(criteria))
        .with_backend(Backend::Reference)
        .with_devices(vec![0, 3]);
    assert_eq!(again(&fitter), fitter);
    let mut positions = Positions::default();
    positions.push(3, 1.5, 2.5);
    let options = LocalizeOptions::default()
        .with_roi(Some(Roi { x: 1, y: 2, width: 30, height: 20 }))
        .with_positions(Some(positions))
        .with_fitter(fitter);
    assert_eq!(format!("{:?}", again(&options)), format!("{options:?}"));

    let file = r#"{"box_size": 9, "camera": {"baseline": 100.0}, "fitter": {"backend": "cpu"}}"#;
    let read: LocalizeOptions = serde_json::from_str(file).expect("options");
    let camera = Camera::default().with_baseline(100.0);
    let fitter = FitterOptions::default().with_backend(Backend::Cpu);
    let expected =
        LocalizeOptions::default().with_box_size(9).with_camera(camera).with_fitter(fitter);
    assert_eq!(format!("{read:?}"), format!("{expected:?}"));
}

/// Proves that outcomes come back, with the names of files for how a fit ended.
#[test]
fn outcomes_come_back() {
    let frame = Array2::from_shape_fn((30, 40), |(y, x)| {
        let (dx, dy) = (x as f64 - 17.3, y as f64 - 12.4);
        120 + ((x * 7 + y * 13) % 9) as u16 + (300.0 * (-(dx * dx + dy * dy) / 3.0).exp()) as u16
    });
    let mut localizer = Localizer::new((40, 30), LocalizeOptions::default()).expect("sound");
    let spots = localizer.frame(frame.view()).expect("a frame");
    assert_eq!((spots.len(), again(&spots)), (1, spots));
    assert_eq!(&again(localizer.counts()), localizer.counts());

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Kept {
        fit: Fit<f32>,
    }
    let fit =
        Fit { x: 1.25, y: 2.0, sigma: 1.5, amplitude: 9.0, background: 1.0, ..Fit::invalid() };
    let fit = Fit {
        sigma_x: 1.5,
        sigma_y: 1.5,
        angle: 0.0,
        offset_x: 0.1,
        offset_y: -0.2,
        chi2: 0.5,
        ..fit
    };
    let kept = Kept { fit: Fit { status: Status::MinStep, ..fit } };
    assert_eq!(again(&kept), kept);
    assert_eq!(serde_json::to_string(&Status::MinDelta).expect("text"), "\"min_delta\"");
}

/// Proves that what is done about defective pixels is a word or a file, in text as in the command.
#[test]
fn defects_are_words_or_files() {
    use spotfit::steps::localize::{DefectsOption, Given, LocalizeOptions};
    for (word, matches) in [
        ("auto", (|found| matches!(found, DefectsOption::Auto)) as fn(&DefectsOption) -> bool),
        ("none", |found| matches!(found, DefectsOption::None)),
        ("mask.npy", |found| matches!(found, DefectsOption::Given(Given::File(_)))),
    ] {
        let parsed: DefectsOption = word.parse().expect("any word");
        let options = LocalizeOptions::default().with_defects(Some(parsed));
        let text = serde_json::to_value(&options).expect("text");
        assert_eq!(text["defects"], word);
        let found = again(&options).defects.expect("defects");
        assert!(matches(&found), "{word}: {found:?}");
    }
    assert!(again(&LocalizeOptions::default()).defects.is_none());
}
