//! What a whole conversation costs, and that it is known beforehand.

#![expect(clippy::print_stdout, reason = "the figures are read with --nocapture")]

mod common;

use common::{Bench, conversation, dialogue};
use tmem_build::{BuildConfig, Jobs, Prompts, estimate};
use tmem_model::{Memory, Stage};

fn built(config: BuildConfig, turns: usize) -> Bench {
    let mut bench = Bench::new(config);
    bench.add(&dialogue(turns));
    bench.flush();
    bench.build();
    bench.assert_settled();
    bench
}

/// The average conversation of the benchmark has 588 turns; the paper spends 969 calls and 1.56
/// million tokens on it.
#[test]
fn a_whole_conversation_takes_at_most_200_calls_and_half_a_million_tokens() {
    let bench = built(BuildConfig::default(), 588);
    let tokens = bench.prompt_tokens + bench.reply_tokens;
    let shape = (
        bench.memory.scenes().count(),
        bench.memory.items().count(),
        bench.memory.topics().count(),
    );
    println!(
        "{:?} calls, {} + {} tokens, {} rounds, {shape:?}",
        bench.calls, bench.prompt_tokens, bench.reply_tokens, bench.rounds
    );
    assert!(
        bench.paid() <= 200,
        "{} calls: {:?}",
        bench.paid(),
        bench.calls
    );
    assert!(tokens <= 500_000, "{tokens} tokens");
    assert!(bench.rounds <= 12, "{} rounds", bench.rounds);
    assert!(
        shape.0 >= 80 && shape.1 >= 500 && shape.2 >= 30,
        "{shape:?}"
    );
    for item in bench.memory.items() {
        assert_eq!(item.triggers.len(), 8, "{item:?}");
    }
}

#[test]
fn a_dry_run_predicts_calls_and_tokens_within_15_percent() {
    for (config, turns) in [(BuildConfig::default(), 588), (BuildConfig::default(), 60)] {
        let bench = built(config.clone(), turns);
        let (memory, jobs, prompts) = (Memory::new(), Jobs::default(), Prompts::default());
        let all = dialogue(turns);
        let foreseen = estimate(&memory, &jobs, &conversation(), &all, &config, &prompts).unwrap();
        let (calls, tokens) = (foreseen.total().calls, foreseen.total().tokens());
        let paid = bench.prompt_tokens + bench.reply_tokens;
        println!(
            "{turns}: {calls} of {} calls, {tokens} of {paid} tokens",
            bench.paid()
        );
        for (stage, cost) in foreseen.stages() {
            println!("  {stage:?} {cost:?} of {:?}", bench.calls.get(&stage));
        }
        near(calls, bench.paid(), "calls");
        near(tokens, paid, "tokens");
    }
}

#[track_caller]
fn near(foreseen: usize, paid: usize, what: &str) {
    let (foreseen, paid) = (foreseen as f64, paid as f64);
    assert!(
        (foreseen / paid - 1.0).abs() <= 0.15,
        "{what}: {foreseen} foreseen, {paid} paid"
    );
}

#[test]
fn a_dry_run_changes_nothing_and_counts_only_what_is_left() {
    let bench = built(BuildConfig::default(), 60);
    let foreseen = estimate(
        &bench.memory,
        &bench.jobs,
        &conversation(),
        &[],
        &bench.config,
        &bench.prompts,
    );
    assert_eq!(foreseen.unwrap().total().calls, 0);
}

#[test]
fn a_later_session_costs_the_same_whatever_came_before() {
    let cost = |before: usize| {
        let mut bench = Bench::new(BuildConfig::default());
        let turns = dialogue(before + 40);
        bench.add(&turns[..before]);
        bench.flush();
        bench.build();
        let (calls, tokens) = (bench.paid(), bench.prompt_tokens);
        bench.add(&turns[before..]);
        bench.flush();
        bench.build();
        (bench.paid() - calls, bench.prompt_tokens - tokens)
    };
    let (few, many) = (cost(200), cost(1_600));
    println!("{few:?} {many:?}");
    assert!(many.0 <= few.0 + 4, "{few:?} calls, then {many:?}");
    assert!(many.1 * 2 <= few.1 * 3, "{few:?} tokens, then {many:?}");
}

/// About four minutes at 45 tokens a second read and 9 written, the constant parts of prompts read
/// once a kind.
#[test]
fn the_small_profile_builds_a_short_conversation_in_few_tokens() {
    let config = BuildConfig::small();
    let turns = dialogue(28);
    let (memory, jobs, prompts) = (Memory::new(), Jobs::default(), Prompts::default());
    let cost = estimate(&memory, &jobs, &conversation(), &turns, &config, &prompts).unwrap();
    for (stage, cost) in cost.stages() {
        println!("{stage:?} {cost:?}");
    }
    let total = cost.total();
    println!("{total:?}");
    assert!(total.reply_tokens <= 2_000, "{total:?}");
    assert!(total.prompt_tokens <= 5_500, "{total:?}");
    assert!(!cost.stages().any(|(stage, _)| stage == Stage::Segment));
}
