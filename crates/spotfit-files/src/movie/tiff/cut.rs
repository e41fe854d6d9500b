//! Files that are cut off, as after a crash: what is whole is read.

use super::MovieError;
use super::failure::wrong;
use super::page::{Places, chunks};
use super::run::{first_byte, is_stored, number};
use crate::movie::whole::said;
use crate::place::Bytes;

/// Keeps the pages up to the last one whose pixels are there, and says how many are not.
///
/// Of the file are known its length, whether its chain of directories is broken, and whether it is refused if something is missing.
pub(super) fn keep_whole(
    pages: &mut Places,
    bytes: &Bytes,
    (length, broken, strict): (u64, bool, bool),
    promised: Option<usize>,
) -> Result<Option<String>, MovieError> {
    let all = pages.places.len();
    let first = Page::of(pages, bytes, 0);
    let is_cut = |page: usize| match (&first, Page::of(pages, bytes, page)) {
        // A page of another size is not what was cut off.
        (Some(first), Some(page)) => page.size == first.size && page.end > length,
        _ => false,
    };
    let cut = (0..all).rev().take_while(|&page| is_cut(page)).count();
    if !broken && cut == 0 {
        return Ok(None);
    }
    let whole = all - cut;
    if whole == 0 || strict {
        let reason = format!("the file is truncated: its pixels end after {length} bytes");
        return Err(wrong(whole, reason));
    }
    pages.places.truncate(whole);
    Ok(Some(said(whole, promised)))
}

/// How many frames follow each other from the pixels of the first page on, if they fill the file up to the second directory: so tifffile
/// and ImageJ write them, with all directories but the first behind them. Without pixels, fewer than 16 bytes may lie between.
pub(super) fn run(pages: &Places, bytes: &Bytes, second: u64) -> Option<usize> {
    const BETWEEN: u64 = 16;
    let open = |page| pages.decoder(page, bytes.clone(), &Default::default()).ok();
    let mut decoder = open(0)?;
    let start = first_byte(&mut decoder).ok().filter(|_| is_stored(&mut decoder))?;
    let (width, height) = decoder.dimensions().ok()?;
    let size = u64::from(width) * u64::from(height) * number(&mut decoder).ok()?.size() as u64;
    let room = second.checked_sub(start).filter(|_| size > BETWEEN)?;
    // No frames: directories and their pixels in turn, or pixels elsewhere.
    let is_between = (start..second).contains(&pages.places[0]);
    let follows = pages.places.len() < 2
        || open(1).and_then(|mut next| first_byte(&mut next).ok()) == start.checked_add(size);
    let frames = room.checked_div(size).filter(|&frames| frames > 1 && !is_between && follows)?;
    (room % size < BETWEEN).then_some(usize::try_from(frames).ok()?)
}

/// How large a page is, and where its pixels end.
struct Page {
    size: (u32, u32),
    end: u64,
}

impl Page {
    /// Of a page of a file, if it can be known.
    fn of(pages: &Places, bytes: &Bytes, page: usize) -> Option<Self> {
        let mut decoder = pages.decoder(page, bytes.clone(), &Default::default()).ok()?;
        let size = decoder.dimensions().ok()?;
        let (places, counts) = chunks(&mut decoder).ok()?;
        let ends = places.iter().zip(&counts).map(|(place, &count)| place.saturating_add(count));
        Some(Self { size, end: ends.max()? })
    }
}

/// The number of pages that tifffile was to write, if this is its description: `{"shape": [40, 64, 64]}`.
pub(super) fn shaped(text: &str) -> Option<usize> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let shape = value.get("shape")?.as_array()?;
    let frames = shape.len().checked_sub(2)?;
    let side = |side: &serde_json::Value| usize::try_from(side.as_u64()?).ok();
    shape[..frames].iter().try_fold(1_usize, |all, length| all.checked_mul(side(length)?))
}
