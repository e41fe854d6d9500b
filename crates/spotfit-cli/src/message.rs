//! Messages on standard error.

use std::fmt::{Arguments, Write as _};
use std::io::{self, Write as _};

/// Prints a message on standard error. Errors are ignored: a result does not fail because its message cannot be
/// printed.
pub(crate) fn tell(message: Arguments<'_>) {
    let text = harmless(&message.to_string());
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
        $crate::message::tell(format_args!($($argument)*))
    };
}
pub(crate) use say;
