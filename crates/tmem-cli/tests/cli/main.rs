//! The binary as a person meets it: no network, no weights, a folder of its own per test.

mod add;
mod build;
mod forget;
mod home;
mod hygiene;
mod recall;
mod server;
mod surface;
