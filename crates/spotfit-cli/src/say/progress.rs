//! Bars that show how far the work is.

use std::fmt::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// A bar with rate and time left on a terminal, and nothing elsewhere. With `message`, a word beside it.
pub(crate) fn progress(count: u64, unit: &str, message: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::stderr());
    let message = if message { ", {msg}" } else { "" };
    let template = format!("{{bar:30}} {{pos}}/{{len}} {unit}{message}, {{rate}}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).unwrap_or(ProgressStyle::default_bar());
    bar.with_style(style.with_key("rate", |state: &ProgressState, text: &mut dyn Write| {
        // What cannot be shown is left out.
        let _ = write!(text, "{}/s", shown(state.per_sec()));
    }))
}

/// A rate with three digits that count.
fn shown(rate: f64) -> String {
    match rate {
        rate if rate >= 1e6 => format!("{:.2} million", rate / 1e6),
        rate if rate >= 100.0 => format!("{rate:.0}"),
        rate if rate >= 10.0 => format!("{rate:.1}"),
        rate => format!("{rate:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that rates have few digits.
    #[test]
    fn rates_are_short() {
        let rates = [0.0, 1.23456, 12.3456, 123.456, 98_765.4, 1_234_567.0].map(shown);
        assert_eq!(rates, ["0.00", "1.23", "12.3", "123", "98765", "1.23 million"]);
    }
}
