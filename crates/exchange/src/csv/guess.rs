//! [`Guess`]: the type of a column, guessed from all of its cells.

use crate::error::long_string;
use crate::format::Format;
use bloscpack_dtype::{DType, TimeBase, TimeUnit};
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;

/// The longest string, in characters or bytes, for which every element of a column gets that length.
const LONGEST: u64 = 1 << 16;
/// Significant digits that every float keeps, and the magnitudes for which it does.
const KEPT_DIGITS: usize = 15;
const KEPT: std::ops::Range<f64> = 1e-290..1e290;
/// Integers of smaller magnitude are exact as floats.
const EXACT: u128 = 1 << 53;
/// More than the significant digits of the longest float that is written in full.
const MOST_DIGITS: usize = 800;
/// The time units, coarsest first.
const UNITS: [TimeBase; 5] = [
    TimeBase::Day,
    TimeBase::Second,
    TimeBase::Milli,
    TimeBase::Micro,
    TimeBase::Nano,
];

/// The types that all cells so far have in common.
pub(super) struct Guess {
    /// Whether a cell was not empty, and whether one was empty.
    any: bool,
    empty: bool,
    /// Whether a cell was blank or a word for a missing value, which is text in a column of text.
    missing: bool,
    truth: bool,
    signed: bool,
    unsigned: bool,
    float: bool,
    /// Whether all cells are numbers, even if some lose digits as floats.
    number: bool,
    /// The units in which all times can be counted.
    units: Vec<DType>,
    utf8: bool,
    /// Whether a cell is not UTF-8.
    other_bytes: bool,
    /// The characters and bytes of the longest cell.
    chars: u64,
    bytes: u64,
}

impl Guess {
    pub fn new() -> Self {
        let unit = |base: &TimeBase| DType::datetime(TimeUnit::one(*base)).ok();
        Self {
            any: false,
            empty: false,
            missing: false,
            truth: true,
            signed: true,
            unsigned: true,
            float: true,
            number: true,
            units: UNITS.iter().filter_map(unit).collect(),
            utf8: true,
            other_bytes: false,
            chars: 0,
            bytes: 0,
        }
    }

    /// The guess for a column that is not scanned and may have missing cells.
    pub fn of_gaps() -> Self {
        Self {
            empty: true,
            ..Self::new()
        }
    }

    /// Adds a cell. `missing` says that it is a word for a missing value, unless the column turns out to be text.
    ///
    /// Numbers, times and booleans may be surrounded by blanks; text keeps its blanks.
    pub fn see(&mut self, cell: &[u8], missing: bool) {
        if cell.is_empty() {
            self.empty = true;
            return;
        }
        let Ok(text) = std::str::from_utf8(cell) else {
            self.any = true;
            self.measure(cell.len(), cell.len());
            (self.utf8, self.other_bytes) = (false, true);
            self.no_value();
            return;
        };
        if missing {
            self.missing = true;
            return self.measure(text.chars().count(), cell.len());
        }
        self.any = true;
        match escaped(text) {
            // The notation in which bytes that are not text are written.
            Some(len) => {
                self.measure(len, len);
                self.utf8 = false;
            }
            None => self.measure(text.chars().count(), cell.len()),
        }
        let text = text.trim_ascii();
        self.truth &= matches!(text, "true" | "false" | "True" | "False");
        self.see_number(text);
        self.see_time(text);
    }

    /// Adds a cell that is a string, even if it looks like a number. It may still be a time.
    pub fn see_text(&mut self, text: &str) {
        self.any = true;
        self.measure(text.chars().count(), text.len());
        (self.truth, self.signed, self.unsigned, self.float) = (false, false, false, false);
        self.number = false;
        self.see_time(text.trim_ascii());
    }

    fn see_number(&mut self, text: &str) {
        if !(self.signed || self.unsigned || self.float || self.number) {
            return;
        }
        let whole: Option<i128> = text.parse().ok();
        // A number with leading zeros, or an integer with a plus sign, is an identifier such as a phone number, and would lose
        // them.
        let digits = text.trim_start_matches(['-', '+']).as_bytes();
        let named = matches!(digits, [b'0', b'0'..=b'9', ..])
            || text.starts_with('+') && digits.iter().all(u8::is_ascii_digit);
        let whole = whole.filter(|_| !named);
        if whole.is_some_and(|number| number.unsigned_abs() < EXACT) {
            self.unsigned &= whole >= Some(0);
            return;
        }
        let fits = |bound: &dyn Fn(i128) -> bool| whole.is_some_and(bound);
        self.signed &= fits(&|number| i64::try_from(number).is_ok());
        self.unsigned &= fits(&|number| u64::try_from(number).is_ok());
        let float = text.parse().ok().filter(|_| !named);
        self.number &= float.is_some();
        self.float = self.float
            && float.is_some_and(|float| keeps_digits(text, float))
            && (is_digit_first(digits) || DType::F64.parse_text(text, &mut [0; 8]).is_ok());
    }

    fn see_time(&mut self, text: &str) {
        if self.units.is_empty() {
            return;
        }
        // A year with a month may be anything, and so may a count.
        if text.len() < 10 || text.bytes().skip(1).all(|byte| byte.is_ascii_digit()) {
            self.units.clear();
        }
        let mut count = [0; 8];
        self.units
            .retain(|unit| unit.parse_text(text, &mut count).is_ok());
    }

    fn no_value(&mut self) {
        (self.truth, self.signed, self.unsigned, self.float) = (false, false, false, false);
        self.number = false;
        self.units.clear();
    }

    fn measure(&mut self, chars: usize, bytes: usize) {
        let longer = |known: u64, len: usize| known.max(to_u64(len));
        (self.chars, self.bytes) = (longer(self.chars, chars), longer(self.bytes, bytes));
    }

    /// Whether all cells are numbers, but the column becomes text because floats would lose digits.
    pub fn has_long_numbers(&self) -> bool {
        self.any && self.number && !(self.float || self.signed || self.unsigned)
    }

    /// Whether a cell is not UTF-8.
    pub fn has_other_bytes(&self) -> bool {
        self.other_bytes
    }

    /// Whether a cell is empty, or a word for a missing value.
    pub fn has_gaps(&self) -> bool {
        self.empty || self.missing
    }

    /// The type of the column. `filled` says that missing cells get a value.
    pub fn dtype(&self, name: &str, filled: bool) -> Result<DType> {
        let gaps = self.has_gaps() && !filled;
        Ok(match self {
            // Nothing shows that the column is numeric.
            Self {
                any: false,
                missing: true,
                ..
            } => self.text(name)?,
            Self { any: false, .. } => DType::F64,
            Self { truth: true, .. } if !gaps => DType::BOOL,
            Self { signed: true, .. } if !gaps => DType::I64,
            Self { unsigned: true, .. } if !gaps => DType::U64,
            Self { float: true, .. } => DType::F64,
            // Integers that no float holds, with gaps: reading them reports what to do.
            Self { signed: true, .. } => DType::I64,
            Self { unsigned: true, .. } => DType::U64,
            _ => match self.units.first() {
                Some(unit) => unit.clone(),
                None if self.utf8 => self.text(name)?,
                None => self.bytes(name)?,
            },
        })
    }

    /// Text with the length of the longest cell.
    pub fn text(&self, name: &str) -> Result<DType> {
        Ok(DType::text(sound(name, self.chars)?)?)
    }

    /// Bytes with the length of the longest cell.
    pub fn bytes(&self, name: &str) -> Result<DType> {
        Ok(DType::bytes(sound(name, self.bytes)?)?)
    }
}

fn sound(name: &str, longest: u64) -> Result<u64> {
    if longest > LONGEST {
        return Err(long_string(Format::Csv, name, longest));
    }
    Ok(longest.max(1))
}

/// The length of bytes that are written as `{"hex": "..."}`.
fn escaped(text: &str) -> Option<usize> {
    let digits = text.strip_prefix("{\"hex\":")?.strip_suffix("\"}")?;
    let digits = digits.trim_ascii_start().strip_prefix('"')?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    (is_hex && digits.len().is_multiple_of(2)).then_some(digits.len() / 2)
}

/// Whether a number without its sign begins with a digit or a point.
fn is_digit_first(text: &[u8]) -> bool {
    matches!(text, [b'0'..=b'9' | b'.', ..])
}

/// Whether a float keeps all digits of its text: rounded to as many digits, it is the same number. An integer that is written
/// in full must also be the shortest text of the float.
///
/// For example, `0.1` and `1.000000000000000056e-01`, the same float with more digits, do; `9007199254740993` and `1e-400` do
/// not.
fn keeps_digits(text: &str, float: f64) -> bool {
    let text = text.trim_start_matches(['-', '+']);
    if !is_digit_first(text.as_bytes()) {
        return true; // NaN and infinity.
    }
    let mantissa = text.bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let digits = mantissa.filter(u8::is_ascii_digit);
    let count = digits.skip_while(|digit| *digit == b'0').count();
    if count == 0 || count <= KEPT_DIGITS && KEPT.contains(&float.abs()) {
        return true;
    }
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let exponent = || {
        let before = i64::try_from(whole.len()).ok()?;
        let zeros = i64::try_from(all.len() - digits.len()).ok()?;
        exponent
            .parse::<i64>()
            .ok()?
            .checked_add(before - zeros - 1)
    };
    let Some(exponent) = exponent().filter(|_| digits.len() <= MOST_DIGITS) else {
        return false;
    };
    let is_text = |digits: &str, of: String| {
        let (first, rest) = digits.split_at_checked(1).unwrap_or_default();
        let point = if rest.is_empty() { "" } else { "." };
        of == format!("{first}{point}{rest}e{exponent}")
    };
    let float = float.abs();
    is_text(digits, format!("{float:.*e}", digits.len() - 1))
        && (!is_whole || is_text(digits.trim_end_matches('0'), format!("{float:e}")))
}

#[cfg(test)]
mod tests {
    use super::keeps_digits;

    /// The texts of the first list are `repr(float(text))` of Python, or `'%.18e' % float(text)` and the like; those of the second
    /// differ from `decimal.Decimal(float(text))` within their own digits.
    #[test]
    fn a_float_keeps_digits_or_not() {
        for text in [
            "0",
            "-0.000",
            "0e999",
            "1.50",
            "+1.5e-7",
            ".5",
            "5.",
            "1e300",
            "1.7976931348623157e308",
            "5e-324",
            "4.9E-324",
            "2.2250738585072014e-308",
            "0.30000000000000004",
            "1.000000000000000056e-01",
            "9007199254740992",
            "9007199254740994",
            "100000000000000000000",
            "1e22",
            "123456789012345",
            "nan",
            "-inf",
        ] {
            assert!(keeps_digits(text, text.parse().unwrap()), "{text}");
        }
        for text in [
            "9007199254740993",
            "1e-400",
            "1.234567e-320",
            "0.1234567890123456789",
            "3.14159265358979323846",
            "12345678901234567000",
            "36893488147419103232",
            "9007199254740993.5",
            "1e-99999999999999999999",
        ] {
            assert!(!keeps_digits(text, text.parse().unwrap()), "{text}");
        }
    }
}
