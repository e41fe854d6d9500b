//! Fits decays with a formula, and peaks with a model that has a name: `cargo run -r -p spotfit --example fit_curves`.

use spotfit::model::{CurveStart, Curves, Model, Points};
use spotfit::ndarray::Array2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A thousand decays over 40 points, with a little of everything but noise.
    let decay = |fit: usize, x: f64| (5.0 + fit as f64 / 100.0) * (-x / 6.0).exp() + 1.0;
    let data = Array2::from_shape_fn((1000, 40), |(fit, x)| decay(fit, x as f64));
    let model = Model::formula("a*exp(-x/t) + c", &["x"], &["a", "t", "c"])?;
    let options = model.options().with_lower(model.parameter("t")?, 0.0);
    let curves = Curves::new(data.view(), Points::Index);
    let fits = model.fit(&curves, (&[1.0, 1.0, 0.0]).into(), &options)?;
    for fit in [0, 999] {
        for name in model.parameters() {
            let (Some(value), Some(error)) = (fits.of(name), fits.error_of(name)) else { continue };
            print!("{name} = {:.4} ± {:.1e}  ", value[fit], error[fit]);
        }
        println!("{} after {} steps", fits.fits.statuses[fit], fits.fits.iterations[fit]);
    }

    // Images, and a model that finds its own start.
    let spot =
        |x: f64, y: f64| 90.0 * (-((x - 4.2).powi(2) + (y - 3.7).powi(2)) / 3.4).exp() + 10.0;
    let images = Array2::from_shape_fn((10, 81), |(_, i)| spot((i % 9) as f64, (i / 9) as f64));
    let model = Model::named("gauss_2d")?;
    let curves = Curves::new(images.view(), Points::Grid { width: 9, height: 9 });
    let fits = model.fit(&curves, CurveStart::Estimate, &model.options())?;
    if let (Some(x), Some(y)) = (fits.of("x0"), fits.of("y0")) {
        println!("the spot is at {:.4}, {:.4}", x[0], y[0]);
    }
    Ok(())
}
