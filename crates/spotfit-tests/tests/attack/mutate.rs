//! Files that are nearly right.

use fit_sim::Random;

/// Numbers at which something ends.
const INTERESTING: [u64; 19] = [
    0,
    1,
    2,
    3,
    7,
    8,
    16,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

/// Words that texts of every format may stumble over.
const WORDS: [&str; 36] = [
    "0",
    "-1",
    "1e308",
    "-1e308",
    "1e-320",
    "1e400",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "0x10",
    "1_000",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999999",
    "\u{feff}",
    "\u{1b}[31m",
    "\"",
    "\"\"",
    "'",
    ",",
    ",,",
    ":",
    "=",
    "\n",
    "\r\n",
    "\0",
    " ",
    "\t",
    "(",
    ")",
    "{",
    "---\n",
    "é",
];

/// A random number below `n`, or 0.
pub(crate) fn pick(random: &mut Random, n: usize) -> usize {
    (random.uniform() * n as f64) as usize
}

/// Where to strike: headers, and the ends of TIFF files, are where structure is.
fn place(random: &mut Random, length: usize) -> usize {
    let near = if pick(random, 2) == 0 { length.min(160) } else { length };
    let at = pick(random, near);
    if pick(random, 3) == 0 { length.saturating_sub(1 + at) } else { at }
}

/// A part of something.
fn part<'a>(random: &mut Random, bytes: &'a [u8]) -> &'a [u8] {
    let first = place(random, bytes.len());
    let most = if pick(random, 4) == 0 { bytes.len() } else { 16 };
    let length = 1 + pick(random, most);
    &bytes[first.min(bytes.len())..(first + length).min(bytes.len())]
}

/// Changes a file in one to four ways; `others` are files to take parts of, `words` those of its format.
pub(crate) fn mutate(
    file: &[u8],
    others: &[&[u8]],
    words: &[&str],
    random: &mut Random,
) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..=pick(random, 4) {
        if file.is_empty() {
            break;
        }
        let at = place(random, file.len());
        match pick(random, 9) {
            0 => file[at] ^= 1 << pick(random, 8),
            1 => file[at] = pick(random, 256) as u8,
            2 => file.truncate(at),
            3 => {
                let repeated = part(random, &file).to_vec();
                let times = 1 + pick(random, 12);
                file.splice(at..at, repeated.repeat(times));
            }
            4 => {
                let end = (at + 1 + pick(random, 32)).min(file.len());
                file.drain(at..end);
            }
            5 => {
                let other = others[pick(random, others.len())];
                let other = part(random, other).to_vec();
                let end = (at + pick(random, 2) * other.len()).min(file.len());
                file.splice(at..end, other);
            }
            6 => {
                let number = INTERESTING[pick(random, INTERESTING.len())];
                let size = [1, 2, 4, 8][pick(random, 4)];
                let little = number.to_le_bytes();
                let mut bytes = little[..size].to_vec();
                if pick(random, 3) == 0 {
                    bytes.reverse();
                }
                let end = (at + size).min(file.len());
                file[at..end].copy_from_slice(&bytes[..end - at]);
            }
            // A number or a word of a text, or a place in it, becomes a word.
            7 => {
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
                let first = at + file[at..].iter().position(is_word).unwrap_or(0);
                let length = file[first..].iter().take_while(|&byte| is_word(byte)).count();
                file.splice(first..first + length, word(words, random).bytes());
            }
            _ => {
                file.splice(at..at, word(words, random).bytes());
            }
        }
    }
    file
}

fn word<'a>(words: &[&'a str], random: &mut Random) -> &'a str {
    match pick(random, WORDS.len() + words.len()) {
        own if own < words.len() => words[own],
        general => WORDS[general - words.len()],
    }
}
