//! Messages on standard error, and results on standard output.

use std::fmt::{Arguments, Write as _};
use std::io::{self, Write as _};

use super::hearer::hearer;
use crate::error::CliError;

/// Prints a result on standard output: everything that is no file goes through this. Of a reader that has closed its pipe
/// it makes an error that ends the command quietly, see [`CliError::is_broken_pipe`]; `println!` would panic.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    if let Some(hearer) = hearer() {
        hearer.print(text);
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(CliError::write("standard output"))
}

/// Prints a message on standard error. Errors are ignored: a result does not fail because its message cannot be
/// printed.
pub(crate) fn tell(message: Arguments<'_>) {
    let text = harmless(&message.to_string());
    if let Some(hearer) = hearer() {
        return hearer.tell(&text);
    }
    let _ = writeln!(io::stderr(), "{text}");
}

/// The text with control characters escaped, since names and values may come from hostile files.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for symbol in text.chars() {
        if symbol.is_control() && symbol != '\n' {
            let written = write!(out, "{}", symbol.escape_default());
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        } else {
            out.push(symbol);
        }
    }
    out
}

/// [`tell`] with the arguments of `format!`.
macro_rules! say {
    ($($argument:tt)*) => {
        $crate::say::message::tell(format_args!($($argument)*))
    };
}
pub(crate) use say;
