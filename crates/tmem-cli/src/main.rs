//! The command line of tmem.

fn main() {}
