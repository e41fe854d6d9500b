//! Frames of a movie that are still needed.

use fit_windows::{AnyWindows, Windows};
use ndarray::ArrayView3;

macro_rules! held {
    ($($kind:ident($type:ident)),*) => {
        /// The pixels of successive frames, in their own type, one frame after the other.
        #[derive(Debug)]
        pub(super) enum Held {
            $($kind(Vec<$type>),)*
        }

        impl Held {
            /// None, of the type of these, with room for so many pixels.
            pub(super) fn like(frames: AnyWindows<'_>, room: usize) -> Self {
                match frames {
                    $(AnyWindows::$kind(_) => {
                        let mut all = Vec::new();
                        // A movie may have less.
                        let _ = all.try_reserve_exact(room);
                        Self::$kind(all)
                    })*
                }
            }

            /// For how many pixels there is room.
            #[cfg(test)]
            pub(super) fn room(&self) -> usize {
                match self {
                    $(Self::$kind(all) => all.capacity(),)*
                }
            }

            /// Adds frames; false if their pixels are of another type.
            pub(super) fn add(&mut self, frames: AnyWindows<'_>) -> bool {
                match (self, frames) {
                    $((Self::$kind(all), AnyWindows::$kind(frames)) => {
                        match frames.frames().to_slice() {
                            Some(pixels) => all.extend_from_slice(pixels),
                            None => all.extend(frames.frames().iter()),
                        }
                        true
                    })*
                    _ => false,
                }
            }

            /// Forgets the first pixels.
            pub(super) fn forget(&mut self, pixels: usize) {
                match self {
                    $(Self::$kind(all) => drop(all.drain(..pixels)),)*
                }
            }

            /// Some of the pixels, from the one with this number on, as frames (n, height, width).
            pub(super) fn frames(&self, first: usize, shape: (usize, usize, usize)) -> AnyWindows<'_> {
                let end = first + shape.0 * shape.1 * shape.2;
                match self {
                    $(Self::$kind(all) => {
                        let frames = ArrayView3::from_shape(shape, &all[first..end]);
                        Windows::stack(frames.expect("as many pixels as the frames have")).into()
                    })*
                }
            }
        }
    };
}

held!(
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64)
);
