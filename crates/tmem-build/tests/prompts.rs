//! Prompts are our own: no run of nine words of any of them is in the open data.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::collections::BTreeSet;
use std::path::Path;

const RUN: usize = 9;

fn words(text: &str) -> Vec<String> {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn runs(text: &str) -> BTreeSet<String> {
    words(text).windows(RUN).map(|run| run.join(" ")).collect()
}

#[test]
fn no_prompt_shares_a_run_of_nine_words_with_the_open_data() {
    let Some(folder) = std::env::var_os("TMEM_DATA") else {
        eprintln!("skipped: TMEM_DATA names no folder with data/locomo");
        return;
    };
    let data = Path::new(&folder).join("data/locomo");
    let open: Vec<String> = ["locomo.json", "locomo_plus.json"]
        .iter()
        .map(|file| std::fs::read_to_string(data.join(file)).unwrap())
        .collect();
    let open: BTreeSet<String> = open.iter().flat_map(|text| runs(text)).collect();
    assert!(open.len() > 10_000, "the data is not where it should be");
    let prompts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prompts");
    let mut count = 0;
    for entry in std::fs::read_dir(prompts).unwrap() {
        let path = entry.unwrap().path();
        let own = runs(&std::fs::read_to_string(&path).unwrap());
        let shared: Vec<&String> = own.intersection(&open).collect();
        assert!(shared.is_empty(), "{}: {shared:?}", path.display());
        count += 1;
    }
    assert!(count >= 16, "{count}");
}
