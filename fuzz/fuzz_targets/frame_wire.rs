#![no_main]

#[path = "../properties/frame_wire.rs"]
mod frame_wire;

libfuzzer_sys::fuzz_target!(|input: &[u8]| frame_wire::check(input));
