//! Addresses: the base that a user gives in many forms, and what is shown of it.

use std::net::IpAddr;

use reqwest::Url;

use crate::error::HttpError;

/// Ends of addresses that users copy from manuals: they name a call, not the root.
const CALLS: &[&str] = &[
    "chat/completions",
    "embeddings",
    "rerank",
    "completions",
    "models",
];

/// The root of an API.
#[derive(Clone, Debug)]
pub(crate) struct Base(Url);

impl Base {
    /// Reads a root: surplus slashes and a call's name at the end are dropped, an empty path becomes
    /// `/v1`, a query stays.
    pub(crate) fn parse(given: &str) -> Result<Self, HttpError> {
        let given = given.trim();
        let mut url = Url::parse(given).map_err(|error| refuse(given, &error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(refuse(given, "it has to begin with http:// or https://"));
        }
        let path = root(url.path());
        url.set_path(&path);
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// The address of a call, as in `embeddings`; a leading `/v1` is not doubled.
    pub(crate) fn call(&self, path: &str) -> Url {
        let path = path.trim_matches('/');
        let path = path
            .strip_prefix("v1/")
            .filter(|_| self.0.path().ends_with("/v1"))
            .unwrap_or(path);
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        url
    }

    /// Whether it is this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self
            .0
            .host_str()
            .unwrap_or_default()
            .trim_matches(['[', ']']);
        let address = host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback());
        address
            || host.eq_ignore_ascii_case("localhost")
            || host.to_ascii_lowercase().ends_with(".localhost")
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }
}

/// What may be shown of an address: no user, no password, no query.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.to_string()
}

/// What may be shown of a text that was to be an address: nothing, if it cannot be read and may hold
/// a password.
pub(crate) fn shown_text(given: &str) -> String {
    match Url::parse(given) {
        Ok(url) => shown(&url),
        Err(_) if given.contains('@') => "(unreadable address)".to_owned(),
        Err(_) => given.to_owned(),
    }
}

fn root(path: &str) -> String {
    let mut path = path.trim_end_matches('/');
    if let Some(root) = CALLS
        .iter()
        .find_map(|call| path.strip_suffix(call)?.strip_suffix('/'))
    {
        path = root.trim_end_matches('/');
    }
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        "/v1".to_owned()
    } else {
        format!("/{}", parts.join("/"))
    }
}

fn refuse(given: &str, reason: &str) -> HttpError {
    HttpError::Setting {
        setting: "base_url",
        value: shown_text(given),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, path: &str, expected: &str) {
        assert_eq!(Base::parse(base).unwrap().call(path).as_str(), expected);
    }

    #[test]
    fn surplus_slashes_and_versions_are_not_doubled() {
        for base in [
            "http://h/v1",
            "http://h/v1/",
            "http://h/v1//",
            "http://h",
            " http://h/ ",
            "http://h//v1",
        ] {
            check(base, "embeddings", "http://h/v1/embeddings");
            check(base, "/chat/completions", "http://h/v1/chat/completions");
            check(base, "/v1/rerank", "http://h/v1/rerank");
        }
    }

    #[test]
    fn an_address_of_a_call_is_taken_as_its_root() {
        check(
            "https://h/v1/chat/completions",
            "embeddings",
            "https://h/v1/embeddings",
        );
        check(
            "https://h/v1/embeddings/",
            "embeddings",
            "https://h/v1/embeddings",
        );
    }

    #[test]
    fn other_roots_and_queries_stay() {
        check(
            "https://h/openai/v1",
            "embeddings",
            "https://h/openai/v1/embeddings",
        );
        check(
            "https://h/api?api-version=2",
            "embeddings",
            "https://h/api/embeddings?api-version=2",
        );
        check("https://h/api", "v1/rerank", "https://h/api/v1/rerank");
    }

    #[test]
    fn an_address_without_scheme_is_refused_by_name_of_the_setting() {
        for given in ["localhost:8080/v1", "", "ftp://h/v1", "h/v1"] {
            let error = Base::parse(given).unwrap_err().to_string();
            assert!(error.starts_with("base_url"), "{error}");
        }
    }

    #[test]
    fn an_unreadable_address_is_refused_without_its_password() {
        for given in [
            "http://me:sesame@h:port/v1",
            "ftp://me:sesame@h/v1?k=sesame",
        ] {
            let error = Base::parse(given).unwrap_err().to_string();
            assert!(!error.contains("sesame"), "{error}");
        }
    }

    #[test]
    fn loopback_is_told_from_names_that_only_look_like_it() {
        let is = |base: &str| Base::parse(base).unwrap().is_loopback();
        assert!(is("http://localhost:1") && is("http://127.0.0.9") && is("http://[::1]:8080/v1"));
        assert!(
            !is("http://localhost.example.org")
                && !is("http://10.0.0.1")
                && !is("http://127.example.org")
        );
    }

    #[test]
    fn what_is_shown_has_no_password_and_no_query() {
        let url = Url::parse("http://me:sesame@h/v1?key=sesame").unwrap();
        assert_eq!(shown(&url), "http://h/v1");
    }
}
