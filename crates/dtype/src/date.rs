//! Datetimes as text: ISO 8601 without a time zone, as NumPy writes it.
//!
//! The calendar is 40 lines here, so that users of this crate do not have to compile a calendar crate.

use super::error::DTypeError;
use super::{TimeBase, TimeUnit};
use std::fmt::Write;

/// Days of 400 years, after which the calendar repeats.
const DAYS_OF_ERA: i64 = 146_097;
/// Days from 1 March of the year 0 to 1 January 1970.
const DAYS_BEFORE_1970: i64 = 719_468;
/// Years of four digits: ISO 8601 allows others only by agreement.
const YEARS: std::ops::RangeInclusive<i128> = -9999..=9999;
const SECONDS_OF_DAY: i128 = 86_400;
/// An attosecond is the smallest unit.
const ATTOS: i128 = 1_000_000_000_000_000_000;

/// The size of a base unit.
enum Scale {
    Years,
    Months,
    /// A number of days.
    Days(i128),
    /// A number of seconds.
    Seconds(i128),
    /// A number of digits after the seconds.
    Digits(u32),
}

fn scale(base: TimeBase) -> Scale {
    match base {
        TimeBase::Year => Scale::Years,
        TimeBase::Month => Scale::Months,
        TimeBase::Week => Scale::Days(7),
        TimeBase::Day => Scale::Days(1),
        TimeBase::Hour => Scale::Seconds(3600),
        TimeBase::Minute => Scale::Seconds(60),
        TimeBase::Second => Scale::Seconds(1),
        TimeBase::Milli => Scale::Digits(3),
        TimeBase::Micro => Scale::Digits(6),
        TimeBase::Nano => Scale::Digits(9),
        TimeBase::Pico => Scale::Digits(12),
        TimeBase::Femto => Scale::Digits(15),
        TimeBase::Atto => Scale::Digits(18),
    }
}

/// The attoseconds of a unit from an hour down; `None` for longer units.
fn attos(scale: &Scale) -> Option<i128> {
    match scale {
        Scale::Seconds(seconds) => Some(seconds * ATTOS),
        Scale::Digits(digits) => Some(ATTOS / 10_i128.pow(*digits)),
        Scale::Years | Scale::Months | Scale::Days(_) => None,
    }
}

/// A date and the time of day.
#[derive(Debug, PartialEq, Eq)]
struct Moment {
    year: i64,
    /// 1 to 12.
    month: i64,
    /// 1 to 31.
    day: i64,
    /// Attoseconds since midnight.
    attos: i128,
}

/// A count as text, to the precision of its unit; `None` for the generic unit, and if the year has more than four digits.
pub(super) fn spelled(count: i64, unit: TimeUnit) -> Option<String> {
    let scale = scale(unit.base?);
    let total = i128::from(count) * i128::from(unit.count);
    let moment = moment(total, &scale)?;
    YEARS.contains(&moment.year.into()).then_some(())?;
    let (sign, year) = (if moment.year < 0 { "-" } else { "" }, moment.year.abs());
    let mut text = format!("{sign}{year:04}");
    // Writing to a string cannot fail.
    let _ = match scale {
        Scale::Years => Ok(()),
        Scale::Months => write!(text, "-{:02}", moment.month),
        _ => write!(text, "-{:02}-{:02}", moment.month, moment.day),
    };
    let (seconds, fraction) = (moment.attos / ATTOS, moment.attos % ATTOS);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let _ = match scale {
        Scale::Seconds(3600) => write!(text, "T{hour:02}"),
        Scale::Seconds(60) => write!(text, "T{hour:02}:{minute:02}"),
        Scale::Seconds(_) => write!(text, "T{hour:02}:{minute:02}:{second:02}"),
        Scale::Digits(digits) => {
            let (width, shown) = (digits as usize, fraction / 10_i128.pow(18 - digits));
            write!(text, "T{hour:02}:{minute:02}:{second:02}.{shown:0width$}")
        }
        _ => Ok(()),
    };
    Some(text)
}

/// The date and time of `total` base units since 1970; `None` if the year is too large.
fn moment(total: i128, scale: &Scale) -> Option<Moment> {
    let (year, month, day, attos) = match scale {
        Scale::Years => (total.checked_add(1970)?, 1, 1, 0),
        Scale::Months => {
            let (years, month) = (total.div_euclid(12), total.rem_euclid(12));
            (years + 1970, i64::try_from(month).ok()? + 1, 1, 0)
        }
        _ => {
            let (days, attos) = match scale {
                Scale::Days(days) => (total.checked_mul(*days)?, 0),
                _ => {
                    let each = attos(scale)?;
                    let of_day = SECONDS_OF_DAY * ATTOS / each;
                    (total.div_euclid(of_day), total.rem_euclid(of_day) * each)
                }
            };
            let (year, month, day) = civil(i64::try_from(days).ok()?)?;
            (year.into(), month, day, attos)
        }
    };
    let year = i64::try_from(year).ok()?;
    Some(Moment {
        year,
        month,
        day,
        attos,
    })
}

/// Year, month and day from days since 1970. Inside, years begin in March, which makes the leap day their last day.
fn civil(days: i64) -> Option<(i64, i64, i64)> {
    let days = days.checked_add(DAYS_BEFORE_1970)?;
    let (era, day) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era.checked_mul(400)? + year + i64::from(month <= 2);
    Some((year, month, day))
}

/// Days since 1970. Years have four digits, so that nothing overflows.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let month = (month + 9) % 12;
    let day = (153 * month + 2) / 5 + day - 1;
    era * DAYS_OF_ERA + year * 365 + year / 4 - year / 100 + day - DAYS_BEFORE_1970
}

/// The count that a text means: ISO 8601 as [`spelled`] writes it, more or less precise, optionally with a space for the `T`
/// and a final `Z`; or the count itself. Four digits are a year unless a `+` precedes them.
pub(super) fn parsed(text: &str, unit: TimeUnit) -> Result<i64, DTypeError> {
    let text = text.trim_ascii();
    let digits = text.trim_start_matches(['+', '-']);
    let is_count = digits.bytes().all(|digit| digit.is_ascii_digit());
    if is_count && (digits.len() != 4 || text.starts_with('+') || unit.base.is_none()) {
        let count = text.parse();
        return count.map_err(|_| DTypeError::not(text, "a time"));
    }
    let base = unit.base.ok_or_else(|| {
        DTypeError::not(text, "an integer, as a datetime64 without a unit requires")
    })?;
    let moment = read(text).ok_or_else(|| DTypeError::not(text, "a date and time of ISO 8601"))?;
    let total = total(&moment, &scale(base));
    let count = total.map(|total| {
        (
            total.div_euclid(unit.count.into()),
            total.rem_euclid(unit.count.into()),
        )
    });
    match count {
        Some((count, 0)) => i64::try_from(count)
            .ok()
            .filter(|count| *count != i64::MIN)
            .ok_or_else(|| DTypeError::too_large(text, format_args!("datetime64[{unit}]"))),
        _ => Err(DTypeError::not(text, format!("a whole number of {unit}"))),
    }
}

/// The number of base units since 1970; `None` if it is not whole.
fn total(moment: &Moment, scale: &Scale) -> Option<i128> {
    let (first, midnight) = (moment.day == 1, moment.attos == 0);
    let years = i128::from(moment.year) - 1970;
    let days = i128::from(days(moment.year, moment.month, moment.day));
    let whole = |amount: i128, of: i128| (amount % of == 0).then_some(amount / of);
    match scale {
        Scale::Years => (moment.month == 1 && first && midnight).then_some(years),
        Scale::Months if first && midnight => Some(years * 12 + i128::from(moment.month) - 1),
        Scale::Months => None,
        Scale::Days(each) if midnight => whole(days, *each),
        Scale::Days(_) => None,
        _ => {
            let each = attos(scale)?;
            let within = whole(moment.attos, each)?;
            Some(days * (SECONDS_OF_DAY * ATTOS / each) + within)
        }
    }
}

/// Reads a date, or a date and time.
fn read(text: &str) -> Option<Moment> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (date, time) = match unsigned.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (unsigned, None),
    };
    let mut parts = date.split('-');
    let year = sign * number(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |month| number(month, 2))?;
    let day = parts.next().map_or(Some(1), |day| number(day, 2))?;
    let is_date = parts.next().is_none()
        && (1..=12).contains(&month)
        && (1..=length(year, month)).contains(&day);
    // A time may only follow a complete date.
    let attos = match time {
        Some(time) if date.len() == 10 => read_time(time)?,
        Some(_) => return None,
        None => 0,
    };
    is_date.then_some(Moment {
        year,
        month,
        day,
        attos,
    })
}

/// Days in a month.
fn length(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap),
        _ => 31,
    }
}

/// Parses `09`, `09:15`, `09:15:00` or `09:15:00.123` into attoseconds.
fn read_time(text: &str) -> Option<i128> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let hour = number(parts.next()?, 2)?;
    let minute = parts.next().map_or(Some(0), |minute| number(minute, 2))?;
    let second = parts.next().map_or(Some(0), |second| number(second, 2))?;
    let sound = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
    let attos = match fraction {
        // A fraction may only follow seconds.
        Some(fraction) if clock.len() == 8 => fraction_of(fraction)?,
        Some(_) => return None,
        None => 0,
    };
    let seconds = i128::from(hour * 3600 + minute * 60 + second);
    sound.then_some(seconds * ATTOS + attos)
}

/// Converts up to 18 digits after the point to attoseconds.
fn fraction_of(digits: &str) -> Option<i128> {
    let missing = 18_usize.checked_sub(digits.len())?;
    let fraction = i128::from(number(digits, digits.len())?);
    Some(fraction * 10_i128.pow(u32::try_from(missing).ok()?))
}

/// Parses a number of exactly this many digits.
fn number(text: &str, digits: usize) -> Option<i64> {
    let sound = text.len() == digits && text.bytes().all(|digit| digit.is_ascii_digit());
    sound.then(|| text.parse().ok())?
}
