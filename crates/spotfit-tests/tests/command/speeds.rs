//! What `devices --measure` measures and keeps, and who reads it.

use std::fs;
use std::process::{Command, Output};

use crate::common::{Folder, npy};

fn spotfit(folder: &Folder, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"));
    command.args(arguments).current_dir(folder.0.path()).env_remove("SPOTFIT_SPEEDS");
    command.env("XDG_CONFIG_HOME", folder.path("settings"));
    command.envs(variables.iter().copied()).output().expect("the command runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
        + String::from_utf8_lossy(&output.stderr).as_ref()
}

/// Proves that measured speeds are kept in the folder of settings and read again, or in the file that a variable names; that a file that is
/// none is an error of `devices` and a warning of `fit`, which fits all the same; and that the variable can do without files.
#[test]
fn speeds_are_measured_kept_and_doubted() {
    let folder = Folder::new();
    let file = folder.path("settings/spotfit/speeds.json");
    let named = file.display().to_string();
    let default = said(&spotfit(&folder, &[], &["devices"]));
    assert!(default.contains("default speeds") && !file.exists(), "{default}");
    assert!(default.contains("from a file to a table"), "{default}");

    let measured = spotfit(&folder, &[], &["devices", "--measure"]);
    let told = said(&measured);
    assert!(measured.status.success() && told.contains(&format!("speeds of {named}")), "{told}");
    for job in ["fit by least squares", "fit by maximum likelihood", "localize", "curve"] {
        assert!(told.contains(&format!("\n{job}: ")), "{told}");
    }
    assert_eq!(told.contains("gpu: none"), told.contains("no GPU was measured"), "{told}");
    let again = said(&spotfit(&folder, &[], &["devices"]));
    assert!(again.contains(&format!("speeds of {named}")), "{again}");
    let none = said(&spotfit(&folder, &[("SPOTFIT_SPEEDS", "none")], &["devices"]));
    assert!(none.contains("default speeds"), "{none}");

    fs::write(folder.path("other.json"), "{\"context\": 1}").expect("a file");
    let pixels: Vec<u8> = (0..75).map(|i| (i * i % 97) as u8).collect();
    folder.file("spots.npy", &npy("'|u1'", "False", "(3, 5, 5)", &pixels));
    let other = [("SPOTFIT_SPEEDS", "other.json")];
    let refused = spotfit(&folder, &other, &["devices"]);
    let told = said(&refused);
    assert!(
        refused.status.code() == Some(1) && told.contains("other.json has no speeds"),
        "{told}"
    );
    for (words, warns) in [
        (&["fit", "spots.npy", "-o", "a.csv"][..], true),
        (&["fit", "spots.npy", "-o", "a.csv", "--backend", "cpu"], false),
    ] {
        let fitted = spotfit(&folder, &other, words);
        let told = said(&fitted);
        assert!(fitted.status.success(), "{told}");
        assert_eq!(told.contains("warning: other.json has no speeds"), warns, "{told}");
    }
    let nowhere = [("XDG_CONFIG_HOME", "/proc/no/settings")];
    let refused = spotfit(&folder, &nowhere, &["devices", "--measure"]);
    if cfg!(target_os = "linux") {
        assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    }
}
