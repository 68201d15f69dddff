#![no_main]

#[path = "../properties/blosc2_chunk_differential.rs"]
mod blosc2_chunk_differential;

libfuzzer_sys::fuzz_target!(|input: &[u8]| blosc2_chunk_differential::check(input));
