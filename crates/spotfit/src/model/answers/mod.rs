//! What is known of a fit besides its parameters: how well the model describes the data, intervals, derived quantities, bands, and how
//! another model does.
//!
//! ```
//! use ndarray::Array2;
//! use spotfit::Backend;
//! use spotfit::model::answers::FitAnswers;
//! use spotfit::model::{CurveFitter, CurveNoise, Curves, Model, Points, Sharing};
//!
//! let model = Model::formula("a*exp(-x/t)", &["x"], &["a", "t"])?;
//! let data = Array2::from_shape_fn((1, 9), |(_, x)| 5.0 * (-(x as f64) / 3.0).exp() + [0.1, -0.1][x % 2]);
//! let curves = Curves::new(data.view(), Points::Index);
//! let fitter = CurveFitter::new(Backend::Reference, 1)?;
//! let (options, start) = (model.options(), (&[4.0, 2.0]).into());
//! let fits = model.fit_noise(&fitter, &curves, start, &options, &CurveNoise::default())?;
//! let answers = FitAnswers::default()
//!     .with_statistics(true)
//!     .with_derived("half_life = t*ln(2)", &model)?
//!     .with_intervals(Some(0.68));
//! let columns = answers.columns(&model, &fitter, &curves, &fits, &options, &Sharing::default())?;
//! let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
//! assert_eq!(names[..7], ["half_life", "half_life_error", "a_low", "a_high", "a_interval", "t_low", "t_high"]);
//! assert_eq!(names[8..], ["r_squared", "adjusted_r_squared", "aicc", "bic", "p_value"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bands;
mod columns;
mod compare;
mod derived;
mod distributions;
mod intervals;
mod robust;
mod sharing;
mod side;
mod statistics;

pub use super::copies::data_and_weights;
pub use bands::{BandAt, BandFit, CurveBands, datum_weights};
pub use columns::{AnswerColumn, AnswerValues, ComparedModel, FitAnswers, WORD_WIDTH};
pub use compare::{ModelComparison, PreferredModel, compare_models};
pub use derived::{DerivedError, DerivedQuantity};
pub use distributions::{chi2_survival, f_survival, normal_quantile, student_quantile};
pub use intervals::{IntervalEnd, ProfileInterval, profile_intervals};
pub use statistics::{FitStatistics, fit_statistics};
