//! What model calls have cost, and what a build would.

use std::collections::BTreeMap;

use serde::Serialize;
pub use tmem_build::Cost;
use tmem_llm::{Call, Ledger, Price, Prices};
use tmem_model::Stage;

use crate::build::BuildOptions;
use crate::error::TmemError;
use crate::tmem::Tmem;

/// What a build would take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// By stage, in their order.
    pub stages: BTreeMap<Stage, Cost>,
    /// In the currency of the configured prices; nothing without prices.
    pub price: Option<f64>,
}

impl Estimate {
    /// All stages together.
    #[must_use]
    pub fn total(&self) -> Cost {
        let mut total = Cost::default();
        for cost in self.stages.values() {
            total.add(cost);
        }
        total
    }
}

impl Tmem {
    /// What building everything that is left would take. No model is asked, nothing is changed.
    ///
    /// # Errors
    /// [`TmemError::Model`] if the work cannot be rehearsed.
    pub fn estimate(&self, _options: &BuildOptions) -> Result<Estimate, TmemError> {
        let (memory, jobs) = self.snapshot();
        let (config, prompts) = (&self.config().build, self.prompts());
        let mut estimate = Estimate::default();
        for id in memory.conversations() {
            let one = tmem_build::estimate(&memory, &jobs, id, &[], config, prompts)?;
            for (stage, cost) in one.stages() {
                estimate.stages.entry(stage).or_default().add(&cost);
            }
        }
        estimate.price = self.price(&estimate.total());
        Ok(estimate)
    }

    /// What all model calls of the data folder have cost, by prompt and model.
    ///
    /// # Errors
    /// [`TmemError::Store`] if the call log cannot be read.
    pub fn cost(&self) -> Result<Ledger, TmemError> {
        Ok(Ledger::of(self.shelf.calls()?, &self.prices()))
    }

    fn prices(&self) -> Prices {
        let llm = &self.config().llm;
        let price = Price {
            input: llm.prompt_price,
            output: llm.reply_price,
        };
        let priced = price.input > 0.0 || price.output > 0.0;
        priced
            .then(|| (llm.model.clone(), price))
            .into_iter()
            .collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "no one pays for 2^52 tokens")]
    fn price(&self, cost: &Cost) -> Option<f64> {
        let llm = &self.config().llm;
        let (read, written) = (cost.prompt_tokens as f64, cost.reply_tokens as f64);
        let price = (read * llm.prompt_price + written * llm.reply_price) / 1e6;
        (price > 0.0).then_some(price)
    }
}

/// Tokens of the calls answered today (UTC).
pub(crate) fn spent_today(calls: &[Call]) -> u64 {
    let now = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now());
    let today = now.date().to_string();
    let todays = calls.iter().filter(|call| call.at.starts_with(&today));
    todays.map(|call| call.spent.tokens()).sum()
}
