//! `spotfit z`: the height of spots whose two widths are known.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::calibrate::finder;
use super::error::CliError;
use super::locs::LocsArguments;
use super::message::say;
use super::paths::refuse_same_file;
use spotfit::astigmatism::find::{Depth, DepthStatus, FindOptions, Finder, Measure, Widths};
use spotfit::table::{Column, Kind, Table, Unit};

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
    /// Drop localizations whose z was not found: beyond the range, ambiguous, or far from the calibration.
    #[arg(long)]
    found: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum MeasureChoice {
    Mahalanobis,
    Roots,
}

pub(crate) fn run(arguments: &ZArguments) -> Result<(), CliError> {
    let locs = arguments.locs.open()?;
    refuse_same_file(&arguments.calibration, &arguments.output)?;
    let finder = finder(&arguments.calibration)?;
    let measure = match arguments.measure {
        MeasureChoice::Mahalanobis => Measure::Mahalanobis,
        MeasureChoice::Roots => Measure::SquareRoots,
    };
    let options = FindOptions { measure, ..*finder.options() };
    let finder =
        Finder::new(finder.curve(), options).map_err(|error| CliError::Other(error.to_string()))?;
    let mut output = locs.output(&arguments.output)?;
    let mut counts = [0usize; DepthStatus::ALL.len()];
    let mut estimated = false;
    locs.blocks(None, |mut block| {
        let (widths, guessed) = widths(&block).map_err(locs.wrong())?;
        estimated |= guessed;
        let depths: Vec<Depth> = widths.iter().map(|widths| finder.find(widths)).collect();
        depths.iter().for_each(|depth| counts[depth.status as usize] += 1);
        set(&mut block, &depths);
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
    if estimated {
        say!(
            "the table has no errors of the widths; they were estimated from photons and background"
        );
    }
    Ok(())
}

/// The widths of the spots of a block in pixels, and whether their errors had to be estimated.
fn widths(block: &Table) -> Result<(Vec<Widths>, bool), spotfit::table::TableError> {
    // A circular width is no two.
    block.values("sigma_x")?;
    let x = block.lengths("sigma_x", Unit::Pixel)?;
    let y = block.lengths("sigma_y", Unit::Pixel)?;
    if let (Ok(a), Ok(b)) =
        (block.lengths("sigma_x_error", Unit::Pixel), block.lengths("sigma_y_error", Unit::Pixel))
    {
        let pairs = x.iter().zip(y.iter()).zip(a.iter().zip(b.iter()));
        let widths = pairs.map(|((&x, &y), (&a, &b))| Widths {
            sigma: [x, y],
            errors: [a, b],
            correlation: 0.0,
        });
        return Ok((widths.collect(), false));
    }
    let (photons, background) = (block.values("photons")?, block.values("background")?);
    let estimate = |row: usize| {
        // The variance of a width by maximum likelihood is σ²/2N without background; with it, larger by the same factor as
        // that of a centre (Rieger & Stallinga 2014, ChemPhysChem 15:664).
        let tau = std::f64::consts::TAU * x[row] * y[row] * background[row].max(0.0) / photons[row];
        let factor = 1.0 + 4.0 * tau + (2.0 * tau / (1.0 + 4.0 * tau)).sqrt();
        let share = (factor / (2.0 * photons[row])).sqrt();
        Widths {
            sigma: [x[row], y[row]],
            errors: [share * x[row], share * y[row]],
            correlation: 0.0,
        }
    };
    Ok(((0..block.rows()).map(estimate).collect(), true))
}

/// Adds the heights to a block.
fn set(block: &mut Table, depths: &[Depth]) {
    let mut add = |name: &str, unit: Unit, of: fn(&Depth) -> f64| {
        let values = depths.iter().map(of).collect();
        block.set(Column::new(name, unit, Kind::Rounded(4), values));
    };
    add("z", Unit::Nanometre, |depth| depth.z);
    add("uncertainty_z", Unit::Nanometre, |depth| depth.error);
    add("z_distance", Unit::None, |depth| depth.distance);
    let words = DepthStatus::ALL.map(|status| status.name().to_owned()).to_vec();
    let values = depths.iter().map(|depth| depth.status as usize as f64).collect();
    block.set(Column::new("z_status", Unit::None, Kind::Words(words), values));
}
