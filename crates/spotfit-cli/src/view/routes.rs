//! Which request is answered by what.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::body::Bytes;
use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;
use spotfit::steps::Listener;

use super::answer::{Answer, Refused};
use super::look;
use super::measure;
use super::page;
use super::picks;
use super::preview;
use super::query::{self, Query};
use super::session::Session;
use super::words::{check, is_bare, not_elsewhere};

/// The font of the pictures, which the page has too.
const FONT: &str = "page/sans.ttf";

/// A request of somebody who may ask.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    /// After the secret.
    pub(super) path: String,
    pub(super) query: String,
    pub(super) body: Bytes,
    /// Whether whoever asked has gone.
    pub(super) gone: Arc<AtomicBool>,
}

/// The work for somebody who has gone ends.
impl Listener for Call {
    fn is_cancelled(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }
}

#[derive(Deserialize)]
struct Run {
    verb: String,
    words: Vec<String>,
    #[serde(default)]
    replace: bool,
}

#[derive(Deserialize)]
struct Cancel {
    job: u64,
}

/// Answers a request.
pub(super) fn answer(session: &Session, call: &Call) -> Result<Answer, Refused> {
    let Call { method, path, query, body, .. } = call;
    if call.is_cancelled() {
        return Err(Refused::wrong("nobody waits for the answer"));
    }
    if method == Method::GET || method == Method::HEAD {
        if let Some(answer) = of_page(path) {
            return Ok(answer);
        }
        let query = Query::of(query)?;
        return match path.as_str() {
            "api/session" => Ok(Answer::json(&session.told())),
            "api/frame" => movie(session)?.frame(&query),
            "api/movie" => movie(session)?.with(&query),
            "api/tile" => look::tile(session, &query),
            "api/contrast" => look::contrast(session, &query),
            "api/histogram" => measure::histogram(session, &query),
            "api/near" => measure::near(session, &query),
            "api/points" => measure::points(session, &query),
            "api/file" => file(session, &query.needed::<String>("name")?),
            _ => Err(Refused::missing("not found")),
        };
    }
    if method != Method::POST {
        let text = "GET and POST are understood";
        return Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, text));
    }
    match path.as_str() {
        "api/run" => {
            let Run { verb, words, replace } = query::body(body)?;
            let checked = check(session, &verb, &words, replace)?;
            let command = checked.command.clone();
            let job = session.jobs.add(checked)?;
            Ok(Answer::json(&json!({ "job": job, "command": command })))
        }
        "api/cancel" => {
            let Cancel { job } = query::body(body)?;
            session.jobs.cancel(job);
            Ok(Answer::json(&json!({})))
        }
        "api/profile" => picks::profile(session, body, call),
        "api/pick" => picks::pick(session, body, call),
        "api/preview" => preview::preview(session, body),
        "api/preset" => preview::preset(session, body),
        "api/window" => preview::window(session, body),
        _ => Err(Refused::missing("not found")),
    }
}

fn movie(session: &Session) -> Result<&super::movie::Opened, Refused> {
    session.movie.as_ref().ok_or_else(|| Refused::missing("this window has no movie"))
}

/// A file of the page.
fn of_page(path: &str) -> Option<Answer> {
    if path == FONT {
        return Some(Answer::new("font/ttf", spotfit::render::LABEL_FONT));
    }
    let name = if path.is_empty() { "index.html" } else { path.strip_prefix("page/")? };
    #[cfg(debug_assertions)]
    if let Some(folder) = std::env::var_os("SPOTFIT_VIEW_PAGE").filter(|_| is_bare(name)) {
        let content = std::fs::read(std::path::Path::new(&folder).join(name)).ok()?;
        return Some(Answer::new(page::kind(name), content));
    }
    page::file(name).map(|file| Answer::new(page::kind(file.name), file.content))
}

/// A file that was made here.
fn file(session: &Session, name: &str) -> Result<Answer, Refused> {
    let missing = || Refused::missing(format!("{name}: the window made no such file"));
    if !is_bare(name) || !session.has_made(name) {
        return Err(missing());
    }
    not_elsewhere(name)?;
    let content = std::fs::read(name).map_err(|_| missing())?;
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let kind = match ending.as_str() {
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "html" | "htm" => "text/html; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        _ => "application/octet-stream",
    };
    Ok(Answer::new(kind, content).into_report())
}
