//! Tables of localizations in files, as all verbs read and write them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::error::{CliError, step};
use crate::interrupt;
use crate::say::hearer::hearer;
use crate::say::listener::Terminal;
use crate::say::message::say;
use crate::words::input::Input;
use crate::words::output::{Output, Writing};
use crate::words::paths::{is_stream, refuse_folder, refuse_same_file};
use crate::words::record::{reads, typed};
use spotfit::arguments::choice;
use spotfit::record::{Origin, Record};
use spotfit::steps::{Sink, Source, StepError, TableFile};
use spotfit::table::{
    ColumnNames, CsvWriter, DecimalMark, Table, TableError, TableFormat, TextOptions,
};

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
    /// Size of a pixel in nanometres, if the table does not contain it and lengths must be converted.
    #[arg(help_heading = "Tables", long, value_name = "NM")]
    pixel_size: Option<f64>,
    /// The position of (0, 0) in tables in nanometres and in CSV tables: the centre of the first pixel, as `spotfit
    /// localize` writes them, or its corner, as in ThunderSTORM. It matters where tables are converted from or to Picasso's or
    /// compared with another, and for z [default: what the record beside the table says, or else centre].
    #[arg(help_heading = "Tables", long, value_parser = choice::<Origin>(), value_name = "ORIGIN")]
    origin: Option<Origin>,
    /// The number of the first frame in CSV tables. By default it is 1 if lengths have units and `id` does not begin
    /// with 0, and otherwise 0.
    #[arg(help_heading = "Tables", long, value_name = "0|1", value_parser = clap::value_parser!(u32).range(..=1))]
    first_frame: Option<u32>,
    /// What the columns of a CSV table are, where their names do not tell: for each its name here, that in the file, and its unit
    /// (nm, um, px, photons, rad, deg), as in 'x=PosX nm,y=PosY nm,frame=T,photons=Signal'. Frames are counted from 0 then.
    #[arg(help_heading = "Tables", long, value_name = "NAME=COLUMN UNIT,...")]
    column_names: Option<ColumnNames>,
    #[command(flatten)]
    text: TextArguments,
}

/// What the text of a table does not say.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct TextArguments {
    /// Do not look at the first N lines of a CSV table.
    #[arg(help_heading = "Tables", long, value_name = "N", default_value_t = 0)]
    skip_lines: usize,
    /// The mark before decimals, where the numbers of a text do not tell: 1,250 may be 1250 or 1.25.
    #[arg(help_heading = "Tables", long, value_enum, value_name = "MARK")]
    decimal: Option<Decimal>,
}

/// The mark before decimals.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Decimal {
    #[value(alias = ".")]
    Point,
    #[value(alias = ",")]
    Comma,
}

impl From<Decimal> for DecimalMark {
    fn from(decimal: Decimal) -> Self {
        match decimal {
            Decimal::Point => Self::Point,
            Decimal::Comma => Self::Comma,
        }
    }
}

impl From<TextArguments> for TextOptions {
    fn from(text: TextArguments) -> Self {
        let decimal = text.decimal.map(DecimalMark::from);
        Self::default().with_skip_lines(text.skip_lines).with_decimal(decimal)
    }
}

impl LocsArguments {
    /// The table for an operation; what is to be known of it is said.
    pub(crate) fn source(&self) -> Result<Source, CliError> {
        self.table.source(&self.localizations)
    }

    /// The truth beside this table, of the same movie: its frames and its origin may be counted otherwise.
    pub(crate) fn truth(
        &self,
        path: &Path,
        origin: Option<Origin>,
        first_frame: Option<u32>,
    ) -> Result<Source, CliError> {
        let pixel_size = self.table.pixel_size;
        let (column_names, text) = Default::default();
        let table = TableArguments { pixel_size, origin, first_frame, column_names, text };
        table.noted(path, "truth_origin")
    }

    /// The same, for a table to be written here: its name is looked at before anything is read.
    pub(crate) fn source_for(&self, output: &Path) -> Result<Source, CliError> {
        format_of(output)?;
        self.source()
    }

    /// The same with more tables, of which the file may not say the same.
    pub(crate) fn sources_for(
        &self,
        more: &[PathBuf],
        output: &Path,
    ) -> Result<Vec<Source>, CliError> {
        format_of(output)?;
        let all = std::iter::once(&self.localizations).chain(more);
        if all.clone().filter(|path| path.as_path() == Path::new("-")).count() > 1 {
            let reason = "standard input can be read once only; give files for the other tables";
            return Err(CliError::Other(reason.into()));
        }
        all.map(|path| self.table.source(path)).collect()
    }
}

impl TableArguments {
    /// A table for an operation; what is to be known of it is said, and which of its columns are not known.
    pub(crate) fn source(&self, path: &Path) -> Result<Source, CliError> {
        let source = self.noted(path, "origin")?;
        say_unknown(&source.layout()?);
        Ok(source)
    }

    /// A table for an operation; what is to be known of it is said. An option of this name says its origin.
    fn noted(&self, path: &Path, origin: &'static str) -> Result<Source, CliError> {
        let names = self.column_names.clone().unwrap_or_default();
        let source = opened(path, self.first_frame, names, self.pixel_size, self.text.into())?;
        let source = source.with_origin_option(origin);
        let source = source.with_origin(self.origin);
        for note in source.notes()? {
            say!("spotfit: {}: {note}", source.name());
        }
        Ok(source)
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

/// A table being written, of which whoever hears the verb hears, too.
pub(crate) struct LocsOutput {
    name: String,
    file: TableFile,
    /// Whether nobody wants a record, or the table goes to a stream, which has none.
    no_record: bool,
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
    fn write(&mut self, block: Table) -> Result<(), TableError> {
        if let Some(hearer) = hearer() {
            hearer.rows(&block);
        }
        self.file.write(block)
    }
}

impl LocsOutput {
    /// Begins to write the table that an operation makes of this one.
    pub(crate) fn of(source: &Source, path: &Path, writing: Writing) -> Result<Self, CliError> {
        Self::of_all(std::slice::from_ref(source), path, writing)
    }

    /// The same of several, which get the origin of the first.
    pub(crate) fn of_all(
        sources: &[Source],
        path: &Path,
        writing: Writing,
    ) -> Result<Self, CliError> {
        let inputs = || sources.iter().filter_map(Source::path);
        let corner = sources.first().is_some_and(Source::has_corner_origin);
        let picasso = sources.first().is_some_and(Source::is_picasso);
        let shift = shift(corner, picasso, path)?;
        let mut output = Self::create(path, writing)?;
        output.file = output.file.with_shift(shift);
        output.with_record(made_of(inputs(), corner, path)?)
    }

    /// Begins to write a table; its format is that of the name, or CSV for standard output.
    pub(crate) fn create(path: &Path, writing: Writing) -> Result<Self, CliError> {
        let format = format_of(path)?;
        let output = Output::create(path)?.into();
        Self::new(path, writing, TableFile::through(output, path, format, writing.into()))
    }

    /// Begins to write a table that grows.
    pub(crate) fn growing(path: &Path, writing: Writing) -> Result<Self, CliError> {
        Self::new(path, writing, TableFile::growing(path, writing.into()))
    }

    fn new(
        path: &Path,
        writing: Writing,
        file: Result<TableFile, StepError>,
    ) -> Result<Self, CliError> {
        let name = path.display().to_string();
        let file = file.map_err(step(&name))?;
        Ok(Self { name, file, no_record: writing.no_record || is_stream(path) })
    }

    /// The same for those who read a stream while it is written.
    pub(crate) fn flushing(self, flushes: bool) -> Self {
        Self { file: self.file.flushing(flushes), ..self }
    }

    /// The same with a record beside the table, unless it is not wanted or the table goes to a stream. It is completed when the
    /// table is.
    pub(crate) fn with_record(self, record: Record) -> Result<Self, CliError> {
        if self.no_record {
            return Ok(self);
        }
        Ok(Self { file: self.file.with_record(record)?, ..self })
    }

    /// A file was read besides the table.
    pub(crate) fn reads(&mut self, role: &str, file: &Path) -> Result<(), CliError> {
        self.file.record_mut().map_or(Ok(()), |record| reads(record, role, file))
    }

    /// What is to stand beside the table.
    pub(crate) fn record_mut(&mut self) -> Option<&mut Record> {
        self.file.record_mut()
    }

    /// Writes the whole table, as an operation does it.
    pub(crate) fn made<T>(
        mut self,
        run: impl FnOnce(&mut Self, &Terminal) -> Result<T, StepError>,
    ) -> Result<T, CliError> {
        let report = run(&mut self, &Terminal::default()).map_err(step(&self.name))?;
        self.finish(Vec::new(), BTreeMap::new())?;
        Ok(report)
    }

    /// Completes the table, and the files beside it if it has any, together with other files, and with what was counted, for the record.
    pub(crate) fn finish(
        self,
        others: Vec<Output>,
        counts: BTreeMap<String, u64>,
    ) -> Result<(), CliError> {
        let others = others.into_iter().map(Into::into);
        let finished = self.file.finish(others, counts, &mut || interrupt::check().is_ok());
        let (left_out, _) = finished.map_err(step(&self.name))?;
        if left_out.total() > 0 {
            say!("{left_out}");
        }
        Ok(())
    }

    /// The file that is written, as it was named.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// A CSV table that is no table of localizations, about to be there.
pub(crate) fn write_plain(path: &Path, table: &Table) -> Result<Output, CliError> {
    let mut writer = CsvWriter::new(Output::create(path)?);
    let written = writer.write(table).and_then(|()| writer.finish());
    written.map_err(CliError::write(&path.display().to_string()))
}

/// The record of a table that the running verb makes of others.
fn made_of<'a>(
    inputs: impl Iterator<Item = &'a Path>,
    corner: bool,
    output: &Path,
) -> Result<Record, CliError> {
    let mut record = typed(output);
    // Picasso's tables have (0, 0) at the centre.
    let picasso = format_of(output)? == TableFormat::Picasso;
    record.origin = Some(Origin::corner(corner && !picasso));
    for file in inputs.flat_map(TableFormat::files) {
        reads(&mut record, "table", &file)?;
    }
    Ok(record)
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

/// A table beside that of the localizations, such as one of drift: what is known of the latter is not true of it.
pub(crate) fn plain(path: &Path) -> Result<Source, CliError> {
    // Of drift only differences count, so that no option says where its (0, 0) is.
    Ok(opened(path, None, ColumnNames::default(), None, TextOptions::default())?
        .with_origin(Some(Origin::Centre)))
}

/// A table in a file, or one that is read to its end here.
pub(crate) fn opened(
    path: &Path,
    first_frame: Option<u32>,
    names: ColumnNames,
    pixel_size: Option<f64>,
    text: TextOptions,
) -> Result<Source, CliError> {
    let (input, length) = Input::open(path)?;
    let source = Source::file(path).with_pixel_size(pixel_size)?;
    let source = source.with_first_frame(first_frame).with_column_names(names).with_text(text);
    if length.is_some() { Ok(source) } else { Ok(source.once(input)?) }
}

/// Refuses an output that would replace an input, by itself or by the file beside it.
pub(crate) fn refuse_replacing(input: &Path, output: &Path) -> Result<(), CliError> {
    TableFormat::files(output).iter().try_for_each(|file| refuse_same_file(input, file))
}
