//! Sizes as people write them: `1M`, `0.5K`, `1048576`.

/// The units, by their letter: powers of 1024 as in the Python tool.
const UNITS: [(char, u32); 5] = [('B', 0), ('K', 10), ('M', 20), ('G', 30), ('T', 40)];

/// Parses a number of bytes.
///
/// A number, whole or with a decimal point, then nothing or one of `B K M G T` in either case;
/// `K` to `T` may be spelled `KiB` to `TiB`. `KB` is refused, since it means 1000 to some. What
/// is left below one byte is dropped.
pub fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is not a size such as 1048576, 0.5K or 1M");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = shift(&text[digits.len()..]).ok_or_else(wrong)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(wrong());
    }
    let too_large = || format!("'{text}' is too large");
    let mut numerator: u128 = 0;
    let mut denominator: u128 = 1;
    for (digit, below_one) in whole
        .chars()
        .map(|c| (c, false))
        .chain(fraction.chars().map(|c| (c, true)))
    {
        let digit = digit.to_digit(10).ok_or_else(wrong)?;
        if below_one {
            denominator = denominator.checked_mul(10).ok_or_else(too_large)?;
        }
        numerator = numerator
            .checked_mul(10)
            .and_then(|n| n.checked_add(u128::from(digit)))
            .ok_or_else(too_large)?;
    }
    let scaled = numerator.checked_mul(1 << shift).ok_or_else(too_large)?;
    u64::try_from(scaled / denominator).map_err(|_| too_large())
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
    (rest.is_empty() || (shift > 0 && rest.eq_ignore_ascii_case("ib"))).then_some(shift)
}

/// A number of bytes for people: `1.5M (1572864B)`.
pub fn pretty(bytes: u64) -> String {
    let (letter, shift) = UNITS
        .into_iter()
        .rev()
        .find(|(_, shift)| bytes >> shift > 0)
        .unwrap_or(('B', 0));
    if shift == 0 {
        return format!("{bytes}B");
    }
    let hundredths = (u128::from(bytes) * 100) >> shift;
    format!(
        "{}.{:02}{letter} ({bytes}B)",
        hundredths / 100,
        hundredths % 100
    )
}

#[cfg(test)]
mod tests {
    use super::{parse, pretty};

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
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn other_spellings() {
        for (text, bytes) in [
            ("1m", 1 << 20),
            ("2KiB", 2048),
            ("2kib", 2048),
            (".5K", 512),
            ("7.", 7),
            ("0", 0),
            ("0.999B", 0),
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
            "1KB",
            "1BiB",
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

    #[test]
    fn sizes_for_people() {
        assert_eq!(pretty(0), "0B");
        assert_eq!(pretty(1023), "1023B");
        assert_eq!(pretty(1024), "1.00K (1024B)");
        assert_eq!(pretty(1_572_864), "1.50M (1572864B)");
        assert_eq!(pretty(u64::MAX), "16777215.99T (18446744073709551615B)");
    }
}
