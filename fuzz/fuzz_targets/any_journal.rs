#![no_main]

#[path = "../properties/any_journal.rs"]
mod any_journal;

libfuzzer_sys::fuzz_target!(|input: &[u8]| any_journal::check(input));
