//! A model server that answers every request with a reply of the shape it asks for, and counts.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Map, Value, json};

/// What the server does with the n-th request, from 0.
type Policy = dyn Fn(usize, &Value) -> Act + Send + Sync;

/// What happens to a request.
pub(crate) enum Act {
    /// It gets a reply of its shape.
    Answer,
    /// It gets this text.
    Say(String),
    /// It is refused by the model.
    Refuse,
    /// Its reply is cut at once.
    Cut,
    /// It gets this status.
    Status(u16),
    /// It hangs until [`Server::release`].
    Hang,
}

pub(crate) struct Server {
    url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    seen: Mutex<Vec<Value>>,
    arrived: Condvar,
    open: Mutex<bool>,
    released: Condvar,
}

impl Server {
    pub(crate) fn start(policy: impl Fn(usize, &Value) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("bound"));
        let state = Arc::new(State::default());
        let (shared, policy) = (Arc::clone(&state), Arc::new(policy) as Arc<Policy>);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, policy) = (Arc::clone(&shared), Arc::clone(&policy));
                std::thread::spawn(move || serve(stream, &state, &*policy));
            }
        });
        Self { url, state }
    }

    pub(crate) fn answering() -> Self {
        Self::start(|_, _| Act::Answer)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Bodies of all requests so far.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.state.seen.lock().unwrap().clone()
    }

    /// Waits until `count` requests have come.
    pub(crate) fn wait_for(&self, count: usize) {
        let seen = self.state.seen.lock().unwrap();
        drop(
            self.state
                .arrived
                .wait_while(seen, |seen| seen.len() < count)
                .unwrap(),
        );
    }

    /// Lets hanging requests go on, to nowhere.
    pub(crate) fn release(&self) {
        *self.state.open.lock().unwrap() = true;
        self.state.released.notify_all();
    }

    /// How often each body came.
    pub(crate) fn counts(&self) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for body in self.seen() {
            *counts.entry(body.to_string()).or_default() += 1;
        }
        counts
    }
}

fn serve(mut stream: TcpStream, state: &State, policy: &Policy) {
    let Some(body) = request(&stream) else { return };
    let number = {
        let mut seen = state.seen.lock().unwrap();
        seen.push(body.clone());
        state.arrived.notify_all();
        seen.len() - 1
    };
    let (status, reply) = match policy(number, &body) {
        Act::Answer => (200, chat(&reply(&body), "stop")),
        Act::Say(text) => (200, chat(&text, "stop")),
        Act::Refuse => (200, chat("", "content_filter")),
        Act::Cut => (200, chat("{", "length")),
        Act::Status(status) => (status, json!({"error": {"message": "no"}})),
        Act::Hang => {
            let open = state.open.lock().unwrap();
            drop(state.released.wait_while(open, |open| !*open).unwrap());
            return;
        }
    };
    let text = reply.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        text.len()
    );
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(text.as_bytes()));
}

fn request(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn chat(text: &str, finish: &str) -> Value {
    json!({
        "choices": [{"message": {"content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20},
    })
}

/// A reply of the shape that a request asks for; the same request gets the same reply.
pub(crate) fn reply(body: &Value) -> String {
    let schema = &body["response_format"]["json_schema"]["schema"];
    if schema.is_null() {
        return "Behind the shed [S1:1].".to_owned();
    }
    let seed = body.to_string().bytes().fold(7_u64, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    Writer { words: seed }.value(schema, "", 1).to_string()
}

struct Writer {
    words: u64,
}

impl Writer {
    fn value(&mut self, schema: &Value, name: &str, label: usize) -> Value {
        match schema["type"].as_str() {
            Some("object") => {
                let fields = schema["properties"].as_object().expect("fields");
                let fields = fields
                    .iter()
                    .map(|(name, shape)| (name.clone(), self.value(shape, name, label)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Some("array") => self.list(schema, name),
            Some("integer") if name == "topic" => json!(0),
            Some("integer") => json!(label),
            _ => json!(format!("Ivo {}", self.text())),
        }
    }

    fn list(&mut self, schema: &Value, name: &str) -> Value {
        let most = schema["maxItems"].as_u64().unwrap_or(1) as usize;
        let labels: Vec<usize> = match name {
            "ends" => (1..=most).filter(|label| label % 3 == 0).collect(),
            "turns" | "topics" => vec![1],
            _ => (1..=most.min(6)).collect(),
        };
        let elements = labels
            .iter()
            .map(|label| self.value(&schema["items"], "", *label));
        Value::Array(elements.collect())
    }

    fn text(&mut self) -> String {
        (0..4).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn word(&mut self) -> String {
        self.words = self
            .words
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        let letters = b"bcdfghjklmnpqrstvwxz";
        let letter = |shift: u32| char::from(letters[((self.words >> shift) % 20) as usize]);
        [20, 27, 34, 41, 48, 55].map(letter).iter().collect()
    }
}
