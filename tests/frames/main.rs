//! Blosc2 frames and the arrays in them: what real programs wrote, and what becomes of changes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod corpus;
mod crash;
mod hostile;
mod model;
mod review;

#[path = "../support/frame_model/mod.rs"]
mod frame_model;
#[path = "../support/frame_parts.rs"]
mod frame_parts;
#[path = "../support/frames.rs"]
mod frames;
#[path = "../support/pick.rs"]
mod pick;

#[path = "../support/counting.rs"]
mod counting;
#[path = "../support/crash.rs"]
mod crash_states;
#[path = "../support/faulty.rs"]
mod faulty;
#[path = "../support/golden.rs"]
mod golden;
#[path = "../support/recorder.rs"]
mod recorder;
#[path = "../support/tree_crash.rs"]
mod tree_crash;
#[path = "../support/tree_faulty.rs"]
mod tree_faulty;
#[path = "../support/tree_recorder.rs"]
mod tree_recorder;
