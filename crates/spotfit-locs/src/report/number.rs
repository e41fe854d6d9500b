//! Numbers as people write them, for axes, tables and reports.

/// A power of ten: 10⁵.
fn power(exponent: i32) -> String {
    let raised = |digit| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => char::from_u32('⁰' as u32 + other as u32 - '0' as u32).unwrap_or(other),
    };
    let digits: String = exponent.to_string().chars().map(raised).collect();
    format!("10{digits}")
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A number of at most five digits.
pub fn five_digits(number: f64) -> String {
    if number.abs() < 1e-12 {
        "0".to_owned()
    } else if (1e-3..1e6).contains(&number.abs()) {
        let digits = (3 - number.abs().log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{number:.digits$}");
        if digits > 0 { without_zeros(&text).to_owned() } else { text }
    } else {
        format!("{number:.1e}")
    }
}

/// A number and its error, to two digits of the error; the number alone where the error is none.
pub fn with_error(value: f64, error: f64) -> String {
    let decimals = 1.0 - error.log10().floor();
    if !(error > 0.0 && error.is_finite()) {
        return five_digits(value);
    }
    if decimals > 9.0 || !(1e-3..1e6).contains(&value.abs()) && value.abs() > error {
        return format!("{} ± {}", five_digits(value), five_digits(error));
    }
    let decimals = decimals.max(0.0) as usize;
    format!("{value:.decimals$} ± {error:.decimals$}")
}

/// A number with three digits: as it is from 0.001 to 99,999, else with a power of ten.
pub fn label(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-3..1e5).contains(&size) {
        let digits = (2 - size.log10().floor() as i32).clamp(0, 5) as usize;
        return without_zeros(&format!("{value:.digits$}")).to_owned();
    }
    let exponent = exponent_of(value);
    let front = format!("{:.2}", value / 10f64.powi(exponent));
    match without_zeros(&front) {
        "1" => power(exponent),
        front => format!("{front}·{}", power(exponent)),
    }
}

/// The power of ten of a number that is written with three digits.
fn exponent_of(value: f64) -> i32 {
    let exponent = value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    exponent + i32::from((value / 10f64.powi(exponent)).abs() >= 9.995)
}

/// A positive number with three digits, without powers of ten however large or small it is, for columns.
pub fn plain(value: f64) -> String {
    if value >= 999.5 {
        return grouped(value.round() as usize);
    }
    let digits = (2.0 - value.max(1e-12).log10().floor()).max(0.0) as usize;
    without_zeros(&format!("{value:.digits$}")).to_owned()
}

/// A number with three digits and a power of ten, for columns of numbers of every size.
pub fn scientific(value: f64) -> String {
    let exponent = exponent_of(value);
    format!("{:.2}·{}", value / 10f64.powi(exponent), power(exponent))
}

/// A whole number, with its thousands apart from 10,000 on.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    if number < 10_000 {
        return digits;
    }
    let first = digits.len() % 3;
    let mut text = digits[..first].to_owned();
    for chunk in digits.as_bytes()[first..].chunks(3) {
        if !text.is_empty() {
            text.push(',');
        }
        text.extend(chunk.iter().map(|&digit| char::from(digit)));
    }
    text
}

/// The ticks of an axis, all in the same notation: powers of ten, decimals with the same digits, or numbers times a
/// power of ten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Notation {
    /// 10⁵.
    Powers,
    /// 0.25.
    Decimals(usize),
    /// 2·10⁵, each with its own power.
    Scientific,
    /// 2.5·10⁵, all with the same power.
    Times { exponent: i32, digits: usize },
}

impl Notation {
    /// The notation of a logarithmic axis, from its ticks.
    pub(crate) fn of_log(ticks: &[f64]) -> Self {
        let whole = |tick: &f64| (tick.log10() - tick.log10().round()).abs() < 1e-9;
        if ticks.iter().all(whole) {
            return Self::Powers;
        }
        match ticks {
            [low, .., high] if *low >= 1e-3 && *high < 1e5 => {
                Self::Decimals((-low.log10().floor()).max(0.0) as usize)
            }
            _ => Self::Scientific,
        }
    }

    /// The notation of a linear axis, from the distance of its ticks and the largest of them.
    pub(crate) fn of_linear(step: f64, largest: f64) -> Self {
        let digits = |step: f64| (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
        if largest < 1e5 && step >= 1e-3 {
            return Self::Decimals(digits(step));
        }
        let exponent = largest.log10().floor() as i32;
        Self::Times { exponent, digits: digits(step / 10f64.powi(exponent)) }
    }

    /// A tick.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Powers => power(value.log10().round() as i32),
            // No negative zero.
            Self::Decimals(digits) => format!("{:.digits$}", value + 0.0),
            Self::Scientific => {
                let exponent = (value.log10() + 1e-9).floor() as i32;
                format!("{:.0}·{}", value / 10f64.powi(exponent), power(exponent))
            }
            Self::Times { .. } if value == 0.0 => "0".to_owned(),
            Self::Times { exponent, digits } => {
                format!("{:.digits$}·{}", value / 10f64.powi(exponent), power(exponent))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that numbers read as people write them.
    #[test]
    fn labels() {
        assert_eq!([0.0, 1500.0, 0.25, 1e7].map(five_digits), ["0", "1500", "0.25", "1.0e7"]);
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.05, "0.05"),
            (12.5, "12.5"),
            (1000.0, "1000"),
            (1e5, "10⁵"),
            (2.5e7, "2.5·10⁷"),
            (9.999e6, "10⁷"),
            (1e-4, "10⁻⁴"),
            (-3e-5, "-3·10⁻⁵"),
        ] {
            assert_eq!(label(value), expected);
        }
        for (number, expected) in
            [(0, "0"), (10, "10"), (1000, "1000"), (123_456, "123,456"), (10_000_000, "10,000,000")]
        {
            assert_eq!(grouped(number), expected);
        }
        for (value, error, expected) in [
            (10.2384, 0.316, "10.24 ± 0.32"),
            (0.10238, 0.0031, "0.1024 ± 0.0031"),
            (2713.2, 14.0, "2713 ± 14"),
            (1.0, 1e-12, "1 ± 1.0e-12"),
            (3.2e7, 1e5, "3.2e7 ± 100000"),
            (0.01, 3.0, "0.0 ± 3.0"),
            (5.0, 0.0, "5"),
            (5.0, f64::INFINITY, "5"),
        ] {
            assert_eq!(with_error(value, error), expected);
        }
        for (number, expected) in [
            (0.0, "0"),
            (0.000_059_84, "0.0000598"),
            (0.346, "0.346"),
            (16.0, "16"),
            (999.9, "1000"),
            (123_456.7, "123,457"),
        ] {
            assert_eq!(plain(number), expected);
        }
        for (number, expected) in
            [(84_765.0, "8.48·10⁴"), (99_960.0, "1.00·10⁵"), (0.05, "5.00·10⁻²")]
        {
            assert_eq!(scientific(number), expected);
        }
    }

    /// Proves that all ticks of an axis are in one notation, whatever it shows.
    #[test]
    fn ticks_are_in_one_notation() {
        let texts = |notation: Notation, ticks: &[f64]| {
            ticks.iter().map(|&tick| notation.text(tick)).collect::<Vec<_>>().join(" ")
        };
        for (ticks, expected) in [
            (&[1.0, 10.0, 1e3, 1e6][..], "10⁰ 10¹ 10³ 10⁶"),
            (&[20.0, 50.0, 100.0], "20 50 100"),
            (&[0.5, 1.0, 2.0], "0.5 1.0 2.0"),
            (&[5e4, 1e5, 2e5], "5·10⁴ 1·10⁵ 2·10⁵"),
        ] {
            assert_eq!(texts(Notation::of_log(ticks), ticks), expected);
        }
        for (step, ticks, expected) in [
            (0.05, &[0.0, 0.05, 0.1][..], "0.00 0.05 0.10"),
            (20.0, &[-20.0, 0.0, 20.0], "-20 0 20"),
            (5e4, &[0.0, 5e4, 1e5], "0 0.5·10⁵ 1.0·10⁵"),
            (2e-5, &[0.0, 2e-5, 4e-5], "0 2·10⁻⁵ 4·10⁻⁵"),
        ] {
            let largest = ticks.iter().copied().fold(0.0, |a: f64, b: f64| a.max(b.abs()));
            assert_eq!(texts(Notation::of_linear(step, largest), ticks), expected);
        }
    }
}
