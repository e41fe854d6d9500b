//! Simulations of any length: what streams, what is refused, and which files they may go to.
#![cfg(unix)]

mod common;

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Folder, fails, succeeds};

/// The command with bounds on memory and files: a test that fails is not to take the machine with it.
fn bounded() -> Command {
    let mut command = Command::new("sh");
    let bounds = "ulimit -v 4000000; ulimit -f 1000000; exec \"$0\" \"$@\"";
    command.args(["-c", bounds, env!("CARGO_BIN_EXE_spotfit")]);
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
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = Vec::new();
        arguments.extend(windows.iter().map(|a| a as &dyn AsRef<std::ffi::OsStr>));
        arguments.extend([&output as &dyn AsRef<std::ffi::OsStr>, &"--truth", &truth]);
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
