//! Writing tables to files: the formats, and what lies beside a table.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use spotfit_files::output::paths::{resolve, same};
use spotfit_files::output::{Output, OutputError, refuse_stranger};

use super::picasso::{LeftOut, PicassoWriter, is_our_sidecar, sidecar};
use super::{CsvWriter, PicassoVersion, Table, TableError, TableFormat};

fit_core::__options! {
    /// How a table is saved.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SaveOptions {
        /// Whether an existing `.yaml` beside a `.hdf5` table is replaced even if Spotfit did not write it.
        pub overwrite(const with_overwrite): bool = false,
        /// Which Picasso a `.hdf5` table is for.
        pub picasso(const with_picasso): PicassoVersion = PicassoVersion::default(),
    }
}

/// A table that is being written to a file, and to the YAML file beside it if it has one.
pub struct TableOutput {
    path: PathBuf,
    overwrite: bool,
    rows: Rows,
}

/// The formats of rows.
enum Rows {
    Csv(Box<CsvWriter<Output>>),
    Picasso(Box<PicassoWriter<Output>>),
}

impl TableOutput {
    /// Begins to write a table in the format of its file's name.
    ///
    /// # Errors
    /// [`TableError::Format`] for other names, [`TableError::Stranger`] for a `.yaml` that stays, [`TableError::Io`].
    pub fn create(path: &Path, options: SaveOptions) -> Result<Self, TableError> {
        let format = TableFormat::of(path).ok_or(TableError::Format)?;
        refuse_beside(path, format, options.overwrite)?;
        Self::through(Output::create(path)?, path, format, options)
    }

    /// The same through an output that is already open, such as a stream. The path tells which file belongs beside the
    /// table.
    ///
    /// # Errors
    /// [`TableError::Stranger`].
    pub fn through(
        output: Output,
        path: &Path,
        format: TableFormat,
        options: SaveOptions,
    ) -> Result<Self, TableError> {
        let SaveOptions { overwrite, picasso } = options;
        refuse_beside(path, format, overwrite)?;
        let rows = match format {
            TableFormat::Csv => Rows::Csv(Box::new(CsvWriter::new(output))),
            TableFormat::Picasso => {
                Rows::Picasso(Box::new(PicassoWriter::new(output).with_version(picasso)))
            }
        };
        Ok(Self { path: path.to_owned(), overwrite, rows })
    }

    /// Appends the rows of a block; all have the same columns.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn write(&mut self, block: &Table) -> Result<(), TableError> {
        match &mut self.rows {
            Rows::Csv(writer) => Ok(writer.write(block)?),
            Rows::Picasso(writer) => writer.write(block),
        }
    }

    /// Hands on what was written, for those who read a stream.
    ///
    /// # Errors
    /// [`TableError::Io`].
    pub fn flush(&mut self) -> Result<(), TableError> {
        match &mut self.rows {
            Rows::Csv(writer) => Ok(writer.get_mut().flush()?),
            // Its file is written out of order.
            Rows::Picasso(_) => Ok(()),
        }
    }

    /// Ends the table. Its files are there when [`Output::finish_all`] has completed them in this order. Rows that Picasso would not
    /// read were left out.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn finish(self) -> Result<(Vec<Output>, LeftOut), TableError> {
        let writer = match self.rows {
            Rows::Csv(writer) => return Ok((vec![writer.finish()?], LeftOut::default())),
            Rows::Picasso(writer) => writer,
        };
        let left_out = writer.left_out();
        let (output, text) = writer.finish()?;
        refuse_beside(&self.path, TableFormat::Picasso, self.overwrite)?;
        let mut beside = Output::create(&sidecar(&self.path))?;
        beside.write_all(text.as_bytes())?;
        // The side of a pixel in the YAML file counts before that in the table. So no table may ever be beside the YAML file
        // of another, also if the process is killed: first the old YAML file goes, then the table appears, then the new YAML
        // file. A table without YAML has what is known in itself.
        let mut output = output.before(&beside);
        if let Some(other) = of_target(&self.path)? {
            output = output.without(other);
        }
        Ok((vec![output, beside], left_out))
    }
}

impl fmt::Debug for TableOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableOutput").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Table {
    /// Writes the table to a file, in the format of its name: `.csv`, or `.hdf5` with its `.yaml` beside it. It is there under its name only
    /// when it is complete. A `.yaml` that is there already is replaced only if Spotfit wrote it.
    ///
    /// # Errors
    /// [`TableError`]; [`TableError::Format`] for other names, [`TableError::Stranger`] for a `.yaml` that stays.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<LeftOut, TableError> {
        self.save_with(path, SaveOptions::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`Table::save`].
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        options: SaveOptions,
    ) -> Result<LeftOut, TableError> {
        let mut output = TableOutput::create(path.as_ref(), options)?;
        output.write(self)?;
        let (outputs, left_out) = output.finish()?;
        Output::finish_all(outputs, &mut |_| true)?;
        Ok(left_out)
    }
}

/// Refuses to replace the YAML file of somebody else, or of another table.
fn refuse_beside(path: &Path, format: TableFormat, overwrite: bool) -> Result<(), TableError> {
    if format != TableFormat::Picasso {
        return Ok(());
    }
    for file in std::iter::once(sidecar(path)).chain(of_target(path)?) {
        refuse_stranger(&file, is_our_sidecar, overwrite)?;
    }
    let file = sidecar(path);
    let others = ["hdf5", "h5"].map(|ending| path.with_extension(ending));
    let mut others = others.into_iter().filter(|other| other.exists() && !same(other, path));
    match others.next() {
        Some(other) if file.exists() && !overwrite => Err(TableError::Shared {
            file: file.display().to_string(),
            other: other.display().to_string(),
        }),
        _ => Ok(()),
    }
}

/// The YAML file beside the table that a link leads to, where it is another than that beside the link: it does not tell of the
/// table that replaces this one.
fn of_target(path: &Path) -> Result<Option<PathBuf>, TableError> {
    let other = sidecar(&resolve(path)?);
    Ok((path.is_symlink() && other.exists() && !same(&other, &sidecar(path))).then_some(other))
}

impl From<OutputError> for TableError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Write { source, .. } => Self::Io(source),
            // Something other than a file cannot be replaced by one.
            OutputError::Stranger { file } | OutputError::NoFile { file } => {
                Self::Stranger { file }
            }
            error => Self::Io(io::Error::other(error.to_string())),
        }
    }
}
