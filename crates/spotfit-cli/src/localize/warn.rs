//! What is odd about the words for the camera.

use super::job::{Job, Listener, Topic};
use crate::movie_options::{first_frames, median};
use spotfit::localize::estimate_sensitivity;
use spotfit::movie::MovieOptions;

/// Says what is not known of the camera, or hardly right, and what it costs.
pub(super) fn warn(job: &Job<'_>, options: &MovieOptions, listener: &impl Listener) {
    let spot = &job.words.spot;
    let (lacks_baseline, lacks_sensitivity) = (spot.lacks_baseline(), spot.lacks_sensitivity());
    if lacks_baseline {
        let text = "spotfit: warning: no --baseline given; photons and uncertainties assume 0 ADU";
        listener.hear(Topic::Baseline, text.to_owned());
    }
    let camera = spot.camera().unwrap_or_default();
    let wants_sensitivity = lacks_sensitivity && listener.wants(Topic::Sensitivity);
    // With maps of the camera there is nothing to look for.
    let most = if wants_sensitivity { SEEN_FOR_SENSITIVITY } else { 1 };
    let wanted = !lacks_baseline
        && spot.camera().is_some()
        && (wants_sensitivity || listener.wants(Topic::Median));
    let seen = wanted.then(|| first_frames(job.movie, options, most)).flatten();
    let median = seen.as_ref().and_then(median);
    if let Some(median) = median.filter(|&median| camera.baseline > median) {
        let baseline = camera.baseline;
        let text = format!(
            "spotfit: warning: --baseline {baseline} is above the median of the first frame, {median} ADU; most pixels \
             would have less than no light"
        );
        listener.hear(Topic::Median, text);
    }
    if wants_sensitivity {
        let found = seen.and_then(|block| estimate_sensitivity(block.pixels.windows(), &camera));
        let offer = match found {
            _ if lacks_baseline => "; with --baseline it can be estimated".to_owned(),
            Some(found) => {
                let found = two_digits(found);
                format!("; about {found} e/ADU by variance over mean: --sensitivity {found}")
            }
            None => String::new(),
        };
        let assumed = "photons and uncertainties assume 1 photo-electron per ADU";
        let text = format!("spotfit: warning: no --sensitivity given; {assumed}{offer}");
        listener.hear(Topic::Sensitivity, text);
    }
}

/// Frames that are read to estimate the sensitivity.
const SEEN_FOR_SENSITIVITY: usize = 64;

/// A positive number with two digits that count.
fn two_digits(number: f64) -> String {
    let decimals = (1.0 - number.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{number:.decimals$}")
}
