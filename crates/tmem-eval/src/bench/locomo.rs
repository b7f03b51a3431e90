//! LoCoMo, and LongMemEval-S in the same shape: questions with evidence, one memory per dialogue.

use std::collections::{BTreeMap, BTreeSet};

use super::ask::{Target, row};
use super::{Asked, Bench, parallel};
use crate::answer::Graded;
use crate::dataset::{Dialogue, Question};
use crate::embed::{TextKind, Vectors};
use crate::error::EvalError;
use crate::memories::Memories;
use crate::results::Results;
use crate::system::Ask;
use crate::world::{Parts, World};

/// Asks every question of every dialogue that has what the systems need.
///
/// # Errors
/// [`EvalError`] if a memory breaks its rules, the encoder fails or an index cannot be made.
pub async fn locomo(
    bench: &Bench<'_>,
    benchmark: &str,
    dialogues: &[Dialogue],
    memories: &Memories,
) -> Result<Results, EvalError> {
    let has_all = |dialogue: &&Dialogue| {
        !bench.needs_memory() || memories.conversation(&dialogue.id).is_some()
    };
    let scored: Vec<&Dialogue> = dialogues.iter().filter(has_all).collect();
    if scored.is_empty() {
        return Err(EvalError::Setting(
            "no conversation of the data has a memory document: give them with --memories, have them \
             built with --build-model, or run the flat systems alone"
                .to_owned(),
        ));
    }
    let parts: Vec<Parts> = scored
        .iter()
        .map(|dialogue| parts(bench, dialogue, memories))
        .collect();
    let vectors = vectors(bench, &scored, &parts).await?;
    let mut asked = all_asked(bench, &scored, &parts, &vectors)?;
    bench.answer(&mut asked).await;
    let counts = counts(dialogues, &scored);
    Ok(bench.results(
        benchmark,
        counts,
        protocol(benchmark),
        asked,
        &BTreeMap::new(),
    ))
}

fn parts(bench: &Bench<'_>, dialogue: &Dialogue, memories: &Memories) -> Parts {
    let memory = bench
        .needs_memory()
        .then(|| memories.conversation(&dialogue.id))
        .flatten();
    Parts {
        name: dialogue.id.to_string(),
        memory: memory.cloned(),
        sessions: dialogue.sessions.clone(),
        units: units(bench),
    }
}

/// Sizes of pieces that some system of `bench` ranks.
pub(super) fn units(bench: &Bench<'_>) -> BTreeSet<crate::flat::Unit> {
    bench
        .systems
        .iter()
        .filter_map(|one| one.system.unit())
        .collect()
}

async fn vectors(
    bench: &Bench<'_>,
    dialogues: &[&Dialogue],
    parts: &[Parts],
) -> Result<Vectors, EvalError> {
    let mut vectors = Vectors::default();
    let Some(encoder) = bench.encoder else {
        return Ok(vectors);
    };
    let mut texts = Vec::new();
    for parts in parts {
        texts.extend(parts.texts()?);
    }
    vectors
        .fill(encoder, TextKind::Passage, texts, bench.progress)
        .await?;
    let questions = dialogues
        .iter()
        .flat_map(|dialogue| questions(bench, dialogue));
    let queries = questions.map(|question| question.text.clone());
    vectors
        .fill(encoder, TextKind::Query, queries, bench.progress)
        .await?;
    Ok(vectors)
}

/// Questions to be asked: all of them for answers, those with evidence for retrieval alone.
fn questions<'a>(bench: &Bench<'_>, dialogue: &'a Dialogue) -> impl Iterator<Item = &'a Question> {
    let all = bench.answers.is_some();
    dialogue
        .questions
        .iter()
        .filter(move |question| all || !question.evidence.is_empty())
}

/// Per variant, a row of each question.
fn all_asked(
    bench: &Bench<'_>,
    dialogues: &[&Dialogue],
    parts: &[Parts],
    vectors: &Vectors,
) -> Result<Vec<Vec<Asked>>, EvalError> {
    let mut asked: Vec<Vec<Asked>> = vec![Vec::new(); bench.variants().len()];
    bench.progress.begin(
        "questions",
        dialogues.iter().map(|d| questions(bench, d).count()).sum(),
    );
    for (dialogue, parts) in dialogues.iter().zip(parts) {
        let world = World::new(parts, vectors, bench.gate())?;
        for rows in ask_all(bench, dialogue, &world, vectors)? {
            for (place, row) in rows.into_iter().enumerate() {
                asked[place].push(row);
            }
        }
    }
    bench.progress.end();
    Ok(asked)
}

/// Per question, a row of each variant.
fn ask_all(
    bench: &Bench<'_>,
    dialogue: &Dialogue,
    world: &World,
    vectors: &Vectors,
) -> Result<Vec<Vec<Asked>>, EvalError> {
    let variants = bench.variants();
    let questions: Vec<&Question> = questions(bench, dialogue).collect();
    let rows = parallel::map(&questions, |question| {
        let ask = ask(bench, dialogue, question, vectors)?;
        let rows = variants.iter().map(|variant| {
            let main = variant.role == super::Role::Main;
            let ask = Ask {
                write: ask.write && main,
                ..ask.clone()
            };
            let (row, text) = row(variant, world, &ask, &target(dialogue, question))?;
            let task = ask.write.then(|| graded(question, text));
            Ok((row, task))
        });
        let rows = rows.collect::<Result<Vec<Asked>, EvalError>>();
        bench.progress.advance(1);
        rows
    });
    rows.into_iter().collect()
}

fn ask(
    bench: &Bench<'_>,
    dialogue: &Dialogue,
    question: &Question,
    vectors: &Vectors,
) -> Result<Ask, EvalError> {
    let vector = match bench.encoder {
        Some(_) => vectors.get(TextKind::Query, &question.text)?,
        None => None,
    };
    let named: Vec<&String> = dialogue
        .speakers
        .iter()
        .filter(|name| names(&question.text, name))
        .collect();
    let speaker = if let [one] = named[..] {
        Some(one.clone())
    } else {
        None
    };
    Ok(Ask {
        text: question.text.clone(),
        vector,
        speaker,
        conversation: Some(dialogue.id.clone()),
        write: bench.answers.is_some(),
    })
}

/// Whether `text` names `speaker` as a word.
fn names(text: &str, speaker: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .any(|word| word == speaker)
}

fn target<'a>(dialogue: &'a Dialogue, question: &'a Question) -> Target<'a> {
    Target {
        protocol: "plain",
        conversation: dialogue.id.as_str(),
        question: question.index,
        category: &question.category.name,
        category_number: question.category.number,
        evidence: &question.evidence,
        ..Target::default()
    }
}

fn graded(question: &Question, context: String) -> Graded {
    Graded::Question {
        context,
        question: question.text.clone(),
        gold: question.answer.clone().filter(|_| !question.unanswerable),
        misleading: question.misleading.clone(),
    }
}

fn counts(all: &[Dialogue], scored: &[&Dialogue]) -> BTreeMap<String, usize> {
    let questions = || scored.iter().flat_map(|dialogue| &dialogue.questions);
    let counts = [
        ("conversations", all.len()),
        ("conversations scored", scored.len()),
        (
            "conversations skipped (no memory document)",
            all.len() - scored.len(),
        ),
        ("questions", questions().count()),
        (
            "questions without usable evidence",
            questions().filter(|q| q.evidence.is_empty()).count(),
        ),
        (
            "evidence entries that point nowhere",
            questions().map(|q| q.unusable.len()).sum(),
        ),
    ];
    counts
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count))
        .collect()
}

fn protocol(benchmark: &str) -> Vec<String> {
    let mut lines = vec![
        "Evidence recall: share of a question's evidence turns that the context holds, word for word \
         or as source turns of an item; turns of a scene shown as a summary do not count."
            .to_owned(),
        "Tokens: words times 1.3 of dialogue, summaries and items; personas apart.".to_owned(),
    ];
    if benchmark == "locomo" {
        lines.push(
            "Categories: 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial; overall \
             is over 1 to 4. In category 5 the answer given in the data counts where there is one; the \
             misleading answer is never gold."
                .to_owned(),
        );
    }
    lines
}
