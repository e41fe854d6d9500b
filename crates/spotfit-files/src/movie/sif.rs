//! Andor's SIF: a header of lines, then frames of 32-bit numbers, the lowest byte first.
//!
//! The format is not public. What is read here is what its versions 65555 to 65567 have in common: a line that tells the area of the
//! detector, and how many frames there are; a line with the area and the binning of each part; a line with the time of each frame, in
//! newer versions a flag and perhaps a line more for each; then the frames, in the order in which rows were read.

use std::io::{BufRead, BufReader, Read};

use super::error::wrong;
use super::format::{Format, Read as How};
use super::header::Header;
use super::{Acquisition, MovieError};
use crate::excerpt::excerpt;
use crate::npy::NumberType;
use crate::place::{Bytes, View, fill_at};

/// The format.
pub(super) const FORMAT: Format = Format::new("SIF", &["sif"], How::Header(header));

/// What the file begins with.
const MAGIC: &[u8] = b"Andor Technology Multi-Channel File\n";
/// The name of the axis of pixels, behind which the line about frames begins.
const AXIS: &[u8] = b"Pixel number6553";
const ALSO: &[u8] = b"Pixel number6554";
/// Where that line is, at most.
const LONGEST: usize = 1 << 20;
/// The longest line after it.
const LINE: u64 = 1024;
/// The first version of that line with a flag after the times of frames.
const FLAGGED: u64 = 65_541;

/// What the header says.
fn header(bytes: &Bytes) -> Result<Header, MovieError> {
    let mut head = vec![0; LONGEST.min(usize::try_from(bytes.length()?).unwrap_or(LONGEST))];
    let got = fill_at(&**bytes, 0, &mut head)?;
    head.truncate(got);
    if !head.starts_with(MAGIC) {
        return Err(wrong("it does not begin as one"));
    }
    let is_axis = |part: &[u8]| part == AXIS || part == ALSO;
    let at = head.windows(AXIS.len()).position(is_axis);
    let at = at.ok_or_else(|| wrong("it tells of no pixels"))? + "Pixel number".len();
    let mut lines = Lines(BufReader::new(View::new(bytes.clone(), at as u64)), at as u64);
    // A number of its version, the area, frames, parts, numbers of all frames, numbers of a frame.
    let of_frames = lines.numbers("the line about frames", 9)?;
    let [version, .., frames, parts, all, frame] = of_frames[..] else {
        return Err(wrong("the line about frames is too short"));
    };
    if parts != 1 {
        return Err(wrong(format!(
            "its frames have {parts} areas of the detector; movies of one area are read"
        )));
    }
    // A number of its version, left, top, right, bottom, and how many rows and columns are one pixel.
    let area = lines.numbers("the line about the area", 7)?;
    let [_, left, top, right, bottom, rows, columns, ..] = area[..] else {
        return Err(wrong("the line about the area is too short"));
    };
    let side = |from: u64, to: u64, binned: u64| {
        let all = to.checked_sub(from)?.checked_add(1)?;
        all.checked_div(binned).filter(|&side| side > 0)
    };
    let (width, height) = (side(left, right, columns), side(bottom, top, rows));
    let (Some(width), Some(height)) = (width, height) else {
        return Err(wrong(format!("its area is impossible: {left} to {right}, {bottom} to {top}")));
    };
    if width.checked_mul(height) != Some(frame) || frame.checked_mul(frames) != Some(all) {
        let reason = format!(
            "{frames} frames of {width}×{height} pixels do not make the {all} numbers that it tells of"
        );
        return Err(wrong(reason));
    }
    let mut times = Vec::new();
    for _ in 0..frames {
        times.extend(lines.numbers("the time of a frame", 1)?.first());
    }
    if version >= FLAGGED && lines.numbers("the flag after the times of frames", 1)?[0] == 1 {
        for _ in 0..frames {
            lines.numbers("the second time of a frame", 1)?;
        }
    }
    let side = |side: u64| usize::try_from(side).unwrap_or(usize::MAX);
    let shape = (side(frames), side(height), side(width));
    Ok(Header {
        acquisition: acquisition(&head, [columns, rows]),
        times: seconds(&times),
        ..Header::new(NumberType::F32, shape, lines.1)
    })
}

/// Times in seconds since the first, of those in microseconds, if they are some.
fn seconds(times: &[u64]) -> Option<Vec<f64>> {
    let (first, last) = (*times.first()?, *times.last()?);
    let rising = times.windows(2).all(|pair| pair[0] <= pair[1]);
    let since = |&time: &u64| time.saturating_sub(first) as f64 / 1e6;
    (rising && last > first).then(|| times.iter().map(since).collect())
}

/// How the frames were acquired: by the third line and the fourth.
///
/// The third has six words (versions, the time, the temperature), ten bytes, and then numbers: the second is the exposure, the third the
/// time from one exposure to the next, the fifth how many exposures were added up, and, behind a zero byte, the time from frame to frame and
/// that of reading a pixel, two numbers, and the EM gain. The fourth line names the camera.
fn acquisition(head: &[u8], binning: [u64; 2]) -> Acquisition {
    let third = head.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').nth(1);
    let third = third.and_then(|(end, _)| head.get(end + 1..)).unwrap_or_default();
    // Behind the six words and their spaces.
    let line = third.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let words = line.iter().enumerate().filter(|&(_, &byte)| byte == b' ').nth(5);
    let rest = words.and_then(|(end, _)| third.get(end + 11..)).unwrap_or_default();
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    let text = String::from_utf8_lossy(&rest[..end]).replace('\0', " ");
    let numbers: Vec<Option<f64>> =
        text.split_ascii_whitespace().take(16).map(|word| word.parse().ok()).collect();
    let number = |at: usize| numbers.get(at).copied().flatten();
    let camera = rest.get(end + 1..).unwrap_or_default().split(|&byte| byte == b'\n').next();
    let found = Acquisition {
        camera: camera.map(|name| String::from_utf8_lossy(name).into_owned()),
        exposure: number(1),
        frame_time: number(5).filter(|&time| time > 0.0).or(number(2)),
        em_gain: number(9),
        binning: Some(binning.map(|side| u32::try_from(side).unwrap_or(0))),
        ..Acquisition::default()
    };
    found.by("the SIF header")
}

/// Lines, and where the next one begins.
struct Lines(BufReader<View>, u64);

impl Lines {
    /// The numbers of the next line, at least so many.
    fn numbers(&mut self, what: &str, least: usize) -> Result<Vec<u64>, MovieError> {
        let mut line = Vec::new();
        let got = (&mut self.0).take(LINE).read_until(b'\n', &mut line)?;
        self.1 += got as u64;
        let text = String::from_utf8_lossy(&line);
        let numbers: Option<Vec<u64>> =
            text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        match numbers {
            Some(numbers) if numbers.len() >= least && line.ends_with(b"\n") => Ok(numbers),
            _ if line.is_empty() => Err(wrong(format!("it ends before {what}"))),
            _ => Err(wrong(format!("{what} is not what it should be: {}", excerpt(text.trim())))),
        }
    }
}
