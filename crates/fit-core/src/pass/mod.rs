//! The passes over the pixels of a window, each written once.
//!
//! A pass is a function of a [`Tile`]: the pixels of a window that one lane holds, wherever they lie (in memory, in
//! the registers of a thread, in memory that threads share), and the [`Group`] of lanes that share the window. A
//! single processor, a pack with a window in each lane and the threads of a GPU run the same code.

mod condition;
mod each;
mod errors;
mod estimate;
mod evaluate;
mod group;
mod hidden;
mod least_squares;
mod level;
mod likelihood;
mod method;
mod residual;
mod rotated;
mod serial;
mod shape;
mod sheared;
mod tile;
mod weigh;
mod weighted;

pub use crate::setup::{AS_ASKED, EXACT, ROUGH};
pub use condition::condition;
pub use each::Each;
pub use errors::{CovarianceEstimator, ErrorEstimate};
pub use estimate::estimate;
pub use evaluate::{AxesAndData, evaluate};
pub use group::{Group, OneLane, sum_axis};
pub use least_squares::{ExactFit, LeastSquaresSeed, PlaneFit, RoughFit, SpotSearch, WeightedFit};
pub(crate) use likelihood::deviance_of;
pub use likelihood::{
    HIDDEN, Likelihood, LikelihoodSeed, START_EVALUATIONS, WithAmplitude, WithAmplitudeConstants,
};
pub use method::{Finish, Method, RawFit, fit};
pub use residual::residual_chi2;
pub use serial::{Axes, Columns, PixelRow, Rows, Serial};
pub use shape::{Gathered, Summable, Visitor, on_plane};
pub use sheared::Sheared;
pub use tile::{Along, Around, Line, Side, Store, Tile};
pub use weigh::{Noise, Weighted, WeightedTilt};
