#![no_main]

#[path = "../properties/changed_file.rs"]
mod changed_file;

libfuzzer_sys::fuzz_target!(|input: &[u8]| changed_file::check(input));
