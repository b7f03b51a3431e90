//! Which texts are run together: near in length, few at a time.

/// How much goes into one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most texts.
    pub(crate) texts: usize,
    /// Most tokens, padding included; one text alone may have more.
    pub(crate) tokens: usize,
}

/// Positions of the texts, cut into runs: shortest first, ties by position, so that little is
/// padded. Each position comes once.
pub(crate) fn by_length(lengths: &[usize], limits: Limits) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&position| (lengths[position], position));
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for position in order {
        match runs.last_mut() {
            // The newcomer is the longest, so it sets the width.
            Some(run) if fits(run.len() + 1, lengths[position], limits) => run.push(position),
            _ => runs.push(vec![position]),
        }
    }
    runs
}

fn fits(texts: usize, width: usize, limits: Limits) -> bool {
    texts <= limits.texts && texts.saturating_mul(width) <= limits.tokens
}

/// Puts what was computed run by run back in the order of the input.
///
/// `runs` and `results` run in parallel, one result per position.
pub(crate) fn in_input_order<T>(runs: &[Vec<usize>], results: Vec<T>) -> Vec<T> {
    let positions = runs.iter().flatten().copied();
    let mut pairs: Vec<(usize, T)> = positions.zip(results).collect();
    pairs.sort_by_key(|(position, _)| *position);
    pairs.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lengths: &[usize], texts: usize, tokens: usize, expected: &[&[usize]]) {
        let runs = by_length(lengths, Limits { texts, tokens });
        assert_eq!(runs, expected);
        let values = runs.iter().flatten().map(|p| lengths[*p]).collect();
        assert_eq!(in_input_order(&runs, values), lengths);
    }

    #[test]
    fn texts_of_like_length_run_together() {
        check(&[9, 3, 8, 3], 2, 100, &[&[1, 3], &[2, 0]]);
        check(&[], 2, 100, &[]);
    }

    #[test]
    fn long_texts_run_alone() {
        check(&[60, 50, 5, 4], 8, 64, &[&[3, 2], &[1], &[0]]);
        check(&[500], 8, 64, &[&[0]]);
    }
}
