//! Crashes, locks, damaged files and deletion down to the bytes.

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use common::{job, scene, space, turn, turns};
use tmem_model::{Change, JobState, Removed};
use tmem_store::{CallRow, FILE, Store, StoreError};

fn texts(folder: &Path) -> Vec<String> {
    let saved = Store::open_existing(folder)
        .unwrap()
        .load(&space("x"))
        .unwrap();
    saved
        .memory
        .all_turns()
        .map(|turn| turn.text.clone())
        .collect()
}

/// Runs one of the ignored tests below in a process of its own.
fn child(name: &str, folder: &Path) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env("STORE_TEST", folder);
    command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    command.spawn().unwrap()
}

fn child_store() -> Option<Store> {
    Some(Store::open(std::env::var_os("STORE_TEST")?).unwrap())
}

#[test]
#[ignore = "the other process of a test"]
fn commits_twice_and_dies() {
    let Some(store) = child_store() else { return };
    store.commit(&space("x"), &turns("c", &["one"])).unwrap();
    let change = Change {
        turns: vec![turn("c", "2", "two")],
        ..Change::default()
    };
    store.commit(&space("x"), &change).unwrap();
    std::process::abort();
}

#[test]
#[ignore = "the other process of a test"]
fn takes_the_lock_and_waits() {
    let Some(store) = child_store() else { return };
    store.lock_for_writing().unwrap();
    std::fs::write(store.folder().join("ready"), "").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn a_killed_process_loses_no_commit_and_blocks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    child("commits_twice_and_dies", folder.path())
        .wait()
        .unwrap();
    assert_eq!(texts(folder.path()), ["one", "two"]);
    let store = Store::open(folder.path()).unwrap();
    let change = Change {
        turns: vec![turn("c", "3", "three")],
        ..Change::default()
    };
    assert_eq!(store.commit(&space("x"), &change).unwrap(), 3);
}

#[test]
fn a_second_writer_is_told_who_holds_the_lock_and_readers_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.commit(&space("x"), &turns("c", &["one"])).unwrap();
    drop(store);
    let mut holder = child("takes_the_lock_and_waits", folder.path());
    while !folder.path().join("ready").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let store = Store::open(folder.path()).unwrap();
    let error = store
        .commit(&space("x"), &turns("c", &["two"]))
        .unwrap_err();
    let expected = holder.id();
    assert!(
        matches!(&error, StoreError::Locked { pid: Some(pid), .. } if *pid == expected),
        "{error}"
    );
    assert!(error.to_string().contains(&expected.to_string()));
    assert_eq!(texts(folder.path()), ["one"]);
    store.record_call(&call("k", "body")).unwrap();
    holder.kill().unwrap();
    holder.wait().unwrap();
    store.commit(&space("x"), &turns("c", &["two"])).unwrap();
}

#[test]
fn a_copy_taken_of_an_open_store_has_all_that_was_committed() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open(folder.path()).unwrap();
    store
        .commit(&space("x"), &turns("c", &["one", "two"]))
        .unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    assert_eq!(texts(copy.path()), ["one", "two"]);
}

#[test]
fn twenty_parallel_adds_of_one_turn_store_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(folder.path()).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| store.commit(&space("x"), &turns("c", &["once"])).unwrap());
        }
    });
    assert_eq!(texts(folder.path()), ["once"]);
    assert_eq!(store.generation(&space("x")).unwrap(), 20);
}

#[test]
fn parallel_commits_of_fifty_sessions_all_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for part in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for session in (0..50).filter(|session| session % 8 == part) {
                    let mut change = turns(&format!("c{session}"), &["one", "two"]);
                    change
                        .scenes
                        .push(scene(&format!("c{session}"), "s001", &["1", "2"]));
                    change
                        .jobs
                        .push(job(&format!("c{session}"), "s001", JobState::Done));
                    store.commit(&space("x"), &change).unwrap();
                }
            });
        }
    });
    let saved = store.load(&space("x")).unwrap();
    assert_eq!(
        (
            saved.memory.all_turns().count(),
            saved.memory.scenes().count()
        ),
        (100, 50)
    );
    assert_eq!((saved.jobs.len(), saved.generation), (50, 50));
}

#[test]
fn a_space_that_another_process_changed_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.load(&space("x")).unwrap();
    child("commits_twice_and_dies", folder.path())
        .wait()
        .unwrap();
    let error = store
        .commit(&space("x"), &turns("c", &["mine"]))
        .unwrap_err();
    assert!(matches!(error, StoreError::Stale { .. }), "{error}");
    assert_eq!(store.load(&space("x")).unwrap().generation, 2);
    store.commit(&space("x"), &turns("c", &["mine"])).unwrap();
    assert_eq!(texts(folder.path()), ["mine", "two"]);
}

fn call(key: &str, body: &str) -> CallRow {
    let [key, prompt, model, state, body] =
        [key, "segment", "small", "done", body].map(str::to_owned);
    CallRow {
        key,
        prompt,
        model,
        state,
        body,
    }
}

fn files_with(folder: &Path, word: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let hit = entries.filter(|path| {
        let bytes = std::fs::read(path).unwrap();
        bytes
            .windows(word.len())
            .any(|window| window == word.as_bytes())
    });
    hit.map(|path| path.display().to_string()).collect()
}

#[test]
fn a_deleted_word_is_in_no_file_after_a_purge() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let mut change = turns("c", &["the quillwort grows here", "kept"]);
    change.jobs.push(job("c", "quillwort", JobState::Pending));
    store.commit(&space("x"), &change).unwrap();
    store.record_call(&call("k1", "about quillwort")).unwrap();
    store.record_call(&call("k2", "about nothing")).unwrap();
    store
        .put_vectors("quillwort-encoder", &[("h".into(), vec![1.0])])
        .unwrap();
    assert!(!files_with(folder.path(), "quillwort").is_empty());

    let turns = vec![change.turns[0].id.clone()];
    let removed = Removed {
        turns,
        jobs: vec![change.jobs[0].key()],
        ..Removed::default()
    };
    store
        .commit(
            &space("x"),
            &Change {
                removed,
                ..Change::default()
            },
        )
        .unwrap();
    let matches = |row: &CallRow| row.body.contains("quillwort");
    assert_eq!(store.remove_calls_matching(matches).unwrap(), 1);
    assert_eq!(store.retain_vectors(|_, hash| hash != "h").unwrap(), 1);
    store.purge().unwrap();
    assert_eq!(files_with(folder.path(), "quillwort"), Vec::<String>::new());
    assert_eq!(texts(folder.path()), ["kept"]);
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join(FILE),
        "not a database at all, not at all".repeat(50),
    )
    .unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    let left = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
    assert!(left.starts_with("not a database"));
}

#[test]
fn damage_that_shows_only_on_reading_names_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store
        .commit(&space("x"), &turns("c", &["one", "two"]))
        .unwrap();
    drop(store);
    let path = folder.path().join(FILE);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8192..].fill(0xAA);
    std::fs::write(&path, bytes).unwrap();
    let opened = Store::open_existing(folder.path());
    let error = opened
        .and_then(|store| store.load(&space("x")))
        .unwrap_err();
    assert!(error.to_string().contains("backup"), "{error:?}");
}

#[test]
fn a_file_that_cannot_be_opened_names_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(FILE)).unwrap();
    let error = Store::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("can be written to"), "{error}");
}

/// Makes it impossible to write to the store of a folder, for administrators too: the file that
/// SQLite shares between readers cannot be made.
#[cfg(unix)]
fn forbid_writing(folder: &Path) {
    std::os::unix::fs::symlink("nowhere/at/all", folder.join(format!("{FILE}-shm"))).unwrap();
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_written_the_store_is_read_as_it_is() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("50% of é?#");
    let store = Store::open(&folder).unwrap();
    store
        .commit(&space("x"), &turns("c", &["one", "two"]))
        .unwrap();
    drop(store);
    forbid_writing(&folder);
    assert_eq!(texts(&folder), ["one", "two"]);
    let store = Store::open_existing(&folder).unwrap();
    assert!(store.is_read_only());
    let errors = [
        store.commit(&space("x"), &Change::default()).unwrap_err(),
        store.lock_for_writing().unwrap_err(),
        store.purge().unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    }
    let error = Store::open(&folder).unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_store_with_changes_beside_it_is_not_read_without_them() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    std::fs::write(folder.path().join(format!("{FILE}-wal")), "changes").unwrap();
    forbid_writing(folder.path());
    let error = Store::open_existing(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Unsettled { .. }), "{error}");
}

#[test]
fn a_newer_schema_is_refused_with_both_numbers() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    let raw = rusqlite::Connection::open(folder.path().join(FILE)).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    drop(raw);
    let error = Store::open(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("schema 99") && error.contains("newer tmem"),
        "{error}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_and_a_store_that_is_not_there_are_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let error = Store::open(folder.path().join("file/data")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
    let error = Store::open_existing(folder.path().join("none/at/all")).unwrap_err();
    assert!(matches!(error, StoreError::Absent { .. }), "{error}");
    assert!(!folder.path().join("none").exists());
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    let path = folder.path().join(FILE);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    // An administrator may read it all the same.
    if std::fs::File::open(&path).is_err() {
        let error = Store::open(folder.path()).unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{error}");
    }
}
