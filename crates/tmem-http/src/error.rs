//! What can go wrong on the way to a server and back. No text here ever holds a key.

use std::fmt;

use tmem_quirks::says_too_large;

use crate::secret::Secret;

/// Why no good answer came.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// A setting of the endpoint cannot be used.
    #[error("{setting} {value:?} cannot be used: {reason}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// Its value, without passwords.
        value: String,
        /// Why.
        reason: String,
    },
    /// The client could not be made.
    #[error("the HTTP client could not be set up")]
    Setup(#[source] reqwest::Error),
    /// The server answered with an error, or with something that is not JSON.
    #[error("{0}")]
    Answer(Box<BadAnswer>),
    /// The server could not be reached, or the connection broke.
    #[error("no answer from {url}{}{}", via(proxy.as_deref()), within(*attempts))]
    Unreachable {
        /// The address, without user, password and query.
        url: String,
        /// The proxy in between.
        proxy: Option<String>,
        /// Requests made.
        attempts: u32,
        /// What happened to the last.
        source: reqwest::Error,
    },
}

/// An answer that is an error, or no JSON.
#[derive(Clone, Debug)]
pub struct BadAnswer {
    /// The address, without user, password and query.
    pub url: String,
    /// The status; for an error object in a good answer, the code that the object names, if any.
    pub status: u16,
    /// Its content type.
    pub content_type: String,
    /// The message of its error object, or else its beginning: at most 200 characters.
    pub excerpt: String,
    /// Its text, at most 16,000 characters: for those who look for details in it.
    pub body: String,
    /// Requests made.
    pub attempts: u32,
    /// The setting that holds the key.
    pub key_setting: String,
}

impl fmt::Display for BadAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            url,
            status,
            content_type,
            excerpt,
            attempts,
            ..
        } = self;
        write!(
            f,
            "{url} answered {status} ({content_type}){}",
            within(*attempts)
        )?;
        if excerpt.is_empty() {
            Ok(())
        } else {
            write!(f, ": {excerpt}")
        }
    }
}

impl HttpError {
    /// The status of the answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.answer().map(|answer| answer.status)
    }

    /// The answer, if there was one.
    pub fn answer(&self) -> Option<&BadAnswer> {
        match self {
            HttpError::Answer(answer) => Some(answer),
            _ => None,
        }
    }

    /// Whether the request exceeds what the server or its model takes: sending it again is useless,
    /// sending less of it is not.
    pub fn is_too_large(&self) -> bool {
        self.answer()
            .is_some_and(|answer| answer.status == 413 || says_too_large(&answer.body))
    }

    /// Whether no request would fare better just now: nobody listens, the key is not taken, or the
    /// account or the server has no room left.
    pub fn is_outage(&self) -> bool {
        match self {
            HttpError::Answer(answer) => matches!(answer.status, 401 | 402 | 429 | 503),
            HttpError::Unreachable { source, .. } => source.is_connect(),
            HttpError::Setting { .. } | HttpError::Setup(_) => false,
        }
    }

    /// What the user can look at.
    pub fn hint(&self) -> Option<String> {
        match self {
            HttpError::Answer(answer) => match answer.status {
                401 | 403 => Some(format!("check the key in {}", answer.key_setting)),
                404 => Some(format!(
                    "check base_url and the model's name: {} was not found",
                    answer.url
                )),
                429 => Some("lower max_concurrency, or check the quota of the account".to_owned()),
                _ => None,
            },
            HttpError::Unreachable {
                url,
                proxy: Some(proxy),
                ..
            } => Some(format!(
                "check base_url ({url}) and the proxy {proxy}; proxy = \"off\" goes without"
            )),
            HttpError::Unreachable { url, .. } => {
                Some(format!("check base_url: is a server running at {url}?"))
            }
            _ => None,
        }
    }

    pub(crate) fn after(mut self, made: u32) -> Self {
        match &mut self {
            HttpError::Answer(answer) => answer.attempts = made,
            HttpError::Unreachable { attempts, .. } => *attempts = made,
            _ => {}
        }
        self
    }
}

/// How many attempts it took, where that is worth telling.
fn within(attempts: u32) -> String {
    if attempts > 1 {
        format!(" in {attempts} attempts")
    } else {
        String::new()
    }
}

fn via(proxy: Option<&str>) -> String {
    proxy.map_or_else(String::new, |proxy| format!(" through the proxy {proxy}"))
}

/// At most `limit` characters of `text`, in one line, with the key hidden.
pub(crate) fn excerpt(text: &str, limit: usize, key: Option<&Secret>) -> String {
    let text = key.map_or_else(|| text.to_owned(), |key| key.hidden_in(text));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(limit).collect()
}
