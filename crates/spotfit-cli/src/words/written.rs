//! The names of what is written, and the one check that all of them go through with all that is read.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::{ArgMatches, Command, ValueHint};
use spotfit::output::paths::{Identity, resolve};
use spotfit::record::{Record, State};
use spotfit::ring;
use spotfit::table::{TableFormat, is_our_sidecar, sidecar};

use crate::error::CliError;
use crate::say::hearer::hearer;
use crate::words::paths::{is_standard_output, is_stream, refuse_unreachable};

/// Names of a kind. An option that names something to be written has one of these types, by which the check finds it.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident($kind:ty => $target:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name($kind);

        impl Deref for $name {
            type Target = $target;
            fn deref(&self) -> &$target {
                &self.0
            }
        }
    )*};
}
names! {
    /// A file that is written.
    WrittenFile(PathBuf => Path);
    /// A folder in which files are written.
    WrittenFolder(PathBuf => Path);
    /// A ring that is written.
    WrittenRing(String => str);
}

impl From<OsString> for WrittenFile {
    fn from(name: OsString) -> Self {
        Self(name.into())
    }
}

impl From<OsString> for WrittenFolder {
    fn from(name: OsString) -> Self {
        Self(name.into())
    }
}

impl From<String> for WrittenRing {
    fn from(name: String) -> Self {
        Self(name)
    }
}

impl AsRef<Path> for WrittenFolder {
    fn as_ref(&self) -> &Path {
        self
    }
}

/// What an option names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// A file that is written.
    File,
    /// A folder in which files are written.
    Folder,
    /// A ring that is written.
    Ring,
    /// A file that is read.
    Read,
    /// Something else, or a file that is read among other words.
    Other,
}

/// What an option names, by its type.
pub(crate) fn names(arg: &clap::Arg) -> Names {
    let own = arg.get_value_parser().type_id();
    match own {
        _ if own == std::any::TypeId::of::<WrittenFile>() => Names::File,
        _ if own == std::any::TypeId::of::<WrittenFolder>() => Names::Folder,
        _ if own == std::any::TypeId::of::<WrittenRing>() => Names::Ring,
        _ if arg.get_value_hint() == ValueHint::AnyPath => Names::Read,
        _ => Names::Other,
    }
}

/// Something that is written, as it was typed, and all that appears with it.
struct Claim {
    typed: String,
    files: Vec<PathBuf>,
    is_ring: bool,
}

/// Refuses, before anything is touched, what would be written over something that is read or over another output; a folder or a ring of
/// frames in the place of a file; a ring in the place of another file or of the ring of a living program; and, unless `--overwrite` says
/// so, a result in the place of a file of somebody else. Files are compared by what they are, not by their names.
///
/// # Errors
/// [`CliError`], with the name.
pub(crate) fn check(command: &Command, matches: &ArgMatches) -> Result<(), CliError> {
    if let Some((name, matches)) = matches.subcommand() {
        return command.find_subcommand(name).map_or(Ok(()), |command| check(command, matches));
    }
    let (mut claims, mut folders, mut read) = (Vec::<Claim>::new(), Vec::new(), Vec::new());
    for arg in command.get_arguments() {
        let values = matches.try_get_raw(arg.get_id().as_str());
        for value in values.ok().flatten().into_iter().flatten() {
            match names(arg) {
                Names::File => claims.push(Claim::file(Path::new(value))?),
                Names::Ring => claims.push(Claim::ring(value)?),
                Names::Folder => folders.push(checked_folder(Path::new(value))?),
                Names::Read => read.extend(read_at(value)),
                // Such as NAME=SAMPLES.npy:AXIS, GROUP:GROUPS.csv, and what is a number or a file.
                Names::Other => {
                    let parts = value.to_str().into_iter().flat_map(parts);
                    let parts = parts.map(Path::new).chain([Path::new(value)]);
                    read.extend(parts.filter(|part| part.is_file()).map(Path::to_owned));
                }
            }
        }
    }
    let refuse = |claim: &Claim, reason: &str| Err(CliError::file(&claim.typed, reason));
    let has = |claim: &Claim, file: &Identity| {
        claim.files.iter().any(|own| Identity::of(own).as_ref() == Some(file))
    };
    let replaced = |claim: &&Claim| {
        read.iter().filter_map(|file| Identity::of(file)).any(|file| has(claim, &file))
    };
    if let Some(claim) = claims.iter().find(replaced) {
        return refuse(claim, "the output would replace an input; choose another name");
    }
    for (number, claim) in claims.iter().enumerate() {
        let own = || claim.files.iter().filter_map(|file| Identity::of(file));
        let both = |other: &&Claim| {
            let standard = [claim, other].map(|claim| is_standard_output(Path::new(&claim.typed)));
            standard == [true; 2] || own().any(|file| has(other, &file))
        };
        if let Some(other) = claims[..number].iter().find(both) {
            let reason = format!("it is the same file as {}; choose two names", other.typed);
            return refuse(claim, &reason);
        }
    }
    for claim in claims.iter().filter(|claim| claim.is_ring) {
        ring::check_free(&claim.typed).map_err(|error| CliError::Other(error.to_string()))?;
    }
    // What has a record is known again. Of picks it is the table.
    let recorded = if command.get_name() == "pick" { "inside" } else { "output" };
    let given = |id| matches.try_get_one::<bool>(id).ok().flatten();
    let output = matches.try_get_raw(recorded).ok().flatten().into_iter().flatten().next();
    if let (Some(false), Some(_), Some(output)) = (given("overwrite"), given("no_record"), output) {
        refuse_stranger(Path::new(output))?;
    }
    if cfg!(debug_assertions) {
        checked().extend(claims.into_iter().flat_map(|claim| claim.files).chain(folders));
    }
    Ok(())
}

/// Refuses to replace a file that nothing says to be one of ours. A window has asked its user already.
fn refuse_stranger(path: &Path) -> Result<(), CliError> {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if !is_file || is_stream(path) || is_ours(path) || hearer().is_some() {
        return Ok(());
    }
    let reason =
        "it is there already, and nothing says that Spotfit wrote it; --overwrite replaces it";
    Err(CliError::file(&path.display().to_string(), reason))
}

/// Whether a file is a result of ours: by the record or the description beside it, or as it begins.
fn is_ours(path: &Path) -> bool {
    let has_record = |path: &Path| {
        Record::beside(path).is_some_and(|record| !matches!(record.state, State::Failed { .. }))
    };
    let real = resolve(path).unwrap_or_default();
    if has_record(path) || has_record(&real) {
        return true;
    }
    if TableFormat::of(path) == Some(TableFormat::Picasso) {
        return is_our_sidecar(&sidecar(path));
    }
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 12).read_to_end(&mut begin));
    let text = String::from_utf8_lossy(&begin);
    // The tables of `fit` and `curve`; those of localizations begin as those of other programs do.
    let head = text.lines().next().unwrap_or_default();
    let is_table =
        head.contains(",status") && (head.starts_with("spot,x,y,") || head.starts_with("fit,"));
    let is_array = begin.starts_with(b"\x93NUMPY")
        && (text.contains("[('spot', ") || text.contains("[('fit', "));
    read.is_ok() && (is_table || is_array)
}

/// All that went through the check, in debug builds.
fn checked() -> MutexGuard<'static, Vec<PathBuf>> {
    static CHECKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    CHECKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether something that is about to be written went through the check: tests ask it of all that is written.
pub(crate) fn was_checked(path: &Path) -> bool {
    checked().iter().any(|own| path.starts_with(own))
}

impl Claim {
    fn file(path: &Path) -> Result<Self, CliError> {
        refuse_unreachable(path)?;
        let typed = path.display().to_string();
        if path.is_dir() {
            return Err(CliError::write(&typed)(io::ErrorKind::IsADirectory.into()));
        }
        if ring::is_ring(path) {
            let reason =
                "it is a ring of frames, which another program may be using; choose another name";
            return Err(CliError::file(&typed, reason));
        }
        let mut files = vec![path.to_owned()];
        if !is_stream(path) {
            let beside = TableFormat::of(path) == Some(TableFormat::Picasso);
            files.extend(beside.then(|| sidecar(path)));
            files.push(Record::path(path));
        }
        Ok(Self { typed, files, is_ring: false })
    }

    fn ring(name: &OsStr) -> Result<Self, CliError> {
        let typed = name.to_string_lossy().into_owned();
        let path = ring::path_of(&typed).map_err(|error| CliError::Other(error.to_string()))?;
        Ok(Self { typed, files: vec![path], is_ring: true })
    }
}

/// What may be the name of a file in a word such as `NAME=SAMPLES.npy:AXIS`; the name may have some of these marks itself.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    const MARKS: [char; 3] = [',', '=', ':'];
    const OWN: usize = 3;
    let begins = [0].into_iter().chain(word.match_indices(MARKS).map(|(at, _)| at + 1));
    begins.flat_map(move |begin| {
        let rest = &word[begin..];
        let ends = rest.match_indices(MARKS).map(|(at, _)| at).chain([rest.len()]);
        ends.take(OWN + 1).map(move |end| &rest[..end])
    })
}

/// The files that are read by this name.
fn read_at(name: &OsStr) -> Vec<PathBuf> {
    if let Some(ring) = name.to_str().and_then(|name| name.strip_prefix("ring:")) {
        return ring::path_of(ring).into_iter().collect();
    }
    let path = Path::new(
        name.to_str().and_then(|name| name.strip_prefix("follow:")).map_or(name, OsStr::new),
    );
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    let beside = match ending.as_str() {
        "hdf5" | "h5" | "raw" => Some("yaml"),
        "dax" => Some("inf"),
        _ => None,
    };
    [path.to_owned()].into_iter().chain(beside.map(|ending| path.with_extension(ending))).collect()
}

fn checked_folder(path: &Path) -> Result<PathBuf, CliError> {
    if path.exists() && !path.is_dir() {
        return Err(CliError::file(&path.display().to_string(), "it is there and no folder"));
    }
    Ok(path.to_owned())
}
