//! Which file a path leads to.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{self, Path, PathBuf};

/// The longest chain of links, as in common systems.
const MOST_LINKS: usize = 40;

/// The file that a path leads to, whether it exists or not. Links are followed, those of its folder included.
///
/// # Errors
/// Too many links that follow each other.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else {
            let beside = || Some(fs::canonicalize(folder(&path)).ok()?.join(path.file_name()?));
            return Ok(fs::canonicalize(&path).ok().or_else(beside).unwrap_or(path));
        };
        // What a relative link says counts from its folder; an absolute one replaces it.
        path = folder(&path).join(target);
    }
    Err(io::Error::other("too many links follow each other"))
}

/// The folder that a file is in.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The descriptor of this process that a path leads to, such as `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/1` or a link to
/// one of them. What is written there is a stream that somebody has opened, whatever file may be behind it.
pub fn descriptor(path: &Path) -> Option<i32> {
    if !cfg!(unix) {
        return None;
    }
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let within = fs::canonicalize(folder(&path)).ok()?;
        if lists_descriptors(&within) {
            let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
            return i32::try_from(number).ok();
        }
        path = folder(&path).join(fs::read_link(&path).ok()?);
    }
    None
}

/// Whether the files of a folder, without links in its name, are the descriptors of this process.
fn lists_descriptors(folder: &Path) -> bool {
    if folder == Path::new("/dev/fd") {
        return true;
    }
    let Ok(own) = fs::canonicalize("/proc/self") else { return false };
    let Ok(rest) = folder.strip_prefix(own) else { return false };
    let parts: Vec<&str> = rest.iter().filter_map(|part| part.to_str()).collect();
    matches!(parts[..], ["fd"] | ["task", _, "fd"])
}

/// Whether a path leads to no file but to standard output, a descriptor, a device or a pipe: its name needs no ending.
pub fn is_stream(path: &Path) -> bool {
    let other = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    path == Path::new("-") || descriptor(path).is_some() || fs::metadata(path).is_ok_and(other)
}

/// Whether a path leads to the standard output of this process.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-") || descriptor(path) == Some(1)
}

/// Whether a path can only be that of a folder, since it ends as one.
pub fn is_folders(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|&last| path::is_separator(last.into()))
}

/// The folder in which a file is to appear must be there.
///
/// # Errors
/// What is wrong with the folder, with its name.
pub fn check_folder(path: &Path) -> io::Result<()> {
    let folder = folder(path);
    let shown = folder.display();
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => {
            let reason = format!("{shown} is no folder");
            Err(io::Error::new(io::ErrorKind::NotADirectory, reason))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::new(error.kind(), format!("there is no folder {shown}")))
        }
        Err(error) => Err(io::Error::new(error.kind(), format!("the folder {shown}: {error}"))),
    }
}

/// What is wrong with the name of a folder.
pub(super) const FOLDERS: &str =
    "a name with a separator at its end is that of a folder, not of a file";

/// Which file a path leads to: all links, hard ones too, and all ways to write a path of it have the same one, also before the file is
/// there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity(Which);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Which {
    #[cfg_attr(not(unix), allow(dead_code))]
    Inode(u64, u64),
    Path(PathBuf),
}

impl Identity {
    /// Nothing for standard output, and for what keeps nothing that could be lost: a device, a socket.
    pub fn of(path: &Path) -> Option<Self> {
        if path == Path::new("-") {
            return None;
        }
        let path = resolve(path).ok()?;
        match fs::metadata(&path) {
            Ok(metadata) => Self::of_one(&metadata, path),
            Err(_) => Some(Self(Which::Path(path))),
        }
    }

    #[cfg(unix)]
    fn of_one(metadata: &fs::Metadata, _: PathBuf) -> Option<Self> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let kind = metadata.file_type();
        let keeps = !(kind.is_char_device() || kind.is_block_device() || kind.is_socket());
        keeps.then(|| Self(Which::Inode(metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    fn of_one(metadata: &fs::Metadata, path: PathBuf) -> Option<Self> {
        (metadata.is_file() || metadata.is_dir()).then(|| Self(Which::Path(path)))
    }
}

/// Whether two paths lead to one file, pipe or folder, which may not exist yet.
pub fn same(one: &Path, other: &Path) -> bool {
    let one = Identity::of(one);
    one.is_some() && one == Identity::of(other)
}

/// Whether a path leads to an open file. Where files that are open cannot be removed, it does.
pub fn leads_to(path: &Path, file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let (named, open) = (fs::metadata(path).map(number), file.metadata().map(number));
        matches!((named, open), (Ok(named), Ok(open)) if named == open)
    }
    #[cfg(not(unix))]
    {
        let _ = (path, file);
        true
    }
}

/// A name as text that no other name has: what is no UTF-8 is written as in `x\xfe.tif`.
pub fn shown(name: &OsStr) -> String {
    let chunks = name.as_encoded_bytes().utf8_chunks();
    let text = chunks.map(|chunk| {
        let rest = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}"));
        chunk.valid().to_owned() + &rest.collect::<String>()
    });
    text.collect()
}
