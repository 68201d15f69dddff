#![no_main]

#[path = "../properties/stream_decoder.rs"]
mod stream_decoder;

libfuzzer_sys::fuzz_target!(|input: &[u8]| stream_decoder::check(input));
