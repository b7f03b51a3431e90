//! The thread that decodes: it takes calls from a queue and advances the open ones side by side.
//!
//! A prompt is read alone and always in the same pieces, whatever else is going on, and every kernel
//! treats a row alike whatever rows are beside it; so a reply depends on its request alone (up to
//! rounding where a processor without VNNI runs `Q6_K` weights).

use std::sync::mpsc::{Receiver, TryRecvError};

use tmem_llm::{LlmError, Reply, Request};
use tokio::sync::oneshot;

use crate::cache::KvCache;
use crate::config::{LocalConfig, Progress, ProgressFn};
use crate::decoder::{Decoder, Span};
use crate::error::LocalError;
use crate::grammar::Grammars;
use crate::prefixes::Prefixes;
use crate::session::Session;
use crate::template::Family;
use crate::vocab::Vocab;

/// Tokens of a prompt that are read in one pass.
const PIECE: usize = 256;
/// So many tokens or fewer are read together with those of other calls.
const TOGETHER: usize = 8;

/// A call and where its reply goes. Dropping the other end cancels the call.
pub(crate) struct Job {
    pub(crate) request: Request,
    pub(crate) model: String,
    pub(crate) reply: oneshot::Sender<std::result::Result<Reply, LlmError>>,
    pub(crate) listener: Option<ProgressFn>,
}

/// Everything that decoding needs.
pub(crate) struct Engine {
    pub(crate) decoder: Decoder,
    pub(crate) vocab: Vocab,
    pub(crate) grammars: Grammars,
    pub(crate) family: Family,
    pub(crate) context: usize,
    pub(crate) config: LocalConfig,
    pub(crate) prefixes: Prefixes,
}

/// A call being decoded.
struct Open {
    job: Job,
    session: Session,
    cache: KvCache,
}

impl Job {
    fn fail(self, error: &LocalError) {
        let error = error.of_call(&self.request.prompt.name, &self.model);
        let _ = self.reply.send(Err(error));
    }
}

impl Engine {
    /// Answers calls until nobody can make any.
    pub(crate) fn run(mut self, jobs: &Receiver<Job>) {
        let mut open = Vec::new();
        while self.admit(jobs, &mut open) {
            open.retain(|call: &Open| !call.job.reply.is_closed());
            if let Err(error) = self.advance(&mut open) {
                fail_all(&mut open, &error);
            }
            self.hand_over(&mut open);
        }
    }

    /// Opens waiting calls while there is room; waits for one if none is open. Whether there is
    /// anything left to do.
    fn admit(&mut self, jobs: &Receiver<Job>, open: &mut Vec<Open>) -> bool {
        while open.len() < self.config.parallel.max(1) {
            let job = match open.is_empty() {
                true => jobs.recv().map_err(|_| TryRecvError::Disconnected),
                false => jobs.try_recv(),
            };
            match job {
                Ok(job) => open.extend(self.open(job)),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return !open.is_empty(),
            }
        }
        true
    }

    fn open(&mut self, job: Job) -> Option<Open> {
        let session = Session::new(
            &job.request,
            self.family,
            &self.vocab,
            &self.grammars,
            self.context,
        );
        let opened = session.and_then(|session| Ok((self.start(&session)?, session)));
        match opened {
            Ok((cache, mut session)) => {
                session.was_read(cache.len());
                Some(Open {
                    job,
                    session,
                    cache,
                })
            }
            Err(error) => {
                job.fail(&error);
                None
            }
        }
    }

    /// A cache that holds the constant part of the prompt.
    fn start(&mut self, session: &Session) -> candle_core::Result<KvCache> {
        let prompt = session.prompt();
        let constant = &prompt.tokens[..prompt.constant];
        if let Some(cache) = self.prefixes.find(constant)? {
            return Ok(cache);
        }
        let mut cache = KvCache::new(self.decoder.shape())?;
        for tokens in constant.chunks(PIECE) {
            self.decoder.read(&mut [Span {
                cache: &mut cache,
                tokens,
            }])?;
        }
        self.prefixes.keep(constant, &cache)?;
        Ok(cache)
    }

    /// One step: a piece of a prompt, or the next token of every open reply.
    fn advance(&mut self, open: &mut [Open]) -> std::result::Result<(), LocalError> {
        let mut calls: Vec<&mut Open> = open
            .iter_mut()
            .filter(|call| !call.session.is_finished())
            .collect();
        if let Some(call) = calls
            .iter_mut()
            .find(|call| call.session.pending().len() > TOGETHER)
        {
            return self.read_piece(call);
        }
        let mut rest = calls.as_mut_slice();
        while !rest.is_empty() {
            let (group, others) = rest.split_at_mut(group(rest));
            self.step(group)?;
            rest = others;
        }
        Ok(())
    }

    fn read_piece(&self, call: &mut Open) -> std::result::Result<(), LocalError> {
        if call.session.pending().len() <= PIECE {
            return self.step(&mut [call]);
        }
        let tokens = &call.session.pending()[..PIECE];
        self.decoder.read(&mut [Span {
            cache: &mut call.cache,
            tokens,
        }])?;
        call.session.was_read(PIECE);
        call.report();
        Ok(())
    }

    /// Reads everything that is pending in these calls and lets each choose its next token.
    fn step(&self, calls: &mut [&mut Open]) -> std::result::Result<(), LocalError> {
        let spans = calls.iter_mut().map(|call| Span {
            cache: &mut call.cache,
            tokens: call.session.pending(),
        });
        let logits = self.decoder.forward(&mut spans.collect::<Vec<_>>())?;
        for (call, mut logits) in calls.iter_mut().zip(logits) {
            call.session.was_read(call.session.pending().len());
            call.session.step(&mut logits, &self.vocab)?;
            call.report();
        }
        Ok(())
    }

    fn hand_over(&self, open: &mut Vec<Open>) {
        for call in open.extract_if(.., |call| call.session.is_finished()) {
            let reply = call.session.reply(&self.vocab);
            tracing::debug!(prompt = call.job.request.prompt.name, finish = ?reply.finish, usage = ?reply.usage, "answered");
            let _ = call.job.reply.send(Ok(reply));
        }
    }
}

impl Open {
    fn report(&self) {
        if let Some(listener) = &self.job.listener {
            let to_read = self.session.prompt().tokens.len();
            listener(&Progress {
                prompt: self.job.request.prompt.name.clone(),
                read: self.cache.len().min(to_read),
                to_read,
                written: self.session.written(),
            });
        }
    }
}

/// How many of the first calls are stepped together: their rows must not be so many that another
/// kernel takes over.
fn group(calls: &[&mut Open]) -> usize {
    let mut rows = 0;
    let fits = calls.iter().take_while(|call| {
        rows += call.session.pending().len();
        rows <= 2 * TOGETHER
    });
    fits.count().max(1)
}

fn fail_all(open: &mut Vec<Open>, error: &LocalError) {
    for call in open.drain(..) {
        call.job.fail(error);
    }
}
