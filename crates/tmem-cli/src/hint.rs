//! What to do about an error: one hint, found by its type, and its exit code.

use tmem::TmemError;
use tmem::llm::LlmError;
use tmem::weights::WeightsError;

use crate::outcome::Exit;

/// One hint for the first error of the chain that has one.
pub(crate) fn of(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let facade = cause.downcast_ref::<TmemError>().and_then(of_facade);
        let llm = || {
            cause
                .downcast_ref::<LlmError>()
                .and_then(LlmError::hint)
                .map(str::to_owned)
        };
        let weights = || cause.downcast_ref::<WeightsError>().map(of_weights);
        facade.or_else(llm).or_else(weights)
    })
}

fn of_facade(error: &TmemError) -> Option<String> {
    let hint = match error {
        TmemError::EncoderMismatch { .. } => {
            "`tmem reindex` makes the vectors anew, or set [embed] back"
        }
        TmemError::UnknownSpace { .. } => "`tmem show spaces` lists them; `tmem add` makes one",
        TmemError::UnknownConversation(_) => "`tmem show` lists the conversations",
        TmemError::NoModel(_) => {
            "`tmem models pull` fetches the embedded model; a hosted one is set with \
             TMEM_LLM_KIND=openai, TMEM_LLM_BASE_URL and TMEM_LLM_MODEL"
        }
        TmemError::Conflict { .. } => {
            "give the file another --conversation, or `tmem forget` what is stored first"
        }
        TmemError::Llm(error) => return error.hint().map(str::to_owned),
        _ => return None,
    };
    Some(hint.to_owned())
}

fn of_weights(_error: &WeightsError) -> String {
    "`tmem models list` shows the names and the folder; files put there by hand are used as they \
     are"
    .to_owned()
}

/// 2 for what was asked wrongly, 1 for what failed.
pub(crate) fn exit(error: &anyhow::Error) -> Exit {
    let usage = |cause: &(dyn std::error::Error + 'static)| {
        matches!(
            cause.downcast_ref::<TmemError>(),
            Some(TmemError::BlankQuery | TmemError::SpaceName(_))
        )
    };
    if error.chain().any(usage) {
        Exit::Usage
    } else {
        Exit::Failed
    }
}
