//! A scripted server on loopback: any status, header, body, delay or cut. For tests only.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::StatusCode,
    response::Response,
};
use futures::stream;
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::client::Pause;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its number, from 0.
    pub number: usize,
    /// Its path, query included.
    pub path: String,
    /// Its headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Its body; `null` if that is no JSON.
    pub body: Value,
}

/// What the server answers.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    delay: Duration,
    cut: Option<usize>,
}

impl Answer {
    /// A JSON body with that status.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", &body.to_string())
    }

    /// Any body with that status and content type.
    pub fn text(status: u16, content_type: &str, body: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self {
            status,
            headers,
            body: body.as_bytes().to_vec(),
            delay: Duration::ZERO,
            cut: None,
        }
    }

    /// A chat completion with that content, `finish_reason` stop and usage 10 and 5.
    pub fn chat(content: &str) -> Self {
        Self::json(
            200,
            &serde_json::json!({
                "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5},
            }),
        )
    }

    /// An OpenAI error object with that status and message.
    pub fn error(status: u16, message: &str) -> Self {
        Self::json(status, &serde_json::json!({"error": {"message": message}}))
    }

    /// With one more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sent only after `delay`.
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// The connection breaks after that many bytes of the body.
    pub fn cut_at(self, bytes: usize) -> Self {
        Self {
            cut: Some(bytes),
            ..self
        }
    }
}

type Script = dyn Fn(&Seen) -> Answer + Send + Sync;

struct Shared {
    script: Box<Script>,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    seen: Vec<Seen>,
    under_way: usize,
    most_under_way: usize,
}

/// The server; it ends when this is dropped.
pub struct FakeServer {
    url: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl FakeServer {
    /// Answers every request with `script`.
    ///
    /// # Panics
    /// If no port can be opened on loopback.
    pub async fn start<F>(script: F) -> Self
    where
        F: Fn(&Seen) -> Answer + Send + Sync + 'static,
    {
        let shared = Arc::new(Shared {
            script: Box::new(script),
            log: Mutex::default(),
        });
        let app = Router::new().fallback(handle).with_state(shared.clone());
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        Self {
            url: format!("http://{address}/v1"),
            shared,
            task,
        }
    }

    /// Gives these answers in turn, the last one again and again.
    ///
    /// # Panics
    /// As [`FakeServer::start`]; when asked without any answer.
    pub async fn answering(answers: Vec<Answer>) -> Self {
        let answer = move |seen: &Seen| answers.get(seen.number).or(answers.last()).cloned();
        Self::start(move |seen| answer(seen).expect("a script has at least one answer")).await
    }

    /// The root of its API, ending in `/v1`.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The requests so far, in order of arrival.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.log().seen.clone()
    }

    /// Most requests that were under way at the same time.
    pub fn most_at_once(&self) -> usize {
        self.shared.log().most_under_way
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A way of waiting that takes no time, and the waits that were asked of it.
pub fn recorded_pause() -> (Pause, Arc<Mutex<Vec<Duration>>>) {
    let waits = Arc::new(Mutex::new(Vec::new()));
    let kept = waits.clone();
    let pause: Pause = Arc::new(move |wait| {
        kept.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(wait);
        Box::pin(tokio::task::yield_now())
    });
    (pause, waits)
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrived(&self, path: String, headers: BTreeMap<String, String>, body: Value) -> Seen {
        let mut log = self.log();
        let seen = Seen {
            number: log.seen.len(),
            path,
            headers,
            body,
        };
        log.seen.push(seen.clone());
        log.under_way += 1;
        log.most_under_way = log.most_under_way.max(log.under_way);
        seen
    }
}

async fn handle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let path = request.uri().to_string();
    let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (
            name.to_string(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    };
    let headers = request.headers().iter().map(header).collect();
    let bytes = axum::body::to_bytes(request.into_body(), usize::MAX)
        .await
        .unwrap_or_default();
    let seen = shared.arrived(
        path,
        headers,
        serde_json::from_slice(&bytes).unwrap_or_default(),
    );
    let answer = (shared.script)(&seen);
    if !answer.delay.is_zero() {
        tokio::time::sleep(answer.delay).await;
    }
    shared.log().under_way -= 1;
    response(answer)
}

fn response(answer: Answer) -> Response {
    let body = match answer.cut {
        None => Body::from(answer.body),
        Some(bytes) => {
            let start = Bytes::copy_from_slice(&answer.body[..bytes.min(answer.body.len())]);
            let broken = io::Error::from(io::ErrorKind::ConnectionReset);
            Body::from_stream(stream::iter([Ok(start), Err(broken)]))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::IM_A_TEAPOT);
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<axum::http::HeaderName>(), value.parse()) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
