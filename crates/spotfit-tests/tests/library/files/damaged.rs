//! TIFF files that are cut off, that have pages beside their frames, or pixels of unusual sizes.

use spotfit::movie::{Movie, MovieError, MovieOptions, Pixels};

use crate::common::tiff::{handmade, open_tiff, tags};

fn open_strictly(file: Vec<u8>) -> Result<Movie, MovieError> {
    let options = MovieOptions::default().with_strict(true);
    Movie::of_reader("tif", Box::new(std::io::Cursor::new(file)), &options)
}

/// The first pixel of each frame.
fn firsts(movie: &mut Movie) -> Vec<f32> {
    let mut all = Vec::new();
    while let Some(block) = movie.read(3).expect("frames") {
        match block.pixels {
            Pixels::U8(frames) => all.extend(frames.outer_iter().map(|f| f32::from(f[[0, 0]]))),
            Pixels::U16(frames) => all.extend(frames.outer_iter().map(|f| f32::from(f[[0, 0]]))),
            Pixels::F32(frames) => all.extend(frames.outer_iter().map(|f| f[[0, 0]])),
        }
    }
    all
}

/// Proves that of a file that is cut off anywhere, all whole frames are read and a note says so, unless that is refused.
#[test]
fn what_is_whole_is_read() {
    let data: Vec<u8> = (0..6).flat_map(|frame| [frame; 4]).collect();
    let mut pages: Vec<_> = (0..6).map(|frame| tags(2, 2, 8, 1, 4 * frame)).collect();
    pages[0].insert(5, (270, 2, 0));
    // The pixels lie before the directories: a page is there when its directory is.
    let text = "{\"shape\": [6, 2, 2]}";
    let file = handmade(false, &pages, text, &data);
    let start = 8 + text.len() + data.len();
    let size = |page: &Vec<_>| 2 + 12 * page.len() + 4;
    for length in start..file.len() {
        let ends = pages.iter().scan(start, |end, page| {
            *end += size(page);
            Some(*end)
        });
        let whole = ends.take_while(|&end| end <= length).count();
        let cut = file[..length].to_vec();
        let error = open_strictly(cut.clone()).expect_err("an error").to_string();
        assert!(error.contains(&format!("frame {}: the file is truncated", whole + 1)), "{error}");
        if whole == 0 {
            assert!(open_tiff(cut).is_err());
            continue;
        }
        let mut movie = open_tiff(cut).expect("a movie");
        let frames: Vec<f32> = (0..whole).map(|frame| frame as f32).collect();
        assert_eq!(firsts(&mut movie), frames);
        let are = if whole == 1 { "frame is" } else { "frames are" };
        let note =
            format!("the file is cut off: {whole} whole {are} read, {} are missing", 6 - whole);
        assert_eq!(movie.notes(), [note]);
    }
    assert!(open_strictly(file).expect("a whole movie").notes().is_empty());

    // The same with the pixels of the last pages at the end: here and there they are missing.
    pages[0].remove(5);
    let far = 1000;
    pages[4].iter_mut().filter(|tag| tag.0 == 273).for_each(|tag| tag.2 = far);
    pages[5].iter_mut().filter(|tag| tag.0 == 273).for_each(|tag| tag.2 = far + 4);
    let mut file = handmade(false, &pages, "", &data);
    file.resize(8 + far as usize + 8, 7);
    for (cut, whole) in [(0, 6), (1, 5), (4, 5), (5, 4), (8, 4)] {
        let mut movie = open_tiff(file[..file.len() - cut].to_vec()).expect("a movie");
        assert_eq!(firsts(&mut movie).len(), whole, "{cut} bytes are missing");
        let says =
            movie.notes().iter().any(|note| note.contains("how many are missing is not known"));
        assert_eq!(says, whole < 6, "{:?}", movie.notes());
    }
}

/// Proves that a stack with one directory has its whole frames, too.
#[test]
fn runs_of_frames_that_are_cut_off_are_read() {
    let text = "ImageJ=1.54f\nimages=5\nslices=5\n";
    let mut page = tags(2, 2, 16, 1, 0);
    page.push((270, 2, 0));
    page.sort_unstable();
    let directory = handmade(true, &[page.clone()], text, &[]).len();
    // Behind the directory.
    page.iter_mut()
        .filter(|tag| tag.0 == 273)
        .for_each(|tag| tag.2 = (directory - 8 - text.len()) as u32);
    let mut file = handmade(true, &[page], text, &[]);
    file.extend((1..6_u16).flat_map(|frame| [frame; 4]).flat_map(u16::to_be_bytes));
    let whole = open_strictly(file.clone()).expect("a whole movie");
    assert_eq!((whole.frames(), whole.notes()), (5, &[][..]));
    file.truncate(file.len() - 9);
    let error = open_strictly(file.clone()).expect_err("an error").to_string();
    assert!(error.contains("ImageJ's metadata promise 5 frames"), "{error}");
    let mut movie = open_tiff(file).expect("a movie");
    assert_eq!(movie.notes(), ["the file is cut off: 3 whole frames are read, 2 are missing"]);
    assert_eq!(firsts(&mut movie), [1.0, 2.0, 3.0]);
}

/// Proves that pages that show others smaller are left out, wherever they are, and that a file of such pages alone is read.
#[test]
fn smaller_images_are_left_out() {
    let page = |frame: u32, reduced: Option<(u16, u16, u32)>| {
        let mut page = tags(if reduced.is_some() { 1 } else { 2 }, 2, 8, 1, 4 * frame);
        page.extend(reduced);
        page.sort_unstable();
        page
    };
    let data: Vec<u8> = (0..5).flat_map(|frame| [frame; 4]).collect();
    let (new, old) = (Some((254, 4, 1)), Some((255, 3, 2)));
    for (big_endian, [a, b]) in [(false, [new, old]), (true, [old, new])] {
        let pages = [page(0, a), page(1, None), page(2, b), page(3, None), page(4, a)];
        let mut movie = open_tiff(handmade(big_endian, &pages, "", &data)).expect("a movie");
        assert_eq!(firsts(&mut movie), [1.0, 3.0]);
        let note = "the file has pages that are smaller images of others; 3 are left out";
        assert_eq!(movie.notes(), [note]);
        let pages = [page(0, a), page(1, b)];
        let mut movie = open_tiff(handmade(big_endian, &pages, "", &data)).expect("a movie");
        assert_eq!(firsts(&mut movie), [0.0, 1.0]);
    }
}

/// Proves that packed pixels of 12 bits are read in files of either order of bytes, and halves of floating point.
#[test]
fn unusual_pixels_are_read() {
    for big_endian in [false, true] {
        // Three pixels a row: five bytes.
        let rows = [0xab, 0xc1, 0x23, 0xff, 0xf0, 0x00, 0x10, 0x02, 0x00, 0x30];
        let mut page = tags(3, 2, 12, 1, 0);
        page.iter_mut().filter(|tag| tag.0 == 279).for_each(|tag| tag.2 = 10);
        let mut movie = open_tiff(handmade(big_endian, &[page], "", &rows)).expect("a movie");
        let block = movie.read(1).expect("pixels").expect("a frame");
        let Pixels::U16(pixels) = block.pixels else { panic!("{:?}", block.pixels) };
        assert_eq!(pixels.into_raw_vec_and_offset().0, [0xabc, 0x123, 0xfff, 1, 2, 3]);

        let halves = [0x3c00_u16, 0xc000, 0x3555, 0x7bff];
        let data: Vec<u8> = match big_endian {
            true => halves.iter().flat_map(|half| half.to_be_bytes()).collect(),
            false => halves.iter().flat_map(|half| half.to_le_bytes()).collect(),
        };
        let page = tags(2, 2, 16, 3, 0);
        let mut movie = open_tiff(handmade(big_endian, &[page], "", &data)).expect("a movie");
        let block = movie.read(1).expect("pixels").expect("a frame");
        let Pixels::F32(pixels) = block.pixels else { panic!("{:?}", block.pixels) };
        let third = 1365.0 / 4096.0;
        assert_eq!(pixels.into_raw_vec_and_offset().0, [1.0, -2.0, third, 65504.0]);
    }
}

/// Proves that what cannot be read is said when the movie is opened.
#[test]
fn what_cannot_be_read_is_said_at_once() {
    let refused = |change: (u16, u32), bits: u32, says: &str| {
        let mut page = tags(2, 2, bits, 1, 0);
        page.retain(|tag| tag.0 != change.0);
        page.push((change.0, 3, change.1));
        page.sort_unstable();
        let error = open_tiff(handmade(false, &[page], "", &[0; 16])).expect_err(says).to_string();
        assert!(error.contains(says), "'{says}' is missing in: {error}");
    };
    refused((259, 7), 16, "its pixels are compressed (ModernJPEG)");
    refused((259, 34712), 16, "save the movie uncompressed");
    refused((259, 5), 12, "12 bits a pixel are only read if they are not compressed");
    refused((266, 2), 14, "14 bits a pixel are only read with the high bits first");
    refused((339, 2), 10, "10 bits a pixel are only read as numbers without a sign");
    refused((339, 1), 9, "9 bits a pixel are not supported");
}
