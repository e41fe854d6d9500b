//! Files that are nearly right.

use std::io::{Cursor, Read};
use std::time::{Duration, Instant};

use fit_sim::Random;
use ndarray::Array3;
use spotfit::astigmatism::file;
use spotfit::astigmatism::find::{DepthStatus, SpotWidths};
use spotfit::hdf5::{H5Error, H5Reader, H5Writer, Member, NumberKind};
use spotfit::psf::{self, Psf};
use spotfit::yaml;

use crate::memory;

/// How many mutations of each file are tried.
const TRIES: u64 = 10_000;

/// Reads all that a file has, in blocks of rows. The number of parts that could be read.
fn read_all(bytes: &[u8]) -> Result<usize, H5Error> {
    let mut reader = H5Reader::open(Cursor::new(bytes))?;
    let mut parts = 1;
    parts += usize::from(reader.attribute_text("/", "metadata").is_ok());
    for name in reader.names().to_vec() {
        parts += usize::from(reader.attribute_text(&name, "metadata").is_ok());
        parts += usize::from(reader.text(&name).is_ok());
        parts += usize::from(reader.array(&name, 1 << 16).is_ok());
        if let Ok(mut rows) = reader.rows(&name) {
            let mut columns = vec![Vec::new(); rows.members().len()];
            while rows.read(&mut reader, 16, &mut columns).is_ok_and(|count| count > 0) {
                parts += 1;
                columns.iter_mut().for_each(Vec::clear);
            }
        }
    }
    Ok(parts)
}

/// Changes some places of a file.
fn mutate(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    let mut below = |count: usize| (random.uniform() * count as f64) as usize;
    for _ in 0..1 + below(4) {
        let place = below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        if bytes.is_empty() {
            break;
        }
        match below(9) {
            0..=2 => bytes[place] ^= 1 << below(8),
            3 | 4 => bytes[place] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b'-', b'&'][below(8)],
            5 => {
                let end = bytes.len().min(place + 8);
                bytes[place..end].fill([0, 0xff][below(2)]);
            }
            6 => bytes.insert(place, below(256) as u8),
            7 => drop(bytes.remove(place)),
            _ if below(8) == 0 => bytes.truncate(place),
            _ => {
                let from = below(bytes.len());
                let part = bytes[from..].iter().take(1 + below(40)).copied().collect::<Vec<_>>();
                bytes.splice(place..place, part);
            }
        }
    }
    bytes
}

/// How many seconds this thread has had a processor, where the system tells it: others may have had it meanwhile.
fn worked() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.map_or(0.0, |time| 1e-9 * time)
}

/// Tries many mutations of a file. Reading each must take little work, and no more memory than `most`.
fn attack(name: &str, file: &[u8], most: usize, read: impl Fn(&[u8]) -> bool) {
    assert!(read(file), "{name} itself is read");
    let mut good = 0;
    let (mut slowest, mut largest) = (Duration::ZERO, 0);
    for number in 0..TRIES {
        let mut random = Random::new(number, 1);
        let mutated = mutate(file, &mut random);
        let start = Instant::now();
        let (readable, memory) = memory::peak(|| read(&mutated));
        good += u64::from(readable);
        let seemed = start.elapsed();
        slowest = slowest.max(seemed);
        assert!(memory < most, "{name}, mutation {number} took {memory} bytes");
        if seemed > Duration::from_secs(2) {
            let begin = worked();
            read(&mutated);
            assert!(worked() - begin < 2.0, "{name}, mutation {number}");
        }
        largest = largest.max(memory);
    }
    println!("{name}: {good} of {TRIES} readable, {largest} bytes at most, slowest {slowest:?}");
    // Mutations that break everything, or nothing, would test nothing.
    assert!((TRIES / 100..TRIES).contains(&good), "{name}: {good}");
}

/// Proves that no mutation of a file makes reading it panic, take long or take more memory than a bound that depends on
/// the file's size alone: HDF5 of every fixture and of this writer, YAML, calibrations of widths, and measured PSFs, which say what
/// they find at any height.
#[test]
fn mutated_files_do_no_harm() {
    let _turn = crate::turn();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../spotfit-files/tests/data");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the fixtures") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "gz") {
            continue;
        }
        let mut bytes = Vec::new();
        let packed = std::fs::File::open(&path).expect("a file");
        flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("it is sound");
        files.push((path.display().to_string(), bytes));
    }
    // A root of the newer format with too many links is not read at all.
    files.retain(|(name, _)| !name.contains("many_latest"));
    assert_eq!(files.len(), 6);
    let members = [("x", NumberKind::F32), ("n", NumberKind::I64)]
        .map(|(name, kind)| Member { name: name.into(), kind });
    let mut writer = H5Writer::new(Cursor::new(Vec::new()), "locs", &members).expect("a writer");
    writer.append(&[&[1.5; 30], &[-3.0; 30]]).expect("rows");
    let written = writer.finish(Some(("metadata", "[{}]"))).expect("a file").into_inner();
    files.push(("written".into(), written));
    files.sort();
    for (name, file) in &files {
        attack(name, file, (1 << 20) + 40 * file.len(), |bytes| read_all(bytes).is_ok());
    }

    let text = "Byte Order: <\nA: &a [1, 2.5, 1e-05, .nan, 'it''s', \"\\xC5\\n\"]\nB: *a\nROI:\n- - 1\n  - 2\n\
                N: !!python/object/apply:numpy.core.multiarray.scalar\n- !!python/object/apply:numpy.dtype\n  args:\n\
                \x20 - f8\n  - false\n- !!binary |\n  AAAAAAAA+D8=\n---\nPlain: two\n  lines\nC: {a: 1, b: [x, y]}\n";
    attack("yaml", text.as_bytes(), 1 << 20, |bytes| yaml::read(bytes).is_ok());

    let calibration = "X Coefficients: [1.2e-17, -3.1e-15, -9.0e-13, 2.0e-9, 1.1e-5, 1.5e-3, 1.2]\n\
                       Y Coefficients:\n- 1.1e-17\n- 2.9e-15\n- -8.0e-13\n- -2.0e-9\n- 1.2e-5\n- -1.6e-3\n- 1.2\n\
                       Magnification factor: 0.79\nStep size in nm: 10.0\nNumber of frames: 101\n";
    attack("calibration", calibration.as_bytes(), 1 << 20, |bytes| {
        let Ok(finder) = file::read(bytes, None) else { return false };
        let widths = SpotWidths { sigma: [1.3, 1.5], errors: [0.05, 0.05], correlation: 0.0 };
        let depth = finder.find(&widths);
        let finite = [depth.z, depth.error, depth.distance].iter().all(|number| number.is_finite());
        assert!(finite || depth.status == DepthStatus::Invalid, "{depth:?}");
        true
    });

    let knots = Array3::from_shape_fn((6, 8, 8), |(plane, row, column)| {
        let square = |at: usize, width: f64| ((at as f64 - 3.5) / width).powi(2);
        let wide = 1.0 + 0.15 * plane as f64;
        (-0.5 * (square(row, wide) + square(column, 2.0 - 0.1 * wide))).exp()
    });
    let sound = Psf::new(knots, 50.0, 1.4).expect("a PSF");
    let written = psf::write(Vec::new(), &sound, Some(100.0)).expect("a file");
    attack("psf", &written, (1 << 20) + 40 * written.len(), |bytes| {
        let Ok(psf) = psf::read(Cursor::new(bytes)) else { return false };
        let [low, high] = psf.range();
        for z in [low, 0.5 * (low + high), high] {
            let window = psf.window([2.1, 1.9, z], [5, 5]);
            assert!(window.iter().all(|value| value.is_finite()), "{window}");
            if let Some(bound) = psf.bound(z, 1000.0, 10.0, [5, 5]) {
                assert!(bound.iter().all(|error| *error > 0.0 && error.is_finite()), "{bound:?}");
            }
        }
        true
    });
}
