//! Which proxy a request goes through, decided from settings and environment in one place, so that an
//! error can name it.

use reqwest::NoProxy;

use crate::{
    endpoint::Proxy,
    error::HttpError,
    url::{Base, shown_text},
};

/// Reads one variable of the environment; tests put a table in its place.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The proxy for `base`, or `None` for the direct way.
pub(crate) fn choose(setting: &Proxy, base: &Base, env: Env<'_>) -> Option<String> {
    let named = match setting {
        _ if base.is_loopback() => return None,
        Proxy::Off => return None,
        Proxy::Url(url) => Some(url.clone()),
        Proxy::System => {
            let own = if base.url().scheme() == "https" {
                "HTTPS_PROXY"
            } else {
                "HTTP_PROXY"
            };
            either(own, env).or_else(|| either("ALL_PROXY", env))
        }
    };
    named.filter(|_| !excepted(base, &either("NO_PROXY", env).unwrap_or_default()))
}

/// The proxy as reqwest wants it. Ranges of addresses in `NO_PROXY` are left to reqwest.
pub(crate) fn build(proxy: &str, env: Env<'_>) -> Result<reqwest::Proxy, HttpError> {
    let refuse = |error: reqwest::Error| HttpError::Setting {
        setting: "proxy",
        value: shown_text(proxy),
        reason: error.without_url().to_string(),
    };
    let except = either("NO_PROXY", env).and_then(|list| NoProxy::from_string(&list));
    Ok(reqwest::Proxy::all(proxy).map_err(refuse)?.no_proxy(except))
}

fn either(name: &str, env: Env<'_>) -> Option<String> {
    let set = env(&name.to_ascii_lowercase()).or_else(|| env(name))?;
    (!set.trim().is_empty()).then(|| set.trim().to_owned())
}

/// `NO_PROXY`: hosts, domains with or without a leading dot, `*` for all.
fn excepted(base: &Base, list: &str) -> bool {
    let host = base
        .url()
        .host_str()
        .unwrap_or_default()
        .trim_matches(['[', ']'])
        .to_ascii_lowercase();
    let mut entries = list
        .split(',')
        .map(|entry| entry.trim().to_ascii_lowercase());
    entries.any(|entry| match entry.trim_start_matches('.') {
        "" => false,
        "*" => true,
        domain => {
            host == domain
                || host
                    .strip_suffix(domain)
                    .is_some_and(|rest| rest.ends_with('.'))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(setting: Proxy, base: &str, env: &[(&str, &str)], expected: Option<&str>) {
        let read = |name: &str| {
            env.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(
            choose(&setting, &Base::parse(base).unwrap(), &read).as_deref(),
            expected
        );
    }

    const DEAD: &str = "http://127.0.0.1:9";

    #[test]
    fn the_environment_names_a_proxy_by_scheme() {
        check(
            Proxy::System,
            "http://h/v1",
            &[("HTTP_PROXY", DEAD)],
            Some(DEAD),
        );
        check(Proxy::System, "https://h/v1", &[("HTTP_PROXY", DEAD)], None);
        check(
            Proxy::System,
            "https://h/v1",
            &[("all_proxy", DEAD)],
            Some(DEAD),
        );
        check(Proxy::System, "http://h/v1", &[("HTTP_PROXY", "")], None);
    }

    #[test]
    fn loopback_is_reached_directly_whatever_is_set() {
        for base in [
            "http://localhost:1/v1",
            "http://127.0.0.1:1/v1",
            "http://[::1]/v1",
        ] {
            check(Proxy::System, base, &[("HTTP_PROXY", DEAD)], None);
            check(Proxy::Url(DEAD.to_owned()), base, &[], None);
        }
    }

    #[test]
    fn exceptions_and_an_explicit_off_are_heeded() {
        for list in ["h.example", ".example", "x, example", "*"] {
            check(
                Proxy::System,
                "http://h.example/v1",
                &[("HTTP_PROXY", DEAD), ("NO_PROXY", list)],
                None,
            );
        }
        check(
            Proxy::System,
            "http://badexample/v1",
            &[("HTTP_PROXY", DEAD), ("NO_PROXY", "example")],
            Some(DEAD),
        );
        check(Proxy::Off, "http://h/v1", &[("HTTP_PROXY", DEAD)], None);
    }
}
