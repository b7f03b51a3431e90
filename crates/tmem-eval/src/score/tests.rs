//! Means and denominators by hand.

use super::*;
use crate::answer::Outcome;

fn row(conversation: &str, question: usize, recall: f64, number: u8) -> Row {
    Row {
        protocol: "plain".into(),
        conversation: conversation.into(),
        question,
        category: number.to_string(),
        category_number: Some(number),
        evidence_recall: Some(recall),
        all_evidence_hit: Some(recall >= 1.0),
        tokens: 100.0,
        ..Row::default()
    }
}

fn refs(rows: &[Row]) -> Vec<&Row> {
    rows.iter().collect()
}

#[test]
fn category_five_stands_apart_from_the_overall() {
    let rows = [
        row("a", 0, 1.0, 4),
        row("a", 1, 0.5, 1),
        row("a", 2, 0.0, 5),
    ];
    let summary = summary(&refs(&rows), 0);
    assert_eq!(summary.overall.questions, 2);
    assert_eq!(summary.overall.evidence_recall, Some(0.75));
    assert_eq!(summary.overall.all_evidence_hit, Some(0.5));
    assert_eq!(summary.by_category["5"].evidence_recall, Some(0.0));
}

#[test]
fn a_question_without_a_list_counts_as_not_found() {
    let mut rows = [row("a", 0, 1.0, 4), row("a", 1, 0.5, 4)];
    rows[0].recall_at = BTreeMap::from([("scenes".into(), BTreeMap::from([(5, 1.0)]))]);
    let scores = scores(&refs(&rows), 0);
    assert_eq!(scores.recall_at["scenes"][&5], 0.5);
    assert_eq!(scores.all_hit_at["scenes"][&5], 0.5);
}

fn cue(question: usize, protocol: &str, rank: Option<usize>) -> Row {
    Row {
        protocol: protocol.into(),
        conversation: "a".into(),
        question,
        category: "goal".into(),
        cue_in_context: Some(rank.is_some_and(|rank| rank <= 5)),
        cue_rank: rank,
        evidence_recall: Some(0.0),
        ..Row::default()
    }
}

#[test]
fn control_and_pooled_do_not_mix_with_the_isolated() {
    let rows = [
        cue(1, "isolated", Some(1)),
        cue(2, "isolated", Some(8)),
        cue(1, "control", None),
        cue(2, "control", Some(3)),
        cue(1, "pooled", Some(10)),
        cue(2, "pooled", None),
    ];
    let scores = scores(&refs(&rows), 198);
    assert_eq!(scores.cues.cue_in_context, Some(0.5));
    assert_eq!(
        (scores.cues.cue_recall[&5], scores.cues.cue_recall[&10]),
        (0.5, 1.0)
    );
    let control = scores.control.expect("asked");
    assert_eq!(
        (control.cue_in_context, scores.lift),
        (Some(0.5), Some(0.0))
    );
    let pooled = scores.pooled.expect("asked");
    assert_eq!((pooled.cues.cue_recall[&10], pooled.pieces), (0.5, 198));
    let rank = pooled.cues.rank.expect("ranks");
    assert_eq!((rank.median, rank.p90), (10, 11));
}

#[test]
fn failures_stay_in_the_denominator_and_have_their_column() {
    let mut rows = [
        row("a", 0, 1.0, 4),
        row("a", 1, 1.0, 4),
        row("a", 2, 1.0, 4),
    ];
    let answered = |judge: Option<Outcome>, failure: Option<&str>| Answered {
        prediction: failure.map_or("x".into(), |_| String::new()),
        f1: failure.is_none().then_some(1.0),
        judge,
        failure: failure.map(str::to_owned),
        tokens: 1.3,
        ..Answered::default()
    };
    rows[0].answers = vec![answered(Some(Outcome::Correct), None)];
    rows[1].answers = vec![answered(Some(Outcome::Failed("judge down".into())), None)];
    rows[2].answers = vec![answered(None, Some("timed out"))];
    let scores = scores(&refs(&rows), 0);
    assert_eq!(scores.answer_questions, Some(3));
    assert_eq!(scores.judge, Some(1.0 / 3.0));
    assert_eq!(
        (scores.answer_failures, scores.judge_failures),
        (Some(1), Some(1))
    );
    assert_eq!(scores.judge_deviation, None);
}

#[test]
fn runs_have_a_mean_and_a_deviation() {
    let mut rows = [row("a", 0, 1.0, 4)];
    let run = |judge| Answered {
        prediction: "x".into(),
        judge: Some(judge),
        ..Answered::default()
    };
    rows[0].answers = vec![run(Outcome::Correct), run(Outcome::Wrong)];
    let scores = scores(&refs(&rows), 0);
    assert_eq!(scores.judge, Some(0.5));
    assert!(
        scores
            .judge_deviation
            .is_some_and(|d| (d - 0.5_f64.sqrt()).abs() < 1e-9)
    );
}

#[test]
fn differences_pair_equal_questions_only() {
    let from = [
        row("a", 0, 0.0, 4),
        row("b", 0, 0.5, 4),
        row("b", 7, 0.0, 4),
    ];
    let to = [
        row("a", 0, 1.0, 4),
        row("b", 0, 0.5, 4),
        row("b", 8, 0.0, 4),
        row("b", 9, 1.0, 5),
    ];
    let one = difference("evidence_recall", &refs(&from), &refs(&to), 1).expect("pairs");
    assert_eq!((one.mean, one.pairs, one.clusters), (0.5, 2, 2));
}

#[test]
fn a_cue_is_counted_once_under_the_list_that_ranks_it_best() {
    let mut one = cue(1, "isolated", Some(1));
    one.view_ranks = BTreeMap::from([("horizon".into(), 2), ("dense".into(), 30)]);
    one.channels = vec!["scene by association".into()];
    let reach = reach(&[&one]);
    assert_eq!(reach.best_view, BTreeMap::from([("horizon".into(), 1)]));
    assert_eq!(
        reach.in_first_ten,
        BTreeMap::from([("dense".into(), 0), ("horizon".into(), 1)])
    );
    assert_eq!(
        reach.channel,
        BTreeMap::from([("scene by association".into(), 1)])
    );
}

#[test]
fn the_lift_is_each_cue_against_its_own_controls() {
    let mut rows = vec![
        cue(1, "isolated", Some(1)),
        cue(1, "control", Some(2)),
        cue(1, "control", None),
        cue(2, "isolated", Some(9)),
        cue(2, "control", None),
        cue(3, "isolated", Some(1)),
    ];
    let one = lift(&refs(&rows), 7).expect("pairs");
    assert!((one.mean - 0.25).abs() < 1e-9, "(1 - 0.5 + 0 - 0) / 2");
    assert_eq!((one.pairs, one.clusters), (2, 1));
    rows.retain(|row| row.protocol == "isolated");
    assert_eq!(lift(&refs(&rows), 7), None);
}

#[test]
fn the_gap_is_between_the_benchmarks_on_the_conversations_of_both() {
    let locomo = [
        row("a", 0, 1.0, 4),
        row("a", 1, 0.5, 1),
        row("a", 2, 0.0, 5),
        row("b", 0, 0.0, 4),
    ];
    let plus = [
        cue(1, "isolated", Some(1)),
        cue(2, "isolated", None),
        cue(1, "control", Some(1)),
    ];
    let one = gap(&refs(&locomo), &refs(&plus), 7).expect("values");
    assert!((one.mean - 0.25).abs() < 1e-9, "0.75 - 0.5");
    assert_eq!((one.clusters, one.pairs), (1, 4));
}
