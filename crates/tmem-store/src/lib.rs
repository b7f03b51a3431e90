//! Durable spaces on SQLite: turns, memory, jobs, calls, vectors.
