//! The loop of construction: plan, ask side by side, accept and commit in order, plan again.
//!
//! What is planned and accepted is `tmem-build`'s; this drives it, keeps every change the moment it
//! is known, and stops cleanly: on request, when the budget is spent, or when all that is left waits
//! for answers from elsewhere. It may be killed anywhere and goes on where the last commit was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use tmem_build::{
    Asked, BuildConfig, Inputs, Jobs, Prepared, Step, Vectors, accept, ask, flush, flush_after,
    plan, prepare, retry, wanted,
};
use tmem_llm::ChatModel;
use tmem_model::{Change, ConversationId, ItemId, JobKey, JobState, Memory, Stage, TurnId};

use crate::coverage::Coverage;
use crate::error::TmemError;
use crate::newest;
use crate::progress::{Event, Problem, Stopped, Summary};
use crate::tmem::Tmem;

/// Asks a build to stop after the calls under way.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for it.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What kind of build is wanted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuildOptions {
    /// Whether the last scene of every conversation is closed for good.
    pub flush: bool,
    /// Whether what failed or was refused is tried once more.
    pub retry_failed: bool,
    /// Whether only the newest session of each conversation is built, and what was said before it
    /// is left to be answered elsewhere. Personas are left too: they sum up the whole.
    pub newest_only: bool,
    /// The handle to stop it with.
    pub stop: Stop,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            flush: true,
            retry_failed: false,
            newest_only: false,
            stop: Stop::default(),
        }
    }
}

/// Hears what happens.
pub type Listener<'a> = &'a (dyn Fn(&Event) + Send + Sync);

impl Tmem {
    /// Does all construction work that is ready, and what becomes ready through it.
    ///
    /// A step that fails does not end the build: it is named in the summary and stays to be tried
    /// again.
    ///
    /// # Errors
    /// [`TmemError`] if there is no language model, the encoder is another one than the stored
    /// vectors are of, or the store cannot be written.
    pub async fn build(
        &self,
        options: &BuildOptions,
        listener: Listener<'_>,
    ) -> Result<Summary, TmemError> {
        self.check_encoder().await?;
        self.mark(options)?;
        let mut run = Run::new(self, options, listener);
        if run.has_work() {
            run.model = Some(self.chat().await?);
            run.rounds().await?;
        }
        let mut summary = run.summary;
        for (job, state) in &run.ends {
            summary.count(job.stage, *state);
        }
        self.refuse_hubs().await?;
        let (memory, jobs) = self.snapshot();
        summary.problems = unfinished(&jobs);
        summary.holes = Coverage::of(&memory, &jobs).holes;
        summary.notes.extend(self.embed(listener).await?);
        Ok(summary)
    }

    /// Closes tails and reopens failures, as the options say.
    fn mark(&self, options: &BuildOptions) -> Result<(), TmemError> {
        for conversation in self.conversations() {
            let change = self.with_inputs(&Vectors::new(), |inputs| {
                let mut change = Change::default();
                if let Some(last) = self.left_out(options, &conversation).last() {
                    change.merge(flush_after(inputs, last));
                }
                if options.flush {
                    change.merge(flush(inputs, &conversation));
                }
                if options.retry_failed {
                    change.merge(retry(inputs.jobs, &conversation));
                }
                change
            });
            self.commit(&change)?;
        }
        Ok(())
    }

    /// Turns of a conversation that a build with these options does not look at.
    fn left_out(&self, options: &BuildOptions, id: &ConversationId) -> Vec<TurnId> {
        if !options.newest_only {
            return Vec::new();
        }
        let memory = self.memory();
        let older = newest::older(&memory, id, self.config().build.gap_hours);
        older.into_iter().map(|turn| turn.id.clone()).collect()
    }
}

/// How many items a change puts out of date that nothing did before.
fn outdated(memory: &Memory, change: &Change) -> usize {
    let named = change.items.iter().flat_map(|item| &item.supersedes);
    let named: BTreeSet<&ItemId> = named.collect();
    let is_new = |id: &&ItemId| memory.superseding(id).next().is_none();
    named.into_iter().filter(is_new).count()
}

pub(crate) fn unfinished(jobs: &Jobs) -> Vec<Problem> {
    jobs.unfinished().map(Problem::from).collect()
}

/// What tells a step from others: its conversation, stage and targets.
type StepName = (ConversationId, Stage, Vec<String>);

fn name(step: &Step) -> StepName {
    (step.conversation().clone(), step.stage(), step.targets())
}

/// One build under way.
struct Run<'a> {
    tmem: &'a Tmem,
    options: &'a BuildOptions,
    listener: Listener<'a>,
    model: Option<Arc<dyn ChatModel>>,
    /// Turns that this build does not look at.
    hidden: Vec<TurnId>,
    config: Arc<BuildConfig>,
    announced: BTreeSet<StepName>,
    /// How each job stands that was worked on, however often that was.
    ends: BTreeMap<JobKey, JobState>,
    summary: Summary,
}

/// What one round came to.
#[derive(Default)]
struct Round {
    taken: usize,
    waiting: usize,
    /// Set once nobody could be asked: no further call is begun.
    outage: Stop,
}

impl<'a> Run<'a> {
    fn new(tmem: &'a Tmem, options: &'a BuildOptions, listener: Listener<'a>) -> Self {
        let (announced, ends, summary) = Default::default();
        let conversations = tmem.conversations().into_iter();
        let hidden: Vec<TurnId> = conversations
            .flat_map(|id| tmem.left_out(options, &id))
            .collect();
        let mut config = tmem.config().build.clone();
        config.personas &= hidden.is_empty();
        Self {
            tmem,
            options,
            listener,
            model: None,
            hidden,
            config: Arc::new(config),
            announced,
            ends,
            summary,
        }
    }

    fn has_work(&self) -> bool {
        !self.ready(&Vectors::new()).is_empty()
    }

    /// Every step of every conversation that can be taken now.
    fn ready(&self, vectors: &Vectors) -> Vec<Step> {
        let (memory, jobs) = self.view();
        let inputs = Inputs {
            memory: &memory,
            jobs: &jobs,
            vectors,
        };
        let conversations = memory.conversations();
        let steps = conversations.map(|id| plan(inputs, id, &self.config));
        steps.flatten().collect()
    }

    /// The state as this build sees it.
    fn view(&self) -> Snapshot {
        let (mut memory, jobs) = self.tmem.snapshot();
        if !self.hidden.is_empty() {
            let mut change = Change::default();
            change.removed.turns.clone_from(&self.hidden);
            let hide = Arc::make_mut(&mut memory).apply(&change);
            hide.expect("nothing refers to a turn that is in no scene");
        }
        (memory, jobs)
    }

    async fn rounds(&mut self) -> Result<(), TmemError> {
        loop {
            let vectors = self.vectors().await?;
            let steps = self.ready(&vectors);
            if steps.is_empty() {
                return Ok(());
            }
            self.announce(&steps);
            let round = self.round(steps, &vectors).await?;
            if self.options.stop.is_asked() {
                self.summary.stopped = Some(Stopped::Interrupted);
                return Ok(());
            }
            if round.taken == round.waiting {
                let spent = self.tmem.is_budget_spent().then_some(Stopped::Budget);
                let outage = round.outage.is_asked().then_some(Stopped::Outage);
                self.summary.stopped = spent.or(outage);
                return Ok(());
            }
        }
    }

    /// Vectors of the turns that segmentation wants to look at.
    async fn vectors(&self) -> Result<Vectors, TmemError> {
        let (memory, jobs) = self.view();
        let inputs = Inputs {
            memory: &memory,
            jobs: &jobs,
            vectors: &Vectors::new(),
        };
        let conversations = memory.conversations();
        let turns = conversations.flat_map(|id| wanted(inputs, id, &self.config));
        self.tmem.turn_vectors(&turns.collect()).await
    }

    fn announce(&mut self, steps: &[Step]) {
        for step in steps {
            if self.announced.insert(name(step)) {
                (self.listener)(&Event::Ready {
                    stage: step.stage(),
                    steps: 1,
                });
            }
        }
    }

    /// Asks all steps side by side, and commits each answer in the order of the plan. No state is
    /// held on to while answers are waited for, so that committing need not copy it.
    async fn round(&mut self, steps: Vec<Step>, vectors: &Vectors) -> Result<Round, TmemError> {
        let model = self.model.clone().expect("rounds begin with a model");
        let calls = self.prepared(steps, vectors);
        let mut round = Round::default();
        let (stop, outage) = (&self.options.stop, round.outage.clone());
        let goes_on = |_: &Prepared| !stop.is_asked() && !outage.is_asked();
        let open = calls.into_iter().take_while(goes_on);
        let asked = open.map(|call| ask(call, &*model));
        let mut answers =
            std::pin::pin!(futures::stream::iter(asked).buffered(self.tmem.concurrency()));
        while let Some(answer) = answers.next().await {
            let (change, outdated) = self.accepted(&answer, vectors);
            self.tmem.commit(&change)?;
            self.summary.superseded += outdated;
            round.taken += 1;
            round.waiting += usize::from(answer.is_waiting());
            if answer.is_outage() {
                round.outage.ask();
            }
            self.tell(answer.step(), &change);
        }
        Ok(round)
    }

    fn prepared(&self, steps: Vec<Step>, vectors: &Vectors) -> Vec<Prepared> {
        let (memory, jobs) = self.view();
        let inputs = Inputs {
            memory: &memory,
            jobs: &jobs,
            vectors,
        };
        let (config, prompts) = (&*self.config, self.tmem.prompts());
        let steps = steps.into_iter();
        steps
            .map(|step| prepare(step, inputs, config, prompts))
            .collect()
    }

    /// What an answer changes, and how many items it puts out of date.
    fn accepted(&self, answer: &Asked, vectors: &Vectors) -> (Change, usize) {
        let (memory, jobs) = self.view();
        let inputs = Inputs {
            memory: &memory,
            jobs: &jobs,
            vectors,
        };
        let change = accept(answer, inputs, &self.config, self.tmem.prompts());
        let outdated = outdated(&memory, &change);
        (change, outdated)
    }

    fn tell(&mut self, step: &Step, change: &Change) {
        let work = change
            .jobs
            .iter()
            .filter(|job| step.targets().contains(&job.target));
        let (mut done, stage) = (true, step.stage());
        for job in work {
            self.ends.insert(job.key(), job.state);
            done &= job.state == JobState::Done;
        }
        (self.listener)(&Event::Finished { stage, done });
    }
}

/// A copy of the state that does not change under the calls that read it.
pub(crate) type Snapshot = (Arc<Memory>, Arc<Jobs>);
