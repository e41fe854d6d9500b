//! Windows of pixels whose type is known only at run time.

use std::marker::PhantomData;
use std::ops::Deref;

use fit_core::{Corner, Erase, Pixel};

use crate::side_data::with_side_data;
use crate::{CameraMap, Weights, WindowShape, Windows};

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

            fn shape_mut(&mut self) -> &mut WindowShape<'a> {
                match self {
                    $(Self::$variant(windows) => windows.shape_mut(),)*
                }
            }

            with_side_data!();
        }

        impl<'a> Deref for AnyWindows<'a> {
            type Target = WindowShape<'a>;
            fn deref(&self) -> &WindowShape<'a> {
                match self {
                    $(Self::$variant(windows) => windows,)*
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
