//! What is odd about the words for the camera.

use super::job::{Job, Listener, Topic};
use crate::words::movie_options::first_frames;
use spotfit::AsWindows;
use spotfit::localize::{
    CameraDoubt, camera_doubts, estimate_sensitivity, median_of_first, two_digits,
};
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
    let wants_doubts = !lacks_sensitivity && listener.wants(Topic::Camera)
        || spot.lacks_read_noise() && listener.wants(Topic::ReadNoise);
    let many = wants_sensitivity || wants_doubts;
    // With maps of the camera there is nothing to look for.
    let wanted = !lacks_baseline && !spot.has_maps() && spot.camera().is_some();
    let wanted = wanted && (many || listener.wants(Topic::Median));
    let seen = wanted.then(|| first_frames(job.movie, options, many)).flatten();
    let median = seen.as_ref().and_then(|block| median_of_first(&block.pixels));
    if let Some(median) = median.filter(|&median| camera.baseline > median) {
        let baseline = camera.baseline;
        let text = format!(
            "spotfit: warning: --baseline {baseline} is above the median of the first frame, {median} ADU; most pixels \
             would have less than no light"
        );
        listener.hear(Topic::Median, text);
    }
    let estimated = seen
        .as_ref()
        .filter(|_| wants_sensitivity)
        .and_then(|block| estimate_sensitivity(block.pixels.windows(), &camera));
    // What a read noise is depends on the sensitivity: on the one that is offered, or assumed.
    let likely = estimated.map_or(camera, |found| camera.with_sensitivity(found));
    let doubts = seen.as_ref().filter(|_| wants_doubts);
    for doubt in doubts.map_or(Vec::new(), |seen| camera_doubts(seen.pixels.windows(), &likely)) {
        match doubt {
            // It was not given.
            CameraDoubt::Sensitivity { .. } if lacks_sensitivity => {}
            CameraDoubt::ReadNoise { found } if spot.lacks_read_noise() => {
                let text = format!("spotfit: warning: {doubt}: --read-noise {}", two_digits(found));
                listener.hear(Topic::ReadNoise, text);
            }
            // It was said to be 0.
            CameraDoubt::ReadNoise { .. } => {}
            doubt => listener.hear(Topic::Camera, format!("spotfit: warning: {doubt}")),
        }
    }
    if wants_sensitivity {
        let offer = match estimated {
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
