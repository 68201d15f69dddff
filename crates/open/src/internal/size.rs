//! Sizes in bytes as users write them: `1M`, `0.5K`, `1048576`.

pub use crate::text::pretty;

/// The units by letter, as powers of 1024, as in the Python tool.
const UNITS: [(char, u32); 5] = [('B', 0), ('K', 10), ('M', 20), ('G', 30), ('T', 40)];

/// Parses a number of bytes: a number, optionally followed by one of `B K M G T` in either case. `K` may also be written `KB`
/// or `KiB`, and so on. A number with a unit may have a decimal point, but the result must be a whole number.
///
/// # Errors
/// Returns a message for the user.
pub fn parse(text: &str) -> Result<u64, String> {
    let size = Size::of(text)?;
    if size.is_whole() {
        return size.bytes(text);
    }
    Err(format!("'{text}' is not a whole number of bytes"))
}

/// Parses a number of bytes as the Python tool does, rounded down.
///
/// # Errors
/// Returns a message for the user.
pub fn parse_rounded(text: &str) -> Result<u64, String> {
    Size::of(text)?.bytes(text)
}

/// A number of bytes as a fraction.
struct Size {
    numerator: u128,
    denominator: u128,
}

impl Size {
    fn of(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a size such as 1048576, 0.5K or 1M");
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text.strip_prefix(digits).unwrap_or_default();
        let shift = shift(unit).ok_or_else(wrong)?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return Err(wrong());
        }
        if unit.is_empty() && digits.contains('.') {
            return Err(format!(
                "'{text}' has a decimal point but no unit: write 1.5K or 1.5M, or a whole number of bytes"
            ));
        }
        Self::scaled(whole, fraction, shift).ok_or_else(|| too_large(text))
    }

    /// The number with these digits before and after the point, times a power of two.
    fn scaled(whole: &str, fraction: &str, shift: u32) -> Option<Self> {
        let mut numerator: u128 = 0;
        for digit in whole.chars().chain(fraction.chars()) {
            let digit = digit.to_digit(10)?;
            numerator = numerator.checked_mul(10)?.checked_add(digit.into())?;
        }
        let places = u32::try_from(fraction.len()).ok()?;
        Some(Self {
            numerator: numerator.checked_mul(1 << shift)?,
            denominator: 10_u128.checked_pow(places)?,
        })
    }

    fn is_whole(&self) -> bool {
        self.numerator.is_multiple_of(self.denominator)
    }

    fn bytes(&self, text: &str) -> Result<u64, String> {
        u64::try_from(self.numerator / self.denominator).map_err(|_| too_large(text))
    }
}

fn too_large(text: &str) -> String {
    format!("'{text}' is too large")
}

fn shift(unit: &str) -> Option<u32> {
    let mut letters = unit.chars();
    let Some(letter) = letters.next() else {
        return Some(0);
    };
    let (_, shift) = UNITS
        .into_iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(&letter))?;
    let rest = letters.as_str();
    let spelled_out = ["b", "ib"].iter().any(|end| rest.eq_ignore_ascii_case(end));
    (rest.is_empty() || (shift > 0 && spelled_out)).then_some(shift)
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_rounded};

    #[test]
    fn sizes_of_the_python_tool() {
        // `reverse_pretty` of the reference, as its own tests pin it.
        for (text, bytes) in [
            ("1048576", 1_048_576),
            ("1B", 1),
            ("0.5K", 512),
            ("1K", 1024),
            ("1M", 1 << 20),
            ("1G", 1 << 30),
            ("1T", 1 << 40),
            ("5.2M", 5_452_595),
        ] {
            assert_eq!(parse_rounded(text), Ok(bytes), "{text}");
        }
        assert_eq!(parse_rounded("1.9B"), Ok(1));
    }

    #[test]
    fn a_fraction_of_a_byte_is_none() {
        for text in ["1.5", "1.9", "0.3", "5.", ".5", "1.0"] {
            for parsed in [parse(text), parse_rounded(text)] {
                assert!(parsed.unwrap_err().contains("no unit"), "{text}");
            }
        }
        for text in ["5.2M", "0.3K", "1.9B", "0.0000000001K"] {
            assert!(parse(text).unwrap_err().contains("whole"), "{text}");
        }
        assert_eq!(parse("1.5K"), Ok(1536));
        assert_eq!(parse("5.B"), Ok(5));
    }

    #[test]
    fn other_spellings() {
        for (text, bytes) in [
            ("1m", 1 << 20),
            ("2KiB", 2048),
            ("2kib", 2048),
            ("5b", 5),
            ("5kB", 5120),
            ("1KB", 1024),
            (".5K", 512),
            ("0", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size() {
        for text in [
            "",
            ".",
            "K",
            "-1",
            "+1",
            "1 K",
            "1BB",
            "1BiB",
            "1KBi",
            "1X",
            "1.2.3",
            "1e3",
            "max",
            "18446744073709551616",
            "99999999999999999999999999999999999999999999T",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
