#![no_main]

#[path = "../properties/dataset_ops.rs"]
mod dataset_ops;

libfuzzer_sys::fuzz_target!(|input: &[u8]| dataset_ops::check(input));
