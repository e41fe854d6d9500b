//! Programs that write movies frame by frame, as cameras deliver them.

use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;

use tiff::encoder::{TiffEncoder, TiffKind, TiffKindBig, TiffKindStandard, colortype::Gray16};
use tiff::tags::Tag;

use super::set;

/// The size of the frames, and a frame.
pub type Size = (u32, u32);

/// A kind of movie that is written frame by frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Tiff,
    BigTiff,
    /// Of Micro-Manager: the files have their length from the start, and so many frames each.
    MicroManager(usize),
    /// The first file names the second one, which has the second half of the frames.
    Set,
    /// Its description is there from the start.
    Raw,
    /// Its description says of one frame, and comes with it: whoever finds it without a frame takes the first one for the last.
    RawBeyond,
    Npy,
}

pub const KINDS: [Kind; 7] = [
    Kind::Tiff,
    Kind::BigTiff,
    Kind::MicroManager(300),
    Kind::Set,
    Kind::Raw,
    Kind::RawBeyond,
    Kind::Npy,
];

/// Runs a test for each kind; with `SPOTFIT_TESTS=all` three times, which run side by side, since both who writes and who
/// follows wait most of the time.
pub fn each_kind(test: impl Fn(Kind) + Sync) {
    let (rounds, at_once) = if super::thorough() { (3, 3) } else { (1, 1) };
    let cases: Vec<Kind> = (0..rounds).flat_map(|_| KINDS).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(&kind) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    test(kind);
                }
            });
        }
    });
}

/// Writes a movie, 1, 4 or 16 frames ahead at most of a reader who tells how many it has: whoever has a frame only when others have
/// come as well waits in vain.
pub fn write_ahead(
    kind: Kind,
    folder: &Path,
    size: Size,
    frames: usize,
    frame: fn(Size, usize) -> Vec<u16>,
    told: &Receiver<usize>,
) {
    // Where a file has its length from the start, a frame is whole when the next one has begun.
    let behind = usize::from(matches!(kind, Kind::MicroManager(_)));
    let (mut writer, mut read) = (kind.writer(folder, size, frames), 0);
    for number in 0..frames {
        let ahead = behind + [1, 4, 16][number / 50 % 3];
        while number >= read + ahead {
            read = told.recv().expect("somebody who reads");
        }
        writer.frame(&frame(size, number));
    }
    writer.end();
}

impl Kind {
    /// Whether metadata say how many frames there will be. Otherwise a movie ends when none has come for a while.
    pub fn has_promise(self) -> bool {
        !matches!(self, Self::Tiff | Self::BigTiff | Self::RawBeyond)
    }

    /// The file by which the movie is opened.
    pub fn path(self, folder: &Path) -> PathBuf {
        folder.join(match self {
            Self::Tiff | Self::BigTiff => "movie.tif",
            Self::MicroManager(_) => "run_MMStack_Pos0.ome.tif",
            Self::Set => "first.ome.tif",
            Self::Raw | Self::RawBeyond => "movie.raw",
            Self::Npy => "movie.npy",
        })
    }

    /// Begins to write a movie of so many frames: what writes each of them, and what ends the movie.
    pub fn writer(self, folder: &Path, size: Size, frames: usize) -> Box<dyn Writer> {
        let path = self.path(folder);
        match self {
            Self::Tiff => tiff_writer::<TiffKindStandard>(&path, size, None),
            Self::BigTiff => tiff_writer::<TiffKindBig>(&path, size, None),
            Self::MicroManager(each) => Box::new(MicroManager::new(&path, size, each, frames)),
            Self::Set => Box::new(SetWriter::new(folder, size, frames)),
            Self::Raw | Self::RawBeyond => {
                let yaml = folder.join("movie.yaml");
                let end = Some((yaml.clone(), described(size, frames)));
                let beyond = (self == Self::RawBeyond).then(|| (yaml.clone(), described(size, 1)));
                if beyond.is_none() {
                    std::fs::write(&yaml, described(size, frames)).expect("a description");
                }
                let file = File::create(&path).expect("a file");
                Box::new(Plain { file, first: beyond, end })
            }
            Self::Npy => {
                let mut file = File::create(&path).expect("a file");
                let shape = format!("({frames}, {}, {})", size.1, size.0);
                file.write_all(&super::npy("'<u2'", "False", &shape, &[])).expect("a header");
                Box::new(Plain { file, first: None, end: None })
            }
        }
    }
}

/// Picasso's description of a movie.
pub fn described((width, height): Size, frames: usize) -> String {
    format!(
        "Byte Order: <\nData Type: uint16\nFrames: {frames}\nHeight: {height}\nWidth: {width}\nPixelsize: 100\n"
    )
}

/// Writes a movie.
pub trait Writer: Send {
    fn frame(&mut self, pixels: &[u16]);
    fn end(self: Box<Self>) {}
}

fn bytes(pixels: &[u16]) -> Vec<u8> {
    pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect()
}

/// Frames one after the other, each in two writes.
struct Plain {
    file: File,
    /// What is there, whole, after the first frame.
    first: Option<(PathBuf, String)>,
    /// What is written at the end.
    end: Option<(PathBuf, String)>,
}

impl Writer for Plain {
    fn frame(&mut self, pixels: &[u16]) {
        let bytes = bytes(pixels);
        let (first, last) = bytes.split_at(bytes.len() / 3);
        self.file.write_all(first).expect("written");
        self.file.write_all(last).expect("written");
        if let Some((path, text)) = self.first.take() {
            let whole = path.with_extension("whole");
            std::fs::write(&whole, text).expect("a description");
            std::fs::rename(whole, path).expect("a description");
        }
    }

    fn end(self: Box<Self>) {
        if let Some((path, text)) = self.end {
            std::fs::write(path, text).expect("a description");
        }
    }
}

/// The encoder of the crate `tiff`: strips, then the directory, then where it is.
struct Encoded<K: TiffKind> {
    encoder: TiffEncoder<File, K>,
    size: Size,
    description: Option<String>,
}

fn tiff_writer<K: TiffKind + Send + 'static>(
    path: &Path,
    size: Size,
    description: Option<String>,
) -> Box<dyn Writer>
where
    TiffEncoder<File, K>: Send,
{
    let file = File::create(path).expect("a file");
    let encoder = TiffEncoder::<_, K>::new_generic(file).expect("an encoder");
    Box::new(Encoded { encoder, size, description })
}

impl<K: TiffKind> Writer for Encoded<K>
where
    TiffEncoder<File, K>: Send,
{
    fn frame(&mut self, pixels: &[u16]) {
        let (width, height) = self.size;
        let mut image = self.encoder.new_image::<Gray16>(width, height).expect("an image");
        // Several strips.
        image.rows_per_strip(height.div_ceil(3)).expect("strips");
        if let Some(description) = self.description.take() {
            image.encoder().write_tag(Tag::ImageDescription, &description[..]).expect("a tag");
        }
        image.write_data(pixels).expect("pixels");
    }
}

/// An OME set of two files.
struct SetWriter {
    folder: PathBuf,
    size: Size,
    /// Frames of the first file that are still to come.
    left: usize,
    now: Box<dyn Writer>,
}

impl SetWriter {
    fn new(folder: &Path, size: Size, frames: usize) -> Self {
        let left = frames / 2;
        let block = |time: usize| {
            let (page, file) =
                if time < left { (time, "first.ome.tif") } else { (time - left, "second.ome.tif") };
            set::block([0, 0, time], page, file)
        };
        let blocks: String = (0..frames).map(block).collect();
        let description = set::ome("XYZCT", [1, 1, frames], "", &blocks);
        let path = folder.join("first.ome.tif");
        let now = tiff_writer::<TiffKindStandard>(&path, size, Some(description));
        Self { folder: folder.to_owned(), size, left, now }
    }
}

impl Writer for SetWriter {
    fn frame(&mut self, pixels: &[u16]) {
        if self.left == 0 {
            let path = self.folder.join("second.ome.tif");
            self.now = tiff_writer::<TiffKindStandard>(&path, self.size, None);
            self.left = usize::MAX;
        }
        self.left -= 1;
        self.now.frame(pixels);
    }
}

/// As Micro-Manager writes: each file has its length from the start; a directory says where the next one will be; the end of each file is
/// marked and cut when the acquisition ends.
pub struct MicroManager {
    path: PathBuf,
    size: Size,
    each: usize,
    summary: String,
    files: Vec<(File, u64, usize)>,
}

impl MicroManager {
    pub fn new(path: &Path, size: Size, each: usize, frames: usize) -> Self {
        let summary = format!(
            r#"{{"Frames": {frames}, "Channels": 1, "Slices": 1, "PixelSize_um": 0.1, "Prefix": "µ"}}"#
        );
        create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let mut writer = Self { path: path.to_owned(), size, each, summary, files: Vec::new() };
        writer.begin();
        writer
    }

    fn begin(&mut self) {
        let path = match self.files.len() {
            0 => self.path.clone(),
            number => {
                let name = self.path.file_name().expect("a name").to_str().expect("text");
                self.path.with_file_name(name.replace(".ome.tif", &format!("_{number}.ome.tif")))
            }
        };
        let mut file = OpenOptions::new().write(true).create_new(true).open(path).expect("a file");
        let pixels = u64::from(self.size.0 * self.size.1);
        let room = 10_000 + self.each as u64 * (2 * pixels + 2000);
        file.set_len(room).expect("room");
        let first = 40 + self.summary.len() as u32 + 100;
        let mut head = b"II*\0".to_vec();
        head.extend(first.to_le_bytes());
        head.resize(32, 0);
        head.extend(2_355_492u32.to_le_bytes());
        head.extend((self.summary.len() as u32).to_le_bytes());
        head.extend(self.summary.as_bytes());
        file.write_all(&head).expect("a header");
        self.files.push((file, u64::from(first), 0));
    }

    /// The directory of the page at a place, and where the next one will be.
    fn directory(&self, place: u64, is_first: bool) -> (Vec<u8>, u64) {
        let pixels = self.size.0 * self.size.1;
        let count = if is_first { 15u32 } else { 13 };
        let data = place as u32 + 2 + 12 * count + 4;
        let resolution = data + 2 * pixels;
        let mut entries = vec![
            (256u16, 4u16, 1u32, self.size.0),
            (257, 4, 1, self.size.1),
            (258, 3, 1, 16),
            (259, 3, 1, 1),
            (262, 3, 1, 1),
        ];
        if is_first {
            entries.extend([(270, 2, 0, 0), (270, 2, 0, 0)]);
        }
        entries.extend([
            (273, 4, 1, data),
            (277, 3, 1, 1),
            (278, 3, 1, self.size.1),
            (279, 4, 1, 2 * pixels),
            (282, 5, 1, resolution),
            (283, 5, 1, resolution + 8),
            (296, 3, 1, 3),
            (51123, 2, 20, resolution + 16),
        ]);
        let next = u64::from(resolution + 16 + 20);
        let mut bytes = (count as u16).to_le_bytes().to_vec();
        for (tag, kind, count, value) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(kind.to_le_bytes());
            bytes.extend(count.to_le_bytes());
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend((next as u32).to_le_bytes());
        (bytes, next)
    }
}

impl Writer for MicroManager {
    fn frame(&mut self, pixels: &[u16]) {
        if self.files.last().is_some_and(|(.., count)| *count == self.each) {
            self.begin();
        }
        let (_, place, count) = *self.files.last().expect("a file");
        let (directory, next) = self.directory(place, count == 0);
        let (file, end, written) = self.files.last_mut().expect("a file");
        (*end, *written) = (next, count + 1);
        file.seek(SeekFrom::Start(place)).expect("a place");
        // A queue of buffers.
        file.write_all(&directory[..70]).expect("written");
        file.write_all(&directory[70..]).expect("written");
        file.write_all(&bytes(pixels)).expect("written");
        file.write_all(&[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]).expect("written");
        file.write_all(b"{\"metadata\": \"one\"}\0").expect("written");
    }

    fn end(self: Box<Self>) {
        // Behind the pointer of the last directory there are its pixels, 16 bytes of resolution, and 20 of text.
        let behind = u64::from(2 * self.size.0 * self.size.1) + 16 + 20;
        for (mut file, place, _) in self.files {
            file.seek(SeekFrom::Start(place - behind - 4)).expect("a place");
            file.write_all(&[0; 4]).expect("written");
            file.set_len(place + 8).expect("cut");
        }
    }
}
