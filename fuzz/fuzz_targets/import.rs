#![no_main]

#[path = "../properties/import.rs"]
mod import;

libfuzzer_sys::fuzz_target!(|input: &[u8]| import::check(input));
