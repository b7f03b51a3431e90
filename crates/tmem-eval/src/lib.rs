//! LoCoMo and LoCoMo-Plus: datasets, baselines, protocols, judges, metrics, reports.
