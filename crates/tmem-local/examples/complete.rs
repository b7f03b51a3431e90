//! Answers one prompt with a local model, and says how fast it was.
//!
//! `cargo run --release -p tmem-local --example complete -- MODEL.gguf "prompt" [schema.json] [max tokens] [copies]`
//!
//! With several copies the calls run side by side.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example talks to its user"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tmem_llm::{ChatModel, Message, Params, Prompt, ReplySchema, Request, Role};
use tmem_local::{LocalConfig, LocalModel, Progress, threads};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = PathBuf::from(arguments.next().ok_or("which GGUF file?")?);
    let prompt = arguments.next().ok_or("which prompt?")?;
    let schema = arguments.next().filter(|path| !path.is_empty());
    let max_tokens = arguments.next().map_or(Ok(256), |text| text.parse())?;
    let copies: usize = arguments.next().map_or(Ok(1), |text| text.parse())?;

    let start = Instant::now();
    let model = LocalModel::load(&model, &LocalConfig::default())?.with_progress(Arc::new(show));
    eprintln!(
        "loaded in {:.1} s, {} threads",
        start.elapsed().as_secs_f32(),
        threads()
    );

    let request = request(prompt, schema.as_deref(), max_tokens)?;
    let start = Instant::now();
    let calls = (0..copies).map(|copy| {
        let mut request = request.clone();
        request.messages[1].content.push_str(&" ".repeat(copy));
        let model = &model;
        async move { model.complete(&request).await }
    });
    let replies = futures::future::try_join_all(calls).await?;
    let seconds = start.elapsed().as_secs_f32();
    eprintln!();
    println!("{}", replies[0].text);
    let usage = replies.iter().filter_map(|reply| reply.usage);
    let (read, written) = usage.fold((0, 0), |(read, written), usage| {
        (
            read + usage.prompt_tokens,
            written + usage.completion_tokens,
        )
    });
    eprintln!(
        "{}: {read} tokens read, {written} written in {seconds:.1} s",
        replies[0].finish
    );
    Ok(())
}

fn request(
    prompt: String,
    schema: Option<&str>,
    max_tokens: u32,
) -> Result<Request, Box<dyn std::error::Error>> {
    let schema = match schema {
        Some(path) => Some(ReplySchema {
            name: "reply".to_owned(),
            schema: serde_json::from_str(&std::fs::read_to_string(path)?)?,
            without: Vec::new(),
        }),
        None => None,
    };
    let message = |role, content: &str| Message {
        role,
        content: content.to_owned(),
    };
    Ok(Request {
        prompt: Prompt {
            name: "example".to_owned(),
            version: 1,
        },
        messages: vec![
            message(Role::System, "You are a helpful assistant."),
            message(Role::User, &prompt),
        ],
        schema,
        params: Params {
            max_tokens,
            temperature: Some(0.0),
        },
    })
}

fn show(progress: &Progress) {
    eprint!(
        "\r{} of {} read, {} written ",
        progress.read, progress.to_read, progress.written
    );
}
