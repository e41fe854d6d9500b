//! Reading and writing alone: what no command can be faster than.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Bytes that a thread reads or writes at a time.
const PIECE: usize = 1 << 20;

/// The seconds in which threads read a file, and those in which they write another of the same size as `table`, beside it.
///
/// # Errors
/// Those of reading and writing.
pub(super) fn copy(input: &Path, table: &Path, threads: usize) -> io::Result<(f64, f64)> {
    let begin = Instant::now();
    let length = input.metadata()?.len();
    pieces(length, threads, || File::open(input), Read::read_exact)?;
    let read = begin.elapsed().as_secs_f64();
    let (length, other) = (table.metadata()?.len(), table.with_extension("alone"));
    let begin = Instant::now();
    File::create(&other)?.set_len(length)?;
    let open = || File::options().write(true).open(&other);
    let done = pieces(length, threads, open, |file, bytes| file.write_all(bytes));
    let done = done.and_then(|()| File::open(&other)?.sync_all());
    let written = begin.elapsed().as_secs_f64();
    std::fs::remove_file(&other)?;
    done.map(|()| (read, written))
}

/// Does something with each piece of a file, which each thread has open for itself.
fn pieces(
    length: u64,
    threads: usize,
    open: impl Fn() -> io::Result<File> + Sync,
    each: impl Fn(&mut File, &mut [u8]) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let next = AtomicU64::new(0);
    let work = || {
        let (mut file, mut bytes) = (open()?, vec![1; PIECE]);
        loop {
            let place = next.fetch_add(PIECE as u64, Ordering::Relaxed);
            if place >= length {
                return Ok(());
            }
            let count = (length - place).min(PIECE as u64) as usize;
            file.seek(SeekFrom::Start(place))?;
            each(&mut file, &mut bytes[..count])?;
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let own = work();
        others.into_iter().fold(own, |done, other| {
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done.and(other)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that all of a file is visited by any number of threads, and that nothing is left behind.
    #[test]
    fn every_piece_is_visited() {
        let folder = tempfile::tempdir().unwrap();
        let [input, table] = ["input", "table"].map(|name| folder.path().join(name));
        let length = 3 * PIECE + 17;
        std::fs::write(&input, vec![3; length]).unwrap();
        std::fs::write(&table, b"a table").unwrap();
        for threads in [1, 2, 7] {
            let sum = AtomicU64::new(0);
            let each = |file: &mut File, bytes: &mut [u8]| {
                file.read_exact(bytes)?;
                sum.fetch_add(bytes.iter().map(|&byte| u64::from(byte)).sum(), Ordering::Relaxed);
                Ok(())
            };
            pieces(length as u64, threads, || File::open(&input), each).unwrap();
            assert_eq!(sum.into_inner(), 3 * length as u64);
            let (read, written) = copy(&input, &table, threads).unwrap();
            assert!(read > 0.0 && written > 0.0);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(copy(&folder.path().join("none"), &table, 2).is_err());
    }
}
