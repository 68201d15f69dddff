//! Tests that after each of thousands of damages every intact chunk comes back, in order, and nothing else.
//!
//! The model knows the position of each chunk, does the damage, and notes which chunks it touches; only then is the
//! library called.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "made-up data may be cut as it likes"
)]

use testkit::golden;

mod cases;
mod giants;
mod hostile;
mod model;
mod random;
mod real;
mod records;
mod reports;
