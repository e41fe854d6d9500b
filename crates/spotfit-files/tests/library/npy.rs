//! The bytes of arrays in NPY files.

use std::io::{self, Write};

use spotfit_files::npy::{ByteRoom, NpyError, NpyReader, write_header};

struct Room(Vec<u8>);

impl ByteRoom for Room {
    fn grow(&mut self, bytes: usize) -> io::Result<&mut [u8]> {
        if self.0.len() < bytes {
            self.0.resize(bytes, 7);
        }
        Ok(&mut self.0)
    }
}

/// Files of 5 items of 3 numbers 0, 1, 2, … each, in every byte and memory order.
fn files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (order, big_endian) in [('<', false), ('>', true)] {
        let mut file = Vec::new();
        write_header(&mut file, &format!("'{order}u4'"), &[5, 3]).unwrap();
        let head = file.len();
        let bytes =
            |number: u32| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
        file.extend((0..15).flat_map(bytes));
        files.push(file.clone());
        let text = String::from_utf8_lossy(&file[10..head]).replace("False", "True ");
        file.truncate(10);
        file.extend(text.into_bytes());
        file.extend(
            (0..3).flat_map(|column| (0..5).map(move |row| 3 * row + column)).flat_map(bytes),
        );
        files.push(file);
    }
    files
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect()
}

/// Proves that bytes are those of the numbers in the order of this machine, however they are stored, and whether they are read in turn
/// or anywhere.
#[test]
fn bytes_are_those_of_numbers() {
    for content in files() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&content).unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let mut reader = NpyReader::seekable(file, Some(content.len() as u64)).unwrap();
        let mut room = Room(Vec::new());
        let mut found = Vec::new();
        loop {
            let count = reader.read_bytes(2, &mut room).unwrap();
            if count == 0 {
                break;
            }
            found.extend(numbers(&room.0[..12 * count]));
            if reader.reads_anywhere() {
                let mut bytes = [0; 24];
                reader.read_bytes_at(1, &mut bytes).unwrap();
                assert_eq!(numbers(&bytes), [3, 4, 5, 6, 7, 8]);
                assert!(reader.read_bytes_at(4, &mut bytes).is_err(), "beyond the last");
                assert!(reader.read_bytes_at(usize::MAX / 4, &mut bytes).is_err());
                let (mut single, mut double) = (vec![0.5], vec![0.5]);
                reader.read_f32_at(1, 2, &mut single).unwrap();
                assert_eq!(single, [0.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
                reader.read_f64_at(4, 1, &mut double).unwrap();
                assert_eq!(double, [0.5, 12.0, 13.0, 14.0]);
                assert!(reader.read_f32_at(4, 2, &mut single).is_err(), "beyond the last");
                assert!(reader.read_f64_at(1, usize::MAX / 2, &mut double).is_err());
            }
        }
        assert_eq!(found, (0..15).collect::<Vec<u32>>());
        assert_eq!(reader.reads_anywhere(), !reader.header().fortran_order);
    }
}

/// Proves that numbers that are converted in several pieces are those that are read in turn.
#[test]
fn numbers_anywhere_are_those_in_turn() {
    for kind in ["<u1", ">i2", "<f4", ">f8"] {
        let size: usize = kind[2..].parse().unwrap();
        let mut content = Vec::new();
        write_header(&mut content, &format!("'{kind}'"), &[7, 1000]).unwrap();
        content.extend((0..7000 * size).map(|i| (i * 31 % 60) as u8));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&content).unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let mut reader = NpyReader::seekable(file, Some(content.len() as u64)).unwrap();
        let (mut single, mut double) = (Vec::new(), Vec::new());
        reader.read_f32_at(1, 6, &mut single).unwrap();
        reader.read_f64_at(1, 6, &mut double).unwrap();
        reader.skip(1).unwrap();
        assert_eq!(reader.left(), 6);
        let (mut turn, mut all) = (Vec::new(), Vec::new());
        reader.read_f64(6, &mut turn).unwrap();
        assert_eq!(double, turn, "{kind}");
        all.extend(turn.iter().map(|&number| number as f32));
        assert_eq!(single, all, "{kind}");
    }
}

/// Proves that a file that shrinks after it was opened is found out with what is left of it, and that what a header promises takes no
/// memory before it comes.
#[test]
fn files_that_shrink_are_found_out() {
    let content = &files()[0];
    let data = content.len() as u64 - 60;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    io::Seek::rewind(&mut file).unwrap();
    let same = file.try_clone().unwrap();
    let reader = NpyReader::seekable(file, Some(content.len() as u64)).unwrap();
    same.set_len(data + 30).unwrap();
    let mut bytes = [0; 36];
    for first in 0..3 {
        match reader.read_bytes_at(first, &mut bytes) {
            Err(NpyError::Truncated { promised: 60, found: 30 }) => {}
            other => panic!("{first}: {other:?}"),
        }
    }

    let mut head = Vec::new();
    write_header(&mut head, "'<u4'", &[1, 1 << 40]).unwrap();
    head.extend([1; 40]);
    let mut room = Room(Vec::new());
    let mut reader = NpyReader::new(&head[..], None).unwrap();
    let found = reader.read_bytes(1, &mut room);
    assert!(matches!(found, Err(NpyError::Truncated { found: 40, .. })), "{found:?}");
    // So much is asked for at a time.
    assert!(room.0.len() <= 1 << 25);
}
