//! Memory documents in and out.

use std::sync::Arc;

use serde::Serialize;
use tmem_build::settled;
use tmem_model::{Change, ConversationId, Document, Memory};

use crate::error::TmemError;
use crate::tmem::Tmem;

/// What an imported document brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The conversation.
    pub conversation: ConversationId,
    /// Turns that it has now.
    pub turns: usize,
    /// Scenes that it has now.
    pub scenes: usize,
    /// Items that it has now.
    pub items: usize,
}

impl Imported {
    fn of(memory: &Memory, conversation: ConversationId) -> Self {
        Self {
            turns: memory.turns(&conversation).count(),
            scenes: memory.scenes_in(&conversation).count(),
            items: memory.items_in(&conversation).count(),
            conversation,
        }
    }
}

impl Tmem {
    /// A conversation's memory as a document in canonical order, without a line feed at its end.
    ///
    /// # Errors
    /// [`TmemError::UnknownConversation`].
    pub fn export(&self, conversation: &ConversationId) -> Result<String, TmemError> {
        let document = Document::of(&self.memory(), conversation);
        let unknown = || TmemError::UnknownConversation(conversation.clone());
        Ok(document.ok_or_else(unknown)?.to_json())
    }

    /// Takes in a document or a list of them, whole or not at all. What it holds counts as built.
    ///
    /// # Errors
    /// [`TmemError::Document`] naming id and field of what is wrong; [`TmemError::Store`].
    pub fn import(&self, json: &str) -> Result<Vec<Imported>, TmemError> {
        let documents = Document::parse_all(json)?;
        let (mut memory, jobs) = self.snapshot();
        let (mut whole, mut imported) = (Change::default(), Vec::new());
        let several = documents.len() > 1;
        for (document, number) in documents.into_iter().zip(1..) {
            let conversation = document.conversation().clone();
            let change = document.into_change(&memory);
            let mut change = change.map_err(|error| match several {
                true => error.listed(number),
                false => error,
            })?;
            Arc::make_mut(&mut memory).apply(&change)?;
            change.merge(settled(&memory, &jobs, &conversation));
            whole.merge(change);
            imported.push(Imported::of(&memory, conversation));
        }
        drop((memory, jobs)); // so that committing need not copy them
        self.commit(&whole)?;
        Ok(imported)
    }
}
