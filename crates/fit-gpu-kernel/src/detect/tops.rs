//! The maxima of filtered frames.

use super::job::DetectionJob;

/// Notes the place of a pixel that exceeds its limit, if it is the highest within reach, or equal to that.
#[inline(always)]
pub(super) unsafe fn look(job: &DetectionJob, pixel: u32, count_up: impl Fn(*mut u32) -> u32) {
    let DetectionJob { width, height, reach, .. } = *job;
    let (frame, place) = (pixel / (width * height), pixel % (width * height));
    let (x, y) = (place % width, place / width);
    // SAFETY: the caller's promise: what is read lies in the frame, and tops have room for `most`.
    unsafe {
        let at = |x: u32, y: u32| job.signal.add(job.index(frame, x, y)).read();
        let value = at(x, y);
        // Limits are not negative.
        if value <= 0.0 {
            return;
        }
        let limit = job.level(job.limits, frame, x, y);
        if !(value > job.times * limit && limit > 0.0) {
            return;
        }
        let most = value + job.equal * value;
        let end = |at: u32, length: u32| if at + reach < length { at + reach + 1 } else { length };
        let (right, bottom) = (end(x, width), end(y, height));
        let mut row = y.saturating_sub(reach);
        while row < bottom {
            let mut column = x.saturating_sub(reach);
            while column < right {
                if at(column, row) > most {
                    return;
                }
                column += 1;
            }
            row += 1;
        }
        let number = count_up(job.found.add(frame as usize));
        if number < job.most {
            let significance = value / job.level(job.filtered, frame, x, y);
            let top = job.tops.add(frame as usize * job.most as usize + number as usize);
            top.write([place, significance.to_bits()]);
        }
    }
}
