//! Windows of pixels whose type is known only at run time.

use std::marker::PhantomData;

use fit_core::{ArgumentError, Corner, Erase, Options, Pixel, Size, Start};

use crate::{CameraMap, NoteKind, SideData, Weights, Windows};

/// Work to do with windows whose pixel type is known only at run time.
pub trait Visitor<'a> {
    /// What the work returns.
    type Output;
    /// Does the work with pixels of one type.
    fn visit<P: Pixel>(self, windows: Windows<'a, P>) -> Self::Output;
}

macro_rules! any {
    ($($variant:ident($type:ident)),*) => {
        /// [`Windows`] of pixels of any type.
        ///
        /// Functions that take this type are compiled once, in their own crate, and not for each pixel type in the
        /// calling crate. So a debug build of the calling crate runs them at full speed.
        #[derive(Clone, Copy, Debug)]
        pub enum AnyWindows<'a> {
            $(#[doc = concat!("Of `", stringify!($type), "`.")] $variant(Windows<'a, $type>),)*
        }

        /// Names what `AnyWindows` is made of.
        struct Erased<'a>(PhantomData<&'a ()>);

        impl<'a> Erase for Erased<'a> {
            type Of<P: Pixel> = Windows<'a, P>;
            type Erased = AnyWindows<'a>;
            $(fn $type(of: Windows<'a, $type>) -> AnyWindows<'a> {
                AnyWindows::$variant(of)
            })*
        }

        impl<'a> AnyWindows<'a> {
            /// Calls the visitor with the windows in their own type.
            pub fn visit<V: Visitor<'a>>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$variant(windows) => visitor.visit(windows),)*
                }
            }

            /// See [`Windows::validate`].
            ///
            /// # Errors
            /// [`ArgumentError`].
            pub fn validate(
                &self,
                options: &Options,
                start: Start<'_>,
                outcomes: usize,
            ) -> Result<(), ArgumentError> {
                match self {
                    $(Self::$variant(windows) => windows.validate(options, start, outcomes),)*
                }
            }

            /// See [`Windows::check`].
            ///
            /// # Errors
            /// [`ArgumentError`].
            pub fn check(
                &self,
                options: &Options,
                start: Start<'_>,
                outcomes: usize,
            ) -> Result<(), ArgumentError> {
                match self {
                    $(Self::$variant(windows) => windows.check(options, start, outcomes),)*
                }
            }

            /// See [`Windows::with_map`].
            #[must_use]
            pub fn with_map(self, map: &'a CameraMap) -> Self {
                match self {
                    $(Self::$variant(windows) => Self::$variant(windows.with_map(map)),)*
                }
            }

            /// See [`Windows::with_weights`].
            #[must_use]
            pub fn with_weights(self, weights: Weights<'a>) -> Self {
                match self {
                    $(Self::$variant(windows) => Self::$variant(windows.with_weights(weights)),)*
                }
            }

            /// See [`Windows::with_corners`].
            #[must_use]
            pub fn with_corners(self, corners: &'a [Corner]) -> Self {
                match self {
                    $(Self::$variant(windows) => Self::$variant(windows.with_corners(corners)),)*
                }
            }

            /// See [`Windows::validate_errors`].
            ///
            /// # Errors
            /// [`ArgumentError`].
            pub fn validate_errors(
                &self,
                options: &Options,
                fits: usize,
                errors: usize,
            ) -> Result<(), ArgumentError> {
                match self {
                    $(Self::$variant(windows) => windows.validate_errors(options, fits, errors),)*
                }
            }

            /// See [`Windows::note_kind`].
            pub fn note_kind(&self, options: &Options) -> NoteKind {
                match self {
                    $(Self::$variant(windows) => windows.note_kind(options),)*
                }
            }

            /// See [`Windows::places`].
            pub fn places(&self) -> Option<&'a [Corner]> {
                match self {
                    $(Self::$variant(windows) => windows.places(),)*
                }
            }

            /// See [`Windows::side_data`].
            pub fn side_data(&self) -> &SideData<'a> {
                match self {
                    $(Self::$variant(windows) => windows.side_data(),)*
                }
            }

            /// The number of windows.
            pub fn count(&self) -> usize {
                match self {
                    $(Self::$variant(windows) => windows.count(),)*
                }
            }

            /// The size of each window.
            pub fn size(&self) -> Size {
                match self {
                    $(Self::$variant(windows) => windows.size(),)*
                }
            }

            /// The number of pixels of all windows, or `usize::MAX` if it overflows.
            pub fn pixels(&self) -> usize {
                match self {
                    $(Self::$variant(windows) => windows.pixels(),)*
                }
            }

            /// Where the windows are cut; `None` for a stack of windows.
            pub fn corners(&self) -> Option<&'a [Corner]> {
                match self {
                    $(Self::$variant(windows) => windows.corners(),)*
                }
            }

            /// Number, height and width of the frames; for a stack, of the windows.
            pub fn frames(&self) -> (usize, usize, usize) {
                match self {
                    $(Self::$variant(windows) => windows.frames().dim(),)*
                }
            }
        }
    };
}
any!(
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

impl<'a, P: Pixel> From<Windows<'a, P>> for AnyWindows<'a> {
    fn from(windows: Windows<'a, P>) -> Self {
        P::erase::<Erased<'a>>(windows)
    }
}
