//! A movie of a batch, and where it stands.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::options::BatchOptions;
use crate::movie::{FollowOptions, MovieOptions, last_change};
use crate::output::paths::shown;
use crate::record::{Record, State};
use crate::steps::StepError;
use crate::steps::localize::LocalizeOptions;
use crate::table::{PicassoVersion, TableFormat};

/// How movies are localized, and what the outcome depends on.
#[derive(Clone, Debug)]
pub struct Method {
    pub(super) options: LocalizeOptions,
    pub(super) movie: MovieOptions,
    /// As records have it.
    known: BTreeMap<String, Value>,
}

impl Method {
    /// Checks options for all movies.
    ///
    /// # Errors
    /// [`StepError`] for what is wrong with them whatever the movie.
    pub fn new(
        options: &LocalizeOptions,
        movie: &MovieOptions,
        batch: &BatchOptions,
    ) -> Result<Self, StepError> {
        let mut known = options.check(movie, batch.format)?;
        let picasso = batch.picasso;
        if batch.format == TableFormat::Picasso && picasso != PicassoVersion::default() {
            known.insert("picasso".to_owned(), picasso.to_string().into());
        }
        let mut options = options.clone();
        let threads = &mut options.localizer.fitter.threads;
        if batch.jobs > 1 {
            let all = || std::thread::available_parallelism().map_or(1, usize::from);
            let given = if *threads == 0 { all() } else { *threads };
            *threads = (given / batch.jobs).max(1);
        }
        Ok(Self { options, movie: movie.clone(), known })
    }
}

/// A movie to localize.
#[derive(Clone, Debug)]
pub struct Task {
    movie: String,
    path: PathBuf,
    output: PathBuf,
    pub(super) record: PathBuf,
    pub(super) method: Arc<Method>,
    /// How it is followed, if it may still be being written.
    follow: Option<FollowOptions>,
}

/// Where a movie stands before anything is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// All of it is there: what was counted.
    Finished(BTreeMap<String, u64>),
    /// It is to be localized.
    ToFit,
    /// Something is there that must not be replaced, for this reason. Names of options stand in backticks.
    Refused(String),
}

/// Which file has a name: another one has another stamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stamp(Option<(SystemTime, u64, u64)>);

impl Task {
    /// A movie of this name at a path, whose table is this file.
    pub fn new(
        movie: impl Into<String>,
        path: impl Into<PathBuf>,
        output: impl Into<PathBuf>,
        method: Arc<Method>,
    ) -> Self {
        let output = output.into();
        Self {
            movie: movie.into(),
            path: path.into(),
            record: Record::path(&output),
            output,
            method,
            follow: None,
        }
    }

    /// The same for a movie that may still be being written.
    #[must_use]
    pub fn following(mut self, follow: FollowOptions) -> Self {
        self.follow = Some(follow);
        self
    }

    /// How the movie is followed, unless it has not changed for so long that it has ended.
    pub(super) fn follow(&self) -> Option<&FollowOptions> {
        let follow = self.follow.as_ref()?;
        let age = last_change(&self.path).and_then(|changed| changed.elapsed().ok());
        let is_old = age.is_some_and(|age| age > follow.idle);
        (!is_old).then_some(follow)
    }

    /// What the movie is called.
    pub fn movie(&self) -> &str {
        &self.movie
    }

    /// Where the movie is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The table.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// The name of the table's file.
    pub fn file(&self) -> String {
        shown(self.output.file_name().unwrap_or_default())
    }

    /// The files of the table.
    pub(super) fn tables(&self) -> Vec<PathBuf> {
        TableFormat::files(&self.output)
    }

    /// All files that it is to have.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = self.tables();
        files.push(self.record.clone());
        files
    }

    /// A record of this movie as it is now.
    pub(super) fn now(&self) -> Record {
        let mut record = Record::new("localize", &self.output);
        record.source = Some(self.movie.clone());
        record.options = self.method.known.clone();
        record
    }

    /// Whether any file of the table is there.
    pub(super) fn has_output(&self) -> bool {
        self.tables().iter().any(|file| file.symlink_metadata().is_ok())
    }

    /// Which record is there.
    pub(super) fn stamp(&self) -> Stamp {
        let metadata = fs::symlink_metadata(&self.record).ok();
        Stamp(metadata.and_then(|found| Some((found.modified().ok()?, found.len(), inode(&found)))))
    }

    /// Whether a process that did not come to its end was about to replace what is there.
    pub fn may_replace(&self) -> bool {
        matches!(Record::read(&self.record), Ok(Some(Record { state: State::Begun, .. })))
    }

    /// Finds out what is there.
    pub fn standing(&self) -> Standing {
        let record = match Record::read(&self.record) {
            Err(error) => return Standing::Refused(format!("{error}: `overwrite` replaces it")),
            Ok(Some(found)) => found,
            Ok(None) => return self.without_record(),
        };
        match &record.state {
            State::Begun => Standing::ToFit,
            State::Failed { .. } => self.without_record(),
            State::Done { counts } => self.of_done(&record, counts),
        }
    }

    fn without_record(&self) -> Standing {
        if !self.has_output() {
            return Standing::ToFit;
        }
        let file = self.file();
        let reason = "is there, or the file beside it, and no record says how it was made";
        Standing::Refused(format!("{file} {reason}: `overwrite` replaces it"))
    }

    /// Compares with the record of a movie that was localized.
    fn of_done(&self, record: &Record, counts: &BTreeMap<String, u64>) -> Standing {
        let mut now = self.now();
        now.inputs = record.inputs_now(&self.path, &self.method.options.files());
        let reason = match record.unlike(&now) {
            Some(reason) => Some(reason),
            None if record.source.is_some() && record.source != now.source => {
                let [then, now] =
                    [&record.source, &now.source].map(|name| name.clone().unwrap_or_default());
                Some(format!("made from another movie ({then} then, {now} now)"))
            }
            None => None,
        };
        let other = self.output.with_file_name(&record.output);
        match reason {
            Some(_) if !self.has_output() && !other.exists() => Standing::ToFit,
            Some(reason) => Standing::Refused(format!("{reason}: `overwrite` fits it again")),
            None if self.tables().iter().all(|file| file.exists()) => {
                Standing::Finished(counts.clone())
            }
            // Somebody has removed a part of it.
            None => Standing::ToFit,
        }
    }
}

#[cfg(unix)]
fn inode(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}
