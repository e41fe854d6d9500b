//! MetaMorph's and VisiView's `.nd`: a list of what was acquired, beside the files of it, one for each position, wavelength and time
//! point.
//!
//! A line is a name in quotes, a comma and a value. Files are called as the list is, and then `_w1NAME` by the wavelength, `_s1` by the
//! position and `_t1` by the time point, as far as the list has several; each has the slices of its time.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::formats::is_tiff;
use super::parts::How;
use super::{Movie, MovieAxes, MovieError, MovieOptions};
use crate::excerpt::excerpt;

/// The longest list, in bytes: one has a line for each position.
const LONGEST: u64 = 1 << 22;

fn wrong(reason: impl Into<String>) -> MovieError {
    MovieError::Header { format: "MetaMorph's ND list", reason: reason.into() }
}

/// What a list says.
#[derive(Debug, PartialEq)]
struct List {
    /// Time points, if files are numbered by them.
    times: Option<usize>,
    /// Names of the positions, if files are numbered by them.
    stages: Option<Vec<String>>,
    /// For each wavelength whether it has all slices, if files are numbered by them.
    waves: Option<Vec<bool>>,
    /// Slices of a time point.
    slices: usize,
}

impl List {
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
        let yes =
            |name: &str| said.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let count = |name: &str| -> Result<usize, MovieError> {
            let Some(value) = said.get(name) else { return Ok(1) };
            let number = value.parse().ok().filter(|&number| number > 0);
            number.ok_or_else(|| wrong(format!("{name} is no number of them: {}", excerpt(value))))
        };
        // Each has a line of its own.
        let named = |name: &str, of: &str| -> Result<usize, MovieError> {
            let number = count(name)?;
            if number > said.len() {
                let has = "but not as many lines that name them";
                return Err(wrong(format!("it has {number} {of}, {has}")));
            }
            Ok(number)
        };
        let stages = yes("DoStage").then(|| named("NStagePositions", "positions")).transpose()?;
        let stages = stages.map(|count| {
            let name = |number: usize| said.get(&*format!("Stage{number}")).copied();
            (1..=count).map(|number| name(number).map_or(number.to_string(), str::to_owned))
        });
        let waves = yes("DoWave").then(|| named("NWavelengths", "wavelengths")).transpose()?;
        let waves = waves.map(|count| {
            let flat = |number: usize| {
                let value = said.get(&*format!("WaveDoZ{number}"));
                value.is_some_and(|value| value.eq_ignore_ascii_case("false"))
            };
            (1..=count).map(|number| !flat(number)).collect()
        });
        Ok(Self {
            times: yes("DoTimelapse").then(|| count("NTimePoints")).transpose()?,
            stages: stages.map(Iterator::collect),
            waves,
            slices: if yes("DoZSeries") { count("NZSteps")? } else { 1 },
        })
    }

    /// The wavelength, position and time point of a file, from 0, by what its name has after that of the list and before its ending.
    fn place(&self, rest: &str) -> Option<[usize; 3]> {
        /// What stands before a number at the end, and the number.
        fn number<'a>(rest: &'a str, mark: &str) -> Option<(&'a str, usize)> {
            let stem = rest.trim_end_matches(|one: char| one.is_ascii_digit());
            let number: usize = rest[stem.len()..].parse().ok()?;
            Some((stem.strip_suffix(mark)?, number.checked_sub(1)?))
        }
        let (mut rest, mut place) = (rest, [0; 3]);
        if self.times.is_some() {
            (rest, place[2]) = number(rest, "_t")?;
        }
        if self.stages.is_some() {
            (rest, place[1]) = number(rest, "_s")?;
        }
        if self.waves.is_some() {
            let digits = rest.strip_prefix("_w")?;
            let name = digits.trim_start_matches(|one: char| one.is_ascii_digit());
            let wave: usize = digits[..digits.len() - name.len()].parse().ok()?;
            place[0] = wave.checked_sub(1)?;
        } else if !rest.is_empty() {
            return None;
        }
        Some(place)
    }
}

impl Movie {
    /// The movie of a list: the wavelength and the position that the options choose.
    pub(super) fn open_metamorph(path: &Path, options: &MovieOptions) -> Result<Self, MovieError> {
        let mut bytes = Vec::new();
        let length = File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
        if length as u64 > LONGEST {
            return Err(wrong(format!("it has more than {LONGEST} bytes")));
        }
        let list = List::read(&String::from_utf8_lossy(&bytes))?;
        let position = match &list.stages {
            Some(names) => options.position_of(names)?,
            None => options.position_of(&[String::new()])?,
        };
        let times = list.times.unwrap_or(1);
        let waves = list.waves.as_deref().unwrap_or(&[true]);
        let mut axes = MovieAxes::frames(times);
        axes.channels = waves.len();
        let channel = options.channel_of(&MovieAxes { slices: list.slices, ..axes })?;
        axes.slices = if waves[channel] { list.slices } else { 1 };
        options.channel_of(&axes)?;

        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut found: Vec<(usize, PathBuf)> = Vec::new();
        let beside = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        for entry in std::fs::read_dir(beside)? {
            let Ok(name) = entry?.file_name().into_string() else { continue };
            let own = Path::new(&name);
            let rest = own.file_stem().and_then(|name| name.to_str()?.strip_prefix(&*stem));
            let place = rest.filter(|_| is_tiff(own)).and_then(|rest| list.place(rest));
            if let Some([wave, stage, time]) = place
                && (wave, stage) == (channel, position)
                && time < times
            {
                found.push((time, folder.join(name)));
            }
        }
        found.sort_unstable();
        // Of two endings the first counts.
        found.dedup_by_key(|(time, _)| *time);
        let missing = times - found.len();
        if found.is_empty() || (options.strict && missing > 0) {
            let mark = |letter: &str, is: bool, number: usize| match is {
                true => format!("_{letter}{}", number + 1),
                false => String::new(),
            };
            let time = found.iter().zip(0..).find(|((own, _), time)| own != time);
            let time = time.map_or(found.len(), |(_, time)| time);
            return Err(wrong(format!(
                "{missing} of its {times} files for wavelength {} and position {} are not beside it, such as {}{}{}{} (.tif or .stk)",
                channel + 1,
                position + 1,
                excerpt(&stem),
                mark("w", list.waves.is_some(), channel),
                mark("s", list.stages.is_some(), position),
                mark("t", list.times.is_some(), time),
            )));
        }
        let alone = MovieOptions::from(options.limits).with_strict(options.strict);
        let one = options.slice.filter(|_| axes.slices > 1);
        let paths: Vec<PathBuf> = found.into_iter().map(|(_, path)| path).collect();
        let movie = Self::of_parts(&paths, How { options: alone, images: true, one })?;
        let mut notes = movie.notes.clone();
        if missing > 0 {
            notes.push(format!(
                "{missing} of {times} time points have no file; frames are counted without gaps"
            ));
        }
        let promised =
            if one.is_some() { paths.len() } else { paths.len().saturating_mul(axes.slices) };
        // Files without slices may be movies.
        if axes.slices > 1 && movie.frames != promised {
            notes.push(format!(
                "its files have {} planes of {promised} that the list promises",
                movie.frames
            ));
        }
        axes.times = if axes.slices > 1 { paths.len() } else { movie.frames };
        axes.pixel_size = movie.axes.pixel_size;
        let files = std::iter::once(path.to_owned()).chain(movie.files.iter().cloned()).collect();
        Ok(Self { axes, notes, files, ..movie })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\"NDInfoFile\", Version 1.0\r\n\"Description\", of two lines,\r\nand more\r\n\"StartTime1\", 20241001 12:00:00.000\r\n\
        \"DoTimelapse\", TRUE\r\n\"NTimePoints\", 3\r\n\"DoStage\", TRUE\r\n\"NStagePositions\", 2\r\n\"Stage1\", \"Cell, left\"\r\n\
        \"Stage2\", \"Position2\"\r\n\"DoWave\", TRUE\r\n\"NWavelengths\", 2\r\n\"WaveName1\", \"BF 10-\"\r\n\"WaveDoZ1\", FALSE\r\n\
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
        assert_eq!(list.waves.as_deref(), Some(&[false, true][..]));
        for (rest, place) in [
            ("_w1BF 10-_s1_t1", Some([0, 0, 0])),
            ("_w2Conf_s1_s2_t3", Some([1, 1, 2])),
            ("_w2_s2_t03", Some([1, 1, 2])),
            ("_w2_s2", None),
            ("_w2_t1", None),
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
        assert_eq!([alone.place(""), alone.place("_w1")], [Some([0; 3]), None]);
        for (from, to, says) in [
            ("NDInfoFile", "NDInfo", "does not begin"),
            ("NTimePoints\", 3", "NTimePoints\", many", "NTimePoints is no number"),
            ("NStagePositions\", 2", "NStagePositions\", 4000000000", "4000000000 positions"),
            ("NWavelengths\", 2", "NWavelengths\", 0", "NWavelengths is no number"),
            ("NZSteps\", 4", "NZSteps\", -4", "NZSteps is no number"),
        ] {
            let error = List::read(&LIST.replace(from, to)).expect_err(to).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
