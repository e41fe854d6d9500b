//! Cameras by their names: what is published of them, or what users know of theirs.

use std::io::Read;
use std::path::Path;

use toml::de::{DeArray, DeValue};

use crate::movie::Acquisition;
use crate::steps::StepError;
use crate::steps::preset::table_of;
use spotfit_files::private::sort_by_key;

/// Those that are known here.
const OWN: &str = include_str!("cameras.toml");
/// The longest file.
const LONGEST: u64 = 1 << 20;
/// Numbers that a camera may have.
const BASELINES: std::ops::RangeInclusive<f64> = -1e9..=1e9;
const POSITIVE: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// A camera, or one of its modes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KnownCamera {
    pub(super) name: String,
    /// Parts of the names that metadata give, without signs.
    matches: Vec<String>,
    /// A part of what metadata say of the mode, without signs.
    mode: Option<String>,
    pub(super) baseline: Option<f64>,
    pub(super) sensitivity: Option<f64>,
    pub(super) read_noise: Option<f64>,
    pub(super) emccd: bool,
}

/// Letters and digits alone, in small letters.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl KnownCamera {
    /// How well it goes with a camera of this name in this mode, both plain: by whether the mode does, and how much of the name.
    fn fits(&self, camera: &str, mode: &str) -> Option<(bool, usize)> {
        if let Some(wanted) = &self.mode
            && !mode.contains(wanted.as_str())
        {
            return None;
        }
        let found = self.matches.iter().filter(|part| camera.contains(part.as_str()));
        found.map(String::len).max().map(|length| (self.mode.is_some(), length))
    }
}

/// What is known of the camera of a movie, the best first: that of the user's file, then what ships with this program.
pub(super) fn known(
    found: &Acquisition,
    own: Option<&Path>,
) -> Result<Vec<KnownCamera>, StepError> {
    let theirs = own.map(read).transpose()?.unwrap_or_default();
    let Some(camera) = found.camera.as_deref().map(plain) else { return Ok(Vec::new()) };
    let mode = found.mode.as_deref().map(plain).unwrap_or_default();
    let ours = parse("the table of cameras", OWN)?;
    let mut all = Vec::new();
    for table in [theirs, ours] {
        let fits = table.into_iter().filter_map(|one| Some((one.fits(&camera, &mode)?, one)));
        let mut fits: Vec<_> = fits.collect();
        sort_by_key(&mut fits, |(fits, _)| std::cmp::Reverse(*fits));
        all.extend(fits.into_iter().map(|(_, one)| one));
    }
    Ok(all)
}

fn read(path: &Path) -> Result<Vec<KnownCamera>, StepError> {
    let name = path.display().to_string();
    let failed = |source| StepError::Read { name: name.clone(), source };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > LONGEST {
        return Err(StepError::input(
            &name,
            "this is no table of cameras: it has more than a megabyte",
        ));
    }
    parse(&name, &text)
}

/// Reads text; errors have this name.
fn parse(name: &str, text: &str) -> Result<Vec<KnownCamera>, StepError> {
    let table = table_of(name, text)?;
    let mut cameras = Vec::new();
    for (key, value) in table.get_ref() {
        let (key, DeValue::Array(all)) = (key.get_ref(), value.get_ref()) else {
            return Err(StepError::input(name, "a table of cameras has entries [[camera]] alone"));
        };
        if key != "camera" {
            let reason = format!("[[{key}]] is unknown: a table of cameras has entries [[camera]]");
            return Err(StepError::input(name, reason));
        }
        for (number, value) in all.iter().enumerate() {
            let camera = camera(value.get_ref());
            let wrong = |reason| StepError::input(name, format!("camera {}: {reason}", number + 1));
            cameras.push(camera.map_err(wrong)?);
        }
    }
    Ok(cameras)
}

fn camera(value: &DeValue<'_>) -> Result<KnownCamera, String> {
    let DeValue::Table(table) = value else { return Err("it is no table".to_owned()) };
    let mut camera = KnownCamera::default();
    for (key, value) in table {
        let (key, value) = (key.get_ref().as_ref(), value.get_ref());
        let wrong = |what: &str| format!("{key} is not {what}");
        match (key, value) {
            ("name", DeValue::String(text)) => camera.name = text.to_string(),
            ("source", DeValue::String(_)) => {}
            ("mode", DeValue::String(text)) => {
                camera.mode = Some(some(text).ok_or_else(|| wrong("a name with letters"))?);
            }
            ("matches", DeValue::Array(parts)) => {
                camera.matches = texts(parts).ok_or_else(|| wrong("a list of names"))?;
            }
            ("emccd", DeValue::Boolean(is)) => camera.emccd = *is,
            ("baseline", _) => camera.baseline = Some(number(key, value, BASELINES)?),
            ("sensitivity", _) => camera.sensitivity = Some(number(key, value, POSITIVE)?),
            ("read_noise", _) => camera.read_noise = Some(number(key, value, 0.0..=1e12)?),
            ("name" | "source" | "mode", _) => return Err(wrong("text")),
            ("matches", _) => return Err(wrong("a list of names")),
            ("emccd", _) => return Err(wrong("true or false")),
            _ => return Err(format!("{key} is unknown")),
        }
    }
    match (camera.name.is_empty(), camera.matches.is_empty()) {
        (true, _) => Err("it has no name".to_owned()),
        (_, true) => Err("it has no matches: the names by which metadata know it".to_owned()),
        _ => Ok(camera),
    }
}

fn some(text: &str) -> Option<String> {
    Some(plain(text)).filter(|plain| !plain.is_empty())
}

fn texts(parts: &DeArray<'_>) -> Option<Vec<String>> {
    let text = |part: &DeValue<'_>| match part {
        DeValue::String(text) => some(text),
        _ => None,
    };
    parts.iter().map(|part| text(part.get_ref())).collect()
}

fn number(
    key: &str,
    value: &DeValue<'_>,
    range: std::ops::RangeInclusive<f64>,
) -> Result<f64, String> {
    let number: Option<f64> = match value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    };
    let wrong = || format!("{key} is not a number from {:e} to {:e}", range.start(), range.end());
    number.filter(|number| range.contains(number)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(camera: &str, mode: &str) -> Acquisition {
        let mut found = Acquisition::default();
        (found.camera, found.mode) = (Some(camera.to_owned()), Some(mode.to_owned()));
        found
    }

    /// Proves that the table that ships is one, and that a camera is found in its mode alone.
    #[test]
    fn own_cameras_are_found() {
        let mode = "Sensitivity/DynamicRange 12-bit (low noise)";
        let found = known(&of("ZYLA-4.2P-CL10", mode), None).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].sensitivity, found[0].baseline), (Some(0.28), None));
        assert_eq!(known(&of("ZYLA-4.2P-CL10", ""), None).unwrap(), []);
        let found = known(&of("DU-897U-CS0-#BV", ""), None).unwrap();
        assert_eq!((found[0].baseline, found[0].emccd), (Some(200.0), true));
        assert_eq!(known(&Acquisition::default(), None).unwrap(), []);
    }

    /// Proves that what is wrong in a table is named.
    #[test]
    fn wrong_tables_are_refused() {
        let cases = [
            ("a = 1", "[[camera]]"),
            ("[[lens]]\nname = 'a'", "[[lens]]"),
            ("[[camera]]\nname = 'a'", "camera 1: it has no matches"),
            ("[[camera]]\nmatches = ['a']", "camera 1: it has no name"),
            ("[[camera]]\nname = 'a'\nmatches = ['--']", "matches is not a list"),
            ("[[camera]]\nname = 'a'\nmatches = 'a'", "matches is not a list"),
            ("[[camera]]\nname = 'a'\nmatches = ['a']\nsensitivity = 0", "sensitivity is not"),
            ("[[camera]]\nname = 'a'\nmatches = ['a']\nbaseline = nan", "baseline is not"),
            ("[[camera]]\nname = 'a'\nmatches = ['a']\ngain = 1", "gain is unknown"),
            ("[[camera]\n", "line 1"),
        ];
        for (text, expected) in cases {
            let error = parse("mine.toml", text).unwrap_err().to_string();
            assert!(
                error.starts_with("mine.toml: ") && error.contains(expected),
                "{text}: {error}"
            );
        }
    }
}
