//! The user's browser.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use tempfile::{Builder, NamedTempFile};

/// Opens an address in the user's browser: the page that leads there, which is to stay as long as the server; nothing if no browser could be
/// asked.
///
/// The address holds a secret, and every user of a machine can read the command lines of the others: the browser is given a file that only
/// its user can read.
pub(super) fn open(address: &str) -> Option<NamedTempFile> {
    let programs: &[(&str, &[&str])] = if cfg!(target_os = "macos") {
        &[("open", &[])]
    } else if cfg!(windows) {
        &[("rundll32", &["url.dll,FileProtocolHandler"])]
    } else {
        &[("xdg-open", &[]), ("gio", &["open"])]
    };
    let page = forwarding(address).ok()?;
    let asked = programs.iter().any(|(program, words)| {
        let mut command = Command::new(program);
        let quiet =
            command.args(*words).arg(page.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let Ok(mut child) = quiet.stderr(Stdio::null()).spawn() else { return false };
        // It may stay as long as the browser does: somebody must ask how it ended.
        std::thread::Builder::new().spawn(move || child.wait()).is_ok()
    });
    asked.then_some(page)
}

/// A page that leads to an address, in a file of this user alone.
fn forwarding(address: &str) -> io::Result<NamedTempFile> {
    let mut page = Builder::new().prefix("spotfit-").suffix(".html").tempfile()?;
    writeln!(
        page,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\"><title>Spotfit</title><a href=\"{address}\">Spotfit</a>"
    )?;
    page.flush()?;
    Ok(page)
}
