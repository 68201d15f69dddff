//! Parsers of option values.

use std::ffi::OsStr;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::LazyLock;

use bloscpack::{
    Checksum, Compressor, Filter, FormatVersion,
    blosc::{Aim, MAX_NBYTES},
    dtype::DType,
};
use bloscpack_open::{Bounds, Slice, exchange::Format};
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use crate::layout::{ArrayLayout, ZarrVersion};
use bloscpack_open::internal::size;

/// The compressors of this build.
pub static CODECS: LazyLock<Vec<Compressor>> = LazyLock::new(|| {
    let all = Compressor::ALL.into_iter();
    all.filter(|codec| codec.is_available()).collect()
});

/// Parses `--codec`.
pub fn codec() -> impl TypedValueParser<Value = Compressor> {
    named(&CODECS, Compressor::name)
}

/// Parses `--checksum`.
pub fn checksum() -> impl TypedValueParser<Value = Checksum> {
    named(&Checksum::ALL, Checksum::name)
}

/// Parses `--shuffle`.
pub fn filter() -> impl TypedValueParser<Value = Filter> {
    named(&[Filter::None, Filter::Byte, Filter::Bit], Filter::name)
}

/// Parses `--auto` of `info`.
pub fn aim() -> impl TypedValueParser<Value = Aim> {
    named(&Aim::ALL, Aim::name)
}

/// How settings that are not given are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto {
    /// By a sample of the data.
    Aim(Aim),
    /// They are the defaults.
    Off,
}

impl Auto {
    /// All of them, in the order of the help.
    const ALL: [Self; 4] = [
        Self::Aim(Aim::Speed),
        Self::Aim(Aim::Balance),
        Self::Aim(Aim::Size),
        Self::Off,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Aim(aim) => aim.name(),
            Self::Off => "off",
        }
    }
}

/// Parses `--auto` of `compress`.
pub fn auto() -> impl TypedValueParser<Value = Auto> {
    named(&Auto::ALL, Auto::name)
}

/// Parses `--layout`.
pub fn array_layout() -> impl TypedValueParser<Value = ArrayLayout> {
    named(ArrayLayout::IMPORTED, ArrayLayout::name)
}

/// Parses `--layout` of `convert`. Zarr without a version is the newest one.
pub fn converted_layout() -> impl TypedValueParser<Value = ArrayLayout> {
    let names = ArrayLayout::ALL.iter().map(|layout| match layout {
        ArrayLayout::Zarr(ZarrVersion::V3) => PossibleValue::new(layout.name()).alias("zarr"),
        _ => PossibleValue::new(layout.name()),
    });
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|text: String| {
        let name = match text.as_str() {
            "zarr" => "zarr3",
            name => name,
        };
        let mut all = ArrayLayout::ALL.into_iter();
        let found = all.find(|layout| layout.name().eq_ignore_ascii_case(name));
        found.ok_or("unknown name")
    })
}

/// Parses one of `all` by its name.
fn named<T>(
    all: &'static [T],
    name: impl Fn(T) -> &'static str + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names = all.iter().map(|&one| PossibleValue::new(name(one)));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(move |text: String| {
        let found = all.iter().copied();
        let mut found = found.filter(|&one| name(one).eq_ignore_ascii_case(&text));
        found.next().ok_or("unknown name")
    })
}

/// Parses `--from`.
pub fn format_read() -> impl TypedValueParser<Value = Format> {
    Formats(&["npy", "npz", "csv", "tsv", "arrow", "parquet"])
}

/// Parses `--to`.
pub fn format_written() -> impl TypedValueParser<Value = Format> {
    Formats(&[
        "npy", "csv", "tsv", "jsonl", "arrow", "arrows", "parquet", "bin",
    ])
}

/// Parses a format: any extension of a file name, with or without its dot. These are listed.
#[derive(Clone)]
struct Formats(&'static [&'static str]);

impl TypedValueParser for Formats {
    type Value = Format;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        text: &OsStr,
    ) -> Result<Format, clap::Error> {
        let names = self.0;
        let format = move |text: String| {
            let path = format!("x.{}", text.trim_start_matches('.'));
            Format::of_path(path).ok_or_else(|| format!("expected one of {}", names.join(", ")))
        };
        let parser = StringValueParser::new().try_map(format);
        parser.parse_ref(command, arg, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

/// Parses `--dtype`.
pub fn dtype(text: &str) -> Result<DType, String> {
    DType::parse(text).map_err(|error| error.to_string())
}

/// Parses `--format`.
pub fn header_format(text: &str) -> Result<FormatVersion, String> {
    match number(text, 1..=3)? {
        1 => Ok(FormatVersion::V1),
        2 => Ok(FormatVersion::V2),
        _ => Ok(FormatVersion::V3),
    }
}

/// Parses `--level`.
pub fn level(text: &str) -> Result<u8, String> {
    number(text, 0..=9)
}

/// Parses `--typesize`.
pub fn typesize(text: &str) -> Result<u8, String> {
    number(text, 1..=u8::MAX).map_err(|_| "expected a number of bytes, 1 to 255".to_owned())
}

/// Parses a number within these bounds.
pub fn number<T: Display + FromStr + PartialOrd>(
    text: &str,
    bounds: RangeInclusive<T>,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| bounds.contains(number));
    number.ok_or_else(|| format!("must be {} to {}", bounds.start(), bounds.end()))
}

/// Parses a count.
pub fn count(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(count) if digits => Ok(count),
        _ if digits => Err(format!("must be at most {}", u64::MAX)),
        _ => Err("expected a whole number such as 0 or 12".into()),
    }
}

/// Parses a position in a list.
pub fn index(text: &str) -> Result<usize, String> {
    usize::try_from(count(text)?).map_err(|error| error.to_string())
}

/// Parses `A..B`, where either bound may be missing, with the parser of a bound.
pub fn range(
    text: &str,
    bound: impl Fn(&str) -> Result<u64, String>,
) -> Result<(u64, Option<u64>), String> {
    let (start, end) = text
        .split_once("..")
        .ok_or("expected a range: A..B, A.. or ..B")?;
    if end.starts_with('.') {
        return Err("a range has two dots".into());
    }
    let bound = |text: &str| (!text.is_empty()).then(|| bound(text)).transpose();
    let (start, end) = (bound(start)?.unwrap_or(0), bound(end)?);
    if end.is_some_and(|end| end < start) {
        return Err("a range must not end before it starts".into());
    }
    Ok((start, end))
}

/// Parses `--rows`.
pub fn rows(text: &str) -> Result<Bounds, String> {
    let (start, end) = range(text, count)?;
    Ok(Bounds { start, end })
}

/// Parses `--range`.
pub fn bytes(text: &str) -> Result<Bounds, String> {
    let (start, end) = range(text, size::parse)?;
    Ok(Bounds { start, end })
}

/// Parses `--slice`.
pub fn slice(text: &str) -> Result<Slice, String> {
    text.parse()
}

/// Parses `--chunk-size`.
pub fn chunk_size(text: &str) -> Result<u32, String> {
    if text == "max" {
        return Ok(MAX_NBYTES);
    }
    let bytes = size::parse_rounded(text).map_err(|error| format!("{error} (or 'max')"))?;
    let bytes = u32::try_from(bytes).ok();
    let bytes = bytes.filter(|bytes| (1..=MAX_NBYTES).contains(bytes));
    bytes.ok_or_else(|| format!("must be 1 to {MAX_NBYTES} bytes ('max')"))
}

#[cfg(test)]
mod tests {
    use super::{Bounds, bytes, chunk_size, count, number, range};

    #[test]
    fn chunk_sizes() {
        assert_eq!(chunk_size("max"), Ok(2_147_483_631));
        assert_eq!(chunk_size("1M"), Ok(1 << 20));
        for wrong in ["0", "3G", "", "-1", "MAX"] {
            assert!(chunk_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(number("9", 0..=9), Ok(9));
        for wrong in ["10", "-1", "", "x"] {
            let told = number::<u8>(wrong, 0..=9).unwrap_err();
            assert_eq!(told, "must be 0 to 9", "{wrong}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count("0"), Ok(0));
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        for wrong in ["", "-1", "+1", "1K", "a", "1..2", "18446744073709551616"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges_of_bytes_have_units() {
        let range = |start, end| Ok(Bounds { start, end });
        assert_eq!(bytes("1K..1M"), range(1024, Some(1 << 20)));
        assert_eq!(bytes(".."), range(0, None));
        for wrong in ["", "5", "7..3", "0...5", "-1..2"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges() {
        assert_eq!(range("3..7", count), Ok((3, Some(7))));
        assert_eq!(range("3..", count), Ok((3, None)));
        assert_eq!(range("..7", count), Ok((0, Some(7))));
        assert_eq!(range("..", count), Ok((0, None)));
        assert_eq!(range("5..5", count), Ok((5, Some(5))));
        for wrong in ["", "5", "7..3", "a..b", "1..=2", "1...2", "-1..2", "1K..2K"] {
            assert!(range(wrong, count).is_err(), "{wrong}");
        }
    }
}
