//! Frames that are as large as the memory that reading them may take.

use std::io::{self, Read, Seek, SeekFrom};

use crate::common::npy;
use crate::common::tiff::{handmade, limits, tags};
use crate::memory;
use spotfit::movie::{Movie, MovieError};

/// A beginning, and zeros to the given length.
struct Zeros {
    head: Vec<u8>,
    length: u64,
    at: u64,
}

impl Read for Zeros {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.length.saturating_sub(self.at) as usize);
        let head = self.head.get(self.at as usize..).unwrap_or_default();
        let own = head.len().min(count);
        buffer[..own].copy_from_slice(&head[..own]);
        buffer[own..count].fill(0);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Zeros {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

const WIDTH: usize = 2500;
const HEIGHT: usize = 1800;
const PIXELS: usize = WIDTH * HEIGHT;

/// Proves that reading large frames holds each of them once, and a mebibyte: also where they are converted;
/// three times at most in TIFF files and in Fortran order.
#[test]
fn large_frames_are_held_once() {
    let _turn = crate::turn();
    let zeros = |head: Vec<u8>| Box::new(Zeros { head, length: 200_000_000, at: 0 });
    let raw = |kind: &str, size: usize| {
        let yaml = format!(
            "Byte Order: <\nData Type: {kind}\nFrames: 3\nHeight: {HEIGHT}\nWidth: {WIDTH}\n"
        );
        let length = (3 * PIXELS * size) as u64;
        let file = (zeros(Vec::new()) as _, length);
        Movie::described("raw", file, ("m.yaml", &yaml), &limits().into())
    };
    let array = |descr: &str, fortran: &str, frames: usize| {
        let shape = format!("({frames}, {HEIGHT}, {WIDTH})");
        Movie::npy(zeros(npy(descr, fortran, &shape, b"")), None, &limits())
    };
    let page = |bits: u32, format: u32| {
        let tags = tags(WIDTH as u32, HEIGHT as u32, bits, format, 0);
        Movie::of_reader(
            "tif",
            zeros(handmade(false, &[tags.clone(), tags], "", &[])),
            &limits().into(),
        )
    };
    let run = |bits: u32, format: u32| {
        let mut one = tags(WIDTH as u32, HEIGHT as u32, bits, format, 0);
        one.insert(5, (270, 2, 0));
        Movie::of_reader(
            "tif",
            zeros(handmade(false, &[one], "ImageJ=1.54f\nimages=3\n\0", &[])),
            &limits().into(),
        )
    };
    // Bytes a pixel: as given, and the most that reading may hold.
    type Open<'a> = Box<dyn Fn() -> Result<Movie, MovieError> + 'a>;
    let cases: [(&str, Open<'_>, usize); 12] = [
        ("raw u16", Box::new(|| raw("uint16", 2)), 2),
        ("raw u32", Box::new(|| raw("uint32", 4)), 4),
        ("raw f64", Box::new(|| raw("float64", 8)), 4),
        ("npy u8", Box::new(|| array("'|u1'", "False", 3)), 1),
        ("npy f64", Box::new(|| array("'>f8'", "False", 3)), 4),
        ("npy i64 in Fortran order", Box::new(|| array("'<i8'", "True", 1)), 3 * 8),
        ("imagej u16", Box::new(|| run(16, 1)), 2),
        ("imagej u32", Box::new(|| run(32, 1)), 4),
        ("tiff u8", Box::new(|| page(8, 1)), 3 * 4),
        ("tiff u16", Box::new(|| page(16, 1)), 3 * 4),
        ("tiff u32", Box::new(|| page(32, 1)), 3 * 4),
        ("tiff f64", Box::new(|| page(64, 3)), 3 * 8),
    ];
    for (name, open, bytes) in &cases {
        let ((), peak) = memory::peak(|| {
            let mut movie = open().unwrap_or_else(|error| panic!("{name}: {error}"));
            let frames = movie.frames();
            for _ in 0..frames {
                let block = movie.read(1).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(block.expect("a frame").pixels.dim(), (1, HEIGHT, WIDTH), "{name}");
            }
        });
        println!("{name}: {:.2} bytes a pixel", peak as f64 / PIXELS as f64);
        assert!(peak < bytes * PIXELS + (2 << 20), "{name}: {peak} bytes for {PIXELS} pixels");
    }
}
