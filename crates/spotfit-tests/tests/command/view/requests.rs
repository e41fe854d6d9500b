//! What is asked of the files of a window: only those that were named and those that were made.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use serde_json::json;

use super::jobs::movie;
use super::pictures::table;
use super::window::Window;
use crate::common::set::frames;
use crate::common::{Folder, endless, fails, until, worked};

/// Proves that no name leads out of the folder or to files that nobody named, in results, in words and in addresses.
#[test]
fn nothing_leads_elsewhere() {
    let (folder, outside) = (Folder::new(), Folder::new());
    movie(&folder, 4);
    table(&folder, 50);
    let secret = outside.file("secret.csv", b"id,frame,x,y\n1,0,1,2\n");
    let secret = secret.to_str().expect("text");
    folder.file("other.csv", b"id,frame,x,y\n1,0,1,2\n");
    let window = Window::open(folder.0.path(), &["m.tif", "locs.csv"]);
    window.wait_for_tables();
    let absolute = outside.path("new.csv");
    let absolute = absolute.to_str().expect("text");
    let refused = |verb: &str, words: &[&str]| {
        let answer = window.post("api/run", &json!({ "verb": verb, "words": words }));
        assert!(matches!(answer.status, 400 | 403), "{verb} {words:?}: {}", answer.status);
        answer.error()
    };
    for output in [
        "../new.csv",
        absolute,
        "a/../../new.csv",
        "sub/new.csv",
        "./new.csv",
        "..",
        ".hidden.csv",
        "-",
        "/dev/stdout",
        "~/new.csv",
        "C:\\new.csv",
        "..\\new.csv",
    ] {
        refused("filter", &["locs.csv", "x > 0", "-o", output]);
        refused("localize", &["-o", output]);
        refused("filter", &["locs.csv", "x > 0", &format!("--output={output}")]);
    }
    for input in [
        secret,
        "other.csv",
        "../secret.csv",
        "./locs.csv",
        "/etc/passwd",
        "-",
        "m.tif/../other.csv",
    ] {
        refused("filter", &[input, "x > 0", "-o", "new.csv"]);
        refused("stats", &["locs.csv", "--drift", input, "-o", "new.html"]);
        refused("drift", &["locs.csv", "--beads", input, "-o", "new.csv"]);
        refused("drift", &["locs.csv", "--apply", input, "-o", "new.csv"]);
        refused("localize", &["--defects", input, "-o", "new.csv"]);
        refused("localize", &["--calibration", input, "-o", "new.csv"]);
        refused("pick", &["locs.csv", "--picks", input, "-o", "new.csv"]);
    }
    refused("localize", &["other.tif", "-o", "new.csv"]);
    refused("filter", &["locs.csv", "x > 0", "-o", "locs.csv"]);
    assert!(refused("localize", &["--follow", "-o", "new.csv"]).contains("follow"));
    for verb in ["simulate", "fit", "view", "demo", "options", "batch", "--help", ""] {
        refused(verb, &["-o", "new.csv"]);
    }
    for path in [
        "page/../api/session",
        "page/..%2f..%2fetc/passwd",
        "page/%2e%2e/index.html",
        "page//etc/passwd",
        "../",
        "page/",
        "api/file?name=locs.csv",
        "api/file?name=../m.tif",
        "api/file?name=%2e%2e%2fm.tif",
        "api/file?name=/etc/passwd",
        "api/file?name=other.csv",
        "api/file",
        "api/",
    ] {
        let status = window.get(path).status;
        assert!(matches!(status, 400 | 403 | 404), "{path}: {status}");
    }
    assert_eq!(folder.names(), ["locs.csv", "m.tif", "other.csv"]);
    assert_eq!(outside.names(), ["secret.csv"]);
    window.ends_well();
}

/// Proves that links in the folder are not followed, neither those that were there nor those that take the place of what was made.
#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let (folder, outside) = (Folder::new(), Folder::new());
    movie(&folder, 4);
    table(&folder, 50);
    let target = outside.file("target.csv", b"precious");
    let link = |name: &str| std::os::unix::fs::symlink(&target, folder.path(name)).expect("a link");
    link("link.csv");
    link("beside.csv.spotfit.json");
    link("picasso.yaml");
    let window = Window::open(folder.0.path(), &["m.tif", "locs.csv"]);
    window.wait_for_tables();
    for output in ["link.csv", "beside.csv", "picasso.hdf5"] {
        let words = json!({ "verb": "filter", "words": ["locs.csv", "x > 0", "-o", output], "replace": true });
        assert_eq!(window.post("api/run", &words).status, 403, "{output}");
    }
    assert_eq!(window.run("filter", &["locs.csv", "x > 0", "-o", "made.csv"])["kind"], "done");
    assert_eq!(window.get("api/file?name=made.csv").status, 200);
    std::fs::remove_file(folder.path("made.csv")).expect("it goes");
    link("made.csv");
    assert_eq!(window.get("api/file?name=made.csv").status, 403);
    let words = json!({ "verb": "stats", "words": ["made.csv", "-o", "made.html"] });
    assert_eq!(window.post("api/run", &words).status, 403);
    assert_eq!(std::fs::read(&target).expect("it is there"), b"precious");
    window.ends_well();
}

/// Proves that files that were there are replaced only where that is asked for.
#[test]
fn files_of_others_stay() {
    let folder = Folder::new();
    table(&folder, 50);
    folder.file("mine.csv", b"precious");
    let window = Window::open(folder.0.path(), &["locs.csv"]);
    window.wait_for_tables();
    let mut asked = json!({ "verb": "filter", "words": ["locs.csv", "x > 0", "-o", "mine.csv"] });
    let answer = window.post("api/run", &asked);
    assert_eq!((answer.status, answer.error().contains("is there already")), (409, true));
    assert_eq!(std::fs::read(folder.path("mine.csv")).expect("it is there"), b"precious");
    let events = window.events();
    asked["replace"] = true.into();
    let job = window.post("api/run", &asked).json()["job"].as_u64().expect("a job");
    assert_eq!(events.end_of(job)["kind"], "done");
    // What the window made it may make again.
    assert_eq!(window.run("filter", &["locs.csv", "x > 9", "-o", "mine.csv"])["kind"], "done");
    window.ends_well();
}

/// Proves that a file which gets the name of an output after the page was asked stays, whether there was none or the one that the user let
/// be replaced; and that the error says so.
#[test]
fn files_that_come_after_the_question_stay() {
    let folder = Folder::new();
    endless(&folder);
    table(&folder, 50);
    let window = Window::open(folder.0.path(), &["endless.raw", "locs.csv"]);
    window.wait_for_tables();
    for (there, replace) in [(false, false), (true, true)] {
        let own = folder.path("mine.csv");
        if there {
            folder.file("mine.csv", b"of before");
        }
        // The jobs after one without an end wait.
        let first = json!({ "verb": "localize", "words": ["-o", "endless.csv"] });
        let first = window.post("api/run", &first).json()["job"].as_u64().expect("a job");
        let words = json!({ "verb": "filter", "words": ["locs.csv", "x > 0", "-o", "mine.csv"], "replace": replace });
        let events = window.events();
        let job = window.post("api/run", &words).json()["job"].as_u64().expect("a job");
        folder.file("another", b"precious");
        std::fs::rename(folder.path("another"), &own).expect("renamed");
        assert_eq!(window.post("api/cancel", &json!({ "job": first })).status, 200);
        let ended = events.end_of(job);
        assert_eq!(ended["kind"], "failed", "{ended}");
        assert!(
            ended["error"]
                .as_str()
                .is_some_and(|text| text.contains("mine.csv") && text.contains("meanwhile")),
            "{ended}"
        );
        assert_eq!(std::fs::read(&own).expect("it is there"), b"precious");
        std::fs::remove_file(&own).expect("it goes");
    }
    window.ends_well();
}

/// Proves that a movie whose name begins as an option does is shown and localized, where `--` stands before it.
#[test]
fn names_may_begin_as_options_do() {
    let folder = Folder::new();
    movie(&folder, 4);
    std::fs::rename(folder.path("m.tif"), folder.path("--x.tif")).expect("renamed");
    let window = Window::open(folder.0.path(), &["--", "--x.tif"]);
    assert_eq!(window.get("api/frame?number=3").status, 200);
    let done = window.run("localize", &["-o", "a.csv", "--baseline", "100", "--sensitivity", "1"]);
    assert_eq!(done["kind"], "done", "{done}");
    assert!(folder.path("a.csv").is_file());
    window.ends_well();
}

/// Proves that a request is for at most eight tables, each once: by one of a few bytes for a million tables, memory would end.
#[test]
fn requests_have_bounds() {
    let folder = Folder::new();
    table(&folder, 50);
    let window = Window::open(folder.0.path(), &["locs.csv"]);
    window.wait_for_tables();
    let near =
        |tables: &str| window.get(&format!("api/near?tables={tables}&x=1&y=1&radius=9")).status;
    assert_eq!(near("0"), 200);
    for tables in ["0,0", "0,1,2,3,4,5,6,7,8"] {
        assert_eq!(near(tables), 400, "{tables}");
        let ids: Vec<usize> = tables.split(',').map(|id| id.parse().expect("a number")).collect();
        let picks = json!({ "tables": ids, "picks": ["circle:1000,1000,500"] });
        let answer = window.post("api/pick", &picks);
        assert_eq!(answer.status, 400, "{tables}");
        assert!(answer.error().contains("at most 8 tables, each once"), "{}", answer.error());
    }
    window.ends_well();
}

/// Proves that what nobody waits for any more ends: the server answers others long before the work would be done.
#[cfg(target_os = "linux")]
#[test]
fn work_for_those_who_have_gone_ends() {
    let folder = Folder::new();
    table(&folder, 60_000);
    let window = Window::open(folder.0.path(), &["locs.csv"]);
    window.wait_for_tables();
    let process = window.process().to_string();
    let worked = || worked(&process).expect("the system tells it");
    let corner = |number: usize| format!("polygon:{},0,9000,0,9000,9000,0,9000", number % 100);
    let picks: Vec<String> = (0..10_000).map(corner).collect();
    let body = json!({ "tables": [0], "picks": picks }).to_string();
    let request = format!(
        "POST /{}/api/pick HTTP/1.1\r\n{}\r\nContent-Length: {}\r\n\r\n{body}",
        window.token,
        window.host(),
        body.len()
    );
    let before = worked();
    // As many as the server works on at a time.
    let asked = (0..6).map(|_| {
        let mut stream = window.connect();
        stream.write_all(request.as_bytes()).expect("a request");
        stream
    });
    let asked: Vec<_> = asked.collect();
    until(|| (worked() > before + 30).then_some(()));
    drop(asked);
    assert_eq!(window.get("api/session").status, 200);
    // Time of a processor, in hundredths of a second, which load does not change. All of the work takes a minute.
    assert!(worked() - before < 1500, "{}", worked() - before);
    window.ends_well();
}

/// Proves that the secret is in no command line: the browser is given a file that its user alone can read, which leads to the window, may do
/// so, and is gone at the end.
#[cfg(target_os = "linux")]
#[test]
fn the_secret_is_in_no_command_line() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    table(&folder, 5);
    for name in ["bin", "temporary"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    let at = folder.0.path().display();
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{at}/words'\nstat -c %a \"$1\" > '{at}/mode'\ncp \"$1\" '{at}/page'\nmv '{at}/page' '{at}/page.html'\n"
    );
    let program = folder.file("bin/xdg-open", script.as_bytes());
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut child = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
        .args(["view", "locs.csv"])
        .current_dir(folder.0.path())
        .env("PATH", format!("{}:{path}", folder.path("bin").display()))
        .env("TMPDIR", folder.path("temporary"))
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    let address = line.split(' ').find(|word| word.starts_with("http://")).expect("an address");
    until(|| folder.path("page.html").exists().then_some(()));
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).expect("a file");
    let token = address.trim_end_matches('/').rsplit('/').next().expect("a secret");
    assert!(token.len() == 32 && !read("words").contains(token), "{}", read("words"));
    assert_eq!(read("mode"), "600\n");
    assert!(read("page.html").contains(address), "{}", read("page.html"));
    // What a browser says of a page that a file leads to; nothing else may be asked so.
    let host = address.split('/').nth(2).expect("a host");
    let lines =
        ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"];
    for (path, status) in [("", " 200 "), ("api/session", " 403 ")] {
        let mut stream = std::net::TcpStream::connect(host).expect("a connection");
        let request = format!(
            "GET /{token}/{path} HTTP/1.1\r\nHost: {host}\r\n{}\r\nConnection: close\r\n\r\n",
            lines.join("\r\n")
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(
            answer.lines().next().is_some_and(|first| first.contains(status)),
            "{path}: {answer}"
        );
    }
    crate::common::signal(&child, "INT");
    assert!(child.wait().expect("an end").success());
    assert_eq!(std::fs::read_dir(folder.path("temporary")).expect("a folder").count(), 0);
}

/// Proves that a movie that vanishes or is cut off while it is shown is an error or is served, and that the window stays.
#[test]
fn files_that_vanish_are_errors() {
    let folder = Folder::new();
    movie(&folder, 40);
    table(&folder, 50);
    let window = Window::open(folder.0.path(), &["m.tif", "locs.csv"]);
    window.wait_for_tables();
    assert_eq!(window.get("api/frame?number=3").status, 200);
    for number in ["0", "41", "-1", "x", "99999999999999999999", ""] {
        assert!(
            matches!(window.get(&format!("api/frame?number={number}")).status, 400 | 404),
            "{number}"
        );
    }
    let bytes = std::fs::read(folder.path("m.tif")).expect("a movie");
    std::fs::write(folder.path("m.tif"), &bytes[..bytes.len() / 3]).expect("a shorter movie");
    for number in [40, 2, 30, 1] {
        let answer = window.get(&format!("api/frame?number={number}"));
        assert!(answer.status == 200 || !answer.error().is_empty(), "{number}");
    }
    std::fs::remove_file(folder.path("m.tif")).expect("it goes");
    std::fs::remove_file(folder.path("locs.csv")).expect("it goes");
    for number in [40, 2, 30, 1] {
        let answer = window.get(&format!("api/frame?number={number}"));
        assert!(answer.status == 200 || !answer.error().is_empty(), "{number}");
    }
    let failed = window.run("localize", &["-o", "a.csv"]);
    assert_eq!(
        (
            failed["kind"].as_str(),
            failed["error"].as_str().is_some_and(|text| text.contains("m.tif"))
        ),
        (Some("failed"), true)
    );
    assert_eq!(window.run("filter", &["locs.csv", "x > 0", "-o", "b.csv"])["kind"], "failed");
    // What is in memory is served.
    assert_eq!(window.get("api/tile?tables=0&pixel=64&x=0&y=0").status, 200);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    window.ends_well();
}

/// Proves that a window shows the channel that its command chooses and the one that a request chooses, says how many frames it has, and
/// localizes it; and that what no movie has is an error.
#[test]
fn channels_are_chosen() {
    let folder = Folder::new();
    // Three frames of one channel between those of another, each with its number in every pixel.
    let pages = (0..6).map(|page| vec![100 + page; 24 * 20]);
    let two = "ImageJ=1\nimages=6\nchannels=2\nframes=3\n";
    let path = folder.file("two.tif", &frames(pages, (24, 20), two, None));
    fails(&[&"view", &"--no-open", &path], &["2 channels", "--channel N, from 1 to 2"]);
    fails(&[&"view", &"--no-open", &path, &"--channel", &"3"], &["no channel 3"]);
    let table = folder.file("locs.csv", b"id,frame,x,y\n1,0,1,2\n");
    let nothing = &["--channel is for a movie, and none is named"];
    fails(&[&"view", &"--no-open", &table, &"--channel", &"1"], nothing);

    let window = Window::open(folder.0.path(), &["two.tif", "--channel", "2"]);
    let movie = &window.get("api/session").json()["movie"];
    assert_eq!(
        (movie["frames"].as_u64(), movie["options"]["channel"].as_str()),
        (Some(3), Some("2"))
    );
    let names = ["channel", "slice", "position", "strict", "max-frame-pixels"];
    let known = movie["options"].as_object().expect("options");
    assert!(known.len() == names.len() && names.iter().all(|name| known.contains_key(*name)));
    let pixel = |query: &str| {
        let answer = window.get(&format!("api/frame?{query}"));
        assert_eq!(answer.status, 200, "{query}");
        assert_eq!(answer.body.len(), 2 * 24 * 20);
        u16::from_le_bytes([answer.body[0], answer.body[1]])
    };
    // In turn, so that what is open is not what is asked for.
    for (query, value) in [
        ("number=1&channel=2", 101),
        ("number=2&channel=2", 103),
        ("number=3&channel=1", 104),
        ("number=2&channel=1&slice=1", 102),
        ("channel=2&number=3", 105),
    ] {
        assert_eq!(pixel(query), value, "{query}");
    }
    assert_eq!(window.get("api/movie?channel=1").json()["frames"], 3);
    for (query, says) in [
        ("channel=3", "no channel 3"),
        ("channel=0", "--channel 0 is out of its range"),
        ("channel=two", "--channel"),
        ("max-frame-pixels=100&channel=1", "--max-frame-pixels"),
        ("", "2 channels"),
    ] {
        for request in [format!("api/movie?{query}"), format!("api/frame?number=1&{query}")] {
            let answer = window.get(&request);
            assert!(
                answer.status >= 400 && answer.error().contains(says),
                "{request}: {}",
                answer.error()
            );
        }
    }
    assert_eq!(window.get("api/frame?number=4&channel=2").status, 404);
    assert_eq!(window.run("localize", &["--channel", "2", "-o", "a.csv"])["kind"], "done");
    window.ends_well();
}
