#![no_main]

#[path = "../properties/blosc2_chunk.rs"]
mod blosc2_chunk;

libfuzzer_sys::fuzz_target!(|input: &[u8]| blosc2_chunk::check(input));
