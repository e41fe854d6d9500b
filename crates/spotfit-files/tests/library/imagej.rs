//! ImageJ's description of its stacks: each key that ImageJ writes, and what it means to ImageJ.

use std::io::Cursor;

use spotfit_files::movie::{Movie, MovieOptions, Pixels};

/// A TIFF file of frames of 3×2 pixels with the values of `pages`, of 16 bits, in pages of their own or all behind one.
pub(crate) fn stack(description: &str, pages: &[u16], resolution: [u32; 3], one: bool) -> Vec<u8> {
    const PIXELS: usize = 6;
    let text = [description.as_bytes(), b"\0"].concat();
    let [number, of, unit] = resolution;
    let text_at = 16;
    let data_at = (text_at + text.len() as u32).next_multiple_of(2);
    let data: Vec<u8> =
        pages.iter().flat_map(|page| [page.to_le_bytes(); PIXELS]).flatten().collect();
    let mut at = data_at + data.len() as u32;
    let mut file = b"II*\0".to_vec();
    file.extend(at.to_le_bytes());
    file.extend([number, of].into_iter().flat_map(u32::to_le_bytes));
    file.extend(&text);
    file.resize(data_at as usize, 0);
    file.extend(data);
    let directories = if one { 1 } else { pages.len() };
    for page in 0..directories {
        let place = data_at + (page * 2 * PIXELS) as u32;
        let tags = [
            (256, 3, 1, 3),
            (257, 3, 1, 2),
            (258, 3, 1, 16),
            (262, 3, 1, 1),
            (270, 2, text.len() as u32, text_at),
            (273, 4, 1, place),
            (278, 3, 1, 2),
            (279, 4, 1, 2 * PIXELS as u32),
            (282, 5, 1, 8),
            (283, 5, 1, 8),
            (296, 3, 1, unit),
        ];
        file.extend((tags.len() as u16).to_le_bytes());
        for (tag, kind, count, value) in tags {
            let (tag, kind): (u16, u16) = (tag, kind);
            file.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
            file.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
        }
        at += 2 + 12 * tags.len() as u32 + 4;
        file.extend((if page + 1 < directories { at } else { 0 }).to_le_bytes());
    }
    file
}

/// Ten pixels a unit, which is none.
const TEN: [u32; 3] = [10, 1, 1];

fn open(file: Vec<u8>, options: &MovieOptions) -> Movie {
    Movie::of_reader("tif", Box::new(Cursor::new(file)), options).expect("a movie")
}

/// A movie of so many frames with the numbers from 0, by a description after ImageJ's name.
fn described(keys: &str, frames: u16) -> Movie {
    let pages: Vec<u16> = (0..frames).collect();
    let text = format!("ImageJ=1.54f\nimages={frames}\n{keys}");
    open(stack(&text, &pages, TEN, false), &MovieOptions::default())
}

/// The first pixel of each frame.
fn values(mut movie: Movie) -> Vec<f64> {
    let mut values = Vec::new();
    // Not all at a time: what comes next follows from where the reader is.
    while let Some(block) = movie.read(5).expect("frames") {
        match block.pixels {
            Pixels::U8(all) => values.extend(all.outer_iter().map(|of| f64::from(of[(1, 2)]))),
            Pixels::U16(all) => values.extend(all.outer_iter().map(|of| f64::from(of[(1, 2)]))),
            Pixels::F32(all) => values.extend(all.outer_iter().map(|of| f64::from(of[(1, 2)]))),
        }
    }
    assert_eq!(values.len(), movie.frames());
    values
}

/// Proves that `order` says whether channels or slices follow each other in the pages: every channel and slice is found, in stacks that
/// are whole and in those that end early, in either form of ImageJ's stacks.
#[test]
fn order_is_minded() {
    let (channels, slices) = (2, 3);
    for (order, zct) in
        [("", false), ("order=czt\n", false), ("order=zct\n", true), ("order=ZCT\n", true)]
    {
        for (times, one) in [(4, false), (4, true), (3, false)] {
            // Those of 3 time points lack the last page.
            let count = channels * slices * times - usize::from(times == 3);
            let value = |page: usize| {
                let (fast, slow) = if zct { (slices, channels) } else { (channels, slices) };
                let (a, b, t) = (page % fast, page / fast % slow, page / fast / slow);
                let (z, c) = if zct { (a, b) } else { (b, a) };
                (100 * c + 10 * t + z) as u16
            };
            let pages: Vec<u16> = (0..count).map(value).collect();
            let text = format!(
                "ImageJ=1.54f\nimages={count}\nchannels={channels}\nslices={slices}\nframes={times}\n{order}hyperstack=true\n"
            );
            let file = stack(&text, &pages, TEN, one);
            for c in 0..channels {
                let options = MovieOptions::default().with_channel(Some(c));
                let all: Vec<f64> = (0..times)
                    .flat_map(|t| (0..slices).map(move |z| (100 * c + 10 * t + z) as u16))
                    .filter(|value| pages.contains(value))
                    .map(f64::from)
                    .collect();
                let movie = open(file.clone(), &options);
                assert_eq!(values(movie), all, "{order:?} {times} {one}");
                let mut movie = open(file.clone(), &options);
                movie.skip_to(4).expect("frames");
                let block = movie.read(1).expect("a frame").expect("a frame");
                let Pixels::U16(frame) = block.pixels else { panic!("another type") };
                assert_eq!(f64::from(frame[(0, 0, 0)]), all[4], "{order:?}");
                for z in 0..slices {
                    if times == 3 && !zct {
                        // Slices that channels and pages do not fill are frames.
                        continue;
                    }
                    let options = options.clone().with_slice(Some(z));
                    let of = all.iter().copied().filter(|value| value % 10.0 == z as f64);
                    assert_eq!(values(open(file.clone(), &options)), of.collect::<Vec<_>>());
                }
            }
        }
    }
    let movie = described("channels=1\norder=ztc\n", 2);
    assert!(movie.notes()[0].contains("order=ztc"), "{:?}", movie.notes());
}

/// Proves that the interval from frame to frame has the unit that `tunit` says, escaped or not, that another unit is none, and that the
/// speed of playing counts only where there is no interval, and is told.
#[test]
fn intervals_have_their_unit() {
    let cases = [
        ("finterval=0.5\n", Some(0.5)),
        ("finterval=0.5\ntunit=sec\n", Some(0.5)),
        ("finterval=0.5\ntunit=s\nfps=7\n", Some(0.5)),
        ("finterval=0.5\ntunit=min\n", Some(30.0)),
        ("finterval=20\ntunit=msec\n", Some(0.02)),
        ("finterval=20.0\ntunit=ms\n", Some(0.02)),
        ("finterval=20000\ntunit=\\u00B5s\n", Some(0.02)),
        ("finterval=20000\ntunit=\\u00b5sec\n", Some(0.02)),
        ("finterval=20000\ntunit=us\n", Some(0.02)),
        ("finterval=2e7\ntunit=ns\n", Some(0.02)),
        ("finterval=1\ntunit=hour\n", Some(3600.0)),
        ("finterval=1\ntunit=h\n", Some(3600.0)),
        ("finterval=1\ntunit=day\n", Some(86400.0)),
        // The last one counts, as in ImageJ.
        ("finterval=1\nfinterval=2\n", Some(2.0)),
        ("finterval=0\n", None),
        ("finterval=-1\n", None),
        ("finterval=NaN\n", None),
        ("tunit=msec\n", None),
    ];
    for (keys, interval) in cases {
        let movie = described(keys, 3);
        let found = movie.acquisition().frame_time;
        let same = match (found, interval) {
            (Some(found), Some(interval)) => (found / interval - 1.0).abs() < 1e-12,
            (found, interval) => found == interval,
        };
        assert!(same, "{keys:?}: {found:?}");
        assert!(movie.notes().is_empty(), "{keys:?}: {:?}", movie.notes());
    }
    let movie = described("finterval=3\ntunit=pixel\n", 3);
    assert_eq!(movie.acquisition().frame_time, None);
    assert!(movie.notes()[0].contains("3 pixel from frame to frame"), "{:?}", movie.notes());
    let movie = described("fps=7\n", 3);
    assert_eq!(movie.acquisition().frame_time, Some(1.0 / 7.0));
    assert!(movie.notes()[0].contains("fps=7"), "{:?}", movie.notes());
}

/// Proves that signed numbers of 16 bits, to which ImageJ adds 2¹⁵ when it stores them, are read as they were, in either form of its
/// stacks; and that other calibrations of grey values are told and change nothing.
#[test]
fn signed_numbers_are_read() {
    let signed = "ImageJ=1.54f\nimages=3\nframes=3\ncf=0\nc0=-32768.0\nc1=1.0\nvunit=Gray Value\n";
    let pages = [0, 32_778, 65_535];
    for one in [false, true] {
        let movie = open(stack(signed, &pages, TEN, one), &MovieOptions::default());
        assert!(movie.notes().is_empty(), "{:?}", movie.notes());
        assert_eq!(values(movie), [-32768.0, 10.0, 32767.0]);
    }
    let others = [
        ("cf=0\nc0=-100.0\nc1=1.0\nvunit=Gray Value\n", true),
        ("cf=0\nc0=-32768.0\nc1=2.0\nvunit=Gray Value\n", true),
        ("cf=0\nc0=-32768.0\nc1=1.0\nc2=1.0\nvunit=Gray Value\n", true),
        ("cf=3\nc0=-32768.0\nc1=1.0\nvunit=Gray Value\n", true),
        ("cf=21\nvunit=Uncalibrated OD\nzeroclip=true\n", true),
        ("cf=0\nc0=0.0\nc1=1.0\nvunit=Gray Value\n", false),
        // Without a unit, or a function, ImageJ takes none of it.
        ("cf=0\nc0=-32768.0\nc1=1.0\n", false),
        ("c0=-32768.0\nc1=1.0\nvunit=Gray Value\n", false),
        ("vunit=photons\n", false),
    ];
    for (keys, told) in others {
        let movie = described(keys, 3);
        let said = movie.notes().iter().any(|note| note.contains("calibration of grey values"));
        assert_eq!(
            (said, movie.notes().len()),
            (told, told.into()),
            "{keys:?}: {:?}",
            movie.notes()
        );
        assert_eq!(values(movie), [0.0, 1.0, 2.0], "{keys:?}");
    }
}

/// Proves that the size of a pixel has the units that `unit` and `yunit` say, and that resolutions per centimetre stay what they are where
/// Micro-Manager calls the unit `um`.
#[test]
fn pixels_have_their_unit() {
    let size = |keys: &str, resolution: [u32; 3]| {
        let text = format!("ImageJ=1.54f\nimages=2\n{keys}");
        let movie = open(stack(&text, &[0, 1], resolution, false), &MovieOptions::default());
        let side = movie.axes().pixel_size.map(|size| (size.nanometres * 1e3).round() / 1e3);
        (side, movie.notes().len())
    };
    for unit in ["um", "\\u00B5m", "\\u00b5m", "\\u03BCm", "micron", "microns", "µm"] {
        assert_eq!(size(&format!("unit={unit}\n"), TEN), (Some(100.0), 0), "{unit}");
        assert_eq!(size(&format!("unit={unit}\nzunit=mm\n"), TEN), (Some(100.0), 0), "{unit}");
    }
    assert_eq!(size("unit=nm\n", [1, 160, 1]), (Some(160.0), 0));
    assert_eq!(size("unit=pixel\n", TEN), (None, 0));
    assert_eq!(size("unit=um\n", [92_593, 1, 3]), (Some(108.0), 0));
    assert_eq!(size("unit=micron\n", [10, 1, 3]), (Some(100.0), 0));
    assert_eq!(size("unit=um\nyunit=um\n", TEN), (Some(100.0), 0));
    // The sides differ by 1000 times: no square pixels, which is told.
    assert_eq!(size("unit=um\nyunit=nm\n", TEN), (None, 1));
}

/// Proves that what ImageJ writes besides leaves frames, axes and times alone: how a stack is shown, where its origin is, and its spacing.
#[test]
fn what_is_shown_changes_nothing() {
    let plain = described("slices=2\nframes=3\nunit=um\nfinterval=0.1\n", 6);
    let keys = [
        "hyperstack=true",
        "hyperstack=false",
        "mode=composite",
        "mode=color",
        "mode=grayscale",
        "loop=true",
        "loop=false",
        "min=0.0",
        "max=4095.0",
        "min=-10.5\nmax=12.5",
        "xorigin=12.5",
        "yorigin=-3",
        "zorigin=1",
        "inverty=true",
        "info=a note",
        "spacing=0.25",
        "spacing=-0.25",
        "zunit=micron",
        "zeroclip=true",
        "8bitcolor=true",
        "name=other.tif",
        "fps=7",
        "vunit=counts",
    ];
    for key in keys {
        let movie = described(&format!("slices=2\nframes=3\nunit=um\n{key}\nfinterval=0.1\n"), 6);
        assert_eq!(movie.axes(), plain.axes(), "{key}");
        assert_eq!(movie.acquisition(), plain.acquisition(), "{key}");
        assert!(movie.notes().is_empty(), "{key}: {:?}", movie.notes());
        assert_eq!(values(movie), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "{key}");
    }
    assert_eq!((plain.axes().slices, plain.axes().times), (2, 3));
}
