//! What was spent, by prompt and model; failed calls, cached calls and waiting calls apart.

use std::{borrow::Borrow, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use crate::call::{Call, Spent};

/// The ledger of many calls: one line per prompt and model, in that order.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Ledger {
    /// Its lines.
    pub lines: Vec<Line>,
}

/// One prompt with one model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Line {
    /// The prompt.
    pub prompt: String,
    /// The model.
    pub model: String,
    /// What was spent.
    pub spent: Spent,
    /// Calls that wait for an answer.
    pub waiting: u64,
    /// The price, if it is known.
    pub cost: Option<f64>,
}

/// Prices by model.
pub type Prices = BTreeMap<String, Price>;

/// The price of one model, per million tokens, in any currency.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
}

impl Price {
    /// The price of what was spent; calls of unknown usage are not in it.
    #[expect(clippy::cast_precision_loss, reason = "no one pays for 2^52 tokens")]
    pub fn of(&self, spent: &Spent) -> f64 {
        let (read, written) = (spent.prompt_tokens as f64, spent.completion_tokens as f64);
        (read * self.input + written * self.output) / 1e6
    }
}

impl Ledger {
    /// Counts calls; their order does not matter.
    pub fn of<C: Borrow<Call>>(calls: impl IntoIterator<Item = C>, prices: &Prices) -> Self {
        let mut lines = BTreeMap::<(String, String), Line>::new();
        for call in calls {
            let call = call.borrow();
            let key = (call.request.prompt.name.clone(), call.model.clone());
            let line = lines.entry(key).or_default();
            line.spent += call.spent;
            line.waiting += u64::from(call.is_waiting());
        }
        let lines = lines.into_iter().map(|((prompt, model), line)| {
            let cost = prices.get(&model).map(|price| price.of(&line.spent));
            Line {
                prompt,
                model,
                cost,
                ..line
            }
        });
        Self {
            lines: lines.collect(),
        }
    }

    /// All lines in one, under the prompt `total`. Its cost is known if that of every line is.
    pub fn total(&self) -> Line {
        let mut total = Line {
            prompt: "total".to_owned(),
            cost: Some(0.0),
            ..Line::default()
        };
        for line in &self.lines {
            total.spent += line.spent;
            total.waiting += line.waiting;
            total.cost = total.cost.zip(line.cost).map(|(sum, cost)| sum + cost);
        }
        total
    }
}
