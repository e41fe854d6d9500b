//! Text that grows, on a disk that gets full.

use std::fs::File;

/// After text was appended to a file of this length, but not all of it: cuts the line that is not whole. The result is the length of the
/// file, which is shorter where it cannot be cut so.
pub(super) fn keep_whole_lines(file: &File, length: u64, text: &[u8]) -> u64 {
    let end = file.metadata().map_or(length, |metadata| metadata.len());
    let written = (end.saturating_sub(length) as usize).min(text.len());
    let whole = text[..written].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let length = length + whole as u64;
    // A pipe cannot be cut, and ends here.
    let _ = file.set_len(length);
    length
}
