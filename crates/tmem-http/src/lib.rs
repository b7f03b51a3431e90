//! JSON over HTTP to model servers: one client, one retry layer, one limiter.
//!
//! [`Client::post_json`] sends a body and gives back the JSON of a good answer; everything that can go
//! wrong on the way is met here, once, for chat, embedding and reranking alike: connecting and total
//! time-outs, proxies, waiting as the server asks, fewer requests at once when it is overloaded. What
//! the JSON means is left to `tmem-llm` and `tmem-embed`.

mod client;
mod endpoint;
mod error;
mod hint;
mod limit;
mod proxy;
mod secret;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod url;

pub use client::{Client, Pause};
pub use endpoint::{Endpoint, Proxy};
pub use error::{BadAnswer, HttpError};
pub use secret::Secret;
