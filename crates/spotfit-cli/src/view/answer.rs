//! What is answered to a request.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;
use spotfit::render::RenderError;
use spotfit::steps::StepError;
use spotfit::steps::pick::PickError;
use spotfit::table::TableError;
use tokio::sync::mpsc::Receiver;

use super::events::Page;
use crate::error::CliError;

/// What the page may do: it loads nothing from elsewhere, and is in no frame of others.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
    connect-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
/// What a report may do that a job made: its texts come from files of others.
const REPORT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox";

/// An answer, made at once.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    kind: &'static str,
    body: Vec<u8>,
    headers: Vec<(&'static str, String)>,
}

/// Why a request has no other answer.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) text: String,
}

impl Refused {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// A request that makes no sense.
    pub(super) fn wrong(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// What must not be.
    pub(super) fn forbidden(text: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, text)
    }

    /// What is not there.
    pub(super) fn missing(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }
}

macro_rules! wrong {
    ($($error:ty),*) => {$(
        impl From<$error> for Refused {
            fn from(error: $error) -> Self {
                Self::wrong(error.to_string())
            }
        }
    )*};
}
wrong!(CliError, PickError, RenderError, TableError, serde_json::Error);

impl From<StepError> for Refused {
    fn from(error: StepError) -> Self {
        CliError::from(error).into()
    }
}

impl From<Refused> for Answer {
    fn from(refused: Refused) -> Self {
        let answer = Self::json(&json!({ "error": refused.text }));
        Self { status: refused.status, ..answer }
    }
}

impl Answer {
    pub(super) fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: StatusCode::OK, kind, body: body.into(), headers: Vec::new() }
    }

    pub(super) fn json(value: &impl Serialize) -> Self {
        // Values of ours have names for keys, and numbers that are not finite become null.
        Self::new("application/json", serde_json::to_vec(value).unwrap_or_default())
    }

    pub(super) fn bytes(body: Vec<u8>) -> Self {
        Self::new("application/octet-stream", body)
    }

    pub(super) fn with_header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// The same as a report that may do less than the page.
    pub(super) fn into_report(self) -> Self {
        self.with_header("content-security-policy", REPORT_POLICY)
    }
}

/// The body of an answer: all of it, or events as they come.
pub(super) enum Reply {
    Whole(Option<Bytes>),
    Events(
        Receiver<Bytes>,
        #[expect(dead_code, reason = "the page listens until it is dropped")] Page,
    ),
}

impl Body for Reply {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events, _) => {
                events.poll_recv(context).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            Self::Whole(bytes) => hyper::body::SizeHint::with_exact(
                bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            ),
            Self::Events(..) => hyper::body::SizeHint::default(),
        }
    }
}

impl From<Answer> for Response<Reply> {
    fn from(answer: Answer) -> Self {
        let Answer { status, kind, body, headers } = answer;
        let mut response = Self::new(Reply::Whole(Some(body.into())));
        *response.status_mut() = status;
        decorate(&mut response, kind);
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        response
    }
}

/// The answer that goes on as events come.
pub(super) fn stream(events: Receiver<Bytes>, page: Page) -> Response<Reply> {
    let mut response = Response::new(Reply::Events(events, page));
    decorate(&mut response, "text/event-stream");
    response
}

/// What every answer says.
fn decorate(response: &mut Response<Reply>, kind: &'static str) {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
