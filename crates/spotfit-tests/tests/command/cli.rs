//! The command as a user meets it: files in, files out, and what it says when something is wrong.

use crate::common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Folder, bytes, fails, nightly, npy, rows, succeeds, until};
use spotfit::npy::NpyReader;

/// Two windows of 5×4 pixels with a spot, as numbers.
fn two_windows() -> Vec<u16> {
    (0..40)
        .map(|i| {
            let (x, y) = (f64::from(i % 5) - 2.2, f64::from(i / 5 % 4) - 1.6);
            (1000.0 * (-(x * x + y * y) / 2.42).exp() + 100.0) as u16
        })
        .collect()
}

const HEADER: &str = "spot,x,y,sigma,amplitude,background,chi2,iterations,status";

/// Proves the way of the README: simulate, fit, read; that CSV and NPY hold the same, and that the
/// numbers read back as the same bits as the library gives.
#[test]
fn simulate_and_fit() {
    let folder = Folder::new();
    let (spots, truth) = (folder.path("spots.npy"), folder.path("truth.csv"));
    let (csv, array) = (folder.path("fits.csv"), folder.path("fits.npy"));
    let simulate: [&dyn AsRef<std::ffi::OsStr>; 11] = [
        &"simulate",
        &"--count",
        &"500",
        &"--size",
        &"9",
        &"--seed",
        &"5",
        &"-o",
        &spots,
        &"--truth",
        &truth,
    ];
    succeeds(&simulate);
    let output = succeeds(&[&"fit", &spots, &"-o", &csv]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("500 spots: ") && said.contains("min_delta"), "{said}");
    assert!(said.contains("fits/s"), "{said}");
    succeeds(&[&"fit", &spots, &"-o", &array, &"--threads", &"1"]);

    let fits = rows(&fs::read(&csv).unwrap());
    assert_eq!(fits[0].join(","), HEADER);
    assert_eq!(fits.len(), 501);
    let truths = rows(&fs::read(&truth).unwrap());
    assert_eq!(truths[0].join(","), "spot,x,y,sigma,signal,background");
    assert_eq!(truths.len(), 501);
    assert_eq!(truths[1][4..], ["400.0", "40.0"]);

    let simulation = fit_sim::SpotSimulation::new(spotfit::Size::new(9, 9)).with_seed(5);
    let made = simulation.generate(0..500).unwrap();
    let expected: Vec<spotfit::Fit<f32>> =
        spotfit::Fitter::default().fit(made.pixels.view(), spotfit::Start::Estimate).unwrap();

    let bytes = fs::read(&array).unwrap();
    let data = &bytes[bytes.len() - 500 * 116..];
    for (spot, fit) in expected.iter().enumerate() {
        let row = &fits[spot + 1];
        assert_eq!(row[0], spot.to_string());
        let numbers = [fit.x, fit.y, fit.sigma, fit.amplitude, fit.background, fit.chi2];
        let record = &data[spot * 116..(spot + 1) * 116];
        assert_eq!(u64::from_le_bytes(record[..8].try_into().unwrap()), spot as u64);
        for (column, number) in numbers.into_iter().enumerate() {
            assert_eq!(row[column + 1].parse::<f32>().unwrap(), number);
            let at = 8 + 8 * column;
            let stored = f64::from_le_bytes(record[at..at + 8].try_into().unwrap());
            assert_eq!(stored, f64::from(number));
        }
        assert_eq!(row[7], fit.iterations.to_string());
        assert_eq!(row[8], fit.status.name());
        let name: String = record[60..]
            .chunks_exact(4)
            .map(|c| char::from_u32(u32::from_le_bytes(c.try_into().unwrap())).unwrap())
            .take_while(|&c| c != '\0')
            .collect();
        assert_eq!(name, fit.status.name());
        let near = (f64::from(fit.x) - truths[spot + 1][1].parse::<f64>().unwrap()).abs();
        assert!(near < 1.0, "spot {spot} is {near} px off");
    }
}

/// Proves that every pixel type, byte order and memory order gives the same outcome.
#[test]
fn all_types_and_orders_are_read() {
    let folder = Folder::new();
    let pixels = two_windows();
    // The file's fastest axis first: (n, h, w) = (2, 4, 5) read with n fastest.
    let fortran: Vec<u16> = (0..40)
        .map(|i| {
            let (n, y, x) = (i % 2, i / 2 % 4, i / 8);
            pixels[n * 20 + y * 5 + x]
        })
        .collect();
    let files = [
        npy("'<u2'", "False", "(2, 4, 5)", &bytes(&pixels, |p| p.to_le_bytes())),
        npy("'>u2'", "False", "(2, 4, 5)", &bytes(&pixels, |p| p.to_be_bytes())),
        npy("\"<i2\"", "False", "(2,4,5)", &bytes(&pixels, |&p| (p as i16).to_le_bytes())),
        npy("'>i4'", "False", "(2L, 4L, 5L)", &bytes(&pixels, |&p| i32::from(p).to_be_bytes())),
        npy("'<u4'", "False", "(2, 4, 5)", &bytes(&pixels, |&p| u32::from(p).to_le_bytes())),
        npy("'<i8'", "False", "(2, 4, 5)", &bytes(&pixels, |&p| i64::from(p).to_le_bytes())),
        npy("'<u8'", "False", "(2, 4, 5)", &bytes(&pixels, |&p| u64::from(p).to_le_bytes())),
        npy("'>f4'", "False", "(2, 4, 5)", &bytes(&pixels, |&p| f32::from(p).to_be_bytes())),
        npy("'<f8'", "False", "(2, 4, 5)", &bytes(&pixels, |&p| f64::from(p).to_le_bytes())),
        npy("'<u2'", "True", "(2, 4, 5)", &bytes(&fortran, |p| p.to_le_bytes())),
        npy("'>u2'", "True", "(2, 4, 5)", &bytes(&fortran, |p| p.to_be_bytes())),
    ];
    let mut first = None;
    for file in &files {
        let path = folder.file("spots.npy", file);
        let output = succeeds(&[&"fit", &path, &"-o", &"-"]).stdout;
        assert_eq!(rows(&output).len(), 3);
        let text = String::from_utf8_lossy(&output);
        assert!(text.contains("min_") || text.contains("stalled"), "it should converge: {text}");
        assert_eq!(&output, first.get_or_insert(output.clone()));
    }
    let dim: Vec<u8> = pixels.iter().map(|&p| (p / 8) as u8).collect();
    for descr in ["'|u1'", "'|i1'"] {
        let dim: Vec<u8> = dim.iter().map(|&p| if descr == "'|i1'" { p / 2 } else { p }).collect();
        let path = folder.file("spots.npy", &npy(descr, "False", "(2, 4, 5)", &dim));
        assert_eq!(rows(&succeeds(&[&"fit", &path, &"-o", &"-"]).stdout).len(), 3);
    }
}

/// Proves that what is wrong with a file is said, with its name, and that no output appears.
#[test]
fn broken_input_is_named_and_leaves_no_output() {
    let folder = Folder::new();
    let good = npy("'<u2'", "False", "(2, 4, 5)", &bytes(&two_windows(), |p| p.to_le_bytes()));
    let data = &good[good.len() - 80..];
    let cases: &[(&[u8], &str)] = &[
        (b"", "not an NPY file"),
        (b"\x93NUM", "not an NPY file"),
        (b"spot,x,y\n0,1,2\n", "not an NPY file"),
        (b"\x93NUMPY\x09\x00", "version 9.0"),
        (&good[..9], "ends within it"),
        (&good[..40], "ends within it"),
        (&good[..good.len() - 1], "promises 80 bytes of data, but there are 79"),
        (&good[..good.len() - 80], "promises 80 bytes of data, but there are 0"),
        (&npy("'<u2'", "False", "(40,)", data), "(n, height, width), got [40]"),
        (&npy("'<u2'", "False", "(1, 2, 4, 5)", data), "got [1, 2, 4, 5]"),
        (&npy("'<u2'", "False", "()", data), "got []"),
        (&npy("'<u2'", "False", "(20, 2, 1)", data), "1×2 pixels (width×height) is too small"),
        (&npy("'<u2'", "False", "(10, 2, 2)", data), "2×2 pixels (width×height) is too small"),
        (&npy("'<c8'", "False", "(2, 2, 5)", data), "type '<c8'"),
        (&npy("'|b1'", "False", "(2, 4, 5)", data), "type '|b1'"),
        (&npy("'<f2'", "False", "(2, 4, 5)", data), "type '<f2'"),
        (&npy("'|O'", "False", "(2, 4, 5)", data), "type '|O'"),
        (&npy("[('x', '<f4')]", "False", "(2, 2, 5)", data), "type 'structured'"),
        (&npy("'<u2'", "Maybe", "(2, 4, 5)", data), "neither True nor False"),
        (&npy("'<u2'", "False", "(2, 4, -5)", data), "not a tuple of whole numbers"),
        (&npy("'<u2'", "False", "(4294967296, 4294967296, 9)", data), "too large"),
        (&npy("'<u2'", "False", "(99999999999999999999, 9, 9)", data), "too large"),
        (&npy("'<u2'", "False", "(2, 4, 500000000)", data), "promises 8000000000 bytes"),
        (&npy("'<u2'", "False", "(0, 18446744073709551615, 9)", data), "too large"),
    ];
    for (bytes, says) in cases {
        let path = folder.file("spots.npy", bytes);
        let output = folder.path("fits.csv");
        fails(&[&"fit", &path, &"-o", &output], &["spotfit: ", says, "spots.npy"]);
        assert_eq!(folder.names(), ["spots.npy"], "{says}");
    }
    let missing = folder.path("no such file.npy");
    fails(&[&"fit", &missing, &"-o", &folder.path("fits.csv")], &["no such file.npy", "No such"]);
    let directory = folder.0.path();
    fails(&[&"fit", &directory, &"-o", &folder.path("fits.csv")], &["this is a folder"]);
}

/// Proves that a pipe that ends too early is an error too, and that a good one is not.
#[test]
fn standard_input_is_read() {
    let good = npy("'<u2'", "False", "(2, 4, 5)", &bytes(&two_windows(), |p| p.to_le_bytes()));
    for (input, succeeds) in [(&good[..], true), (&good[..good.len() - 3], false)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
            .args(["fit", "-", "-o", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.success(), succeeds);
        if !succeeds {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("promises 80 bytes of data, but there are 77"), "{said}");
        }
    }
}

/// Proves that no spots give a header alone, and exit 0.
#[test]
fn no_spots_give_a_header() {
    let folder = Folder::new();
    for shape in ["(0, 9, 9)", "(0, 0, 0)"] {
        let path = folder.file("spots.npy", &npy("'<f4'", "False", shape, b""));
        let output = succeeds(&[&"fit", &path, &"-o", &"-"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{HEADER}\n"));
        let array = folder.path("fits.npy");
        succeeds(&[&"fit", &path, &"-o", &array]);
        let mut reader = &fs::read(&array).unwrap()[..];
        assert!(String::from_utf8_lossy(reader).contains("'shape': (0,)"));
        // A structured array is not a stack of windows, and is told from one.
        assert!(NpyReader::new(&mut reader, None).is_err());
    }
}

/// Proves that a NaN in a spot makes that spot invalid, and only there numbers are not finite.
#[test]
fn a_broken_spot_is_a_status() {
    let folder = Folder::new();
    let mut pixels: Vec<f32> = two_windows().into_iter().map(f32::from).collect();
    pixels[25] = f32::NAN;
    let data = bytes(&pixels, |p| p.to_le_bytes());
    let path = folder.file("spots.npy", &npy("'<f4'", "False", "(2, 4, 5)", &data));
    let output = rows(&succeeds(&[&"fit", &path, &"-o", &"-"]).stdout);
    assert!(output[1][1..7].iter().all(|n| n.parse::<f64>().unwrap().is_finite()));
    assert_eq!(output[2].join(","), "1,NaN,NaN,NaN,NaN,NaN,NaN,0,invalid");
}

/// Proves that start values are used, and that wrong ones are named.
#[test]
fn start_values_are_used() {
    let folder = Folder::new();
    let data = bytes(&two_windows(), |p| p.to_le_bytes());
    let spots = folder.file("spots.npy", &npy("'<u2'", "False", "(2, 4, 5)", &data));
    let starts =
        |descr, shape, data: &[u8]| folder.file("init.npy", &npy(descr, "False", shape, data));
    let iterations = |init: &Path| {
        let output = succeeds(&[&"fit", &spots, &"-o", &"-", &"--start", &init]).stdout;
        rows(&output)[1][7].parse::<u32>().unwrap()
    };
    let at = |x: f64| bytes(&[x, 1.6, 1.1, x, 1.6, 1.1], |v| v.to_le_bytes());
    let near = iterations(&starts("'<f8'", "(2, 3)", &at(2.2)));
    let far = iterations(&starts("'<f8'", "(2, 3)", &at(3.4)));
    assert!(near < far, "{near} iterations from the truth, {far} from far");
    let single = bytes(&[2.2f32, 1.6, 1.1, 2.2, 1.6, 1.1], |v| v.to_be_bytes());
    assert_eq!(iterations(&starts("'>f4'", "(2, 3)", &single)), near);

    let fit = |init: &Path, says: &[&str]| {
        fails(&[&"fit", &spots, &"-o", &"-", &"--start", &init], says);
    };
    fit(&starts("'<f8'", "(3, 2)", &at(2.0)), &["init.npy", "x, y, sigma", "[3, 2]"]);
    fit(&starts("'<f8'", "(6,)", &at(2.0)), &["init.npy", "(n, 3)"]);
    fit(
        &starts("'<f8'", "(1, 3)", &at(2.0)),
        &["init.npy", "expected start values for 2 spots, got 1"],
    );
    fit(&starts("'<f8'", "(2, 3)", &at(2.0)[..40]), &["init.npy", "truncated"]);
}

/// Proves that every option arrives, and that senseless ones are named with their range.
#[test]
fn options_are_used_and_checked() {
    let folder = Folder::new();
    let data = bytes(&two_windows(), |p| p.to_le_bytes());
    let spots = folder.file("spots.npy", &npy("'<u2'", "False", "(2, 4, 5)", &data));
    let status = |arguments: &[&str]| {
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"fit", &spots, &"-o", &"-"];
        all.extend(arguments.iter().map(|a| a as &dyn AsRef<std::ffi::OsStr>));
        rows(&succeeds(&all).stdout)[1][8].clone()
    };
    assert_eq!(status(&["--max-error", "1e9"]), "max_error");
    assert_eq!(
        status(&["--max-iterations", "1", "--min-delta", "0", "--min-step", "0"]),
        "max_iterations"
    );
    assert_eq!(status(&["--min-step", "0.5", "--min-delta", "0"]), "min_step");
    assert_eq!(status(&["--min-delta", "0.999"]), "min_delta");
    assert_eq!(status(&["--criteria", "tight", "--min-delta", "0", "--min-step", "0"]), "stalled");
    assert_eq!(status(&["--sigma-min", "2.5"]), "at_limit");
    for backend in ["auto", "cpu", "reference"] {
        let end = status(&["--backend", backend, "--background", "nonnegative"]);
        assert!(["min_delta", "min_step", "stalled"].contains(&&end[..]), "{backend}: {end}");
    }
    for (arguments, says) in [
        (["--max-iterations", "0"], "--max-iterations 0 is out of its range (1 to 100000)"),
        (["--min-delta", "-1"], "--min-delta -1 is out of its range"),
        (["--min-step", "nan"], "--min-step NaN is out of its range"),
        (["--max-error", "inf"], "--max-error inf is out of its range"),
        (["--backend", "gpx"], "there is no backend 'gpx'"),
        (["--criteria", "loose"], "invalid value 'loose'"),
        (["--instruction-set", "mmx"], "choose avx512, avx2, neon or portable"),
        (["--sigma-min", "6"], "--sigma-min 6 is out of its range (below the longer side"),
    ] {
        let [name, value] = arguments;
        let joined = format!("{name}={value}");
        fails(&[&"fit", &spots, &"-o", &"-", &joined], &[says]);
    }
}

/// Proves that output that cannot be written is named, and that input is never overwritten.
#[test]
fn unwritable_output_is_named() {
    let folder = Folder::new();
    let data = bytes(&two_windows(), |p| p.to_le_bytes());
    let file = npy("'<u2'", "False", "(2, 4, 5)", &data);
    let spots = folder.file("spots.npy", &file);
    fails(&[&"fit", &spots, &"-o", &folder.path("no/such/fits.csv")], &["no/such/fits.csv"]);
    fails(&[&"fit", &spots, &"-o", &folder.path("fits.txt")], &["fits.txt", ".csv or .npy"]);
    fails(&[&"fit", &spots, &"-o", &spots], &["would replace an input"]);
    assert_eq!(fs::read(&spots).unwrap(), file);
    fs::create_dir(folder.path("taken.csv")).unwrap();
    fails(&[&"fit", &spots, &"-o", &folder.path("taken.csv")], &["taken.csv", "directory"]);
    assert_eq!(folder.names(), ["spots.npy", "taken.csv"]);
}

/// Proves that an option that the library refuses is named as it is typed.
#[test]
fn options_are_named_as_they_are_typed() {
    let folder = Folder::new();
    let data = bytes(&two_windows(), |p| p.to_le_bytes());
    let spots = folder.file("spots.npy", &npy("'<u2'", "False", "(2, 4, 5)", &data));
    let expected = "--max-iterations 0 is out of its range (1 to 100000)";
    fails(&[&"fit", &spots, &"-o", &"-", &"--max-iterations", &"0"], &[expected]);
}

/// Proves that a terminal is not told to do anything by a name, and that other symbols stay.
#[test]
fn escape_sequences_are_shown() {
    let name = "a\x1b[2J\x07µ\nb\u{9b}.npy";
    fails(&[&"fit", &name, &"-o", &"-"], &["cannot read a\\u{1b}[2J\\u{7}µ\nb\\u{9b}.npy"]);
}

/// Proves that a file that was there is replaced as a whole, links stay links, devices stay devices,
/// and the file is readable for others as usual.
#[cfg(unix)]
#[test]
fn output_takes_the_place_of_a_file() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = Folder::new();
    let data = bytes(&two_windows(), |p| p.to_le_bytes());
    let spots = folder.file("spots.npy", &npy("'<u2'", "False", "(2, 4, 5)", &data));
    let target = folder.file("old.csv", b"old");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path("link.csv");
    symlink(&target, &link).unwrap();
    fails(&[&"fit", &spots, &"-o", &link], &["link.csv", "--overwrite"]);
    assert_eq!(fs::read(&target).unwrap(), b"old");
    succeeds(&[&"fit", &spots, &"-o", &link, &"--overwrite"]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().starts_with("spot,x,"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    let new = folder.path("new.csv");
    succeeds(&[&"fit", &spots, &"-o", &new]);
    assert_ne!(fs::metadata(&new).unwrap().permissions().mode() & 0o044, 0, "private");
    let device = Path::new("/dev/null");
    let null = folder.path("null.csv");
    symlink(device, &null).unwrap();
    succeeds(&[&"fit", &spots, &"-o", &null]);
    assert!(fs::metadata(device).unwrap().file_type().is_char_device());
}

/// Proves that an interrupt, at whatever moment, leaves a whole file or none, and nothing else.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_half_written_file() {
    use std::io::{Read, copy, sink};

    use common::signal;

    let folder = Folder::new();
    let truth = folder.path("truth.csv");
    assert!(Command::new("mkfifo").arg(&truth).status().expect("mkfifo").success());
    let moments = [0, 1, 10_000, 50_000, 200_000, 600_000, 1_000_000, 1_500_000];
    // Six of them have both signals, with and without a reader.
    let count = if nightly() { moments.len() } else { 6 };
    for (round, bytes) in moments.into_iter().take(count).enumerate() {
        let mut child = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
            .args(["simulate", "--count", "100000000", "--size", "9", "-o", "spots.npy"])
            .args(["--truth", "truth.csv"])
            .current_dir(folder.0.path())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It gets no further than its truth is read.
        let mut pipe = fs::File::open(&truth).unwrap();
        copy(&mut (&mut pipe).take(bytes), &mut sink()).unwrap();
        signal(&child, if round % 2 == 0 { "INT" } else { "TERM" });
        if round % 4 < 2 {
            copy(&mut pipe, &mut sink()).unwrap();
        }
        assert_eq!(child.wait().unwrap().code(), Some(130), "{bytes} bytes");
        assert_eq!(folder.names(), ["truth.csv"], "{bytes} bytes");
    }
}

/// Proves that nobody gets a half-written file when the reader of a pipe goes away.
#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .args(["simulate", "--count", "20000", "--size", "9", "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    // The demonstration's files are made all the same: it has said something of its windows before it begins its movie. The rest is
    // said in the same way, and seen at night.
    let folder = Folder::new();
    let out = folder.path("demo");
    let mut child = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .args(["demo", "--count", "1000", "--out", out.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    if nightly() {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(out.join("movie.png").is_file());
        return;
    }
    let has_begun = || {
        let mut names =
            fs::read_dir(&out).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.any(|name| name.contains("movie")).then_some(true)
    };
    // It ends before if what it says is an error.
    let begun = until(|| has_begun().or_else(|| child.try_wait().unwrap().map(|_| false)));
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(begun, "{}", String::from_utf8_lossy(&output.stderr));
}

/// Proves that the simulation is checked, and writes what it is asked for.
#[test]
fn simulate_checks_and_writes() {
    let folder = Folder::new();
    let output = folder.path("s.npy");
    let simulate = |arguments: &[&str]| {
        let mut all = vec!["simulate", "--count", "3", "-o", output.to_str().unwrap()];
        all.extend(arguments);
        Command::new(env!("CARGO_BIN_EXE_spotfit-tested")).args(all).output().unwrap()
    };
    assert!(simulate(&["--size", "7", "--height", "5", "--dtype", "u16"]).status.success());
    let file = fs::read(&output).unwrap();
    let header = String::from_utf8_lossy(&file[..128]).into_owned();
    assert!(header.contains("'<u2'") && header.contains("(3, 5, 7)"), "{header}");
    assert_eq!(file.len(), 128 + 3 * 5 * 7 * 2);
    fs::remove_file(&output).unwrap();
    for (arguments, says) in [
        (&["--size", "2"][..], "2×2 pixels (width×height) is too small"),
        (&["--size", "9", "--photons=-4"], "--photons -4 is out of its range"),
        (&["--size", "9", "--photons", "nan"], "--photons NaN is out of its range"),
        (&["--size", "9", "--sigma-min", "3"], "--sigma-max 2 is out of its range"),
        (&["--size", "9", "--dtype", "u8", "--photons", "1e6"], "does not fit the type '|u1'"),
        (&["--width", "9"], "--size"),
    ] {
        let output = simulate(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(says), "{says}: {said}");
        assert!(folder.names().is_empty());
    }
}

/// Proves the README's first command on few spots.
#[test]
fn the_demo_writes_its_files() {
    let folder = Folder::new();
    let out = folder.path("demo");
    let output = succeeds(&[&"demo", &"--out", &out, &"--count", &"2000"]);
    let said = String::from_utf8_lossy(&output.stdout);
    for part in ["400:40", "1600:0", "Gpufit *", "Fit2DGaussian *", "fits/s", "depth.png"] {
        assert!(said.contains(part), "'{part}' is missing in: {said}");
    }
    assert_eq!(rows(&fs::read(out.join("fits.csv")).unwrap()).len(), 2001);
    assert_eq!(rows(&fs::read(out.join("truth.csv")).unwrap()).len(), 2001);
    let numbers = |name: &str| {
        let line = said.lines().find(|line| line.starts_with(name)).expect(name);
        let words: Vec<&str> = line.split_whitespace().rev().take(3).collect();
        [2, 1, 0].map(|word| words[word].parse::<f64>().expect(line))
    };
    assert_eq!(numbers("Drift over 6000 frames, simulated"), [210.0, -150.0, 150.0]);
    assert!(numbers("Drift left, rms").iter().all(|left| (0.0..4.0).contains(left)));
    // What is seen of the movie in two dimensions, of that with drift beside where its spots were, and without beside where they would be.
    let scored = |name: &str| -> Vec<f64> {
        let lines = said.lines().filter_map(|line| line.strip_prefix(name));
        lines.map(|rest| rest.split_whitespace().next().unwrap().parse().expect(rest)).collect()
    };
    let (precision, rmse) = (scored("precision "), scored("rmse "));
    assert!(precision.len() == 3 && precision.iter().all(|share| *share > 98.0), "{said}");
    assert!(scored("recall ")[0] > 70.0, "{said}");
    assert!((rmse[2] / rmse[1] - 1.0).abs() < 0.05, "{said}");
    // Every file that is named is there, and every picture is one.
    let list = said.split("Written to").nth(1).expect("the list of files");
    let named = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let named: Vec<&str> = named.collect();
    assert!(named.len() > 10);
    for name in named {
        let bytes = fs::read(out.join(name)).expect(name);
        assert!(!name.ends_with(".png") || bytes.starts_with(b"\x89PNG"), "{name}");
    }
}
