//! Files that are cut off, as after a crash: what is said of them.

/// What is said of a file of which so many frames are whole.
pub(super) fn said(whole: usize, promised: Option<usize>) -> String {
    let missing = match promised.and_then(|promised| promised.checked_sub(whole)) {
        Some(missing) if missing > 0 => format!("{missing} are missing"),
        _ => "how many are missing is not known".to_owned(),
    };
    let are = if whole == 1 { "frame is" } else { "frames are" };
    format!("is cut off: {whole} whole {are} read, {missing}")
}
