#![no_main]

#[path = "../properties/records.rs"]
mod records;

libfuzzer_sys::fuzz_target!(|input: &[u8]| records::check(input));
