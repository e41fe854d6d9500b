//! The kernels' texts as they are stored: packs of those that are alike, a fiftieth of the texts.

use std::collections::BTreeMap;
use std::io::{Error, Result as IoResult, Write};
use std::path::{Path, PathBuf};

use lzma_rust2::{LzmaOptions, LzmaWriter};

use crate::TaskError;
use crate::pack::{Pack, family};
use crate::recency::encode;

/// What the name of a pack ends with.
const EXTENSION: &str = ".ptx.lzma";

/// The library's list of packs.
const LIST: &str = "src/list.rs";

/// A family of more bytes, with registers as they are stored, has several packs: unpacking so many takes some milliseconds.
const MOST: usize = 6 << 20;

/// Texts by their names.
pub(crate) type Texts = BTreeMap<String, String>;

/// A pack as it should be.
struct Planned<'a> {
    file: String,
    family: &'a str,
    /// Names, and texts with registers as they are stored.
    texts: Vec<(&'a str, String)>,
}

/// Packs texts.
fn pack(texts: &[(&str, String)]) -> IoResult<Vec<u8>> {
    let heads = texts.iter().map(|(name, text)| format!("{name} {}\n", text.len()));
    let all = heads.chain(["\n".to_owned()]).collect::<String>();
    let all = texts.iter().fold(all, |all, (_, text)| all + text);
    let mut options = LzmaOptions::with_preset(9);
    // No larger than the text: whoever unpacks it needs as much memory.
    options.dict_size = all.len().next_power_of_two().clamp(1 << 12, 1 << 24) as u32;
    // Text has no structure of two or four bytes, and what is alike is long.
    (options.lc, options.pb, options.nice_len) = (4, 0, LzmaOptions::NICE_LEN_MAX);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(all.len() as u64))?;
    writer.write_all(all.as_bytes())?;
    writer.finish()
}

/// Puts what is alike one after the other: what differs in a number or less.
fn order(name: &str) -> (String, Option<usize>) {
    let (digits, letters): (String, String) = name.chars().partition(char::is_ascii_digit);
    (letters, digits.parse().ok())
}

/// The packs that hold texts.
fn plan(texts: &Texts) -> IoResult<Vec<Planned<'_>>> {
    let mut families = BTreeMap::<&str, Vec<(&str, String)>>::new();
    for (name, text) in texts {
        let stored = encode(text).ok_or_else(|| Error::other(format!("{name} is not PTX")))?;
        families.entry(family(name)).or_default().push((name, stored));
    }
    let mut plan = Vec::new();
    for (family, mut texts) in families {
        texts.sort_by_cached_key(|(name, _)| order(name));
        let bytes = texts.iter().map(|(_, text)| text.len()).sum::<usize>().max(1);
        let parts = bytes.div_ceil(MOST);
        let mut packs = BTreeMap::<usize, Vec<(&str, String)>>::new();
        let mut before = 0;
        for (name, text) in texts {
            let middle = before + text.len() / 2;
            before += text.len();
            packs.entry((middle * parts / bytes).min(parts - 1)).or_default().push((name, text));
        }
        let several = packs.len() > 1;
        for (index, texts) in packs.into_values().enumerate() {
            let number = if several { (index + 1).to_string() } else { String::new() };
            plan.push(Planned { file: format!("{family}{number}{EXTENSION}"), family, texts });
        }
    }
    Ok(plan)
}

/// The library's list of packs, in Rust.
fn list(plan: &[Planned<'_>]) -> String {
    let lines = plan.iter().map(|Planned { file, family, .. }| {
        format!("    (\"{family}\", include_bytes!(\"../{file}\")),\n")
    });
    format!(
        "//! Made by `cargo xtask ptx`: the packs, each with its family.\n\n\
         pub(crate) const PACKS: &[(&str, &[u8])] = &[\n{}];\n",
        lines.collect::<String>()
    )
}

/// Packs of a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(TaskError::of_file(folder))? {
        let path = entry.map_err(TaskError::of_file(folder))?.path();
        if path.to_string_lossy().ends_with(EXTENSION) {
            files.push(path);
        }
    }
    Ok(files)
}

/// The texts of a pack.
fn read_one(file: &Path) -> Result<Texts, TaskError> {
    let texts = std::fs::read(file).and_then(|packed| Pack::open(&packed)?.texts());
    Ok(texts.map_err(TaskError::of_file(file))?.into_iter().collect())
}

/// All texts that a folder has.
pub(crate) fn read(folder: &Path) -> Result<Texts, TaskError> {
    let mut all = Texts::new();
    for file in files(folder)? {
        all.extend(read_one(&file)?);
    }
    Ok(all)
}

/// Which files of a folder are not those of its texts.
pub(crate) fn wrong(folder: &Path, texts: &Texts) -> Result<Vec<String>, TaskError> {
    let plan = plan(texts).map_err(TaskError::of_file(folder))?;
    let mut wrong = Vec::new();
    for file in files(folder)? {
        if !plan.iter().any(|pack| file.ends_with(&pack.file)) {
            wrong.push(format!("{} is no pack", file.display()));
        }
    }
    for Planned { file, texts, .. } in &plan {
        let file = folder.join(file);
        if !holds(&file, texts) {
            wrong.push(format!("{} does not hold what it should", file.display()));
        }
    }
    if std::fs::read_to_string(folder.join(LIST)).ok() != Some(list(&plan)) {
        wrong.push(format!("{} does not list the packs", folder.join(LIST).display()));
    }
    Ok(wrong)
}

/// Whether a pack is there and has these texts, by name.
fn holds(file: &Path, texts: &[(&str, String)]) -> bool {
    let stored = |texts: Texts| texts.into_iter().map(|(name, text)| (name, encode(&text)));
    read_one(file).is_ok_and(|there| {
        there.len() == texts.len()
            && stored(there).all(|(name, text)| {
                texts.iter().any(|(other, wanted)| *other == name && Some(wanted) == text.as_ref())
            })
    })
}

/// Makes a folder's packs and list those of these texts. Another version of what packs them need not make another file of
/// the same texts, unless all are to be made `anew`.
pub(crate) fn write(folder: &Path, texts: &Texts, anew: bool) -> Result<(), TaskError> {
    let plan = plan(texts).map_err(TaskError::of_file(folder))?;
    for Planned { file, texts, .. } in &plan {
        let file = folder.join(file);
        if anew || !holds(&file, texts) {
            let packed = pack(texts).map_err(TaskError::of_file(&file))?;
            std::fs::write(&file, packed).map_err(TaskError::of_file(&file))?;
        }
    }
    for file in files(folder)? {
        if !plan.iter().any(|pack| file.ends_with(&pack.file)) {
            std::fs::remove_file(&file).map_err(TaskError::of_file(&file))?;
        }
    }
    let file = folder.join(LIST);
    std::fs::write(&file, list(&plan)).map_err(TaskError::of_file(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(of: &[(&str, &str, usize)]) -> Texts {
        of.iter().map(|&(name, line, count)| (name.to_owned(), line.repeat(count))).collect()
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |file: PathBuf| file.file_name().expect("a name").to_string_lossy().into_owned();
        let mut names: Vec<_> = files(folder).expect("files").into_iter().map(name).collect();
        names.sort_unstable();
        names
    }

    /// Proves that texts come back as they were, smaller in between, whatever was there before; that a family that is too large
    /// for one pack has several; and that a file that is missing, damaged or too many is found.
    #[test]
    fn texts_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        std::fs::create_dir(folder.join("src")).expect("made");
        let add = "\tadd.f32 \t%f1, %f2, %f3;\n";
        let first = texts(&[
            ("side9", add, 5000),
            ("plane_side10", add, 5000),
            ("side11", "", 0),
            ("quick9", "ret;", 1),
        ]);
        let large: [_; 5] = ["side8", "side9", "side10", "side12", "plane_side8"];
        let second = texts(&large.map(|name| (name, add, 60_000)));
        let one = ["quick.ptx.lzma", "side.ptx.lzma"];
        let two = ["side1.ptx.lzma", "side2.ptx.lzma"];
        for (texts, files) in [(&first, one), (&second, two), (&first, one)] {
            write(folder, texts, false).expect("written");
            assert_eq!(names(folder), files);
            assert_eq!(&read(folder).expect("read"), texts);
            assert_eq!(wrong(folder, texts).expect("a folder"), [""; 0]);
        }
        let file = folder.join("side.ptx.lzma");
        let packed = std::fs::read(&file).expect("a pack");
        assert!(packed.len() < 1000, "{}", packed.len());
        let text = |name| Pack::open(&packed).expect("a pack").text(name).expect("not damaged");
        assert_eq!(text("side9").as_ref(), first.get("side9"));
        assert_eq!(text("plane_side10").as_ref(), first.get("plane_side10"));
        assert_eq!(text("quick9"), None);

        for damaged in [&packed[..packed.len() / 2], &packed[..20], b"no pack"] {
            std::fs::write(&file, damaged).expect("written");
            assert!(read(folder).is_err());
            assert!(wrong(folder, &first).expect("a folder")[0].contains("does not hold"));
        }
        write(folder, &first, false).expect("written");
        assert_eq!(std::fs::read(&file).expect("a pack"), packed);
        std::fs::write(folder.join("other.ptx.lzma"), &packed).expect("written");
        assert!(wrong(folder, &first).expect("a folder")[0].contains("is no pack"));
        write(folder, &first, true).expect("written");
        std::fs::write(folder.join(LIST), "").expect("written");
        assert!(wrong(folder, &first).expect("a folder")[0].contains("does not list"));
    }
}
