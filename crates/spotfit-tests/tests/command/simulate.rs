//! Simulations of any length: what streams, what is refused, and which files they may go to.
#![cfg(unix)]

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{Folder, compared, fails, rows, succeeds};
use fit_core::{Corner, Size};
use fit_sim::{
    Defocus, Heights, Maps, MovieSimulation, SimulatedCamera, SpotProfile, SpotShape,
    SpotSimulation, Truth,
};
use ndarray::ArrayView2;
use spotfit::astigmatism::file::load;
use spotfit::astigmatism::find::SpotWidths;

/// The command with bounds on memory and files: a test that fails is not to take the machine with it.
fn bounded() -> Command {
    let mut command = Command::new("sh");
    let bounds = "ulimit -v 4000000; ulimit -f 1000000; exec \"$0\" \"$@\"";
    command.args(["-c", bounds, env!("CARGO_BIN_EXE_spotfit-tested")]);
    command
}

/// Proves that numbers beyond any use are named with their range, before any memory is asked for or a file begun.
#[test]
fn absurd_numbers_are_refused() {
    let folder = Folder::new();
    let windows = ["simulate", "--size", "9", "-o", "s.npy"];
    let movie = ["simulate", "movie", "-o", "m.npy"];
    let count = i64::MAX.to_string();
    let cases: [(&[&str], &[&str], &str); 9] = [
        (&windows, &["--count", &count], "--count 9223372036854775807 is out of its range (0 to "),
        (&windows, &["--count", "3", "--sigma-min", "1e-300"], "--sigma-min 1e-"),
        (&movie, &["--beads", &count], "--beads 9223372036854775807 is out of its range"),
        (
            &movie,
            &["--beads", "2147483648"],
            "--beads 2147483648 is out of its range (0 to 1000000)",
        ),
        (&movie, &["--width", "65536", "--height", "65536"], "(64 to 67108864 pixels)"),
        (&movie, &["--frames", "18446744073709551615"], "--frames 18446744073709552000 is out"),
        (&movie, &["--spots", "1e6"], "--spots 1000000 is out of its range (0 to 132013 with"),
        (&movie, &["--spots", "1e300"], "of 10000000 molecules)"),
        (&movie, &["--spots", "nan"], "--spots NaN is out of its range"),
    ];
    for (command, arguments, says) in cases {
        let mut bounded = bounded();
        let output = bounded.args(command).args(arguments).current_dir(folder.0.path()).output();
        let output = output.expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(says), "'{says}' is missing in: {said}");
        assert!(folder.names().is_empty(), "{arguments:?} left {:?}", folder.names());
    }
}

/// Proves that memory grows neither with the number of windows or frames nor with the size of the windows: what takes
/// hours to make begins to come at once.
#[test]
fn long_simulations_stream() {
    let folder = Folder::new();
    let pipe = folder.path("m.npy");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let path = pipe.to_str().expect("a plain name");
    let windows = ["simulate", "--count", "100000", "--size", "1000", "-o", path];
    let frames = ["simulate", "movie", "--frames", "1000000000", "-o", path];
    let cases: [&[&str]; 2] = [&windows, &frames];
    for arguments in cases {
        let child =
            bounded().args(arguments).stderr(Stdio::piped()).spawn().expect("the command runs");
        let mut reader = fs::File::open(&pipe).expect("the pipe");
        let mut begin = vec![0; 30 << 20];
        reader.read_exact(&mut begin).expect("the first bytes");
        assert!(begin.starts_with(b"\x93NUMPY"));
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
        drop(reader);
        let output = child.wait_with_output().expect("its end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let Ok(status) = status else { continue };
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("kilobytes");
        println!("{arguments:?}: {peak} kB");
        assert!(peak < 400_000, "{arguments:?}: {peak} kB");
    }
}

/// Proves that two outputs never go to one file, by whatever name, and that nothing is begun.
#[test]
fn two_outputs_need_two_files() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    fs::create_dir(file("sub")).unwrap();
    symlink("new", file("dangling")).unwrap();
    symlink(file("dangling"), file("again")).unwrap();
    symlink("sub", file("folder")).unwrap();
    fs::write(file("old"), "old").unwrap();
    symlink(file("old"), file("link")).unwrap();
    let names = folder.names();
    for (output, truth) in [
        ("a", "a"),
        ("a", "./a"),
        ("a", "sub/../a"),
        ("sub/a", "folder/a"),
        ("old", "link"),
        ("new", "dangling"),
        ("again", "new"),
        ("dangling", "again"),
    ] {
        let (output, truth) = (file(output), file(truth));
        let windows = ["simulate", "--count", "3", "--size", "5", "-o"];
        let mut arguments: Vec<&dyn AsRef<OsStr>> = Vec::new();
        arguments.extend(windows.iter().map(|a| a as &dyn AsRef<OsStr>));
        arguments.extend([&output as &dyn AsRef<OsStr>, &"--truth", &truth]);
        fails(&arguments, &["it is the same file as", truth.to_str().unwrap()]);
        assert_eq!(folder.names(), names);
    }
    let movie = file("m.npy");
    let movie: &Path = &movie;
    fails(&[&"simulate", &"movie", &"-o", &movie, &"--truth", &movie], &["the same file"]);
    fails(
        &[&"simulate", &"--count", &"3", &"--size", &"5", &"-o", &"-", &"--truth", &"-"],
        &["the same file"],
    );
    assert_eq!(folder.names(), names);
    assert_eq!(fs::read(file("old")).unwrap(), b"old");
    // A device keeps nothing, and two files beside each other are two.
    let (null, windows, truth) = ("/dev/null", file("a"), file("b"));
    let run = |output: &Path, truth: &Path| {
        succeeds(&[
            &"simulate",
            &"--count",
            &"3",
            &"--size",
            &"5",
            &"-o",
            &output,
            &"--truth",
            &truth,
        ]);
    };
    run(null.as_ref(), null.as_ref());
    run(&windows, &truth);
    assert!(windows.is_file() && truth.is_file());
}

/// Runs the command with these words and files.
fn simulate(words: &[&str], files: &[(&str, &Path)]) -> Output {
    let mut arguments: Vec<&dyn AsRef<OsStr>> = vec![&"simulate"];
    arguments.extend(words.iter().map(|word| word as &dyn AsRef<OsStr>));
    for (option, file) in files {
        arguments.extend([option as &dyn AsRef<OsStr>, file]);
    }
    succeeds(&arguments)
}

/// The bytes of an NPY file behind its header.
fn npy_data(bytes: &[u8]) -> &[u8] {
    &bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..]
}

/// The names of a table's columns, and its rows as numbers.
fn table(path: &Path) -> (String, Vec<Vec<f64>>) {
    let rows = rows(&fs::read(path).unwrap());
    let numbers = rows[1..].iter().map(|row| row.iter().map(|n| n.parse().unwrap()).collect());
    (rows[0].join(","), numbers.collect())
}

/// Proves that the words for shape and profile give the library's windows, and the truth the columns that the shape has.
#[test]
fn shapes_have_their_columns() {
    let folder = Folder::new();
    let (output, truth) = (folder.path("s.npy"), folder.path("t.csv"));
    let curve = Defocus::default().with_z_range(300.0).with_focus(-150.0).with_depth(450.0);
    let curve_words = ["--z-range", "300", "--focus", "-150", "--depth", "450"];
    type Look = fn(&Truth) -> Vec<f64>;
    let cases: [(&str, SpotShape, &str, Look); 4] = [
        ("circular", SpotShape::Circular, "sigma", |t| vec![t.shape.sigma]),
        ("elliptical", SpotShape::Elliptical, "sigma_x,sigma_y", |t| vec![t.sigma_x, t.sigma_y]),
        ("rotated", SpotShape::Rotated, "sigma_x,sigma_y,angle", |t| {
            vec![t.sigma_x, t.sigma_y, t.angle]
        }),
        ("defocused", SpotShape::Defocused(curve), "sigma_x,sigma_y,z", |t| {
            vec![t.sigma_x, t.sigma_y, t.z]
        }),
    ];
    for (name, shape, columns, look) in cases {
        for (word, profile) in
            [("sampled", SpotProfile::Sampled), ("integrated", SpotProfile::Integrated)]
        {
            let mut words = vec!["--count", "20", "--size", "9", "--shape", name];
            words.extend(["--profile", word, "--em-gain", "250", "--sensitivity", "5"]);
            if name == "defocused" {
                words.extend(curve_words);
            }
            simulate(&words, &[("-o", &output), ("--truth", &truth)]);
            let camera = SimulatedCamera::default().with_gain(0.2).with_em_gain(Some(250.0));
            let spots = SpotSimulation::new(Size::new(9, 9))
                .with_shape(shape)
                .with_profile(profile)
                .with_camera(camera)
                .generate(0..20)
                .unwrap();
            let bytes: Vec<u8> = spots.pixels.iter().flat_map(|p| p.to_le_bytes()).collect();
            assert!(npy_data(&fs::read(&output).unwrap()) == bytes, "{name}, {word}");
            let (header, rows) = table(&truth);
            assert_eq!(header, format!("spot,x,y,{columns},signal,background"));
            for ((spot, row), t) in rows.iter().enumerate().zip(&spots.truth) {
                let mut expected = vec![spot as f64, t.shape.x, t.shape.y];
                expected.extend(look(t));
                expected.extend([400.0, 40.0]);
                assert_eq!(row, &expected);
            }
            assert_eq!(rows.len(), 20);
        }
    }
}

/// Proves that the maps in an NPZ file are these, stored without compression.
fn assert_maps(path: &Path, maps: &Maps) {
    let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let arrays: [(&str, ArrayView2<'_, f32>); 3] =
        [("offset", maps.offset()), ("gain", maps.gain()), ("variance", maps.variance())];
    assert_eq!(archive.len(), 3);
    for (name, array) in arrays {
        let mut file = archive.by_name(&format!("{name}.npy")).unwrap();
        assert_eq!(file.compression(), zip::CompressionMethod::Stored);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        let (height, width) = array.dim();
        let header = String::from_utf8_lossy(&bytes[10..120]).into_owned();
        assert!(header.contains("'<f4'") && header.contains(&format!("({height}, {width})")));
        let expected: Vec<u8> = array.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert!(npy_data(&bytes) == expected, "{name}");
    }
}

/// Proves that maps, corners and windows of an sCMOS camera belong together, and are the same bytes each time.
#[test]
fn maps_and_corners_belong_to_the_windows() {
    let folder = Folder::new();
    let (output, maps) = (folder.path("s.npy"), folder.path("maps.npz"));
    let (corners, truth) = (folder.path("c.csv"), folder.path("t.csv"));
    let files: [(&str, &Path); 4] =
        [("-o", &output), ("--camera", &maps), ("--corners", &corners), ("--truth", &truth)];
    let words = ["--count", "40", "--size", "7", "--camera-size", "50", "--seed", "3"];
    simulate(&words, &files);
    let expected_maps = Maps::simulated(Size::new(50, 50), 3).unwrap();
    assert_maps(&maps, &expected_maps);
    let spots = SpotSimulation::new(Size::new(7, 7))
        .with_seed(3)
        .with_maps(Some(expected_maps))
        .generate(0..40)
        .unwrap();
    let bytes: Vec<u8> = spots.pixels.iter().flat_map(|p| p.to_le_bytes()).collect();
    assert!(npy_data(&fs::read(&output).unwrap()) == bytes);
    let (header, found) = table(&corners);
    assert_eq!(header, "frame,x,y");
    let numbers = |corner: &Corner| [corner.frame, corner.x, corner.y].map(f64::from).to_vec();
    let expected: Vec<Vec<f64>> = spots.corners.unwrap().iter().map(numbers).collect();
    assert_eq!(found, expected);
    let before = files.map(|(_, path)| fs::read(path).unwrap());
    simulate(&words, &files);
    assert!(before == files.map(|(_, path)| fs::read(path).unwrap()));
}

/// Proves that a movie of an sCMOS camera comes with the maps of its frames, and with the columns of its shape.
#[test]
fn movies_have_shapes_and_maps() {
    let folder = Folder::new();
    let (output, maps, truth) = (folder.path("m.npy"), folder.path("maps.NPZ"), folder.path("t"));
    let mut words = vec!["movie", "--frames", "5", "--width", "48", "--height", "40"];
    words.extend(["--shape", "rotated", "--profile", "integrated"]);
    simulate(&words, &[("-o", &output), ("--camera", &maps), ("--truth", &truth)]);
    let expected_maps = Maps::simulated(Size::new(48, 40), 1).unwrap();
    assert_maps(&maps, &expected_maps);
    let mut simulation = MovieSimulation::new(48, 40, 5)
        .with_shape(SpotShape::Rotated)
        .with_profile(SpotProfile::Integrated)
        .with_sigma_spread(0.25)
        .with_maps(Some(expected_maps));
    simulation.molecules = simulation.molecules_for(20.0);
    let mut plan = simulation.plan().unwrap();
    let piece = plan.piece(0..5);
    let bytes: Vec<u8> = piece.frames().iter().flat_map(|p| p.to_le_bytes()).collect();
    assert!(npy_data(&fs::read(&output).unwrap()) == bytes);
    let (header, rows) = table(&truth);
    assert_eq!(header, "frame,x,y,sigma_x,sigma_y,angle,signal,background,molecule");
    let expected: Vec<Vec<f64>> = (0..5)
        .flat_map(|frame| piece.truth(frame))
        .map(|t| {
            let shape = [t.shape.x, t.shape.y, t.sigma_x, t.sigma_y, t.angle];
            let rest = [t.signal, t.background, t.molecule as f64];
            [&[t.frame as f64], &shape[..], &rest[..]].concat()
        })
        .collect();
    assert!(rows.len() > 30);
    assert_eq!(rows, expected);
}

/// Proves that words that make no sense, or none together, are named, and that no file is left.
#[test]
fn senseless_shapes_and_cameras_are_refused() {
    let folder = Folder::new();
    let output = folder.path("s.npy");
    let (maps, corners) = (folder.path("m.npz"), folder.path("c.csv"));
    let windows = ["simulate", "--count", "3", "--size", "9"];
    let movie = ["simulate", "movie", "--frames", "2"];
    let [maps, corners] = [&maps, &corners].map(|path| path.to_str().unwrap());
    let beads = ["simulate", "beads"];
    let cases: [(&[&str], &[&str], &str); 40] = [
        (&movie, &["--drift", "1"], "--drift 1 is out of its range (X,Y or X,Y,Z: two or three"),
        (&movie, &["--drift", "1,2,3,4"], "--drift 1,2,3,4 is out"),
        (&movie, &["--drift", "0,0,0.1"], "--drift X,Y,Z: it needs --shape defocused"),
        (&movie, &["--heights", "structure"], "--heights: it needs --shape defocused"),
        (&movie, &["--heights", "flat"], "possible values: random, structure"),
        (&movie, &["--drift", "0,0,nan", "--shape", "defocused"], "--drift NaN is out"),
        (
            &movie,
            &["--drift", "0,0,-1e4", "--shape", "defocused", "--depth", "90"],
            "--drift -10000 is out of its range (such that no width leaves",
        ),
        (&beads, &["--step", "0"], "--step 0 is out of its range (such that the range has 3 to"),
        (&beads, &["--step=-20"], "--step -20 is out"),
        (&beads, &["--step", "nan"], "--step NaN is out"),
        (&beads, &["--step", "1e-9"], "--step 0.000000001 is out"),
        (&beads, &["--range", "0"], "--range 0 is out of its range (above 0, to 100000 nm)"),
        (&beads, &["--range", "inf"], "--range inf is out"),
        (&beads, &["--range", "9e4", "--step", "1e3"], "--range 90000 is out of its range (such"),
        (&beads, &["--spread=-1"], "--spread -1 is out of its range (0 to 100000 nm)"),
        (&beads, &["--beads", "0"], "--beads 0 is out of its range (1 to 100: each needs 24×24"),
        (&beads, &["--beads", "101"], "of the 256×256 pixels)"),
        (&beads, &["--width", "20"], "--beads 20 is out of its range (1 to 0: each needs"),
        (&windows, &["--em-gain", "0.5"], "--em-gain 0.5 is out of its range (1 to 1e6)"),
        (&movie, &["--em-gain", "nan"], "--em-gain NaN is out of its range"),
        (&windows, &["--shape", "square"], "possible values: circular, elliptical, rotated"),
        (&windows, &["--z-range", "100"], "--z-range: it needs --shape defocused"),
        (&movie, &["--depth", "100", "--shape", "rotated"], "--depth: it needs --shape defocused"),
        (&windows, &["--shape", "defocused", "--depth", "0"], "--depth 0 is out of its range"),
        (&windows, &["--shape", "defocused", "--depth", "2"], "0.1 to 100 times that in focus"),
        (&windows, &["--shape", "defocused", "--z-range", "nan"], "--z-range NaN is out"),
        (&movie, &["--sigma-spread", "1"], "--sigma-spread 1 is out of its range (0 to 0.9)"),
        (&windows, &["--camera", maps], "--camera: give --corners, too"),
        (&windows, &["--corners", corners], "--camera <MAPS.npz>"),
        (&windows, &["--camera", maps, "--corners", maps], "it is the same file as"),
        (&windows, &["--camera", "m.npy", "--corners", corners], "must end in .npz"),
        (
            &windows,
            &["--camera", maps, "--corners", corners, "--camera-size", "8"],
            "8×8 pixels (width×height); 9×9 are needed",
        ),
        (
            &windows,
            &["--camera", maps, "--corners", corners, "--camera-size", "70000"],
            "--camera-size 70000 is out of its range (3 to 65536)",
        ),
        (&movie, &["--density=-1"], "--density -1 is out of its range (0 to "),
        (&movie, &["--density", "nan"], "--density NaN is out of its range"),
        (&movie, &["--density", "1", "--pixel-size", "0"], "--pixel-size 0 is out of its range"),
        (&movie, &["--density", "1", "--spots", "3"], "cannot be used with '--spots"),
        (&movie, &["--pixel-size", "90"], "--density <PER_UM2>"),
        (
            &movie,
            &["--uniform", "--shape", "defocused", "--heights", "structure"],
            "--uniform and --heights structure exclude each other",
        ),
        (&movie, &["--camera", maps, "--read-noise", "1"], "cannot be used with '--read-noise"),
    ];
    for (command, words, says) in cases {
        let mut arguments: Vec<&dyn AsRef<OsStr>> = Vec::new();
        arguments.extend(command.iter().chain(words).map(|word| word as &dyn AsRef<OsStr>));
        arguments.extend([&"-o" as &dyn AsRef<OsStr>, &output]);
        fails(&arguments, &[says]);
        assert!(folder.names().is_empty(), "{words:?} left {:?}", folder.names());
    }
}

/// Proves that a movie has the heights and the drift that its words say, and that random heights are what a movie has
/// without them.
#[test]
fn movies_drift_in_depth() {
    let folder = Folder::new();
    let (output, truth) = (folder.path("m.npy"), folder.path("t.csv"));
    let words = ["movie", "--frames", "8", "--width", "48", "--height", "40", "--shape"];
    let movie = |more: &[&str]| {
        let all: Vec<&str> =
            words.iter().chain(["defocused"].iter()).chain(more).copied().collect();
        simulate(&all, &[("-o", &output), ("--truth", &truth)]);
        (fs::read(&output).unwrap(), table(&truth))
    };
    let plain = movie(&[]);
    assert!(plain == movie(&["--heights", "random", "--drift", "0,0,0"]));
    let (pixels, (header, rows)) = movie(&["--heights", "structure", "--drift", "0.1,-0.2,15"]);
    assert_eq!(header, "frame,x,y,sigma_x,sigma_y,z,signal,background,molecule");
    let mut simulation = MovieSimulation::new(48, 40, 8)
        .with_shape(SpotShape::Defocused(Defocus::default()))
        .with_heights(Heights::Structure)
        .with_drift([0.1, -0.2])
        .with_drift_z(15.0);
    simulation.molecules = simulation.molecules_for(20.0);
    let mut plan = simulation.plan().unwrap();
    let piece = plan.piece(0..8);
    let bytes: Vec<u8> = piece.frames().iter().flat_map(|p| p.to_le_bytes()).collect();
    assert!(npy_data(&pixels) == bytes);
    let z: Vec<f64> = (0..8).flat_map(|frame| piece.truth(frame)).map(|spot| spot.z).collect();
    assert!(z.len() > 30);
    assert_eq!(rows.iter().map(|row| row[5]).collect::<Vec<f64>>(), z);
}

/// Proves that a movie has spots at the density per µm² that its words say, anywhere in the frame or on structures, each with all of
/// its photons, and that the report counts them.
#[test]
fn movies_have_a_density() {
    let folder = Folder::new();
    let (output, truth) = (folder.path("m.npy"), folder.path("t.csv"));
    let words = "movie --json --frames 60 --width 50 --height 40 --density 2 --pixel-size 160 --photons 700";
    let movie = |more: &[&str]| {
        let words: Vec<&str> = words.split(' ').chain(more.iter().copied()).collect();
        let said = simulate(&words, &[("-o", &output), ("--truth", &truth)]).stdout;
        (table(&truth).1, String::from_utf8(said).unwrap())
    };
    let (uniform, said) = movie(&["--uniform"]);
    let expected: f64 = 60.0 * 2.0 * (50.0 * 0.16) * (40.0 * 0.16);
    let count = uniform.len() as f64;
    assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{count} of {expected}");
    assert!(uniform.iter().all(|row| row[4] == 700.0));
    assert!(said.contains(&format!("\"molecules\": {}", uniform.len())), "{said}");
    let corner = |rows: &[Vec<f64>]| rows.iter().filter(|row| row[1] < 4.0 && row[2] < 4.0).count();
    assert!(corner(&uniform) > 20, "{}", corner(&uniform));
    let (structured, _) = movie(&[]);
    assert_eq!((structured.len(), corner(&structured)), (uniform.len(), 0));
}

/// Proves that a simulated stack of beads has the stage heights that it should, beads that stay apart and inside, each at a
/// height of its own, and the same bytes each time.
#[test]
fn bead_stacks_are_as_documented() {
    let folder = Folder::new();
    let (output, truth) = (folder.path("b.tif"), folder.path("t.csv"));
    for (count, width, height) in [("1", 24, 24), ("16", 96, 96), ("7", 30, 200), ("20", 256, 256)]
    {
        let (across, down) = (width.to_string(), height.to_string());
        let mut words = vec!["beads", "--step", "30", "--range", "600", "--spread", "40"];
        words.extend(["--beads", count, "--width", &across, "--height", &down]);
        let run = || {
            simulate(&words, &[("-o", &output), ("--truth", &truth)]);
            (fs::read(&output).unwrap(), fs::read(&truth).unwrap())
        };
        assert!(run() == run());
        let beads: usize = count.parse().unwrap();
        let (_, rows) = table(&truth);
        assert_eq!(rows.len(), 41 * beads);
        let mut own = Vec::new();
        for (row, number) in rows.iter().zip(0..) {
            let (slice, bead) = (number / beads, number % beads);
            assert_eq!([row[0], row[8]], [slice as f64, bead as f64]);
            let stage = 600.0 - 30.0 * slice as f64;
            if slice == 0 {
                own.push(row[5] - stage);
                assert!(own[bead].abs() <= 40.0);
                let others = rows[..bead].iter();
                let apart = |other: &Vec<f64>| (other[1] - row[1]).hypot(other[2] - row[2]);
                assert!(others.map(apart).all(|distance| distance > 20.0), "{count}");
                let inside = |at: f64, side: usize| (9.0..side as f64 - 10.0).contains(&at);
                assert!(inside(row[1], width) && inside(row[2], height), "{row:?}");
            }
            assert!((row[5] - stage - own[bead]).abs() < 1e-9);
            let widths = Defocus::default().widths(1.3, row[5]);
            assert_eq!([row[3], row[4]], widths);
        }
        assert!(beads < 3 || own.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

/// Proves that `simulate beads` and `calibrate` give the curve that was simulated within 3 nm over ±500 nm, and that with it
/// `localize` finds the heights of a simulated movie with the errors that it states.
#[test]
fn simulated_beads_calibrate_simulated_movies() {
    let folder = Folder::new();
    let file = |name: &str| folder.path(name);
    let (beads, calibration) = (file("beads.tif"), file("cal.yaml"));
    simulate(&["beads", "--step", "20"], &[("-o", &beads)]);
    let camera: [&dyn AsRef<OsStr>; 6] =
        [&"--baseline", &"100", &"--sensitivity", &"1", &"--read-noise", &"1.5"];
    let with_camera = |words: &[&dyn AsRef<OsStr>]| succeeds(&[words, &camera].concat());
    with_camera(&[&"calibrate", &beads, &"--step", &"20", &"-o", &calibration]);
    let finder = load(&calibration, None).expect("a calibration");
    let mut worst = 0.0f64;
    for z in (-500..=500).step_by(10).map(f64::from) {
        let sigma = Defocus::default().widths(1.3, z);
        let found = finder.find(&SpotWidths { sigma, errors: [0.01; 2], correlation: 0.0 });
        worst = worst.max((found.z - z).abs());
    }
    println!("the curve is off by {worst:.2} nm at most");
    assert!(worst < 3.0, "{worst}");

    let (movie, truth, locs) = (file("m.tif"), file("t.csv"), file("locs.csv"));
    let mut words = vec!["movie", "--frames", "150", "--width", "128", "--height", "128"];
    words.extend(["--spots", "3", "--shape", "defocused", "--heights", "structure"]);
    words.extend(["--z-range", "400", "--drift", "0,0,0.5", "--unevenness", "0"]);
    words.extend(["--photons", "3000", "--on-time", "10"]);
    simulate(&words, &[("-o", &movie), ("--truth", &truth)]);
    with_camera(&[
        &"localize",
        &movie,
        &"-o",
        &locs,
        &"--calibration",
        &calibration,
        &"--estimator",
        &"mle",
        &"--box",
        &"13",
        &"--pixel-size",
        &"100",
        &"--drop",
        &"all",
    ]);
    let found = compared(&locs, &truth, 300.0, f64::INFINITY);
    let (error, stated) = (found.errors[2], found.stated[2]);
    assert!(found.count > 200 && error < 30.0 && error < 1.2 * stated);
}

/// Proves that windows are not written under the name of another format.
#[test]
fn windows_are_npy() {
    let folder = Folder::new();
    for name in ["s.tif", "s.CSV", "s.hdf5"] {
        let path = folder.path(name);
        fails(&[&"simulate", &"--count", &"3", &"--size", &"9", &"-o", &path], &[name, ".npy"]);
        assert!(!path.exists());
    }
}
