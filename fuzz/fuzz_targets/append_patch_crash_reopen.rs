#![no_main]

#[path = "../properties/append_patch_crash_reopen.rs"]
mod append_patch_crash_reopen;

libfuzzer_sys::fuzz_target!(|input: &[u8]| append_patch_crash_reopen::check(input));
