//! A memory on the bench: what a driver does, with every call and every restart in the open.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test file uses its part"
)]

pub mod script;

use std::collections::{BTreeMap, BTreeSet};

use tmem_build::{
    Asked, BuildConfig, Inputs, Jobs, Prompts, Vectors, accept, ask, flush, plan, prepare,
};
use tmem_llm as llm;
use tmem_llm::{LlmError, Reply, Request, ScriptedModel};
use tmem_model as model;
use tmem_model::{Change, JobState, Memory, Stage, Turn, TurnId, text};

use script::seed;
pub use script::{conversation, dialogue, filler, read};

/// A model as a function.
pub type Script = Box<dyn Fn(&Request) -> Result<Reply, LlmError>>;

/// A memory with its jobs, everything it paid for, and the model it asks.
pub struct Bench {
    pub memory: Memory,
    pub jobs: Jobs,
    pub vectors: Vectors,
    pub config: BuildConfig,
    pub prompts: Prompts,
    /// Requests that were answered, as a call log would hold them.
    pub log: BTreeMap<String, Reply>,
    /// Calls paid for, by stage.
    pub calls: BTreeMap<Stage, usize>,
    pub prompt_tokens: usize,
    pub reply_tokens: usize,
    /// Waves of steps that asked a model.
    pub rounds: usize,
    /// Decides between two commits whether the process dies there; by a count of commits.
    pub dies: Box<dyn FnMut() -> bool>,
    /// The order in which the answers of a wave come in.
    pub shuffle: Box<dyn FnMut(usize) -> Vec<usize>>,
    pub model: Script,
}

impl Bench {
    pub fn new(config: BuildConfig) -> Self {
        Self {
            memory: Memory::new(),
            jobs: Jobs::default(),
            vectors: Vectors::new(),
            config,
            prompts: Prompts::default(),
            log: BTreeMap::new(),
            calls: BTreeMap::new(),
            prompt_tokens: 0,
            reply_tokens: 0,
            rounds: 0,
            dies: Box::new(|| false),
            shuffle: Box::new(|count| (0..count).collect()),
            model: Box::new(|request| Ok(Reply::text(read(request).to_string()))),
        }
    }

    pub fn inputs(&self) -> Inputs<'_> {
        Inputs {
            memory: &self.memory,
            jobs: &self.jobs,
            vectors: &self.vectors,
        }
    }

    pub fn apply(&mut self, change: &Change) {
        tmem_build::apply(&mut self.memory, &mut self.jobs, change).unwrap();
        let anew = Jobs::of(&self.memory, self.jobs.rows().cloned());
        assert!(self.jobs == anew, "{:?}\nis not\n{anew:?}", self.jobs);
    }

    pub fn add(&mut self, turns: &[Turn]) {
        self.apply(&Change {
            turns: turns.to_vec(),
            ..Change::default()
        });
    }

    pub fn flush(&mut self) {
        let mark = flush(self.inputs(), &conversation());
        self.apply(&mark);
    }

    /// Builds until nothing is ready; a wave that only waits ends it too.
    pub fn build(&mut self) {
        let mut last = Vec::new();
        for _ in 0..3_000 {
            let steps = plan(self.inputs(), &conversation(), &self.config);
            last.clone_from(&steps);
            if steps.is_empty() {
                return;
            }
            self.rounds += usize::from(steps.iter().any(tmem_build::Step::asks_model));
            let mut asked: Vec<Option<Asked>> = vec![None; steps.len()];
            for at in (self.shuffle)(steps.len()) {
                asked[at] = Some(self.ask(steps[at].clone()));
            }
            let asked: Vec<Asked> = asked.into_iter().flatten().collect();
            let waits = asked.iter().all(Asked::is_waiting);
            for asked in &asked {
                if (self.dies)() {
                    break; // what was asked and not committed is gone, but for the log
                }
                let change = accept(asked, self.inputs(), &self.config, &self.prompts);
                self.apply(&change);
            }
            if waits {
                return;
            }
        }
        panic!("the build does not end: {last:?}");
    }

    fn ask(&mut self, step: tmem_build::Step) -> Asked {
        let stage = step.stage();
        let (asked, new) = {
            let (log, model) = (std::sync::Mutex::new(&self.log), &self.model);
            let new = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let asked = answered(
                step,
                self.inputs(),
                &self.config,
                &self.prompts,
                &log,
                model,
                &new,
            );
            let new = new.lock().unwrap().clone();
            (asked, new)
        };
        for (request, reply) in new {
            *self.calls.entry(stage).or_default() += 1;
            self.prompt_tokens += tokens(&request);
            self.reply_tokens += text::estimate_tokens(&reply.text);
            let paid = self.log.insert(key(&request), reply);
            assert!(paid.is_none(), "paid twice: {}", key(&request));
        }
        asked
    }

    /// Which calls were paid for: prompt names with a digest of the request.
    pub fn keys(&self) -> BTreeSet<String> {
        let name = |key: &str| key.split('"').nth(5).unwrap_or_default().to_owned();
        self.log
            .keys()
            .map(|key| format!("{} {:x}", name(key), seed(key)))
            .collect()
    }

    pub fn paid(&self) -> usize {
        self.calls.values().sum()
    }

    /// Scenes with their turns and topics, and atomic items with their turns: what must not depend
    /// on how the memory came about.
    pub fn outline(&self) -> Outline {
        let scene = |scene: &tmem_model::Scene| {
            let topics = self
                .memory
                .topics_of(&scene.id)
                .map(|t| t.title.clone())
                .collect();
            (
                scene.id.clone(),
                scene.turns.clone(),
                scene.title.clone(),
                topics,
            )
        };
        let items = self.memory.items().filter(|item| item.scenes.len() == 1);
        Outline {
            scenes: self.memory.scenes().map(scene).collect(),
            topics: self.memory.topics().cloned().collect(),
            items: items
                .map(|item| (item.scenes[0].clone(), item.text.clone()))
                .collect(),
        }
    }

    pub fn assert_settled(&self) {
        for job in self.jobs.iter() {
            assert_eq!(job.state, JobState::Done, "{job:?}");
        }
    }
}

/// What must be equal however turns arrive.
#[derive(Debug, PartialEq)]
pub struct Outline {
    pub scenes: Vec<(tmem_model::SceneId, Vec<TurnId>, String, Vec<String>)>,
    pub topics: Vec<tmem_model::Topic>,
    pub items: BTreeSet<(tmem_model::SceneId, String)>,
}

fn tokens(request: &Request) -> usize {
    request
        .messages
        .iter()
        .map(|message| text::estimate_tokens(&message.content))
        .sum()
}

fn key(request: &Request) -> String {
    serde_json::to_string(request).unwrap()
}

type New = std::sync::Arc<std::sync::Mutex<Vec<(Request, Reply)>>>;

fn answered(
    step: tmem_build::Step,
    inputs: Inputs<'_>,
    config: &BuildConfig,
    prompts: &Prompts,
    log: &std::sync::Mutex<&BTreeMap<String, Reply>>,
    model: &dyn Fn(&Request) -> Result<Reply, LlmError>,
    new: &New,
) -> Asked {
    // The scripted model must own what it uses, so the answer is worked out beforehand.
    let request = tmem_build::prompt(&step, inputs, config, prompts);
    let known = request
        .as_ref()
        .and_then(|r| log.lock().unwrap().get(&key(r)).cloned());
    let answer = match (&request, known) {
        (Some(_), Some(reply)) => Some(Ok(reply)),
        (Some(request), None) => {
            let reply = model(request);
            if let Ok(reply) = &reply {
                new.lock().unwrap().push((request.clone(), reply.clone()));
            }
            Some(reply)
        }
        (None, _) => None,
    };
    let answer = std::sync::Mutex::new(answer);
    let scripted = ScriptedModel::new(move |_| {
        let answer = answer.lock().unwrap();
        match answer.as_ref().expect("only asked with a prompt") {
            Ok(reply) => Ok(reply.clone()),
            Err(error) => Err(again(error)),
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let prepared = prepare(step, inputs, config, prompts);
    runtime.block_on(ask(prepared, &scripted))
}

/// Errors cannot be cloned; those that tests use can be made again.
fn again(error: &LlmError) -> LlmError {
    match error {
        LlmError::Pending(key) => LlmError::Pending(key.clone()),
        LlmError::Refused { prompt, reason } => LlmError::Refused {
            prompt: prompt.clone(),
            reason: reason.clone(),
        },
        LlmError::TooLarge {
            prompt,
            model,
            message,
        } => LlmError::TooLarge {
            prompt: prompt.clone(),
            model: model.clone(),
            message: message.clone(),
        },
        other => LlmError::Failed {
            prompt: String::new(),
            message: other.to_string(),
        },
    }
}
