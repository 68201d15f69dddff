#![no_main]

#[path = "../properties/frame_ops.rs"]
mod frame_ops;

libfuzzer_sys::fuzz_target!(|input: &[u8]| frame_ops::check(input));
