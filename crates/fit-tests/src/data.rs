//! Data that others fitted: real images, and windows with the minima that MINPACK found.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use ndarray::{Array2, Array3, Axis};
use spotfit::CameraMap;
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
pub struct Answer {
    /// The number of the window.
    pub window: usize,
    /// x, y, σx, σy and the angle.
    pub outline: [f64; 5],
    /// Whether it is certain, and the minimum of a spot.
    pub good: bool,
}

/// Answers from the rows of a table: the outline of each, and whether it is good.
fn answers<const N: usize>(
    path: &Path,
    names: [&str; N],
    row: impl Fn(usize, [f64; N]) -> (usize, [f64; 5], bool),
) -> Vec<Answer> {
    let rows = read_columns(path, names).into_iter().enumerate();
    rows.map(|(number, numbers)| row(number, numbers))
        .map(|(window, outline, good)| Answer { window, outline, good })
        .collect()
}

/// A set of windows with the minima that an outside optimizer found.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// Its name.
    pub name: String,
    /// The windows.
    pub spots: Array3<f32>,
    /// One for each window.
    pub answers: Vec<Answer>,
}

/// The real sets, and the share of good rows that a fit must agree with.
pub const REAL_SETS: [(&str, f64); 4] = [
    ("picasso", 0.98),
    ("sdt_beads", 0.98),
    ("spotiflow_telomeres", 0.995),
    ("zhuang_storm_emccd", 0.98),
];

/// One of [`REAL_SETS`] in the folder that [`real_data`] gives, with an oracle's minima by name, for instance `oracle_mle_ell`.
///
/// # Panics
/// If a file is not there or not such a table.
pub fn real_oracle(folder: &Path, name: &str, oracle: &str) -> Oracle {
    let folder = folder.join(name);
    let spots = read_stack::<f32>(&folder.join("spots.npy"));
    let half = (spots.dim().2 / 2) as f64;
    let places = read_columns(&folder.join("identifications.csv"), ["x", "y"]);
    let columns = ["x", "y", "sx", "sy", "sane", "pd", "newton_px"];
    let row = |window: usize, [x, y, sigma_x, sigma_y, sane, pd, newton]: [f64; 7]| {
        let [column, row] = places[window];
        let good = sane == 1.0 && pd == 1.0 && newton < 1e-6;
        (window, [x - column + half, y - row + half, sigma_x, sigma_y, 0.0], good)
    };
    let answers = answers(&folder.join(format!("{oracle}.csv")), columns, row);
    Oracle { name: name.to_owned(), spots, answers }
}

/// The simulated sets stored in this crate with the minima that SciPy's MINPACK found
/// (`scripts/minpack.py`).
pub fn stored_oracles() -> Vec<Oracle> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let set = |name: &str| {
        let spots = read_stack::<u16>(&folder.join(format!("{name}.npy"))).mapv(f32::from);
        let columns = ["x", "y", "sigma", "good"];
        let row = |window: usize, [x, y, sigma, good]: [f64; 4]| {
            (window, [x, y, sigma, sigma, 0.0], good == 1.0)
        };
        let answers = answers(&folder.join(format!("{name}.csv")), columns, row);
        Oracle { name: name.to_owned(), spots, answers }
    };
    ["faint_7x7", "paper_9x9", "wide_13x9", "bright_11x11"].map(set).into()
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
    let columns = ["x", "y", "sigma_x", "sigma_y", "angle", "good"];
    answers(&path, columns, |window, [x, y, sigma_x, sigma_y, angle, good]| {
        (window, [x, y, sigma_x, sigma_y, angle], good == 1.0)
    })
}

/// The answers for a real set, of a shape and estimator that `scripts/real.py` knows.
///
/// # Panics
/// If the file is not there or not such a table.
pub fn real_answers(set: &str, method: &str) -> Vec<Answer> {
    let path = answers_folder("real").join(format!("{set}_{method}.csv"));
    let columns = ["spot_id", "x", "y", "sigma_x", "sigma_y", "good"];
    answers(&path, columns, |_, [window, x, y, sigma_x, sigma_y, good]| {
        (window as usize, [x, y, sigma_x, sigma_y, 0.0], good == 1.0)
    })
}

/// Windows that were stored for shapes and profiles, with all that may be known of them.
#[derive(Clone, Debug)]
pub struct StoredCamera {
    /// The camera.
    pub map: CameraMap,
    /// The weights of the pixels of each window.
    pub weights: Array2<f32>,
}

/// The camera and the weights of the windows of `scripts/shapes.py`.
///
/// # Panics
/// If a file is not there.
pub fn stored_camera() -> StoredCamera {
    let image = |name: &str| {
        let image = read_stack::<f32>(&answers_folder("shapes").join(format!("{name}.npy")));
        image.index_axis_move(Axis(0), 0)
    };
    let [offset, gain, variance] =
        ["offset", "gain", "variance"].map(|of| image(&format!("camera/{of}")));
    let map = CameraMap::new(offset.view(), gain.view(), variance.view()).expect("a camera");
    StoredCamera { map, weights: image("weights") }
}
