//! The Gaussian filter, line by line. All of it is inlined into the instruction set that it is compiled for.

use super::lines::Lines;

/// A Gaussian filter on its way down a frame, which is mirrored at its edges.
#[derive(Debug, Default)]
pub(super) struct Smooth {
    /// A line with its mirrored ends.
    padded: Vec<f32>,
    /// Lines that are filtered along themselves, and how many of the frame are.
    across: Lines,
    done: usize,
    height: usize,
}

impl Smooth {
    /// Begins a frame of so many columns and rows, for a filter whose half is `kernel` from its centre.
    pub(super) fn start(&mut self, width: usize, height: usize, kernel: &[f32]) {
        let radius = kernel.len() - 1;
        self.padded.resize(width + 2 * radius, 0.0);
        self.across.reset(width, (2 * radius + 1).min(height));
        (self.done, self.height) = (0, height);
    }

    /// Filters line `y`, less what may be given; those before it were filtered. `pixels` has what it depends on.
    #[inline(always)]
    pub(super) fn line<'a>(
        &mut self,
        y: usize,
        pixels: impl Fn(usize) -> &'a [f32],
        kernel: &[f32],
        less: Option<&[f32]>,
        to: &mut [f32],
    ) {
        let (radius, width, height) = (kernel.len() - 1, to.len(), self.height);
        let Self { padded, across, done, .. } = self;
        while *done < (y + radius + 1).min(height) {
            let line = pixels(*done);
            padded[radius..][..width].copy_from_slice(line);
            for i in 0..radius {
                padded[i] = line[mirror(i as isize - radius as isize, width)];
                padded[radius + width + i] = line[mirror((width + i) as isize, width)];
            }
            let at = |k: isize| &padded[(radius as isize + k) as usize..][..width];
            weigh(at, kernel, None, across.line_mut(*done));
            *done += 1;
        }
        weigh(|k| across.line(mirror(y as isize + k, height)), kernel, less, to);
    }
}

/// The sum of lines, each times the weight of its distance from the one in the middle. Three pairs of them are added at a time, in
/// the order of their distances.
#[inline(always)]
fn weigh<'a>(
    line: impl Fn(isize) -> &'a [f32],
    kernel: &[f32],
    less: Option<&[f32]>,
    to: &mut [f32],
) {
    let width = to.len();
    let pair = |k: usize| (&line(-(k as isize))[..width], &line(k as isize)[..width]);
    let centre = &line(0)[..width];
    let mut first = 1;
    if let [middle, one, two, three, ..] = *kernel {
        let ((a, b), (c, d), (e, f)) = (pair(1), pair(2), pair(3));
        let lines = centre.iter().zip(a).zip(b).zip(c).zip(d).zip(e).zip(f);
        if let (4, Some(less)) = (kernel.len(), less) {
            for (to, (((((((centre, a), b), c), d), e), f), less)) in
                to.iter_mut().zip(lines.zip(less))
            {
                let sum = middle * centre + one * (a + b);
                *to = sum + two * (c + d) + three * (e + f) - less;
            }
            return;
        }
        for (to, ((((((centre, a), b), c), d), e), f)) in to.iter_mut().zip(lines) {
            let sum = middle * centre + one * (a + b);
            *to = sum + two * (c + d) + three * (e + f);
        }
        first = 4;
    } else {
        to.iter_mut().zip(centre).for_each(|(sum, pixel)| *sum = kernel[0] * pixel);
    }
    while let Some(&[one, two, three]) = kernel.get(first..first + 3) {
        let ((a, b), (c, d), (e, f)) = (pair(first), pair(first + 1), pair(first + 2));
        let lines = a.iter().zip(b).zip(c).zip(d).zip(e).zip(f);
        for (to, (((((a, b), c), d), e), f)) in to.iter_mut().zip(lines) {
            *to = *to + one * (a + b) + two * (c + d) + three * (e + f);
        }
        first += 3;
    }
    for (k, &weight) in kernel.iter().enumerate().skip(first) {
        let (a, b) = pair(k);
        for (to, (a, b)) in to.iter_mut().zip(a.iter().zip(b)) {
            *to += weight * (a + b);
        }
    }
    if let Some(less) = less {
        for (to, less) in to.iter_mut().zip(less) {
            *to -= less;
        }
    }
}

/// An index mirrored at both ends of 0..length.
#[inline(always)]
fn mirror(index: isize, length: usize) -> usize {
    let last = length as isize - 1;
    // Divisions are only for frames smaller than the filter.
    for near in [index, -index, 2 * last - index] {
        if (0..=last).contains(&near) {
            return near as usize;
        }
    }
    if last == 0 {
        return 0;
    }
    let period = 2 * last;
    let index = index.rem_euclid(period);
    index.min(period - index) as usize
}
