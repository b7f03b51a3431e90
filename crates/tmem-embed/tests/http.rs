//! Endpoints that do what real ones have done.

#![cfg(feature = "http")]

use serde_json::{Value, json};
use tmem_embed::{
    EmbedError, Encoder, EncoderSpec, HttpEncoder, HttpReranker, Reranker, TextRole::Passage,
};
use tmem_http::{
    Client, Endpoint,
    testing::{Answer, FakeServer, Seen, recorded_pause},
};

fn client(server: &FakeServer) -> Client {
    let endpoint = Endpoint {
        max_retries: 1,
        ..Endpoint::new(server.url())
    };
    Client::with_pause(endpoint, recorded_pause().0).unwrap()
}

fn encoder(server: &FakeServer) -> HttpEncoder {
    HttpEncoder::new(client(server), EncoderSpec::plain("remote", 2, 512))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn inputs(seen: &Seen) -> Vec<String> {
    serde_json::from_value(seen.body["input"].clone()).unwrap()
}

/// A good answer: text `n12` has the vector (12, 1) scaled.
fn vectors(seen: &Seen) -> Answer {
    let number = |text: &String| text.trim_start_matches('n').parse::<f64>().unwrap_or(0.0);
    let entry = |text: &String| json!({"embedding": [number(text), 1.0]});
    Answer::json(
        200,
        &json!({"data": inputs(seen).iter().map(entry).collect::<Vec<_>>()}),
    )
}

/// Which of the texts `n0`, `n1`, … a vector belongs to.
fn number(vector: &[f32]) -> f32 {
    (vector[0] / vector[1]).round()
}

/// Embeds `a` and `b` against a server that answers `reply`.
async fn two(reply: Value) -> Result<Vec<Vec<f32>>, String> {
    let server = FakeServer::answering(vec![Answer::json(200, &reply)]).await;
    let result = encoder(&server).encode(Passage, &texts(&["a", "b"])).await;
    result.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_request_names_model_and_texts_and_nothing_else() {
    let server = FakeServer::start(vectors).await;
    encoder(&server)
        .encode(Passage, &texts(&["n1"]))
        .await
        .unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].path, "/v1/embeddings");
    assert_eq!(seen[0].body, json!({"model": "remote", "input": ["n1"]}));
}

#[tokio::test]
async fn vectors_go_to_their_texts_by_index() {
    let reply = json!({"data": [
        {"index": 1, "embedding": [0.0, 2.0]},
        {"index": 0, "embedding": [3.0, 0.0]},
    ]});
    assert_eq!(two(reply).await.unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
}

#[tokio::test]
async fn without_an_index_the_position_counts() {
    let reply = json!({"data": [{"embedding": [3.0, 0.0]}, {"embedding": [0.0, 2.0]}]});
    assert_eq!(two(reply).await.unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
}

#[tokio::test]
async fn replies_that_cannot_be_paired_are_refused() {
    let entry = |index: i64| json!({"index": index, "embedding": [1.0, 0.0]});
    let check = async |entries: Vec<Value>| two(json!({"data": entries})).await.unwrap_err();
    assert_eq!(
        check(vec![entry(0), entry(0)]).await,
        "remote: index 0 comes twice"
    );
    assert_eq!(
        check(vec![entry(0)]).await,
        "remote: index 1 of 2 is missing"
    );
    assert_eq!(
        check(vec![entry(0), entry(1), entry(2)]).await,
        "remote: index 2 in a reply to 2 texts"
    );
    assert_eq!(
        check(vec![entry(0), entry(-1)]).await,
        "remote: index -1 is no position"
    );
    assert_eq!(
        two(json!({})).await.unwrap_err(),
        "remote: no list `data` in the reply"
    );
}

#[tokio::test]
async fn numbers_that_would_poison_a_ranking_are_refused() {
    let check = async |vector: Value| {
        let good = json!({"embedding": [1.0, 0.0]});
        two(json!({"data": [good, {"embedding": vector}]}))
            .await
            .unwrap_err()
    };
    let range = |what: &str| {
        format!("remote: number 0 of the vector of text 1 is {what}, not a number in range")
    };
    assert_eq!(check(json!([null, 1.0])).await, range("null"));
    assert_eq!(check(json!([1e300, 1.0])).await, range("1e+300"));
    assert_eq!(check(json!([0.0, 0.0])).await, "remote: a vector of norm 0");
    assert_eq!(
        check(json!("AAAA")).await,
        "remote: no list `embedding` for text 1"
    );
    let message = check(json!([1.0])).await;
    assert!(
        message.starts_with("remote gives vectors of 1 numbers, configured are 2: "),
        "{message}"
    );
}

#[tokio::test]
async fn a_number_beyond_all_floats_is_refused() {
    let body = r#"{"data": [{"embedding": [1e999, 1.0]}]}"#;
    let server = FakeServer::answering(vec![Answer::text(200, "application/json", body)]).await;
    assert!(
        encoder(&server)
            .encode(Passage, &texts(&["a"]))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn blank_texts_are_never_sent() {
    let server = FakeServer::start(vectors).await;
    let batch = texts(&["Leo has a parrot", "\n\n", ""]);
    let result = encoder(&server).encode(Passage, &batch).await;
    assert!(matches!(result, Err(EmbedError::Blank { index: 1 })));
    assert!(
        encoder(&server)
            .encode(Passage, &[])
            .await
            .unwrap()
            .is_empty()
    );
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_limit_on_the_number_of_texts_is_found_and_remembered() {
    let server = FakeServer::start(|seen| match inputs(seen).len() {
        0..=10 => vectors(seen),
        _ => Answer::error(400, "at most 10 inputs"),
    })
    .await;
    let encoder = encoder(&server);
    let batch: Vec<String> = (0..25).map(|n| format!("n{n}")).collect();
    let found = encoder.encode(Passage, &batch).await.unwrap();
    let numbers: Vec<f32> = found.iter().map(|vector| number(vector)).collect();
    assert_eq!(numbers, (0..25).map(|n| n as f32).collect::<Vec<_>>());
    let sizes = |from: usize| -> Vec<usize> {
        server.seen()[from..]
            .iter()
            .map(|seen| inputs(seen).len())
            .collect()
    };
    assert_eq!(sizes(0), [25, 12, 6, 6, 6, 6, 1]);
    encoder.encode(Passage, &batch).await.unwrap();
    assert_eq!(sizes(7), [6, 6, 6, 6, 1]);
}

#[tokio::test]
async fn a_refusal_of_another_kind_is_reported_and_not_remembered() {
    let server = FakeServer::start(|seen| match seen.body["input"][0].as_str() {
        Some("bad") => Answer::error(400, "no such model"),
        _ => vectors(seen),
    })
    .await;
    let encoder = encoder(&server);
    let error = encoder
        .encode(Passage, &texts(&["bad", "n1", "n2"]))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "remote could not be asked");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("no such model"), "{source}");
    let before = server.seen().len();
    encoder
        .encode(Passage, &texts(&["n1", "n2", "n3"]))
        .await
        .unwrap();
    assert_eq!(server.seen().len(), before + 1);
}

#[tokio::test]
async fn a_text_beyond_the_window_is_cut_before_it_is_sent() {
    let server = FakeServer::start(|seen| match inputs(seen)[0].chars().count() {
        0..=510 => vectors(seen),
        _ => Answer::error(500, "the tensor does not fit"),
    })
    .await;
    let long = ["雪".repeat(2_000), "n7".to_owned()];
    let found = encoder(&server).encode(Passage, &long).await.unwrap();
    assert_eq!(number(&found[1]), 7.0);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_text_that_the_endpoint_finds_too_long_is_halved_alone() {
    let server = FakeServer::start(|seen| {
        match inputs(seen).iter().all(|text| text.chars().count() <= 100) {
            true => vectors(seen),
            false => Answer::error(400, "maximum context length is 100 tokens"),
        }
    })
    .await;
    let encoder = encoder(&server);
    let batch = texts(&["n1", "n2", &"word ".repeat(60), "n4"]);
    let found = encoder.encode(Passage, &batch).await.unwrap();
    assert_eq!([0, 1, 3].map(|i| number(&found[i])), [1.0, 2.0, 4.0]);
    let before = server.seen().len();
    encoder
        .encode(Passage, &texts(&["n1", "n2", "n3", "n4"]))
        .await
        .unwrap();
    assert_eq!(server.seen().len(), before + 1);
}

#[tokio::test]
async fn scores_come_in_every_shape_that_servers_use() {
    let entry = |index: usize, key: &str, score: f64| json!({"index": index, key: score});
    let check = async |reply: Value| {
        let server = FakeServer::answering(vec![Answer::json(200, &reply)]).await;
        let reranker = HttpReranker::new(client(&server), "judge", 512);
        let scores = reranker.score("a kite", &texts(&["soup", "kites"])).await;
        assert_eq!(server.seen()[0].path, "/v1/rerank");
        scores.map_err(|error| error.to_string())
    };
    let scores = Ok(vec![0.25, 0.75]);
    let relevance = [
        entry(1, "relevance_score", 0.75),
        entry(0, "relevance_score", 0.25),
    ];
    assert_eq!(check(json!({"results": relevance})).await, scores);
    assert_eq!(check(json!({"data": relevance})).await, scores);
    assert_eq!(
        check(json!([entry(0, "score", 0.25), entry(1, "score", 0.75)])).await,
        scores
    );
    let missing = check(json!({"results": [entry(1, "score", 0.75)]})).await;
    assert_eq!(missing.unwrap_err(), "judge: index 0 of 2 is missing");
}
