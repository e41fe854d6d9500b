//! Numbers of a file as pixels of frames.

use ndarray::Array3;

use super::Pixels;
use super::room::{FrameType, Room};
use crate::npy::{NpyNumber, NumberType};

/// A type of numbers as frames: kept, or made `f32`.
pub(super) trait FrameNumber: NpyNumber {
    type Pixel: bytemuck::Pod + Default;
    const KIND: FrameType;
    /// Whether frames have it as it is stored.
    const IS_PIXEL: bool;
    fn pixel(self) -> Self::Pixel;
    fn pixels(frames: Array3<Self::Pixel>) -> Pixels;
    fn room(room: Room<'_>) -> Option<&mut [Self::Pixel]>;
}

macro_rules! frame_number {
    ($($type:ident => $variant:ident($pixel:ident)),*) => {$(
        impl FrameNumber for $type {
            type Pixel = $pixel;
            const KIND: FrameType = FrameType::$variant;
            const IS_PIXEL: bool = matches!(Self::TYPE, NumberType::$variant);
            #[inline(always)]
            fn pixel(self) -> $pixel {
                self as $pixel
            }
            fn pixels(frames: Array3<$pixel>) -> Pixels {
                Pixels::$variant(frames)
            }
            fn room(room: Room<'_>) -> Option<&mut [$pixel]> {
                match room {
                    Room::$variant(room) => Some(room),
                    _ => None,
                }
            }
        }
    )*};
}
frame_number!(
    u8 => U8(u8), u16 => U16(u16), u32 => F32(f32), u64 => F32(f32), i8 => F32(f32), i16 => F32(f32),
    i32 => F32(f32), i64 => F32(f32), f32 => F32(f32), f64 => F32(f32)
);
