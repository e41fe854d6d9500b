//! Models with explicit parameters, fitted to values at any points: the sums over the points, and what the search must
//! know (Przybylski et al. 2017).
//!
//! The caller evaluates the model and its derivatives at each point and hands them to [`Sums`]; [`Sums::evaluation`] is
//! what [`crate::search::Search::update`] takes. Derivatives may come without the factors that are the same at all points;
//! those are applied once, to the sums.
//!
//! Residuals are computed point by point, so χ² is as precise as the model. What the search must know is how precise that
//! is: a residual f − d is off by the rounding of f.
//!
//! Parameters in which a model is linear need no search: wherever the others are, least squares has its minimum by them in
//! closed form (variable projection: G. H. Golub and V. Pereyra, 1973). [`Sums::project`] finds that from the sums at any of
//! their values, and what the sums are there, so it takes no other visit to the points. Steps of the others then follow the
//! valley that the linear parameters make, because those take the best step beside them, whatever the damping.

mod covariance;
mod levenberg_marquardt;
mod limits;
mod sums;
mod units;

pub use covariance::{covariance, determined};
pub use levenberg_marquardt::{Factored, LevenbergMarquardt};
pub use limits::{is_pushed, is_surely_pushed};
pub use sums::{At, Projected, Sums};
pub use sums::{MOST_LOST, MOST_SHIFTED, ROUNDING, counted, least_square};
pub use units::{Explicit, Units};
