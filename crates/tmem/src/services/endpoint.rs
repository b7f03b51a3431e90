//! From settings to endpoints. The one place where secrets are read.

use std::num::NonZeroU64;
use std::time::Duration;

use tmem_http::{Endpoint, Proxy, Secret};

use crate::config::{EmbedConfig, LlmConfig, RerankConfig};

/// The endpoint of the language model.
pub(super) fn of_llm(config: &LlmConfig) -> Endpoint {
    let endpoint = keyed(&config.base_url, &config.api_key_env, config.timeout_secs);
    Endpoint {
        connect_timeout: Duration::from_secs(config.connect_timeout_secs.get()),
        max_retries: config.max_retries,
        max_concurrency: config.concurrency.get(),
        proxy: match config.proxy.as_deref() {
            None => Proxy::System,
            Some("off") => Proxy::Off,
            Some(url) => Proxy::Url(url.to_owned()),
        },
        ..endpoint
    }
}

/// The endpoint of the encoder.
pub(super) fn of_encoder(config: &EmbedConfig) -> Endpoint {
    keyed(&config.base_url, &config.api_key_env, config.timeout_secs)
}

/// The endpoint of the reranker.
pub(super) fn of_reranker(config: &RerankConfig) -> Endpoint {
    keyed(&config.base_url, &config.api_key_env, config.timeout_secs)
}

fn keyed(base_url: &str, variable: &str, timeout: NonZeroU64) -> Endpoint {
    let mut endpoint = Endpoint::new(base_url);
    endpoint.timeout = Duration::from_secs(timeout.get());
    endpoint.key_setting = variable.to_owned();
    if !variable.is_empty() {
        let key = std::env::var(variable)
            .ok()
            .filter(|key| !key.trim().is_empty());
        endpoint.api_key = key.map(|key| Secret::new(key.trim()));
    }
    endpoint
}
