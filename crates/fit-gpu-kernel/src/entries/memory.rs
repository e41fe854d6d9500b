//! What a job has in the memory of the device: windows, starts and outcomes.

use fit_core::{Circle, Corner, Errors, Fit, Outline, Pixel};

use crate::{DeviceF32, Job};

/// The first pixel of a window, and the pixels from one row to the next.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks, and `window` is below its count.
#[inline(always)]
pub(super) unsafe fn window<X>(job: &Job, window: usize) -> (*const X, usize) {
    let size = job.task.size();
    let pixels = job.pixels.cast::<X>();
    // SAFETY: docs/gpu-safety.md: there are `count` windows or corners, and the corners' windows lie within
    // the frames.
    unsafe {
        if job.corners.is_null() {
            (pixels.add(window * (size.width * size.height)), size.width)
        } else {
            let Corner { frame, x, y } = job.corners.add(window).read();
            let (width, height) = (job.frame_width as usize, job.frame_height as usize);
            let first = (frame as usize * height + y as usize) * width + x as usize;
            (pixels.add(first), width)
        }
    }
}

/// Where a fit starts, if that is given.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
pub(super) unsafe fn start(job: &Job, window: usize) -> Option<Circle<DeviceF32>> {
    if job.starts.is_null() {
        return None;
    }
    // SAFETY: docs/gpu-safety.md: there is a start for each window.
    let [x, y, sigma] = unsafe { job.starts.add(window).read() };
    Some(Circle::new(DeviceF32(x), DeviceF32(y), DeviceF32(sigma)))
}

/// Where a fit starts, with two widths, if that is given.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
pub(super) unsafe fn outline(job: &Job, number: usize) -> Option<Outline<DeviceF32>> {
    if job.outlines.is_null() {
        return None;
    }
    // SAFETY: docs/gpu-safety.md: there is an outline for each window.
    let [x, y, sigma_x, sigma_y, angle] = unsafe { job.outlines.add(number).read() }.map(DeviceF32);
    Some(Outline { x, y, sigma_x, sigma_y, angle })
}

/// [`start`] for a circle, the shape of three parameters, and [`outline`] for other shapes.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
pub(super) unsafe fn any_start<const P: usize>(
    job: &Job,
    number: usize,
) -> Option<Outline<DeviceF32>> {
    // SAFETY: the caller's promise.
    unsafe { if P == 3 { start(job, number).map(Outline::from) } else { outline(job, number) } }
}

/// Writes an outcome, and zeros where it has no bytes of its own: what travels has been written.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
pub(super) unsafe fn write(job: &Job, number: usize, fit: Fit<f32>) {
    const WORDS: usize = size_of::<Fit<f32>>() / 4;
    let Fit { x, y, sigma, sigma_x, sigma_y, angle, amplitude, background, .. } = fit;
    let Fit { offset_x, offset_y, chi2, iterations, evaluations, status, .. } = fit;
    let words: [u32; WORDS] = [
        x.to_bits(),
        y.to_bits(),
        sigma.to_bits(),
        sigma_x.to_bits(),
        sigma_y.to_bits(),
        angle.to_bits(),
        amplitude.to_bits(),
        background.to_bits(),
        offset_x.to_bits(),
        offset_y.to_bits(),
        chi2.to_bits(),
        iterations,
        evaluations,
        u32::from(status as u8),
    ];
    // SAFETY: there is room for `count` outcomes, of fourteen words in this order: the status is the lowest
    // byte of the last, on a device and a host whose lowest byte comes first.
    // Volatile, so that a host that watches its memory sees them soon.
    unsafe {
        let to = job.fits.add(number).cast::<u32>();
        for i in 0..WORDS {
            to.add(i).write_volatile(words[i]);
        }
    }
}

/// Writes the errors of a fit, whole words of them.
///
/// # Safety
/// As for [`window`]; there is room for the errors of `count` fits.
#[inline(always)]
pub(super) unsafe fn write_errors(job: &Job, number: usize, errors: &Errors) {
    const WORDS: usize = size_of::<Errors>() / 4;
    let numbers = errors.numbers();
    // SAFETY: the caller's promise; the last word is the flag, whose byte is the lowest on a device and a host whose
    // lowest byte comes first.
    unsafe {
        let to = job.errors.add(number).cast::<u32>();
        for i in 0..WORDS - 1 {
            to.add(i).write(numbers[i].to_bits());
        }
        to.add(WORDS - 1).write(u32::from(errors.exploding));
    }
}

/// A pixel of a window.
///
/// # Safety
/// As for [`window`]; the column and the row are in the window.
#[inline(always)]
pub(super) unsafe fn read<X: Pixel>(job: &Job, number: usize, column: usize, row: usize) -> f32 {
    // SAFETY: the caller's promise.
    unsafe {
        let (first, stride) = window::<X>(job, number);
        first.add(row * stride + column).read().to_f32()
    }
}
