//! The OpenAI chat format: how a request is written and an answer is read, on the wire and in batch
//! files.

/// Whether an error text says that the request exceeds what the model or the server takes.
pub fn is_too_large(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let context = text.contains("context") && ["length", "window", "size", "exceed"].iter().any(|word| text.contains(word));
    context || ["prompt is too long", "too many tokens", "request too large", "reduce the length"].iter().any(|phrase| text.contains(phrase))
}
