//! Calls, vectors and settings.

use tmem_store::{CallRow, Store, StoreError};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    (folder, store)
}

fn call(key: &str, state: &str) -> CallRow {
    let [key, prompt, model, state, body] = [key, "write", "m", state, "{}"].map(str::to_owned);
    CallRow {
        key,
        prompt,
        model,
        state,
        body,
    }
}

#[test]
fn calls_keep_the_order_of_their_first_arrival() {
    let (_folder, store) = store();
    for key in ["z", "a", "m"] {
        store.record_call(&call(key, "waiting")).unwrap();
    }
    store.record_call(&call("a", "done")).unwrap();
    let keys = |state| -> Vec<String> {
        store
            .list_calls(state)
            .unwrap()
            .into_iter()
            .map(|row| row.key)
            .collect()
    };
    assert_eq!(keys(None), ["z", "a", "m"]);
    assert_eq!(keys(Some("waiting")), ["z", "m"]);
    assert_eq!(store.find_call("a").unwrap(), Some(call("a", "done")));
    assert_eq!(store.find_call("none").unwrap(), None);
}

#[test]
fn vectors_come_in_the_order_asked_and_by_encoder() {
    let (_folder, store) = store();
    let rows = [
        ("h1".to_owned(), vec![0.5, -1.25e-7]),
        ("h2".to_owned(), vec![1.0, 0.0]),
    ];
    store.put_vectors("e", &rows).unwrap();
    store
        .put_vectors("f", &[("h1".to_owned(), vec![2.0])])
        .unwrap();
    let asked = ["h2", "h9", "h1"].map(str::to_owned);
    let found = store.vectors("e", &asked).unwrap();
    let lacking = |encoder| {
        let hashes = ["h2", "h3", "h1"].map(str::to_owned).into_iter();
        store.without_vector(encoder, hashes).unwrap()
    };
    assert_eq!(lacking("e"), ["h3"]);
    assert_eq!(lacking("g"), ["h2", "h3", "h1"]);
    let gone = ["h2", "h9"].map(str::to_owned);
    store.remove_vectors("f", gone.iter()).unwrap();
    assert_eq!(lacking("e"), ["h3"]);
    store.remove_vectors("e", gone.iter()).unwrap();
    assert_eq!(lacking("e"), ["h2", "h3"]);
    store.put_vectors("e", &rows).unwrap();
    assert_eq!(
        found,
        [Some(vec![1.0, 0.0]), None, Some(vec![0.5, -1.25e-7])]
    );
    assert_eq!(
        store.encoders().unwrap(),
        [("e".to_owned(), 2), ("f".to_owned(), 1)]
    );
    assert_eq!(
        store.retain_vectors(|encoder, _| encoder == "e").unwrap(),
        1
    );
    assert_eq!(store.encoders().unwrap(), [("e".to_owned(), 2)]);
}

#[test]
fn a_vector_that_is_not_finite_or_empty_is_refused_with_its_whole_batch() {
    let (_folder, store) = store();
    for odd in [vec![f32::NAN], vec![1.0, f32::INFINITY], vec![]] {
        let rows = [("good".to_owned(), vec![1.0]), ("odd".to_owned(), odd)];
        let error = store.put_vectors("e", &rows).unwrap_err();
        assert!(matches!(error, StoreError::Vector { hash } if hash == "odd"));
    }
    assert_eq!(store.encoders().unwrap(), []);
}

#[test]
fn settings_are_kept_and_replaced() {
    let (folder, store) = store();
    store.set_meta("encoder", "a").unwrap();
    store.set_meta("encoder", "b").unwrap();
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.get_meta("encoder").unwrap().as_deref(), Some("b"));
    store.remove_meta("encoder").unwrap();
    assert_eq!(store.get_meta("encoder").unwrap(), None);
}
