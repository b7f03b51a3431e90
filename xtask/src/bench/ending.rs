//! How a run ends: done, or with calls that wait or failed, and what to do about them.

use std::fs;

use anyhow::{Context, Result, bail};
use tmem_eval::Results;
use tmem_eval::answer::Outcome;

use super::args::Shared;
use super::memory::{Left, SHOWN};
use super::models::Roles;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Everything asked for is scored.
    Done,
    /// Calls wait for a batch or failed; what could be scored is.
    Unfinished,
}

/// Writes the calls that wait, if that was asked for; gives their number.
pub(super) fn export(shared: &Shared, models: Option<&Roles>, left: &Left) -> Result<usize> {
    let Some(path) = &shared.batch_export else {
        return Ok(0);
    };
    let (lines, calls) = match models {
        Some(models) => models.waiting()?,
        None => Default::default(),
    };
    fs::write(path, left.waiting.clone() + &lines).with_context(|| path.display().to_string())?;
    Ok(left.calls + calls)
}

/// Says what is left to do.
///
/// # Errors
/// If a recording lacks calls; the first of their prompts are shown.
pub(super) fn tell(
    shared: &Shared,
    models: Option<&Roles>,
    left: &Left,
    (waiting, failed): (usize, usize),
) -> Result<Ending> {
    let unrecorded = models.map(Roles::unrecorded).unwrap_or_default();
    for prompt in unrecorded.iter().take(SHOWN) {
        eprintln!("{prompt}\n");
    }
    if !unrecorded.is_empty() {
        bail!(
            "the recording lacks {} calls (the first {} are above); they count as failed",
            unrecorded.len(),
            unrecorded.len().min(SHOWN)
        );
    }
    if let Some(path) = shared.batch_export.as_ref().filter(|_| waiting > 0) {
        eprintln!(
            "{}: {waiting} calls wait for answers. Have the file answered (OpenAI Batch format), then \
             run the same command with --batch-import ANSWERS; the figures above are not final.",
            path.display()
        );
    }
    if failed + left.failed > 0 {
        eprintln!(
            "{failed} answers or verdicts and {} steps of construction failed; the same command tries \
             them once more (answers, with --log, without asking again what is answered)",
            left.failed
        );
    }
    match waiting + failed + left.failed {
        0 => Ok(Ending::Done),
        _ => Ok(Ending::Unfinished),
    }
}

/// Answers that could not be had, or not be judged.
pub(super) fn failed(results: &Results) -> usize {
    let answers = results.rows.iter().flat_map(|row| &row.answers);
    let failed = answers.filter(|answer| {
        let mut verdicts = answer.judge.iter().chain(&answer.judge_strict);
        answer.failure.is_some() || verdicts.any(|one| matches!(one, Outcome::Failed(_)))
    });
    failed.count()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use tmem_eval::answer::EvalPrompts;

    use super::*;
    use crate::bench::args::LocomoArgs;
    use crate::bench::models;
    use crate::shell;

    fn shared(words: &[&str]) -> Shared {
        LocomoArgs::parse_from([&["bench-locomo"], words].concat()).shared
    }

    #[test]
    fn what_waits_or_failed_is_no_success() {
        let shared = shared(&["--batch-export", "calls.jsonl", "--log", "log.jsonl"]);
        let end = |failed_steps, counts| {
            let left = Left {
                failed: failed_steps,
                ..Left::default()
            };
            tell(&shared, None, &left, counts).expect("nothing is replayed")
        };
        assert_eq!(end(0, (0, 0)), Ending::Done);
        for (steps, counts) in [(0, (3, 0)), (0, (0, 1)), (2, (0, 0))] {
            assert_eq!(end(steps, counts), Ending::Unfinished);
        }
    }

    #[tokio::test]
    async fn a_call_that_the_recording_lacks_fails_the_run() {
        let calls = shell::root().join("fixtures/eval/calls.jsonl");
        let calls = calls.display().to_string();
        let words = [
            "--answer-model",
            "answerer",
            "--judge-model",
            "judge",
            "--replay",
            &calls,
        ];
        let shared = shared(&words);
        let models = models::open(&shared).await.expect("a recording");
        let models = models.expect("two roles");
        let end = || tell(&shared, Some(&models), &Left::default(), (0, 1));
        assert_eq!(end().ok(), Some(Ending::Unfinished));
        let request = EvalPrompts::AnswerShort.request(&[("question", "Who else?")], 1);
        let reply = models.answer.complete(&request).await;
        assert!(reply.is_err() && models.unrecorded()[0].contains("Who else?"));
        let error = end().expect_err("a call is missing").to_string();
        assert!(error.contains("lacks 1 calls"), "{error}");
    }
}
