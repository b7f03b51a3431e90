//! From rows to means, with fixed denominators.

use std::collections::{BTreeMap, BTreeSet};

use crate::answer::Outcome;
use crate::metric::{deviation, mean, quantile};
use crate::results::{Answered, CueScores, Pooled, RankSpread, Reach, Row, Scores, Summary};
use crate::stat::{Difference, bootstrap, paired_bootstrap, unpaired_bootstrap};

/// Cut-offs of every recall at k.
pub const KS: [usize; 6] = [1, 3, 5, 10, 20, 50];

/// Scores of one system from all its rows, `pieces` being the size of the pooled memory for it.
#[must_use]
pub fn summary(rows: &[&Row], pieces: usize) -> Summary {
    let overall: Vec<&Row> = rows.iter().copied().filter(|row| counts(row)).collect();
    let categories: BTreeSet<&str> = rows.iter().map(|row| row.category.as_str()).collect();
    let by_category = categories.into_iter().map(|category| {
        let rows: Vec<&Row> = rows
            .iter()
            .copied()
            .filter(|row| row.category == category)
            .collect();
        (category.to_owned(), scores(&rows, pieces))
    });
    Summary {
        overall: scores(&overall, pieces),
        by_category: by_category.collect(),
    }
}

/// Whether a row counts for the overall: everything but LoCoMo's category 5.
fn counts(row: &Row) -> bool {
    row.category_number != Some(5)
}

/// Means over `rows`, which may hold several protocols.
#[must_use]
pub fn scores(rows: &[&Row], pieces: usize) -> Scores {
    let of = |protocol: &str| -> Vec<&Row> {
        rows.iter()
            .copied()
            .filter(|row| row.protocol == protocol)
            .collect()
    };
    let (control, pooled) = (of("control"), of("pooled"));
    let main: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|r| ["plain", "isolated"].contains(&r.protocol.as_str()))
        .collect();
    let mut scores = retrieval(&main);
    answers(&main, &mut scores);
    if control.iter().any(|row| row.cue_in_context.is_some()) {
        let control = cues(&control);
        scores.lift = scores
            .cues
            .cue_in_context
            .zip(control.cue_in_context)
            .map(|(a, b)| a - b);
        scores.control = Some(control);
    }
    if !pooled.is_empty() {
        let context_tokens = mean(pooled.iter().map(|row| row.tokens)).unwrap_or_default();
        scores.pooled = Some(Pooled {
            cues: cues(&pooled),
            context_tokens,
            pieces,
        });
    }
    scores
}

fn retrieval(rows: &[&Row]) -> Scores {
    let scored: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| row.evidence_recall.is_some())
        .collect();
    let all = |row: &&Row| f64::from(u8::from(row.all_evidence_hit == Some(true)));
    Scores {
        questions: scored.len(),
        evidence_recall: mean(scored.iter().filter_map(|row| row.evidence_recall)),
        all_evidence_hit: mean(scored.iter().map(all)),
        context_tokens: mean(scored.iter().map(|row| row.tokens)),
        persona_tokens: mean(scored.iter().map(|row| row.persona_tokens)),
        recall_at: at_k(&scored, |recall| recall),
        all_hit_at: at_k(&scored, |recall| f64::from(u8::from(recall >= 1.0))),
        recall_at_tokens: at_tokens(&scored),
        cues: cues(rows),
        ..Scores::default()
    }
}

/// Means of `recall_at` by list and k; a question without the list counts as 0.
fn at_k(rows: &[&Row], score: impl Fn(f64) -> f64) -> BTreeMap<String, BTreeMap<usize, f64>> {
    let lists: BTreeSet<&String> = rows.iter().flat_map(|row| row.recall_at.keys()).collect();
    let of = |list: &String, k: usize| {
        let one = |row: &&Row| row.recall_at.get(list).and_then(|at| at.get(&k)).copied();
        mean(rows.iter().map(|row| score(one(row).unwrap_or(0.0)))).unwrap_or_default()
    };
    let list = |list: &String| {
        (
            list.clone(),
            KS.into_iter().map(|k| (k, of(list, k))).collect(),
        )
    };
    lists.into_iter().map(list).collect()
}

fn at_tokens(rows: &[&Row]) -> BTreeMap<usize, f64> {
    let budgets: BTreeSet<usize> = rows
        .iter()
        .flat_map(|row| row.recall_at_tokens.keys().copied())
        .collect();
    let of = |budget| {
        mean(
            rows.iter()
                .filter_map(|row| row.recall_at_tokens.get(&budget).copied()),
        )
    };
    budgets
        .into_iter()
        .filter_map(|budget| Some((budget, of(budget)?)))
        .collect()
}

/// Scores of rows about cues; empty for rows about anything else.
fn cues(rows: &[&Row]) -> CueScores {
    let rows: Vec<&&Row> = rows
        .iter()
        .filter(|row| row.cue_in_context.is_some())
        .collect();
    if rows.is_empty() {
        return CueScores::default();
    }
    let within = |k: usize| {
        let hit = |row: &&&Row| f64::from(u8::from(row.cue_rank.is_some_and(|rank| rank <= k)));
        mean(rows.iter().map(hit)).unwrap_or_default()
    };
    let held = |row: &&&Row| f64::from(u8::from(row.cue_in_context == Some(true)));
    let cue_in_context = mean(rows.iter().map(held));
    if rows.iter().all(|row| row.cue_rank.is_none()) {
        return CueScores {
            cue_in_context,
            ..CueScores::default()
        };
    }
    CueScores {
        cue_in_context,
        cue_recall: KS.into_iter().map(|k| (k, within(k))).collect(),
        rank: spread(&rows),
    }
}

fn spread(rows: &[&&Row]) -> Option<RankSpread> {
    let last = rows
        .iter()
        .filter_map(|row| row.cue_rank)
        .max()
        .unwrap_or(0)
        + 1;
    let mut ranks: Vec<f64> = rows
        .iter()
        .map(|row| row.cue_rank.unwrap_or(last) as f64)
        .collect();
    ranks.sort_by(f64::total_cmp);
    let at = |q| quantile(&ranks, q).map(|rank| rank as usize);
    Some(RankSpread {
        p25: at(0.25)?,
        median: at(0.5)?,
        p75: at(0.75)?,
        p90: at(0.9)?,
    })
}

/// Adds what answers came to; every question with an answer row stays in the denominators.
fn answers(rows: &[&Row], scores: &mut Scores) {
    let answered: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| !row.answers.is_empty())
        .collect();
    if answered.is_empty() {
        return;
    }
    let all: Vec<&Answered> = answered.iter().flat_map(|row| &row.answers).collect();
    let lenient = by_run(&answered, |answer| answer.judge.as_ref());
    scores.answer_questions = Some(answered.len());
    scores.judge = mean(lenient.iter().copied());
    scores.judge_deviation = deviation(&lenient);
    if all.iter().any(|answer| answer.judge_strict.is_some()) {
        let strict = by_run(&answered, |answer| answer.judge_strict.as_ref());
        scores.judge_strict = mean(strict.iter().copied());
        scores.judge_strict_deviation = deviation(&strict);
    }
    scores.f1 = over_gold(&answered, |answer| answer.f1);
    scores.f1_normalised = over_gold(&answered, |answer| answer.f1_normalised);
    let given = all.iter().filter(|answer| !answer.prediction.is_empty());
    scores.answer_tokens = mean(given.map(|answer| answer.tokens));
    let count = |is: fn(&Answered) -> bool| Some(all.iter().filter(|answer| is(answer)).count());
    scores.answer_failures = count(|answer| answer.failure.is_some());
    scores.judge_failures =
        count(|answer| verdicts(answer).any(|one| matches!(one, Outcome::Failed(_))));
    scores.waiting =
        count(|answer| answer.waiting || verdicts(answer).any(|one| *one == Outcome::Pending));
}

fn verdicts(answer: &Answered) -> impl Iterator<Item = &Outcome> {
    answer.judge.iter().chain(&answer.judge_strict)
}

/// Share of right answers in each run.
fn by_run(rows: &[&Row], pick: fn(&Answered) -> Option<&Outcome>) -> Vec<f64> {
    let runs = rows.iter().map(|row| row.answers.len()).max().unwrap_or(0);
    let run = |n: usize| {
        let one = |row: &&Row| {
            row.answers
                .get(n)
                .and_then(pick)
                .map_or(0.0, Outcome::score)
        };
        mean(rows.iter().map(one)).unwrap_or_default()
    };
    (0..runs).map(run).collect()
}

/// Mean over answers to questions that have a gold answer; one that failed counts as 0.
fn over_gold(rows: &[&Row], pick: fn(&Answered) -> Option<f64>) -> Option<f64> {
    let has_gold = |row: &&&Row| row.answers.iter().any(|answer| answer.f1.is_some());
    let answers = rows.iter().filter(has_gold).flat_map(|row| &row.answers);
    mean(answers.map(|answer| pick(answer).unwrap_or(0.0)))
}

/// Which lists and channels reached the cues of `rows` (isolated protocol).
#[must_use]
pub fn reach(rows: &[&Row]) -> Reach {
    let mut reach = Reach::default();
    for row in rows.iter().filter(|row| row.protocol == "isolated") {
        for (view, rank) in &row.view_ranks {
            *reach.in_first_ten.entry(view.clone()).or_default() += usize::from(*rank <= 10);
        }
        if row.cue_in_context != Some(true) {
            continue;
        }
        reach.reached += 1;
        let best = row
            .view_ranks
            .iter()
            .min_by_key(|(view, rank)| (**rank, (*view).clone()));
        if let Some((view, _)) = best {
            *reach.best_view.entry(view.clone()).or_default() += 1;
        }
        for channel in &row.channels {
            *reach.channel.entry(channel.clone()).or_default() += 1;
        }
    }
    reach
}

/// A metric that differences are taken of.
#[must_use]
pub fn metric(name: &str, row: &Row) -> Option<f64> {
    let yes = |value: Option<bool>| value.map(|yes| f64::from(u8::from(yes)));
    match name {
        "evidence_recall" => row.evidence_recall,
        "all_evidence_hit" => yes(row.all_evidence_hit),
        "cue_in_context" => yes(row.cue_in_context),
        "judge" if !row.answers.is_empty() => mean(
            row.answers
                .iter()
                .map(|a| a.judge.as_ref().map_or(0.0, |o| o.score())),
        ),
        _ => None,
    }
}

/// `to` minus `from`, question by question, over rows of the same protocol.
#[must_use]
pub fn difference(name: &str, from: &[&Row], to: &[&Row], seed: u64) -> Option<Difference> {
    let key = |row: &Row| {
        (
            row.conversation.clone(),
            row.protocol.clone(),
            row.question,
            row.asked,
        )
    };
    let first: BTreeMap<_, f64> = from
        .iter()
        .filter_map(|row| Some((key(row), metric(name, row)?)))
        .collect();
    let mut clusters: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in to.iter().filter(|row| counts(row)) {
        if let Some((a, b)) = first.get(&key(row)).copied().zip(metric(name, row)) {
            clusters.entry(&row.conversation).or_default().push((a, b));
        }
    }
    paired_bootstrap(&clusters.into_values().collect::<Vec<_>>(), seed)
}

/// By how much cues are in the context more often for their own query than for those of others.
#[must_use]
pub fn lift(rows: &[&Row], seed: u64) -> Option<Difference> {
    let hit = |row: &&Row| metric("cue_in_context", row);
    let mut controls: BTreeMap<(&str, usize), Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.protocol == "control") {
        let of_cue = controls.entry((&row.conversation, row.question));
        of_cue.or_default().extend(hit(row));
    }
    let mut clusters: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.protocol == "isolated") {
        let others = controls.get(&(row.conversation.as_str(), row.question));
        let control = others.and_then(|hits| mean(hits.iter().copied()));
        let of_host = clusters.entry(&row.conversation).or_default();
        of_host.extend(control.zip(hit(row)));
    }
    paired_bootstrap(&clusters.into_values().collect::<Vec<_>>(), seed)
}

/// How far the score falls from LoCoMo to LoCoMo-Plus: evidence recall minus cue in the context.
#[must_use]
pub fn gap(locomo: &[&Row], plus: &[&Row], seed: u64) -> Option<Difference> {
    let mut clusters: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for row in plus.iter().filter(|row| row.protocol == "isolated") {
        let values = &mut clusters.entry(&row.conversation).or_default().0;
        values.extend(metric("cue_in_context", row));
    }
    for row in locomo.iter().filter(|row| counts(row)) {
        let values = &mut clusters.entry(&row.conversation).or_default().1;
        values.extend(metric("evidence_recall", row));
    }
    unpaired_bootstrap(&clusters.into_values().collect::<Vec<_>>(), seed)
}

/// 95 % interval of the mean of a metric over `rows`, by question.
#[must_use]
pub fn interval(name: &str, rows: &[&Row], seed: u64) -> Option<(f64, f64)> {
    let values = rows
        .iter()
        .filter(|row| counts(row))
        .filter_map(|row| metric(name, row));
    bootstrap(&values.map(|value| vec![value]).collect::<Vec<_>>(), seed)
}

#[cfg(test)]
mod tests;
