//! Who is not answered: other hosts, other pages, those without the secret, those who send too much or too slowly.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::effort;
use super::jobs::movie;
use super::window::{Answer, Window};
use crate::common::{Folder, fails, until};

/// Proves that the server can be reached from this computer alone, and that it says one line and ends well.
#[test]
fn nothing_listens_beyond_loopback() {
    let folder = Folder::new();
    movie(&folder, 4);
    let window = Window::open(folder.0.path(), &["m.tif"]);
    #[cfg(target_os = "linux")]
    for (file, loopback) in [("tcp", "0100007F"), ("tcp6", "none")] {
        let Ok(text) = std::fs::read_to_string(format!("/proc/{}/net/{file}", window.process()))
        else {
            continue;
        };
        let port = format!(":{:04X}", window.port);
        let listening = text.lines().filter_map(|line| {
            let mut parts = line.split_whitespace().skip(1);
            let (own, _, state) = (parts.next()?, parts.next()?, parts.next()?);
            (state == "0A" && own.ends_with(&port)).then_some(own)
        });
        for own in listening {
            assert_eq!(own, format!("{loopback}{port}"), "it listens elsewhere");
        }
    }
    // An address of this computer that is not loopback, if it has one.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    if socket.connect("192.0.2.1:9").is_ok() {
        let own = socket.local_addr().expect("an address").ip();
        if !own.is_loopback() && !own.is_unspecified() {
            assert!(TcpStream::connect((own, window.port)).is_err(), "{own} answers");
        }
    }
    let (said, rest, status) = window.close();
    assert_eq!((said.as_str(), rest.as_str()), ("", ""));
    if cfg!(unix) {
        assert!(status.success());
    }
}

/// Proves that every request needs the secret, the host of the server, and no other page as its origin.
#[test]
fn strangers_are_refused() {
    let folder = Folder::new();
    movie(&folder, 4);
    let window = Window::open(folder.0.path(), &["m.tif"]);
    let (host, token, port) = (window.host(), window.token.clone(), window.port);
    let status = |first: &str, lines: &[&str]| window.ask_with(first, lines, b"").status;
    let own = format!("GET /{token}/api/session");
    assert_eq!(status(&own, &[&host]), 200);
    assert_eq!(status(&own, &[&format!("Host: localhost:{port}")]), 200);
    assert_eq!(status(&own, &[&host, &format!("Origin: http://127.0.0.1:{port}")]), 200);
    assert_eq!(status(&own, &[&host, "Sec-Fetch-Site: same-origin"]), 200);
    let mut other = token.clone().into_bytes();
    // Still a digit: what is none is no address.
    other[31] = if other[31] == b'0' { b'1' } else { b'0' };
    let other = String::from_utf8(other).expect("text");
    for path in ["api/session", "", "page/index.html", "api/events", "api/frame?number=1"] {
        for first in [
            format!("GET /{path}"),
            format!("GET /{other}/{path}"),
            format!("GET /{}/{path}", &token[..31]),
            format!("GET /{token}x/{path}"),
            format!("GET //{token}/{path}"),
            format!("GET /{path}?{token}"),
            format!("GET /%{:02x}{}/{path}", token.as_bytes()[0], &token[1..]),
        ] {
            assert_eq!(status(&first, &[&host]), 404, "{first}");
        }
    }
    for lines in [
        &["Host: evil.example"][..],
        &["Host: 127.0.0.1"],
        &["Host: 127.0.0.1:1"],
        &["Host: localhost"],
        &[&format!("Host: evil.example:{port}")],
        &[&format!("Host: 127.0.0.1:{port}.evil.example")],
        &[&format!("Host: [::1]:{port}")],
        &["X-Other: 1"],
        &["Host:"],
        &[&host, "Host: evil.example"],
        &[&host, "Origin: http://evil.example"],
        &[&host, "Origin: null"],
        &[&host, &format!("Origin: https://127.0.0.1:{port}")],
        &[&host, &format!("Origin: http://127.0.0.1:{port}.evil.example")],
        &[&host, "Origin: http://127.0.0.1:1"],
        &[&host, &format!("Origin: http://127.0.0.1:{port}"), "Origin: http://evil.example"],
        &[&host, "Sec-Fetch-Site: cross-site"],
    ] {
        let status = status(&own, lines);
        assert!(status == 403 || status == 400, "{lines:?}: {status}");
        // Whatever is asked for.
        let post = format!("POST /{token}/api/cancel");
        assert!(matches!(window.ask_with(&post, lines, b"").status, 400 | 403), "{lines:?}");
    }
    let elsewhere = format!("GET http://evil.example/{token}/api/session");
    assert_eq!(status(&elsewhere, &[&host]), 403);
    window.ends_well();
}

/// Proves that a page may load nothing from elsewhere, and that no other page may show it.
#[test]
fn answers_say_what_pages_may_do() {
    let folder = Folder::new();
    movie(&folder, 4);
    let window = Window::open(folder.0.path(), &["m.tif"]);
    for path in ["", "api/session", "api/nothing", "page/sans.ttf"] {
        let head = window.get(path).head.to_lowercase();
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self';",
            "frame-ancestors 'self'",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(line), "{path}: {line}\n{head}");
        }
    }
    window.ends_well();
}

/// Proves that what is too large is refused before it is read, in heads as in bodies.
#[test]
fn too_much_is_refused() {
    let folder = Folder::new();
    movie(&folder, 4);
    let window = Window::open(folder.0.path(), &["m.tif"]);
    let (host, token) = (window.host(), window.token.clone());
    let post = format!("POST /{token}/api/cancel");
    let large = vec![b' '; 2 << 20];
    let announced = format!("Content-Length: {}", large.len());
    assert_eq!(window.ask_with(&post, &[&host, &announced], b"").status, 413);
    let mut chunked = b"200000\r\n".to_vec();
    chunked.extend(&large);
    chunked.extend(b"\r\n0\r\n\r\n");
    let refused = window.send(
        &[
            format!("{post} HTTP/1.1\r\n{host}\r\nTransfer-Encoding: chunked\r\n\r\n").as_bytes(),
            &chunked,
        ]
        .concat(),
    );
    assert!(Answer::of(&refused).is_none_or(|answer| answer.status == 413));
    let long = "x".repeat(100_000);
    let many: String = (0..1000).map(|number| format!("X-{number}: 1\r\n")).collect();
    for request in [
        format!("GET /{token}/api/session HTTP/1.1\r\n{host}\r\nX-Long: {long}\r\n\r\n"),
        format!("GET /{token}/api/session?{long} HTTP/1.1\r\n{host}\r\n\r\n"),
        format!("GET /{token}/api/session HTTP/1.1\r\n{host}\r\n{many}\r\n"),
    ] {
        let answer = Answer::of(&window.send(request.as_bytes()));
        assert!(answer.is_none_or(|answer| matches!(answer.status, 400 | 414 | 431)));
    }
    let deep = format!("{{\"job\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let length = format!("Content-Length: {}", deep.len());
    assert_eq!(window.ask_with(&post, &[&host, &length], deep.as_bytes()).status, 400);
    let words: Vec<String> = vec!["--frames".to_owned(); 5000];
    assert_eq!(window.post("api/run", &json!({ "verb": "localize", "words": words })).status, 400);
    window.ends_well();
}

/// Proves that those who send slowly are cut off, and others are served before, however many there are of the former.
#[test]
fn slow_requests_are_cut_off() {
    let folder = Folder::new();
    movie(&folder, 4);
    let waits = [("SPOTFIT_VIEW_WAITS", "2000")];
    let window = Window::with(folder.0.path(), &["m.tif"], &waits);
    let slowly = |number| {
        let mut stream = window.connect();
        let begun = format!("GET /{number}/api/session HTTP/1.1\r\nX-Slow: ");
        stream.write_all(begun.as_bytes()).expect("some bytes");
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a time");
        stream
    };
    let is_open = |stream: &mut TcpStream| {
        let _ = stream.write_all(b"x");
        match stream.read(&mut [0; 256]) {
            Ok(count) => count > 0,
            Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    };
    // Where the machine was so busy that the last of them was cut off meanwhile, that says nothing.
    let mut last = until(|| {
        let mut slow: Vec<_> = (0..150).map(slowly).collect();
        for _ in 0..20 {
            assert_eq!(window.get("api/session").status, 200);
        }
        let mut last = slow.pop().expect("a connection");
        is_open(&mut last).then_some(last)
    });
    // A byte now and then keeps nothing open.
    until(|| (!is_open(&mut last)).then_some(()));
    window.ends_well();
}

/// Proves that no bytes that somebody sends make the server panic, or stop: requests with parts left out, repeated and changed, and
/// bytes that are no requests.
#[test]
fn malformed_requests_are_answered_or_not() {
    let folder = Folder::new();
    movie(&folder, 4);
    super::pictures::table(&folder, 300);
    let window = Window::open(folder.0.path(), &["m.tif", "locs.csv"]);
    window.wait_for_tables();
    let (host, token) = (window.host(), window.token.clone());
    let post = |path: &str, body: &str| {
        let length = body.len();
        format!("POST /{token}/{path} HTTP/1.1\r\n{host}\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    let get = |path: &str| format!("GET /{token}/{path} HTTP/1.1\r\n{host}\r\n\r\n");
    let seeds: Vec<String> = vec![
        get(""),
        get("api/session"),
        get("api/frame?number=2"),
        get("api/tile?tables=0&pixel=64&x=0&y=1&peak=3&filter=photons+%3E+300&gamma=0.5"),
        get(
            "api/contrast?tables=0&pixel=64&extent=0,0,4000,4000&colour_by=photons&colour_range=1,2",
        ),
        get("api/histogram?table=0&column=photons&bins=50&filter=x<2000"),
        get("api/near?tables=0&x=100&y=100&radius=400"),
        get("api/points?table=0&extent=0,0,3000,3000&most=50&colour_by=frame"),
        get("api/file?name=..%2f..%2fetc%2fpasswd"),
        post("api/cancel", r#"{"job":7}"#),
        post("api/run", r#"{"verb":"filter","words":["locs.csv","photons > 1e9","-o","/x.csv"]}"#),
        post(
            "api/pick",
            r#"{"tables":[0],"picks":["circle:1000,1000,500","polygon:0,0,9,0,9,9"],"filter":"x>1"}"#,
        ),
        post("api/profile", r#"{"table":0,"from":[0,0],"to":[3000,3000],"width":300,"filter":""}"#),
        format!(
            "POST /{token}/api/cancel HTTP/1.1\r\n{host}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{{\"job\r\n0\r\n\r\n"
        ),
    ];
    let count = effort(3000, 100_000);
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let bytes = changed(&seeds, number as u64);
                    let answer = window.send(&bytes);
                    let failed = Answer::of(&answer).is_some_and(|answer| answer.status == 500);
                    assert!(!failed, "{number}: {}", String::from_utf8_lossy(&bytes));
                }
            });
        }
    });
    println!("{count} requests");
    window.ends_well();
}

/// A request with some parts changed; the same for the same number.
fn changed(seeds: &[String], number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let mut bytes = seeds[draw(seeds.len())].clone().into_bytes();
    // The secret stays whole in most of them, so that more than it is looked at.
    let kept = if draw(8) == 0 { 0 } else { 39.min(bytes.len()) };
    for _ in 0..1 + draw(6) {
        let at = kept + draw(bytes.len() - kept);
        match draw(8) {
            0 => bytes[at] = draw(256) as u8,
            1 => drop(
                bytes.splice(at..at, std::iter::repeat_n(b"\0%,-\"{9 "[draw(8)], 1 + draw(40))),
            ),
            2 => bytes.truncate(at),
            3 => {
                let end = (at + draw(20)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + draw(60)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            5 => {
                let word: &[u8] = [
                    &b"1e999"[..],
                    b"-1",
                    b"NaN",
                    b"inf",
                    b"99999999999999999999",
                    b"%00",
                    b"\r\n",
                    b"null",
                    b"[[",
                    b"..%2f",
                    b"0",
                ][draw(11)];
                bytes.splice(at..at, word.iter().copied());
            }
            6 => {
                let other = seeds[draw(seeds.len())].as_bytes();
                let from = draw(other.len());
                bytes.splice(at..at, other[from..].iter().copied());
            }
            _ => bytes[at] = b"0123456789,.&=?/"[draw(16)],
        }
        if bytes.len() <= kept {
            break;
        }
    }
    bytes
}

/// Proves that what is no movie or table is refused with its reason before a window opens.
#[test]
fn what_is_not_there_is_no_window() {
    let folder = Folder::new();
    folder.file("no.tif", b"this is no movie");
    folder.file("no.csv", b"\x00\xff\x01 no table");
    folder.file("half.csv", b"a,b\n1,2\n");
    folder.file("no.hdf5", b"\x89HDF\r\n\x1a\nand nothing");
    for (file, said) in [
        ("no.tif", "no.tif"),
        ("no.csv", "no.csv"),
        ("half.csv", "x"),
        ("no.hdf5", "no.hdf5"),
        ("none.tif", "none.tif"),
        ("none.yaml", "none.yaml"),
    ] {
        fails(&[&"view", &"--no-open", &folder.path(file)], &[said]);
    }
    movie(&folder, 4);
    fails(&[&"view", &"--no-open", &folder.path("m.tif"), &folder.path("m.tif")], &["twice"]);
    fails(&[&"view", &"--no-open"], &["MOVIE"]);
}

/// Proves that two windows have nothing to do with each other.
#[test]
fn two_windows_are_two() {
    let folder = Folder::new();
    movie(&folder, 4);
    let (one, two) =
        (Window::open(folder.0.path(), &["m.tif"]), Window::open(folder.0.path(), &["m.tif"]));
    assert!(one.port != two.port && one.token != two.token);
    let stolen = format!("GET /{}/api/session", one.token);
    assert_eq!(two.ask_with(&stolen, &[&two.host()], b"").status, 404);
    assert_eq!(
        two.ask_with(&format!("GET /{}/api/session", two.token), &[&one.host()], b"").status,
        403
    );
    let told = one.run("localize", &["-o", "one.csv", "--baseline", "100"]);
    assert_eq!(told["kind"], "done", "{told}");
    assert_eq!(two.get("api/file?name=one.csv").status, 404);
    let (done, refused) = (
        two.run("localize", &["-o", "two.csv", "--baseline", "100"]),
        two.post(
            "api/run",
            &json!({ "verb": "filter", "words": ["one.csv", "x > 1", "-o", "three.csv"] }),
        ),
    );
    assert_eq!((done["kind"].as_str(), refused.status), (Some("done"), 403));
    one.ends_well();
    two.ends_well();
}

/// Proves that the window ends by itself when its page is closed, and not before there was one.
#[test]
fn windows_end_with_their_pages() {
    let folder = Folder::new();
    movie(&folder, 4);
    let mut window = Window::with(folder.0.path(), &["m.tif"], &[("SPOTFIT_VIEW_STAYS", "0")]);
    window.wait_for_looks();
    let (first, second) = (window.events(), window.events());
    drop(first);
    window.wait_for_looks();
    assert_eq!(window.get("api/session").status, 200);
    drop(second);
    let (said, _, status) = window.ended();
    assert!(status.success() && said.is_empty(), "{status}: {said}");
}
