//! The type of a column, guessed from all of its cells.

use crate::error::ExchangeError;
use crate::format::Format;
use crate::int::to_u64;
use bloscpack_dtype::{DType, TimeBase, TimeUnit};
use bloscpack_error::Result;

/// Length of a string, in characters or bytes, above which a column of such strings is not intended.
const LONGEST: u64 = 1 << 16;
/// Whole numbers up to here are floats without loss.
const EXACT: i128 = 1 << 53;
/// From the coarsest on.
const UNITS: [TimeBase; 5] = [
    TimeBase::Day,
    TimeBase::Second,
    TimeBase::Milli,
    TimeBase::Micro,
    TimeBase::Nano,
];

/// The types that the cells so far allow.
pub(super) struct Guess {
    /// Whether there was a cell with something in it, and one without.
    any: bool,
    empty: bool,
    /// Whether there was a cell with a word for a missing value, which is text among text.
    missing: bool,
    truth: bool,
    signed: bool,
    unsigned: bool,
    /// Whether the whole numbers are floats, too.
    exact: bool,
    float: bool,
    /// The units that all times can be counted in.
    units: Vec<DType>,
    utf8: bool,
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
            exact: true,
            float: true,
            units: UNITS.iter().filter_map(unit).collect(),
            utf8: true,
            chars: 0,
            bytes: 0,
        }
    }

    /// Looks at one more cell. `missing` if it stands for a missing value, should the others be no text.
    pub fn see(&mut self, cell: &[u8], missing: bool) {
        if cell.is_empty() {
            self.empty = true;
            return;
        }
        if let (true, Ok(text)) = (missing, std::str::from_utf8(cell)) {
            self.missing = true;
            return self.measure(text.chars().count(), cell.len());
        }
        self.any = true;
        let Ok(text) = std::str::from_utf8(cell) else {
            self.measure(cell.len(), cell.len());
            self.utf8 = false;
            self.no_value();
            return;
        };
        let chars = text.chars().count();
        match escaped(text) {
            // Bytes that are not text were written so.
            Some(len) => {
                self.measure(len, len);
                self.utf8 = false;
            }
            None => self.measure(chars, cell.len()),
        }
        self.truth &= matches!(text, "true" | "false" | "True" | "False");
        self.see_number(text);
        // A year and a month alone may be anything.
        if text.len() < 10 {
            self.units.clear();
        }
        let mut count = [0; 8];
        self.units
            .retain(|unit| unit.parse_text(text, &mut count).is_ok());
    }

    fn see_number(&mut self, text: &str) {
        if !(self.signed || self.unsigned || self.float) {
            return;
        }
        // A value with leading zeros is a name rather than a number, and would lose them.
        let digits = text.trim_start_matches(['-', '+']);
        let named = digits.len() > 1
            && digits.starts_with('0')
            && digits.bytes().all(|digit| digit.is_ascii_digit());
        let whole: Option<i128> = text.parse().ok().filter(|_| !named);
        let fits = |bound: &dyn Fn(i128) -> bool| whole.is_some_and(bound);
        self.signed &= fits(&|number| i64::try_from(number).is_ok());
        self.unsigned &= fits(&|number| u64::try_from(number).is_ok());
        self.exact &= whole.is_none_or(|number| number.abs() <= EXACT);
        self.float &= !named && self.exact && DType::F64.parse_text(text, &mut [0; 8]).is_ok();
    }

    fn no_value(&mut self) {
        (self.truth, self.signed, self.unsigned, self.float) = (false, false, false, false);
        self.units.clear();
    }

    fn measure(&mut self, chars: usize, bytes: usize) {
        let longer = |known: u64, len: usize| known.max(to_u64(len));
        (self.chars, self.bytes) = (longer(self.chars, chars), longer(self.bytes, bytes));
    }

    /// Whether a cell is empty, or stands for a missing value.
    pub fn has_gaps(&self) -> bool {
        self.empty || self.missing
    }

    /// The type of the column; `filled` if empty cells get a value.
    pub fn dtype(&self, name: &str, filled: bool) -> Result<DType> {
        let gaps = self.has_gaps() && !filled;
        Ok(match self {
            // Nothing shows that these would be numbers.
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
            // Whole numbers that no float holds, with gaps: reading says what to do.
            Self { signed: true, .. } => DType::I64,
            Self { unsigned: true, .. } => DType::U64,
            _ => match self.units.first() {
                Some(unit) => unit.clone(),
                None if self.utf8 => self.text(name)?,
                None => self.bytes(name)?,
            },
        })
    }

    /// Text as long as the longest.
    pub fn text(&self, name: &str) -> Result<DType> {
        Ok(DType::text(sound(name, self.chars)?)?)
    }

    /// Bytes as long as the longest.
    pub fn bytes(&self, name: &str) -> Result<DType> {
        Ok(DType::bytes(sound(name, self.bytes)?)?)
    }
}

fn sound(name: &str, longest: u64) -> Result<u64> {
    if longest > LONGEST {
        return Err(ExchangeError::LongString {
            format: Format::Csv,
            column: name.to_owned(),
            found: longest,
            limit: LONGEST,
        }
        .into());
    }
    Ok(longest.max(1))
}

/// Bytes in `{"hex": "..."}`.
fn escaped(text: &str) -> Option<usize> {
    let digits = text.strip_prefix("{\"hex\":")?.strip_suffix("\"}")?;
    Some(digits.trim_start().strip_prefix('"')?.len() / 2)
}
