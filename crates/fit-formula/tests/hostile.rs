//! Formulas that nobody would write: no panic, no hang, no unbounded memory. A million of them:
//!
//! ```sh
//! SPOTFIT_ATTACK=long cargo test --release -p fit-formula --test hostile
//! ```

use fit_formula::{Axes, Condition, Evaluator, Formula, functions};

/// A generator of numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

const SEEDS: [&str; 8] = [
    "a*exp(-x/t) + c",
    "a*exp(-((x - x0)^2 + (y - y0)^2)/(2*s^2)) + b",
    "u = (x - x0)/w; a*exp(-u^2) + b",
    "if(1 <= x <= 3 & x != 2 | !(x < 4), a*x, b)",
    "d + (a - d)/(1 + (x/c)^b)",
    "a*voigt(x - x0, s, g) + b*w_im(x, g)",
    "top*x^n/(k^n + x^n)",
    "\"x\"*a^b^2 - 1.5e-3*min(x, y, a)",
];
const PIECES: [&str; 48] = [
    "+", "-", "*", "/", "^", "**", "(", ")", "((", "))", ",", ";", "=", "==", "<", "<=", "!", "&",
    "|", "x", "y", "a", "b", "s", "u", "u=", "0", "1", "2", "-1", "0.5", "1e-300", "1e300", "64",
    "1024", "1e9", "pi", "\"", "'", "`", ".", "e", "é", "−", "\n", "\0", "if(", " and ",
];

/// A text that was changed in a few places.
fn mutated(numbers: &mut Numbers, functions: &[String]) -> String {
    let mut text: Vec<char> = numbers.of(&SEEDS).chars().collect();
    for _ in 0..1 + numbers.below(4) {
        let at = numbers.below(text.len() + 1);
        let end = (at + numbers.below(6)).min(text.len());
        match numbers.below(6) {
            0 => drop(text.drain(at..end)),
            1 => {
                let copied: Vec<char> = text[at..end].to_vec();
                let to = numbers.below(text.len() + 1);
                text.splice(to..to, copied);
            }
            2 => {
                let function = &functions[numbers.below(functions.len())];
                text.splice(at..at, function.chars());
            }
            3 => {
                let other = numbers.of(&SEEDS);
                text.splice(at..end, format!("({other})").chars());
            }
            _ => {
                let piece = numbers.of(&PIECES);
                text.splice(at..end, piece.chars());
            }
        }
    }
    text.into_iter().collect()
}

/// Proves that a text is either refused with a place in it, or gives a program that can run, and is not too long for it.
#[test]
fn mutated_formulas() {
    let long = std::env::var("SPOTFIT_ATTACK").is_ok_and(|value| value == "long");
    let count = if long { 1_000_000 } else { 20_000 };
    let functions: Vec<String> = functions()
        .map(|(usage, _)| usage.split_inclusive('(').next().expect("a name").to_string())
        .collect();
    let mut numbers = Numbers(1);
    let (mut read, mut longest) = (0, (0, String::new()));
    for _ in 0..count {
        let text = mutated(&mut numbers, &functions);
        let mut operations = 0;
        match Formula::of_variables(&text, &["x", "y"]) {
            Err(error) => {
                assert!(text.get(error.at.clone()).is_some(), "{text:?}: {error:?}");
                assert!(error.shown_in(&text).lines().count() == 3, "{text:?}: {error:?}");
            }
            Ok(formula) => {
                read += 1;
                let count = formula.parameters().len();
                for axes in [Axes::Together, Axes::Grid] {
                    let program = formula.program(axes, &vec![true; count]);
                    operations = operations.max(program.ops().len());
                    let mut evaluator = Evaluator::new(&program);
                    evaluator.set_parameters(&vec![0.7; count]);
                    evaluator.value(&[0.3, -0.2]);
                    evaluator.derivatives(&mut vec![0.0; count]);
                }
                assert_eq!(formula.linear().len(), count);
            }
        }
        let _ = Condition::new(&text, &["x", "y", "a", "b"]);
        longest = longest.max((operations, text));
    }
    println!("{read} of {count} are formulas; the longest program has {longest:?}");
    assert!(read > count / 20, "{read} of {count} are formulas");
    assert!(longest.0 < 1_000_000, "{longest:?}");
}

/// A text of the grammar, with what it gives for x and a.
fn grown(numbers: &mut Numbers, depth: usize, [x, a]: [f64; 2]) -> (String, f64) {
    let at = [x, a];
    let inner = |numbers: &mut Numbers| grown(numbers, depth - 1, at);
    if depth == 0 {
        return match numbers.below(3) {
            0 => ("x".into(), x),
            1 => ("a".into(), a),
            _ => {
                let number = numbers.below(5) as f64 * 0.5;
                (format!("{number}"), number)
            }
        };
    }
    match numbers.below(10) {
        which @ 0..=4 => {
            let ((one, a), (other, b)) = (inner(numbers), inner(numbers));
            let (sign, value) = match which {
                0 | 1 => ("+", a + b),
                2 => ("-", a - b),
                _ => ("*", a * b),
            };
            (format!("({one} {sign} {other})"), value)
        }
        5 => {
            let (one, other) = (inner(numbers), inner(numbers));
            (format!("({}/(1.5 + {}^2))", one.0, other.0), one.1 / (1.5 + other.1.powi(2)))
        }
        6 => {
            let one = inner(numbers);
            (format!("(-{})", one.0), -one.1)
        }
        7 => {
            let one = inner(numbers);
            (format!("sin({})", one.0), one.1.sin())
        }
        8 => {
            let one = inner(numbers);
            (format!("exp(-{}^2)", one.0), (-one.1 * one.1).exp())
        }
        _ => {
            let (one, yes, no) = (inner(numbers), inner(numbers), inner(numbers));
            let value = if one.1 < 0.3 { yes.1 } else { no.1 };
            (format!("if({} < 0.3, {}, {})", one.0, yes.0, no.0), value)
        }
    }
}

/// Proves that what is simplified keeps its value: random formulas give what they give when computed as they stand.
#[test]
fn simplified_formulas_keep_their_value() {
    let mut numbers = Numbers(2);
    let mut compared = 0;
    for _ in 0..4000 {
        let at = [0.37, -1.23];
        let depth = 1 + numbers.below(5);
        let (text, wanted) = grown(&mut numbers, depth, at);
        // Where the text is a comparison of rounding, or a sum of numbers that cancel, nothing can be said.
        let Ok(formula) = Formula::of_variables(&text, &["x"]) else { continue };
        if formula.parameters().is_empty() || !(1e-6..1e6).contains(&wanted.abs()) {
            continue;
        }
        compared += 1;
        for axes in [Axes::Together, Axes::Grid] {
            let program = formula.program(axes, &[true]);
            let mut evaluator = Evaluator::new(&program);
            evaluator.set_parameters(&at[1..]);
            let value = evaluator.value(&at[..1]);
            let near = (value - wanted).abs() < 1e-9 * wanted.abs();
            assert!(near, "{text}: {value}, {wanted}\n{program}");
        }
    }
    assert!(compared > 1500, "{compared}");
}
