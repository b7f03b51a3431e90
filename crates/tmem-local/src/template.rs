//! Messages to prompt tokens, in the manner of the model's family.

use tmem_llm::{Message, Role};

use crate::error::LocalError;
use crate::gguf::Gguf;
use crate::vocab::Vocab;

/// How a family marks who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// `<|im_start|>role\n…<|im_end|>\n`
    ChatMl,
    /// The same, and a reply that opens with an empty train of thought.
    ChatMlThoughtless,
    /// `<|start_header_id|>role<|end_header_id|>\n\n…<|eot_id|>`
    Llama3,
}

/// A prompt in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptTokens {
    pub(crate) tokens: Vec<u32>,
    /// So many of them come from the leading system messages: the part that is alike in every call
    /// of one kind.
    pub(crate) constant: usize,
}

impl Family {
    /// The family that the file's own chat template shows.
    pub(crate) fn of(gguf: &Gguf, vocab: &Vocab) -> Result<Self, LocalError> {
        let template = gguf.text("tokenizer.chat_template").unwrap_or_default();
        let knows = |spelling: &str| vocab.control(spelling).is_some();
        if knows("<|im_start|>") && knows("<|im_end|>") {
            let thinks = template.contains("enable_thinking");
            return Ok(if thinks {
                Self::ChatMlThoughtless
            } else {
                Self::ChatMl
            });
        }
        if knows("<|start_header_id|>") && knows("<|end_header_id|>") && knows("<|eot_id|>") {
            return Ok(Self::Llama3);
        }
        Err(gguf.unsupported("its chat template is neither ChatML nor that of Llama 3".to_owned()))
    }

    /// The prompt for these messages, up to where the reply begins.
    pub(crate) fn prompt(self, messages: &[Message], vocab: &Vocab) -> PromptTokens {
        let mut tokens: Vec<u32> = vocab.begin().into_iter().collect();
        let leading = messages
            .iter()
            .take_while(|message| message.role == Role::System)
            .count();
        let mut constant = 0;
        for (index, message) in messages.iter().enumerate() {
            self.message(&mut tokens, message, vocab);
            if index + 1 == leading {
                constant = tokens.len();
            }
        }
        self.open(&mut tokens, "assistant", vocab);
        if self == Self::ChatMlThoughtless {
            tokens.extend(vocab.control("<think>"));
            tokens.extend(vocab.encode("\n\n"));
            tokens.extend(vocab.control("</think>"));
            tokens.extend(vocab.encode("\n\n"));
        }
        PromptTokens { tokens, constant }
    }

    fn message(self, tokens: &mut Vec<u32>, message: &Message, vocab: &Vocab) {
        let role = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        self.open(tokens, role, vocab);
        tokens.extend(vocab.encode(&message.content));
        match self {
            Self::ChatMl | Self::ChatMlThoughtless => {
                tokens.extend(vocab.control("<|im_end|>"));
                tokens.extend(vocab.encode("\n"));
            }
            Self::Llama3 => tokens.extend(vocab.control("<|eot_id|>")),
        }
    }

    fn open(self, tokens: &mut Vec<u32>, role: &str, vocab: &Vocab) {
        match self {
            Self::ChatMl | Self::ChatMlThoughtless => {
                tokens.extend(vocab.control("<|im_start|>"));
                tokens.extend(vocab.encode(&format!("{role}\n")));
            }
            Self::Llama3 => {
                tokens.extend(vocab.control("<|start_header_id|>"));
                tokens.extend(vocab.encode(role));
                tokens.extend(vocab.control("<|end_header_id|>"));
                tokens.extend(vocab.encode("\n\n"));
            }
        }
    }
}
