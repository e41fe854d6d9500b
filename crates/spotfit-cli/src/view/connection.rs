//! A connection: who may ask, and how long it may take.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::answer::{Answer, Refused, Reply, stream};
use super::routes::{Call, answer};
use super::server::time;
use super::session::Session;

/// How long a request may take to come, and another after it.
const HEAD: Duration = Duration::from_secs(5);
/// How long its body may take.
const BODY: Duration = Duration::from_secs(10);
/// The variable that changes both in tests.
const WAITS: &str = "SPOTFIT_VIEW_WAITS";
/// The most bytes of a head, and of its address.
const MOST_HEAD: usize = 32 << 10;
const MOST_HEADERS: usize = 64;
/// The most bytes of a body.
const MOST_BODY: usize = 1 << 20;

/// Answers what comes through a connection. `proved` says whether somebody who knows the secret is at its other end.
pub(super) async fn serve(stream: TcpStream, session: Arc<Session>, proved: Arc<AtomicBool>) {
    let service = service_fn(move |request| {
        let (session, proved) = (session.clone(), proved.clone());
        async move { Ok::<_, Infallible>(reply(session, request, &proved).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(time(HEAD, WAITS));
    builder.max_buf_size(MOST_HEAD).max_headers(MOST_HEADERS);
    // Whoever breaks off has no answer.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

async fn reply(
    session: Arc<Session>,
    request: Request<Incoming>,
    proved: &AtomicBool,
) -> Response<Reply> {
    let (head, incoming) = request.into_parts();
    let path = match allowed(&session, &head.uri, &head.headers) {
        Ok(path) => path.to_owned(),
        Err(refused) => return closing(refused),
    };
    proved.store(true, Ordering::Relaxed);
    if head.method == Method::GET && path == "api/events" {
        let (events, page) = session.events.listen();
        return stream(events, page);
    }
    let body = match body(incoming).await {
        Ok(body) => body,
        Err(refused) => return closing(refused),
    };
    let query = head.uri.query().unwrap_or_default().to_owned();
    // Dropped with this answer, also where the other end has gone before it came.
    let asks = Asks::default();
    let call = Call { method: head.method, path, query, body, gone: asks.0.clone() };
    let answered = spawn_blocking(move || answer(&session, &call).unwrap_or_else(Answer::from));
    let text = "this is a fault of Spotfit; please report it";
    let failed = |_| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, text);
    answered.await.map_err(failed).unwrap_or_else(Answer::from).into()
}

/// Somebody who waits for an answer: what is worked on for those who have gone ends.
#[derive(Default)]
struct Asks(Arc<AtomicBool>);

impl Drop for Asks {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An answer after which nothing more is read.
fn closing(refused: Refused) -> Response<Reply> {
    Answer::from(refused).with_header("connection", "close").into()
}

/// The path after the secret, if the request comes from a page of this server.
fn allowed<'a>(session: &Session, uri: &'a Uri, headers: &HeaderMap) -> Result<&'a str, Refused> {
    let one = |name: HeaderName| -> Result<Option<&[u8]>, Refused> {
        let mut values = headers.get_all(&name).iter();
        match (values.next(), values.next()) {
            (value, None) => Ok(value.map(HeaderValue::as_bytes)),
            _ => Err(Refused::forbidden(format!("{name} is said twice"))),
        }
    };
    let host = one(HOST)?.unwrap_or_default();
    let hosts = session.hosts();
    let is_ours = |host: &[u8]| hosts.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(host));
    let authority = uri.authority().map(|authority| authority.as_str().as_bytes());
    if !is_ours(host) || authority.is_some_and(|authority| !is_ours(authority)) {
        return Err(Refused::forbidden("this server is no other host"));
    }
    let origin = one(ORIGIN)?;
    let same = |origin: &[u8]| origin.strip_prefix(b"http://").is_some_and(is_ours);
    let fetch = |name| one(HeaderName::from_static(name));
    let rest = uri.path().strip_prefix('/').and_then(|path| path.split_once('/'));
    // The file by which the window is opened in a browser is a page of nobody: it may lead here, and no more.
    let leads = fetch("sec-fetch-mode")? == Some(b"navigate")
        && fetch("sec-fetch-dest")? == Some(b"document")
        && rest.is_some_and(|(_, path)| path.is_empty());
    let across = fetch("sec-fetch-site")? == Some(b"cross-site") && !leads;
    if origin.is_some_and(|origin| !same(origin)) || across {
        return Err(Refused::forbidden("pages of other servers may not ask"));
    }
    match rest {
        Some((token, path)) if session.is_token(token) => Ok(path),
        _ => Err(Refused::missing("not found")),
    }
}

/// All of a body.
async fn body(mut incoming: Incoming) -> Result<Bytes, Refused> {
    let large = || Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 1 MiB");
    let announced = incoming.size_hint().lower();
    if announced > MOST_BODY as u64 {
        return Err(large());
    }
    let all = async {
        let mut all = Vec::new();
        while let Some(frame) = poll_fn(|context| Pin::new(&mut incoming).poll_frame(context)).await
        {
            let frame = frame.map_err(|_| Refused::wrong("the request ended too early"))?;
            if let Ok(data) = frame.into_data() {
                if all.len() + data.len() > MOST_BODY {
                    return Err(large());
                }
                all.extend_from_slice(&data);
            }
        }
        Ok(Bytes::from(all))
    };
    let late = |_| Refused::new(StatusCode::REQUEST_TIMEOUT, "the request took too long");
    timeout(time(BODY, WAITS), all).await.map_err(late)?
}
