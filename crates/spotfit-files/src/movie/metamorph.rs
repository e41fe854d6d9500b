//! MetaMorph's and VisiView's `.nd`: a list of what was acquired, beside the files of it, one for each position, wavelength and time
//! point.
//!
//! A line is a name in quotes, a comma and a value. Files are called as the list is, and then `_w1NAME` by the wavelength, `_s1` by the
//! position and `_t1` by the time point, as far as the list has several; each has the slices of its time. What no name of a file may have
//! is something else in names of wavelengths.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::error::wrong;
use super::format::{Format, Read, is_tiff};
use super::npy;
use super::parts::How;
use super::{Movie, MovieAxes, MovieError, MovieOptions};
use crate::excerpt::excerpt;

/// The format: a list of files that are movies, too.
pub(super) const FORMAT: Format = Format {
    begins: None,
    new_files,
    ..Format::new("MetaMorph's ND list", &["nd"], Read::Path(open))
};

/// The longest list, in bytes: one has a line for each position.
const LONGEST: u64 = 1 << 22;
/// No file is of a later wavelength.
const MOST_WAVES: usize = 999;

/// A wavelength.
#[derive(Debug, PartialEq)]
struct Wave {
    /// As [`folded`] makes it.
    name: String,
    /// Whether all slices are taken with it.
    is_deep: bool,
}

/// What a list says.
#[derive(Debug, PartialEq)]
struct List {
    /// Time points, if files are numbered by them.
    times: Option<usize>,
    /// Names of the positions, if files are numbered by them.
    stages: Option<Vec<String>>,
    /// The wavelengths, if files are numbered by them.
    waves: Option<Vec<Wave>>,
    /// Slices of a time point.
    slices: usize,
}

/// What a file is of: its wavelength and position from 0, and its time point if its name has one.
type Place = ([usize; 2], Option<usize>);

/// A name with each run of other characters than letters and digits as one.
fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for one in name.chars() {
        match one {
            one if one.is_ascii_alphanumeric() => folded.push(one.to_ascii_lowercase()),
            _ if folded.ends_with('-') => {}
            _ => folded.push('-'),
        }
    }
    folded
}

/// What stands before a mark and a number at the end, and the number, from 0.
fn numbered<'a>(rest: &'a str, mark: &str) -> Option<(&'a str, usize)> {
    let stem = rest.trim_end_matches(|one: char| one.is_ascii_digit());
    let number: usize = rest[stem.len()..].parse().ok()?;
    Some((stem.strip_suffix(mark)?, number.checked_sub(1)?))
}

impl List {
    fn open(path: &Path) -> Result<Self, MovieError> {
        let mut bytes = Vec::new();
        let length = File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
        if length as u64 > LONGEST {
            return Err(wrong(format!("it has more than {LONGEST} bytes")));
        }
        Self::read(&String::from_utf8_lossy(&bytes))
    }

    fn read(text: &str) -> Result<Self, MovieError> {
        let text = text.trim_start_matches('\u{feff}');
        if !text.trim_start().starts_with("\"NDInfoFile\"") {
            return Err(wrong("it does not begin with \"NDInfoFile\""));
        }
        let mut said: HashMap<&str, &str> = HashMap::new();
        for line in text.lines() {
            // A description may have lines of its own.
            let Some((name, value)) =
                line.trim().strip_prefix('"').and_then(|line| line.split_once('"'))
            else {
                continue;
            };
            let value = value.trim_start().trim_start_matches(',').trim();
            said.entry(name).or_insert(value.trim_matches('"'));
        }
        let is = |name: &str, what: &str| {
            said.get(name).is_some_and(|value| value.eq_ignore_ascii_case(what))
        };
        let count = |name: &str| -> Result<usize, MovieError> {
            let Some(value) = said.get(name) else { return Ok(1) };
            let number: Option<usize> = value.parse().ok();
            let number =
                number.ok_or_else(|| wrong(format!("{name} is no number: {}", excerpt(value))))?;
            Ok(number.max(1))
        };
        // Each has a line of its own.
        let each = |name: &str, of: &str| -> Result<usize, MovieError> {
            let number = count(name)?;
            if number > said.len() {
                let has = "but not as many lines that name them";
                return Err(wrong(format!("it has {number} {of}, {has}")));
            }
            Ok(number)
        };
        let named = |name: &str, number: usize| said.get(&*format!("{name}{number}")).copied();
        let stages =
            is("DoStage", "true").then(|| each("NStagePositions", "positions")).transpose()?;
        let stage =
            |number: usize| named("Stage", number).map_or(number.to_string(), str::to_owned);
        let waves =
            is("DoWave", "true").then(|| each("NWavelengths", "wavelengths")).transpose()?;
        let wave = |number: usize| Wave {
            name: folded(named("WaveName", number).unwrap_or_default()),
            is_deep: !is(&format!("WaveDoZ{number}"), "false"),
        };
        Ok(Self {
            times: is("DoTimelapse", "true").then(|| count("NTimePoints")).transpose()?,
            stages: stages.map(|count| (1..=count).map(stage).collect()),
            waves: waves.map(|count| (1..=count).map(wave).collect()),
            slices: if is("DoZSeries", "true") { count("NZSteps")? } else { 1 },
        })
    }

    /// What a file is of, by what its name has after that of the list and before its ending.
    fn place(&self, rest: &str) -> Option<Place> {
        let (mut rest, mut place, mut time) = (rest, [0; 2], None);
        if let Some((stem, number)) = self.times.and_then(|_| numbered(rest, "_t")) {
            (rest, time) = (stem, Some(number));
        }
        if self.stages.is_some() {
            (rest, place[1]) = numbered(rest, "_s")?;
        }
        let Some(waves) = &self.waves else { return rest.is_empty().then_some((place, time)) };
        let Some(name) = rest.strip_prefix("_w") else {
            return (rest.is_empty() && waves.len() == 1).then_some((place, time));
        };
        // A name may begin with digits, too.
        place[0] = (0..waves.len().min(MOST_WAVES)).find(|&wave| {
            let own = name.strip_prefix(&*(wave + 1).to_string());
            own.is_some_and(|own| own.is_empty() || folded(own) == waves[wave].name)
        })?;
        Some((place, time))
    }

    /// The files beside a list, and what they are of.
    fn files(&self, path: &Path) -> io::Result<Vec<(Place, PathBuf)>> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut found = Vec::new();
        let beside = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        for entry in std::fs::read_dir(beside)? {
            let name = entry?.file_name();
            let own = Path::new(&name);
            if !is_tiff(own) {
                continue;
            }
            let own = own.file_stem().unwrap_or_default().to_string_lossy();
            let Some(rest) = own.strip_prefix(&*stem) else { continue };
            let cut = rest
                .len()
                .checked_sub(4)
                .filter(|&at| rest.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(".ome")));
            let place = self.place(&rest[..cut.unwrap_or(rest.len())]);
            found.extend(place.map(|place| (place, folder.join(&name))));
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// The files that the movies of a list have now besides those that are known: of the same wavelengths and positions.
fn new_files(path: &Path, known: &[&str]) -> Result<Vec<String>, MovieError> {
    let files = List::open(path)?.files(path)?;
    let files =
        files.iter().filter_map(|((place, _), path)| Some((place, path.file_name()?.to_str()?)));
    let known: HashSet<&str> = known.iter().copied().collect();
    let is_known = |name: &str| known.contains(name);
    let of: HashSet<_> =
        files.clone().filter(|(_, name)| is_known(name)).map(|(place, _)| place).collect();
    let new = files.filter(|(place, name)| of.contains(place) && !is_known(name));
    Ok(new.map(|(_, name)| name.to_owned()).collect())
}

/// The movie of a list: the wavelength and the position that the options choose.
fn open(path: &Path, options: &MovieOptions) -> Result<Movie, MovieError> {
    // A pipe may be called as it likes.
    if !path.is_file() {
        return npy::open(path, options);
    }
    FORMAT.says(chosen(path, options))
}

fn chosen(path: &Path, options: &MovieOptions) -> Result<Movie, MovieError> {
    let list = List::open(path)?;
    let position = match &list.stages {
        Some(names) => options.position_of(names)?,
        None => options.position_of(&[String::new()])?,
    };
    let waves = list.waves.as_deref().unwrap_or_default();
    let mut axes = MovieAxes::frames(1);
    axes.channels = waves.len().max(1);
    let channel = options.channel_of(&MovieAxes { slices: list.slices, ..axes })?;
    let is_deep = waves.get(channel).is_none_or(|wave| wave.is_deep);
    axes.slices = if is_deep { list.slices } else { 1 };
    options.channel_of(&axes)?;

    let mut times = list.times.unwrap_or(1);
    let mut found: BTreeMap<usize, PathBuf> = BTreeMap::new();
    let mut whole: Option<PathBuf> = None;
    for ((place, time), file) in list.files(path)? {
        if place != [channel, position] || time.is_some_and(|time| time >= times) {
            continue;
        }
        // A file without a time point has all of them, if no file has one.
        let old = match (list.times, time) {
            (Some(_), None) => whole.replace(file.clone()),
            (_, time) => found.insert(time.unwrap_or(0), file.clone()),
        };
        if let Some(old) = old {
            let [one, other] = [&old, &file].map(|file| excerpt(&file.display().to_string()));
            return Err(wrong(format!("{one} and {other} are the same of its files")));
        }
    }
    if let (true, 1, Some(whole)) = (found.is_empty(), axes.slices, whole) {
        found.insert(0, whole);
        times = 1;
    }
    let missing = times.saturating_sub(found.len());
    if found.is_empty() || (options.strict && missing > 0) {
        let mark = |letter: &str, is: bool, number: usize| match is {
            true => format!("_{letter}{}", number + 1),
            false => String::new(),
        };
        let time = found.keys().zip(0..).find(|(own, time)| *own != time);
        let time = time.map_or(found.len(), |(_, time)| time);
        let wave = waves.get(channel).map_or("", |wave| &wave.name);
        return Err(wrong(format!(
            "{missing} of its {times} files for wavelength {} and position {} are not beside it, such as {}{}{}{}{} (.tif or .stk)",
            channel + 1,
            position + 1,
            excerpt(&path.file_stem().unwrap_or_default().to_string_lossy()),
            mark("w", list.waves.is_some(), channel),
            excerpt(wave),
            mark("s", list.stages.is_some(), position),
            mark("t", list.times.is_some(), time),
        )));
    }
    let alone = MovieOptions::from(options.limits.clone()).with_strict(options.strict);
    let one = options.slice.filter(|_| axes.slices > 1);
    let paths: Vec<PathBuf> = found.into_values().collect();
    let movie = Movie::of_parts(&paths, How { options: alone, images: true, one })?;
    let mut notes = movie.notes.clone();
    if missing > 0 {
        notes.push(format!(
            "{missing} of {times} time points have no file; frames are counted without gaps"
        ));
    }
    match one {
        Some(slice) if movie.frames < paths.len() => notes.push(format!(
            "{} of {} files have no slice {}; frames are counted without gaps",
            paths.len() - movie.frames,
            paths.len(),
            slice + 1
        )),
        None if axes.slices > 1 && movie.frames != paths.len().saturating_mul(axes.slices) => {
            notes.push(format!(
                "its {} files have {} planes, but the list promises {} slices of each; every plane is a frame",
                paths.len(),
                movie.frames,
                axes.slices
            ));
            axes.slices = 1;
        }
        _ => {}
    }
    axes.times = if axes.slices > 1 { paths.len() } else { movie.frames };
    axes.pixel_size = movie.axes.pixel_size;
    let files = std::iter::once(path.to_owned()).chain(movie.files.iter().cloned()).collect();
    Ok(Movie { axes, notes, files, ..movie })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\"NDInfoFile\", Version 1.0\r\n\"Description\", of two lines,\r\nand more\r\n\"StartTime1\", 20241001 12:00:00.000\r\n\
        \"DoTimelapse\", TRUE\r\n\"NTimePoints\", 3\r\n\"DoStage\", TRUE\r\n\"NStagePositions\", 2\r\n\"Stage1\", \"Cell, left\"\r\n\
        \"Stage2\", \"Position2\"\r\n\"DoWave\", TRUE\r\n\"NWavelengths\", 2\r\n\"WaveName1\", \"488-BF/Cam0\"\r\n\"WaveDoZ1\", FALSE\r\n\
        \"WaveName2\", \"Conf_s1\"\r\n\"WaveDoZ2\", TRUE\r\n\"DoZSeries\", TRUE\r\n\"NZSteps\", 4\r\n\"ZStepSize\", 0,3\r\n\
        \"WaveInFileName\", TRUE\r\n\"NEvents\", 0\r\n\"EndFile\"\r\n";

    /// Proves that lists are read, that names of files are understood whatever wavelengths are called, and that wrong lists are refused.
    #[test]
    fn lists_are_read() {
        let list = List::read(LIST).expect("a list");
        assert_eq!((list.times, list.slices), (Some(3), 4));
        assert_eq!(
            list.stages.as_deref(),
            Some(&["Cell, left".to_owned(), "Position2".to_owned()][..])
        );
        let waves = list.waves.as_deref().expect("wavelengths");
        assert_eq!(
            [(&*waves[0].name, waves[0].is_deep), (&waves[1].name, true)],
            [("488-bf-cam0", false), ("conf-s1", true)]
        );
        for (rest, place) in [
            ("_w1488-BF-Cam0_s1_t1", Some(([0, 0], Some(0)))),
            ("_w2Conf_s1_s2_t3", Some(([1, 1], Some(2)))),
            ("_w2Conf-s1_s2_t3", Some(([1, 1], Some(2)))),
            ("_w2_s2_t03", Some(([1, 1], Some(2)))),
            ("_w2_s2", Some(([1, 1], None))),
            ("_w2_t1", None),
            ("_w2Conf_s1_crop_s2_t3", None),
            ("_w1488-BF-Cam0_MAX_s1_t1", None),
            ("_w0_s1_t1", None),
            ("_w1_s0_t1", None),
            ("_s1_t1", None),
            ("", None),
            ("_w99999999999999999999_s1_t1", None),
        ] {
            assert_eq!(list.place(rest), place, "{rest}");
        }
        let alone = List::read("\"NDInfoFile\", Version 2.0\n\"EndFile\"\n").expect("a list");
        assert_eq!(alone, List { times: None, stages: None, waves: None, slices: 1 });
        assert_eq!(
            [alone.place(""), alone.place("_w1"), alone.place("_t1")],
            [Some(([0; 2], None)), None, None]
        );
        for (from, to, says) in [
            ("NDInfoFile", "NDInfo", "does not begin"),
            ("NTimePoints\", 3", "NTimePoints\", many", "NTimePoints is no number"),
            ("NStagePositions\", 2", "NStagePositions\", 4000000000", "4000000000 positions"),
            ("NWavelengths\", 2", "NWavelengths\", two", "NWavelengths is no number"),
            ("NZSteps\", 4", "NZSteps\", -4", "NZSteps is no number"),
        ] {
            let error = List::read(&LIST.replace(from, to)).expect_err(to).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
