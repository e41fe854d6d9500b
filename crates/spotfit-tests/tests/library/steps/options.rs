//! Options as JSON and back.

use spotfit::Length;
use spotfit::steps::drift;

/// Proves that options are the same after they were written as JSON, and how beads are given there.
#[test]
fn options_of_drift_come_back() {
    let read = |text: &str| serde_json::from_str::<drift::DriftOptions>(text);
    assert_eq!(read("{}").unwrap(), drift::DriftOptions::default());
    assert_eq!(read(r#"{"beads": "auto"}"#).unwrap().beads, Some(drift::Beads::Auto));
    let options = read(r#"{"beads": {"at": [[1.5, 2]]}, "range": "5px", "knots": 9}"#).unwrap();
    let expected = drift::DriftOptions::default()
        .with_beads(Some(drift::Beads::At(vec![[1.5, 2.0]])))
        .with_range(Some(Length::pixels(5.0)))
        .with_knots(Some(9));
    assert_eq!(options, expected);
    assert_eq!(read(&serde_json::to_string(&options).unwrap()).unwrap(), options);
    for wrong in [r#"{"beads": "some"}"#, r#"{"apply": "drift.csv"}"#, r#"{"segment": -1}"#] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

/// Proves that options are the same after they were written as JSON, whose numbers and words mean what they do on the command
/// line, and that what is no option is refused.
#[test]
fn options_of_pictures_come_back() {
    use spotfit::render::ColourMap;
    use spotfit::steps::render::{Blur, Colour, RenderOptions};
    let text = r##"{"pixel": "0.1px", "blur": 12, "extent": [0, "1um", 500, "20px"], "colours": ["red", "#0a0b0c"],
        "colour_map": "grey", "scale_bar": 0}"##;
    let options: RenderOptions = serde_json::from_str(text).unwrap();
    let expected = RenderOptions::default()
        .with_pixel(Some(Length::pixels(0.1)))
        .with_blur(Blur::Fixed(12.0.into()))
        .with_extent(Some([
            0.0.into(),
            Length::nanometres(1000.0),
            500.0.into(),
            Length::pixels(20.0),
        ]))
        .with_colours(vec![Colour([255, 0, 0]), Colour([10, 11, 12])])
        .with_colour_map(Some(ColourMap::Grey))
        .with_scale_bar(Some(0.0.into()));
    assert_eq!(options, expected);
    for options in [expected, RenderOptions::default()] {
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<RenderOptions>(&text).unwrap(), options, "{text}");
    }
    for blur in
        [Blur::Uncertainty, Blur::Average, Blur::Histogram, Blur::Fixed(Length::pixels(2.0))]
    {
        assert_eq!(blur.to_string().parse(), Ok(blur));
    }
    for wrong in [
        r#"{"blur": "much"}"#,
        r#"{"colours": ["pink"]}"#,
        r#"{"pixels": 3}"#,
        r#"{"extent": [1, 2, 3]}"#,
    ] {
        assert!(serde_json::from_str::<RenderOptions>(wrong).is_err(), "{wrong}");
    }
}
