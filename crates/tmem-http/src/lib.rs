//! JSON over HTTP to model servers: one client, one retry layer, one limiter.
