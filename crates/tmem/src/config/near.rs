//! The nearest known name of a misspelt one.

/// The name among `known` that `name` was probably meant to be.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let limit = name.chars().count() / 3 + 1;
    let part_of = |known: &str| known.len() > 3 && (name.contains(known) || known.contains(name));
    let ranked = known.map(|candidate| (distance(name, candidate), candidate));
    let near = ranked.filter(|(distance, known)| *distance <= limit || part_of(known));
    near.min().map(|(_, known)| known.to_owned())
}

/// `, did you mean ...?`, or nothing.
pub(super) fn suggestion(near: &Option<String>) -> String {
    near.as_ref()
        .map(|name| format!(", did you mean `{name}`?"))
        .unwrap_or_default()
}

/// Levenshtein distance in characters, case and the kind of dash ignored.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (folded(a), folded(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn folded(name: &str) -> Vec<char> {
    name.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c == '-' { '_' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expect: Option<&str>) {
        let known = ["model", "base_url", "timeout_secs", "concurrency"];
        assert_eq!(nearest(name, known.into_iter()).as_deref(), expect);
    }

    #[test]
    fn a_slip_of_one_or_two_letters_is_recognised() {
        check("modle", Some("model"));
        check("Base-URL", Some("base_url"));
        check("timeout_sec", Some("timeout_secs"));
        check("concurency", Some("concurrency"));
    }

    #[test]
    fn a_name_with_something_added_is_recognised() {
        check("embedding_model", Some("model"));
        check("timeout", Some("timeout_secs"));
    }

    #[test]
    fn something_else_altogether_gets_no_suggestion() {
        check("colour", None);
        check("x", None);
    }
}
