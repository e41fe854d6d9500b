//! Names for the columns of a CSV table that another program wrote.

use std::fmt;
use std::str::FromStr;

use super::{Meaning, names};

/// What the columns of a CSV table are, where their names do not tell: for each its name here, that in the file, and its unit.
///
/// As text: `x=PosX nm, y=PosY nm, frame=T, photons=Signal`. The unit is the last word, if that is one: `nm`, `um`, `px`, `photon`,
/// `rad` or `deg`. A name that is not known here renames a column.
///
/// ```
/// use spotfit_locs::table::{ColumnNames, CsvReader};
///
/// let names: ColumnNames = "x=Pos X um, y=Pos Y um, frame=T".parse()?;
/// let reader = CsvReader::new("T,Pos X,Pos Y\n0,1.5,2\n".as_bytes())?;
/// assert_eq!(reader.with_names(&names)?.read_all(10)?.values("x")?, [1500.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnNames(
    /// For each its name in the file, and its header here.
    Vec<(String, String)>,
);

/// A text does not say what columns are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ColumnNamesError(String);

/// A unit as it is written, as our tables have it.
fn unit(word: &str) -> Option<&str> {
    match word {
        "nm" | "um" | "px" | "photon" | "rad" | "deg" => Some(word),
        "µm" | "μm" => Some("um"),
        "pix" | "pixel" | "pixels" => Some("px"),
        "photons" => Some("photon"),
        _ => None,
    }
}

impl ColumnNames {
    /// The same with one more: its name here, that in the file, and its unit if it has one.
    ///
    /// # Errors
    /// [`ColumnNamesError`] for a name that is empty or given twice, and for a unit that such a column cannot have.
    pub fn with(
        mut self,
        name: &str,
        column: &str,
        unit: Option<&str>,
    ) -> Result<Self, ColumnNamesError> {
        let (name, file) = (name.trim(), column.trim().to_owned());
        if name.is_empty() || file.is_empty() {
            return Err(ColumnNamesError(format!("'{name}={column}' is not NAME=COLUMN [UNIT]")));
        }
        let known = Meaning::of(name).or_else(|| names::known(name).map(|(known, ..)| known));
        let title = known.map_or(name, |known| known.csv()[0]);
        let here = unit.map_or_else(|| title.to_owned(), |unit| format!("{title} [{unit}]"));
        if let (Some(known), Some(unit), None) = (known, unit, names::from_csv(&here)) {
            return Err(ColumnNamesError(format!("'{known}' cannot be in {unit}")));
        }
        let twice = |one: &(String, String)| one.0 == file || one.1 == here;
        if self.0.iter().any(twice) {
            return Err(ColumnNamesError(format!("'{name}={file}' names a column twice")));
        }
        self.0.push((file, here));
        Ok(self)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For each its name in the file, and its header here.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(file, here)| (&**file, &**here))
    }
}

impl FromStr for ColumnNames {
    type Err = ColumnNamesError;

    fn from_str(text: &str) -> Result<Self, ColumnNamesError> {
        let mut all = Self::default();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let wrong = || ColumnNamesError(format!("'{}' is not NAME=COLUMN [UNIT]", part.trim()));
            let (name, column) = part.split_once('=').ok_or_else(wrong)?;
            let column = column.trim();
            let last = column.rsplit_once(char::is_whitespace);
            let named = last.and_then(|(column, word)| Some((column, Some(unit(word)?))));
            let (column, unit) = named.unwrap_or((column, None));
            all = all.with(name, column, unit)?;
        }
        match all.is_empty() {
            true => Err(ColumnNamesError("no column is named: NAME=COLUMN [UNIT],…".to_owned())),
            false => Ok(all),
        }
    }
}

impl fmt::Display for ColumnNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> =
            self.pairs().map(|(file, here)| format!("{here}={file}")).collect();
        f.write_str(&pairs.join(","))
    }
}
