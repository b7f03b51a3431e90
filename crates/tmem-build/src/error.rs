//! What can go wrong before a model is asked; what goes wrong afterwards is a job's state.

use std::path::PathBuf;

/// Why prompts cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A prompt file cannot be read.
    #[error("prompt file {path} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The first line is not `version: N`.
    #[error("prompt {name} does not begin with a line `version: N`")]
    Version {
        /// File name without extension.
        name: String,
    },
    /// The file lacks its three parts.
    #[error(
        "prompt {name} needs a version line, a constant part and a template, parted by lines `---`"
    )]
    Parts {
        /// File name without extension.
        name: String,
    },
    /// The template lacks a placeholder.
    #[error("prompt {name} lacks the placeholder {{{{{placeholder}}}}}")]
    Missing {
        /// File name without extension.
        name: String,
        /// The placeholder.
        placeholder: String,
    },
    /// A placeholder that nothing fills.
    #[error("prompt {name} has the placeholder {{{{{placeholder}}}}}, which nothing fills")]
    Unknown {
        /// File name without extension.
        name: String,
        /// The placeholder.
        placeholder: String,
    },
}
