//! `spotfit z`: the height of spots whose two widths are known.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::say::message::say;
use crate::words::calibrations::finder;
use crate::words::locs::{LocsArguments, refuse_replacing};
use crate::words::output::Overwrite;
use spotfit::astigmatism::find::{DepthStatus, FindOptions, Finder, Measure};
use spotfit::astigmatism::table::{TableFinder, set_depths};

#[derive(Debug, Args)]
pub(crate) struct ZArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// The calibration, of `spotfit calibrate` or Picasso.
    #[arg(long, value_name = "CALIBRATION.yaml")]
    calibration: PathBuf,
    /// Where to write the localizations with z: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(short, long, value_name = "LOCS")]
    output: PathBuf,
    /// What is least at the z that is found: mahalanobis, the distance of the widths in standard deviations; or roots, that
    /// of their square roots, as in Picasso.
    #[arg(long, value_enum, default_value = "mahalanobis", value_name = "MEASURE")]
    measure: MeasureChoice,
    /// Side of the windows in which the spots were fitted, in pixels; odd. How much of a spot they hold says how well its widths are
    /// known [default: what the table tells by bkgstd and chi2, or else that of the calibration, or 13].
    #[arg(long = "box", value_name = "PX")]
    box_size: Option<usize>,
    /// Drop localizations whose z was not found: beyond the range, ambiguous, or far from the calibration.
    #[arg(long)]
    found: bool,
    #[command(flatten)]
    overwrite: Overwrite,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum MeasureChoice {
    Mahalanobis,
    Roots,
}

pub(crate) fn run(arguments: &ZArguments) -> Result<(), CliError> {
    let locs = arguments.locs.open_for(&arguments.output)?;
    refuse_replacing(&arguments.calibration, &arguments.output)?;
    let finder = finder(&arguments.calibration, locs.layout()?.info.pixel_size)?;
    let measure = match arguments.measure {
        MeasureChoice::Mahalanobis => Measure::Mahalanobis,
        MeasureChoice::Roots => Measure::SquareRoots,
    };
    let options = FindOptions { measure, ..*finder.options() };
    let box_size = finder.box_size();
    let finder =
        Finder::new(finder.curve(), options).map_err(|error| CliError::Other(error.to_string()))?;
    let finder = TableFinder::new(finder.with_box_size(box_size), arguments.box_size)?;
    let mut output = locs.output(&arguments.output, arguments.overwrite)?;
    let mut counts = [0usize; DepthStatus::ALL.len()];
    let mut estimated = None;
    locs.blocks(None, |mut block| {
        let (depths, guessed) = finder.find(&block).map_err(locs.wrong())?;
        if guessed {
            estimated = Some(finder.box_size(&block));
        }
        depths.iter().for_each(|depth| counts[depth.status as usize] += 1);
        set_depths(&mut block, &depths);
        if arguments.found {
            let keep: Vec<bool> =
                depths.iter().map(|depth| depth.status == DepthStatus::Found).collect();
            block.retain(&keep);
        }
        output.write(block)
    })?;
    output.finish()?;
    let total: usize = counts.iter().sum();
    let others: Vec<String> = DepthStatus::ALL
        .into_iter()
        .zip(counts)
        .filter(|(status, count)| *status != DepthStatus::Found && *count > 0)
        .map(|(status, count)| format!("{count} {}", status.name()))
        .collect();
    let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
    say!("z of {} of {total} localizations; others: {others}", counts[DepthStatus::Found as usize]);
    if let Some(side) = estimated {
        say!(
            "the table has no errors of the widths; they were estimated from photons, background and uncertainties, for windows \
             of {side}×{side} pixels"
        );
    }
    Ok(())
}
