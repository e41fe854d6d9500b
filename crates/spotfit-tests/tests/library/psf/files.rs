//! Files that are written and read, ours and Picasso's.

use std::io::Cursor;
use std::process::Command;

use fit_sim::Random;
use ndarray::Axis;
use spotfit::hdf5::{H5Array, NumberKind, write_arrays};
use spotfit::model::{Spline, SplineAxis};
use spotfit::psf::{Psf, read, write};

use super::fits::ODD;
use super::simulated::{ASTIGMATIC, COMATIC, Truth};

/// A file as Picasso writes it, of samples (x, y, z) of the truth, whose first plane is the highest, and the metadata.
fn picasso(truth: Truth, change: impl Fn(&mut Vec<f64>), metadata: &str) -> Vec<u8> {
    let [planes, side] = [29, 17];
    let samples: Vec<f64> = (0..planes * side * side)
        .map(|at| {
            let [plane, row, column] = [at / (side * side), at / side % side, at % side];
            let z = 50.0 * (14.0 - plane as f64);
            truth.at([column as f64 - 8.0, row as f64 - 8.0, z])
        })
        .collect();
    let axes = [planes - 1, side - 1, side - 1].map(SplineAxis::Cubic);
    let spline = Spline::through(&axes, &samples).expect("a spline");
    let mut polynomials = spline.to_polynomials();
    change(&mut polynomials);
    let shape = [64, side - 1, side - 1, planes - 1];
    let (name, kind) = ("coefficients", NumberKind::F32);
    let array = H5Array { name, shape: &shape, kind, values: &polynomials };
    write_arrays(Vec::new(), &[array], Some(("metadata", metadata))).expect("a file")
}

const PICASSO: &str = r#"{"model": "spline-3d", "oversampling": 1.0, "z_center": 14.0, "z_init": 14.0, "z_step_nm": 50.0,
    "magnification_factor": 0.8, "photon_scale": 20.0, "box": 17, "pixelsize": 130.0, "n_intervals": [16, 16, 28]}"#;

/// Proves that a file is read as it was written, by the coefficients of the B-spline and by Picasso's polynomials alone; that
/// Picasso's files are read with its direction of z and its magnification; and that what cannot be read is refused with the
/// reason.
#[test]
fn files_are_read_and_written() {
    let psf = &*ODD;
    let file = write(Vec::new(), psf, Some(130.0)).expect("a file");
    let again = read(Cursor::new(&file)).expect("a PSF");
    assert_eq!(&again.coefficients().mapv(|v| v as f32), &psf.coefficients().mapv(|v| v as f32));
    assert_eq!((again.step(), again.zero()), (psf.step(), psf.zero()));
    // Picasso 1.0 asks for the size of a pixel where there is no mark; another mark is not ours to read.
    let mark: &[u8] = b"\"picasso_format\": \"1.0\"";
    let mut newer = file.clone();
    let at = newer.windows(mark.len()).position(|bytes| bytes == mark).expect("a mark");
    newer[at + mark.len() - 4] = b'2';
    let refused = read(Cursor::new(&newer)).expect_err("refused").to_string();
    assert!(refused.contains("picasso_format is '2.0'"), "{refused}");
    // Another name in place of the dataset's leaves the polynomials.
    let mut other = file.clone();
    let at = other.windows(6).rposition(|bytes| bytes == b"knots\0").expect("a name");
    other[at..at + 5].copy_from_slice(b"knobs");
    let again = read(Cursor::new(&other)).expect("a PSF");
    assert_eq!((again.step(), again.extent()), (psf.step(), psf.extent().map(|side| side + 4)));
    for z in [-321.0, 5.0, 480.0] {
        let off = again.window([6.3, 5.8, z], [13; 2]) - psf.window([6.3, 5.8, z], [13; 2]);
        assert!(off.iter().all(|off| off.abs() < 1e-6));
    }

    let read_picasso = |change: &dyn Fn(&mut Vec<f64>), metadata: &str| {
        read(Cursor::new(picasso(COMATIC, change, metadata)))
    };
    let of_picasso = read_picasso(&|_| (), PICASSO).expect("a PSF");
    let [low, high] = of_picasso.range();
    assert!((low + 560.0).abs() < 1e-9 && (high - 560.0).abs() < 1e-9, "{low} {high}");
    for z in [-300.0, 0.0, 210.0] {
        let exact = COMATIC.window([6.3, 5.8, z], 1.0, 0.0, 13);
        let off = of_picasso.window([6.3, 5.8, 0.8 * z], [13; 2]) - exact;
        assert!(off.iter().all(|off| off.abs() < 1e-3), "{z}");
    }
    let refused = |change: &dyn Fn(&mut Vec<f64>), metadata: &str| {
        read_picasso(change, metadata).expect_err("refused").to_string()
    };
    let says = |text: String, what: &str| assert!(text.contains(what), "{text}");
    says(refused(&|all| all[64 * 2000] += 0.001, PICASSO), "the value jumps by up to 1.000e-3");
    says(refused(&|all| all[77] = f64::NAN, PICASSO), "number 77");
    let with = |from: &str, to: &str| PICASSO.replace(from, to);
    says(refused(&|_| (), &with("spline-3d", "spline-2d")), "the model is spline-2d");
    says(refused(&|_| (), &with("50.0", "\"x\"")), "'z_step_nm' is no number");
    says(refused(&|_| (), &with("50.0", "0")), "the step in z is 0");
    says(refused(&|_| (), &with("14.0, \"z_init\"", "1e6, \"z_init\"")), "the plane of z = 0");
    // z = 0 beyond the planes, and names beyond 16 bits.
    let far = read_picasso(&|_| (), &with("14.0, \"z_init\"", "40.0, \"z_init\"")).expect("a PSF");
    assert!(far.range()[1] > 560.0 && far.range()[0] > 0.0, "{:?}", far.range());
    let named = with("{\"model\"", "{\"Path\": \"a\\\\\\ud83d\\ude00\", \"model\"");
    assert_eq!(read_picasso(&|_| (), &named).expect("a PSF"), of_picasso);
    says(refused(&|_| (), &with("0.8", "0.0")), "magnification_factor");
    says(refused(&|_| (), &with("\"oversampling\": 1.0", "\"oversampling\": 2")), "oversampling");
    says(refused(&|_| (), "{"), "metadata");
    says(read(Cursor::new(b"MATLAB 7.3 MAT-file")).expect_err("refused").to_string(), "Python");
    says(read(Cursor::new(b"")).expect_err("refused").to_string(), "not an HDF5 file");
    assert!(write(Vec::new(), psf, Some(0.0)).is_err());
    let oblong =
        Psf::new(psf.coefficients().slice_axis(Axis(1), (1..20).into()).to_owned(), 50.0, 3.0);
    says(
        write(Vec::new(), &oblong.expect("a PSF"), None).expect_err("refused").to_string(),
        "squares",
    );
    // What somebody changed in the metadata holds for our own files too.
    let magnified = |bytes: &[u8]| {
        let at = bytes.windows(9).position(|bytes| bytes == b"factor\": ").expect("the factor");
        let mut changed = bytes.to_vec();
        assert_eq!(changed[at + 9], b'1');
        changed[at + 9] = b'2';
        read(Cursor::new(changed)).expect("a PSF")
    };
    let twice = magnified(&file);
    assert!(
        (twice.step() - 2.0 * psf.step()).abs() < 1e-9 && (twice.zero() - psf.zero()).abs() < 1e-9
    );
    // Whatever the bytes are, there is an answer.
    let small = picasso(ASTIGMATIC, |_| (), PICASSO);
    let mut random = Random::new(3, 0);
    let tail = small.len() - 6000;
    for _ in 0..50 {
        let mut bytes = small.clone();
        for _ in 0..3 {
            let at = tail + (random.uniform() * 6000.0) as usize;
            bytes[at] = (random.uniform() * 256.0) as u8;
        }
        let _ =
            read(Cursor::new(&bytes[..if random.uniform() < 0.2 { tail } else { bytes.len() }]));
    }
}

/// Proves that Python reads the polynomials and the metadata as Picasso does, with its direction of z and its photons, where
/// Python with h5py is there.
#[test]
fn picasso_reads_what_is_written() {
    let python = std::env::var("SPOTFIT_PYTHON").unwrap_or_else(|_| "python3".into());
    let there = Command::new(&python).args(["-c", "import h5py, numpy"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "CI needs {python} with h5py");
        eprintln!("not checked: {python} with h5py is not there");
        return;
    }
    let code = "import h5py, json, sys, numpy\n\
        file = h5py.File(sys.argv[1])\n\
        metadata, table = json.loads(file.attrs['metadata']), file['coefficients'][:]\n\
        assert table.dtype == numpy.float32 and metadata['model'] == 'spline-3d'\n\
        assert list(table.shape[1:]) == metadata['n_intervals'], table.shape\n\
        table = table.ravel().reshape(*table.shape[:0:-1], 4, 4, 4)\n\
        plane = metadata['z_center'] - float(sys.argv[2]) / metadata['z_step_nm']\n\
        share = (plane - int(plane)) ** numpy.arange(4)\n\
        pieces = [(5, 7), (9, 9), (12, 6), (8, 11)]\n\
        print(*[table[int(plane), y, x, :, 0, 0] @ share / metadata['photon_scale'] for y, x in pieces])\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("psf.hdf5");
    std::fs::write(&path, write(Vec::new(), &ODD, None).expect("a file")).expect("space");
    for z in [-310.0, 0.0, 444.0] {
        let mut command = Command::new(&python);
        let output = command.args(["-c", code]).arg(&path).arg(z.to_string()).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let said: Vec<f64> =
            said.split_whitespace().map(|n| n.parse().expect("a number")).collect();
        for ([y, x], said) in [[5, 7], [9, 9], [12, 6], [8, 11]].into_iter().zip(said) {
            let [y, x] = [y, x].map(|knot| f64::from(knot) - 9.0);
            let own = ODD.at([x, y, z]).expect("within")[0];
            assert!((own - said).abs() < 1e-6, "{z} {x} {y}: {said}, not {own}");
        }
    }
}
