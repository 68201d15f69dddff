#![no_main]

#[path = "../properties/pieces_do_not_matter.rs"]
mod pieces_do_not_matter;

libfuzzer_sys::fuzz_target!(|input: &[u8]| pieces_do_not_matter::check(input));
