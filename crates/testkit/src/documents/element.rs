//! The properties of a dtype that are needed to read bytes.

use super::{python, size};
use serde_json::Value;

/// One element of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// NumPy's letter: `b` for truth values, `i u f c M m S U V O`, and `V` for fields.
    pub kind: char,
    /// In bytes; of an object, of which there is no size, 0.
    pub size: usize,
    /// Whether it has fields.
    pub fields: bool,
}

impl Element {
    /// Reads `float64`, `datetime64[ns]`, `>i4`, `|S10`, `[('a', '<i4'), ('b', '<f8')]` and
    /// `{'names': ...}`.
    pub fn of(dtype: &str) -> Self {
        if dtype.starts_with(['[', '{']) {
            let (kind, fields) = ('V', true);
            let size = fields_size(&python::literal(dtype));
            return Self { kind, size, fields };
        }
        let (kind, size) = long_name(dtype).unwrap_or_else(|| short_name(dtype));
        let fields = false;
        Self { kind, size, fields }
    }

    /// The typesize that bcolz gives Blosc for such elements.
    pub fn typesize(self) -> u8 {
        match self.kind {
            'S' | 'O' => 1,
            'U' => 4,
            'V' if self.size > 255 => 1,
            _ => self.size.try_into().unwrap(),
        }
    }

    /// Whether JSON's value can be the default of such elements; structured ones have a list with
    /// one for each field.
    pub fn may_be(self, value: &Value) -> bool {
        let no_number = ["NaN", "Infinity", "-Infinity"];
        match self.kind {
            'b' => value.is_boolean(),
            'i' => value.is_i64(),
            'u' => value.is_u64(),
            'f' => value.is_number() || value.as_str().is_some_and(|t| no_number.contains(&t)),
            'M' | 'm' => value.is_i64() || value.is_null(),
            'V' if self.fields => value.is_array(),
            'S' => value.as_str().is_some_and(|text| text.len() <= self.size),
            'U' => value
                .as_str()
                .is_some_and(|t| 4 * t.chars().count() <= self.size),
            'V' => value.is_string(),
            // bcolz cannot write a complex default.
            _ => true,
        }
    }
}

/// Whether elements of several bytes begin with the highest.
pub fn is_big_endian(dtype: &str) -> bool {
    dtype.starts_with('>')
}

fn long_name(dtype: &str) -> Option<(char, usize)> {
    let unit = |name: &str| {
        let unit = dtype.strip_prefix(name)?;
        (unit.is_empty() || unit.starts_with('[') && unit.ends_with(']')).then_some(8)
    };
    let bits = |name: &str, known: &[usize]| {
        let bits = dtype.strip_prefix(name)?.parse().ok()?;
        known.contains(&bits).then_some(bits / 8)
    };
    None.or_else(|| Some(('b', (dtype == "bool").then_some(1)?)))
        .or_else(|| Some(('O', (dtype == "object").then_some(0)?)))
        .or_else(|| Some(('M', unit("datetime64")?)))
        .or_else(|| Some(('m', unit("timedelta64")?)))
        .or_else(|| Some(('i', bits("int", &[8, 16, 32, 64])?)))
        .or_else(|| Some(('u', bits("uint", &[8, 16, 32, 64])?)))
        .or_else(|| Some(('f', bits("float", &[16, 32, 64])?)))
        .or_else(|| Some(('c', bits("complex", &[64, 128])?)))
}

fn short_name(dtype: &str) -> (char, usize) {
    let rest = dtype.strip_prefix(['<', '>', '|']);
    let mut letters = rest.unwrap_or(dtype).chars();
    let kind = letters.next().unwrap_or(' ');
    let digits = letters.as_str();
    let digits = digits.split_once('[').map_or(digits, |(digits, _)| digits);
    let digits: usize = digits.parse().unwrap_or_else(|_| panic!("dtype {dtype:?}"));
    let known: &[usize] = match kind {
        'S' | 'V' => return (kind, digits),
        'U' => return (kind, 4 * digits),
        'b' => &[1],
        'i' | 'u' => &[1, 2, 4, 8],
        'f' => &[2, 4, 8],
        'c' => &[8, 16],
        'M' | 'm' => &[8],
        _ => &[],
    };
    assert!(known.contains(&digits), "dtype {dtype:?}");
    (kind, digits)
}

fn fields_size(fields: &Value) -> usize {
    match fields {
        Value::Object(of) => size(of["itemsize"].as_u64().unwrap()),
        Value::Array(fields) => fields.iter().map(field_size).sum(),
        other => panic!("fields {other}"),
    }
}

/// The size of a field, given as a name, a dtype and perhaps the shape of a sub-array.
fn field_size(field: &Value) -> usize {
    let one = match &field[1] {
        Value::String(dtype) => Element::of(dtype).size,
        nested => fields_size(nested),
    };
    let shape = field.get(2).map_or(Vec::new(), super::numbers);
    one * size(super::product(&shape))
}
