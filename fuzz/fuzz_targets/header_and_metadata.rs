#![no_main]

#[path = "../properties/header_and_metadata.rs"]
mod header_and_metadata;

libfuzzer_sys::fuzz_target!(|input: &[u8]| header_and_metadata::check(input));
