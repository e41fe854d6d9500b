//! The words of `spotfit simulate movie` and `spotfit simulate beads` for spots behind an objective.

use clap::Args;
use fit_sim::{Dipole, Objective, Zernike};

use crate::error::CliError;

#[derive(Debug, Args)]
pub(crate) struct ObjectiveArguments {
    /// The numerical aperture of an objective that spots are behind: they have its light, of vectorial optics, in place of a Gaussian's.
    /// Its pixels have the sides of --pixel-size; molecules of a movie are in focus without --z-range.
    #[arg(long, value_name = "NA", help_heading = "Objective", conflicts_with_all = ["sigma", "profile", "focus", "depth"])]
    psf_na: Option<f64>,
    // The numbers come from where they are set.
    #[arg(long, value_name = "NM", help_heading = "Objective", requires = "psf_na", help = format!(
        "The wavelength of the light in vacuum, in nanometres [default: {}]",
        Objective::default().wavelength
    ))]
    wavelength: Option<f64>,
    #[arg(long, value_name = "N", help_heading = "Objective", requires = "psf_na", help = format!(
        "The refractive index of the immersion [default: {}]",
        Objective::default().index
    ))]
    index: Option<f64>,
    /// The refractive index of the sample [default: that of the immersion].
    #[arg(long, value_name = "N", help_heading = "Objective", requires = "psf_na")]
    sample_index: Option<f64>,
    /// How far behind the coverslip molecules in focus are, in nanometres: where the indices differ, at least as far as molecules are from
    /// the focus [default: 0].
    #[arg(long, value_name = "NM", help_heading = "Objective", requires = "psf_na")]
    sample_depth: Option<f64>,
    /// Aberrations: Zernike's terms n,m with the root of their mean square over the pupil in wavelengths. 2,0 moves the focus, 4,0 is
    /// spherical, 2,2 and 2,-2 astigmatism, 3,1 and 3,-1 coma.
    #[arg(
        long,
        value_name = "N,M=WAVES,…",
        help_heading = "Objective",
        requires = "psf_na",
        allow_hyphen_values = true
    )]
    zernike: Vec<String>,
    /// The same in the corners of the frame, besides: they grow from its middle on with the distance to the power |m|, or its square where m is 0, and
    /// turn with the direction from the middle, as those of a lens do.
    #[arg(
        long,
        value_name = "N,M=WAVES,…",
        help_heading = "Objective",
        requires = "psf_na",
        allow_hyphen_values = true
    )]
    zernike_corner: Vec<String>,
    /// Molecules stand still, with these angles from the optical axis and in the image, in degrees; without, they turn freely.
    #[arg(
        long,
        value_name = "POLAR,AZIMUTH",
        help_heading = "Objective",
        requires = "psf_na",
        allow_hyphen_values = true
    )]
    dipole: Option<String>,
}

impl ObjectiveArguments {
    /// The objective, if there is one.
    pub(crate) fn objective(&self) -> Result<Option<Objective>, CliError> {
        let Some(na) = self.psf_na else { return Ok(None) };
        let default = Objective::default();
        let index = self.index.unwrap_or(default.index);
        let zernike = all_terms("zernike", &self.zernike)?;
        let corner = all_terms("zernike-corner", &self.zernike_corner)?;
        let dipole = match &self.dipole {
            Some(words) => fixed(words)?,
            None => Dipole::Free,
        };
        Ok(Some(
            default
                .with_na(na)
                .with_wavelength(self.wavelength.unwrap_or(Objective::default().wavelength))
                .with_index(index)
                .with_sample_index(self.sample_index.unwrap_or(index))
                .with_sample_depth(self.sample_depth.unwrap_or(0.0))
                .with_zernike(zernike)
                .with_zernike_corner(corner)
                .with_dipole(dipole),
        ))
    }
}

fn all_terms(name: &'static str, all: &[String]) -> Result<Vec<Zernike>, CliError> {
    let each: Result<Vec<_>, _> = all.iter().map(|words| terms(name, words)).collect();
    Ok(each?.concat())
}

/// Zernike's terms in words: `4,0=0.04,2,-2=0.05`.
fn terms(name: &'static str, words: &str) -> Result<Vec<Zernike>, CliError> {
    let wrong =
        || CliError::option(name, words, "N,M=WAVES, and more of them after commas: 4,0=0.04");
    let parts: Vec<&str> = words.split(',').map(str::trim).collect();
    let term = |pair: &[&str]| {
        let [n, rest] = pair else { return None };
        let (m, waves) = rest.split_once('=')?;
        Some(Zernike::new(n.parse().ok()?, m.trim().parse().ok()?, waves.trim().parse().ok()?))
    };
    parts.chunks(2).map(|pair| term(pair).ok_or_else(wrong)).collect()
}

/// A dipole that stands still, from its angles in degrees.
fn fixed(words: &str) -> Result<Dipole, CliError> {
    let numbers: Result<Vec<f64>, _> = words.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[polar, azimuth]) => Ok(Dipole::Fixed { polar, azimuth }),
        _ => Err(CliError::option("dipole", words, "POLAR,AZIMUTH: two numbers, in degrees")),
    }
}
