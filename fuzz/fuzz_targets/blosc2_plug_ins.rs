#![no_main]

#[path = "../properties/blosc2_plug_ins.rs"]
mod blosc2_plug_ins;

libfuzzer_sys::fuzz_target!(|input: &[u8]| blosc2_plug_ins::check(input));
