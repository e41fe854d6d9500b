//! Shows what becomes of a formula: `cargo run -p fit-formula --example show 'a*exp(-x/t) + c' x`.

use fit_formula::{Axes, Formula};

fn main() {
    let mut words = std::env::args().skip(1);
    let text = words.next().unwrap_or_else(|| "a*exp(-x/t) + c".into());
    let variables: Vec<String> = words.collect();
    let variables: Vec<&str> = if variables.is_empty() {
        vec!["x"]
    } else {
        variables.iter().map(String::as_str).collect()
    };
    match Formula::of_variables(&text, &variables) {
        Ok(formula) => {
            for axes in [Axes::Together, Axes::Grid] {
                println!(
                    "{axes:?}\n{}",
                    formula.program(axes, &vec![true; formula.parameters().len()])
                );
            }
            println!("linear: {:?}", formula.linear());
        }
        Err(error) => println!("{}", error.shown_in(&text)),
    }
}
