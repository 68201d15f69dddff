#![no_main]

#[path = "../properties/record_round_trip.rs"]
mod record_round_trip;

libfuzzer_sys::fuzz_target!(|input: &[u8]| record_round_trip::check(input));
