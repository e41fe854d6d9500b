//! The truth of simulated spots as CSV.

use std::fmt::Write as _;

use fit_sim::{MovieSimulation, SpotShape, Truth};

use crate::error::CliError;
use crate::words::output::Output;

pub(crate) fn write_truth_header(output: &mut Output, look: Look) -> Result<(), CliError> {
    output.write_all(format!("spot,x,y,{},signal,background\n", look.columns()).as_bytes())
}

pub(crate) fn write_truth_rows(
    output: &mut Output,
    look: Look,
    first: usize,
    truth: &[Truth],
) -> Result<(), CliError> {
    let mut text = String::new();
    for (spot, truth) in (first..).zip(truth) {
        let Truth { shape, sigma_x, sigma_y, angle, z, signal, background } = truth;
        let written = write!(text, "{spot},{:?},{:?},", shape.x, shape.y);
        look.write(&mut text, [*sigma_x, *sigma_y], *angle, *z);
        let written = written.and_then(|()| writeln!(text, ",{signal:?},{background:?}"));
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    output.write_all(text.as_bytes())
}

/// The columns of the truth that say what a spot looks like.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    shape: SpotShape,
    /// Whether spots are behind an objective, and have a height.
    behind: bool,
}

impl Look {
    pub(crate) fn of(shape: SpotShape) -> Self {
        Self { shape, behind: false }
    }

    pub(crate) fn of_movie(simulation: &MovieSimulation) -> Self {
        Self { shape: simulation.shape, behind: simulation.psf.is_some() }
    }

    pub(crate) fn columns(self) -> &'static str {
        match self.shape {
            _ if self.behind => "sigma,z",
            SpotShape::Elliptical => "sigma_x,sigma_y",
            SpotShape::Rotated => "sigma_x,sigma_y,angle",
            SpotShape::Defocused(_) => "sigma_x,sigma_y,z",
            _ => "sigma",
        }
    }

    /// Appends the numbers of a spot.
    pub(crate) fn write(self, text: &mut String, [sigma_x, sigma_y]: [f64; 2], angle: f64, z: f64) {
        let written = match self.shape {
            _ if self.behind => write!(text, "{sigma_x:?},{z:?}"),
            SpotShape::Elliptical => write!(text, "{sigma_x:?},{sigma_y:?}"),
            SpotShape::Rotated => write!(text, "{sigma_x:?},{sigma_y:?},{angle:?}"),
            SpotShape::Defocused(_) => write!(text, "{sigma_x:?},{sigma_y:?},{z:?}"),
            _ => write!(text, "{sigma_x:?}"),
        };
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
}
