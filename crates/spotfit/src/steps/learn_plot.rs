//! A PSF that was learnt, as a drawing.

use std::f64::consts::{LN_2, TAU};

use super::learn::{LearnReport, Learned};
use crate::report::figure::{Drawing, TextLook, Tint, Tones};
use crate::report::svg::{Axis, Chart, PixelChart, Series};

/// The width of the picture of a member, and the height of the profiles below.
const PICTURE: f64 = 230.0;
const PROFILES: f64 = 260.0;
/// What stands above.
const HEAD: f64 = 62.0;
/// A profile has a point each so many pixels, the mean of so many directions.
const STEP: f64 = 0.125;
const DIRECTIONS: usize = 48;

impl Learned {
    /// Its members side by side, with how many of the spots that were held out resemble each; below them what each leaves of these spots, in per
    /// cent of their light; and their profiles beside a Gaussian that is as high as the
    /// one in the middle, and as wide half-way down.
    pub fn drawing(&self) -> Drawing {
        let Self { psf, report, .. } = self;
        let members = self.members();
        let side = members.first().map_or(1, |member| member.left.dim().0);
        let middle = 0.5 * (side - 1) as f64;
        let per_cent = |share: &f64| 100.0 * share;
        let window = |z: f64| psf.window([middle, middle, z], [side; 2]);
        let light: Vec<Vec<f64>> =
            members.iter().map(|member| window(member.z).iter().map(per_cent).collect()).collect();
        let left: Vec<Vec<f64>> =
            members.iter().map(|member| member.left.iter().map(per_cent).collect()).collect();
        let tones = Tones::of(light.iter().flatten().copied());
        let around = Tones::around_zero(left.iter().flatten().copied());
        let pictures = |titles: &dyn Fn(usize) -> String, all: Vec<Vec<f64>>, tones: Tones| {
            let all = all.into_iter().enumerate();
            let one = |(number, numbers)| {
                let names = ["x (px)", "y (px)"];
                PixelChart::new(&titles(number), names, side, numbers, tones).drawing(PICTURE)
            };
            all.map(one).collect::<Vec<Drawing>>()
        };
        let name = |number: usize| match members.len() {
            1 => "the PSF".to_owned(),
            _ => format!("member {}", number + 1),
        };
        let titles =
            |number: usize| format!("{}: {} spots, %", name(number), members[number].spots);
        let mut panels = pictures(&titles, light, tones);
        panels.extend(pictures(&|_| "what is left of them, %".to_owned(), left, around));
        let tiles = Drawing::tiled("", panels, members.len().max(2));
        let mut series: Vec<Series> = members
            .iter()
            .enumerate()
            .map(|(number, member)| Series::line(&name(number), self.profile(member.z, middle)))
            .collect();
        // As high as the one in the middle, and as wide half-way down.
        if let Some(middle) = series.get(members.len() / 2) {
            let points: Vec<(f64, f64)> = middle.x().zip(middle.y()).collect();
            let peak = points[0].1;
            let half =
                points.iter().find(|point| point.1 < 0.5 * peak).map_or(1.0, |point| point.0);
            let lowest = middle.y().fold(f64::INFINITY, f64::min);
            let gaussian = |r: f64| peak * (-(r / half).powi(2) * LN_2).exp();
            let points = points.iter().map(|point| (point.0, gaussian(point.0)));
            let points = points.filter(|point| point.1 >= lowest).collect();
            series.push(Series::reference("Gaussian", points));
        }
        let x = Axis::new("distance from the centre (px)");
        let title = "profiles: means of all directions";
        let profiles = Chart::new(title, x, Axis::log("light in a pixel (%)"), series)
            .sized([tiles.width(), PROFILES])
            .drawing();
        let LearnReport { frames, used, held_out, light, deviance, gaussian, .. } = report;
        let ([columns, rows], light) = (report.size, 100.0 * light);
        let title = format!("PSF from {used} spots of {frames} frames");
        let lines = [
            format!("{columns}×{rows} pixels with {light:.0} % of the light; no heights"),
            format!(
                "deviance of a pixel in {held_out} held-out spots: {deviance:.3}, with Gaussians {gaussian:.3}"
            ),
        ];
        let (width, height) = (tiles.width(), tiles.height());
        let mut all = Drawing::new(&title, width, HEAD + height + profiles.height());
        all.text([8.0, 20.0], &title, TextLook::new(13.0).bold());
        let soft = TextLook::new(12.0).tinted(Tint::SOFT);
        for (line, top) in lines.iter().zip([38.0, 54.0]) {
            all.short_text([8.0, top], line, soft, width - 16.0);
        }
        all.place(tiles, [0.0, HEAD]);
        all.place(profiles, [0.0, HEAD + height]);
        all
    }

    /// The light in a pixel by its distance from the centre, in per cent.
    fn profile(&self, z: f64, farthest: f64) -> Vec<(f64, f64)> {
        let mean = |r: f64| {
            let at = |direction: usize| {
                let (sine, cosine) = (TAU * direction as f64 / DIRECTIONS as f64).sin_cos();
                self.psf.at([r * cosine, r * sine, z]).map_or(f64::NAN, |[share, ..]| share)
            };
            100.0 * (0..DIRECTIONS).map(at).sum::<f64>() / DIRECTIONS as f64
        };
        radii(farthest).map(|r| (r, mean(r))).collect()
    }
}

fn radii(farthest: f64) -> impl Iterator<Item = f64> {
    (0..=(farthest / STEP) as usize).map(|step| step as f64 * STEP)
}
