//! Whether everything is in place: store, models, endpoints, indices.

use std::time::Duration;

use serde::Serialize;
use tmem_model::JobState;
use tmem_model::text::counted;

use crate::config::{Config, EmbedKind, LlmKind, without_password};
use crate::error::{TmemError, chain};
use crate::tmem::{Options, Tmem};

/// How long an endpoint may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// How one thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Good,
    /// Something is missing that one can do without.
    Note,
    /// Broken.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub what: &'static str,
    /// How it is.
    pub health: Health,
    /// What was found.
    pub found: String,
}

/// Everything that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checkup {
    /// In the order in which things depend on each other.
    pub checks: Vec<Check>,
}

impl Checkup {
    /// Whether nothing is broken.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.checks.iter().all(|check| check.health != Health::Bad)
    }

    fn add(&mut self, what: &'static str, health: Health, found: impl Into<String>) {
        self.checks.push(Check {
            what,
            health,
            found: found.into(),
        });
    }
}

/// Looks at everything that a memory with these options needs. Asks no model and changes nothing.
pub async fn examine(options: &Options) -> Checkup {
    let mut checkup = Checkup::default();
    language_model(&mut checkup, options).await;
    match Tmem::open(options.clone()) {
        Ok(tmem) => opened(&mut checkup, &tmem).await,
        Err(error) => {
            let absent = matches!(
                &error,
                TmemError::UnknownSpace { .. }
                    | TmemError::Store(tmem_store::StoreError::Absent { .. })
            );
            let health = if absent { Health::Note } else { Health::Bad };
            checkup.add("store", health, chain(&error));
        }
    }
    checkup
}

/// Names of the models that run on this machine under these settings, as the catalogue has them.
#[must_use]
pub fn needed_models(config: &Config) -> Vec<String> {
    let mut names = Vec::new();
    if config.embed.kind == EmbedKind::Onnx {
        let spec = crate::services::encoder_spec(&config.embed);
        names.push("onnxruntime".to_owned());
        names.extend(spec.map(|spec| spec.model));
    }
    if config.llm.kind == LlmKind::Local {
        names.push(config.llm.model.clone());
    }
    names
}

async fn language_model(checkup: &mut Checkup, options: &Options) {
    let llm = &options.config.llm;
    match llm.kind {
        LlmKind::None => checkup.add("model", Health::Note, "none: no building, no answers"),
        LlmKind::Local => match crate::services::weights_of(&options.models_folder(), &llm.model) {
            Some(path) => checkup.add("model", Health::Good, path.display().to_string()),
            None => {
                let way = format!("{} is not here: `tmem models pull {0}`", llm.model);
                checkup.add("model", Health::Note, way);
            }
        },
        LlmKind::OpenAi => {
            let keyless =
                !llm.api_key_env.is_empty() && std::env::var_os(&llm.api_key_env).is_none();
            if keyless {
                let found = format!("{} is not set: calls go without a key", llm.api_key_env);
                checkup.add("key", Health::Note, found);
            }
            let (health, found) = reached(&llm.base_url).await;
            let place = without_password(&llm.base_url);
            checkup.add(
                "model",
                health,
                format!("{} at {place}: {found}", llm.model),
            );
        }
    }
}

/// Whether somebody listens there; nothing is sent.
async fn reached(url: &str) -> (Health, String) {
    let Some(address) = address(url) else {
        return (Health::Bad, "no valid URL".to_owned());
    };
    let connect = tokio::net::TcpStream::connect(address.clone());
    match tokio::time::timeout(PATIENCE, connect).await {
        Ok(Ok(_)) => (Health::Good, "reachable".to_owned()),
        Ok(Err(error)) => (Health::Bad, format!("{address} is not reachable: {error}")),
        Err(_) => (Health::Bad, format!("{address} does not answer")),
    }
}

/// `host:port` of a URL.
fn address(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest
        .split(['/', '?'])
        .next()
        .filter(|host| !host.is_empty())?;
    let host = host.rsplit('@').next().unwrap_or(host);
    let port = if scheme == "https" { 443 } else { 80 };
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Some(if has_port {
        host.to_owned()
    } else {
        format!("{host}:{port}")
    })
}

async fn opened(checkup: &mut Checkup, tmem: &Tmem) {
    let memory = tmem.memory();
    let found = format!(
        "{}, {}",
        counted(memory.all_turns().count(), "turn"),
        counted(memory.scenes().count(), "scene")
    );
    checkup.add("store", Health::Good, found);
    steps(checkup, tmem);
    match tmem.services.encoder().await {
        Ok(encoder) => checkup.add("encoder", Health::Good, encoder.spec().identity()),
        Err(why) => checkup.add("encoder", Health::Note, format!("none, words alone: {why}")),
    }
    if let Err(error) = tmem.check_encoder().await {
        return checkup.add("vectors", Health::Bad, format!("{error}: `tmem reindex`"));
    }
    indices(checkup, tmem).await;
}

fn steps(checkup: &mut Checkup, tmem: &Tmem) {
    let jobs = tmem.jobs();
    let stuck = jobs
        .iter()
        .filter(|job| job.state != JobState::Done)
        .count();
    let memory = tmem.memory();
    let open = memory
        .conversations()
        .map(|id| memory.open_turns(id).count());
    let open: usize = open.sum();
    if stuck == 0 && open == 0 {
        return checkup.add("steps", Health::Good, "nothing is left to build");
    }
    let open = counted(open, "turn");
    let found = format!("{stuck} not done, {open} in no scene yet: `tmem build`");
    checkup.add("steps", Health::Note, found);
}

async fn indices(checkup: &mut Checkup, tmem: &Tmem) {
    match tmem.unused_vectors() {
        Ok(0) => checkup.add("orphans", Health::Good, "every vector belongs to a text"),
        Ok(count) => checkup.add(
            "orphans",
            Health::Note,
            format!("{} without a text", counted(count, "vector")),
        ),
        Err(error) => checkup.add("orphans", Health::Bad, chain(&error)),
    }
    match tmem.stats().await {
        Ok(stats) => {
            let vectors: usize = stats.vectors.values().sum();
            checkup.add("vectors", Health::Good, counted(vectors, "vector"));
            if let Some(fires) = stats.gate_fires.filter(|_| stats.counts.item_triggers > 0) {
                let health = if fires == 0.0 {
                    Health::Note
                } else {
                    Health::Good
                };
                let gate = stats
                    .gate
                    .map_or("each trigger's own".to_owned(), |g| format!("{g:.3}"));
                let found = format!("{gate}; {:.0} % of turns pass it", fires * 100.0);
                checkup.add("gate", health, found);
            }
        }
        Err(error) => checkup.add("vectors", Health::Bad, chain(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[track_caller]
    fn check(url: &str, expect: Option<&str>) {
        assert_eq!(address(url).as_deref(), expect);
    }

    #[test]
    fn an_address_is_read_from_a_url() {
        check("https://api.example.org/v1", Some("api.example.org:443"));
        check("http://localhost:11434/v1", Some("localhost:11434"));
        check("http://user:pass@host/v1", Some("host:80"));
        check("http://[::1]:80", Some("[::1]:80"));
        check("localhost", None);
        check("http:///v1", None);
    }
}
