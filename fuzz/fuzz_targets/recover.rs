#![no_main]

#[path = "../properties/recover.rs"]
mod recover;

libfuzzer_sys::fuzz_target!(|input: &[u8]| recover::check(input));
