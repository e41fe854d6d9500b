//! Common methods of options.

/// Setters of an options struct that other crates cannot build field by field.
#[doc(hidden)]
#[macro_export]
macro_rules! __setters {
    () => {};
    (const $with:ident: $field:ident: $type:ty, $($rest:tt)*) => {
        #[doc = concat!("The same with another [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub const fn $with(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
        $crate::__setters! { $($rest)* }
    };
    ($with:ident: $field:ident: $type:ty, $($rest:tt)*) => {
        #[doc = concat!("The same with another [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $with(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
        $crate::__setters! { $($rest)* }
    };
}
