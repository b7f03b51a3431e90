//! One look at real weights, for those who have some: `TMEM_LOCAL_MODEL=model.gguf`.

use std::path::PathBuf;

use super::{complete, request};
use crate::{LocalConfig, LocalModel};

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_real_model_knows_a_capital() {
    let Some(path) = std::env::var_os("TMEM_LOCAL_MODEL").map(PathBuf::from) else {
        eprintln!("skipped: TMEM_LOCAL_MODEL names no GGUF file");
        return;
    };
    let model = LocalModel::load(&path, &LocalConfig::default()).expect("a model that loads");
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"capital": {"type": "string", "maxLength": 40}},
        "required": ["capital"],
        "additionalProperties": false
    });
    let reply = complete(
        &model,
        &request("What is the capital of France?", Some(schema), 60),
    )
    .expect("a reply");
    let reply: serde_json::Value = serde_json::from_str(&reply.text).expect("JSON");
    assert!(
        reply["capital"].as_str().expect("a text").contains("Paris"),
        "{reply}"
    );
}
