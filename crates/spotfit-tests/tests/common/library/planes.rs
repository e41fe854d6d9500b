//! Movies of microscopes' makers, as their writers would make them: SPE, ND2 and CZI.

/// An SPE file of version 2.
pub fn spe(kind: u16, width: u16, height: u16, frames: u32, data: &[u8]) -> Vec<u8> {
    let mut file = vec![0; 4100];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(10, &0.05f32.to_le_bytes());
    put(42, &width.to_le_bytes());
    put(108, &kind.to_le_bytes());
    put(656, &height.to_le_bytes());
    put(1446, &frames.to_le_bytes());
    put(1510, &1u16.to_le_bytes());
    put(1516, &2u16.to_le_bytes());
    put(1522, &1u16.to_le_bytes());
    put(1992, &2.5f32.to_le_bytes());
    file.extend(data);
    file
}

/// A value of ND2.
pub enum Lv<'a> {
    Whole(u32),
    Number(f64),
    True,
    Text(&'a str),
    Bytes(&'a [u8]),
    Level(Vec<Vec<u8>>),
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

/// A value with its name.
pub fn lv(name: &str, value: Lv<'_>) -> Vec<u8> {
    let name = utf16(name);
    let head = |kind: u8| [vec![kind, (name.len() / 2) as u8], name.clone()].concat();
    match value {
        Lv::Whole(number) => [head(3), number.to_le_bytes().to_vec()].concat(),
        Lv::Number(number) => [head(6), number.to_le_bytes().to_vec()].concat(),
        Lv::True => [head(1), vec![1]].concat(),
        Lv::Text(text) => [head(8), utf16(text)].concat(),
        Lv::Bytes(bytes) => [&head(9)[..], &(bytes.len() as u64).to_le_bytes(), bytes].concat(),
        Lv::Level(parts) => {
            let (head, count) = (head(11), parts.len());
            let inside = parts.concat();
            let length = (head.len() + 12 + inside.len()) as u64;
            let count_bytes = (count as u32).to_le_bytes().to_vec();
            let index = vec![0; 8 * count];
            [head, count_bytes, length.to_le_bytes().to_vec(), inside, index].concat()
        }
    }
}

/// A loop of an ND2 experiment, around others.
fn round(kind: u32, count: u32, inner: Option<Vec<Vec<u8>>>) -> Vec<Vec<u8>> {
    let parameters = lv("uLoopPars", Lv::Level(vec![lv("uiCount", Lv::Whole(count))]));
    let mut all = vec![lv("eType", Lv::Whole(kind)), parameters];
    all.extend(
        inner
            .map(|inner| lv("ppNextLevelEx", Lv::Level(vec![lv("i0000000000", Lv::Level(inner))]))),
    );
    all
}

/// What an ND2 file has.
pub struct Nd2 {
    pub width: u32,
    pub height: u32,
    /// Bytes at the end of each row.
    pub margin: u32,
    pub channels: u32,
    pub bits: u32,
    pub compression: u32,
    /// Loops, the outermost first: 1 of time, 2 of positions, 4 of slices.
    pub loops: Vec<(u32, u32)>,
}

/// An ND2 file of frames, each with its rows, one every 20 ms.
pub fn nd2(of: &Nd2, frames: &[Vec<u8>]) -> Vec<u8> {
    let loops =
        of.loops.iter().rev().fold(None, |inner, &(kind, count)| Some(round(kind, count, inner)));
    nd2_of(of, frames, loops)
}

/// The same with such loops, as values of the outermost one.
pub fn nd2_of(of: &Nd2, frames: &[Vec<u8>], loops: Option<Vec<Vec<u8>>>) -> Vec<u8> {
    nd2_with(of, frames, loops, &[])
}

/// The same with more attributes of its frames.
pub fn nd2_with(
    of: &Nd2,
    frames: &[Vec<u8>],
    loops: Option<Vec<Vec<u8>>>,
    more: &[(&str, u32)],
) -> Vec<u8> {
    let row = of.width * of.channels * of.bits / 8 + of.margin;
    let whole = |name: &str, value: u32| lv(name, Lv::Whole(value));
    let more = more.iter().map(|&(name, value)| whole(name, value));
    let own = [
        whole("uiWidth", of.width),
        whole("uiWidthBytes", row),
        whole("uiHeight", of.height),
        whole("uiComp", of.channels),
        whole("uiBpcInMemory", of.bits),
        whole("uiSequenceCount", frames.len() as u32),
        whole("eCompression", of.compression),
    ];
    let attributes = lv("SLxImageAttributes", Lv::Level(own.into_iter().chain(more).collect()));
    let setting = vec![
        lv("dExposureTime", Lv::Number(15.0)),
        lv("pCameraSetting", Lv::Level(vec![lv("CameraUserName", Lv::Text("ORCA"))])),
    ];
    let metadata = lv(
        "SLxPictureMetadata",
        Lv::Level(vec![
            lv("sPicturePlanes", Lv::Level(setting)),
            lv("dCalibration", Lv::Number(0.108)),
            lv("bCalibrated", Lv::True),
        ]),
    );
    let mut chunks = vec![
        ("ND2 FILE SIGNATURE CHUNK NAME01!".to_owned(), b"Ver3.0".to_vec()),
        ("ImageAttributesLV!".to_owned(), attributes),
        ("ImageMetadataSeqLV|0!".to_owned(), metadata),
    ];
    if let Some(loops) = loops {
        chunks.push(("ImageMetadataLV!".to_owned(), lv("SLxExperiment", Lv::Level(loops))));
    }
    for (number, frame) in frames.iter().enumerate() {
        let time = (100.0 + 20.0 * number as f64).to_le_bytes();
        chunks.push((format!("ImageDataSeq|{number}!"), [&time[..], frame].concat()));
    }
    let (mut file, mut map) = (Vec::new(), Vec::new());
    let chunk = |file: &mut Vec<u8>, name: &str, data: &[u8]| {
        file.extend(0x0abe_ceda_u32.to_le_bytes());
        file.extend((name.len() as u32 + 3).to_le_bytes());
        file.extend((data.len() as u64).to_le_bytes());
        file.extend(name.as_bytes());
        // Names are filled up.
        file.extend([0; 3]);
        file.extend(data);
    };
    for (name, data) in &chunks {
        map.extend(name.as_bytes());
        map.extend((file.len() as u64).to_le_bytes());
        map.extend((data.len() as u64).to_le_bytes());
        chunk(&mut file, name, data);
    }
    let end = b"ND2 CHUNK MAP SIGNATURE 0000001!";
    let place = (file.len() as u64).to_le_bytes();
    map.extend(end);
    map.extend([place, [0; 8]].concat());
    chunk(&mut file, "ND2 FILEMAP SIGNATURE NAME 0001!", &map);
    file.extend(end);
    file.extend(place);
    file
}

/// A segment of CZI.
fn segment(name: &str, data: &[u8]) -> Vec<u8> {
    let mut all = name.as_bytes().to_vec();
    all.resize(16, 0);
    let size = (data.len() as u64).to_le_bytes();
    [&all[..], &size, &size, data].concat()
}

/// A plane of CZI: its type, its compression, channel, slice, time and scene, and its numbers.
pub struct CziPlane {
    pub kind: i32,
    pub compression: i32,
    pub at: [i32; 4],
    pub data: Vec<u8>,
}

/// A CZI file of planes of this width and height.
pub fn czi(width: u32, height: u32, planes: &[CziPlane]) -> Vec<u8> {
    let entry = |plane: &CziPlane, place: u64| {
        let mut entry = b"DV".to_vec();
        entry.extend(plane.kind.to_le_bytes());
        entry.extend(place.to_le_bytes());
        entry.extend(0i32.to_le_bytes());
        entry.extend(plane.compression.to_le_bytes());
        entry.extend([0; 6]);
        entry.extend(6u32.to_le_bytes());
        let [c, z, t, s] = plane.at;
        let dimensions =
            [("X", 0, width), ("Y", 0, height), ("C", c, 1), ("Z", z, 1), ("T", t, 1), ("S", s, 1)];
        for (name, start, size) in dimensions {
            entry.extend(name.as_bytes());
            entry.extend([0; 3]);
            entry.extend(i32::to_le_bytes(start));
            entry.extend(u32::to_le_bytes(size));
            entry.extend(0f32.to_le_bytes());
            entry.extend(u32::to_le_bytes(size));
        }
        entry
    };
    let mut file = segment("ZISRAWFILE", &[0; 512]);
    let mut entries = Vec::new();
    for plane in planes {
        let entry = entry(plane, file.len() as u64);
        let mut data = 7u32.to_le_bytes().to_vec();
        data.extend(0u32.to_le_bytes());
        data.extend((plane.data.len() as u64).to_le_bytes());
        data.extend(&entry);
        data.resize(256, 0);
        data.extend(b"<META/>");
        data.extend(&plane.data);
        file.extend(segment("ZISRAWSUBBLOCK", &data));
        entries.extend(entry);
    }
    let text = "<ImageDocument><Metadata><Information><Image><Dimensions><Channels><Channel><ExposureTime>30000000</ExposureTime>\
                <DetectorSettings><Binning>2,2</Binning></DetectorSettings></Channel></Channels></Dimensions></Image></Information>\
                <Scaling><Items><Distance Id=\"X\"><Value>1.1E-07</Value></Distance>\
                <Distance Id=\"Y\"><Value>1.1E-07</Value></Distance></Items></Scaling></Metadata></ImageDocument>";
    let places = [file.len() as u64, {
        let mut directory = (planes.len() as u32).to_le_bytes().to_vec();
        directory.resize(128, 0);
        directory.extend(entries);
        file.extend(segment("ZISRAWDIRECTORY", &directory));
        file.len() as u64
    }];
    let mut metadata = (text.len() as u32).to_le_bytes().to_vec();
    metadata.resize(256, 0);
    metadata.extend(text.as_bytes());
    file.extend(segment("ZISRAWMETADATA", &metadata));
    file[84..92].copy_from_slice(&places[0].to_le_bytes());
    file[92..100].copy_from_slice(&places[1].to_le_bytes());
    file
}

/// A plane of NDTiff: its axes as JSON, its type and its numbers.
pub struct NdPlane {
    pub axes: String,
    pub kind: u32,
    pub data: Vec<u8>,
}

/// NDTiff's index, and its file `name` of planes of this width and height, taken every 20 ms.
pub fn ndtiff(width: u32, height: u32, name: &str, planes: &[NdPlane]) -> (Vec<u8>, Vec<u8>) {
    let mut stack = b"II*\0".to_vec();
    for number in [0u32, 483_729, 3, 3, 2_355_492, 2] {
        stack.extend(number.to_le_bytes());
    }
    stack.extend(b"{}");
    let mut index = Vec::new();
    let text = |index: &mut Vec<u8>, text: &str| {
        index.extend((text.len() as u32).to_le_bytes());
        index.extend(text.as_bytes());
    };
    for (plane, number) in planes.iter().zip(0..) {
        let begin = stack.len() as u32;
        stack.extend(&plane.data);
        let metadata = format!(
            "{{\"Core-Camera\":\"Ours\",\"Exposure\":15,\"ElapsedTime-ms\":{},\"PixelSizeUm\":0.11}}",
            20 * number
        );
        let (at, length) = (stack.len() as u32, metadata.len() as u32);
        stack.extend(metadata.as_bytes());
        text(&mut index, &plane.axes);
        text(&mut index, name);
        for number in [begin, width, height, plane.kind, 0, at, length, 0] {
            index.extend(number.to_le_bytes());
        }
    }
    (index, stack)
}
