//! Numbers or lengths with commas between them.

/// So many of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Several<T, const N: usize>(pub(crate) [T; N]);

pub(crate) fn several<T: std::str::FromStr, const N: usize>(
    text: &str,
) -> Result<Several<T, N>, String> {
    let all: Result<Vec<T>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let all = all.ok().and_then(|all| all.try_into().ok());
    Ok(Several(all.ok_or_else(|| format!("{N} numbers are needed, with commas between them"))?))
}
