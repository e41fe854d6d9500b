//! A window without a browser.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::common::{HANGS, told_of, until};

/// A process that serves a window; it ends with this.
pub(crate) struct Window {
    child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
    /// What it says on standard error, and on standard output after the address.
    said: Option<JoinHandle<String>>,
    rest: Option<JoinHandle<String>>,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Self { status, head, body: bytes[end + 4..].to_vec() })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{error}: {} {}", self.head, String::from_utf8_lossy(&self.body))
        })
    }

    /// What an error says.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().expect("an error").to_owned()
    }
}

impl Window {
    pub(crate) fn open(folder: &Path, files: &[&str]) -> Self {
        Self::with(folder, files, &[])
    }

    pub(crate) fn with(folder: &Path, files: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_spotfit-tested"))
            .args(["view", "--no-open"])
            .args(files)
            .current_dir(folder)
            // A busy machine is no slow stranger.
            .env("SPOTFIT_VIEW_WAITS", "600000")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut err = child.stderr.take().expect("a pipe");
        let said = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = err.read_to_string(&mut text);
            text
        });
        let mut address = String::new();
        out.read_line(&mut address).expect("a line");
        let rest = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = out.read_to_string(&mut text);
            text
        });
        let parts = address.trim_end().strip_prefix("http://127.0.0.1:");
        let parts = parts.and_then(|rest| rest.strip_suffix('/')?.split_once('/'));
        let Some((port, token)) = parts else {
            panic!("{address:?}: {}", said.join().expect("what it said"));
        };
        let (port, token) = (port.parse().expect("a port"), token.to_owned());
        Self { child, port, token, said: Some(said), rest: Some(rest) }
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(HANGS)).expect("a time");
        stream.set_write_timeout(Some(HANGS)).expect("a time");
        stream
    }

    /// Sends bytes and nothing more; the answers as they come.
    pub(crate) fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // A server that has seen enough closes before all is sent.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        all
    }

    /// Sends a request with these lines besides the first.
    pub(crate) fn ask_with(&self, first: &str, lines: &[&str], body: &[u8]) -> Answer {
        let mut text = format!("{first} HTTP/1.1\r\n");
        for line in lines {
            text += &format!("{line}\r\n");
        }
        text += "Connection: close\r\n\r\n";
        let mut stream = self.connect();
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(body);
        let _ = stream.write_all(&bytes);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        Answer::of(&all).unwrap_or_else(|| panic!("{first}: {}", String::from_utf8_lossy(&all)))
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask_with(&format!("GET /{}/{path}", self.token), &[&self.host()], b"")
    }

    pub(crate) fn post(&self, path: &str, content: &Value) -> Answer {
        let body = content.to_string();
        let lines = [&*self.host(), &format!("Content-Length: {}", body.len())];
        self.ask_with(&format!("POST /{}/{path}", self.token), &lines, body.as_bytes())
    }

    /// Runs a verb to its end: what is told of it.
    pub(crate) fn run(&self, verb: &str, words: &[&str]) -> Value {
        let events = self.events();
        let asked = self.post("api/run", &serde_json::json!({ "verb": verb, "words": words }));
        assert_eq!(asked.status, 200, "{}", asked.error());
        events.end_of(asked.json()["job"].as_u64().expect("a number"))
    }

    /// Waits until a table that was named is there.
    pub(crate) fn wait_for_tables(&self) -> Value {
        until(|| {
            let session = self.get("api/session").json();
            let tables = session["tables"].as_array().expect("tables");
            tables.iter().all(|table| table["growing"] == false).then_some(session)
        })
    }

    /// Waits until the server has looked several times whether it is to end.
    pub(crate) fn wait_for_looks(&self) {
        let woken = || told_of(&self.child, "voluntary_ctxt_switches")?.parse::<u64>().ok();
        match woken() {
            // Its first thread wakes for little else while nobody asks.
            Some(before) => _ = until(|| woken().filter(|now| *now >= before + 12)),
            None => std::thread::sleep(std::time::Duration::from_secs(1)),
        }
    }

    /// A page that listens.
    pub(crate) fn events(&self) -> Events {
        let mut stream = self.connect();
        let request = format!("GET /{}/api/events HTTP/1.1\r\n{}\r\n\r\n", self.token, self.host());
        stream.write_all(request.as_bytes()).expect("a request");
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while line != "retry: 1000\n" {
            line.clear();
            assert!(reader.read_line(&mut line).expect("a line") > 0, "no events");
        }
        Events(reader)
    }

    /// What the process says on standard error until it ends, what on standard output after the address, and how it ends.
    pub(crate) fn close(mut self) -> (String, String, ExitStatus) {
        #[cfg(unix)]
        crate::common::signal(&self.child, "INT");
        #[cfg(not(unix))]
        let _ = self.child.kill();
        self.ended()
    }

    /// The same, when it ends by itself.
    pub(crate) fn ended(&mut self) -> (String, String, ExitStatus) {
        let status = until(|| self.child.try_wait().expect("a process"));
        let text = |of: &mut Option<JoinHandle<String>>| {
            of.take().map(|of| of.join().expect("text")).unwrap_or_default()
        };
        (text(&mut self.said), text(&mut self.rest), status)
    }

    /// It still answers, and nothing in it has panicked.
    pub(crate) fn ends_well(self) {
        assert_eq!(self.get("api/session").status, 200);
        let (said, _, status) = self.close();
        assert!(!said.contains("panicked"), "{said}");
        if cfg!(unix) {
            assert!(status.success(), "{status}: {said}");
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a page hears.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    /// The next event of these kinds.
    pub(crate) fn next(&mut self, kinds: &[&str]) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("a line") > 0, "the events have ended");
            let Some(event) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(event).expect("an event");
            if kinds.iter().any(|kind| event["kind"] == **kind) {
                return event;
            }
        }
    }

    /// How a job ends.
    pub(crate) fn end_of(mut self, job: u64) -> Value {
        loop {
            let event = self.next(&["done", "failed"]);
            if event["job"] == job {
                return event;
            }
        }
    }
}
