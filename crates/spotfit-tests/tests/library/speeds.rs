//! Files of what machines can do.

use std::fs;

use spotfit::speeds::{Rates, Speeds};

/// Those of a machine without a GPU.
fn speeds(context: f64, thread: f64) -> Speeds {
    let rates = Rates::new(thread, None);
    let mut speeds = Speeds::default();
    speeds.context = context;
    (speeds.least_squares, speeds.likelihood) = (rates, rates);
    (speeds.localize, speeds.curve) = (rates, rates);
    speeds
}

/// Proves that a file has what was kept, in a folder that was not there; that no file is none; and that others are errors that say what
/// is wrong and where.
#[test]
fn files_are_read_again_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings/spotfit/speeds.json");
    assert!(Speeds::read(&path).unwrap().is_none());
    for kept in [Speeds::default(), speeds(0.1 + 0.2, 1.0 / 3.0)] {
        kept.save(&path).unwrap();
        assert_eq!(Speeds::read(&path).unwrap(), Some(kept));
    }
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    let good = fs::read_to_string(&path).unwrap();
    let spoiled = [
        (String::new(), "EOF"),
        (good[..good.len() / 2].to_owned(), "EOF"),
        (good.replace("context", "contest"), "contest"),
        (good.replace("0.3333333333333333", "\"fast\""), "invalid type"),
        (good.replace("0.3333333333333333", "-1"), "out of its range"),
        (good.replace("0.3333333333333333", "0"), "out of its range"),
        (good.replace("0.3333333333333333", "1e300"), "out of its range"),
        ("[]".to_owned(), "invalid"),
        ("null".to_owned(), "invalid type"),
    ];
    for (text, why) in spoiled {
        fs::write(&path, &text).unwrap();
        let error = Speeds::read(&path).unwrap_err().to_string();
        assert!(error.contains("speeds.json") && error.contains(why), "{text}: {error}");
    }
    let error = Speeds::read(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with(&folder.path().display().to_string()), "{error}");
    let error = speeds(1.0, 1.0).save(&path.join("speeds.json")).unwrap_err().to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
}
