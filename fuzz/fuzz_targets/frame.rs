#![no_main]

#[path = "../properties/frame.rs"]
mod frame;

libfuzzer_sys::fuzz_target!(|input: &[u8]| frame::check(input));
