//! Outputs that several threads write.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use spotfit_files::output::Output;

const PARTS: usize = 300;

fn part(number: usize) -> Vec<u8> {
    format!("{number};").repeat(1 + number * 7 % 23).into_bytes()
}

fn whole() -> Vec<u8> {
    let parts: Vec<u8> = (0..PARTS).flat_map(part).collect();
    [&b"head "[..], &parts, b" tail"].concat()
}

/// Four threads put parts when they happen to, the last of every four numbers first.
fn write(output: &mut Output) {
    output.write_all(b"head ").unwrap();
    let parallel = output.parallel(5).unwrap();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (parallel, next) = (&parallel, &next);
            scope.spawn(move || {
                let mut text = Vec::new();
                loop {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    if turn >= PARTS {
                        break;
                    }
                    let number = turn ^ 3;
                    assert!(text.is_empty());
                    text.extend(part(number));
                    parallel.put(number, &mut text).unwrap();
                }
            });
        }
    });
    parallel.finish().unwrap();
    output.write_all(b" tail").unwrap();
}

/// What it has taken, shared with the test.
#[derive(Clone, Default)]
struct Taken(Arc<Mutex<Vec<u8>>>);

impl Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut taken = self.0.lock().unwrap();
        if taken.len() > 20_000 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        taken.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Proves that parts lie in the order of their numbers, in files and in streams, between what comes before and after.
#[test]
fn parts_are_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("parts");
    let mut output = Output::create(&path).unwrap();
    write(&mut output);
    output.finish().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), whole());

    let taken = Taken::default();
    let mut output = Output::stream("stream", taken.clone());
    write(&mut output);
    output.finish().unwrap();
    assert_eq!(*taken.0.lock().unwrap(), whole());
}

/// Proves that parts can be written anywhere in a file, and in no stream.
#[test]
fn parts_are_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("parts");
    let mut output = Output::create(&path).unwrap();
    output.write_all(b"head ").unwrap();
    let parallel = output.parallel(1).unwrap();
    assert!(parallel.writes_anywhere());
    parallel.put_at(4, b"5678").unwrap();
    parallel.put_at(0, b"1234").unwrap();
    parallel.finish().unwrap();
    output.write_all(b" tail").unwrap();
    output.finish().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"head 12345678 tail");

    let mut output = Output::stream("stream", Taken::default());
    let parallel = output.parallel(1).unwrap();
    assert!(!parallel.writes_anywhere() && parallel.put_at(0, b"1").is_err());
}

/// Proves that whoever waits for a part goes on if it does not come, or if one cannot be written.
#[test]
fn nobody_waits_for_what_does_not_come() {
    let mut output = Output::stream("stream", Taken::default());
    let parallel = output.parallel(2).unwrap();
    std::thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel();
        let parallel = &parallel;
        let waiting = scope.spawn(move || {
            tell.send(()).unwrap();
            parallel.put(2, &mut vec![1])
        });
        told.recv().unwrap();
        assert!(!waiting.is_finished());
        parallel.stop();
        waiting.join().unwrap().unwrap();
    });
    let mut output = Output::stream("stream", Taken::default());
    let parallel = output.parallel(2).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| parallel.put(3, &mut vec![1]));
        parallel.put(0, &mut vec![1; 30_000]).unwrap();
        let error = parallel.put(1, &mut vec![1; 30_000]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        waiting.join().unwrap().unwrap();
    });
}
