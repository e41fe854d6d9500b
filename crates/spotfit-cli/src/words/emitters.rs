//! How many emitters there may be.

use spotfit::localize::Emitters;

/// A number of emitters, or auto.
pub(crate) fn parse_emitters(text: &str) -> Result<Emitters, String> {
    text.parse().map_err(|error: spotfit::OutOfRange| format!("not {}", error.range))
}
