//! Lexical and vector indices over a memory's nodes and trigger views.
