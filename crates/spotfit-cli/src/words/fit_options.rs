//! The words for how windows are fitted, and where.

use clap::Args;

use crate::error::CliError;
use crate::say::message::say;
use spotfit::arguments::one_of;
use spotfit::speeds::Speeds;
use spotfit::steps::fit::SetLimits;
use spotfit::steps::in_pixels;
use spotfit::{Backend, Background, Criteria, FitterOptions, Length, Limits, MaxError, Options};

/// How windows are fitted, for every command that fits.
#[derive(Debug, Args)]
pub(crate) struct FitOptions {
    #[command(flatten)]
    pub(crate) fitter: FitterOptions,
    // The numbers come from where they are set.
    #[arg(help_heading = "Fit", long, value_parser = one_of(Criteria::NAMED), default_value = "default", value_name = "CRITERIA", help = format!(
        "When to stop: default ({}), paper ({}, and χ² < N/3) or tight ({})",
        in_words(&Criteria::DEFAULT), in_words(&Criteria::PAPER), in_words(&Criteria::TIGHT)
    ))]
    criteria: Criteria,
    /// At most N iterations (overrides the criteria).
    #[arg(help_heading = "Fit", long, value_name = "N")]
    max_iterations: Option<u32>,
    /// Stop when a step reduces χ² by less than this share; 0: never.
    #[arg(help_heading = "Fit", long, value_name = "X")]
    min_delta: Option<f64>,
    /// Stop when a step changes neither centre nor width by more than this share of the width; 0: never.
    #[arg(help_heading = "Fit", long, value_name = "X")]
    min_step: Option<f64>,
    /// Stop when χ² (in counts², summed over the window) is less than this.
    #[arg(help_heading = "Fit", long, value_name = "X")]
    max_error: Option<f64>,
    /// The background: free, nonnegative (if only the camera's offset was subtracted), or plane (two slopes more, for
    /// uneven light). The default is nonnegative for maximum likelihood, and free for least squares, with a measured
    /// PSF, and where several emitters are fitted together.
    #[arg(help_heading = "Fit", long, value_parser = one_of(Background::NAMED), value_name = "BACKGROUND")]
    pub(crate) background: Option<Background>,
    /// How far outside the outermost pixel centres the centre may lie, in pixels.
    #[arg(help_heading = "Fit", long, value_name = "PX")]
    centre_margin: Option<f64>,
    /// The smallest sigma, in pixels or with a unit, as in 90nm.
    #[arg(help_heading = "Fit", long, value_name = "LENGTH")]
    pub(crate) sigma_min: Option<Length>,
    /// The largest sigma, in pixels or with a unit; the longer side of the window if not given.
    #[arg(help_heading = "Fit", long, value_name = "LENGTH")]
    pub(crate) sigma_max: Option<Length>,
}

fn in_words(criteria: &Criteria) -> String {
    let Criteria { max_iterations, min_delta, min_step, .. } = criteria;
    format!("{max_iterations} iterations, min-delta {min_delta:e}, min-step {min_step:e}")
}

impl FitOptions {
    /// Where fits run, with other options of the fit.
    pub(crate) fn fitter(&self, fit: Options) -> FitterOptions {
        let auto = self.fitter.backend == Backend::Auto && self.fitter.instruction_set.is_none();
        if let Some(doubt) = Speeds::doubt().filter(|_| auto) {
            say!("spotfit: warning: {doubt}; the default speeds count");
        }
        self.fitter.clone().with_fit(fit)
    }

    /// The limits that the user has set, where pixels are this large, if that is known.
    pub(crate) fn set_limits(&self, pixel_size: Option<f64>) -> Result<SetLimits, CliError> {
        let pixels = |option: &'static str, length: Option<Length>| {
            length.map(|length| in_pixels(option, length, pixel_size)).transpose()
        };
        Ok(SetLimits::default()
            .with_centre_margin(self.centre_margin)
            .with_sigma_min(pixels("sigma_min", self.sigma_min)?)
            .with_sigma_max(pixels("sigma_max", self.sigma_max)?))
    }

    /// How windows are fitted whose pixels are this large in nanometres, if that is known.
    pub(crate) fn options(&self, pixel_size: Option<f64>) -> Result<Options, CliError> {
        Ok(self.limited(self.set_limits(pixel_size)?))
    }

    /// The same without the limits of sigma.
    pub(crate) fn without_sigma(&self) -> Options {
        self.limited(SetLimits::default().with_centre_margin(self.centre_margin))
    }

    fn limited(&self, set: SetLimits) -> Options {
        let preset = self.criteria;
        let max_iterations = self.max_iterations.unwrap_or(preset.max_iterations);
        // A retry belongs to its iteration: leave room for as many as the preset does.
        let max_evaluations = preset.max_evaluations.max(max_iterations.saturating_mul(5));
        let criteria = preset
            .with_max_iterations(max_iterations)
            .with_max_evaluations(max_evaluations)
            .with_max_error(self.max_error.map_or(preset.max_error, MaxError::Total))
            .with_min_delta(self.min_delta.unwrap_or(preset.min_delta))
            .with_min_step(self.min_step.unwrap_or(preset.min_step));
        let defaults = Limits::default();
        let limits = defaults
            .with_centre_margin(set.centre_margin.unwrap_or(defaults.centre_margin))
            .with_sigma_min(set.sigma_min.unwrap_or(defaults.sigma_min))
            .with_sigma_max(set.sigma_max.or(defaults.sigma_max));
        let background = self.background.unwrap_or_default();
        let options = Options::default().with_criteria(criteria).with_background(background);
        options.with_limits(limits)
    }

    /// Refuses words that are for fits of Gaussians alone.
    pub(crate) fn refuse_gaussians(&self, who: &str) -> Result<(), CliError> {
        let given = [
            ("--criteria", self.criteria != Criteria::DEFAULT),
            ("--min-delta", self.min_delta.is_some()),
            ("--min-step", self.min_step.is_some()),
            ("--max-error", self.max_error.is_some()),
            ("--centre-margin", self.centre_margin.is_some()),
            ("--sigma-min", self.sigma_min.is_some()),
            ("--sigma-max", self.sigma_max.is_some()),
            ("--device", self.fitter.devices.len() > 1),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some(("--device", _)) => {
                Err(CliError::file("--device", format!("{who} is fitted on one GPU")))
            }
            Some((name, _)) => {
                Err(CliError::file(name, format!("it is for Gaussians; {who} has none")))
            }
            None => Ok(()),
        }
    }

    /// Refuses all words about fits but the number of threads.
    pub(crate) fn refuse_all(&self, who: &str) -> Result<(), CliError> {
        self.refuse_gaussians(who)?;
        let given = [
            ("--backend", self.fitter.backend != Backend::Auto),
            ("--instruction-set", self.fitter.instruction_set.is_some()),
            ("--max-iterations", self.max_iterations.is_some()),
            ("--background", self.background.is_some()),
            ("--device", self.fitter.devices != [0]),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(CliError::file(name, format!("{who} does not depend on it"))),
            None => Ok(()),
        }
    }
}
