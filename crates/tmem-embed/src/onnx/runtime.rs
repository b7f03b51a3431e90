//! Loads the ONNX Runtime library, once a process.
//!
//! Always by an explicit path: when ort looks for the library itself, it panics if there is none.

use std::{
    path::Path,
    sync::{Mutex, OnceLock, PoisonError},
};

use ort::{LoadDynamicError, environment::Environment, logging::LogLevel};

use crate::EmbedError;

static LOADED: OnceLock<Environment> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// The library at `path`, or the one that is loaded already.
pub(crate) fn environment(path: &Path) -> Result<&'static Environment, EmbedError> {
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if LOADED.get().is_none() {
        let _ = LOADED.set(load(path)?);
    }
    Ok(LOADED.get().expect("set above"))
}

fn load(path: &Path) -> Result<Environment, EmbedError> {
    // The loader takes a relative path relative to the program.
    let absolute = path.canonicalize();
    let absolute = absolute.map_err(|_| EmbedError::RuntimeMissing { path: path.into() })?;
    let builder = ort::init_from(&absolute).map_err(|error| unusable(path, error))?;
    let environment = builder.with_name("tmem").with_telemetry(false).build();
    let environment = environment.map_err(|error| EmbedError::RuntimeUnusable {
        path: path.into(),
        message: error.to_string(),
    })?;
    // It writes to the terminal what it also returns, and returning it is enough.
    environment.set_log_level(LogLevel::Fatal);
    Ok(environment)
}

fn unusable(path: &Path, error: LoadDynamicError) -> EmbedError {
    let path = path.to_owned();
    match error {
        LoadDynamicError::BadVersion { version_str, .. } => EmbedError::RuntimeTooOld {
            path,
            found: version_str,
            required: format!("1.{}", ort::MINOR_VERSION),
        },
        LoadDynamicError::Dlopen { error, .. } => EmbedError::RuntimeUnusable {
            path,
            message: error.to_string(),
        },
        LoadDynamicError::MissingApi { .. } => EmbedError::RuntimeUnusable {
            path,
            message: "it does not export `OrtGetApiBase`".to_owned(),
        },
        other => EmbedError::RuntimeUnusable {
            path,
            message: other.to_string(),
        },
    }
}
