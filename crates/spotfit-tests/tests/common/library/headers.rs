//! Files whose header says how the frames after it lie: FITS and SIF.

use super::bytes;

/// A card of FITS.
pub fn card(name: &str, value: &str) -> String {
    format!("{:<80}", format!("{name:<8}= {value:>20}"))
}

/// A part of a FITS file: its cards, then its data, each filled up to whole blocks.
pub fn part(cards: &[String], data: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{}{:<80}", cards.concat(), "END").into_bytes();
    bytes.resize(bytes.len().next_multiple_of(2880), b' ');
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(2880), 0);
    bytes
}

/// The cards of the first part of a FITS file, with the lengths of its axes.
pub fn first(bitpix: i32, axes: &[usize], more: &[(&str, &str)]) -> Vec<String> {
    let mut cards = vec![
        card("SIMPLE", "T"),
        card("BITPIX", &bitpix.to_string()),
        card("NAXIS", &axes.len().to_string()),
    ];
    let lengths = axes.iter().enumerate();
    cards.extend(
        lengths.map(|(axis, length)| card(&format!("NAXIS{}", axis + 1), &length.to_string())),
    );
    cards.extend(more.iter().map(|(name, value)| card(name, value)));
    cards
}

/// A FITS file of one cube (width, height, frames).
pub fn fits(bitpix: i32, axes: &[usize], more: &[(&str, &str)], data: &[u8]) -> Vec<u8> {
    part(&first(bitpix, axes, more), data)
}

/// The header of a SIF file, up to the line about frames.
pub const SIF: &str = "Andor Technology Multi-Channel File\n65538 1\n65567 0 0 1 1731005709 -49.2 \0 \0 \n \x02 \0 0 0.03 0.0312 0.0312 1 \0 \
                       0.0312 1e-07 0 1 200 0 0 1e-08\n\
                       DU897_BV\n512 512\n12\nPixel number6\nCounts12\n";

/// A SIF file of frames of 3×2 pixels; newer ones have a flag, and perhaps second times.
pub fn sif(version: u32, flag: Option<u8>, frames: &[[f32; 6]]) -> Vec<u8> {
    // Columns 11 to 16 in pairs, rows 5 to 10 in threes.
    sif_of(version, flag, "11 10 16 5 3 2", frames.as_flattened(), frames.len())
}

/// The same of any area: left, top, right, bottom, and the rows and columns that make a pixel.
pub fn sif_of(version: u32, flag: Option<u8>, area: &str, pixels: &[f32], count: usize) -> Vec<u8> {
    let all = pixels.len();
    let mut text = format!(
        "{SIF}Pixel number{version} 1 512 512 1 {count} 1 {all} {}\n65538 {area} 0\n",
        all / count
    );
    let times = |text: &mut String| {
        (0..count).for_each(|frame| text.push_str(&format!("{:>10}\n", 1000 * frame)));
    };
    times(&mut text);
    if let Some(flag) = flag {
        text.push_str(&format!("{flag}\n"));
        if flag == 1 {
            times(&mut text);
        }
    }
    let mut file = text.into_bytes();
    file.extend(bytes(pixels, |pixel| pixel.to_le_bytes()));
    file
}
