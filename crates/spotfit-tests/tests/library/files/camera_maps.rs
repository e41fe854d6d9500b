//! Files of camera maps, good and hostile.

use crate::common;

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use common::{Folder, bytes, npy};
use spotfit::camera_maps::{self, CameraMapsError};
use spotfit::hdf5::{H5Array, NumberKind, write_arrays};
use spotfit::{CameraMap, ndarray::Array2};
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime};

/// 4 columns, 3 rows.
const SHAPE: &str = "(3, 4)";

/// The numbers of the maps, in the order offset, gain, variance.
fn numbers(map: usize) -> [f32; 12] {
    std::array::from_fn(|pixel| [100.0, 2.0, 7.0][map] + pixel as f32)
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    npy("'<f4'", "False", SHAPE, &bytes(numbers, |number| number.to_le_bytes()))
}

fn npz(entries: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(method)
        .last_modified_time(DateTime::default());
    for (name, file) in entries {
        zip.start_file(*name, options).expect("an entry");
        zip.write_all(file).expect("room in memory");
    }
    zip.finish().expect("an archive").into_inner()
}

fn good() -> [(&'static str, Vec<u8>); 3] {
    let file = |map| floats(&numbers(map));
    [("offset.npy", file(0)), ("gain.npy", file(1)), ("variance.npy", file(2))]
}

/// The good maps with another file in place of one.
fn with(name: &str, file: Vec<u8>) -> Vec<u8> {
    let entries = good().map(|(of, good)| (of, if of == name { file.clone() } else { good }));
    npz(&entries, CompressionMethod::Stored)
}

fn expected() -> CameraMap {
    let maps = [0, 1, 2].map(|map| Array2::from_shape_vec((3, 4), numbers(map).to_vec()).unwrap());
    CameraMap::new(maps[0].view(), maps[1].view(), maps[2].view()).unwrap()
}

#[track_caller]
fn refused(path: &Path, says: &[&str]) {
    let error: CameraMapsError = camera_maps::read(path).expect_err("it should be refused");
    let text = error.to_string();
    let name = path.file_name().unwrap().to_str().unwrap();
    for part in says.iter().chain([&name]) {
        assert!(text.contains(part), "'{part}' is missing in: {text}");
    }
    assert!(text.chars().count() < 400, "{text}");
}

/// Proves that an NPZ file, compressed or not, and a folder are read, with numbers of any type and byte order, in
/// either memory order, and that other arrays are left alone.
#[test]
fn every_form_is_read() {
    let folder = Folder::new();
    let mut entries = good().to_vec();
    entries.push(("notes.npy", b"no array".to_vec()));
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let file = folder.file("maps.npz", &npz(&entries, method));
        assert_eq!(camera_maps::read(file).unwrap(), expected(), "{method}");
    }
    let big = bytes(&numbers(0), |number| f64::from(*number).to_be_bytes());
    let whole = bytes(&numbers(1), |number| (*number as u16).to_be_bytes());
    let turned: Vec<f32> = (0..12).map(|i| numbers(2)[i % 3 * 4 + i / 3]).collect();
    let turned = bytes(&turned, |number| number.to_le_bytes());
    let files = [
        ("offset.npy", npy("'>f8'", "False", SHAPE, &big)),
        ("gain.npy", npy("'>u2'", "False", SHAPE, &whole)),
        ("variance.npy", npy("'<f4'", "True", SHAPE, &turned)),
    ];
    let file = folder.file("types.npz", &npz(&files, CompressionMethod::Deflated));
    assert_eq!(camera_maps::read(file).unwrap(), expected());
    let maps = folder.path("maps");
    fs::create_dir(&maps).unwrap();
    for (name, file) in files {
        fs::write(maps.join(name), file).unwrap();
    }
    assert_eq!(camera_maps::read(&maps).unwrap(), expected());
}

/// Proves that images of a folder are read beside arrays, and that several pages are refused.
#[test]
fn images_are_read() {
    use tiff::encoder::{
        TiffEncoder,
        colortype::{Gray16, Gray32Float},
    };
    let folder = Folder::new();
    let maps = folder.path("maps");
    fs::create_dir(&maps).unwrap();
    let [offset, _, variance] = [0, 1, 2].map(numbers);
    let counts = offset.map(|number| number as u16);
    let mut file = fs::File::create(maps.join("offset.tif")).unwrap();
    TiffEncoder::new(&mut file).unwrap().write_image::<Gray16>(4, 3, &counts).unwrap();
    let mut file = fs::File::create(maps.join("variance.tiff")).unwrap();
    TiffEncoder::new(&mut file).unwrap().write_image::<Gray32Float>(4, 3, &variance).unwrap();
    refused(&maps, &["'gain'", "gain.npy, gain.tif, gain.tiff"]);
    fs::write(maps.join("gain.npy"), &good()[1].1).unwrap();
    assert_eq!(camera_maps::read(&maps).unwrap(), expected());

    let mut file = fs::File::create(maps.join("offset.tif")).unwrap();
    let mut two = TiffEncoder::new(&mut file).unwrap();
    two.write_image::<Gray16>(4, 3, &counts).unwrap();
    two.write_image::<Gray16>(4, 3, &counts).unwrap();
    refused(&maps, &["'offset'", "[2, 3, 4]"]);
    fs::write(maps.join("offset.tif"), b"II*\0").unwrap();
    refused(&maps, &["'offset'"]);
    fs::write(maps.join("offset.npy"), &good()[0].1).unwrap();
    refused(&maps, &["'offset'", "twice", ".npy and .tif"]);
}

/// Proves that what is no NPZ file, or a damaged one, is refused by name.
#[test]
fn what_is_no_archive_is_refused() {
    let folder = Folder::new();
    refused(&folder.path("nothing.npz"), &["cannot read the camera maps"]);
    refused(&folder.file("text.npz", b"offset,gain,variance\n"), &["neither a folder nor an NPZ"]);
    refused(&folder.file("empty.npz", b""), &["neither a folder nor an NPZ"]);
    refused(&folder.file("array.npz", &good()[0].1), &["neither a folder nor an NPZ"]);
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let archive = npz(&good(), method);
        // Its directory is at the end.
        for length in [archive.len() - 1, archive.len() / 2, 40] {
            refused(&folder.file("short.npz", &archive[..length]), &["NPZ"]);
        }
        // A byte of the first array.
        let at = archive.windows(6).position(|six| six == b"offset").unwrap() + 120;
        let mut damaged = archive;
        damaged[at] ^= 0x40;
        refused(&folder.file("damaged.npz", &damaged), &["'offset'"]);
    }
    let nothing = npz(&[], CompressionMethod::Stored);
    refused(&folder.file("none.npz", &nothing), &["'offset' is missing", "there is nothing"]);
    let two = npz(&good()[..2], CompressionMethod::Stored);
    let says = ["'variance' is missing", "offset.npy, gain.npy"];
    refused(&folder.file("two.npz", &two), &says);
    fs::create_dir(folder.path("empty")).unwrap();
    refused(&folder.path("empty"), &["'offset' is missing", "offset.npy"]);
    fs::create_dir_all(folder.path("odd/offset.npy")).unwrap();
    refused(&folder.path("odd"), &["'offset'", "not a file"]);
}

/// Proves that arrays that are no maps are refused with the map's name, however large they claim to be.
#[test]
fn arrays_that_are_no_maps_are_refused() {
    let folder = Folder::new();
    let data = bytes(&numbers(1), |number| number.to_le_bytes());
    let cases: [(&str, Vec<u8>, &[&str]); 10] = [
        ("flat", npy("'<f4'", "False", "(12,)", &data), &["(height, width)", "[12]"]),
        ("stack", npy("'<f4'", "False", "(1, 3, 4)", &data), &["(height, width)", "[1, 3, 4]"]),
        ("short", npy("'<f4'", "False", SHAPE, &data[..47]), &["truncated", "48", "47"]),
        ("promise", npy("'<f4'", "False", "(8000, 8000)", &data), &["truncated"]),
        (
            "huge",
            npy("'<f4'", "False", "(4000000000, 4000000000)", &data),
            &["[4000000000", "too large"],
        ),
        ("beyond", npy("'<f4'", "False", "(99999999999999999999, 1)", &data), &["too large"]),
        ("objects", npy("'|O'", "False", SHAPE, &data), &["'|O'"]),
        ("text", b"not an array".to_vec(), &["not an NPY file"]),
        ("nothing", Vec::new(), &["not an NPY file"]),
        (
            "header",
            [b"\x93NUMPY\x02\x00\xff\xff\xff\x7f".to_vec(), data.clone()].concat(),
            &["mebibyte"],
        ),
    ];
    for (name, file, says) in cases {
        let path = folder.file(&format!("{name}.npz"), &with("gain.npy", file));
        refused(&path, &[says, &["'gain'"]].concat());
    }
    // A promise that is kept, of a map larger than a frame may be: it compresses well.
    let header = npy("'|u1'", "False", "(8193, 8192)", &[]);
    let file = [header, vec![1; 8193 * 8192]].concat();
    let mut entries = good();
    entries[1].1 = file;
    let path = folder.file("limit.npz", &npz(&entries, CompressionMethod::Deflated));
    refused(&path, &["'gain'", "[8193, 8192]", "67108864"]);
}

/// Proves that maps that make no sense are refused with the map, the pixel and the number, and that pixels without a
/// number are masked and counted.
#[test]
fn numbers_are_judged() {
    let folder = Folder::new();
    let other = npy("'<f4'", "False", "(4, 3)", &bytes(&numbers(2), |number| number.to_le_bytes()));
    let path = folder.file("sizes.npz", &with("variance.npy", other));
    refused(&path, &["'variance' has 3x4", "'offset' 4x3"]);
    for (name, map) in [("gain", 1), ("variance", 2)] {
        let mut wrong = numbers(map);
        wrong[6] = -0.5;
        let file = folder.file("wrong.npz", &with(&format!("{name}.npy"), floats(&wrong)));
        refused(&file, &[&format!("'{name}' has -0.5 at column 2, row 1")]);
    }
    let masked = |name: &str, numbers: [f32; 12]| {
        let file = folder.file("masked.npz", &with(name, floats(&numbers)));
        camera_maps::read(file).unwrap().masked()
    };
    let mut offset = numbers(0);
    (offset[0], offset[11]) = (f32::NAN, f32::INFINITY);
    assert_eq!(masked("offset.npy", offset), 2);
    let mut gain = numbers(1);
    (gain[1], gain[2], gain[3], gain[4]) = (0.0, f32::NAN, f32::INFINITY, -0.0);
    assert_eq!(masked("gain.npy", gain), 4);
    let mut variance = numbers(2);
    (variance[5], variance[6], variance[7]) = (f32::NAN, f32::INFINITY, 1e20);
    // A hot pixel of 10²⁰ ADU² keeps its variance.
    assert_eq!(masked("variance.npy", variance), 2);
    let dead = with("gain.npy", floats(&[0.0; 12]));
    refused(&folder.file("dead.npz", &dead), &["no pixel with a gain"]);
    let none = npy("'<f4'", "False", "(0, 4)", &[]);
    let entries = ["offset.npy", "gain.npy", "variance.npy"].map(|name| (name, none.clone()));
    let none = npz(&entries, CompressionMethod::Stored);
    refused(&folder.file("none.npz", &none), &["no pixel with a gain"]);
}

/// Proves that camera calibrations of Picasso are read, with the sensitivity of all pixels where the gain was not measured, and that
/// what is wrong is named.
#[test]
fn calibrations_of_picasso_are_read() {
    let folder = Folder::new();
    let path = folder.path("camera.hdf5");
    let write = |names: &[(&'static str, usize)], shape: [usize; 2]| {
        let values = [0, 1, 2].map(|map| numbers(map).map(f64::from));
        let arrays: Vec<H5Array<'_>> = names
            .iter()
            .map(|&(name, map)| H5Array {
                name,
                shape: &shape,
                kind: NumberKind::F32,
                values: &values[map],
            })
            .collect();
        let file = write_arrays(Vec::new(), &arrays, Some(("metadata", "{}"))).expect("a file");
        fs::write(&path, file).expect("space");
    };
    write(&[("offset", 0), ("variance", 2), ("gain", 1)], [3, 4]);
    assert_eq!(camera_maps::read(&path).expect("maps"), expected());
    let error = camera_maps::read_with(&path, Some(0.5)).expect_err("refused").to_string();
    assert!(error.contains("no other sensitivity"), "{error}");
    write(&[("offset", 0), ("variance", 2)], [3, 4]);
    refused(&path, &["the map 'gain' is missing; there is offset, variance"]);
    let map = camera_maps::read_with(&path, Some(0.5)).expect("maps");
    assert!(map.scale().iter().all(|&scale| scale == 0.5));
    assert_eq!(map.offset(), expected().offset());
    write(&[("offset", 0), ("variance", 2), ("gain", 1)], [12, 1]);
    assert_eq!(camera_maps::read(&path).expect("maps").size().height, 12);
    let whole = fs::read(&path).expect("a file");
    for length in 4..whole.len() {
        fs::write(&path, &whole[..length]).expect("space");
        let _ = camera_maps::read(&path);
    }
    fs::write(&path, b"\x89HDF and no more").expect("space");
    refused(&path, &["HDF5"]);
}
