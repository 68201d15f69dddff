#![no_main]

#[path = "../properties/round_trip.rs"]
mod round_trip;

libfuzzer_sys::fuzz_target!(|input: &[u8]| round_trip::check(input));
