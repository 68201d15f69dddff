//! Tests of Blosc2 frames and the arrays in them: reading those of real programs, and changing them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod byte_order;
mod corpus;
mod crash;
mod errors;
mod frame_wire;
mod hostile;
mod model;
mod plug_ins;
mod review;
mod virtual_data;

use testkit::frame_model;
use testkit::frame_parts;
use testkit::frames;
use testkit::pick;

use testkit::counting;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;
