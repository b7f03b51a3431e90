//! From settings to endpoints and their clients. The one place where secrets are read.

use std::num::NonZeroU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tmem_http::{Client, Endpoint, Proxy, Secret};

use crate::config::{EmbedConfig, LlmConfig, RerankConfig};
use crate::error::chain;

/// One client per endpoint: whatever talks to a server shares its connections, its limit, and what
/// the server said of being overloaded.
#[derive(Debug, Default)]
pub(super) struct Clients(Mutex<Vec<Client>>);

impl Clients {
    pub(super) fn of(&self, endpoint: Endpoint) -> Result<Client, String> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = clients.iter().find(|known| *known.endpoint() == endpoint);
        if let Some(client) = known {
            return Ok(client.clone());
        }
        let client = Client::new(endpoint).map_err(|error| chain(&error))?;
        clients.push(client.clone());
        Ok(client)
    }
}

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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tmem_http::testing::{Answer, FakeServer};

    use super::*;

    #[tokio::test]
    async fn all_that_talk_to_a_server_keep_its_limit_together() {
        let slow = Answer::json(200, &json!({})).after(Duration::from_millis(20));
        let server = FakeServer::answering(vec![slow]).await;
        let config = LlmConfig {
            base_url: server.url(),
            api_key_env: String::new(),
            concurrency: 2.try_into().expect("not zero"),
            ..LlmConfig::default()
        };
        let clients = Clients::default();
        let [one, other] = [(); 2].map(|()| clients.of(of_llm(&config)).expect("a client"));
        let body = json!({});
        let calls = [&one, &other, &one, &other].map(|client| client.post_json("x", &body));
        futures::future::join_all(calls).await;
        assert_eq!((server.most_at_once(), server.seen().len()), (2, 4));
    }

    #[test]
    fn what_the_settings_say_of_waiting_and_proxies_reaches_the_client() {
        let text = "[llm]\nkind = 'openai'\nbase_url = 'http://h'\ntimeout_secs = 7\n\
            connect_timeout_secs = 3\nmax_retries = 2\nconcurrency = 5\nproxy = 'off'\n\
            api_key_env = ''\n[embed]\ntimeout_secs = 8\n[rerank]\ntimeout_secs = 9";
        let config = crate::Layers::new().text("test", text).resolve();
        let config = config.expect("valid settings");
        let expect = Endpoint {
            timeout: Duration::from_secs(7),
            connect_timeout: Duration::from_secs(3),
            max_retries: 2,
            max_concurrency: 5,
            proxy: Proxy::Off,
            key_setting: String::new(),
            ..Endpoint::new("http://h")
        };
        assert_eq!(of_llm(&config.llm), expect);
        assert_eq!(of_encoder(&config.embed).timeout, Duration::from_secs(8));
        assert_eq!(of_reranker(&config.rerank).timeout, Duration::from_secs(9));
    }
}
