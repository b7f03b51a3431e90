//! The writer lock: one process at a time writes to the spaces of a folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::error::StoreError;

const LOCK: &str = "writer.lock";
/// Beside the lock, for a locked file cannot be read everywhere.
const HOLDER: &str = "writer.pid";

/// Held as long as it lives. The system lets go of it when the process dies, however it dies.
#[derive(Debug)]
pub(crate) struct WriterLock {
    _file: File,
}

impl WriterLock {
    pub(crate) fn take(folder: &Path) -> Result<Self, StoreError> {
        let explain = |source| StoreError::Folder {
            path: folder.to_owned(),
            source,
        };
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true);
        let file = options.open(folder.join(LOCK)).map_err(explain)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(locked(folder)),
            Err(TryLockError::Error(source)) => return Err(explain(source)),
        }
        std::fs::write(folder.join(HOLDER), std::process::id().to_string()).map_err(explain)?;
        Ok(Self { _file: file })
    }
}

fn locked(folder: &Path) -> StoreError {
    let pid = std::fs::read_to_string(folder.join(HOLDER)).ok();
    let pid = pid.and_then(|pid| pid.trim().parse().ok());
    StoreError::Locked {
        path: folder.to_owned(),
        pid,
    }
}
