//! Parses names and codes: `int64`, `<f8`, `|S10`, `datetime64[ns]`.

use super::error::DTypeError;
use super::{ByteOrder, DType, Kind, TimeUnit};

/// The dtype with this name. Names whose size depends on the machine, such as `int`, are refused.
pub(super) fn of_name(name: &str) -> Result<DType, DTypeError> {
    let unknown = || DTypeError::not(name, "a NumPy type known here");
    if let Some((kind, itemsize)) = of_word(name) {
        return DType::new(kind, ByteOrder::Little, itemsize);
    }
    let code = name.strip_prefix(['<', '>', '|', '=']).unwrap_or(name);
    let order = if name.starts_with('>') {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    };
    if let Some((kind, unit)) = of_time(code) {
        return DType::new(kind(unit?), order, 8);
    }
    let mut rest = code.chars();
    let letter = rest.next().ok_or_else(unknown)?;
    let digits = rest.as_str();
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(unknown());
    }
    let found = match digits {
        "" => of_letter(letter),
        _ => digits.parse().ok().and_then(|count| of_kind(letter, count)),
    };
    let (kind, itemsize) = found.ok_or_else(unknown)?;
    DType::new(kind, order, itemsize)
}

/// The kind and item size of names that mean the same on every machine.
fn of_word(name: &str) -> Option<(Kind, u64)> {
    Some(match name {
        "bool" | "bool_" => (Kind::Bool, 1),
        "int8" | "byte" => (Kind::Int, 1),
        "int16" | "short" => (Kind::Int, 2),
        "int32" | "intc" => (Kind::Int, 4),
        "int64" | "longlong" => (Kind::Int, 8),
        "uint8" | "ubyte" => (Kind::Uint, 1),
        "uint16" | "ushort" => (Kind::Uint, 2),
        "uint32" | "uintc" => (Kind::Uint, 4),
        "uint64" | "ulonglong" => (Kind::Uint, 8),
        "float16" | "half" => (Kind::Float, 2),
        "float32" | "single" => (Kind::Float, 4),
        "float64" | "double" | "float" => (Kind::Float, 8),
        "float96" => (Kind::Float, 12),
        "float128" => (Kind::Float, 16),
        "complex64" | "csingle" => (Kind::Complex, 8),
        "complex128" | "cdouble" | "complex" => (Kind::Complex, 16),
        "complex192" => (Kind::Complex, 24),
        "complex256" => (Kind::Complex, 32),
        "object" | "object_" => (Kind::Object, 8),
        _ => return None,
    })
}

type OfUnit = fn(TimeUnit) -> Kind;

/// The kind and unit of `M8[ns]`, `timedelta64` and the like; `None` for other codes.
fn of_time(code: &str) -> Option<(OfUnit, Result<TimeUnit, DTypeError>)> {
    const NAMES: [(&str, OfUnit); 4] = [
        ("M8", Kind::Datetime),
        ("datetime64", Kind::Datetime),
        ("m8", Kind::Timedelta),
        ("timedelta64", Kind::Timedelta),
    ];
    let mut names = NAMES.iter();
    let (kind, rest) = names.find_map(|(name, kind)| Some((*kind, code.strip_prefix(name)?)))?;
    if rest.is_empty() {
        return Some((kind, Ok(TimeUnit::GENERIC)));
    }
    let unit = rest.strip_prefix('[')?.strip_suffix(']')?;
    Some((kind, TimeUnit::parse(unit)))
}

/// The kind and item size of a letter without a number. `l`, `p` and `g` are missing: their size depends on the machine.
fn of_letter(letter: char) -> Option<(Kind, u64)> {
    Some(match letter {
        '?' => (Kind::Bool, 1),
        'b' => (Kind::Int, 1),
        'h' => (Kind::Int, 2),
        'i' => (Kind::Int, 4),
        'q' => (Kind::Int, 8),
        'B' => (Kind::Uint, 1),
        'H' => (Kind::Uint, 2),
        'I' => (Kind::Uint, 4),
        'Q' => (Kind::Uint, 8),
        'e' => (Kind::Float, 2),
        'f' => (Kind::Float, 4),
        'd' => (Kind::Float, 8),
        'F' => (Kind::Complex, 8),
        'D' => (Kind::Complex, 16),
        'S' | 'a' => (Kind::Bytes, 0),
        'U' => (Kind::Text, 0),
        'V' => (Kind::Void, 0),
        'O' => (Kind::Object, 8),
        _ => return None,
    })
}

/// The kind and item size of a letter with a number, which counts bytes, or characters of four bytes for `U`.
fn of_kind(letter: char, count: u64) -> Option<(Kind, u64)> {
    let known = match letter {
        'b' => (Kind::Bool, count == 1),
        'i' => (Kind::Int, matches!(count, 1 | 2 | 4 | 8)),
        'u' => (Kind::Uint, matches!(count, 1 | 2 | 4 | 8)),
        'f' => (Kind::Float, matches!(count, 2 | 4 | 8 | 12 | 16)),
        'c' => (Kind::Complex, matches!(count, 8 | 16 | 24 | 32)),
        'S' | 'a' => (Kind::Bytes, true),
        'V' => (Kind::Void, true),
        'U' => return Some((Kind::Text, count.checked_mul(4)?)),
        // Pointers on machines of 32 and 64 bits.
        'O' if matches!(count, 4 | 8) => return Some((Kind::Object, 8)),
        _ => return None,
    };
    known.1.then_some((known.0, count))
}
