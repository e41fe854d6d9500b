//! `spotfit filter` and `spotfit convert`: tables in, some or all of their rows out.

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::say::message::{print, say};
use crate::words::locs::{Locs, LocsArguments};
use crate::words::output::Overwrite;
use spotfit::statistics::{density_up_to, duplicates};
use spotfit::table::{Filter, Table};

#[derive(Debug, Args)]
pub(crate) struct FilterArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Which rows are kept, such as 'photons > 300 & uncertainty < 20 & 80 < sigma'. Columns have the names that
    /// `spotfit filter LOCS --columns` lists; lengths are in the unit of the table, or in that of names such as sigma_nm
    /// and x_px.
    #[arg(value_name = "CONDITION")]
    condition: Option<String>,
    /// Where to write the rows: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(short, long, value_name = "LOCS", required_unless_present = "columns")]
    output: Option<PathBuf>,
    /// Of localizations of one frame that are nearer to each other than this, keep the one with the most photons.
    #[arg(long, value_name = "LENGTH")]
    merge: Option<f64>,
    /// Keep localizations with so many others, of all frames, within --radius.
    #[arg(long, value_name = "N", requires = "radius")]
    neighbours: Option<u32>,
    /// The radius for --neighbours, in the unit of the table.
    #[arg(long, value_name = "LENGTH", requires = "neighbours")]
    radius: Option<f64>,
    /// Only list the columns that a condition may use.
    #[arg(long)]
    columns: bool,
    #[command(flatten)]
    overwrite: Overwrite,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the table: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(short, long, value_name = "LOCS")]
    output: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
}

pub(crate) fn convert(arguments: &ConvertArguments) -> Result<(), CliError> {
    let locs = arguments.locs.open_for(&arguments.output)?;
    let mut output = locs.output(&arguments.output, arguments.overwrite)?;
    locs.blocks(None, |block| output.write(block))?;
    let rows = output.rows;
    output.finish()?;
    say!("{rows} localizations");
    Ok(())
}

pub(crate) fn run(arguments: &FilterArguments) -> Result<(), CliError> {
    let locs = match &arguments.output {
        Some(output) => arguments.locs.open_for(output)?,
        None => arguments.locs.open()?,
    };
    let layout = locs.layout()?;
    if arguments.columns {
        let lines = Filter::names(&layout).into_iter().map(|name| format!("{name}\n"));
        return print(&lines.collect::<String>());
    }
    let filter = arguments.condition.as_deref().map(|text| parse(text, &layout)).transpose()?;
    let Some(path) = &arguments.output else { return Ok(()) };
    let mut output = locs.output(path, arguments.overwrite)?;
    let chosen = Chosen::of(arguments, &locs, filter.as_ref())?;
    let (mut seen, mut failing) = (0, 0);
    locs.blocks(None, |mut block| {
        let rows = block.rows();
        let mut keep = match &filter {
            Some(filter) => filter.keep(&block).map_err(locs.wrong())?,
            None => vec![true; rows],
        };
        failing += keep.iter().filter(|keep| !**keep).count();
        if let Some(chosen) = &chosen {
            let answers = &chosen.keep[seen..seen + rows];
            keep.iter_mut().zip(answers).for_each(|(keep, answer)| *keep = *answer);
        }
        seen += rows;
        block.retain(&keep);
        output.write(block)
    })?;
    let kept = output.rows;
    output.finish()?;
    let mut dropped = Vec::new();
    if filter.is_some() {
        dropped.push(format!("{failing} that do not fulfil the condition"));
    }
    if let Some(chosen) = chosen {
        if arguments.merge.is_some() {
            dropped.push(format!("{} found twice", chosen.twice));
        }
        if arguments.neighbours.is_some() {
            dropped.push(format!("{} with too few neighbours", chosen.lonely));
        }
    }
    let dropped = if dropped.is_empty() { "none".to_owned() } else { dropped.join(", ") };
    say!("{kept} of {seen} localizations kept; dropped: {dropped}");
    Ok(())
}

/// Reads a condition on the columns of a table.
pub(crate) fn parse(text: &str, layout: &Table) -> Result<Filter, CliError> {
    Filter::new(text, layout).map_err(|error| CliError::formula("the condition", text, &error))
}

/// Which rows are kept, where that depends on others.
struct Chosen {
    keep: Vec<bool>,
    twice: usize,
    lonely: usize,
}

impl Chosen {
    fn of(
        arguments: &FilterArguments,
        locs: &Locs,
        filter: Option<&Filter>,
    ) -> Result<Option<Self>, CliError> {
        if arguments.merge.is_none() && arguments.neighbours.is_none() {
            return Ok(None);
        }
        let mut all = Table::default();
        let mut keep = Vec::new();
        let needed = ["frame", "x", "y", "photons"];
        let columns: Vec<&str> =
            needed.into_iter().chain(filter.into_iter().flat_map(Filter::columns)).collect();
        locs.blocks(Some(&columns), |mut block| {
            let answers = match filter {
                Some(filter) => filter.keep(&block).map_err(locs.wrong())?,
                None => vec![true; block.rows()],
            };
            block.retain(&answers);
            keep.extend(answers);
            all.append(&block.only(&needed)).map_err(locs.wrong())
        })?;
        let (x, y) =
            (all.values("x").map_err(locs.wrong())?, all.values("y").map_err(locs.wrong())?);
        let mut stays = vec![true; all.rows()];
        let mut twice = 0;
        if let Some(radius) = arguments.merge {
            let frames = all.frames().map_err(locs.wrong())?;
            let rank = match all.values("photons") {
                Ok(photons) => photons.to_vec(),
                Err(_) => vec![0.0; all.rows()],
            };
            let found = duplicates(&frames, x, y, &rank, radius).map_err(locs.wrong())?;
            (stays, twice) = (found.keep, found.count);
        }
        let mut lonely = 0;
        if let (Some(least), Some(radius)) = (arguments.neighbours, arguments.radius) {
            let only = |values: &[f64]| -> Vec<f64> {
                values
                    .iter()
                    .zip(&stays)
                    .filter(|(_, stays)| **stays)
                    .map(|(value, _)| *value)
                    .collect()
            };
            let counts = density_up_to(&only(x), &only(y), radius, least).map_err(locs.wrong())?;
            let mut counts = counts.into_iter();
            for stay in stays.iter_mut().filter(|stay| **stay) {
                *stay = counts.next().is_some_and(|count| count >= least);
                lonely += usize::from(!*stay);
            }
        }
        let mut stays = stays.into_iter();
        for keep in keep.iter_mut().filter(|keep| **keep) {
            *keep = stays.next().unwrap_or(false);
        }
        Ok(Some(Self { keep, twice, lonely }))
    }
}
