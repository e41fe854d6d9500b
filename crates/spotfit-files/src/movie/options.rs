//! How a movie is opened.

use std::path::PathBuf;

use super::{MovieAxes, MovieError};

fit_core::__options! {
    /// Limits of the size of a movie, since a header of a hundred bytes can claim frames of any size.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct MovieLimits {
        /// The most pixels of a frame, width times height. The default is 2²⁶, 8192×8192: more than
        /// scientific cameras deliver, and 256 MiB as `f32`. Raise it if there is memory for several such
        /// frames at a time.
        pub frame_pixels(const with_frame_pixels): usize = 1 << 26,
    }
}

impl MovieLimits {
    pub(super) fn check(&self, width: usize, height: usize) -> Result<(), MovieError> {
        let limit = self.frame_pixels;
        match width.checked_mul(height) {
            Some(pixels) if pixels <= limit => Ok(()),
            _ => Err(MovieError::FrameSize { width, height, limit }),
        }
    }
}

fit_core::__options! {
    /// Which part of a movie is read, and how large it may be.
    ///
    /// ```no_run
    /// use spotfit_files::movie::{Movie, MovieOptions};
    ///
    /// let second = MovieOptions::default().with_channel(Some(1));
    /// let movie = Movie::open_with("two-colours.ome.tif", &second)?;
    /// # Ok::<(), spotfit_files::movie::MovieError>(())
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct MovieOptions {
        /// How large the movie may be.
        pub limits(with_limits): MovieLimits = MovieLimits::default(),
        /// The channel that is read, from 0. A movie with several channels is refused if none is chosen.
        pub channel(const with_channel): Option<usize> = None,
        /// The z slice that is read, from 0: its time points are the frames. Otherwise every slice of every time
        /// point is a frame.
        pub slice(const with_slice): Option<usize> = None,
        /// The position of the stage that is read, by its name or its number from 1. A movie of several positions is refused if none is
        /// chosen, unless each has a file of its own.
        pub position(with_position): Option<String> = None,
        /// Whether a file that is cut off is refused. Otherwise what is whole is read, and a note says how much is missing.
        pub strict(const with_strict): bool = false,
        /// Movies that go on with this one, in their order, as if all were one: frames of the same size, which go on counting. Not of a
        /// movie that is being written.
        pub parts(with_parts): Vec<PathBuf> = Vec::new(),
    }
}

impl MovieOptions {
    /// Which of the positions with these names is read.
    pub(super) fn position_of(&self, names: &[String]) -> Result<usize, MovieError> {
        let Some(chosen) = self.position.as_deref() else {
            return match names.len() {
                0 | 1 => Ok(0),
                _ => Err(MovieError::Positions(names.to_vec())),
            };
        };
        let number = chosen.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let named = names.iter().position(|name| name == chosen);
        named
            .or(number.filter(|&number| number < names.len().max(1)))
            .ok_or_else(|| MovieError::NoPosition(chosen.to_owned(), names.to_vec()))
    }

    /// The channel that is read of a movie with such axes.
    pub(super) fn channel_of(&self, axes: &MovieAxes) -> Result<usize, MovieError> {
        let MovieAxes { channels, slices, .. } = *axes;
        let no_such = |axis, chosen: Option<usize>, count| match chosen {
            Some(chosen) if chosen >= count => {
                Err(MovieError::NoSuch { axis, number: chosen.saturating_add(1), count })
            }
            _ => Ok(()),
        };
        no_such("channel", self.channel, channels)?;
        no_such("slice", self.slice, slices)?;
        match self.channel {
            None if channels > 1 => Err(MovieError::Channels(channels)),
            chosen => Ok(chosen.unwrap_or(0)),
        }
    }
}

impl From<MovieLimits> for MovieOptions {
    fn from(limits: MovieLimits) -> Self {
        Self::default().with_limits(limits)
    }
}
