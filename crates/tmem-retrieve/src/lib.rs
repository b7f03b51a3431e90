//! The cascade with trigger bypass: from an embedded query to typed evidence with a trace.
