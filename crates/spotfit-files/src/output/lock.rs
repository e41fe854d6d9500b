//! One process at a time makes a file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::parts::parts;
use super::paths::leads_to;

/// The right to make a file. It ends with this value, and with the process that has it, however that ends.
///
/// The lock is one of the operating system on a file `.NAME.spotfit-lock` beside the one that is made, which is removed with
/// it. A file that a dead process has left is taken over. Where the file system has no locks, everybody gets one: files still
/// appear whole, and at worst they are made twice.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// The lock for a file that is to be made; nothing if another process, or this one, has it.
    ///
    /// # Errors
    /// The lock's file cannot be made: the folder is not there or may not be written.
    pub fn take(file: &Path) -> io::Result<Option<Self>> {
        let path = Self::path(file);
        // Opening a pipe would wait for its other end.
        if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::other(format!("{} is in the way and no file", path.display())));
        }
        loop {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                // No locks here.
                Err(TryLockError::Error(_)) => return Ok(Some(Self { path, file })),
                Ok(()) => {}
            }
            // Whoever had it before may have removed the file between the lines above.
            if leads_to(&path, &file) {
                parts().push(path.clone());
                return Ok(Some(Self { path, file }));
            }
        }
    }

    /// Removes the lock that a dead process has left.
    pub fn clean(file: &Path) {
        if Self::path(file).exists() {
            // Whoever has it keeps it; one that cannot be taken does no harm.
            drop(Self::take(file));
        }
    }

    fn path(file: &Path) -> PathBuf {
        let mut name = std::ffi::OsString::from(".");
        name.push(file.file_name().unwrap_or_default());
        name.push(".spotfit-lock");
        file.with_file_name(name)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        parts().retain(|part| *part != self.path);
        // Removed while it is locked: nobody else can have it under this name.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
        if !cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a file has one maker at a time, that the lock of a dead process is taken over, and that nothing is left.
    #[test]
    fn a_file_has_one_maker() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cells.hdf5");
        let lock = Lock::take(&file).expect("a lock").expect("free");
        assert!(Lock::take(&file).expect("a lock").is_none());
        assert!(Lock::take(&folder.path().join("others.hdf5")).expect("a lock").is_some());
        drop(lock);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        // As a killed process leaves it.
        fs::write(folder.path().join(".cells.hdf5.spotfit-lock"), "").expect("a file");
        assert!(Lock::take(&file).expect("a lock").is_some());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        assert!(Lock::take(&folder.path().join("missing/cells.hdf5")).is_err());
    }
}
