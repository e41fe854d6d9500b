//! Pictures that are committed beside those that were made: `cargo xtask picture`.
//!
//! A fit has other last bits with every instruction set, so that pictures of localizations differ in a few pixels.

use std::fs;
use std::path::Path;

use super::TaskError;

/// A channel of a pixel is another if it differs by more than this, of 255.
const LEVELS: u8 = 24;

/// The share of the pixels that may be others.
const OTHERS: f64 = 0.005;

/// How much numbers of a drawing may differ, which are places in its pixels.
const PLACES: f64 = 0.75;

/// Compares two pictures.
pub(crate) fn compare(committed: &Path, made: &Path) -> Result<(), TaskError> {
    let read = |path: &Path| fs::read(path).map_err(TaskError::of_file(path));
    let (old, new) = (read(committed)?, read(made)?);
    let is_drawing = committed.extension().is_some_and(|extension| extension == "svg");
    let result = match is_drawing {
        _ if old == new => Ok("the same bytes".to_owned()),
        true => drawings(&old, &new),
        false => images(&old, &new),
    };
    let (committed, made) = (committed.display().to_string(), made.display().to_string());
    match result {
        Ok(found) => {
            println!("{made}: {found}");
            Ok(())
        }
        Err(reason) => Err(TaskError::Picture { committed, made, reason }),
    }
}

/// Width, height, kind of the pixels, and their bytes.
type Image = (u32, u32, (png::ColorType, png::BitDepth), Vec<u8>);

fn decode(bytes: &[u8]) -> Result<Image, String> {
    let wrong = |error: png::DecodingError| error.to_string();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().map_err(wrong)?;
    let size = reader.output_buffer_size().ok_or("it is too large")?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(wrong)?;
    pixels.truncate(info.buffer_size());
    Ok((info.width, info.height, (info.color_type, info.bit_depth), pixels))
}

fn images(old: &[u8], new: &[u8]) -> Result<String, String> {
    let (old, new) = (decode(old)?, decode(new)?);
    if (old.0, old.1, old.2) != (new.0, new.1, new.2) {
        return Err(format!(
            "it has {}×{} pixels, {:?}, not {}×{}, {:?}",
            new.0, new.1, new.2, old.0, old.1, old.2
        ));
    }
    let count = u64::from(old.0) * u64::from(old.1);
    let bytes = (old.3.len() as u64 / count.max(1)).max(1) as usize;
    let differs = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > LEVELS);
    let others = old.3.chunks(bytes).zip(new.3.chunks(bytes)).filter(differs).count();
    let share = others as f64 / count as f64;
    let found = format!(
        "{others} of {count} pixels ({:.3} %) differ by more than {LEVELS} levels of 255",
        100.0 * share
    );
    if share <= OTHERS { Ok(found) } else { Err(format!("{found}; {} % may", 100.0 * OTHERS)) }
}

/// The text between the numbers, and the numbers.
fn parts(drawing: &str) -> (Vec<&str>, Vec<f64>) {
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    let mut rest = drawing;
    while let Some(digit) = rest.find(|symbol: char| symbol.is_ascii_digit()) {
        let start = digit - usize::from(rest[..digit].ends_with('-'));
        texts.push(&rest[..start]);
        let number = |symbol: char| symbol.is_ascii_digit() || symbol == '.';
        let end =
            rest[digit..].find(|symbol| !number(symbol)).map_or(rest.len(), |end| digit + end);
        // Several points make no number: all of that is text.
        match rest[start..end].parse() {
            Ok(value) => numbers.push(value),
            Err(_) => texts.push(&rest[start..end]),
        }
        rest = &rest[end..];
    }
    texts.push(rest);
    (texts, numbers)
}

fn drawings(old: &[u8], new: &[u8]) -> Result<String, String> {
    let text = |bytes| std::str::from_utf8(bytes).map_err(|error| error.to_string());
    let (old, new) = (parts(text(old)?), parts(text(new)?));
    let lengths = (old.0.len() == new.0.len()) && (old.1.len() == new.1.len());
    if let Some((old, new)) = old.0.iter().zip(&new.0).find(|(old, new)| old != new) {
        return Err(format!("it says {new:?}, not {old:?}"));
    }
    if !lengths {
        return Err(format!("it has {} numbers, not {}", new.1.len(), old.1.len()));
    }
    let most = old.1.iter().zip(&new.1).map(|(old, new)| (old - new).abs()).fold(0.0, f64::max);
    let found = format!("numbers differ by up to {most:.3}");
    if most <= PLACES { Ok(found) } else { Err(format!("{found}; {PLACES} is allowed")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, pixels: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, pixels.len() as u32 / 3 / width);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(pixels).unwrap();
        bytes
    }

    /// Proves that images may differ a little everywhere and much in a few pixels, but not in more, nor in their size.
    #[test]
    fn images_are_compared_by_pixels() {
        let pixels: Vec<u8> = (0..3000u32).map(|i| (i % 200) as u8).collect();
        let shifted: Vec<u8> = pixels.iter().map(|pixel| pixel + LEVELS).collect();
        assert!(images(&png(50, &pixels), &png(50, &shifted)).is_ok());
        for (others, good) in [(5, true), (6, false)] {
            let mut other = pixels.clone();
            (0..others).for_each(|pixel| other[30 * pixel + 1] ^= 128);
            assert_eq!(images(&png(50, &pixels), &png(50, &other)).is_ok(), good, "{others}");
        }
        assert!(images(&png(50, &pixels), &png(25, &pixels)).unwrap_err().contains("25×40"));
        assert!(images(&png(50, &pixels), b"no image").is_err());
    }

    /// Proves that drawings may differ in their numbers by less than a pixel, and in nothing else.
    #[test]
    fn drawings_are_compared_by_numbers() {
        let compare = |old: &str, new: &str| drawings(old.as_bytes(), new.as_bytes());
        assert!(compare("<p d=\"M1.5 -0.2L3 4\"/>", "<p d=\"M1.9 0.3L3 4\"/>").is_ok());
        for other in [
            "<p d=\"M2.5 -0.2L3 4\"/>",
            "<p d=\"M1.5 -0.2L3 4L5 6\"/>",
            "<p d=\"M1.5 -0.2L3\"/>",
            "<q d=\"M1.5 -0.2L3 4\"/>",
            "",
        ] {
            assert!(compare("<p d=\"M1.5 -0.2L3 4\"/>", other).is_err(), "{other}");
        }
        assert_eq!(parts("a-1.5b2"), (vec!["a", "b", ""], vec![-1.5, 2.0]));
        assert_eq!(parts("1.2.3").1, Vec::<f64>::new());
    }
}
