//! Data that others fitted: real images, and windows with the minima that MINPACK found.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use ndarray::Array3;
use spotfit::npy::{NpyNumber, NpyReader};

/// The folder with the real images: `SPOTFIT_DATA`, or `shared/data` beside the repository, if it is there. Tests that
/// need it are ignored where it was not when they were built (`build.rs`).
pub fn real_data() -> Option<PathBuf> {
    let folder = match std::env::var_os("SPOTFIT_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    folder.is_dir().then_some(folder)
}

/// Reads a stack of windows of a known type.
///
/// # Panics
/// If the file is not there or not such a stack.
pub fn read_stack<P: NpyNumber>(path: &Path) -> Array3<P> {
    let read = || -> Result<Array3<P>, Box<dyn std::error::Error>> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut reader = NpyReader::new(BufReader::new(file), Some(length))?;
        let shape = reader.header().shape.clone();
        let mut pixels = Vec::new();
        reader.read(usize::MAX, &mut pixels)?;
        // An image is a stack of one.
        let [.., height, width] = shape[..] else { return Err("not a stack".into()) };
        let count = if shape.len() == 3 { shape[0] } else { 1 };
        Ok(Array3::from_shape_vec((count, height, width), pixels)?)
    };
    read().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Columns of a CSV file, by name, as numbers.
///
/// # Panics
/// If the file is not there or lacks a column.
pub fn read_columns<const N: usize>(path: &Path, names: [&str; N]) -> Vec<[f64; N]> {
    let read = || -> Result<Vec<[f64; N]>, Box<dyn std::error::Error>> {
        let mut reader = csv::Reader::from_path(path)?;
        let header = reader.headers()?.clone();
        let columns = names.map(|name| header.iter().position(|column| column == name));
        reader
            .records()
            .map(|record| {
                let record = record?;
                let mut row = [f64::NAN; N];
                for ((value, column), name) in row.iter_mut().zip(columns).zip(names) {
                    let column = column.ok_or_else(|| format!("no column '{name}'"))?;
                    *value = record[column].parse()?;
                }
                Ok(row)
            })
            .collect()
    };
    read().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An outside optimizer's minimum for a window, in the window's coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Minimum {
    /// x, y and σ.
    pub shape: [f64; 3],
    /// χ² there.
    pub chi2: f64,
    /// Whether it is certain, and the minimum of a spot.
    pub good: bool,
}

/// A set of windows with the minima that an outside optimizer found.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// Its name.
    pub name: String,
    /// The windows.
    pub spots: Array3<f32>,
    /// One for each window.
    pub minima: Vec<Minimum>,
}

/// The real sets, and the share of good rows that a fit must agree with.
pub const REAL_SETS: [(&str, f64); 4] = [
    ("picasso", 0.98),
    ("sdt_beads", 0.98),
    ("spotiflow_telomeres", 0.995),
    ("zhuang_storm_emccd", 0.98),
];

/// One of [`REAL_SETS`] in the folder that [`real_data`] gives.
pub fn real_oracle(folder: &Path, name: &str) -> Oracle {
    let folder = folder.join(name);
    let spots = read_stack::<f32>(&folder.join("spots.npy"));
    let half = (spots.dim().2 / 2) as f64;
    let found = read_columns(&folder.join("identifications.csv"), ["x", "y"]);
    let columns = ["x", "y", "sx", "cost", "sane", "pd", "newton_px"];
    let minima = read_columns(&folder.join("oracle_ls_sym.csv"), columns)
        .into_iter()
        .zip(found)
        .map(|([x, y, sigma, chi2, sane, pd, newton], [column, row])| Minimum {
            shape: [x - column + half, y - row + half, sigma],
            chi2,
            good: sane == 1.0 && pd == 1.0 && newton < 1e-6,
        })
        .collect();
    Oracle { name: name.to_owned(), spots, minima }
}

/// The simulated sets stored in this crate with the minima that SciPy's MINPACK found
/// (`scripts/minpack.py`).
pub fn stored_oracles() -> Vec<Oracle> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let sets = ["faint_7x7", "paper_9x9", "wide_13x9", "bright_11x11"];
    sets.into_iter()
        .map(|name| {
            let spots = read_stack::<u16>(&folder.join(format!("{name}.npy"))).mapv(f32::from);
            let columns = ["x", "y", "sigma", "chi2", "good"];
            let minima = read_columns(&folder.join(format!("{name}.csv")), columns)
                .into_iter()
                .map(|[x, y, sigma, chi2, good]| Minimum {
                    shape: [x, y, sigma],
                    chi2,
                    good: good == 1.0,
                })
                .collect();
            Oracle { name: name.to_owned(), spots, minima }
        })
        .collect()
}

/// A minimum of any shape and estimator, in the window's coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The number of the window.
    pub window: usize,
    /// x, y, σx, σy and the angle.
    pub outline: [f64; 5],
    /// Whether it is certain, and the minimum of a spot.
    pub good: bool,
}

/// The folder of the windows and answers that `scripts/shapes.py` and `scripts/real.py` made.
pub fn answers_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// The answers of an outside optimizer for a simulated set: `<set>_<estimator>.csv`.
///
/// # Panics
/// If the file is not there or not such a table.
pub fn shape_answers(set: &str, estimator: &str) -> Vec<Answer> {
    let path = answers_folder("shapes").join(format!("{set}_{estimator}.csv"));
    read_columns(&path, ["x", "y", "sigma_x", "sigma_y", "angle", "good"])
        .into_iter()
        .enumerate()
        .map(|(window, [x, y, sigma_x, sigma_y, angle, good])| Answer {
            window,
            outline: [x, y, sigma_x, sigma_y, angle],
            good: good == 1.0,
        })
        .collect()
}

/// The answers for a real set, of a shape and estimator that `scripts/real.py` knows.
///
/// # Panics
/// If the file is not there or not such a table.
pub fn real_answers(set: &str, method: &str) -> Vec<Answer> {
    let path = answers_folder("real").join(format!("{set}_{method}.csv"));
    read_columns(&path, ["spot_id", "x", "y", "sigma_x", "sigma_y", "good"])
        .into_iter()
        .map(|[window, x, y, sigma_x, sigma_y, good]| Answer {
            window: window as usize,
            outline: [x, y, sigma_x, sigma_y, 0.0],
            good: good == 1.0,
        })
        .collect()
}

/// The minima of an oracle of the real images by name, for instance `oracle_mle_ell`.
///
/// # Panics
/// If a file is not there or not such a table.
pub fn oracle_answers(folder: &Path, set: &str, oracle: &str, width: usize) -> Vec<Answer> {
    let folder = folder.join(set);
    let half = (width / 2) as f64;
    let found = read_columns(&folder.join("identifications.csv"), ["x", "y"]);
    let columns = ["x", "y", "sx", "sy", "sane", "pd", "newton_px"];
    read_columns(&folder.join(format!("{oracle}.csv")), columns)
        .into_iter()
        .zip(found)
        .enumerate()
        .map(|(window, ([x, y, sigma_x, sigma_y, sane, pd, newton], [column, row]))| Answer {
            window,
            outline: [x - column + half, y - row + half, sigma_x, sigma_y, 0.0],
            good: sane == 1.0 && pd == 1.0 && newton < 1e-6,
        })
        .collect()
}
