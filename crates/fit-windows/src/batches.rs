//! The common methods of fitters of batches.

/// The methods that take a batch, for an `impl` of a fitter: `$fit` fits windows that were checked, and `$errors` finds errors.
#[doc(hidden)]
#[macro_export]
macro_rules! __batches {
    ($error:ty, $fit:ident, $errors:ident) => {
        /// Fits every window of a stack.
        ///
        /// - `spots`: (n, height, width) of any memory layout; standard layout is fastest.
        /// - `start`: where each fit starts.
        /// - `fits`: n outcomes, in the order of the windows; numbers are rounded to `T`.
        ///
        /// # Errors
        /// If the request is invalid; then `fits` is unchanged. If a machine fails; then some of `fits` may be
        /// outcomes.
        pub fn fit_into<P: $crate::private::Pixel, T: $crate::private::Scalar>(
            &self,
            options: &$crate::private::Options,
            spots: $crate::private::ArrayView3<'_, P>,
            start: $crate::private::Start<'_>,
            fits: &mut [$crate::private::Fit<T>],
        ) -> Result<(), $error> {
            self.fit_windows(options, $crate::Windows::stack(spots).into(), start, fits.into())
        }

        /// Fits windows, stacked or cut from frames (`Windows::cuts`); these may overlap, and a start counts from the window's
        /// first pixel.
        ///
        /// # Errors
        /// As for `fit_into`, and if a window is not within its frame.
        pub fn fit_windows(
            &self,
            options: &$crate::private::Options,
            windows: $crate::AnyWindows<'_>,
            start: $crate::private::Start<'_>,
            fits: $crate::private::Outcomes<'_>,
        ) -> Result<(), $error> {
            windows.validate(options, start, fits.len())?;
            self.$fit(options, windows, start, fits)
        }

        /// Finds the errors of fits that were made with these options from these windows.
        ///
        /// # Errors
        /// If there is not one outcome and room for its errors for each window; then `errors` is unchanged. Others as for
        /// `fit_into`.
        pub fn errors_into<T: $crate::private::Scalar>(
            &self,
            options: &$crate::private::Options,
            windows: $crate::AnyWindows<'_>,
            fits: &[$crate::private::Fit<T>],
            errors: &mut [$crate::private::Errors],
        ) -> Result<(), $error> {
            windows.validate_errors(options, fits.len(), errors.len())?;
            self.$errors(options, windows, fits.into(), errors)
        }
    };
}
