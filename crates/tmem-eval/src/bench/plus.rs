//! LoCoMo-Plus: each cue alone in its host, the same with queries of other samples, and all cues in
//! one memory. The query is never part of a memory.

use std::collections::BTreeMap;

use tmem_model::TurnId;

use super::ask::{Target, row};
use super::variant::{Role, Variant};
use super::{Asked, Bench, parallel};
use crate::answer::Graded;
use crate::dataset::plus::{Placed, stitch};
use crate::dataset::{Cue, Dialogue, Session};
use crate::embed::{TextKind, Vectors};
use crate::error::EvalError;
use crate::memories::{Memories, with_cues};
use crate::results::Results;
use crate::system::Ask;
use crate::world::{Parts, World};

/// Cues left out of every score where memory documents are used: their writer may have seen them.
pub const EXCLUDED: [usize; 1] = [0];

/// Whether systems that need a memory are asked for `cue`: it and its host have one.
#[must_use]
pub fn is_scored(cue: &Cue, memories: &Memories) -> bool {
    let documents = memories.conversation(&cue.host).is_some() && memories.has_cue(cue);
    documents && !EXCLUDED.contains(&cue.index)
}

/// A cue that is scored, with its host and place.
struct Sample<'a> {
    cue: &'a Cue,
    host: &'a Dialogue,
    placed: Placed,
    relation: String,
    turns: Vec<TurnId>,
}

/// Asks every cue's query, and the controls, of every system.
///
/// # Errors
/// [`EvalError`] if a memory breaks its rules, the encoder fails or an index cannot be made.
pub async fn plus(
    bench: &Bench<'_>,
    dialogues: &[Dialogue],
    cues: &[Cue],
    memories: &Memories,
) -> Result<Results, EvalError> {
    let samples = samples(bench, dialogues, cues, memories)?;
    if samples.is_empty() {
        return Err(EvalError::Setting(
            "no cue has both a memory document and a host with one: give them with --memories, have \
             them built with --build-model, or run the flat systems alone"
                .to_owned(),
        ));
    }
    let pool = parts(
        bench,
        memories,
        "the pool",
        &samples.iter().collect::<Vec<_>>(),
    )?;
    let vectors = vectors(bench, &samples, &pool).await?;
    let mut asked = isolated(bench, &samples, memories, &vectors)?;
    let mut pieces = BTreeMap::new();
    if bench.pooled {
        let world = World::new(&pool, &vectors, bench.gate())?;
        for one in &bench.systems {
            pieces.insert(one.name.clone(), world.pieces(one.system.unit()));
        }
        pooled(bench, &samples, &world, &vectors, &mut asked)?;
    }
    bench.answer(&mut asked).await;
    let counts = counts(dialogues, cues, &samples);
    Ok(bench.results("locomo-plus", counts, protocol(bench), asked, &pieces))
}

fn samples<'a>(
    bench: &Bench<'_>,
    dialogues: &'a [Dialogue],
    cues: &'a [Cue],
    memories: &Memories,
) -> Result<Vec<Sample<'a>>, EvalError> {
    let mut samples = Vec::new();
    for cue in cues {
        let Some(host) = dialogues.iter().find(|dialogue| dialogue.id == cue.host) else {
            continue;
        };
        if bench.needs_memory() && !is_scored(cue, memories) {
            continue;
        }
        let placed = stitch(cue, host)?;
        let memory = if bench.needs_memory() {
            memories.cue(cue, &placed)?
        } else {
            None
        };
        let placed = match memory {
            // The document's turns are the ones that the memory holds.
            Some(change) => Placed {
                turns: change.turns,
                ..placed
            },
            None => placed,
        };
        let turns = placed.turns.iter().map(|turn| turn.id.clone()).collect();
        samples.push(Sample {
            cue,
            host,
            placed,
            relation: cue.relation.to_string(),
            turns,
        });
    }
    Ok(samples)
}

/// A memory with the cues of `samples` in their hosts.
fn parts(
    bench: &Bench<'_>,
    memories: &Memories,
    name: &str,
    samples: &[&Sample<'_>],
) -> Result<Parts, EvalError> {
    let mut memory = None;
    let mut sessions = Vec::new();
    for host in hosts(samples) {
        let of_host: Vec<_> = samples
            .iter()
            .copied()
            .filter(|sample| sample.host.id == host.id)
            .collect();
        sessions.extend(stitched(host, &of_host));
        let document = memories
            .conversation(&host.id)
            .filter(|_| bench.needs_memory());
        if let Some(document) = document {
            let mut cues = Vec::new();
            for sample in of_host {
                let change = memories.cue(sample.cue, &sample.placed)?;
                cues.extend(change.map(|change| (sample.placed.sessions_before, change)));
            }
            let whole = memory.get_or_insert_with(tmem_model::Change::default);
            whole.merge(with_cues(document, host, cues));
        }
    }
    Ok(Parts {
        name: name.to_owned(),
        memory,
        sessions,
        units: super::locomo::units(bench),
    })
}

/// The hosts of `samples`, each once, in the order of the samples.
fn hosts<'a>(samples: &[&Sample<'a>]) -> Vec<&'a Dialogue> {
    let mut hosts: Vec<&Dialogue> = Vec::new();
    for sample in samples {
        if hosts.iter().all(|host| host.id != sample.host.id) {
            hosts.push(sample.host);
        }
    }
    hosts
}

/// The host's sessions with cues as sessions of their own; captions are left out, as in the
/// official stitched dialogue.
fn stitched(host: &Dialogue, samples: &[&Sample<'_>]) -> Vec<Session> {
    let mut sessions = Vec::new();
    for place in 0..=host.sessions.len() {
        for sample in samples
            .iter()
            .filter(|sample| sample.placed.sessions_before == place)
        {
            let turns = sample.placed.turns.clone();
            sessions.push(Session {
                number: 0,
                at: sample.placed.at,
                turns,
            });
        }
        sessions.extend(host.sessions.get(place).cloned());
    }
    for (session, number) in sessions.iter_mut().zip(1..) {
        session.number = number;
        session.turns.iter_mut().for_each(|turn| turn.image = None);
    }
    sessions
}

async fn vectors(
    bench: &Bench<'_>,
    samples: &[Sample<'_>],
    pool: &Parts,
) -> Result<Vectors, EvalError> {
    let mut vectors = Vectors::default();
    let Some(encoder) = bench.encoder else {
        return Ok(vectors);
    };
    vectors
        .fill(encoder, TextKind::Passage, pool.texts()?, bench.progress)
        .await?;
    let queries = samples.iter().map(|sample| sample.cue.query.clone());
    vectors
        .fill(encoder, TextKind::Query, queries, bench.progress)
        .await?;
    Ok(vectors)
}

/// Each cue alone in its host: its own query, then queries of other samples.
fn isolated(
    bench: &Bench<'_>,
    samples: &[Sample<'_>],
    memories: &Memories,
    vectors: &Vectors,
) -> Result<Vec<Vec<Asked>>, EvalError> {
    let variants = bench.variants();
    bench.progress.begin("cues", samples.len());
    let places: Vec<usize> = (0..samples.len()).collect();
    let worlds = parallel::map(&places, |place| {
        let sample = &samples[*place];
        let name = format!("cue {}", sample.cue.index);
        let parts = parts(bench, memories, &name, &[sample])?;
        let world = World::new(&parts, vectors, bench.gate())?;
        let rows = of_world(bench, &variants, samples, *place, &world, vectors);
        bench.progress.advance(1);
        rows
    });
    bench.progress.end();
    let mut asked: Vec<Vec<Asked>> = vec![Vec::new(); variants.len()];
    for rows in worlds {
        for (variant, rows) in rows?.into_iter().enumerate() {
            asked[variant].extend(rows);
        }
    }
    Ok(asked)
}

/// Per variant, the rows of one cue.
fn of_world(
    bench: &Bench<'_>,
    variants: &[Variant],
    samples: &[Sample<'_>],
    place: usize,
    world: &World,
    vectors: &Vectors,
) -> Result<Vec<Vec<Asked>>, EvalError> {
    let sample = &samples[place];
    let controls = controls(samples, place, bench.controls);
    let mut all = Vec::with_capacity(variants.len());
    for variant in variants {
        let write = bench.answers.is_some() && variant.role == Role::Main;
        let ask = ask(bench, sample, Some(sample.host), write, vectors)?;
        let (row, text) = row(variant, world, &ask, &target("isolated", sample, None))?;
        let mut rows = vec![(row, write.then(|| graded(sample, text)))];
        for other in controls.iter().filter(|_| variant.role == Role::Main) {
            let ask = self::ask(bench, other, Some(sample.host), false, vectors)?;
            let target = target("control", sample, Some(other.cue.index));
            rows.push((self::row(variant, world, &ask, &target)?.0, None));
        }
        all.push(rows);
    }
    Ok(all)
}

/// The next `count` samples of the same host, round and round, that have another cue.
fn controls<'a, 'b>(samples: &'b [Sample<'a>], place: usize, count: usize) -> Vec<&'b Sample<'a>> {
    let sample = &samples[place];
    let after = samples[place + 1..].iter().chain(&samples[..place]);
    let others =
        after.filter(|other| other.host.id == sample.host.id && !other.cue.same_cue(sample.cue));
    others.take(count).collect()
}

fn ask(
    bench: &Bench<'_>,
    sample: &Sample<'_>,
    conversation: Option<&Dialogue>,
    write: bool,
    vectors: &Vectors,
) -> Result<Ask, EvalError> {
    let vector = match bench.encoder {
        Some(_) => vectors.get(TextKind::Query, &sample.cue.query)?,
        None => None,
    };
    Ok(Ask {
        text: sample.cue.query.clone(),
        vector,
        speaker: Some(sample.cue.query_side.speaker(sample.host).to_owned()),
        conversation: conversation.map(|host| host.id.clone()),
        write,
    })
}

fn target<'a>(protocol: &'static str, sample: &'a Sample<'_>, asked: Option<usize>) -> Target<'a> {
    Target {
        protocol,
        conversation: sample.host.id.as_str(),
        question: sample.cue.index,
        asked,
        category: &sample.relation,
        category_number: None,
        evidence: &sample.turns,
        is_cue: true,
    }
}

fn pooled(
    bench: &Bench<'_>,
    samples: &[Sample<'_>],
    world: &World,
    vectors: &Vectors,
    asked: &mut [Vec<Asked>],
) -> Result<(), EvalError> {
    bench.progress.begin("pooled queries", samples.len());
    let variants = bench.variants();
    let rows = parallel::map(samples, |sample| {
        let ask = ask(bench, sample, None, false, vectors)?;
        // A cue that says the same is the same answer.
        let same = samples
            .iter()
            .filter(|other| other.cue.same_cue(sample.cue));
        let turns: Vec<TurnId> = same.flat_map(|other| other.turns.clone()).collect();
        let target = Target {
            evidence: &turns,
            ..target("pooled", sample, None)
        };
        let main = variants
            .iter()
            .enumerate()
            .filter(|(_, variant)| variant.role == Role::Main);
        let rows = main.map(|(place, variant)| Ok((place, row(variant, world, &ask, &target)?.0)));
        let rows = rows.collect::<Result<Vec<_>, EvalError>>();
        bench.progress.advance(1);
        rows
    });
    bench.progress.end();
    for rows in rows {
        for (place, row) in rows? {
            asked[place].push((row, None));
        }
    }
    Ok(())
}

fn graded(sample: &Sample<'_>, context: String) -> Graded {
    let speaker = sample.cue.query_side.speaker(sample.host);
    let listener = sample.host.speakers.iter().find(|name| *name != speaker);
    let lines = sample
        .placed
        .turns
        .iter()
        .map(|turn| format!("{}: {}", turn.speaker, turn.text));
    Graded::Message {
        context,
        speaker: speaker.to_owned(),
        listener: listener.cloned().unwrap_or_default(),
        query: sample.cue.query.clone(),
        cue: lines.collect::<Vec<_>>().join("\n"),
    }
}

fn counts(dialogues: &[Dialogue], cues: &[Cue], samples: &[Sample<'_>]) -> BTreeMap<String, usize> {
    let vague = samples
        .iter()
        .filter(|sample| sample.cue.gap.official_days().is_none());
    let counts = [
        ("conversations", dialogues.len()),
        ("cues", cues.len()),
        ("cues scored", samples.len()),
        (
            "cues skipped (no memory document, or left out)",
            cues.len() - samples.len(),
        ),
        (
            "cues moved in front of the last session",
            samples.iter().filter(|s| s.placed.moved).count(),
        ),
        ("time gaps without a number", vague.count()),
        (
            "cues whose lines were run together",
            samples
                .iter()
                .filter(|s| s.cue.run_together.is_some())
                .count(),
        ),
    ];
    counts
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count))
        .collect()
}

fn protocol(bench: &Bench<'_>) -> Vec<String> {
    let mut lines = vec![
        "Isolated: each cue alone in its host conversation, dated a gap before the query, which comes \
         a week after the last session and is never part of the memory."
            .to_owned(),
        "Cue in context: the cue's scene is in the context, word for word or as its summary (an item \
         of it where the scene layer is off, a turn of it for flat systems). Evidence recall counts \
         the cue's turns, word for word or as sources of an item."
            .to_owned(),
        "Cue recall at k: rank in the list that admits associative scenes; where a system has no quota \
         for them, in its ranking of scenes; for flat systems, of pieces."
            .to_owned(),
        "Gaps without a number are read as: a couple of 2, a few 3, several 4. A cue that would come \
         last stands in front of the last session."
            .to_owned(),
    ];
    if bench.controls > 0 {
        lines.push(format!(
            "Control: {} queries of other samples of the same host are asked of each cue's memory.",
            bench.controls
        ));
    }
    if bench.needs_memory() {
        lines.push("The cue with index 0 is left out of all scores.".to_owned());
    }
    lines
}
