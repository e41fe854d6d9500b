//! Small files of every format that are right.

use std::io::Cursor;
use std::sync::LazyLock;

use fit_sim::{MovieSimulation, SimulatedBead};
use ndarray::Array3;
use spotfit::table::{CsvReader, Kind, PicassoWriter, Table};
use tiff::encoder::{Compression, DeflateLevel, Rational, TiffEncoder, colortype};

use crate::common::headers::{self, sif_of};
use crate::common::planes::{self, CziPlane, Nd2};
use crate::common::set::{self, block};
use crate::common::tiff::{handmade, tags};
use crate::common::{bytes, npy};

pub(crate) const YAML: &str =
    "Byte Order: <\nCamera: Test\nData Type: uint16\nFrames: 3\nHeight: 20\nWidth: 24\n";
pub(crate) const INF: &str = "binning = 1 x 1\n\
    data type = 16 bit integers (binary, little endian)\n\
    frame dimensions = 24 x 20\nnumber of frames = 3\n";

static FRAMES: LazyLock<Array3<u16>> = LazyLock::new(|| {
    let simulation = MovieSimulation::new(24, 20, 3).with_molecules(0).with_beads(vec![
        SimulatedBead { x: 7.2, y: 8.1, signal: 4000.0 },
        SimulatedBead { x: 16.6, y: 11.7, signal: 3000.0 },
    ]);
    simulation.plan().expect("a sound simulation").piece(0..3).frames()
});

/// Three frames of 24×20 pixels with two spots.
pub(crate) fn frames() -> Array3<u16> {
    FRAMES.clone()
}

/// The frames' bytes.
pub(crate) fn little() -> Vec<u8> {
    bytes(FRAMES.as_slice().expect("in order"), |pixel| pixel.to_le_bytes())
}

fn floats() -> Vec<u8> {
    bytes(FRAMES.as_slice().expect("in order"), |&pixel| f64::from(pixel).to_be_bytes())
}

/// Movies as arrays: either order of bytes and of memory.
pub(crate) fn arrays() -> Vec<Vec<u8>> {
    vec![
        npy("'<u2'", "False", "(3, 20, 24)", &little()),
        npy("'<u2'", "True", "(3, 20, 24)", &little()),
        npy("'>f8'", "False", "(3, 20, 24)", &floats()),
        npy("'>f8'", "True", "(3, 20, 24)", &floats()),
        npy("'|i1'", "False", "(20, 24)", &little()[..480]),
    ]
}

/// Stacks of windows.
pub(crate) fn stacks() -> Vec<Vec<u8>> {
    vec![
        npy("'<u2'", "False", "(18, 8, 10)", &little()),
        npy("'>i4'", "True", "(9, 8, 10)", &little()),
        npy("'<f4'", "False", "(9, 8, 10)", &little()),
        npy("'>f8'", "False", "(18, 8, 10)", &floats()),
        npy("'<f8'", "False", "(480, 3)", &floats()),
    ]
}

/// TIFF of many kinds.
pub(crate) fn tiffs() -> Vec<Vec<u8>> {
    let ways = [
        (Compression::Uncompressed, false),
        (Compression::Uncompressed, true),
        (Compression::Lzw, false),
        (Compression::Deflate(DeflateLevel::Fast), false),
        (Compression::Deflate(DeflateLevel::Fast), true),
        (Compression::Packbits, false),
    ];
    let files = ways.into_iter().map(|(compression, big)| tiff(compression, big));
    files.chain([tiled()]).chain(ZSTANDARD.map(<[u8]>::to_vec)).collect()
}

/// Packed by Zstandard: strips, tiles, and the predictors.
const ZSTANDARD: [&[u8]; 3] = [
    include_bytes!("../data/zstandard/u16-plain.tif"),
    include_bytes!("../data/zstandard/u16-horizontal-tiles-big-endian.tif"),
    include_bytes!("../data/zstandard/f32-floating.tif"),
];

/// One tile, wider than the frame, whose rows the decoder holds to undo the predictor of floating point.
fn tiled() -> Vec<u8> {
    let mut page = tags(24, 15, 32, 3, 0);
    page.retain(|&(tag, ..)| ![273, 278, 279].contains(&tag));
    page.extend([(317, 3, 3), (322, 3, 32), (323, 3, 16), (324, 4, 8), (325, 4, 2048)]);
    page.sort_unstable();
    handmade(true, &[page], "", &little())
}

fn tiff(compression: Compression, big: bool) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    macro_rules! write {
        ($encoder:expr) => {{
            let mut encoder = $encoder.expect("a file in memory").with_compression(compression);
            for (number, frame) in FRAMES.outer_iter().enumerate() {
                let pixels: Vec<u16> = frame.iter().copied().collect();
                let mut image = encoder.new_image::<colortype::Gray16>(24, 20).expect("an image");
                // One strip, and several.
                image.rows_per_strip([20, 3, 1][number]).expect("strips");
                image.write_data(&pixels).expect("pixels");
            }
        }};
    }
    if big {
        write!(TiffEncoder::new_big(&mut file));
    } else {
        write!(TiffEncoder::new(&mut file));
    }
    file.into_inner()
}

/// ImageJ's stacks with one directory for all frames, of several types.
pub(crate) fn imagej() -> Vec<Vec<u8>> {
    [(16, 1), (16, 2), (8, 1), (32, 3), (32, 1)]
        .into_iter()
        .flat_map(|(bits, format)| {
            [imagej_stack(false, bits, format), imagej_stack(true, bits, format)]
        })
        .chain([hyperstack()])
        .collect()
}

/// A page for each of three channels.
fn hyperstack() -> Vec<u8> {
    let frames = FRAMES.outer_iter().map(|frame| frame.iter().copied().collect());
    let text = "ImageJ=1.54f\nimages=3\nchannels=3\nhyperstack=true\nunit=micron\n";
    let resolution = || Rational { n: 10, d: 1 };
    set::frames(frames, (24, 20), text, Some((resolution(), resolution(), 1)))
}

fn imagej_stack(big_endian: bool, bits: u32, format: u32) -> Vec<u8> {
    let short = |v: u16| if big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
    let long = |v: u32| if big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
    let text = b"ImageJ=1.54f\nimages=3\nslices=3\n\0";
    let data: Vec<u8> = little().repeat(2)[..(3 * 24 * 20 * bits / 8) as usize].to_vec();
    let (text_at, data_at) = (8, 8 + text.len() as u32);
    let mut file = if big_endian { b"MM\0*".to_vec() } else { b"II*\0".to_vec() };
    file.extend(long(data_at + data.len() as u32));
    file.extend(text);
    file.extend(&data);
    let tags = [
        (256, 24),
        (257, 20),
        (258, bits),
        (259, 1),
        (262, 1),
        (270, text_at),
        (273, data_at),
        (277, 1),
        (278, 20),
        (279, 24 * 20 * bits / 8),
        (339, format),
    ];
    file.extend(short(tags.len() as u16));
    for (tag, value) in tags {
        let (kind, count) = if tag == 270 { (2, text.len() as u32) } else { (4, 1) };
        file.extend(short(tag));
        file.extend(short(kind));
        file.extend(long(count));
        file.extend(long(value));
    }
    file.extend(long(0));
    file
}

/// OME-TIFF: planes in order, listed backwards in another order, and of two channels.
pub(crate) fn ome() -> Vec<Vec<u8>> {
    let listed: String = (0..3).map(|t| block([0, 0, t], 2 - t, "m.ome.tif")).collect();
    let size = r#"PhysicalSizeX="0.1" PhysicalSizeY="100" PhysicalSizeYUnit="nm""#;
    [
        set::ome("XYZCT", [1, 1, 3], size, "<TiffData/>"),
        set::ome("XYTZC", [1, 1, 3], size, &listed),
        set::ome("XYCZT", [1, 3, 1], "", ""),
    ]
    .into_iter()
    .map(|text| {
        let frames = FRAMES.outer_iter().map(|frame| frame.iter().copied().collect());
        set::frames(frames, (24, 20), &text, None)
    })
    .collect()
}

/// Tables of positions.
pub(crate) fn positions() -> Vec<Vec<u8>> {
    let mut many = "x,y,frame\n".to_owned();
    for i in 0..40 {
        many += &format!("{}.5,{}.25,{}\n", i % 24, i % 20, i % 3);
    }
    vec![
        b"name,y,frame,x\na,8.4,0,7\nb,1,0,1\nc,11.6,2,16.7\nd,4,99,4\n".to_vec(),
        b"\xef\xbb\xbf\"frame\",\"x\",\"y\"\r\n0,7,8\r\n1,17,12\r\n".to_vec(),
        many.into_bytes(),
    ]
}

pub(crate) const PICASSO_YAML: &str = "Byte Order: <\nCamera: Test\nFrames: 30\nHeight: 50\nWidth: 60\n---\n\
    Box Size: 7\nGenerated by: Picasso Localize\nPixelsize: 130.5\nROI: [[0, 0], [50, 60]]\n";

static HDF5: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let [few, many] = [1, 40].map(|times| {
        let tables = tables();
        let mut reader = CsvReader::new(&tables[1][..]).expect("a table");
        let block = reader.read().expect("rows").expect("a block");
        let mut table = Table::default();
        (0..times).for_each(|_| table.append(&block).expect("the same columns"));
        if times == 1 {
            table.remove("id");
        }
        assert!(table.columns().iter().all(|column| !matches!(column.kind, Kind::Words(_))));
        let mut writer = PicassoWriter::new(Cursor::new(Vec::new()));
        writer.write(&table).expect("memory");
        writer.finish().expect("memory").0.into_inner()
    });
    [few, many]
});

/// Tables of Picasso.
pub(crate) fn hdf5() -> &'static [Vec<u8>; 2] {
    &HDF5
}

/// Tables of other programs in HDF5, and in an archive.
pub(crate) fn others() -> [Vec<Vec<u8>>; 2] {
    macro_rules! files {
        ($($name:literal)*) => {
            vec![$(include_bytes!(concat!("../../../spotfit-locs/tests/data/", $name)).to_vec()),*]
        };
    }
    let hdf5 = files!["decode.h5" "smap_sml.mat" "storm_analysis.hdf5" "pyme.h5r" "pyme.hdf"];
    [hdf5, files!["shareloc.smlm"]]
}

/// A workbook that openpyxl wrote.
pub(crate) fn workbook() -> Vec<u8> {
    include_bytes!("../../../spotfit-files/tests/data/decays.xlsx").to_vec()
}

/// Tables of localizations.
pub(crate) fn tables() -> Vec<Vec<u8>> {
    let table = |unit: &str| {
        let mut text = format!(
            "\"id\",\"frame\",\"x [{unit}]\",\"y [{unit}]\",\"sigma [{unit}]\",\"uncertainty_xy [{unit}]\"\n"
        );
        for i in 1..30 {
            text += &format!("{i},{i},{}.25,{}.5,1.3,0.{i}\n", 7 * i % 50, 11 * i % 40);
        }
        text.into_bytes()
    };
    let foreign = "LABEL,POSITION_X,POSITION_Y,FRAME\nLabel,X,Y,Frame\n,(micron),(micron),\nID1,1.5,2.5,0\nID2,2.5,\"1,250.5\",1\n";
    let comma = "frame;x [nm];y [nm]\r1;1.250,5;\u{2212}2\r2;8.937,0;3\r";
    let wide = comma.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let few = b"x,y\n1,2\n3,4\n".to_vec();
    vec![table("nm"), table("px"), few, foreign.into(), comma.into(), wide]
}

/// Columns of numbers in text.
pub(crate) fn columns() -> Vec<Vec<u8>> {
    let comma = "Zeit;Signal\r\n[s];[mV]\r\n0;1.250,5\r\n1;\u{2212}2,5\r\n2;NA\r\n";
    vec![
        comma.into(),
        comma.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        b"dose\tcounts\n250\t510\n750\t1,510\n1,000\t2,010\n1,250\t2,510\n".to_vec(),
        b"\"time\" \"signal\"\n\"a\" 0.5 11\n\"b\" 1.5 13\n\"c\" 2.5 15\n".to_vec(),
        b",time,signal\n0,0.5,11.0\n1,1.5,13.0\n2,2.5,15.0\n".to_vec(),
        b"Instrument: A; version 1,2\nx,y\n1,10\n2,20\n3,30\n".to_vec(),
    ]
}

/// Cubes of several types.
pub(crate) fn fits() -> Vec<Vec<u8>> {
    let pixels = FRAMES.as_slice().expect("in order");
    let upper = bytes(pixels, |&pixel| (pixel ^ 0x8000).to_be_bytes());
    let axes = [24, 20, 3];
    let scaled = [("BSCALE", "0.5"), ("BZERO", "100.0"), ("BLANK", "-1")];
    vec![
        headers::fits(16, &axes, &[("BZERO", "32768")], &upper),
        headers::fits(16, &axes, &scaled, &upper),
        headers::fits(-64, &axes, &[], &floats()),
    ]
}

/// With and without what newer versions have.
pub(crate) fn sif() -> Vec<Vec<u8>> {
    let pixels: Vec<f32> = FRAMES.iter().map(|&pixel| pixel.into()).collect();
    [(65_538, None), (65_541, Some(0)), (65_541, Some(1))]
        .map(|(version, flag)| sif_of(version, flag, "1 20 24 1 1 1", &pixels, 3))
        .to_vec()
}

/// Of each type of numbers that is common.
pub(crate) fn spe() -> Vec<Vec<u8>> {
    let floats: Vec<f32> = FRAMES.iter().map(|&pixel| pixel.into()).collect();
    let floats = bytes(&floats, |pixel| pixel.to_le_bytes());
    [(0, floats), (3, little())].map(|(kind, data)| planes::spe(kind, 24, 20, 3, &data)).to_vec()
}

/// With and without loops and channels.
pub(crate) fn nd2() -> Vec<Vec<u8>> {
    let frames: Vec<Vec<u8>> = little().chunks(960).map(<[u8]>::to_vec).collect();
    [(24, 1, vec![(1, 3)]), (12, 2, Vec::new()), (24, 1, vec![(2, 1), (4, 3)])]
        .map(|(width, channels, loops)| {
            let of =
                Nd2 { width, height: 20, margin: 0, channels, bits: 16, compression: 2, loops };
            planes::nd2(&of, &frames)
        })
        .to_vec()
}

/// The name of NDTiff's file.
pub(crate) const STACK: &str = "a_NDTiffStack.tif";

/// Indices of times, and of channels, slices and tiles, each with its file behind it.
pub(crate) fn ndtiff() -> Vec<Vec<u8>> {
    let of = |axes: [&str; 3]| {
        let all = little();
        let planes = all.chunks(960).zip(axes);
        let planes = planes.map(|(data, axes)| planes::NdPlane {
            axes: axes.to_owned(),
            kind: 1,
            data: data.to_vec(),
        });
        let (index, stack) = planes::ndtiff(24, 20, STACK, &planes.collect::<Vec<_>>());
        [index, stack].concat()
    };
    vec![
        of([r#"{"time":0}"#, r#"{"time":1}"#, r#"{"time":2}"#]),
        of([r#"{"channel":"A","z":-1}"#, r#"{"channel":"B","z":-1}"#, r#"{"channel":"B","z":0}"#]),
        of([r#"{"position":"P"}"#, r#"{"position":"Q","row":1}"#, r#"{"column":-1,"row":0}"#]),
    ]
}

/// Lists of wavelengths, positions and time points, and of none.
pub(crate) fn metamorph() -> Vec<Vec<u8>> {
    let whole = "\"NDInfoFile\", Version 1.0\r\n\"Description\", Ours\r\n\"StartTime1\", 20240209 16:25:29.500\r\n\
        \"DoTimelapse\", TRUE\r\n\"NTimePoints\", 2\r\n\"DoStage\", TRUE\r\n\"NStagePositions\", 2\r\n\"Stage1\", \"left\"\r\n\
        \"Stage2\", \"right\"\r\n\"DoWave\", TRUE\r\n\"NWavelengths\", 2\r\n\"WaveName1\", \"BF\"\r\n\"WaveDoZ1\", FALSE\r\n\
        \"WaveName2\", \"GFP\"\r\n\"WaveDoZ2\", TRUE\r\n\"DoZSeries\", TRUE\r\n\"NZSteps\", 3\r\n\"ZStepSize\", 0,2\r\n\
        \"WaveInFileName\", TRUE\r\n\"NEvents\", 0\r\n\"EndFile\"\r\n";
    let none = "\"NDInfoFile\", Version 2.0\n\"DoTimelapse\", FALSE\n\"DoStage\", FALSE\n\"DoWave\", FALSE\n\"DoZSeries\", TRUE\n\"NZSteps\", 3\n\"EndFile\"\n";
    vec![whole.into(), none.into()]
}

/// With times, and with channels and slices.
pub(crate) fn czi() -> Vec<Vec<u8>> {
    let plane =
        |at: [i32; 4], data: &[u8]| CziPlane { kind: 1, compression: 0, at, data: data.to_vec() };
    let (all, axes) = (little(), [[2, 1, 0, 0], [0, 1, 2, 0]]);
    let of = |axis: [i32; 4]| {
        let frames = all.chunks(960).zip(0..);
        let frames = frames.map(|(data, time)| plane(axis.map(|step| step * time), data));
        planes::czi(24, 20, &frames.collect::<Vec<_>>())
    };
    let times = of([0, 0, 1, 0]);
    axes.into_iter().map(of).chain([times]).collect()
}
