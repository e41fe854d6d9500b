//! Rings that mean harm.
#![cfg(unix)]

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use spotfit_ring::{
    PixelType, RingLayout, RingOptions, RingPixels, RingReader, RingStep, RingWriter,
};

/// How many mutations there are of headers, and of slots.
fn mutations() -> u32 {
    if std::env::var_os("SPOTFIT_TESTS").is_some_and(|all| all == "all") {
        1_000_000
    } else {
        100_000
    }
}

/// A number that is often one of those at which sizes overflow.
fn number(random: &mut Pcg64) -> u64 {
    let bits = random.next_u32() % 65;
    let around = if bits == 64 { u64::MAX } else { 1 << bits };
    match random.next_u32() % 4 {
        0 => random.next_u64(),
        1 => around.wrapping_sub(1),
        2 => around,
        _ => around.wrapping_add(u64::from(random.next_u32() % 8)),
    }
}

/// Proves that no header and no slot makes the reader panic, wait or take memory that the file does not account for: 10⁵ mutations of
/// each, 10⁶ with SPOTFIT_TESTS=all, of one to eight numbers each. What it accepts has the pixels that the header promises.
#[test]
fn nothing_in_a_ring_is_trusted() {
    let folder =
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let path = folder.path().join("ring");
    let name = path.display().to_string();
    let layout = RingLayout::new(3, 2, PixelType::U16, 4).expect("a layout");
    let mut writer = RingWriter::create(&name, layout).expect("a ring");
    for number in 0..6 {
        writer.write(number, number, RingPixels::U16(&[5; 6])).expect("it is written");
    }
    let good = std::fs::read(&path).expect("a ring");
    let file = OpenOptions::new().write(true).open(&path).expect("a file");
    let mut random = Pcg64::seed_from_u64(42);
    let options = RingOptions::default().with_timeout(Duration::ZERO);
    let (mut opened, mut frames, mut refused) = (0_u32, 0_u32, 0_u32);
    for attempt in 0..2 * mutations() {
        // Half of them change anything, half only what changes while a ring is read.
        let in_slots = attempt.is_multiple_of(2);
        let mut bad = good.clone();
        let mutate = |bad: &mut [u8], random: &mut Pcg64| {
            for _ in 0..=random.next_u32() % 8 {
                let (from, wide) = if in_slots { (128, 8) } else { (0, 4) };
                let end = if random.next_u32().is_multiple_of(4) { 256 + 128 } else { 160 };
                let at = from + wide * (random.next_u32() as usize % ((end - from) / wide));
                let value = number(random).to_ne_bytes();
                bad[at..at + wide].copy_from_slice(&value[..wide]);
            }
        };
        if !in_slots {
            mutate(&mut bad, &mut random);
        }
        if random.next_u32().is_multiple_of(64) {
            file.set_len(u64::from(random.next_u32()) % (good.len() as u64 + 64))
                .expect("a length");
        }
        file.write_all_at(&bad, 0).expect("it is written");
        let Ok(mut reader) = RingReader::open(&name, &options) else {
            refused += 1;
            continue;
        };
        opened += 1;
        if in_slots {
            mutate(&mut bad, &mut random);
            file.write_all_at(&bad, 0).expect("it is written");
        }
        for _ in 0..8 {
            match reader.advance() {
                Ok(RingStep::Frame { .. }) => {
                    frames += 1;
                    // Numbers that change together may make another header that is sound.
                    let layout = *reader.layout();
                    let count = match reader.frame().expect("a frame").pixels {
                        RingPixels::U8(pixels) => pixels.len(),
                        RingPixels::U16(pixels) => pixels.len(),
                        RingPixels::F32(pixels) => pixels.len(),
                        RingPixels::F64(pixels) => pixels.len(),
                        _ => panic!("an unknown type"),
                    };
                    assert_eq!(count, layout.frame_pixels());
                    assert!(layout.bytes() <= good.len() as u64 + 64, "{layout:?}");
                }
                Ok(RingStep::Nothing) => {}
                Ok(RingStep::End) | Err(_) => break,
            }
        }
    }
    println!("{refused} refused, {opened} opened, {frames} frames read");
    assert!(refused > mutations() / 2 && opened > mutations() && frames > mutations());
}
