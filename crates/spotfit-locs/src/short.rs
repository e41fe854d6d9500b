//! Numbers for people.

/// A number with four digits at least, and no more decimals than that takes.
pub fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return "0".to_owned();
    }
    let decimals = (3.0 - number.abs().log10().floor()).clamp(0.0, 300.0) as usize;
    if decimals > 9 || number.abs() >= 1e15 {
        return format!("{number:.2e}");
    }
    let text = format!("{number:.decimals$}");
    if decimals == 0 {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
