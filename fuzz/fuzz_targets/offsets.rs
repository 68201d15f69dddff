#![no_main]

#[path = "../properties/offsets.rs"]
mod offsets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| offsets::check(input));
