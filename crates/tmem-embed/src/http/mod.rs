//! Encoders and rerankers behind an HTTP endpoint, over the client of `tmem-http`.

mod encoder;
mod limit;
mod reply;
mod reranker;

use tmem_http::HttpError;

use crate::EmbedError;

pub use encoder::{HttpEncoder, HttpOptions};
pub use reranker::HttpReranker;

fn failed(model: &str, error: HttpError) -> EmbedError {
    EmbedError::Request {
        model: model.to_owned(),
        source: Box::new(error),
    }
}
