//! The client: one request, as many attempts as allowed, one answer.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use reqwest::{
    Response, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde_json::Value;
use tmem_quirks::mend_surrogates;

use crate::{
    endpoint::Endpoint,
    error::{BadAnswer, HttpError, excerpt},
    hint,
    limit::{Limiter, Permit},
    proxy,
    url::{self, Base},
};

/// How the client waits between attempts; tests put their own in its place.
pub type Pause = Arc<dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A request under way for this long is mentioned in the log, again and again.
const MENTION: Duration = Duration::from_secs(30);

/// JSON to one endpoint. Clones share its connections and its limit.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    endpoint: Endpoint,
    base: Base,
    proxy: Option<String>,
    http: reqwest::Client,
    limiter: Limiter,
    pause: Pause,
}

impl Client {
    /// A client for `endpoint`. Nothing is sent yet.
    ///
    /// # Errors
    /// [`HttpError::Setting`] if an address or the key cannot be used.
    pub fn new(endpoint: Endpoint) -> Result<Self, HttpError> {
        Self::with_pause(
            endpoint,
            Arc::new(|wait| Box::pin(tokio::time::sleep(wait))),
        )
    }

    /// The same with another way of waiting between attempts.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_pause(endpoint: Endpoint, pause: Pause) -> Result<Self, HttpError> {
        let base = Base::parse(&endpoint.base_url)?;
        let env = |name: &str| std::env::var(name).ok();
        let proxy = proxy::choose(&endpoint.proxy, &base, &env);
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .connect_timeout(endpoint.connect_timeout)
            .timeout(endpoint.timeout)
            .default_headers(headers(&endpoint)?);
        if let Some(proxy) = &proxy {
            builder = builder.proxy(proxy::build(proxy, &env)?);
        }
        let http = builder.build().map_err(HttpError::Setup)?;
        let limiter = Limiter::new(endpoint.max_concurrency);
        let inner = Inner {
            endpoint,
            base,
            proxy,
            http,
            limiter,
            pause,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The endpoint it was made for.
    pub fn endpoint(&self) -> &Endpoint {
        &self.inner.endpoint
    }

    /// Most requests at once, as of now.
    pub fn concurrency(&self) -> usize {
        self.inner.limiter.limit()
    }

    /// Posts `body` to a call such as `chat/completions` and gives back the JSON of a good answer.
    ///
    /// Broken connections, good answers that break off, 408, 409, 425, 429 and 5xx are tried again,
    /// waiting as the server asks; any other status ends at once. An error object in an answer with status 200 is an error.
    ///
    /// # Errors
    /// [`HttpError::Answer`] or [`HttpError::Unreachable`], after the last attempt.
    pub async fn post_json(&self, path: &str, body: &Value) -> Result<Value, HttpError> {
        let inner = &*self.inner;
        let url = inner.base.call(path);
        let mut permit = inner.limiter.enter().await;
        let mut made = 0;
        loop {
            made += 1;
            let failure = match inner.attempt(&url, body).await {
                Ok(value) => {
                    permit.succeeded();
                    return Ok(value);
                }
                Err(failure) => failure,
            };
            inner.note(&failure, &mut permit);
            if made > failure.retries(inner.endpoint.max_retries) {
                return Err(failure.error.after(made));
            }
            // The place is kept while waiting: this is what makes the others wait as well.
            let wait = hint::wait(failure.asked, made, inner.endpoint.max_wait);
            tracing::info!(url = url::shown(&url), made, ?wait, error = %failure.error, "waiting to try again");
            (inner.pause)(wait).await;
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.inner.endpoint)
            .finish_non_exhaustive()
    }
}

/// An attempt that failed, and what it means for the next.
struct Failure {
    error: HttpError,
    again: Again,
    asked: Option<Duration>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    Never,
    /// After the total time-out: the server may still be busy with the first.
    Once,
    Yes,
    /// Likewise, and with fewer requests at once.
    Fewer,
}

impl Failure {
    fn retries(&self, max: u32) -> u32 {
        match self.again {
            Again::Never => 0,
            Again::Once => max.min(1),
            Again::Yes | Again::Fewer => max,
        }
    }
}

impl Inner {
    async fn attempt(&self, url: &Url, body: &Value) -> Result<Value, Failure> {
        let sent = self.http.post(url.clone()).json(body).send();
        let response = mentioned(url, MENTION, sent)
            .await
            .map_err(|error| self.unreachable(url, error))?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = read(url, response)
            .await
            .map_err(|error| self.unreachable(url, error))?;
        self.judge(url, status, &headers, &text)
    }

    /// Status first; then JSON; then the error objects that some gateways wrap in a 200.
    fn judge(
        &self,
        url: &Url,
        status: u16,
        headers: &HeaderMap,
        text: &str,
    ) -> Result<Value, Failure> {
        let read = serde_json::from_str::<Value>(&mend_surrogates(text));
        let cut = read.as_ref().is_err_and(serde_json::Error::is_eof);
        let value = read.ok();
        let error = value.as_ref().and_then(error_object);
        match value {
            Some(value) if (200..300).contains(&status) && error.is_none() => return Ok(value),
            _ => {}
        }
        let code = error.as_ref().and_then(|error| error.code);
        let status = if (200..300).contains(&status) {
            code.unwrap_or(status)
        } else {
            status
        };
        let key = self.endpoint.api_key.as_ref();
        let message = error.map_or_else(|| text.to_owned(), |error| error.message);
        let answer = BadAnswer {
            url: url::shown(url),
            status,
            content_type: content_type(headers),
            excerpt: excerpt(&message, 200, key),
            body: excerpt(text, 16_000, key),
            attempts: 1,
            key_setting: self.endpoint.key_setting.clone(),
        };
        let error = HttpError::Answer(Box::new(answer));
        let again = match status {
            200..300 if cut => Again::Yes,
            _ => again(status, text, error.is_too_large()),
        };
        Err(Failure {
            error,
            again,
            asked: hint::asked(headers, text, SystemTime::now()),
        })
    }

    fn unreachable(&self, url: &Url, source: reqwest::Error) -> Failure {
        let total = source.is_timeout() && !source.is_connect();
        let error = HttpError::Unreachable {
            url: url::shown(url),
            proxy: self.proxy.as_deref().map(url::shown_text),
            attempts: 1,
            source: source.without_url(),
        };
        Failure {
            error,
            again: if total { Again::Once } else { Again::Yes },
            asked: None,
        }
    }

    fn note(&self, failure: &Failure, permit: &mut Permit<'_>) {
        if failure.again == Again::Fewer && permit.refused() {
            tracing::info!(
                limit = self.limiter.limit(),
                "the server is overloaded: fewer requests at once"
            );
        }
    }
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = endpoint
        .api_key
        .as_ref()
        .filter(|key| !key.reveal().is_empty())
    {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", key.reveal())).map_err(|_| {
                let reason = format!(
                    "the key in {} holds characters that no header can",
                    endpoint.key_setting
                );
                HttpError::Setting {
                    setting: "api_key",
                    value: "***".to_owned(),
                    reason,
                }
            })?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// What a status means for the next attempt. Money that is used up does not come back by waiting.
fn again(status: u16, text: &str, too_large: bool) -> Again {
    let spent = ["insufficient_quota", "billing"]
        .iter()
        .any(|word| text.contains(word));
    match status {
        _ if too_large => Again::Never,
        429 if spent => Again::Never,
        429 => Again::Fewer,
        408 | 409 | 425 | 500..=599 => Again::Yes,
        _ => Again::Never,
    }
}

struct ErrorObject {
    message: String,
    code: Option<u16>,
}

/// The error that an answer holds, whatever its status: an object or a text under `error`.
fn error_object(value: &Value) -> Option<ErrorObject> {
    match value.get("error")? {
        Value::String(message) if !message.is_empty() => Some(ErrorObject {
            message: message.clone(),
            code: None,
        }),
        Value::Object(error) if !error.is_empty() => {
            let message = error
                .get("message")
                .and_then(Value::as_str)
                .map(str::to_owned);
            let code = error
                .get("code")
                .or_else(|| error.get("status"))
                .and_then(code);
            let message = message.unwrap_or_else(|| Value::Object(error.clone()).to_string());
            Some(ErrorObject { message, code })
        }
        _ => None,
    }
}

fn code(value: &Value) -> Option<u16> {
    let code = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u16::try_from(code)
        .ok()
        .filter(|code| (400..600).contains(code))
}

fn content_type(headers: &HeaderMap) -> String {
    let given = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    given
        .unwrap_or("no content type")
        .chars()
        .take(100)
        .collect()
}

async fn read(url: &Url, response: Response) -> Result<String, reqwest::Error> {
    let bytes = mentioned(url, MENTION, response.bytes()).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Awaits `work`, and says in the log after `every` that it is still waiting.
async fn mentioned<T>(url: &Url, every: Duration, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut waited = Duration::ZERO;
    loop {
        match tokio::time::timeout(every, work.as_mut()).await {
            Ok(done) => return done,
            Err(_) => {
                waited += every;
                tracing::info!(
                    url = url::shown(url),
                    ?waited,
                    "still waiting for an answer"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests;
