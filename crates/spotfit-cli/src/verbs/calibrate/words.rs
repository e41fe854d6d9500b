//! What the words of `spotfit calibrate` mean.

use clap::ValueEnum;

use crate::error::CliError;
use spotfit::astigmatism::calibrate::Zero;
use spotfit::steps::calibrate::Order;

/// Which way the stage goes.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum OrderChoice {
    /// The first slice shows the beads highest, as in Picasso.
    FirstHighest,
    /// The first slice shows the beads lowest.
    FirstLowest,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum ZeroChoice {
    Crossing,
    Stage,
}

impl From<OrderChoice> for Order {
    fn from(choice: OrderChoice) -> Self {
        match choice {
            OrderChoice::FirstHighest => Self::FirstHighest,
            OrderChoice::FirstLowest => Self::FirstLowest,
        }
    }
}

impl From<ZeroChoice> for Zero {
    fn from(choice: ZeroChoice) -> Self {
        match choice {
            ZeroChoice::Crossing => Self::Crossing,
            ZeroChoice::Stage => Self::Stage,
        }
    }
}

/// Two ends.
pub(super) fn range(text: &str) -> Result<[f64; 2], CliError> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[low, high]) if low < high => Ok([low, high]),
        _ => Err(CliError::option("range", text, "A,B: two numbers, the first the smaller, in nm")),
    }
}
