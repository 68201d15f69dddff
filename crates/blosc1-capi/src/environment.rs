//! The environment variables `BLOSC_*`, which C-Blosc reads at each call.

use std::ffi::OsString;
use std::os::raw::c_int;

use crate::border::{code, complain};
use crate::compress::Call;
use crate::constants::{
    BLOSC_ALWAYS_SPLIT, BLOSC_AUTO_SPLIT, BLOSC_BITSHUFFLE, BLOSC_FORWARD_COMPAT_SPLIT,
    BLOSC_NEVER_SPLIT, BLOSC_NOSHUFFLE, BLOSC_SHUFFLE,
};
use crate::{global, names};

/// Applies the variables that `blosc_compress` reads: to the call, or to the settings of the
/// process.
///
/// # Errors
///
/// Returns the return value of `blosc_compress`.
pub(crate) fn apply(call: &mut Call<'_>) -> Result<(), c_int> {
    if let Some(level) = number("BLOSC_CLEVEL").filter(|&level| level >= 0) {
        call.level = int(level);
    }
    match text("BLOSC_SHUFFLE").as_deref() {
        Some(b"NOSHUFFLE") => call.shuffle = BLOSC_NOSHUFFLE,
        Some(b"SHUFFLE") => call.shuffle = BLOSC_SHUFFLE,
        Some(b"BITSHUFFLE") => call.shuffle = BLOSC_BITSHUFFLE,
        _ => {}
    }
    if let Some(size) = number("BLOSC_TYPESIZE").filter(|&size| size > 0) {
        // If the lower 32 bits are negative, the typesize becomes very large.
        call.typesize = (int(size) as isize).cast_unsigned();
    }
    if let Some(name) = text("BLOSC_COMPRESSOR") {
        let set = global::set_compressor(names::code_of(&name));
        if set < 0 {
            return Err(set);
        }
    }
    if let Some(size) = number("BLOSC_BLOCKSIZE").filter(|&size| size > 0) {
        global::blosc_set_blocksize(usize::try_from(size).unwrap_or(usize::MAX));
    }
    threads()?;
    split_mode()
}

/// Applies `BLOSC_NTHREADS`, which `blosc_decompress` reads as well.
///
/// # Errors
///
/// Returns the previous number of threads if that is negative, as C-Blosc does.
pub(crate) fn threads() -> Result<(), c_int> {
    if let Some(count) = number("BLOSC_NTHREADS").filter(|&count| count > 0) {
        let previous = global::blosc_set_nthreads(int(count));
        if previous < 0 {
            return Err(previous);
        }
    }
    Ok(())
}

/// The level of warnings, 0 for none.
pub(crate) fn warnings() -> i64 {
    text("BLOSC_WARN").map_or(0, |value| leading_number(&value))
}

/// Applies `BLOSC_SPLITMODE`. For an unknown value, prints a message and fails.
fn split_mode() -> Result<(), c_int> {
    let Some(value) = text("BLOSC_SPLITMODE") else {
        return Ok(());
    };
    global::blosc_set_splitmode(match value.as_slice() {
        b"FORWARD_COMPAT" => BLOSC_FORWARD_COMPAT_SPLIT,
        b"AUTO" => BLOSC_AUTO_SPLIT,
        b"ALWAYS" => BLOSC_ALWAYS_SPLIT,
        b"NEVER" => BLOSC_NEVER_SPLIT,
        _ => {
            let value = String::from_utf8_lossy(&value);
            complain(format_args!(
                "BLOSC_SPLITMODE environment variable '{value}' not recognized"
            ));
            return Err(code::FAILED);
        }
    });
    Ok(())
}

/// The bytes of a variable; `None` if it is not set.
fn text(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(OsString::into_encoded_bytes)
}

/// The value of a variable as a number. 22 counts as not set: C-Blosc compares the number with the
/// error `EINVAL`, which has that value.
fn number(name: &str) -> Option<i64> {
    let number = leading_number(&text(name)?);
    (number != i64::from(libc::EINVAL)).then_some(number)
}

/// The number at the beginning of a text, as `strtol` reads it: 0 if there is none, the largest if
/// it does not fit.
fn leading_number(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        rest => (1, rest),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0_i64, |number, digit| {
        let digit = i64::from(digit - b'0');
        number.saturating_mul(10).saturating_add(sign * digit)
    })
}

/// The lower 32 bits, as a cast in C.
fn int(number: i64) -> c_int {
    let [a, b, c, d, ..] = number.to_le_bytes();
    c_int::from_le_bytes([a, b, c, d])
}
