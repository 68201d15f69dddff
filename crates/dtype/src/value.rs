//! Elements as JSON values and as text.

use super::float::{Float, little};
use super::{ByteOrder, DType, Field, Kind, date};
use serde_json::{Map, Value, json};

/// The count that means "not a time" (NaT).
pub(super) const NOT_A_TIME: i64 = i64::MIN;

impl DType {
    /// Converts the bytes of an element to a JSON value.
    ///
    /// | elements | value |
    /// |---|---|
    /// | bool, integers | bool, number |
    /// | floats | number, with the fewest digits that identify it; `"inf"` or `"-inf"`; null for NaN |
    /// | complex numbers | `[re, im]` |
    /// | datetimes | ISO 8601 to the precision of the unit; the count for longer years and the generic unit; null for NaT |
    /// | timedeltas | the count; null for NaT |
    /// | bytes, text | string without the zeros at the end |
    /// | void | string of hexadecimal digits |
    /// | fields | object, with nested lists for fields that are arrays; an empty list if the array has no bytes |
    /// | bytes that are not UTF-8, text with invalid code points, extended floats | `{"hex": "..."}` |
    /// | objects | null |
    ///
    /// Longer years have more than four digits. Returns null if `element` is not [`itemsize`](DType::itemsize) bytes long.
    /// [`DType::from_value`] restores the element, except for the bits of NaNs, bools other than 0 and 1, and padding.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    /// use serde_json::json;
    ///
    /// assert_eq!(DType::parse(">i2")?.value(&[1, 0]), json!(256));
    /// assert_eq!(DType::bytes(4)?.value(b"ab\0\0"), json!("ab"));
    /// let moment = 1_456_823_700_123_456_789_i64.to_le_bytes();
    /// let dtype = DType::parse("datetime64[ns]")?;
    /// assert_eq!(dtype.value(&moment), json!("2016-03-01T09:15:00.123456789"));
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    #[must_use]
    pub fn value(&self, element: &[u8]) -> Value {
        self.maybe_value(element).unwrap_or(Value::Null)
    }

    fn maybe_value(&self, element: &[u8]) -> Option<Value> {
        self.is_whole(element).then_some(())?;
        let order = self.order;
        Some(match &self.kind {
            Kind::Bool => (*element.first()? != 0).into(),
            Kind::Int => signed(element, order)?.into(),
            Kind::Uint => unsigned(element, order)?.into(),
            Kind::Float => {
                Float::read(element, order).map_or_else(|| hex_value(element), Float::value)
            }
            Kind::Complex => match parts(element, order) {
                Some((re, im)) => json!([re.value(), im.value()]),
                None => hex_value(element),
            },
            Kind::Bytes => match std::str::from_utf8(without_zeros(element)) {
                Ok(text) => text.into(),
                Err(_) => hex_value(without_zeros(element)),
            },
            Kind::Text => {
                characters(element, order).map_or_else(|| hex_value(element), Value::from)
            }
            Kind::Datetime(unit) => match signed(element, order)? {
                NOT_A_TIME => Value::Null,
                count => date::spelled(count, *unit).map_or_else(|| count.into(), Value::from),
            },
            Kind::Timedelta(_) => match signed(element, order)? {
                NOT_A_TIME => Value::Null,
                count => count.into(),
            },
            Kind::Void => hex(element).into(),
            Kind::Struct(of) => {
                let fields = of.fields.iter();
                let members = fields.map(|field| Some((field.name.clone(), field.value(element)?)));
                Value::Object(members.collect::<Option<Map<_, _>>>()?)
            }
            Kind::Object => return None,
        })
    }

    /// Appends an element to `text`, as for a cell of a CSV file. Nothing is escaped for CSV.
    ///
    /// Elements are written as [`DType::value`] converts them, with these exceptions: floats may be `nan`, `inf` and `-inf`,
    /// complex numbers are `1.0+2.0j`, and "not a time" is empty. Strings have no quotes, and fields are JSON. A string that
    /// looks like `{"hex": "..."}` is written in that form, and a count of 1000 to 9999 with a `+`, so that
    /// [`DType::parse_text`] reads them back.
    ///
    /// Objects, and an `element` of another length than [`itemsize`](DType::itemsize), append nothing.
    ///
    /// ```
    /// let mut text = String::new();
    /// bloscpack_dtype::DType::F32.write_text(&0.1_f32.to_le_bytes(), &mut text);
    /// assert_eq!(text, "0.1");
    /// ```
    pub fn write_text(&self, element: &[u8], text: &mut String) {
        if self.is_whole(element) {
            self.write_whole(element, text);
        }
    }

    fn write_whole(&self, element: &[u8], text: &mut String) {
        let (float, both) = match &self.kind {
            Kind::Float => (Float::read(element, self.order), None),
            Kind::Complex => (None, parts(element, self.order)),
            _ => (None, None),
        };
        if let Some(float) = float {
            return text.push_str(&float.text());
        }
        if let Some((re, im)) = both {
            let im = im.text();
            let plus = if im.starts_with('-') { "" } else { "+" };
            text.extend([&re.text(), plus, &im, "j"]);
            return;
        }
        let time = matches!(self.kind, Kind::Datetime(_));
        match self.value(element) {
            Value::Null => {}
            // A string that looks like the escape is escaped itself.
            Value::String(found) if from_hex_object(&found).is_some() => {
                text.push_str(&hex_value(element).to_string());
            }
            Value::String(found) => text.push_str(&found),
            // Without the sign, four digits would be read as a year.
            Value::Number(count) if time && matches!(count.as_u64(), Some(1000..=9999)) => {
                text.extend(["+", &count.to_string()]);
            }
            other => text.push_str(&other.to_string()),
        }
    }

    /// Whether the dtype has values for which [`is_nan`](Self::is_nan) is true: floats of up to 8 bytes, complex numbers of up
    /// to 16, and times.
    #[must_use]
    pub fn has_nan(&self) -> bool {
        match self.kind {
            Kind::Float => self.itemsize <= 8,
            Kind::Complex => self.itemsize <= 16,
            Kind::Datetime(_) | Kind::Timedelta(_) => true,
            _ => false,
        }
    }

    /// Whether an element is NaN or "not a time". As in NumPy, a complex number is NaN if either part is. False for all other
    /// dtypes, for extended floats, and for an `element` of another length than [`itemsize`](DType::itemsize).
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    /// assert!(DType::F64.is_nan(&f64::NAN.to_le_bytes()));
    /// assert!(DType::parse("<M8[D]")?.is_nan(&i64::MIN.to_le_bytes()));
    /// assert!(!DType::I64.is_nan(&i64::MIN.to_le_bytes()));
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    #[must_use]
    pub fn is_nan(&self, element: &[u8]) -> bool {
        if !self.is_whole(element) {
            return false;
        }
        match self.kind {
            Kind::Float => Float::read(element, self.order).is_some_and(Float::is_nan),
            Kind::Complex => {
                parts(element, self.order).is_some_and(|(re, im)| re.is_nan() || im.is_nan())
            }
            Kind::Datetime(_) | Kind::Timedelta(_) => {
                signed(element, self.order) == Some(NOT_A_TIME)
            }
            _ => false,
        }
    }

    pub(super) fn is_whole(&self, element: &[u8]) -> bool {
        u64::try_from(element.len()) == Ok(self.itemsize)
    }
}

impl Field {
    /// The positions of its bytes in an element; `None` if they do not fit into a `usize`.
    pub(super) fn range(&self) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(self.offset).ok()?;
        let end = start.checked_add(usize::try_from(self.len().ok()?).ok()?)?;
        Some(start..end)
    }

    fn value(&self, element: &[u8]) -> Option<Value> {
        Some(array(&self.dtype, &self.shape, element.get(self.range()?)?))
    }
}

/// The nested lists of an array field; an empty list if its elements have no bytes, however many there are.
fn array(dtype: &DType, shape: &[u64], bytes: &[u8]) -> Value {
    let Some((len, within)) = shape.split_first() else {
        return dtype.value(bytes);
    };
    let each = usize::try_from(*len)
        .ok()
        .and_then(|len| bytes.len().checked_div(len));
    match each {
        None | Some(0) => Value::Array(Vec::new()),
        Some(each) => bytes
            .chunks_exact(each)
            .map(|bytes| array(dtype, within, bytes))
            .collect(),
    }
}

pub(super) fn signed(bytes: &[u8], order: ByteOrder) -> Option<i64> {
    match bytes.len() {
        1 => Some(i8::from_le_bytes(little(bytes, order)?).into()),
        2 => Some(i16::from_le_bytes(little(bytes, order)?).into()),
        4 => Some(i32::from_le_bytes(little(bytes, order)?).into()),
        _ => Some(i64::from_le_bytes(little(bytes, order)?)),
    }
}

fn unsigned(bytes: &[u8], order: ByteOrder) -> Option<u64> {
    match bytes.len() {
        1 => Some(u8::from_le_bytes(little(bytes, order)?).into()),
        2 => Some(u16::from_le_bytes(little(bytes, order)?).into()),
        4 => Some(u32::from_le_bytes(little(bytes, order)?).into()),
        _ => Some(u64::from_le_bytes(little(bytes, order)?)),
    }
}

/// Real and imaginary part; `None` for extended floats.
fn parts(bytes: &[u8], order: ByteOrder) -> Option<(Float, Float)> {
    let (re, im) = bytes.split_at_checked(bytes.len() / 2)?;
    Some((Float::read(re, order)?, Float::read(im, order)?))
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let len = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    bytes.split_at(len).0
}

/// The string in code points of four bytes, without the zeros at its end; `None` if one is not a character.
fn characters(bytes: &[u8], order: ByteOrder) -> Option<String> {
    let (chars, _) = bytes.as_chunks::<4>();
    let chars = chars.iter().map(|bytes| {
        let code = u32::from_le_bytes(little(bytes, order)?);
        char::from_u32(code)
    });
    let mut text: String = chars.collect::<Option<_>>()?;
    text.truncate(text.trim_end_matches('\0').len());
    Some(text)
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16);
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.flatten().collect()
}

fn hex_value(bytes: &[u8]) -> Value {
    json!({"hex": hex(bytes)})
}

/// The reverse of [`hex`].
pub(super) fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| {
        let half = |digit: u8| char::from(digit).to_digit(16);
        u8::try_from(half(*high)? << 4 | half(*low)?).ok()
    };
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

/// The bytes in the text `{"hex": "..."}`; `None` for other texts.
pub(super) fn from_hex_object(text: &str) -> Option<Vec<u8>> {
    let inner = text.strip_prefix("{\"hex\":")?.strip_suffix('}')?;
    from_hex(inner.trim_ascii().strip_prefix('"')?.strip_suffix('"')?)
}
