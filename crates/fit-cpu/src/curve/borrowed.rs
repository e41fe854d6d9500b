//! Data sets that stay where their owner has them.

use super::places::{MOST_IN_PACKS, Places};
use super::summary::DataSummary;

/// A formula at the points of a long data set, which are read where they lie in memory.
pub(crate) trait BorrowedDataset: Places + Send {
    /// Takes a data set, with what is to be subtracted from each variable.
    fn take(&mut self, fit: usize, origin: &[f64]);
    /// How many points it has.
    fn points(&self) -> usize;
    /// Looks at the data.
    fn see(&mut self, poisson: bool) -> DataSummary;
    /// Subtracts this from the data from now on.
    fn set_level(&mut self, level: f64);
    /// Σwd², or Σd, of the data as they are scaled.
    fn size(&self, scale: Option<[f64; 2]>, poisson: bool) -> f64;
    /// The weights of the points that are seen.
    fn weight(&self) -> f64;
    /// Makes visits, points and sizes those of some points, spread over the data set, or of all again; false if all are too few for that.
    fn use_subsample(&mut self, few: bool) -> bool;
    /// How uneven the last visit to some points was, whose parts are spread over the data set: for each parameter the square of the deviation
    /// over the mean of what parts say of its curvature, and the standard error of χ² as a share of it.
    fn unevenness(&self) -> ([f64; MOST_IN_PACKS], f64);
}
