#![no_main]

#[path = "../properties/dataset_dir.rs"]
mod dataset_dir;

libfuzzer_sys::fuzz_target!(|input: &[u8]| dataset_dir::check(input));
