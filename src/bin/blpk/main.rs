//! The command `blpk`.
fn main() {}
