//! Means of squares, row by row.

use fit_sim::Random;

use super::lines::Lines;
use super::mean::BoxMean;
use super::sweep::clip;

/// Lines of a frame, all of which are kept.
fn lines(pixels: &[f32], width: usize) -> Lines {
    let mut lines = Lines::default();
    lines.reset(width, pixels.len() / width);
    for (y, line) in pixels.chunks_exact(width).enumerate() {
        lines.line_mut(y).copy_from_slice(line);
    }
    lines
}

fn mean_of(pixels: &[f32], width: usize, radius: usize) -> Vec<f32> {
    let (height, mut means, mut all) = (pixels.len() / width, BoxMean::default(), Vec::new());
    means.start(width, height, radius);
    for y in 0..height {
        means.next(y..y + 1, &lines(pixels, width), |_, mean| all.extend_from_slice(mean));
    }
    all
}

fn background(pixels: &[f32], width: usize, radius: usize, levels: &[f32]) -> Vec<f32> {
    let mut clipped = mean_of(pixels, width, radius);
    for (y, line) in clipped.chunks_exact_mut(width).enumerate() {
        let mean = line.to_vec();
        clip(&mean, &pixels[y * width..], levels, line);
    }
    mean_of(&clipped, width, radius)
}

/// Proves that a pixel, however bright, changes the background nowhere but in its own squares.
#[test]
fn a_bright_pixel_leaves_no_trace() {
    let (width, height) = (64, 128);
    let mut random = Random::new(3, 0);
    let plain: Vec<f32> =
        (0..width * height).map(|_| 100.0 + 5.0 * random.normal() as f32).collect();
    // What follows from a bright pixel's noise is not asked here.
    let noise = vec![5.0; width];
    for box_size in [1, 4, 7, 63, 200] {
        let expected = mean_of(&plain, width, box_size);
        let expected_background = background(&plain, width, box_size, &noise);
        for bright in [1e10, -1e10, 9e14] {
            let mut pixels = plain.clone();
            pixels[10 * width + 30] = bright;
            let mean = mean_of(&pixels, width, box_size);
            let background = background(&pixels, width, box_size, &noise);
            for at in 0..plain.len() {
                let (x, y) = (at % width, at / width);
                let far = x.abs_diff(30).max(y.abs_diff(10));
                assert!(far <= box_size || mean[at] == expected[at], "{x}, {y}");
                // The second pass looks as far again.
                let same = background[at] == expected_background[at];
                assert!(far <= 2 * box_size || same, "{x}, {y}");
            }
        }
    }
}

/// Proves that the box mean is the mean over the square that is there.
#[test]
fn the_box_mean_is_a_mean() {
    let (width, height, radius) = (11, 7, 3);
    let pixels: Vec<f32> = (0..width * height).map(|i| ((i * 31) % 17) as f32).collect();
    let mean = mean_of(&pixels, width, radius);
    for y in 0..height {
        for x in 0..width {
            let mut values = Vec::new();
            for j in y.saturating_sub(radius)..(y + radius + 1).min(height) {
                for i in x.saturating_sub(radius)..(x + radius + 1).min(width) {
                    values.push(pixels[j * width + i]);
                }
            }
            let expected = values.iter().sum::<f32>() / values.len() as f32;
            assert!((mean[y * width + x] - expected).abs() < 1e-4);
        }
    }
}
