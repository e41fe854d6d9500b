//! The files of a movie that is written to several of them, in one folder.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::MovieError;
use super::images::Images;
use super::ome::{Ome, is_ome};
use super::page::Places;
use super::pages::{self, Greys, LONGEST_TEXT, Survey};
use crate::excerpt::excerpt;
use crate::movie::MovieOptions;
use crate::movie::error::wrong;
use crate::movie::format::is_tiff;
use crate::place::Bytes;

/// The files, and what the metadata say of them.
pub(super) struct Set {
    pub(super) ome: Option<Described>,
    /// The files in their order; without a path, the reader that was given.
    pub(super) files: Vec<Option<PathBuf>>,
    /// The number of pages of each.
    pub(super) pages: Vec<usize>,
    /// Where they are, of each.
    pub(super) places: Vec<Places>,
    /// Which of these are grey in other ways, of each.
    pub(super) greys: Vec<Greys>,
    /// Which of `files` was opened.
    pub(super) own: usize,
    pub(super) notes: Vec<String>,
    /// Whether files that are cut off are refused.
    strict: bool,
}

/// Metadata, and the image in them that is read.
pub(super) struct Described {
    pub(super) ome: Ome,
    pub(super) image: usize,
    /// Where in [`Set::files`] each of [`Ome::files`] is.
    pub(super) parts: Vec<usize>,
}

impl Set {
    /// The set to which a file belongs.
    pub(super) fn find(
        path: Option<&Path>,
        survey: Survey,
        options: &MovieOptions,
    ) -> Result<Self, MovieError> {
        let Survey { pages, description, greys, notes, cut, .. } = survey;
        let mut set = Self {
            ome: None,
            files: vec![path.map(Path::to_owned)],
            pages: vec![pages.places.len()],
            places: vec![pages],
            greys: vec![greys],
            own: 0,
            notes: notes.into_iter().chain(cut).map(|note| format!("the file {note}")).collect(),
            strict: options.strict,
        };
        if is_ome(&description) {
            set.describe(path, &description, options)?;
        }
        if set.ome.is_none() {
            options.position_of(&[String::new()])?;
        }
        let named = set.ome.as_ref().is_some_and(|described| !described.ome.files.is_empty());
        if let (Some(path), false) = (path, named) {
            set.add_continuations(path)?;
        }
        Ok(set)
    }

    /// Reads OME metadata, and finds the files that they name.
    fn describe(
        &mut self,
        path: Option<&Path>,
        description: &str,
        options: &MovieOptions,
    ) -> Result<(), MovieError> {
        let Some(Told { ome, image, named, is_own }) =
            told(path, description, options, &mut self.notes)?
        else {
            return Ok(());
        };
        let mut parts = vec![0; ome.files.len()];
        if !named.is_empty() {
            let own = (self.files.remove(0), self.pages.remove(0));
            let own_places = self.places.remove(0);
            let mut own_greys = Some(self.greys.remove(0));
            for file in named {
                let place = self.files.len();
                let Some(file) = file else {
                    self.own = place;
                    parts
                        .iter_mut()
                        .zip(&is_own)
                        .filter(|&(_, own)| *own)
                        .for_each(|(part, _)| *part = place);
                    self.files.push(own.0.clone());
                    self.pages.push(own.1);
                    self.places.push(own_places.clone());
                    self.greys.push(own_greys.take().unwrap_or_default());
                    continue;
                };
                parts[file] = place;
                let name = &ome.files[file].0;
                let Some(path) = path else {
                    return Err(part(name, "can only be found if the movie is opened by its name"));
                };
                self.add(beside(path, name)?, name)?;
            }
        }
        self.ome = Some(Described { ome, image, parts });
        Ok(())
    }

    fn add(&mut self, path: PathBuf, name: &str) -> Result<(), MovieError> {
        let unreadable = |error: MovieError| part(name, format!("cannot be read: {error}"));
        let file: Bytes = Arc::new(File::open(&path)?);
        let survey = pages::survey(&file, self.strict).map_err(unreadable)?;
        let name = excerpt(name);
        let notes = survey.notes.iter().chain(&survey.cut);
        self.notes.extend(notes.map(|note| format!("the file {name} {note}")));
        self.files.push(Some(path));
        self.pages.push(survey.pages.places.len());
        self.places.push(survey.pages);
        self.greys.push(survey.greys);
        Ok(())
    }

    /// Goes on with the images that follow the first one.
    pub(super) fn add_images(&mut self, path: &Path, images: &Images) -> Result<(), MovieError> {
        for name in images.names.iter().skip(1) {
            self.add(beside(path, name)?, name)?;
        }
        self.notes.extend(images.notes.iter().cloned());
        Ok(())
    }

    /// Micro-Manager writes some gigabytes to `…_MMStack_Pos0.ome.tif` and goes on in `…_MMStack_Pos0_1.ome.tif`. A run
    /// that was broken off leaves no metadata that name them.
    fn add_continuations(&mut self, path: &Path) -> Result<(), MovieError> {
        let Some(own) = numbered(path) else { return Ok(()) };
        if let Some(first) = own.first(path) {
            self.notes.push(format!(
                "this is a part of the movie that begins with {first}; only the part is read"
            ));
            return Ok(());
        }
        // With a gap among them, one of the first is missing.
        for number in 1..=own.continuations(path)?.len() {
            let name = own.continuation(number);
            self.add(beside(path, &name)?, &name)?;
        }
        Ok(())
    }
}

/// What OME metadata say of a set of files.
pub(super) struct Told {
    pub(super) ome: Ome,
    /// The image that is read.
    pub(super) image: usize,
    /// The files with its planes, in the order in which they are named: which of [`Ome::files`] it is, and nothing for the file with
    /// the metadata.
    pub(super) named: Vec<Option<usize>>,
    /// Which of [`Ome::files`] are the file with the metadata.
    pub(super) is_own: Vec<bool>,
}

/// Reads OME metadata; nothing if they describe no image.
pub(super) fn told(
    path: Option<&Path>,
    description: &str,
    options: &MovieOptions,
    notes: &mut Vec<String>,
) -> Result<Option<Told>, MovieError> {
    let mut ome = Ome::read(description);
    let mut foreign = false;
    if let (true, Some(name), Some(path)) = (ome.images.is_empty(), &ome.elsewhere, path) {
        let theirs = Ome::read(&description_of(&beside(path, name)?, name)?);
        ome = Ome { uuid: ome.uuid, ..theirs };
        foreign = true;
    }
    if let Some(reason) = &ome.broken {
        let end = match ome.images.len() {
            0 => "the pages are read as frames",
            _ => "of them only the sizes are used",
        };
        notes.push(format!("the OME metadata are broken ({reason}); {end}"));
        // What was cut off may have named other files.
        ome.images.truncate(1);
        ome.images.iter_mut().for_each(|image| image.blocks.clear());
        ome.files.clear();
    } else if ome.images.is_empty() {
        notes.push("the OME metadata describe no image; the pages are read as frames".to_owned());
    }
    if ome.images.is_empty() {
        return Ok(None);
    }
    let own_name = path.and_then(Path::file_name);
    let is_own = |(name, uuid): &(String, String)| {
        own_name == Some(OsStr::new(name)) || !uuid.is_empty() && Some(uuid) == ome.uuid.as_ref()
    };
    let is_own: Vec<bool> = ome.files.iter().map(is_own).collect();
    let of_own = |file: Option<usize>| file.is_some_and(|file| is_own[file]);
    let mine = |blocks: &[super::ome::Block]| blocks.iter().any(|block| of_own(block.file));
    let names: Vec<String> = ome.images.iter().map(|image| image.name.clone()).collect();
    let image = match options.position {
        Some(_) => options.position_of(&names)?,
        None => ome.images.iter().position(|image| mine(&image.blocks)).unwrap_or(0),
    };

    // In the order in which they are named; nothing for the file itself.
    let blocks = &ome.images[image].blocks;
    let (mut seen, mut seen_own) = (vec![false; ome.files.len()], false);
    let mut named: Vec<Option<usize>> = Vec::new();
    for block in blocks {
        match block.file.filter(|&file| !is_own[file]) {
            None if !std::mem::replace(&mut seen_own, true) => named.push(None),
            Some(file) if !std::mem::replace(&mut seen[file], true) => named.push(Some(file)),
            _ => {}
        }
    }
    // A file that names one other has another name by now.
    if let ([Some(_)], false) = (&named[..], foreign) {
        named = vec![None];
    }
    Ok(Some(Told { ome, image, named, is_own }))
}

pub(super) fn part(name: &str, reason: impl Into<String>) -> MovieError {
    MovieError::Part { file: name.to_owned(), reason: reason.into() }
}

/// The name of a file of Micro-Manager, in two parts between which the number of a continuation stands.
#[derive(Clone, Copy)]
pub(in crate::movie) struct Numbered<'a> {
    stem: &'a str,
    ending: &'a str,
}

impl Numbered<'_> {
    /// The name of the file of which this is a continuation, if it is there.
    pub(in crate::movie) fn first(self, path: &Path) -> Option<String> {
        let Self { stem, ending } = self;
        let (first, number) = stem.rsplit_once('_')?;
        let first = format!("{first}{ending}");
        let is_part = number.parse::<usize>().is_ok() && path.with_file_name(&first).is_file();
        is_part.then_some(first)
    }

    /// The name of a continuation.
    pub(super) fn continuation(self, number: usize) -> String {
        let Self { stem, ending } = self;
        format!("{stem}_{number}{ending}")
    }

    /// The numbers of the continuations that are there.
    fn continuations(self, path: &Path) -> io::Result<BTreeSet<usize>> {
        let mut numbers = BTreeSet::new();
        for entry in std::fs::read_dir(folder(path))? {
            let name = entry?.file_name();
            let number =
                name.to_str().and_then(|name| name.strip_prefix(self.stem)?.strip_prefix('_'));
            let number = number.and_then(|name| name.strip_suffix(self.ending));
            // `_001` counts something else.
            let number = number.filter(|number| !number.starts_with('0'));
            numbers.extend(number.and_then(|number| number.parse::<usize>().ok()));
        }
        Ok(numbers)
    }
}

pub(in crate::movie) fn numbered(path: &Path) -> Option<Numbered<'_>> {
    let name = path.file_name()?.to_str()?;
    if !name.contains("_MMStack") {
        return None;
    }
    let at = name.rfind(".ome.").or_else(|| name.rfind('.'))?;
    let (stem, ending) = name.split_at(at);
    Some(Numbered { stem, ending })
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// A file beside another.
fn beside(path: &Path, name: &str) -> Result<PathBuf, MovieError> {
    let path = in_folder(path, name)?;
    match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => Ok(path),
        Ok(_) => Err(part(name, "is not a file")),
        Err(_) => Err(part(name, "is missing")),
    }
}

/// Where a file beside another is to be. Metadata come from anywhere: they must not lead to other folders.
pub(super) fn in_folder(path: &Path, name: &str) -> Result<PathBuf, MovieError> {
    let mut components = Path::new(name).components();
    let one = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    if !one || name.contains(['/', '\\', '\0']) {
        return Err(part(name, "is not in the movie's folder; it is not looked for"));
    }
    Ok(path.with_file_name(name))
}

/// The metadata in another file: a TIFF file, or one of the metadata alone.
fn description_of(path: &Path, name: &str) -> Result<String, MovieError> {
    let mut file = File::open(path)?;
    if is_tiff(path) {
        let survey = pages::survey(&(Arc::new(file) as Bytes), false);
        return survey
            .map(|survey| survey.description)
            .map_err(|error| part(name, format!("cannot be read: {error}")));
    }
    let mut text = Vec::new();
    (&mut file).take(LONGEST_TEXT + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LONGEST_TEXT {
        return Err(part(name, format!("is longer than {} MiB", LONGEST_TEXT >> 20)));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Opens the set of TIFF files that a folder holds: which file begins it.
pub(in crate::movie) fn first_in(folder: &Path) -> Result<(PathBuf, Vec<String>), MovieError> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let small = name.to_ascii_lowercase();
        let of_a_set = small.contains(".ome.") || name.contains("_MMStack");
        // Programs for sharing files leave `._` files beside the real ones.
        if of_a_set && !name.starts_with('.') && is_tiff(Path::new(name)) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    // The first of a set is named before its continuations: it has no number.
    let begins = |name: &&String| {
        let path = Path::new(name.as_str());
        let Some(Numbered { stem, ending }) = numbered(path) else { return true };
        let Some((first, number)) = stem.rsplit_once('_') else { return true };
        let first = format!("{first}{ending}");
        number.parse::<usize>().is_err() || names.binary_search(&first).is_err()
    };
    let first = names.iter().find(begins).cloned();
    match first {
        Some(first) => Ok((folder.join(first), names)),
        None => Err(wrong(
            "this folder holds no movie of Micro-Manager, in OME-TIFF files or in numbered images; name a file instead",
        )),
    }
}

/// The names of the files that the movie of a file or folder has now besides those that are known.
pub(in crate::movie) fn new_files(path: &Path, known: &[&str]) -> Result<Vec<String>, MovieError> {
    let is_new = |name: &String| !known.contains(&name.as_str());
    if path.is_dir() {
        // All of them are one movie, or the folder is refused.
        return Ok(first_in(path)?.1.into_iter().filter(is_new).collect());
    }
    let Some(own) = numbered(path).filter(|_| is_tiff(path)) else { return Ok(Vec::new()) };
    let names = own.continuations(path)?.into_iter().map(|number| own.continuation(number));
    let mut names: Vec<String> = names.filter(is_new).collect();
    if names.is_empty() {
        return Ok(names);
    }
    // Only now is the file opened, which takes time: it may name its files, and others are none of the movie then.
    let survey = pages::survey(&(Arc::new(File::open(path)?) as Bytes), false)?;
    let set = Set::find(Some(path), survey, &MovieOptions::default());
    // With files that do not go together it is not the movie that it was.
    if let Ok(set) = set {
        let read = |name: &String| {
            let mut files = set.files.iter().flatten();
            files.any(|file| file.file_name() == Some(OsStr::new(name)))
        };
        names.retain(read);
    }
    Ok(names)
}

/// An error if a folder holds more files than those of one movie.
pub(in crate::movie) fn refuse_others(
    names: &[String],
    files: &[PathBuf],
) -> Result<(), MovieError> {
    let read: BTreeSet<&OsStr> = files.iter().filter_map(|file| file.file_name()).collect();
    let other = names.iter().find(|name| !read.contains(OsStr::new(name.as_str())));
    match other {
        None => Ok(()),
        Some(other) => {
            let first = files.first().and_then(|file| file.file_name()).unwrap_or_default();
            let (first, other) = (excerpt(&first.to_string_lossy()), excerpt(other));
            Err(wrong(format!(
                "this folder holds several movies; name the one to read, such as {first} or {other}"
            )))
        }
    }
}
