//! Options, each declared once: its name, how it is set, its type, and its default.

/// A struct of options: its fields, their setters, and their defaults (if one is given, all are).
///
/// ```
/// fit_core::__options! {
///     /// How rows are read.
///     #[derive(Clone, Debug)]
///     #[non_exhaustive]
///     pub struct Reading {
///         /// The number of rows.
///         pub rows(const with_rows): u32 = 3,
///         /// What they are called.
///         pub name(with_name): Option<String> = None,
///     }
/// }
/// assert_eq!(Reading::default().with_name(Some("a".into())).rows, 3);
/// ```
///
/// Brackets hold what clap's `arg` is to say of a field, for crates whose feature `clap` derives `clap::Args`; a word before them has the
/// default for its value. The first paragraph of the docs is the help.
///
/// ```ignore
/// /// The number of rows, of those that are no comments.
/// pub rows(const with_rows) default_value_t[long, value_name = "N"]: u32 = 3,
/// /// What they are called.
/// pub name(with_name)[long]: Option<String> = None,
/// /// Not for the command line.
/// pub cached(const with_cached) skip[]: bool = true,
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __options {
    ($(#[$meta:meta])* $vis:vis struct $Name:ident {
        $($(#[$of:meta])* $public:vis $field:ident($($set:tt)*) $($($usual:ident)? [$($arg:tt)*])?: $type:ty = $default:expr),* $(,)?
    }) => {
        $crate::__options! {
            $(#[$meta])* $vis struct $Name {
                $($(#[$of])* $public $field($($set)*) $([$($usual = $default,)? $($arg)*])?: $type),*
            }
        }

        impl Default for $Name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $Name:ident {
        $($(#[$of:meta])* $public:vis $field:ident($($set:tt)*) $([$($arg:tt)*])?: $type:ty),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $Name {
            $($(#[$of])* $(#[cfg_attr(feature = "clap", arg($($arg)*))])? $public $field: $type),*
        }

        impl $Name {
            $crate::__setters! { $($($set)*: $field: $type,)* }
        }
    };
}

/// Setters of an options struct that other crates cannot build field by field.
#[doc(hidden)]
#[macro_export]
macro_rules! __setters {
    () => {};
    (: $field:ident: $type:ty, $($rest:tt)*) => { $crate::__setters! { $($rest)* } };
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
