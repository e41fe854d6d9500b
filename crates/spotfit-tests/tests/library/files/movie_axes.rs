//! Movies with channels, slices and time points, in one file or several, and what is known of their pixels.

use crate::common;

use std::fs;
use std::path::Path;

use common::set::{block, ome, pages};
use common::tiff::{handmade, open_tiff, tags};
use common::{Folder, bytes};
use spotfit::movie::{Movie, MovieError, MovieOptions, Pixels};
use tiff::encoder::Rational;

fn channel(number: usize) -> MovieOptions {
    MovieOptions::default().with_channel(Some(number))
}

/// The first pixel of every frame, in blocks of three.
fn numbers(mut movie: Movie) -> Vec<u16> {
    let mut numbers = Vec::new();
    while let Some(block) = movie.read(3).expect("frames") {
        assert_eq!(block.first, numbers.len());
        let Pixels::U16(frames) = block.pixels else { panic!("another type") };
        for frame in frames.outer_iter() {
            assert!(frame.iter().all(|&pixel| pixel == frame[(0, 0)]));
            numbers.push(frame[(0, 0)]);
        }
    }
    assert_eq!(numbers.len(), movie.frames());
    numbers
}

fn says(error: &MovieError, parts: &[&str]) {
    let said = error.to_string();
    for part in parts {
        assert!(said.contains(part), "'{part}' is missing in: {said}");
    }
    assert!(said.chars().count() < 400, "{said}");
}

/// Frames, channels, slices and time points as the movie says them.
fn axes(movie: &Movie) -> [usize; 4] {
    let axes = movie.axes();
    [movie.frames(), axes.channels, axes.slices, axes.times]
}

/// The pages 100·t + 10·z + c, in the given order of z, c and t.
fn planes([z, c, t]: [usize; 3], order: [usize; 3]) -> Vec<u16> {
    let sizes = [z, c, t];
    (0..z * c * t)
        .map(|mut plane| {
            let mut place = [0; 3];
            for axis in order {
                place[axis] = plane % sizes[axis];
                plane /= sizes[axis];
            }
            (100 * place[2] + 10 * place[0] + place[1]) as u16
        })
        .collect()
}

/// Proves that channels of ImageJ's hyperstacks and of OME-TIFF are told apart: a movie with several is refused by their
/// number, and each can be read alone, of all slices or of one; in either form of ImageJ's stacks.
#[test]
fn channels_are_told_apart() {
    let folder = Folder::new();
    let sizes = [2, 3, 4];
    let imagej = "ImageJ=1.54f\nimages=24\nchannels=3\nslices=2\nframes=4\nhyperstack=true\n";
    let in_order = planes(sizes, [1, 0, 2]);
    folder.file("imagej.tif", &pages(&in_order, imagej, None));
    let mut one = tags(5, 4, 16, 1, 0);
    one.insert(5, (270, 2, 0));
    let data: Vec<u16> = in_order.iter().flat_map(|&number| [number; 20]).collect();
    let data = bytes(&data, |pixel| pixel.to_le_bytes());
    folder.file("large.tif", &handmade(false, &[one], &format!("{imagej}\0"), &data));
    folder.file("ome.ome.tif", &pages(&in_order, &ome("XYCZT", sizes, "", "<TiffData/>"), None));
    let other = planes(sizes, [2, 0, 1]);
    folder.file("other.ome.tif", &pages(&other, &ome("XYTZC", sizes, "", ""), None));
    let blocks: String = (0..24)
        .map(|page| {
            let place = [page / 3 % 2, page % 3, page / 6];
            block(place, 23 - page, "listed.ome.tif")
        })
        .collect();
    let reversed: Vec<u16> = in_order.iter().rev().copied().collect();
    folder.file("listed.ome.tif", &pages(&reversed, &ome("XYCZT", sizes, "", &blocks), None));

    for name in ["imagej.tif", "large.tif", "ome.ome.tif", "other.ome.tif", "listed.ome.tif"] {
        let path = folder.path(name);
        let error = Movie::open(&path).expect_err(name);
        assert!(matches!(error, MovieError::Channels(3)), "{name}: {error}");
        says(&error, &["3 channels"]);
        for c in 0..3 {
            let movie = Movie::open_with(&path, &channel(c)).expect(name);
            assert_eq!(axes(&movie), [8, 3, 2, 4], "{name}");
            assert!(movie.notes().is_empty(), "{name}: {:?}", movie.notes());
            assert_eq!(movie.files(), std::slice::from_ref(&path));
            let every = (0..8).map(|frame| 100 * (frame / 2) + 10 * (frame % 2) + c as u16);
            assert_eq!(numbers(movie), every.collect::<Vec<_>>(), "{name}");
            for z in 0..2 {
                let options = channel(c).with_slice(Some(z));
                let movie = Movie::open_with(&path, &options).expect(name);
                let every = (0..4).map(|t| 100 * t + 10 * z as u16 + c as u16);
                assert_eq!(numbers(movie), every.collect::<Vec<_>>(), "{name}");
                let mut movie = Movie::open_with(&path, &options).expect(name);
                movie.skip_to(3).expect(name);
                let block = movie.read(9).expect(name).expect(name);
                let Pixels::U16(frames) = block.pixels else { panic!("{name}") };
                assert_eq!((block.first, frames[(0, 3, 4)]), (3, 300 + 10 * z as u16 + c as u16));
            }
        }
        let error = Movie::open_with(&path, &channel(3)).expect_err(name);
        says(&error, &["no channel 4", "has 3"]);
        let error = Movie::open_with(&path, &channel(0).with_slice(Some(2))).expect_err(name);
        says(&error, &["no slice 3", "has 2"]);
    }
}

/// Proves that slices are frames where there is one channel, and that a stack of many "channels" alone is a movie.
#[test]
fn slices_are_frames() {
    let some: Vec<u16> = (0..12).collect();
    let wrong_axis =
        ["ImageJ=1\nimages=12\nslices=12\n", "ImageJ=1\nimages=12\n", "", "ImageJ=1\n"];
    for description in wrong_axis {
        let movie = open_tiff(pages(&some, description, None)).unwrap();
        assert!(movie.notes().is_empty(), "{description}: {:?}", movie.notes());
        assert_eq!(numbers(movie), some, "{description}");
    }
    let movie = open_tiff(pages(&some, "ImageJ=1\nimages=12\nslices=3\nframes=4\n", None)).unwrap();
    assert_eq!(axes(&movie), [12, 1, 3, 4]);
    assert_eq!(numbers(movie), some);
    for description in
        ["ImageJ=1\nimages=12\nchannels=12\n".to_owned(), ome("XYCZT", [1, 12, 1], "", "")]
    {
        let movie = open_tiff(pages(&some, &description, None)).unwrap();
        assert_eq!(axes(&movie), [12, 1, 1, 12]);
        assert!(movie.notes()[0].contains("read as frames"), "{:?}", movie.notes());
        assert_eq!(numbers(movie), some);
    }
    let slice = MovieOptions::default().with_slice(Some(1));
    let array = Movie::open_with("missing.npy", &slice).expect_err("no file");
    assert!(matches!(array, MovieError::Io(_)));
}

/// Proves that channels and slices of formats that have none are refused.
#[test]
fn other_formats_have_one_channel() {
    let folder = Folder::new();
    let array = common::npy("'<u2'", "False", "(2, 3, 4)", &[0; 48]);
    let path = folder.file("a.npy", &array);
    let movie = Movie::open_with(&path, &channel(0)).unwrap();
    assert_eq!((axes(&movie), movie.axes().pixel_size), ([2, 1, 1, 2], None));
    says(&Movie::open_with(&path, &channel(1)).unwrap_err(), &["no channel 2", "has 1"]);
}

/// Proves that metadata that are broken or contradict the pages are noted, and that a movie of one channel is read all the
/// same.
#[test]
fn broken_metadata_are_noted() {
    let some: Vec<u16> = (0..6).collect();
    let whole = ome("XYCZT", [1, 1, 6], "", "");
    let cut = |text: &str, at: &str| text[..text.find(at).unwrap()].to_owned();
    for (description, says) in [
        (cut(&whole, "<Pixels"), "broken"),
        (cut(&whole, "</Pixels"), "broken"),
        (whole.replace("SizeT=\"6\"", "SizeT=\"many\""), "SizeT is not a number: many"),
        (whole.replace("SizeT=\"6\"", "SizeT=\"4\""), "4 planes of 6 pages"),
        (whole.replace("SizeT=\"6\"", "SizeT=\"8\""), "2 of 8 planes"),
        (whole.replace("XYCZT", "XYZ"), "DimensionOrder"),
        ("<OME></OME>".to_owned(), "no image"),
        (format!("<OME>{}", "<a>".repeat(200)), "nested"),
        ("ImageJ=1\nimages=9\nslices=3\nframes=3\n".to_owned(), "promises 9 planes"),
    ] {
        let movie = open_tiff(pages(&some, &description, None)).unwrap();
        let note = movie.notes().join("; ");
        assert!(note.contains(says) && note.chars().count() < 300, "'{says}': {note}");
        assert_eq!(numbers(movie), some, "{description}");
    }
    // What is cut off after the sizes still has channels.
    let two = cut(&ome("XYCZT", [1, 2, 3], "", ""), "</Pixels");
    assert!(matches!(open_tiff(pages(&some, &two, None)), Err(MovieError::Channels(2))));
    let other = open_tiff(pages(&some, "<?xml version=\"1.0\"?><MetaData></MetaData>", None));
    assert!(other.unwrap().notes().is_empty());
}

/// Proves that the size of a pixel comes from OME, ImageJ, the file's resolution and Picasso, in any unit, and that
/// rectangles are noted.
#[test]
fn the_size_of_a_pixel_is_known() {
    let size = |description: &str, resolution: Option<(u32, u32, u16)>| {
        let ratio = |n| Rational { n, d: 1000 };
        let resolution = resolution.map(|(x, y, unit)| (ratio(x), ratio(y), unit));
        let movie = open_tiff(pages(&[1, 2], description, resolution)).unwrap();
        let size = movie.axes().pixel_size;
        (size.map(|size| (size.nanometres.round(), size.source)), movie.notes().len())
    };
    let odd = |description: &str, resolution: (u32, u32, u16)| {
        let ratio = |n| Rational { n, d: 1000 };
        let resolution = (ratio(resolution.0), ratio(resolution.1), resolution.2);
        let movie = open_tiff(pages(&[1, 2], description, Some(resolution))).unwrap();
        assert_eq!(movie.axes().pixel_size, None);
        movie.notes().join("; ")
    };
    let of = |more: &str| ome("XYCZT", [1, 1, 2], more, "");
    let known = |nanometres: f64, source| (Some((nanometres, source)), 0);
    let source = "the OME metadata";
    assert_eq!(
        size(&of(r#"PhysicalSizeX="0.108" PhysicalSizeY="0.108""#), None),
        known(108.0, source)
    );
    let unit = r#"PhysicalSizeX="107" PhysicalSizeXUnit="nm" PhysicalSizeY="0.107" PhysicalSizeYUnit="µm""#;
    assert_eq!(size(&of(unit), None), known(107.0, source));
    assert_eq!(size(&of(r#"PhysicalSizeX="0.1""#), None), known(100.0, source));
    assert_eq!(size(&of(r#"PhysicalSizeX="0.1" PhysicalSizeY="0.2""#), None), (None, 1));
    for none in ["0", "-1", "NaN", "inf", "x"] {
        assert_eq!(size(&of(&format!("PhysicalSizeX=\"{none}\"")), None).0, None, "{none}");
    }
    assert_eq!(size(&of(r#"PhysicalSizeX="1" PhysicalSizeXUnit="pixel""#), None), (None, 0));
    assert_eq!(
        size(&of(""), Some((100_000_000, 100_000_000, 3))),
        known(100.0, "the resolution of the TIFF file")
    );
    let micron = "ImageJ=1.54f\nimages=2\nframes=2\nunit=micron\n";
    assert_eq!(size(micron, Some((9259, 9259, 1))), known(108.0, "ImageJ's description"));
    assert_eq!(size(micron, Some((9259, 5000, 1))), (None, 1));
    assert_eq!(size("", Some((72_000, 72_000, 2))), (None, 0));
    assert_eq!(size("ImageJ=1.54f\nimages=2\nunit=inch\n", Some((72_000, 72_000, 2))), (None, 0));
    // What no microscope has is left aside, and told.
    let told = "are left aside: those of microscopes are from 1 nm to 100 µm";
    let nanometres = of(r#"PhysicalSizeX="0.0023" PhysicalSizeXUnit="nm""#);
    assert_eq!(
        odd(&nanometres, (0, 0, 1)),
        format!("pixels of 0.0023 nm, by the OME metadata, {told}")
    );
    let millimetres = of(r#"PhysicalSizeX="108""#);
    assert_eq!(
        odd(&millimetres, (0, 0, 1)),
        format!("pixels of 108000 nm, by the OME metadata, {told}")
    );
    let said = odd(micron, (5, 5, 1));
    assert_eq!(said, format!("pixels of 200000 nm, by ImageJ's description, {told}"));
    for (said, known) in [("1000", Some(1000.0)), ("100000", Some(1e5)), ("1", Some(1.0))] {
        let of = of(&format!(r#"PhysicalSizeX="{said}" PhysicalSizeXUnit="nm""#));
        assert_eq!(size(&of, None), (known.map(|size| (size, "the OME metadata")), 0));
    }

    let folder = Folder::new();
    folder.file("m.raw", &[0; 12]);
    let yaml = "Byte Order: <\nData Type: uint16\nFrames: 1\nHeight: 2\nWidth: 3\n";
    for (more, wanted) in [
        ("Pixelsize: 130\n", Some(130.0)),
        ("Camera.Pixelsize: 160\n", Some(160.0)),
        ("", None),
        ("Pixelsize: x\n", None),
        ("Pixelsize: 2.3e-3\n", None),
    ] {
        folder.file("m.yaml", format!("{yaml}{more}").as_bytes());
        let movie = Movie::open(folder.path("m.raw")).unwrap();
        let found = movie.axes().pixel_size;
        assert_eq!(found.map(|size| size.nanometres), wanted);
        let told: &[String] = match more {
            "Pixelsize: 2.3e-3\n" => {
                &[format!("pixels of 0.0023 nm, by Picasso's YAML file, {told}")]
            }
            _ => &[],
        };
        assert_eq!(movie.notes(), told, "{more}");
        assert!(found.is_none_or(|size| size.source == "Picasso's YAML file"));
    }
}

/// A movie of seven planes in three files, with metadata in the given ones: the first has 0, 1 and 2, and so on.
fn three_files(folder: &Folder, sizes: [usize; 3], named: impl Fn(usize) -> bool) -> [String; 3] {
    let names = ["", "_1", "_2"].map(|part| format!("run_MMStack_Pos0{part}.ome.tif"));
    let plane = |plane: usize| [0, plane % sizes[1], plane / sizes[1]];
    let blocks: String = (0..7).map(|p| block(plane(p), p % 3, &names[p / 3])).collect();
    let text = ome("XYCZT", sizes, "", &blocks);
    for (part, name) in names.iter().enumerate() {
        let numbers: Vec<u16> =
            (3 * part..7.min(3 * part + 3)).map(|number| number as u16).collect();
        let master = &names[0];
        let binary = format!(
            r#"<OME UUID="urn:uuid:{name}"><BinaryOnly MetadataFile="{master}" UUID="x"/></OME>"#
        );
        let own = text.replace("urn:uuid:own", &format!("urn:uuid:{name}"));
        folder.file(name, &pages(&numbers, if named(part) { &own } else { &binary }, None));
    }
    names
}

/// Proves that a set of files is one movie, whichever of them or whichever folder is named, that its files are told, that
/// channels cross the borders of files, and that a missing file is named.
#[test]
fn sets_are_one_movie() {
    let all: Vec<u16> = (0..7).collect();
    for metadata in [|_| true, |part| part == 0] {
        let folder = Folder::new();
        let names = three_files(&folder, [1, 1, 7], metadata);
        let files: Vec<_> = names.iter().map(|name| folder.path(name)).collect();
        for path in files.iter().map(std::path::PathBuf::as_path).chain([folder.0.path()]) {
            let movie = Movie::open(path).unwrap();
            assert_eq!(movie.files(), files);
            assert!(movie.notes().is_empty(), "{:?}", movie.notes());
            assert_eq!(numbers(movie), all, "{}", path.display());
            let mut movie = Movie::open(path).unwrap();
            movie.skip_to(5).unwrap();
            assert_eq!(movie.read(9).unwrap().unwrap().pixels.dim().0, 2);
        }
        three_files(&folder, [1, 2, 4], metadata);
        let movie = Movie::open_with(&files[0], &channel(1)).unwrap();
        assert_eq!(numbers(movie), [1, 3, 5]);
        let movie = Movie::open_with(&files[0], &channel(0)).unwrap();
        assert_eq!(numbers(movie), [0, 2, 4, 6]);

        let bad = pages(&[3, 4], "", None);
        folder.file(&names[1], &bad[..bad.len() - 20]);
        let strict = channel(0).with_strict(true);
        says(&Movie::open_with(&files[0], &strict).unwrap_err(), &[&names[1], "cannot be read"]);
        let movie = Movie::open_with(&files[0], &channel(0)).unwrap();
        let said = movie.notes().join(". ");
        assert!(said.contains(&names[1]) && said.contains("1 whole frame is read"), "{said}");
        assert_eq!(numbers(movie), [0, 2, 6]);
        fs::remove_file(&files[1]).unwrap();
        says(&Movie::open(&files[0]).unwrap_err(), &[&names[1], "is missing"]);
        says(&Movie::open(folder.0.path()).unwrap_err(), &[&names[1], "is missing"]);
        fs::create_dir(&files[1]).unwrap();
        says(&Movie::open(&files[0]).unwrap_err(), &[&names[1], "not a file"]);
    }
}

/// Proves that the files of a run that was broken off, without metadata, are found by their names.
#[test]
fn continuations_are_found_by_name() {
    let folder = Folder::new();
    for (name, number) in [("", 0), ("_1", 2), ("_2", 4)] {
        let file = pages(&[number, number + 1], "", None);
        folder.file(&format!("a_MMStack_Pos0{name}.ome.tif"), &file);
    }
    folder.file("a_MMStack_Pos0_001.ome.tif", b"another position");
    let first = folder.path("a_MMStack_Pos0.ome.tif");
    let movie = Movie::open(&first).unwrap();
    assert_eq!(movie.files().len(), 3);
    assert_eq!(numbers(movie), [0, 1, 2, 3, 4, 5]);
    let second = Movie::open(folder.path("a_MMStack_Pos0_1.ome.tif")).unwrap();
    assert!(
        second.notes()[0].contains("begins with a_MMStack_Pos0.ome.tif"),
        "{:?}",
        second.notes()
    );
    assert_eq!(numbers(second), [2, 3]);
    let two = "ImageJ=1\nimages=2\nchannels=2\n";
    folder.file("a_MMStack_Pos0.ome.tif", &pages(&[0, 1], two, None));
    assert!(matches!(Movie::open(&first), Err(MovieError::Channels(2))));
    assert_eq!(numbers(Movie::open_with(&first, &channel(1)).unwrap()), [1, 3, 5]);
    fs::remove_file(folder.path("a_MMStack_Pos0_1.ome.tif")).unwrap();
    let error = Movie::open_with(&first, &channel(0)).unwrap_err();
    says(&error, &["a_MMStack_Pos0_1.ome.tif", "is missing"]);
}

/// Proves that metadata lead to no file outside the folder, that a file that was renamed is still read, and that a
/// reader without a name says that it has no other files.
#[test]
fn names_stay_in_the_folder() {
    let folder = Folder::new();
    let inner = folder.path("inner");
    fs::create_dir(&inner).unwrap();
    let secret = folder.file("secret.tif", &pages(&[7, 7], "", None));
    let secret = secret.to_str().unwrap();
    let path = inner.join("a.ome.tif");
    for name in ["../secret.tif", secret, "..", "/", "", "b/../../secret.tif", "..\\secret.tif"] {
        let blocks = block([0, 0, 0], 0, "a.ome.tif") + &block([0, 0, 1], 0, name);
        let file = pages(&[1], &ome("XYCZT", [1, 1, 2], "", &blocks), None);
        fs::write(&path, &file).unwrap();
        says(&Movie::open(&path).unwrap_err(), &["not in the movie's folder"]);
        says(&open_tiff(file).unwrap_err(), &["opened by its name"]);
        let elsewhere = format!("<OME><BinaryOnly MetadataFile='{name}'/></OME>");
        fs::write(&path, pages(&[1], &elsewhere, None)).unwrap();
        says(&Movie::open(&path).unwrap_err(), &["not in the movie's folder"]);
    }
    let blocks = block([0, 0, 0], 1, "old.ome.tif") + &block([0, 0, 1], 0, "old.ome.tif");
    let file = pages(&[1, 0], &ome("XYCZT", [1, 1, 2], "", &blocks), None);
    fs::write(&path, &file).unwrap();
    assert_eq!(numbers(Movie::open(&path).unwrap()), [0, 1]);
    assert_eq!(numbers(open_tiff(file).unwrap()), [0, 1]);
}

/// Proves that of several positions that is read whose file was opened, and says so, and that a folder of several movies,
/// or of none, is refused by name.
#[test]
fn folders_hold_one_movie() {
    let folder = Folder::new();
    says(&Movie::open(folder.0.path()).unwrap_err(), &["no movie of Micro-Manager"]);
    folder.file("plain.tif", &pages(&[1], "", None));
    says(&Movie::open(folder.0.path()).unwrap_err(), &["no movie of Micro-Manager"]);
    let names = ["a_MMStack_Pos0.ome.tif", "a_MMStack_Pos1.ome.tif"];
    let image = |name: &str| {
        let blocks: String = (0..2).map(|t| block([0, 0, t], t, name)).collect();
        let text = ome("XYCZT", [1, 1, 2], "", &blocks);
        let (from, to) = (text.find("<Image").unwrap(), text.find("</OME").unwrap());
        text[from..to].to_owned()
    };
    let text = format!("<OME>{}{}</OME>", image(names[0]), image(names[1]));
    for (number, name) in names.iter().enumerate() {
        let number = 10 * number as u16;
        folder.file(name, &pages(&[number, number + 1], &text, None));
    }
    for (number, name) in names.iter().enumerate() {
        let movie = Movie::open(folder.path(name)).unwrap();
        let note = format!("2 images; image {} is read", number + 1);
        assert!(movie.notes()[0].contains(&note), "{:?}", movie.notes());
        assert_eq!(numbers(movie), [10 * number as u16, 10 * number as u16 + 1]);
    }
    says(&Movie::open(folder.0.path()).unwrap_err(), &["several movies", names[0], names[1]]);
    fs::remove_file(folder.path(names[1])).unwrap();
    assert_eq!(numbers(Movie::open(folder.0.path()).unwrap()), [0, 1]);
}

/// Proves that movies that follow each other are one, wherever reading begins, and that what is wrong is told with its file.
#[test]
fn movies_in_parts_are_one() {
    let folder = Folder::new();
    let first = folder.file("run_1.tif", &pages(&[0, 1, 2], "", None));
    let second = folder.file("run_2.tif", &pages(&[3], "", None));
    let third = folder.file("run_3.tif", &pages(&[4, 5], "", None));
    let open = |parts: &[&std::path::PathBuf]| {
        let parts = parts.iter().map(|&part| part.clone()).collect();
        Movie::open_with(&first, &MovieOptions::default().with_parts(parts))
    };
    let movie = open(&[&second, &third]).unwrap();
    assert_eq!((movie.frames(), movie.files().len(), movie.axes().times), (6, 3, 6));
    for begin in 0..=6 {
        let mut movie = open(&[&second, &third]).unwrap();
        assert_eq!(movie.peek(5).unwrap().unwrap().dim().0, 5);
        movie.skip_to(begin).unwrap();
        let mut next = begin;
        while let Some(block) = movie.read(2).unwrap() {
            let Pixels::U16(pixels) = block.pixels else { panic!("{:?}", block.pixels) };
            for frame in pixels.outer_iter() {
                assert_eq!((block.first <= next, usize::from(frame[[0, 0]])), (true, next));
                next += 1;
            }
        }
        assert_eq!(next, 6);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    assert_eq!(numbers(open(&[&second]).unwrap().with_pool(pool.into())), [0, 1, 2, 3]);
    let odd = folder.file("odd.tif", &common::set::frames([vec![0; 6]], (3, 2), "", None));
    says(
        &open(&[&odd]).unwrap_err(),
        &["odd.tif", "frames of 3×2 pixels, but those before it have 5×4"],
    );
    says(&open(&[&folder.path("none.tif")]).unwrap_err(), &["none.tif", "cannot be read"]);
}

/// Proves that more parts than are open at a time are read, from wherever reading begins, and that a part that changes meanwhile is told,
/// after the frames before it.
#[test]
fn many_parts_are_one() {
    let folder = Folder::new();
    let paths: Vec<_> = (0..150)
        .map(|number| {
            folder.file(&format!("{number}.tif"), &pages(&[2 * number, 2 * number + 1], "", None))
        })
        .collect();
    let options = MovieOptions::default().with_parts(paths[1..].to_vec());
    let open = || Movie::open_with(&paths[0], &options).expect("a movie");
    assert_eq!(numbers(open()), (0..300).collect::<Vec<_>>());
    let mut movie = open();
    movie.skip_to(281).expect("a frame");
    let block = movie.read(9).expect("frames").expect("a block");
    let Pixels::U16(pixels) = block.pixels else { panic!("{:?}", block.pixels) };
    assert_eq!((block.first, pixels[[0, 0, 0]]), (281, 281));
    let movie = open();
    fs::write(&paths[149], pages(&[0], "", None)).expect("a file");
    // In one block with others, whose frames are given before.
    let mut frames = 290;
    let end = movie.blocks(290..).find_map(|block| match block {
        Ok(block) => {
            frames += block.pixels.dim().0;
            None
        }
        Err(error) => Some(error),
    });
    says(&end.expect("it has changed"), &["149.tif", "has changed"]);
    assert_eq!(frames, 298);
}

/// Proves that a list of MetaMorph is a movie of the wavelength and position that are chosen, of its time points in their order, whatever its
/// files say of themselves, with slices as frames or one of them alone; and that files that are missing are told.
#[test]
fn lists_of_metamorph_are_movies() {
    let folder = Folder::new();
    let list = "\"NDInfoFile\", Version 1.0\n\"DoTimelapse\", TRUE\n\"NTimePoints\", 11\n\"DoStage\", TRUE\n\"NStagePositions\", 2\n\
        \"Stage1\", \"left\"\n\"Stage2\", \"right\"\n\"DoWave\", TRUE\n\"NWavelengths\", 2\n\"WaveName1\", \"BF\"\n\"WaveDoZ1\", FALSE\n\
        \"WaveName2\", \"GFP\"\n\"DoZSeries\", TRUE\n\"NZSteps\", 3\n\"WaveInFileName\", TRUE\n\"EndFile\"\n";
    let path = folder.file("run.nd", list.as_bytes());
    let imagej = "ImageJ=1.53c\nimages=3\nchannels=3\n";
    let value = |stage: u16, time: u16, slice: u16| 1000 * stage + 10 * time + slice;
    for (stage, time) in (1..=2).flat_map(|stage| (1..=11).map(move |time| (stage, time))) {
        let slices = [0, 1, 2].map(|slice| value(stage, time, slice));
        folder.file(&format!("run_w2GFP_s{stage}_t{time}.stk"), &pages(&slices, imagej, None));
        let flat = pages(&[value(stage, time, 5)], "", None);
        folder.file(&format!("run_w1BF_s{stage}_t{time}.TIF"), &flat);
    }
    // Others, which somebody has put there.
    for name in ["run2_w1BF_s1_t1.TIF", "run_w1BF_MAX_s1_t1.tif", "run_w2GFP_s2_t1_crop.tif"] {
        folder.file(name, b"of another list");
    }
    let options = MovieOptions::default();
    let open = |options: &MovieOptions| Movie::open_with(&path, options);
    says(&open(&options).unwrap_err(), &["2 positions", "left", "right"]);
    let right = options.with_position(Some("right".to_owned()));
    assert!(matches!(open(&right), Err(MovieError::Channels(2))));
    let flat = right.clone().with_channel(Some(0));
    let movie = open(&flat).expect("a movie");
    assert_eq!((axes(&movie), movie.files().len()), ([11, 2, 1, 11], 12));
    assert!(movie.notes().is_empty(), "{:?}", movie.notes());
    assert_eq!(numbers(movie), (1..=11).map(|time| value(2, time, 5)).collect::<Vec<_>>());
    assert!(matches!(open(&flat.clone().with_slice(Some(1))), Err(MovieError::NoSuch { .. })));
    let deep = right.with_channel(Some(1));
    let movie = open(&deep).expect("a movie");
    assert_eq!(axes(&movie), [33, 2, 3, 11]);
    let all = (1..=11).flat_map(|time| [0, 1, 2].map(|slice| value(2, time, slice)));
    assert_eq!(numbers(movie), all.collect::<Vec<_>>());
    let slice = deep.clone().with_slice(Some(2));
    assert_eq!(
        numbers(open(&slice).expect("a movie")),
        (1..=11).map(|time| value(2, time, 2)).collect::<Vec<_>>()
    );
    let mut movie = open(&slice).expect("a movie");
    movie.skip_to(4).expect("a frame");
    let block = movie.read(9).expect("frames").expect("a block");
    let Pixels::U16(pixels) = block.pixels else { panic!("{:?}", block.pixels) };
    assert_eq!((block.first, pixels[[0, 0, 0]]), (4, value(2, 5, 2)));

    // Two files are gone, and one has lost a slice.
    for time in [3, 7] {
        fs::remove_file(folder.path(&format!("run_w2GFP_s2_t{time}.stk"))).expect("a file");
    }
    folder.file("run_w2GFP_s2_t9.stk", &pages(&[value(2, 9, 0), value(2, 9, 1)], "", None));
    let movie = open(&deep).expect("a movie");
    let notes = movie.notes().join("; ");
    assert!(
        notes.contains("2 of 11 time points have no file") && notes.contains("have 26 planes"),
        "{notes}"
    );
    assert_eq!(axes(&movie), [26, 2, 1, 26]);
    let movie = open(&slice).expect("a movie");
    assert!(movie.notes()[1].contains("1 of 9 files have no slice 3"), "{:?}", movie.notes());
    assert_eq!(numbers(open(&slice).expect("a movie")).len(), 8);
    says(
        &open(&deep.clone().with_strict(true)).unwrap_err(),
        &["2 of its 11 files", "run_w2gfp_s2_t3"],
    );
    let twice = folder.file("run_w2_s2_t1.tif", b"");
    says(&open(&deep).unwrap_err(), &["run_w2GFP_s2_t1.stk", "run_w2_s2_t1.tif", "the same"]);
    fs::remove_file(twice).expect("a file");
    let new = Movie::new_files(&path, &["run.nd", "run_w1BF_s2_t1.TIF"]).expect("names");
    assert_eq!(new.len(), 10, "{new:?}");
    let empty = folder.file("run_w2GFP_s2_t1.stk", b"");
    says(&open(&deep).unwrap_err(), &["run_w2GFP_s2_t1.stk", "cannot be read"]);
    fs::remove_file(empty).expect("a file");
    for time in 1..=11 {
        let _ = fs::remove_file(folder.path(&format!("run_w2GFP_s2_t{time}.stk")));
    }
    says(&open(&deep).unwrap_err(), &["11 of its 11 files", "wavelength 2 and position 2"]);
    // All time points in one file.
    for stage in 1..=2 {
        folder.file(&format!("run_w1BF_s{stage}.ome.tif"), &pages(&[7, 8], "", None));
    }
    assert_eq!(open(&flat).expect("a movie").frames(), 11);
    for time in 1..=11 {
        fs::remove_file(folder.path(&format!("run_w1BF_s2_t{time}.TIF"))).expect("a file");
    }
    let movie = open(&flat).expect("a movie");
    assert_eq!((axes(&movie), movie.notes().len()), ([2, 2, 1, 2], 0));
    assert_eq!(numbers(movie), [7, 8]);
}

/// Proves that the images of a folder are a movie in the order of their numbers, by any number of threads.
#[test]
fn numbered_images_are_one_movie() {
    let folder = Folder::new();
    for number in (8..12).chain(13..15) {
        let description = ome("XYZCT", [1, 1, 1], "", "");
        folder.file(
            &format!("spot_{number}.tif"),
            &pages(&[number, number + 100], &description, None),
        );
    }
    let open = || Movie::open(folder.0.path()).unwrap();
    let all: Vec<u16> = (8..12).chain(13..15).flat_map(|number| [number, number + 100]).collect();
    assert_eq!(numbers(open()), all);
    let note = "1 of the numbers 8 to 14 have no image; frames are counted without gaps";
    assert_eq!((open().notes(), open().files().len()), (&[note.to_owned()][..], 6));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(numbers(open().with_pool(pool.into())), all);
    folder.file("spot_9.tif", &common::set::frames([vec![0; 6]], (3, 2), "", None));
    let error = open().read(9).unwrap_err();
    says(&error, &["frame 3: it is 3×2 pixels", "page 1 of spot_9.tif"]);
    folder.file("other.tif", &pages(&[1], "", None));
    says(&Movie::open(folder.0.path()).unwrap_err(), &["numbered images; name a file instead"]);
}

/// Proves that a page that is wrong is named with its file, and its number where the frame's is another.
#[test]
fn wrong_pages_are_named() {
    let folder = Folder::new();
    let first = folder.file("a_MMStack.ome.tif", &pages(&[0, 1], "", None));
    let odd = common::set::frames([vec![0; 6]], (3, 2), "", None);
    folder.file("a_MMStack_1.ome.tif", &odd);
    let error = Movie::open(&first).unwrap().read(9).unwrap_err();
    says(&error, &["frame 3: it is 3×2 pixels", "page 1 of a_MMStack_1.ome.tif"]);
    let two = "ImageJ=1\nimages=2\nchannels=2\n";
    let odd = handmade(false, &[tags(5, 4, 16, 1, 0), tags(5, 4, 16, 1, 999)], "", &[0; 80]);
    let strict = channel(0).with_strict(true);
    says(&Movie::open_with(folder.file("b.tif", &odd), &strict).unwrap_err(), &["frame 2"]);
    let mut page = tags(5, 4, 16, 1, 0);
    page.insert(5, (270, 2, 0));
    let odd = handmade(false, &[page, tags(5, 4, 11, 1, 0)], two, &[0; 80]);
    let path = folder.file("c.tif", &odd);
    let error = Movie::open_with(path, &channel(1)).unwrap().read(9).unwrap_err();
    says(&error, &["frame 1: 11 bits", "(page 2)"]);
}

/// Proves that formats of microscopes and films are named, with what to do about them.
#[test]
fn foreign_formats_are_named() {
    let folder = Folder::new();
    for (name, parts) in [
        ("a.lif", ["Leica's LIF", "bfconvert movie.lif movie.ome.tif"]),
        ("a.LSM", ["Zeiss' LSM", "Fiji with Bio-Formats"]),
        ("a.vsi", ["VSI", "bfconvert"]),
        ("a.ims", ["IMS", "bfconvert"]),
        ("a.dv", ["DeltaVision", "bfconvert"]),
        ("a.cxd", ["CXD", "bfconvert"]),
        ("a.pcoraw", ["PCO", "camware"]),
        ("a.zarr", ["Zarr", "bfconvert"]),
        ("a.oif", ["Olympus' OIF", "bfconvert"]),
        ("a.oib", ["OIB", "bfconvert"]),
        ("a.sifx", ["Andor's spooled", "Solis"]),
        ("a.dcimg", ["DCIMG", "HCImage"]),
        ("a.mp4", ["MP4", "save it as TIFF"]),
        ("a.avi", ["AVI", "Fiji"]),
    ] {
        let error = Movie::open(folder.file(name, &[0; 9])).unwrap_err();
        assert!(matches!(error, MovieError::Foreign(_)), "{name}: {error}");
        says(&error, &parts);
    }
    let other = Movie::open(folder.file("a.xyz", &[0; 9])).unwrap_err();
    assert!(matches!(other, MovieError::UnknownFormat(_)));
    assert!(Movie::open(Path::new("/no/such/folder")).is_err());
}
