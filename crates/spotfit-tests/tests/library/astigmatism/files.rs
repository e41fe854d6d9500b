//! Files of calibrations.

use spotfit::astigmatism::file::read;
use spotfit::astigmatism::find::{DepthStatus, SpotWidths};

/// Widths that z shifts against each other, in Picasso's form.
const PICASSO: &str = "Frame bounds: null\nMagnification factor: 0.79\nNumber of frames: 121\nStep size in nm: 10\n\
    X Coefficients:\n- 0.0\n- 0.0\n- 0.0\n- 0.0\n- 5.0e-06\n- -2.0e-03\n- 1.5\n\
    Y Coefficients:\n- 0.0\n- 0.0\n- 0.0\n- 0.0\n- 5.0e-06\n- 2.0e-03\n- 1.5\n";

/// Proves that Picasso's calibrations are read, with the range that they imply, and z is what they say.
#[test]
fn calibrations_of_picasso_are_read() {
    let finder = read(PICASSO.as_bytes(), None).expect("a calibration");
    let z = 200.0;
    let sigma = [1.5 - 2e-3 * z + 5e-6 * z * z, 1.5 + 2e-3 * z + 5e-6 * z * z];
    let depth = finder.find(&SpotWidths { sigma, errors: [0.02; 2], correlation: 0.0 });
    assert!((depth.z - 0.79 * z).abs() < 1e-3, "{depth:?}");
    let far = finder.find(&SpotWidths { sigma: [0.9, 8.0], errors: [0.02; 2], correlation: 0.0 });
    assert_eq!(far.status, DepthStatus::Above);
    assert_eq!(finder.box_size(), None);
    let boxed = read(format!("{PICASSO}Box Size: 13\n").as_bytes(), None).expect("a calibration");
    assert_eq!(boxed.box_size(), Some(13));
}

/// Proves that widths in nanometres, as Picasso 1.0 has them, are the same widths in pixels, that no pixel's size is guessed, and
/// that other versions are refused by name.
#[test]
fn widths_in_nanometres_are_converted() {
    let nanometres = PICASSO
        .replace("5.0e-06", "5.0e-04")
        .replace("2.0e-03", "0.2")
        .replace("- 1.5\n", "- 150.0\n");
    let marked = format!("{nanometres}picasso_format: '1.0'\n");
    let pixels = read(PICASSO.as_bytes(), None).expect("a calibration");
    let told = read(marked.as_bytes(), Some(100.0)).expect("a calibration");
    let said = read(format!("{marked}Pixelsize: 100\n").as_bytes(), None).expect("a calibration");
    for finder in [told, said] {
        for z in [-300.0, 0.0, 250.0] {
            let (found, needed) = (finder.curve().widths(z), pixels.curve().widths(z));
            assert!((found[0] - needed[0]).abs() < 1e-12, "{found:?}, {needed:?}");
            assert!((found[1] - needed[1]).abs() < 1e-12, "{found:?}, {needed:?}");
        }
    }
    // A size of pixels changes nothing where widths are in pixels.
    let same = read(PICASSO.as_bytes(), Some(100.0)).expect("a calibration");
    assert_eq!(same.curve(), pixels.curve());
    let wrong = read(marked.as_bytes(), None).expect_err("no size").to_string();
    assert!(wrong.contains("the size of a pixel is not known"), "{wrong}");
    let newer = marked.replace("'1.0'", "'2.0'");
    let wrong = read(newer.as_bytes(), Some(100.0)).expect_err("2.0");
    assert!(wrong.to_string().contains("'2.0'"), "{wrong}");
}

/// Proves that what is wrong is named.
#[test]
fn what_is_wrong_is_named() {
    let said = |text: &str| read(text.as_bytes(), None).expect_err("wrong").to_string();
    assert!(said("").contains("X Coefficients must be a list of 7 numbers"));
    assert!(said(&PICASSO.replacen("- 1.5\n", "", 1)).contains("X Coefficients"));
    assert!(
        said(&PICASSO.replace("0.79", "large")).contains("Magnification factor is not a number")
    );
    let boxed = |side: &str| said(&format!("{PICASSO}Box Size: {side}\n"));
    assert!(boxed("large").contains("Box Size is not a number"));
    assert!(boxed("0").contains("Box Size is not a whole number"));
    assert!(boxed("7.5").contains("Box Size is not a whole number"));
    assert!(said(&PICASSO.replace("0.79", "-1.0")).contains("magnification"));
    assert!(said(&(PICASSO.to_owned() + "Z Range: [1]\n")).contains("Z Range must be"));
    assert!(said("a: [").contains("line"));
}
