//! What was measured of a camera, as a drawing.

use ndarray::Array2;
use spotfit_locs::private::ends;

use super::solve::spread;
use super::{CameraReport, MeasuredCamera};
use crate::report::figure::{Drawing, Tones};
use crate::report::number::five_digits;
use crate::report::svg::{Axis, Chart, PixelChart, Series};

/// The width of a map, and the height of the histogram below it.
const PANEL: [f64; 2] = [340.0, 240.0];
/// A map has so many pixels along a side, at most: more would not be seen.
const MOST: usize = 340;
/// Colours reach so many standard deviations from the median.
const REACH: f64 = 5.0;
/// A histogram reaches so many; what is beyond is counted at its ends, so that a hot pixel does not make one bin of all others.
const RANGE: f64 = 12.0;
const BINS: usize = 80;

impl MeasuredCamera {
    /// Draws maps of offset, noise and gain, and how often each of their values is, with hot pixels by themselves. Dead pixels are left
    /// out of the histograms, and blank in the map of the gain.
    pub fn drawing(&self) -> Drawing {
        let noise = self.pixels.variance.mapv(f64::sqrt);
        let mut maps = vec![("offset (ADU)", self.pixels.offset.clone()), ("noise (ADU)", noise)];
        if let Some(gain) = &self.pixels.gain {
            let mut gain = gain.clone();
            gain.zip_mut_with(&self.dead, |gain, &dead| {
                *gain = if dead { f64::NAN } else { *gain }
            });
            maps.push(("gain (ADU/e-)", gain));
        }
        let mut panels = Vec::new();
        for (title, map) in &maps {
            let middle = self.middle(map);
            let (width, numbers) = reduced(map, middle[0]);
            let reach = REACH * middle[1];
            let inside = |number: &f64| number.clamp(middle[0] - reach, middle[0] + reach);
            let tones = Tones::of(numbers.iter().map(inside));
            let chart = PixelChart::new(title, ["x", "y"], width, numbers, tones);
            panels.push(chart.drawing(PANEL[0]));
        }
        panels.extend(maps.iter().map(|(title, map)| self.histogram(title, map)));
        let CameraReport { size: [width, height], darks, hot, dead, .. } = &self.report;
        let s = if *darks == 1 { "" } else { "s" };
        let title =
            format!("{width} × {height} pixels, {darks} dark frame{s}: {hot} hot, {dead} dead");
        Drawing::tiled(&title, panels, maps.len())
    }

    /// The median of pixels that are not dead, and their standard deviation.
    fn middle(&self, map: &Array2<f64>) -> [f64; 2] {
        let sound = map.iter().zip(&self.dead).filter(|(_, dead)| !**dead);
        spread(sound.map(|(value, _)| value)).unwrap_or([0.0, 0.0])
    }

    fn histogram(&self, title: &str, map: &Array2<f64>) -> Drawing {
        let [median, deviation] = self.middle(map);
        let sound = || {
            let all = map.iter().zip(&self.dead).zip(&self.hot);
            all.filter(|((value, dead), _)| value.is_finite() && !**dead)
                .map(|((value, _), hot)| (*value, *hot))
        };
        let reach = if deviation > 0.0 { RANGE * deviation } else { f64::INFINITY };
        let inside = |value: f64| value.clamp(median - reach, median + reach);
        let [low, high] = ends(sound().map(|(value, _)| inside(value)));
        let step = ((high - low) / BINS as f64).max(f64::MIN_POSITIVE);
        let (mut counts, mut beyond) = ([[0_u32; BINS]; 2], 0);
        for (value, hot) in sound() {
            beyond += usize::from(inside(value) != value);
            let bin = (((inside(value) - low) / step) as usize).min(BINS - 1);
            counts[usize::from(hot)][bin] += 1;
        }
        let points = |number: usize, name: &str| {
            let place = |bin: usize| low + (bin as f64 + 0.5) * step;
            let some = counts[number].iter().enumerate().filter(|(_, count)| **count > 0);
            let points = some.map(|(bin, count)| (place(bin), f64::from(*count))).collect();
            Series::points(name, points).styled(number)
        };
        let mut series = vec![points(0, "others")];
        if counts[1].iter().any(|count| *count > 0) {
            series.push(points(1, "hot"));
        }
        let mut said = format!("median {}, spread {}", five_digits(median), five_digits(deviation));
        if beyond > 0 {
            said.push_str(&format!("; {beyond} beyond the ends are at them"));
        }
        Chart::new(title, Axis::new(title), Axis::log("pixels"), series)
            .saying(vec![said])
            .sized(PANEL)
            .drawing()
    }
}

/// A map with fewer pixels, each of which is the one of its block that is farthest from the middle: so hot ones stay in sight.
fn reduced(map: &Array2<f64>, middle: f64) -> (usize, Vec<f64>) {
    let (height, width) = map.dim();
    let side = width.max(height).div_ceil(MOST).max(1);
    let (rows, columns) = (height.div_ceil(side), width.div_ceil(side));
    let farthest = |place: usize| {
        // Blocks at the edges may be smaller.
        let (y, x) = (place / columns * side, place % columns * side);
        let (below, right) = ((y + side).min(height), (x + side).min(width));
        let block = (y..below).flat_map(|y| (x..right).map(move |x| map[[y, x]]));
        let farther = |found: f64, value: f64| match (value - middle).abs() > (found - middle).abs()
        {
            true => value,
            false if found.is_nan() => value,
            false => found,
        };
        block.fold(f64::NAN, farther)
    };
    (columns, (0..rows * columns).map(farthest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that pixels at the edges are in a map with fewer pixels, whatever its size is divided by.
    #[test]
    fn edges_are_in_small_maps() {
        let (height, width) = (2 * MOST + 1, MOST + 7);
        let mut map = Array2::from_elem((height, width), 1.0);
        (map[[height - 1, 0]], map[[0, width - 1]]) = (50.0, -70.0);
        let (columns, numbers) = reduced(&map, 1.0);
        assert_eq!((columns, numbers.len()), (width.div_ceil(3), height.div_ceil(3) * columns));
        assert_eq!(numbers[columns - 1], -70.0);
        assert_eq!(numbers[numbers.len() - columns], 50.0);
        assert_eq!(numbers.iter().filter(|&&number| number == 1.0).count(), numbers.len() - 2);
    }
}
