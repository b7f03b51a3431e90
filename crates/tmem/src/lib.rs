//! Long-term conversational memory that anticipates: the facade over the tmem crates.
