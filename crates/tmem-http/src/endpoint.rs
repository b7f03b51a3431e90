//! Where a model server is and how to treat it: plain settings.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::secret::Secret;

/// A model server. A missing setting takes its default, and so does `null`; an unknown one is an
/// error, and so is a time-out of 0: there is no way to wait for ever.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Endpoint {
    /// Root of the API, as in `http://localhost:11434/v1`; without a path, `/v1` is taken.
    pub base_url: String,
    /// Sent as a bearer token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<Secret>,
    /// Name of the setting that holds the key, for hints.
    #[serde(deserialize_with = "or_default_key_setting")]
    pub key_setting: String,
    /// Longest wait for a connection (seconds; 10).
    #[serde(
        rename = "connect_timeout_secs",
        deserialize_with = "connect_seconds",
        serialize_with = "as_seconds"
    )]
    pub connect_timeout: Duration,
    /// Longest wait for a whole answer, each attempt by itself (seconds; 300).
    #[serde(
        rename = "timeout_secs",
        deserialize_with = "total_seconds",
        serialize_with = "as_seconds"
    )]
    pub timeout: Duration,
    /// Attempts after the first (count; 4): one request never becomes more than this plus one. One
    /// that ran into `timeout` is tried once more only.
    #[serde(deserialize_with = "or_max_retries")]
    pub max_retries: u32,
    /// Longest wait between two attempts, whatever the server asks for (seconds; 120).
    #[serde(
        rename = "max_wait_secs",
        deserialize_with = "wait_seconds",
        serialize_with = "as_seconds"
    )]
    pub max_wait: Duration,
    /// Most requests at once (count; 8); fewer while the server says that they are too many.
    #[serde(deserialize_with = "or_max_concurrency")]
    pub max_concurrency: usize,
    /// Which proxy to go through. Loopback is always reached directly.
    pub proxy: Proxy,
}

/// Which proxy to go through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proxy {
    /// The one that the environment names, heeding `NO_PROXY`.
    #[default]
    System,
    /// None.
    Off,
    /// This one, heeding `NO_PROXY`.
    Url(String),
}

const CONNECT: Duration = Duration::from_secs(10);
const TOTAL: Duration = Duration::from_secs(300);
const LONGEST_WAIT: Duration = Duration::from_secs(120);
const RETRIES: u32 = 4;
const CONCURRENCY: usize = 8;
const KEY_SETTING: &str = "api_key";

impl Endpoint {
    /// The server at `base_url`, everything else by default.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            ..Self::default()
        }
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            api_key: None,
            key_setting: KEY_SETTING.to_owned(),
            connect_timeout: CONNECT,
            timeout: TOTAL,
            max_retries: RETRIES,
            max_wait: LONGEST_WAIT,
            max_concurrency: CONCURRENCY,
            proxy: Proxy::System,
        }
    }
}

fn connect_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    seconds(deserializer, CONNECT)
}

fn total_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    seconds(deserializer, TOTAL)
}

fn wait_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    seconds(deserializer, LONGEST_WAIT)
}

fn seconds<'de, D: Deserializer<'de>>(
    deserializer: D,
    default: Duration,
) -> Result<Duration, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        None => Ok(default),
        Some(given) if given > 0.0 => Duration::try_from_secs_f64(given).map_err(D::Error::custom),
        Some(given) => Err(D::Error::custom(format!(
            "a time-out must be above 0 seconds, not {given}"
        ))),
    }
}

fn as_seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

fn or_max_retries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(RETRIES))
}

fn or_max_concurrency<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    match Option::deserialize(deserializer)? {
        Some(0) => Err(D::Error::custom("max_concurrency must be at least 1")),
        given => Ok(given.unwrap_or(CONCURRENCY)),
    }
}

fn or_default_key_setting<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(|| KEY_SETTING.to_owned()))
}
