//! From each of thousands of damages, every intact chunk comes back, in order, and nothing else.
//!
//! The model knows where each chunk lies, does the damage, and notes which chunks it touches; the
//! library is only asked afterwards.
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
