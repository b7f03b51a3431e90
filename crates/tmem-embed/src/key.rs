//! Keys for caches of vectors. A cache itself belongs to whoever stores.

use sha2::{Digest, Sha256};

use crate::{EncoderSpec, TextRole};

/// Names a text in its role: 32 hexadecimal digits (the first 16 bytes of a SHA-256). Together with
/// [`EncoderSpec::identity`] it names a vector.
pub fn text_hash(role: TextRole, text: &str) -> String {
    let mark = match role {
        TextRole::Query => b"query\0".as_slice(),
        TextRole::Passage => b"passage\0",
    };
    hex(&Sha256::new()
        .chain_update(mark)
        .chain_update(text)
        .finalize()[..16])
}

/// Names the vector of a text under an encoder: 64 hexadecimal digits.
pub fn cache_key(spec: &EncoderSpec, role: TextRole, text: &str) -> String {
    let digest = Sha256::new()
        .chain_update(spec.identity())
        .chain_update([0])
        .chain_update(text_hash(role, text));
    hex(&digest.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn role_text_and_encoder_each_change_the_key() {
        let minilm = EncoderSpec::minilm();
        let key = cache_key(&minilm, TextRole::Query, "a kite");
        assert_eq!(key.len(), 64);
        assert_eq!(key, cache_key(&minilm, TextRole::Query, "a kite"));
        assert_ne!(key, cache_key(&minilm, TextRole::Passage, "a kite"));
        assert_ne!(key, cache_key(&minilm, TextRole::Query, "a kit"));
        assert_ne!(
            key,
            cache_key(&EncoderSpec::bge_m3(), TextRole::Query, "a kite")
        );
    }

    #[test]
    fn hashes_are_the_same_on_every_machine() {
        expect_test::expect!["80826f45"].assert_eq(&text_hash(TextRole::Passage, "a kite")[..8]);
    }
}
