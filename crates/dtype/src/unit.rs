//! Time units in NumPy's spelling: `ns`, `25s`.

use super::{DTypeError, TimeBase, TimeUnit};
use std::fmt;

const CODES: [(TimeBase, &str); 13] = [
    (TimeBase::Year, "Y"),
    (TimeBase::Month, "M"),
    (TimeBase::Week, "W"),
    (TimeBase::Day, "D"),
    (TimeBase::Hour, "h"),
    (TimeBase::Minute, "m"),
    (TimeBase::Second, "s"),
    (TimeBase::Milli, "ms"),
    (TimeBase::Micro, "us"),
    (TimeBase::Nano, "ns"),
    (TimeBase::Pico, "ps"),
    (TimeBase::Femto, "fs"),
    (TimeBase::Atto, "as"),
];

impl TimeBase {
    /// NumPy's letters for the unit: `Y`, `M`, `W`, `D`, `h`, `m`, `s`, `ms` to `as`.
    ///
    /// ```
    /// assert_eq!(bloscpack_dtype::TimeBase::Nano.code(), "ns");
    /// ```
    #[must_use]
    pub fn code(self) -> &'static str {
        let mut codes = CODES.iter();
        let found = codes.find(|(base, _)| *base == self);
        found.map_or("", |(_, code)| *code)
    }
}

impl TimeUnit {
    /// NumPy's generic unit, as of `datetime64` without brackets: elements are counts without a meaning.
    pub const GENERIC: Self = Self {
        base: None,
        count: 1,
    };

    /// The unit of one base unit per step.
    ///
    /// ```
    /// use bloscpack_dtype::{TimeBase, TimeUnit};
    /// assert_eq!(TimeUnit::one(TimeBase::Second).to_string(), "s");
    /// ```
    #[must_use]
    pub const fn one(base: TimeBase) -> Self {
        Self {
            base: Some(base),
            count: 1,
        }
    }

    /// Parses the text between the brackets: `ns`, `25s`, `generic`.
    pub(super) fn parse(text: &str) -> Result<Self, DTypeError> {
        let wrong = || DTypeError::not(text, "a unit of time");
        if text == "generic" {
            return Ok(Self::GENERIC);
        }
        let code = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = match text.strip_suffix(code) {
            None | Some("") => 1,
            Some(digits) => digits.parse().map_err(|_| wrong())?,
        };
        let mut codes = CODES.iter();
        let (base, _) = codes.find(|(_, known)| *known == code).ok_or_else(wrong)?;
        let base = Some(*base);
        Self { base, count }.checked()
    }

    /// Checks the count, and sets it to 1 for the generic unit.
    pub(super) fn checked(self) -> Result<Self, DTypeError> {
        match self.base {
            None => Ok(Self::GENERIC),
            Some(_) if (1..=i32::MAX.unsigned_abs()).contains(&self.count) => Ok(self),
            Some(_) => Err(DTypeError::invalid(format!(
                "unit of time with steps of {}, expected 1 to {}",
                self.count,
                i32::MAX
            ))),
        }
    }
}

/// Writes the text between the brackets of `datetime64[25s]`; `generic` for the generic unit.
impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.base, self.count) {
            (None, _) => f.write_str("generic"),
            (Some(base), 1) => f.write_str(base.code()),
            (Some(base), count) => write!(f, "{count}{}", base.code()),
        }
    }
}
