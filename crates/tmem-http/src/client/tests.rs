//! The client against a scripted server: each test is a row of what servers do.

use std::sync::{Mutex, atomic::AtomicUsize, atomic::Ordering};

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::{
    Proxy, Secret,
    testing::{Answer, FakeServer, recorded_pause},
};

const KEY: &str = "sk-test-0001";

fn endpoint(server: &FakeServer) -> Endpoint {
    Endpoint {
        api_key: Some(Secret::new(KEY)),
        key_setting: "TEST_KEY".to_owned(),
        max_retries: 3,
        timeout: Duration::from_secs(20),
        ..Endpoint::new(server.url())
    }
}

fn client(server: &FakeServer) -> (Client, Arc<Mutex<Vec<Duration>>>) {
    let (pause, waits) = recorded_pause();
    (Client::with_pause(endpoint(server), pause).unwrap(), waits)
}

/// Posts once against these answers; shows the outcome and the number of requests.
async fn check(answers: Vec<Answer>, expected: Expect) {
    let server = FakeServer::answering(answers).await;
    let outcome = client(&server)
        .0
        .post_json("chat/completions", &json!({"q": 1}))
        .await;
    let shown = match outcome {
        Ok(value) => format!("{value}"),
        Err(error) => match error.hint() {
            Some(hint) => format!("{error}\nhint: {hint}"),
            None => error.to_string(),
        },
    };
    let shown = shown.replace(&server.url(), "URL");
    expected.assert_eq(&format!("{shown}\nrequests: {}\n", server.seen().len()));
}

fn good() -> Answer {
    Answer::json(200, &json!({"fine": true}))
}

#[tokio::test]
async fn a_wrong_key_ends_at_once_with_a_hint_at_its_setting() {
    check(
        vec![Answer::error(401, "bad key")],
        expect![[r#"
        URL/chat/completions answered 401 (application/json): bad key
        hint: check the key in TEST_KEY
        requests: 1
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_error_object_in_a_good_answer_is_an_error_and_may_be_tried_again() {
    let overloaded = Answer::json(
        200,
        &json!({"error": {"message": "overloaded", "code": 502}}),
    );
    check(
        vec![overloaded, good()],
        expect![[r#"
        {"fine":true}
        requests: 2
    "#]],
    )
    .await;
    let refused = Answer::json(200, &json!({"error": {"message": "no such model"}}));
    check(
        vec![refused, good()],
        expect![[r#"
        URL/chat/completions answered 200 (application/json): no such model
        requests: 1
    "#]],
    )
    .await;
    let null = Answer::json(200, &json!({"error": null, "fine": true}));
    check(
        vec![null],
        expect![[r#"
        {"error":null,"fine":true}
        requests: 1
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_gateway_page_is_tried_again_and_quoted_in_short() {
    let page = format!("<html>Bad gateway {}</html>", "é".repeat(500));
    let server = FakeServer::answering(vec![Answer::text(502, "text/html", &page)]).await;
    let error = client(&server)
        .0
        .post_json("x", &json!({}))
        .await
        .unwrap_err();
    let answer = error.answer().unwrap();
    assert_eq!((answer.attempts, server.seen().len()), (4, 4));
    assert_eq!(answer.excerpt.chars().count(), 200);
    assert!(
        error
            .to_string()
            .contains("502 (text/html) in 4 attempts: <html>Bad gateway é"),
        "{error}"
    );
}

#[tokio::test]
async fn a_page_in_a_good_answer_is_named_with_its_type() {
    check(
        vec![Answer::text(200, "text/html", "<html>Welcome</html>")],
        expect![[r#"
        URL/chat/completions answered 200 (text/html): <html>Welcome</html>
        requests: 1
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_good_answer_that_breaks_off_is_tried_again() {
    let half = |body: &str| Answer::text(200, "application/json", body);
    check(
        vec![half(r#"{"choices":[{"message":{"con"#), half(""), good()],
        expect![[r#"
            {"fine":true}
            requests: 3
        "#]],
    )
    .await;
    check(
        vec![half(r#"{"choices":["#)],
        expect![[r#"
            URL/chat/completions answered 200 (application/json) in 4 attempts: {"choices":[
            requests: 4
        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_outage_costs_exactly_the_retries_and_one() {
    check(
        vec![Answer::error(503, "down")],
        expect![[r#"
        URL/chat/completions answered 503 (application/json) in 4 attempts: down
        requests: 4
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_bad_request_is_never_repeated() {
    for status in [400, 403, 404, 413, 422] {
        let server = FakeServer::answering(vec![Answer::error(status, "no"), good()]).await;
        let error = client(&server)
            .0
            .post_json("x", &json!({}))
            .await
            .unwrap_err();
        assert_eq!((error.status(), server.seen().len()), (Some(status), 1));
    }
}

#[tokio::test]
async fn passing_states_are_repeated() {
    for status in [408, 409, 425, 429, 500, 503] {
        let server = FakeServer::answering(vec![Answer::error(status, "not now"), good()]).await;
        client(&server).0.post_json("x", &json!({})).await.unwrap();
        assert_eq!(server.seen().len(), 2, "{status}");
    }
}

#[tokio::test]
async fn a_used_up_quota_is_not_waited_for() {
    let spent = json!({"error": {"message": "no credit left", "code": "insufficient_quota"}});
    check(
        vec![Answer::json(429, &spent)],
        expect![[r#"
        URL/chat/completions answered 429 (application/json): no credit left
        hint: lower max_concurrency, or check the quota of the account
        requests: 1
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_request_that_is_too_large_is_told_apart_and_not_repeated() {
    for answer in [
        Answer::error(413, "too big"),
        Answer::error(400, "This model's maximum context length is 4096 tokens"),
        Answer::error(500, "input is larger than the context size"),
        Answer::error(429, "Request too large for m: limit 6000, requested 9000"),
    ] {
        let server = FakeServer::answering(vec![answer]).await;
        let error = client(&server)
            .0
            .post_json("x", &json!({}))
            .await
            .unwrap_err();
        assert!(error.is_too_large(), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
    let late = FakeServer::answering(vec![Answer::error(500, "context deadline exceeded")]).await;
    assert!(
        !client(&late)
            .0
            .post_json("x", &json!({}))
            .await
            .unwrap_err()
            .is_too_large()
    );
}

#[tokio::test]
async fn waits_are_at_least_what_the_server_asks_for() {
    let refused = Answer::error(429, "slow down");
    let answers = vec![
        refused.clone().header("retry-after", "7"),
        refused.clone().header("retry-after-ms", "1500"),
        refused.header("retry-after", "soon"),
        good(),
    ];
    let server = FakeServer::answering(answers).await;
    let (client, waits) = client(&server);
    client.post_json("x", &json!({})).await.unwrap();
    let waits: Vec<_> = waits
        .lock()
        .unwrap()
        .iter()
        .map(Duration::as_millis)
        .collect();
    assert!((7000..8000).contains(&waits[0]), "{waits:?}");
    assert!((1500..1700).contains(&waits[1]), "{waits:?}");
    assert!(
        (2000..2300).contains(&waits[2]),
        "a bad hint gives the backoff: {waits:?}"
    );
}

#[tokio::test]
async fn under_a_tight_limit_fewer_are_sent_at_once_and_none_is_lost() {
    let refusals = AtomicUsize::new(0);
    let server = FakeServer::start(move |_| {
        let refuse = refusals.fetch_add(1, Ordering::Relaxed) < 4;
        if refuse {
            Answer::error(429, "too many")
        } else {
            good().after(Duration::from_millis(5))
        }
    });
    let server = server.await;
    let (pause, _) = recorded_pause();
    let client = Client::with_pause(
        Endpoint {
            max_retries: 4,
            ..endpoint(&server)
        },
        pause,
    )
    .unwrap();
    let body = json!({});
    let calls = (0..3).map(|_| client.post_json("x", &body));
    let done = futures::future::join_all(calls).await;
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    assert_eq!(server.seen().len(), 7);
    assert!(client.concurrency() < 8);
}

#[tokio::test]
async fn no_more_than_the_limit_are_under_way() {
    let server = FakeServer::start(|_| good().after(Duration::from_millis(5))).await;
    let client = Client::new(Endpoint {
        max_concurrency: 2,
        ..endpoint(&server)
    })
    .unwrap();
    let body = json!({});
    futures::future::join_all((0..9).map(|_| client.post_json("x", &body))).await;
    assert_eq!((server.most_at_once(), server.seen().len()), (2, 9));
}

#[tokio::test]
async fn a_connection_that_breaks_within_the_body_is_tried_again() {
    let server = FakeServer::answering(vec![good().cut_at(5), good()]).await;
    assert_eq!(
        client(&server).0.post_json("x", &json!({})).await.unwrap(),
        json!({"fine": true})
    );
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_stalled_server_is_given_up_in_bounded_time_and_requests() {
    let server = FakeServer::answering(vec![good().after(Duration::from_secs(3600))]).await;
    let endpoint = Endpoint {
        timeout: Duration::from_millis(50),
        ..endpoint(&server)
    };
    let (pause, _) = recorded_pause();
    let error = Client::with_pause(endpoint, pause)
        .unwrap()
        .post_json("x", &json!({}))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, HttpError::Unreachable { attempts: 2, source, .. } if source.is_timeout()),
        "{error:?}"
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_host_that_takes_no_connection_is_given_up_after_the_connect_limit() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // With its queue full, the kernel lets further calls for a connection go unheard.
    let callers = (0..4).map(|_| tokio::net::TcpStream::connect(address));
    let queue = tokio::time::timeout(
        Duration::from_millis(300),
        futures::future::join_all(callers),
    );
    assert!(queue.await.is_err(), "the queue is full");
    let endpoint = Endpoint {
        connect_timeout: Duration::from_millis(50),
        timeout: Duration::from_secs(3600),
        max_retries: 0,
        ..Endpoint::new(format!("http://{address}"))
    };
    let error = Client::new(endpoint)
        .unwrap()
        .post_json("x", &json!({}))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, HttpError::Unreachable { source, .. } if source.is_connect() && source.is_timeout()),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_long_wait_is_mentioned_in_the_log() {
    let log = Log::default();
    let _guard = log.subscribe();
    let url = Url::parse("http://me:sesame@h/v1?key=sesame").unwrap();
    let work = tokio::time::sleep(Duration::from_millis(50));
    mentioned(&url, Duration::from_millis(10), work).await;
    let text = log.text();
    assert!(
        text.contains("still waiting for an answer") && !text.contains("sesame"),
        "{text}"
    );
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_named() {
    let endpoint = Endpoint {
        max_retries: 0,
        ..Endpoint::new("http://user:sesame@127.0.0.1:9?k=sesame")
    };
    let error = Client::new(endpoint)
        .unwrap()
        .post_json("embeddings", &json!({}))
        .await
        .unwrap_err();
    expect!["no answer from http://127.0.0.1:9/v1/embeddings"].assert_eq(&error.to_string());
    expect!["check base_url: is a server running at http://127.0.0.1:9/v1/embeddings?"]
        .assert_eq(&error.hint().unwrap());
    assert!(!format!("{error:?}").contains("sesame"));
}

#[tokio::test]
async fn a_proxy_in_between_is_named_without_its_password() {
    let proxy = Proxy::Url("http://me:sesame@127.0.0.1:9".to_owned());
    let endpoint = Endpoint {
        max_retries: 0,
        proxy,
        ..Endpoint::new("http://models.invalid/v1")
    };
    let error = Client::new(endpoint)
        .unwrap()
        .post_json("embeddings", &json!({}))
        .await
        .unwrap_err();
    expect![
        "no answer from http://models.invalid/v1/embeddings through the proxy http://127.0.0.1:9/"
    ]
    .assert_eq(&error.to_string());
    assert!(
        error
            .hint()
            .unwrap()
            .contains("the proxy http://127.0.0.1:9/")
    );
}

#[tokio::test]
async fn half_a_character_in_an_answer_does_not_cost_the_answer() {
    let half = Answer::text(200, "application/json", r#"{"text": "ok \ud83d then"}"#);
    let server = FakeServer::answering(vec![half]).await;
    let answer = client(&server).0.post_json("x", &json!({})).await.unwrap();
    assert_eq!(answer, json!({"text": "ok \u{fffd} then"}));
}

#[tokio::test]
async fn the_key_is_sent_and_shown_nowhere() {
    let echo = Answer::error(401, &format!("Incorrect key {KEY} given"));
    let server = FakeServer::answering(vec![echo]).await;
    let (client, _) = client(&server);
    let error = client.post_json("x", &json!({})).await.unwrap_err();
    assert_eq!(
        server.seen()[0].headers["authorization"],
        format!("Bearer {KEY}")
    );
    for text in [
        format!("{error}"),
        format!("{error:?}"),
        format!("{client:?}"),
        client.endpoint().api_key.as_ref().unwrap().to_string(),
    ] {
        assert!(!text.contains(KEY), "{text}");
    }
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Takes up all that this thread logs, for as long as the guard lives.
    fn subscribe(&self) -> tracing::subscriber::DefaultGuard {
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_most_talkative_log_has_neither_the_key_nor_what_users_wrote() {
    let log = Log::default();
    let _guard = log.subscribe();
    let server = FakeServer::answering(vec![Answer::error(429, "slow down"), good()]).await;
    let body = json!({"text": "my secret diary"});
    client(&server).0.post_json("x", &body).await.unwrap();
    let text = log.text();
    assert!(text.contains("waiting to try again"), "{text}");
    assert!(!text.contains(KEY) && !text.contains("diary"), "{text}");
}
