//! Frames from streams.

use std::io;

use spotfit::steps::track::{Arrived, FrameFormat, FrameSource, LiveFrames};
use spotfit::track::FramePixels;

fn format() -> FrameFormat {
    "3x2:u16".parse().unwrap()
}

/// Proves that frames of a stream come in their order with their pixels, the lower byte first, and that the end is the end.
#[test]
fn frames_come_in_order() {
    let bytes: Vec<u8> = (0..50_u16).flat_map(|number| number.to_le_bytes().repeat(6)).collect();
    let mut frames = LiveFrames::raw("stream", io::Cursor::new(bytes), format()).unwrap();
    let mut next = 0;
    loop {
        match frames.next().unwrap() {
            Arrived::Nothing => {}
            Arrived::End => break,
            Arrived::Frame(arrival) => {
                assert_eq!(arrival.number, next);
                let FramePixels::U16(pixels) = arrival.frame.pixels else { panic!("another type") };
                assert_eq!(pixels, [next as u16; 6]);
                assert!(arrival.time.unwrap() >= 0.0);
                next += 1;
            }
        }
    }
    assert_eq!(next, 50);
    assert!(matches!(frames.next(), Ok(Arrived::End)));
}

/// Proves that bytes at the end that are no whole frame are an error that says how many, with the format.
#[test]
fn a_wrong_format_is_told() {
    let mut frames = LiveFrames::raw("stream", io::Cursor::new(vec![0; 31]), format()).unwrap();
    let error = loop {
        match frames.next() {
            Ok(Arrived::End) => panic!("no error"),
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
    };
    assert!(
        error.contains("after 2 frames of 3x2:u16 (12 bytes each), 7 bytes are left"),
        "{error}"
    );
}
