//! An array or a table, in any layout, has the content of plain vectors after any operations.

use bloscpack_open::datasets::DatasetLayout;

use testkit::dataset_model;

use dataset_model::{Step, array, table};

/// The number of bytes that encode the creation of a dataset.
const MAKING: usize = 32;
const MOST_STEPS: usize = 24;

pub fn check(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else {
        return;
    };
    let layouts = DatasetLayout::ALL;
    let layout = layouts[usize::from(*first) / 2 % layouts.len()];
    let (making, steps) = rest.split_at(rest.len().min(MAKING));
    let steps: Vec<Step> = steps
        .as_chunks()
        .0
        .iter()
        .copied()
        .take(MOST_STEPS)
        .collect();
    // The model itself opens and compares the flushed state.
    let judge = &mut |_: &dataset_model::Flushed<'_>| {};
    match first % 2 {
        0 => array::run(layout, making, &steps, judge),
        _ => table::run(layout, making, &steps, judge),
    }
}
