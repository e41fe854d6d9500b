//! Every error says what is wrong, and where.

use fit_formula::{
    Condition, Formula, FormulaError, FormulaErrorKind, MAX_LENGTH, MAX_PARAMETERS, MAX_VARIABLES,
};

fn error(text: &str) -> FormulaError {
    Formula::new(text, &["x"], &["a", "b"]).expect_err(text)
}

/// Proves what is said of wrong formulas, and which part of the text it is said of.
#[test]
fn errors_name_what_is_wrong() {
    for (text, part, message) in [
        ("", "", "the formula has no value"),
        (" ; ", "", "the formula has no value"),
        ("u = a*x;", "", "the formula has no value"),
        ("a*x + b $", "$", "`$` means nothing here"),
        ("a*x + b½", "½", "`½` means nothing here"),
        ("a*x² + b", "²", "`²` means nothing here: a power is written `x^2` or `x^-1`"),
        ("a*x⁻¹ + b", "⁻", "`⁻` means nothing here: a power is written `x^2` or `x^-1`"),
        ("a*x + \"b", "\"b", "the quoted name does not end"),
        ("a*x + 1.2.3*b", "1.2", ""),
        ("a*x + 1e999*b", "1e999", "this is no number that can be used"),
        ("a*x + .*b", ".", "this is no number that can be used"),
        ("a*x + ", "", "expected a number, a name or `(`, but the formula ends"),
        ("a*x + *b", "*", "expected a number, a name or `(`, not `*`"),
        ("(a*x + b", "", "expected an operator or `)`, but the formula ends"),
        ("a*x + b)", ")", "expected an operator: no `(` is open, not `)`"),
        ("a*x + 2b", "b", "expected an operator (a product is written with `*`), not `b`"),
        ("a*x, b", ",", "expected an operator or the end, not `,`"),
        (
            "a*X + b",
            "X",
            "`X` is neither a variable nor a parameter nor a helper; did you mean `x`?",
        ),
        ("a*x + wide", "wide", "`wide` is neither a variable nor a parameter nor a helper"),
        ("a*exq(x) + b", "exq", "there is no function `exq`; did you mean `exp`?"),
        ("a*Sin(x) + b", "Sin", "there is no function `Sin`; did you mean `sin`?"),
        ("a*wibble(x) + b", "wibble", "there is no function `wibble`"),
        (
            "a*gauss(x, b)",
            "gauss(x, b)",
            "`gauss` is called as `gauss(x, x0, sigma)`, not with 2 arguments",
        ),
        ("a*min(x) + b", "min(x)", "`min` is called as `min(x, y, …)`, not with 1 argument"),
        ("a*exp() + b", "exp()", "`exp` is called as `exp(x)`, not with 0 arguments"),
        ("a*exp(x + b", "", "expected `,` or `)`, but the formula ends"),
        ("if(x, a, b)", "x", "a comparison is needed here, not a number"),
        ("if(x < 1 & a, a, b)", "a", "a comparison is needed here, not a number"),
        ("a*(x < b)", "(x < b)", "a number is needed here, not a comparison"),
        ("a*x < b", "a*x < b", "a number is needed here, not a comparison"),
        ("-(x < 1) + a*b", "(x < 1)", "a number is needed here, not a comparison"),
        ("!x + a*b", "x + a*b", "a comparison is needed here, not a number"),
        ("a*x + b/(2 - 2)", "b/(2 - 2)", "this is no finite number"),
        ("a*x + b + log(-1)", "log(-1)", "this is no finite number"),
        ("x = a; x*b", "x", "`x` is already the name of something else"),
        ("u = a; u = b; u*x", "u", "`u` is already the name of something else"),
        (
            "a*x + b = 3",
            "=",
            "`=` gives a name to a helper at the start of a line; compare with `==`",
        ),
        ("u = a*x b", "b", "expected an operator, or `;` after a helper, not `b`"),
        ("a*x", "a*x", "the derivative by the parameter `b` is 0 everywhere"),
        ("a*x + b - b", "a*x + b - b", "the derivative by the parameter `b` is 0 everywhere"),
        ("a*x^1025^1 + b", "", ""),
    ] {
        if message.is_empty() && part.is_empty() {
            assert!(Formula::new(text, &["x"], &["a", "b"]).is_ok(), "{text}");
            continue;
        }
        let error = error(text);
        let (found, said) = (&text[error.at.clone()], error.kind.to_string());
        if message.is_empty() {
            // The rest of the number is one of its own.
            assert!(said.contains("expected an operator"), "{text}: {said}");
            continue;
        }
        assert_eq!((found, said.as_str()), (part, message), "{text}");
        assert!(error.to_string().contains(&format!("at character {}", error.at.start + 1)));
    }
}

/// Proves that names are checked.
#[test]
fn names_are_checked() {
    let of = |variables: &[&str], parameters: &[&str]| {
        Formula::new("1", variables, parameters).expect_err("wrong").kind
    };
    assert_eq!(of(&["x", "x"], &[]), FormulaErrorKind::GivenTwice("x".into()));
    assert_eq!(of(&["x"], &["x"]), FormulaErrorKind::GivenTwice("x".into()));
    for name in ["", "2a", "a b", "a-b", "and", "µ²!"] {
        assert_eq!(of(&["x"], &[name]), FormulaErrorKind::BadName(name.into()));
    }
    let many: Vec<String> = (0..100).map(|number| format!("a{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(of(&["x"], &many), FormulaErrorKind::TooManyParameters);
    assert_eq!(of(&many, &[]), FormulaErrorKind::TooManyVariables);
    let sum = many.join(" + ");
    let kind = Formula::of_variables(&sum, &["x"]).expect_err("too many").kind;
    assert_eq!(kind, FormulaErrorKind::TooManyParameters);
    assert!(Formula::of_variables(&many[..MAX_PARAMETERS].join("+"), &["x"]).is_ok());
    let condition = many.join(" + ") + " > 0";
    let kind = Condition::new(&condition, &many).expect_err("too many").kind;
    assert_eq!(kind, FormulaErrorKind::TooManyVariables);
    assert!(Condition::new(&(many[..MAX_VARIABLES].join("+") + "<1"), &many).is_ok());
    // Names of users stand before those of functions and constants.
    assert!(Formula::new("exp*x + pi", &["x"], &["exp", "pi"]).is_ok());
    assert!(Formula::of_variables("a*exp", &["x"]).is_err());
}

/// Proves that conditions are read as users of tables write them.
#[test]
fn conditions() {
    let columns = ["photons", "uncertainty", "sigma [nm]", "frame"];
    let row = [500.0, 12.0, 120.0, 7.0];
    for (text, wanted) in [
        ("photons > 300 & uncertainty < 20 & 80 < \"sigma [nm]\"", true),
        ("photons > 300 and not uncertainty < 20", false),
        ("80 < 'sigma [nm]' <= 120", true),
        ("80 < `sigma [nm]` < 120", false),
        ("frame == 7 || photons < 0", true),
        ("!(frame != 7)", true),
        ("mod(frame, 2) == 1 & photons/uncertainty^2 > 3", true),
        ("log10(photons) ≥ 2.7", false),
    ] {
        let condition = Condition::new(text, &columns)
            .unwrap_or_else(|error| panic!("{}", error.shown_in(text)));
        let of =
            |name: &String| row[columns.iter().position(|column| column == name).expect("one")];
        let values: Vec<f64> = condition.columns().iter().map(of).collect();
        assert_eq!(condition.evaluator().value(&values) != 0.0, wanted, "{text}");
    }
    let wrong = |text: &str| Condition::new(text, &columns).expect_err(text).kind;
    assert_eq!(wrong("photons + 1"), FormulaErrorKind::NeedsTruth);
    assert_eq!(wrong("frame = 5"), FormulaErrorKind::SingleEquals);
    let similar = Some("photons".into());
    let name = "photon".into();
    assert_eq!(wrong("photon > 5"), FormulaErrorKind::UnknownName { name, similar });
}

/// Proves that texts from strangers end soon: what is too long, too deep or too large is refused.
#[test]
fn size_is_bounded() {
    let kind = |text: &str| Formula::of_variables(text, &["x"]).map(|_| ()).map_err(|e| e.kind);
    let long = "x+".repeat(MAX_LENGTH / 2 - 1) + "a";
    assert_eq!(kind(&long), Ok(()));
    let length = 100_000;
    assert_eq!(kind(&"x".repeat(length)), Err(FormulaErrorKind::TooLong { length }));
    for (open, close) in [("(", ")"), ("-", ""), ("2^", ""), ("exp(", ")"), ("+", "")] {
        let of = |depth| open.repeat(depth) + "x" + &close.repeat(depth) + "*a";
        assert_eq!(kind(&of(40)), Ok(()), "{open}");
        assert_eq!(kind(&of(1000)), Err(FormulaErrorKind::TooDeep), "{open}");
    }
    // Helpers that square one another, and products whose derivatives are as long as themselves.
    let mut squares = String::from("u0 = a*x + 1;");
    for k in 0..40 {
        squares += &format!("u{} = (u{k} + x)*(u{k} - a);", k + 1);
    }
    let _ = kind(&(squares.clone() + "u40"));
    let mut powers = String::from("u0 = a*x;");
    for k in 0..200 {
        powers += &format!("u{} = u{k}^2;", k + 1);
    }
    assert_eq!(kind(&(powers + "u200")), Err(FormulaErrorKind::TooLarge));
    let factors: Vec<String> = (0..1500).map(|k| format!("(a-{k}*x)")).collect();
    assert_eq!(kind(&factors.join("*")), Err(FormulaErrorKind::TooLarge));
    let terms: Vec<String> = (0..1500).map(|k| format!("sin({k}*a)")).take(1000).collect();
    assert_eq!(kind(&terms.join("+")), Ok(()));
    // A chain of helpers that is far deeper than any parentheses.
    let mut chain = String::from("u0 = a*x;");
    for k in 0..300 {
        chain += &format!("u{}=sin(u{k});", k + 1);
    }
    let formula = Formula::of_variables(&(chain + "u300"), &["x"]).expect("a long chain");
    assert!(formula.program(fit_formula::Axes::Grid, &[true]).ops().len() > 600);
}
