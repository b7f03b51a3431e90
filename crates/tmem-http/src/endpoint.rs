//! Where a model server is and how to treat it: plain settings.

use std::time::Duration;

use crate::secret::Secret;

/// A model server. Every wait has an end.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Root of the API, as in `http://localhost:11434/v1`; without a path, `/v1` is taken.
    pub base_url: String,
    /// Sent as a bearer token.
    pub api_key: Option<Secret>,
    /// Name of the setting that holds the key, for hints (`api_key`).
    pub key_setting: String,
    /// Longest wait for a connection (10 seconds).
    pub connect_timeout: Duration,
    /// Longest wait for a whole answer, each attempt by itself (300 seconds).
    pub timeout: Duration,
    /// Attempts after the first (count; 4): one request never becomes more than this plus one. One
    /// that ran into `timeout` is tried once more only.
    pub max_retries: u32,
    /// Longest wait between two attempts, whatever the server asks for (120 seconds).
    pub max_wait: Duration,
    /// Most requests at once (count; 8); fewer while the server says that they are too many.
    pub max_concurrency: usize,
    /// Which proxy to go through. Loopback is always reached directly.
    pub proxy: Proxy,
}

/// Which proxy to go through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Proxy {
    /// The one that the environment names, heeding `NO_PROXY`.
    #[default]
    System,
    /// None.
    Off,
    /// This one, heeding `NO_PROXY`.
    Url(String),
}

impl Endpoint {
    /// The server at `base_url`, everything else by default.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            key_setting: "api_key".to_owned(),
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(300),
            max_retries: 4,
            max_wait: Duration::from_secs(120),
            max_concurrency: 8,
            proxy: Proxy::System,
        }
    }
}
