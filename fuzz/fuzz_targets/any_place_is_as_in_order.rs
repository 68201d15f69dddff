#![no_main]

#[path = "../properties/any_place_is_as_in_order.rs"]
mod any_place_is_as_in_order;

libfuzzer_sys::fuzz_target!(|input: &[u8]| any_place_is_as_in_order::check(input));
