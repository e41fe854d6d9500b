//! Fits with a measured PSF in place of a Gaussian.

use std::sync::{Arc, OnceLock};

use fit_core::{Camera, Corner};
use fit_windows::AnyWindows;
use ndarray::{Array3, Axis};
use rayon::ThreadPool;
use spotfit_files::private::sort_by_key;

use super::counts::photons;
use super::found::{Found, Seen};
use super::options::LocalizeOptions;
use super::residuals::{self, most};
use super::spot::{Localization, SpotErrors, deviation};
use crate::astigmatism::find::{Depth, DepthStatus};
use crate::backend::{Backend, FitterOptions};
use crate::psf::{Psf, PsfError, PsfFitOptions, PsfFits, PsfFitter, PsfNoise, PsfQuality};

/// Windows that are fitted at a time.
const PART: usize = 1 << 13;
/// Fits windows with a PSF.
#[derive(Debug)]
pub(super) struct Measured {
    fitter: PsfFitter,
    /// That of each cell of the frame, where the PSF varies across it, once it is wanted; and what they are made with.
    cells: Vec<OnceLock<PsfFitter>>,
    with: FitterOptions,
    pool: Arc<ThreadPool>,
    options: PsfFitOptions,
}

impl Measured {
    pub(super) fn new(
        psf: &Psf,
        options: &LocalizeOptions,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, PsfError> {
        let fitter = &options.fitter;
        let backend = match fitter.backend {
            Backend::Auto => Backend::Cpu,
            backend => backend,
        };
        let with = fitter.clone().with_backend(backend);
        let made = PsfFitter::in_pool(psf, &with, Some(pool))?;
        let cells = if psf.field().is_some() { psf.cells() } else { 0 };
        let side = options.box_size;
        // Says whether the PSF covers windows of this size.
        made.start(Array3::zeros((0, side, side)).view())?;
        let options = PsfFitOptions::default()
            .with_estimator(fitter.fit.estimator)
            .with_max_iterations(fitter.fit.criteria.max_iterations)
            .with_background(fitter.fit.background);
        let cells = std::iter::repeat_with(OnceLock::new).take(cells).collect();
        Ok(Self { fitter: made, cells, with, pool: Arc::clone(pool), options })
    }

    pub(super) fn fitter(&self) -> &PsfFitter {
        &self.fitter
    }

    /// The cells that windows of this side are in, in the order of their corners in the frame; empty where the PSF does not vary.
    pub(super) fn cells(&self, corners: &[Corner], side: usize) -> Vec<usize> {
        if self.cells.is_empty() {
            return Vec::new();
        }
        let middle = |first: u32| f64::from(first) + 0.5 * (side - 1) as f64;
        let cell = |corner: &Corner| self.fitter.psf().cell_at([corner.x, corner.y].map(middle));
        corners.iter().map(cell).collect()
    }

    /// The fitter of a cell.
    fn fitter_in(&self, cell: usize) -> Result<&PsfFitter, PsfError> {
        let Some(own) = self.cells.get(cell) else { return Ok(&self.fitter) };
        if let Some(known) = own.get() {
            return Ok(known);
        }
        let psf = self.fitter.psf().in_cell(cell);
        let made = PsfFitter::in_pool(&psf, &self.with, Some(&self.pool))?;
        Ok(own.get_or_init(|| made))
    }

    /// Fits windows of counts, which are in these cells.
    pub(super) fn fit(
        &self,
        windows: AnyWindows<'_>,
        cells: &[usize],
        options: &LocalizeOptions,
    ) -> Result<Vec<Found>, PsfError> {
        let saturation = options.saturation.or(most(&windows)).unwrap_or(f64::INFINITY);
        let camera = &options.camera;
        let em_gain = camera.em_gain.unwrap_or(1.0);
        let excess = if camera.em_gain.is_some() { 2.0 } else { 1.0 };
        let (count, seen) = (windows.size().pixels(), residuals::seen(windows));
        let cell_of = |window: usize| cells.get(window).copied().unwrap_or(usize::MAX);
        let mut order: Vec<usize> = (0..windows.count()).collect();
        order.sort_by_key(|&window| cell_of(window));
        let mut all: Vec<(usize, Found)> = Vec::with_capacity(windows.count());
        // A part at a time: what is computed on the way takes several times the memory of the pixels.
        let parts = order.chunk_by(|&a, &b| cell_of(a) == cell_of(b));
        for part in parts.flat_map(|own| own.chunks(PART)) {
            let fitter =
                self.fitter_in(part.first().map_or(usize::MAX, |&first| cell_of(first)))?;
            let Converted { pixels, variances, saturated } =
                convert(windows, camera, saturation, part);
            let noise = PsfNoise::default()
                .with_excess(excess)
                .with_read((camera.read_noise / em_gain).powi(2))
                .with_pixels(variances.as_ref().map(|variances| variances.view()));
            let fits = fitter.fit_noisy(pixels.view(), &noise, &self.options)?;
            let quality = fitter.quality(pixels.view(), &noise, &fits)?;
            let of = |(fit, (quality, saturated))| {
                let count = seen.as_ref().map_or(count, |seen| seen[part[fit]]);
                let found = self.found(&fits, fit, quality, saturated, count, options.errors);
                (part[fit], found)
            };
            all.extend(quality.into_iter().zip(saturated).enumerate().map(of));
        }
        sort_by_key(&mut all, |&(window, _)| window);
        Ok(all.into_iter().map(|(_, found)| found).collect())
    }

    fn found(
        &self,
        fits: &PsfFits,
        fit: usize,
        quality: PsfQuality,
        saturated: bool,
        pixels: usize,
        with_errors: bool,
    ) -> Found {
        let [x, y, z, intensity, offset] = std::array::from_fn(|j| fits.parameters[[fit, j]]);
        let errors: [f64; 5] = std::array::from_fn(|j| fits.errors[[fit, j]]);
        let slope = |axis: usize| fits.parameters.get([fit, 5 + axis]).copied().unwrap_or(0.0);
        let status = fits.statuses[fit];
        let end = matches!(fits.depths[fit], DepthStatus::Below | DepthStatus::Above);
        let sound = end || fits.depths[fit] == DepthStatus::Found;
        let depth =
            Depth { z, error: errors[2], distance: quality.excess, status: fits.depths[fit] };
        let PsfQuality { squares, goodness, excess, sigma } = quality;
        let spot = Localization {
            x,
            y,
            sigma,
            sigma_x: sigma,
            sigma_y: sigma,
            angle: 0.0,
            intensity,
            offset,
            offset_x: slope(0),
            offset_y: slope(1),
            background_std: deviation(squares, pixels, fits.parameters.ncols()),
            chi2: squares,
            depth: Some(depth),
            errors: with_errors.then_some(SpotErrors {
                photons: errors[3],
                background: errors[4],
                ..SpotErrors::UNKNOWN
            }),
            status,
            ..Localization::UNKNOWN
        };
        let spot = spot.with_uncertainties([errors[0], errors[1]]);
        let seen = Seen {
            goodness,
            residual: excess,
            saturated,
            of_noise: 0.0,
            sigma_error: 0.0,
            crowd: false,
        };
        let dark = intensity <= 0.0;
        Found { spot, converged: sound, bright: !dark, at_end: end, seen: Some(seen) }
    }
}

/// Windows in photons.
struct Converted {
    pixels: Array3<f32>,
    /// Of the read noise of each pixel, where they differ.
    variances: Option<Array3<f32>>,
    saturated: Vec<bool>,
}

/// Converts some windows of counts, in which so many saturate a pixel.
fn convert(windows: AnyWindows<'_>, camera: &Camera, limit: f64, part: &[usize]) -> Converted {
    let shape = (part.len(), windows.size().height, windows.size().width);
    let mut pixels = Array3::<f32>::zeros(shape);
    let mut variances = windows.side_data().is_mapped().then(|| Array3::<f32>::zeros(shape));
    let mut room = [(); 2].map(|()| vec![0.0; windows.size().pixels()]);
    let take = |(place, &index): (usize, &usize)| {
        let [own, read] = room.each_mut().map(Vec::as_mut_slice);
        let saturated = photons(&windows, index, camera, limit, [own, read]);
        for (all, own) in [(Some(&mut pixels), own), (variances.as_mut(), read)] {
            let Some(all) = all else { continue };
            let to = all.index_axis_mut(Axis(0), place);
            to.into_iter().zip(own).for_each(|(to, value)| *to = *value as f32);
        }
        saturated
    };
    let saturated = part.iter().enumerate().map(take).collect();
    Converted { pixels, variances, saturated }
}
