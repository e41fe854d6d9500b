//! Folders of numbered images: each file is a frame, or some of them.

use std::collections::BTreeSet;
use std::path::Path;

use super::MovieError;
use crate::movie::MovieOptions;
use crate::movie::error::wrong;
use crate::movie::format::is_tiff;
use crate::sort::sort_by;

/// The images of a folder in their order.
#[derive(Debug)]
pub(super) struct Images {
    pub(super) names: Vec<String>,
    pub(super) channels: usize,
    pub(super) notes: Vec<String>,
}

/// Those of one file.
impl Default for Images {
    fn default() -> Self {
        Self { names: Vec::new(), channels: 1, notes: Vec::new() }
    }
}

/// A name, taken apart into its numbers and what stands before and behind them.
struct Name {
    texts: Vec<String>,
    numbers: Vec<u64>,
    name: String,
}

impl Name {
    fn of(name: String) -> Self {
        /// More digits are no number that counts anything.
        const MOST_DIGITS: usize = 18;
        let (mut texts, mut numbers) = (vec![String::new()], Vec::new());
        let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
        for run in stem.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
            let run = String::from_utf8_lossy(run);
            match run.parse() {
                Ok(number) if run.len() <= MOST_DIGITS && !run.starts_with('+') => {
                    numbers.push(number);
                    texts.push(String::new());
                }
                _ => texts.last_mut().expect("there is one").push_str(&run),
            }
        }
        Self { texts, numbers, name }
    }
}

/// The images of a folder, if they are all that it has of TIFF files, and differ in their numbers alone.
///
/// # Errors
/// Where it is not known which of several numbers counts frames, and where a channel must be chosen.
pub(super) fn images_in(
    folder: &Path,
    options: &MovieOptions,
) -> Result<Option<Images>, MovieError> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with('.') && is_tiff(Path::new(&name)) && !entry.file_type()?.is_dir() {
            names.push(Name::of(name));
        }
    }
    sort_by(&mut names, |a, b| (&a.numbers, &a.name).cmp(&(&b.numbers, &b.name)));
    let Some(first) = names.first() else { return Ok(None) };
    if names.len() < 2 || names.iter().any(|name| name.texts != first.texts) {
        return Ok(None);
    }
    let values =
        |place: usize| names.iter().map(|name| name.numbers[place]).collect::<BTreeSet<_>>();
    let mut changing: Vec<(usize, BTreeSet<u64>)> = (0..first.numbers.len())
        .map(|place| (place, values(place)))
        .filter(|(_, values)| values.len() > 1)
        .collect();
    let mut channels = 1;
    let of_channels = |&(place, _): &(usize, _)| first.texts[place].ends_with("channel");
    if let Some(at) = changing.iter().position(of_channels) {
        let (place, values) = changing.remove(at);
        channels = values.len();
        let channel = options.channel.ok_or(MovieError::Channels(channels))?;
        let chosen = values.into_iter().nth(channel);
        let chosen = chosen.ok_or(MovieError::NoSuch {
            axis: "channel",
            number: channel.saturating_add(1),
            count: channels,
        })?;
        names.retain(|name| name.numbers[place] == chosen);
    }
    // Micro-Manager numbers time points and slices, and channels and positions by their names.
    let texts = names.first().map(|name| name.texts.clone()).unwrap_or_default();
    let known = texts.first().is_some_and(|text| text.starts_with("img_"))
        && changing.iter().all(|&(place, _)| !texts[place].ends_with("position"));
    if changing.len() > 1 && !known {
        let of = |(place, values): &(usize, BTreeSet<u64>)| {
            let (first, last) = (values.first().unwrap_or(&0), values.last().unwrap_or(&0));
            format!("'{}' {first} to {last}", texts[*place])
        };
        let which = changing.iter().map(of).collect::<Vec<_>>().join(", ");
        return Err(wrong(format!(
            "several numbers change in the names of this folder's images ({which}), and it is not known which of them counts frames; put the images of one movie in a folder of their own"
        )));
    }
    let mut notes = Vec::new();
    if let [(_, values)] = &changing[..]
        && let (Some(first), Some(last)) = (values.first(), values.last())
        && last - first >= values.len() as u64
    {
        let missing = last - first + 1 - values.len() as u64;
        notes.push(format!(
            "{missing} of the numbers {first} to {last} have no image; frames are counted without gaps"
        ));
    }
    let names = names.into_iter().map(|name| name.name).collect();
    Ok(Some(Images { names, channels, notes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], channel: Option<usize>) -> Result<Option<Images>, MovieError> {
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        images_in(folder.path(), &MovieOptions::default().with_channel(channel))
    }

    /// Proves that images are taken in the order of their numbers, whatever their width, and that gaps are told.
    #[test]
    fn images_are_in_order() {
        let images = found(&["a10.tif", "a9.tif", "a1.tif", "notes.txt", ".a2.tif"], None);
        let images = images.expect("a folder").expect("images");
        assert_eq!(images.names, ["a1.tif", "a9.tif", "a10.tif"]);
        assert_eq!(
            images.notes,
            ["7 of the numbers 1 to 10 have no image; frames are counted without gaps"]
        );
        let manager =
            ["img_000000001_Red_000.tif", "img_000000000_Red_001.tif", "img_000000000_Red_000.tif"];
        let images = found(&manager, None).expect("a folder").expect("images");
        assert_eq!(images.names, [manager[2], manager[1], manager[0]]);
        assert!(images.notes.is_empty());
    }

    /// Proves that what is no movie is refused, or is none.
    #[test]
    fn other_folders_are_refused() {
        for none in [&["a1.tif", "b2.tif"][..], &["a1.tif"], &["a1.tif", "a1_2.tif"], &[]] {
            assert!(found(none, None).expect("a folder").is_none(), "{none:?}");
        }
        let error = found(&["run1_1.tif", "run1_2.tif", "run2_1.tif"], None).expect_err("which");
        assert!(error.to_string().contains("('run' 1 to 2, '_' 1 to 2)"), "{error}");
        let two = [
            "img_channel000_position000_time000_z000.tif",
            "img_channel001_position000_time000_z000.tif",
            "img_channel000_position000_time001_z000.tif",
        ];
        assert!(matches!(found(&two, None), Err(MovieError::Channels(2))));
        assert!(matches!(found(&two, Some(2)), Err(MovieError::NoSuch { count: 2, .. })));
        let images = found(&two, Some(0)).expect("a folder").expect("images");
        assert_eq!(
            (images.names, images.channels),
            (vec![two[0].to_owned(), two[2].to_owned()], 2)
        );
    }
}
