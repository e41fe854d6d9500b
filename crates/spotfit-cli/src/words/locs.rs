//! Tables of localizations in files, as all verbs read and write them.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CliError;
use crate::say::message::say;
use crate::verbs::localize::Origin;
use crate::words::input::Input;
use crate::words::output::{Output, Overwrite, refuse_stranger};
use crate::words::paths::{is_stream, refuse_folder, refuse_same_file, refuse_same_output};
use spotfit::steps::{Sink, Source};
use spotfit::table::{
    Info, LeftOut, Table, TableError, TableFormat, TableReader, TableWriter, Unit, is_our_sidecar,
    sidecar,
};

/// The most rows that are held in memory.
pub(crate) const MOST_ROWS: usize = 1 << 28;
/// The most rows kept of a table that can be read only once.
const MOST_KEPT: usize = 1 << 24;

/// A table to read, and what the file may not say.
#[derive(Debug, Args)]
pub(crate) struct LocsArguments {
    /// The localizations: a .csv table of `spotfit localize`, ThunderSTORM or the like, or a .hdf5 table of Picasso with
    /// its .yaml; - for CSV on standard input.
    #[arg(value_name = "LOCS")]
    localizations: PathBuf,
    #[command(flatten)]
    table: TableArguments,
}

/// What the file of a table may not say.
#[derive(Debug, Args)]
pub(crate) struct TableArguments {
    /// Size of a pixel in nanometres, where the table does not say it and lengths must be converted.
    #[arg(long, value_name = "NM")]
    pixel_size: Option<f64>,
    /// Where (0, 0) is in tables in nanometres and in CSV tables: at the centre of the first pixel, as `spotfit localize`
    /// writes them, or at its corner, as in ThunderSTORM. Only conversion from or to Picasso's tables needs it.
    #[arg(long, value_enum, default_value = "centre", value_name = "ORIGIN")]
    origin: Origin,
    /// The number of the first frame in CSV tables, if it is not 1 where lengths have units and 0 elsewhere, nor 0 where `id` begins
    /// with 0.
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u32).range(..=1))]
    first_frame: Option<u32>,
}

/// A table that may be read several times.
pub(crate) struct Locs {
    pub(crate) name: String,
    path: PathBuf,
    pixel_size: Option<f64>,
    /// Half a pixel, if (0, 0) is the corner of the first one.
    corner: bool,
    /// The number of the first frame, if it does not follow from the names of the columns.
    first_frame: Option<u32>,
    /// A table that can be read only once, and what is to be known of it.
    kept: Option<(Table, Vec<String>)>,
}

impl LocsArguments {
    pub(crate) fn open(&self) -> Result<Locs, CliError> {
        self.table.open(&self.localizations)
    }

    /// The same, for a table to be written here: its name is looked at before anything is read.
    pub(crate) fn open_for(&self, output: &Path) -> Result<Locs, CliError> {
        format_of(output)?;
        self.open()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.localizations
    }

    /// The table for an operation; what is to be known of it is said.
    pub(crate) fn source(&self) -> Result<Source, CliError> {
        self.table.source(&self.localizations)
    }

    /// The same, for a table to be written here: its name is looked at before anything is read.
    pub(crate) fn source_for(&self, output: &Path) -> Result<Source, CliError> {
        format_of(output)?;
        self.source()
    }
}

impl TableArguments {
    /// A table for an operation; what is to be known of it is said.
    pub(crate) fn source(&self, path: &Path) -> Result<Source, CliError> {
        let (input, length) = Input::open(path)?;
        let source = match length {
            Some(_) => Source::file(path),
            None => Source::once(&path.display().to_string(), Box::new(input), self.first_frame)?,
        };
        let corner = self.origin == Origin::Corner;
        let source = source.with_pixel_size(self.pixel_size)?.with_corner_origin(corner);
        let source = source.with_first_frame(self.first_frame);
        for note in source.notes()? {
            say!("spotfit: {}: {note}", source.name());
        }
        say_unknown(&source.layout()?);
        Ok(source)
    }

    pub(crate) fn open(&self, path: &Path) -> Result<Locs, CliError> {
        if let Some(size) = self.pixel_size {
            let good = (1e-6..=1e12).contains(&size);
            let wrong =
                CliError::option("pixel-size", &size.to_string(), "1e-6 to 1e12 nanometres");
            good.then_some(()).ok_or(wrong)?;
        }
        let corner = self.origin == Origin::Corner;
        let locs = Locs::told(path, self.pixel_size, corner, self.first_frame)?;
        say_unknown(&locs.say_notes()?);
        Ok(locs)
    }
}

impl Locs {
    pub(crate) fn open(
        path: &Path,
        pixel_size: Option<f64>,
        corner: bool,
    ) -> Result<Self, CliError> {
        Self::told(path, pixel_size, corner, None)
    }

    fn told(
        path: &Path,
        pixel_size: Option<f64>,
        corner: bool,
        first_frame: Option<u32>,
    ) -> Result<Self, CliError> {
        let name = path.display().to_string();
        let (input, length) = Input::open(path)?;
        let path = path.to_owned();
        let mut locs = Self { name, path, pixel_size, corner, first_frame, kept: None };
        if length.is_none() {
            let reader = TableReader::csv(Box::new(input)).map_err(locs.wrong())?;
            let reader = &mut locs.informed(reader);
            let read = match reader.read_all(MOST_KEPT) {
                Err(TableError::ManyRows { most }) => {
                    let reason =
                        format!("a pipe may have at most {most} localizations; use a file");
                    return Err(CliError::file(&locs.name, reason));
                }
                read => read,
            };
            locs.kept = Some((read.map_err(locs.wrong())?, reader.notes().to_vec()));
        }
        Ok(locs)
    }

    fn informed(&self, reader: TableReader) -> TableReader {
        let reader = match self.first_frame {
            Some(first) => reader.with_first_frame(first),
            None => reader,
        };
        match self.pixel_size {
            Some(size) => reader.with_info(|info| info.pixel_size = Some(size)),
            None => reader,
        }
    }

    /// An error of this table.
    pub(crate) fn wrong<E: std::fmt::Display>(&self) -> impl Fn(E) -> CliError + use<E> {
        let name = self.name.clone();
        move |error| CliError::advised(&name, error.to_string())
    }

    fn reader(&self, columns: Option<&[&str]>) -> Result<TableReader, CliError> {
        let reader = TableReader::open(&self.path).map_err(self.wrong())?;
        let reader = self.informed(reader);
        Ok(match columns {
            Some(columns) => reader.with_columns(columns),
            None => reader,
        })
    }

    /// Visits the table block by block: all columns, or these as far as they are there.
    pub(crate) fn blocks(
        &self,
        columns: Option<&[&str]>,
        mut visit: impl FnMut(Table) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        if let Some((table, _)) = &self.kept {
            return visit(match columns {
                Some(columns) => table.only(columns),
                None => table.clone(),
            });
        }
        let mut reader = self.reader(columns)?;
        while let Some(block) = reader.read().map_err(self.wrong())? {
            crate::interrupt::check()?;
            visit(block)?;
        }
        Ok(())
    }

    /// The whole table: all columns, or these as far as they are there.
    pub(crate) fn load(&self, columns: Option<&[&str]>) -> Result<Table, CliError> {
        let mut table = Table::default();
        self.blocks(columns, |block| {
            if table.rows() + block.rows() > MOST_ROWS {
                return Err(self.wrong()(TableError::ManyRows { most: MOST_ROWS }));
            }
            table.append(&block).map_err(self.wrong())
        })?;
        Ok(table)
    }

    /// The columns, without rows, and what is known of the movie.
    pub(crate) fn layout(&self) -> Result<Table, CliError> {
        Ok(self.begin()?.0)
    }

    /// The columns, without rows, and what is to be known of the table.
    fn begin(&self) -> Result<(Table, Vec<String>), CliError> {
        if let Some((table, notes)) = &self.kept {
            return Ok((table.emptied(), notes.clone()));
        }
        let mut reader = self.reader(None)?;
        let first = reader.read().map_err(self.wrong())?;
        Ok((first.unwrap_or_default().emptied(), reader.notes().to_vec()))
    }

    /// Says what is to be known of the table; the result is its columns.
    pub(crate) fn say_notes(&self) -> Result<Table, CliError> {
        let (layout, notes) = self.begin()?;
        for note in notes {
            say!("spotfit: {}: {note}", self.name);
        }
        Ok(layout)
    }

    /// The files that must not be written over.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        written(&self.path)
    }

    /// Where the centre of the first pixel is, in pixels.
    pub(crate) fn origin(&self) -> f64 {
        let picasso = TableFormat::of(&self.path) == Some(TableFormat::Picasso);
        if self.corner && !picasso { 0.5 } else { 0.0 }
    }

    /// Begins to write a table made of this one.
    pub(crate) fn output(&self, path: &Path, overwrite: Overwrite) -> Result<LocsOutput, CliError> {
        for input in self.files() {
            refuse_replacing(&input, path)?;
        }
        let picasso = TableFormat::of(&self.path) == Some(TableFormat::Picasso);
        LocsOutput::create(path, shift(self.corner, picasso, path)?, overwrite)
    }
}

/// Says which columns have names that are not known: nothing is made of them.
fn say_unknown(layout: &Table) {
    /// So many are named.
    const MOST: usize = 12;
    let unknown = layout.unknown();
    let shown = unknown.iter().take(MOST).map(|(name, meant)| {
        let name: String = name.chars().take(40).collect();
        meant.map_or(name.clone(), |meant| format!("{name} (meant for {meant}?)"))
    });
    let shown: Vec<String> = shown.collect();
    let more = match unknown.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if !shown.is_empty() {
        say!("spotfit: columns of unknown meaning: {}{more}", shown.join(", "));
    }
}

/// A table being written.
pub(crate) struct LocsOutput {
    name: String,
    path: PathBuf,
    writer: TableWriter<Output>,
    /// What is added to x and y, in pixels.
    shift: f64,
    overwrite: Overwrite,
    pub(crate) rows: usize,
}

/// What is added to x and y, in pixels, of a table that goes to another file.
fn shift(corner: bool, from_picasso: bool, to: &Path) -> Result<f64, CliError> {
    Ok(match (corner, from_picasso, format_of(to)?) {
        (true, false, TableFormat::Picasso) => -0.5,
        (true, true, TableFormat::Csv) => 0.5,
        _ => 0.0,
    })
}

impl Sink for LocsOutput {
    fn write(&mut self, mut block: Table) -> Result<(), TableError> {
        if self.shift != 0.0 {
            for name in ["x", "y"] {
                let Some(mut column) = block.column(name).cloned() else { continue };
                let size = match column.unit {
                    Unit::Nanometre => block.info.pixel_size.ok_or(TableError::PixelSize {
                        column: name.to_owned(),
                        found: Unit::Nanometre,
                        needed: Unit::Pixel,
                    })?,
                    _ => 1.0,
                };
                column.values.iter_mut().for_each(|value| *value += self.shift * size);
                block.set(column);
            }
        }
        self.rows += block.rows();
        self.writer.write(&block)
    }
}

impl LocsOutput {
    /// Begins to write the table that an operation makes of this one.
    pub(crate) fn of(source: &Source, path: &Path, overwrite: Overwrite) -> Result<Self, CliError> {
        for input in source.path().into_iter().flat_map(written) {
            refuse_replacing(&input, path)?;
        }
        let corner = source.has_corner_origin();
        Self::create(path, shift(corner, source.is_picasso(), path)?, overwrite)
    }

    /// Begins to write a table; its format is that of the name, or CSV for standard output.
    pub(crate) fn create(path: &Path, shift: f64, overwrite: Overwrite) -> Result<Self, CliError> {
        let name = path.display().to_string();
        let format = format_of(path)?;
        if format == TableFormat::Picasso {
            // Before any work is done for it.
            refuse_stranger(&sidecar(path), is_our_sidecar, overwrite.overwrite)?;
        }
        let output = Output::create(path)?;
        let writer = TableWriter::new(output, format).with_picasso(overwrite.picasso);
        Ok(Self { name, path: path.to_owned(), writer, shift, overwrite, rows: 0 })
    }

    pub(crate) fn write(&mut self, block: Table) -> Result<(), CliError> {
        Sink::write(self, block).map_err(failed(&self.name))
    }

    /// Completes the table, and the YAML file beside it if it has one, together with other files.
    pub(crate) fn finish_with(self, others: Vec<Output>) -> Result<(), CliError> {
        let (output, beside, left_out) = self.files()?;
        output.finish_with(others.into_iter().chain(beside))?;
        if left_out.total() > 0 {
            say!(
                "{} rows left out, which Picasso would not read: {} not finite, {} outside of the frame, {} negative",
                left_out.total(),
                left_out.not_finite,
                left_out.outside,
                left_out.negative
            );
        }
        Ok(())
    }

    /// Completes the table between two files, made when it is known how many rows it has: the first appears before any of
    /// the table's, the second after all of them.
    pub(crate) fn finish_between(
        self,
        around: impl FnOnce(usize) -> Result<[Output; 2], CliError>,
    ) -> Result<(), CliError> {
        let rows = self.rows;
        let (output, beside, left_out) = self.files()?;
        let [first, last] = around(rows.saturating_sub(left_out.total()))?;
        first.finish_with([Some(output), beside, Some(last)].into_iter().flatten())
    }

    /// The table, the file beside it if it has one, and the rows that are not in it.
    fn files(self) -> Result<(Output, Option<Output>, LeftOut), CliError> {
        let (output, written) = self.writer.finish().map_err(failed(&self.name))?;
        let Some(text) = &written.beside else { return Ok((output, None, written.left_out)) };
        let path = sidecar(&self.path);
        refuse_stranger(&path, is_our_sidecar, self.overwrite.overwrite)?;
        let mut beside = Output::create(&path)?;
        beside.write_all(text.as_bytes())?;
        // The side of a pixel in the YAML file counts before that in the table. So no table may ever be beside the YAML file
        // of another, also if the process is killed: first the old YAML file goes, then the table appears, then the new YAML
        // file. A table without YAML has what is known in itself.
        Ok((output.before(&beside), Some(beside), written.left_out))
    }

    pub(crate) fn finish(self) -> Result<(), CliError> {
        self.finish_with(Vec::new())
    }

    /// The file that is written, as it was named.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

fn failed(name: &str) -> impl Fn(TableError) -> CliError {
    let name = name.to_owned();
    move |error| match error {
        TableError::Io(source) => CliError::Write { file: name.clone(), source },
        error => CliError::table(&name, &error),
    }
}

/// The format of a table by its name.
pub(crate) fn format_of(path: &Path) -> Result<TableFormat, CliError> {
    if path == Path::new("-") {
        return Ok(TableFormat::Csv);
    }
    refuse_folder(path)?;
    let reason = "the name of a table ends in .csv, or in .hdf5 for Picasso";
    let format = TableFormat::of(path).or_else(|| is_stream(path).then_some(TableFormat::Csv));
    format.ok_or_else(|| CliError::file(&path.display().to_string(), reason))
}

/// The files of a table at this path.
pub(crate) fn written(path: &Path) -> Vec<PathBuf> {
    match TableFormat::of(path) {
        Some(TableFormat::Picasso) => vec![path.to_owned(), sidecar(path)],
        _ => vec![path.to_owned()],
    }
}

/// Refuses an output that would replace an input, by itself or by the file beside it.
pub(crate) fn refuse_replacing(input: &Path, output: &Path) -> Result<(), CliError> {
    written(output).iter().try_for_each(|written| refuse_same_file(input, written))
}

/// The outputs of a verb must be different files.
pub(crate) fn refuse_same(outputs: &[Option<&Path>]) -> Result<(), CliError> {
    let all: Vec<PathBuf> = outputs.iter().flatten().flat_map(|path| written(path)).collect();
    let all: Vec<&Path> = all.iter().map(PathBuf::as_path).collect();
    refuse_same_output(&all)
}

/// The number of frames of the movie, from what is known or from the last that has a localization.
pub(crate) fn frames_of(info: &Info, frames: &[u32]) -> u32 {
    let seen = frames.iter().max().map_or(0, |last| last.saturating_add(1));
    let said = info.frames.and_then(|frames| u32::try_from(frames).ok()).unwrap_or(0);
    seen.max(said)
}

/// The median of a column of lengths, as far as it is finite.
pub(crate) fn usual(table: &Table, name: &str, unit: Unit) -> Option<f64> {
    let values = table.lengths(name, unit).ok()?;
    let mut values: Vec<f64> =
        values.iter().copied().filter(|value| *value > 0.0 && value.is_finite()).collect();
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    Some(*values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// A length with its unit.
pub(crate) fn length(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanometre => format!("{value:.1} nm"),
        _ => format!("{value:.3} px"),
    }
}
