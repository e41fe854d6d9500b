//! Arguments that make no sense.

mod common;

use std::ffi::c_char;

use common::{ALONE, PARAMETERS, words};
use fit_sim::Random;

/// The numbers of a call, and whether each array is there.
#[derive(Clone, Debug)]
struct Numbers {
    fits: usize,
    points: usize,
    model: i32,
    estimator: i32,
    info_size: usize,
    /// data, weights, initial, constraints, types, to_fit, info, four outcomes.
    given: [bool; 11],
    tolerance: f32,
    max_iterations: i32,
    types: i32,
}

impl Numbers {
    fn sound() -> Self {
        let mut given = [true; 11];
        given[3] = false;
        Self {
            fits: 3,
            points: 25,
            model: 1,
            estimator: 0,
            info_size: 0,
            given,
            tolerance: 1e-4,
            max_iterations: 10,
            types: 0,
        }
    }

    /// Makes the call with arrays of 4000 numbers, which is more than it asks for unless it asks for too many.
    fn call(&self, fill: impl Fn(usize) -> f32) -> Result<(), [String; 2]> {
        let mut reals: Vec<Vec<f32>> = (0..11).map(|_| (0..4000).map(&fill).collect()).collect();
        let mut wholes: Vec<Vec<i32>> =
            vec![vec![self.types; 4000], vec![1; 4000], vec![0; 4000], vec![0; 4000]];
        let at = reals.iter_mut().zip(self.given);
        let null = std::ptr::null_mut();
        let at: Vec<*mut f32> =
            at.map(|(array, given)| if given { array.as_mut_ptr() } else { null }).collect();
        let given = [4, 5, 8, 10].map(|number| self.given[number]);
        let of = |(array, given): (&mut Vec<i32>, bool)| match given {
            true => array.as_mut_ptr(),
            false => std::ptr::null_mut(),
        };
        let whole: Vec<*mut i32> = wholes.iter_mut().zip(given).map(of).collect();
        // SAFETY: where the numbers ask for more than there is, they ask for more than there can be, which is refused.
        let code = unsafe {
            Gpufit::gpufit_constrained(
                self.fits,
                self.points,
                at[0],
                at[1],
                self.model,
                at[2],
                at[3],
                whole[0],
                self.tolerance,
                self.max_iterations,
                whole[1],
                self.estimator,
                self.info_size,
                at[6].cast::<c_char>(),
                at[7],
                whole[2],
                at[9],
                whole[3],
            )
        };
        match code {
            0 => Ok(()),
            -1 => {
                Err([Gpufit::gpufit_get_last_error(), Gpufit::spotfit_get_last_error()].map(words))
            }
            other => panic!("a call returns {other}"),
        }
    }
}

/// Proves that each argument that makes no sense is refused with Gpufit's words where it has some, and with ours, which name it.
#[test]
fn what_makes_no_sense_is_refused() {
    let _alone = ALONE.lock();
    let sound = Numbers::sound;
    assert_eq!(sound().call(|_| 1.0), Ok(()));
    assert_eq!(Numbers { fits: 0, given: [false; 11], ..sound() }.call(|_| 1.0), Ok(()));
    let refused = |numbers: Numbers, words: &str, all: &str| {
        let [short, long] = numbers.call(|_| 1.0).unwrap_err();
        assert!(short.contains(words) && long.contains(all), "{short:?} {long:?}");
    };
    let large = "maximum array size exceeded";
    for (numbers, words, all) in [
        (Numbers { model: 15, ..sound() }, "unknown model ID", "15"),
        (Numbers { model: -1, ..sound() }, "unknown model ID", "-1"),
        (Numbers { estimator: 2, ..sound() }, "unknown estimator ID", "2"),
        (Numbers { points: 0, ..sound() }, "n_points", "n_points"),
        (Numbers { fits: usize::MAX / 2, ..sound() }, large, "data"),
        (Numbers { fits: usize::MAX / 300, ..sound() }, large, "data"),
        (Numbers { points: usize::MAX, ..sound() }, large, "data"),
        (Numbers { info_size: usize::MAX, ..sound() }, large, "user_info"),
        (Numbers { model: 9, info_size: 8, ..sound() }, "user_info", "spline_2d begins with 4"),
        (Numbers { model: 9, info_size: 16, ..sound() }, "user_info", "0 coefficients of 16"),
        (Numbers { model: 11, info_size: 28, ..sound() }, "user_info", "1×1×1 points in each of 1"),
        (Numbers { model: 8, info_size: 4, ..sound() }, "user_info", "0 coefficients of 4"),
        (Numbers { model: 0, info_size: 120, ..sound() }, "user_info", "30 places"),
    ] {
        refused(numbers, words, all);
    }
    for (number, name) in [
        (0, "data"),
        (2, "initial_parameters"),
        (5, "parameters_to_fit"),
        (7, "output_parameters"),
        (8, "output_states"),
        (9, "output_chi_squares"),
        (10, "output_n_iterations"),
    ] {
        let mut numbers = sound();
        numbers.given[number] = false;
        refused(numbers, "invalid argument", name);
    }
    let mut given = [true; 11];
    refused(Numbers { types: 4, given, ..sound() }, "constraint type 4", "parameter 0");
    given[4] = false;
    refused(Numbers { given, ..sound() }, "invalid argument", "constraint_types");
    // SAFETY: there is nothing to read.
    assert_eq!(unsafe { Gpufit::gpufit_portable_interface(16, std::ptr::null_mut()) }, -1);
    let mut none = [std::ptr::null_mut(); 18];
    // SAFETY: there are as many pointers as it reads.
    assert_eq!(unsafe { Gpufit::cpufit_constrained_portable_interface(18, none.as_mut_ptr()) }, -1);
    assert!(words(Gpufit::spotfit_get_last_error()).contains("n_fits"));
}

/// Proves that limits that cross, and outcomes that lie over data, are refused before anything is written, and that outcomes may take the place of
/// start values.
#[test]
fn arrays_are_checked_before_anything_is_written() {
    let _alone = ALONE.lock();
    let mut given = [true; 11];
    given[1] = false;
    let crossed = Numbers { types: 3, given, ..Numbers::sound() };
    let [_, why] = crossed.call(|at| if at % 2 == 0 { 2.0 } else { 1.0 }).unwrap_err();
    assert!(why.contains("2 to 1 of parameter 0 of fit 0"), "{why}");

    let mut data: Vec<f32> = (0..20).map(|x| 1.0 + 0.5 * x as f32).collect();
    let mut start = vec![0.5_f32, 0.4, 0.5, 0.4];
    let mut all = vec![1, 1];
    let (mut states, mut iterations) = (vec![9; 2], vec![9; 2]);
    let mut chi2 = vec![9.0; 2];
    let mut call = |over_data: bool| {
        let (data, start) = (data.as_mut_ptr(), start.as_mut_ptr());
        // SAFETY: all arrays are long enough; which of them overlap is what is tested.
        unsafe {
            Gpufit::gpufit(
                2,
                10,
                data,
                std::ptr::null_mut(),
                5,
                start,
                1e-6,
                20,
                all.as_mut_ptr(),
                0,
                0,
                std::ptr::null_mut(),
                if over_data { data.add(3) } else { start },
                states.as_mut_ptr(),
                chi2.as_mut_ptr(),
                iterations.as_mut_ptr(),
            )
        }
    };
    assert_eq!(call(true), -1);
    assert!(words(Gpufit::spotfit_get_last_error()).contains("output_parameters overlaps"));
    // Nothing was written: the fits begin where they were to begin.
    assert_eq!(call(false), 0);
    assert_eq!((states, iterations.iter().all(|&count| count < 9)), (vec![0, 0], true));
    for (found, wanted) in start.iter().zip([1.0, 0.5, 6.0, 0.5]) {
        assert!((found - wanted).abs() < 1e-4, "{start:?}");
    }
}

/// Proves that calls with any numbers and any missing arrays end, with 0 or with −1 and a message: 700 of them, 2000 with `SPOTFIT_TESTS=all` and 10,000 with
/// `SPOTFIT_NIGHTLY=1`.
#[test]
fn any_arguments_end() {
    let _alone = ALONE.lock();
    let wanted = |name: &str, value: &str| std::env::var(name).is_ok_and(|which| which == value);
    let calls = match () {
        () if wanted("SPOTFIT_NIGHTLY", "1") => 10_000,
        () if wanted("SPOTFIT_TESTS", "all") => 2000,
        () => 700,
    };
    let mut random = Random::new(77, 0);
    let (mut fitted, mut refused) = (0, 0);
    for number in 0..calls {
        let mut pick = |from: &[i64]| from[(random.uniform() * from.len() as f64) as usize];
        let model =
            pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -1, i64::from(i32::MAX)])
                as i32;
        let most = usize::try_from(model)
            .ok()
            .and_then(|model| PARAMETERS.get(model))
            .map_or(1, |&count| count);
        let fits = pick(&[0, 1, 2, 3, -1, i64::MAX, i64::MAX / 8]) as usize;
        let points = pick(&[0, 1, 2, 3, 4, 9, 25, 81, 100, -1, 1 << 60]) as usize;
        let mut given = [true; 11];
        if pick(&[0, 0, 0, 1]) == 1 {
            given[pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) as usize] = false;
        }
        given[3] = pick(&[0, 1]) == 1;
        let numbers = Numbers {
            fits,
            points,
            model,
            estimator: pick(&[0, 1, 0, 1, 2, -5]) as i32,
            info_size: pick(&[0, 0, 1, 3, 4, 7, 16, 100, 4000, 15_999, -1]) as usize,
            given,
            tolerance: [1e-4, 0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30]
                [pick(&[0, 0, 0, 1, 2, 3, 4, 5]) as usize],
            max_iterations: pick(&[10, 10, 10, 0, -1, 1, 200]) as i32,
            types: pick(&[0, 0, 1, 2, 3, 4, -1]) as i32,
        };
        let special = [f32::NAN, f32::INFINITY, 0.0, -1.0, 1e38, 1e-40, f32::NEG_INFINITY];
        let odd = pick(&[-1, -1, 0, 1, 2, 3, 4, 5, 6]);
        let fill = |at: usize| match usize::try_from(odd) {
            Ok(odd) if (at + number).is_multiple_of(5) => special[odd],
            _ => 1.0 + (at * 7 + number) as f32 % 3.0,
        };
        // As much as there is room for, or more than there can be.
        let room = fits.saturating_mul(points.max(2 * most)) <= 4000;
        let impossible = fits
            .checked_mul(points)
            .and_then(|n| n.checked_mul(4))
            .is_none_or(|n| n > isize::MAX as usize);
        let fits_in = numbers.info_size <= 16_000 || numbers.info_size > isize::MAX as usize;
        if !(room || impossible || points == 0) || !fits_in {
            continue;
        }
        match numbers.call(fill) {
            Ok(()) => fitted += 1,
            Err([words, all]) => {
                let is_told = !words.is_empty() && !all.is_empty();
                assert!(is_told && !all.contains("unknown error"), "{numbers:?}: {all}");
                refused += 1;
            }
        }
    }
    assert!(fitted > calls / 20 && refused > calls / 20, "{fitted} fitted, {refused} refused");
}
