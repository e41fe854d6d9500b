//! The user's browser.

use std::process::{Command, Stdio};

/// Opens an address in the user's browser; whether one could be asked to.
pub(super) fn open(address: &str) -> bool {
    let programs: &[(&str, &[&str])] = if cfg!(target_os = "macos") {
        &[("open", &[])]
    } else if cfg!(windows) {
        &[("rundll32", &["url.dll,FileProtocolHandler"])]
    } else {
        &[("xdg-open", &[]), ("gio", &["open"])]
    };
    programs.iter().any(|(program, words)| {
        let mut command = Command::new(program);
        let quiet = command.args(*words).arg(address).stdin(Stdio::null()).stdout(Stdio::null());
        let Ok(mut child) = quiet.stderr(Stdio::null()).spawn() else { return false };
        // It may stay as long as the browser does: somebody must ask how it ended.
        std::thread::Builder::new().spawn(move || child.wait()).is_ok()
    })
}
