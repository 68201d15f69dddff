#![no_main]

#[path = "../properties/blosc_chunk_differential.rs"]
mod blosc_chunk_differential;

libfuzzer_sys::fuzz_target!(|input: &[u8]| blosc_chunk_differential::check(input));
