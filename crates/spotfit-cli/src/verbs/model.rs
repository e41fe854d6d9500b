//! `spotfit model`: lists models and functions, and shows the program of a formula.

use clap::Args;
use spotfit::model::{Axes, Model, functions};

use crate::error::CliError;
use crate::say::message::print;
use crate::words::splines::Splines;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  spotfit model\n  spotfit model 'a*exp(-x/t) + c' --show")]
pub(crate) struct ModelArguments {
    /// A formula or the name of a model; without it, models and functions are listed.
    #[arg(value_name = "FORMULA|NAME")]
    model: Option<String>,
    /// Show the operations of the formula and its derivatives, and how often each is executed.
    #[arg(long)]
    show: bool,
    /// The names of the formula's variables.
    #[arg(long, value_delimiter = ',', default_value = "x", value_name = "NAME,...")]
    variables: Vec<String>,
    /// A spline that the formula calls by this name, like a function: an NPY file with samples at 0, 1, 2, … along each
    /// axis; the first axis is the first argument. Axes that count channels, which are not interpolated, follow after a
    /// colon: psf=psf.npy:0.
    #[arg(long = "spline", value_name = "NAME=SAMPLES.npy[:AXIS,...]")]
    splines: Vec<String>,
    /// The points are the pixels of an image.
    #[arg(long)]
    grid: bool,
}

pub(crate) fn run(arguments: &ModelArguments) -> Result<(), CliError> {
    let text = match &arguments.model {
        None => list(),
        Some(text) => about(text, arguments)?,
    };
    print(&text)
}

fn list() -> String {
    let mut text = "Models:\n".to_owned();
    for (name, formula, about) in Model::all() {
        text.push_str(&format!("  {name}\n      {about}\n      {formula}\n"));
    }
    text.push_str("\nFunctions:\n");
    for (usage, what) in functions() {
        text.push_str(&format!("  {usage:<32} {what}\n"));
    }
    text.push_str(
        "\nNumbers, names, + - * / ^ (or **), pi, comparisons (< <= > >= == !=), & | !, and helpers before the value:\n  \
         u = (x - x0)/w; a*exp(-u^2) + b\n",
    );
    text
}

fn about(text: &str, arguments: &ModelArguments) -> Result<String, CliError> {
    let variables: Vec<&str> = arguments.variables.iter().map(String::as_str).collect();
    let splines = Splines::read(&arguments.splines)?;
    let splines = splines.named();
    let model = if Model::all().any(|(name, _, _)| name == text.trim()) {
        Model::named_with_splines(text.trim(), &splines)?
    } else {
        Model::of_variables_with_splines(text, &variables, &splines)
            .map_err(|error| CliError::formula("the model", text, &error))?
    };
    let linear = model.as_formula().linear();
    let names = |wanted: bool| -> String {
        let all = model.parameters().iter().zip(&linear);
        let of: Vec<&str> =
            all.filter(|(_, linear)| **linear == wanted).map(|(name, _)| name.as_str()).collect();
        if of.is_empty() { "none".to_owned() } else { of.join(", ") }
    };
    let mut shown = format!(
        "{}\nvariables: {}\nlinear parameters: {}\nother parameters: {}\n",
        model.text(),
        model.variables().join(", "),
        names(true),
        names(false)
    );
    if arguments.show {
        let axes = if arguments.grid { Axes::Grid } else { Axes::Together };
        let program = model.as_formula().program(axes, &vec![true; model.parameters().len()]);
        shown.push_str(&format!("\n{program}"));
    }
    Ok(shown)
}
