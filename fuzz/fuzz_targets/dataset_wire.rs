#![no_main]

#[path = "../properties/dataset_wire.rs"]
mod dataset_wire;

libfuzzer_sys::fuzz_target!(|input: &[u8]| dataset_wire::check(input));
