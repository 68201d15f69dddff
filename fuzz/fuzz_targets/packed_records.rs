#![no_main]

#[path = "../properties/packed_records.rs"]
mod packed_records;

libfuzzer_sys::fuzz_target!(|input: &[u8]| packed_records::check(input));
