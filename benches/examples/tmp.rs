use fit_curves::*;
use fit_tests::models::*;
use std::time::Instant;
fn main() {
    for case in &SIMULATED[..12] {
        let model = model(case.name);
        let data = case.data(1000);
        let at = case.at();
        let start = case.start();
        let place = case.points(&at);
        let options = CurveOptions::new(start.len()).with_covariance(false);
        let curves = Curves::new(data.view(), place);
        let mut best = [f64::MAX; 5];
        let mut fits = CurveFits::room(1000, start.len(), false);
        for _ in 0..50 {
            let t = Instant::now();
            let job =
                Job::new(model.as_formula(), &curves, CurveStart::Shared(&start), &options, true)
                    .unwrap();
            best[0] = best[0].min(t.elapsed().as_secs_f64());
            let p = vec![1.0f32; start.len()];
            let e = vec![0.1f32; start.len()];
            let t = Instant::now();
            let mut ch = chunks(&mut fits, 1000);
            for f in 0..1000 {
                let s = Single::from_numbers(
                    std::hint::black_box(&p),
                    &p,
                    &e,
                    [3.0, 4.0, 5.0, 1.0, 1.0, -3.0, 20.0, 30.0],
                );
                assert!(s.put(&job, f, |_, _| 0.0, &mut ch[0]));
            }
            best[4] = best[4].min(t.elapsed().as_secs_f64());
            let mut to = vec![0.0; data.len()];
            let t = Instant::now();
            job.read_all_data(0..1000, &mut to);
            best[1] = best[1].min(t.elapsed().as_secs_f64());
        }
        println!(
            "{} job {:.1} us, put {:.1} ns, read {:.1} us",
            case.name,
            best[0] * 1e6,
            best[4] * 1e6,
            best[1] * 1e6
        );
    }
}
