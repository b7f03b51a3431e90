//! What every encoder holds its input and its output to.

use crate::EmbedError;

/// Refuses a batch with a text that shows nothing.
pub(crate) fn no_blank(texts: &[String]) -> Result<(), EmbedError> {
    match texts.iter().position(|text| is_blank(text)) {
        Some(index) => Err(EmbedError::Blank { index }),
        None => Ok(()),
    }
}

/// Whether a text has no visible character: white space, control and zero-width characters only.
pub fn is_blank(text: &str) -> bool {
    let invisible = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
    };
    text.chars().all(invisible)
}

/// Scales a vector to norm 1; refuses another length, numbers that are not finite, and zeros.
pub(crate) fn unit(
    model: &str,
    dimensions: usize,
    mut vector: Vec<f32>,
) -> Result<Vec<f32>, EmbedError> {
    if vector.len() != dimensions {
        return Err(EmbedError::Dimensions {
            model: model.to_owned(),
            expected: dimensions,
            found: vector.len(),
        });
    }
    let norm = vector
        .iter()
        .map(|x| f64::from(*x).powi(2))
        .sum::<f64>()
        .sqrt();
    if !norm.is_finite() || norm < 1e-12 {
        return Err(bad(model, format!("a vector of norm {norm}")));
    }
    for x in &mut vector {
        *x = (f64::from(*x) / norm) as f32;
    }
    Ok(vector)
}

/// A reply that breaks the contract.
pub(crate) fn bad(model: &str, message: impl Into<String>) -> EmbedError {
    EmbedError::BadVectors {
        model: model.to_owned(),
        message: message.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_text_is_named_by_its_position() {
        let batch = ["Leo has a parrot", "\n\n", ""].map(str::to_owned);
        let error = no_blank(&batch).unwrap_err();
        assert_eq!(error.to_string(), "text 1 of the batch is blank");
        assert!(no_blank(&batch[..1]).is_ok());
        assert!(is_blank("\u{200B}\u{FEFF}\t") && !is_blank("…") && !is_blank("🦜"));
    }

    #[test]
    fn vectors_come_out_with_norm_one() {
        assert_eq!(unit("m", 2, vec![3.0, 4.0]).unwrap(), [0.6, 0.8]);
    }

    #[test]
    fn vectors_that_would_poison_a_ranking_are_refused() {
        let check = |vector: Vec<f32>| unit("m", 2, vector).unwrap_err().to_string();
        assert_eq!(check(vec![f32::NAN, 1.0]), "m: a vector of norm NaN");
        assert_eq!(check(vec![f32::INFINITY, 1.0]), "m: a vector of norm inf");
        assert_eq!(check(vec![0.0, 0.0]), "m: a vector of norm 0");
        assert!(check(vec![1.0]).starts_with("m gives vectors of 1 numbers, configured are 2"));
    }
}
