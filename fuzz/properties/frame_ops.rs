//! An array in a frame, or a frame, has the content of a model after any operations.

use testkit::frame_model;

use frame_model::{Place, run, run_plain};

/// The number of bytes that encode the creation of an array, and each step.
const MAKING: usize = 40;
const STEP: usize = 12;
const MOST_STEPS: usize = 30;

pub fn check(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else {
        return;
    };
    let (making, steps) = rest.split_at(rest.len().min(MAKING));
    let steps: Vec<&[u8]> = steps.chunks(STEP).take(MOST_STEPS).collect();
    match first % 4 {
        0 => run(making, &steps, Place::Nowhere),
        1 => run(making, &steps, Place::Memory),
        2 => run(making, &steps, Place::Store),
        _ => run_plain(making, &steps),
    }
}
