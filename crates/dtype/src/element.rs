//! Elements from JSON values and from text.

use super::excerpt::excerpt;
use super::float::Float;
use super::value::{NOT_A_TIME, from_hex, from_hex_object};
use super::{ByteOrder, DType, DTypeError, Field, Kind, Struct, date};
use serde_json::Value;

impl DType {
    /// Converts text, as [`DType::write_text`] writes it, into the bytes of an element.
    ///
    /// | elements | text |
    /// |---|---|
    /// | bool | `true`, `false`, `True`, `False`, `1` or `0` |
    /// | integers | decimal digits with an optional sign |
    /// | floats | a decimal number, `nan` or `inf`; empty is NaN |
    /// | complex numbers | `1.0+2.0j`, also in parentheses, or one real number; empty is NaN for both parts |
    /// | bytes, text | the string itself, or `{"hex": "..."}` with the bytes; shorter strings are padded with zeros |
    /// | datetimes | ISO 8601 without a time zone or with `Z`, or the count; `NaT` or empty is "not a time" |
    /// | timedeltas | the count; `NaT` or empty is "not a time" |
    /// | void | two hexadecimal digits for each byte |
    /// | extended floats | `{"hex": "..."}` |
    /// | fields | JSON, as [`DType::from_value`] accepts it |
    ///
    /// ASCII white space around numbers and times is ignored. A datetime may be more or less precise than its unit if nothing
    /// is lost. Four digits are a year, not a count, unless a `+` precedes them.
    ///
    /// ```
    /// let mut element = [0; 2];
    /// bloscpack_dtype::DType::parse(">i2")?.parse_text("-2", &mut element)?;
    /// assert_eq!(element, [0xff, 0xfe]);
    /// assert!(bloscpack_dtype::DType::I8.parse_text("128", &mut element[..1]).is_err());
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if `element` is not [`itemsize`](DType::itemsize) bytes long, if the text is not such a value, and always for
    /// objects. If the value is out of range or too long for an element, [`DTypeError::is_too_large`] is true. After an error
    /// about the value, the content of `element` is unspecified.
    pub fn parse_text(&self, text: &str, element: &mut [u8]) -> Result<(), DTypeError> {
        self.begin(element)?;
        let order = self.order;
        match &self.kind {
            Kind::Bool => put(element, &[u8::from(parse_bool(text)?)], order),
            Kind::Int | Kind::Uint => {
                let digits = text.trim_ascii();
                let number = digits.parse().map_err(|_| self.not_a_value(text))?;
                self.put_integer(number, element)?;
            }
            Kind::Float => self.put_float(text, element)?,
            Kind::Complex => self.put_complex(text, element)?,
            Kind::Bytes | Kind::Text => match from_hex_object(text) {
                Some(bytes) => self.put_bytes(&bytes, element)?,
                None => self.put_string(text, element)?,
            },
            Kind::Datetime(_) | Kind::Timedelta(_) => self.put_time(text, element)?,
            Kind::Void => {
                let bytes = from_hex(text.trim_ascii());
                let bytes = bytes.filter(|bytes| self.is_whole(bytes));
                let bytes = bytes.ok_or_else(|| self.not_a_value(text))?;
                put(element, &bytes, ByteOrder::Little);
            }
            Kind::Struct(_) => {
                let value = serde_json::from_str(text);
                let value: Value = value.map_err(|_| self.not_a_value(text))?;
                self.from_value(&value, element)?;
            }
            Kind::Object => return Err(DTypeError::object()),
        }
        Ok(())
    }

    /// Converts a JSON value, as [`DType::value`] returns it, into the bytes of an element.
    ///
    /// These are accepted as well:
    ///
    /// * integers as floats without a fraction, such as `5.0`
    /// * floats, complex numbers and times as text, such as `"inf"` and `"2016-03-01"`
    /// * times as counts, and bools as 0 and 1
    /// * complex numbers without an imaginary part as one number
    /// * null as NaN for floats and complex numbers, and as "not a time" for times
    /// * fields as a list in their order
    /// * void as text with one character (U+0000 to U+00FF) for each byte, as in bcolz
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    /// use serde_json::json;
    ///
    /// let dtype = DType::parse("[('a', 'i1'), ('b', '>i2', (2,))]")?;
    /// let mut element = [0; 5];
    /// dtype.from_value(&json!({"a": -1, "b": [1, 2]}), &mut element)?;
    /// assert_eq!(element, [0xff, 0, 1, 0, 2]);
    /// assert_eq!(dtype.value(&element), json!({"a": -1, "b": [1, 2]}));
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`DType::parse_text`], and an error if a field is missing or there is one too many. The message
    /// names the field.
    #[allow(clippy::wrong_self_convention, reason = "the type converts the value")]
    pub fn from_value(&self, value: &Value, element: &mut [u8]) -> Result<(), DTypeError> {
        self.begin(element)?;
        let wrong = || self.not_a_value(&value.to_string());
        match (&self.kind, value) {
            (Kind::Object, _) => Err(DTypeError::object()),
            (Kind::Struct(of), _) => put_fields(of, value, element),
            (_, Value::Object(members)) => {
                let hex = members.get("hex").filter(|_| members.len() == 1);
                let bytes = hex.and_then(Value::as_str).and_then(from_hex);
                self.put_bytes(&bytes.ok_or_else(wrong)?, element)
            }
            (Kind::Bool, Value::Bool(truth)) => {
                put(element, &[u8::from(*truth)], self.order);
                Ok(())
            }
            (Kind::Int | Kind::Uint | Kind::Datetime(_) | Kind::Timedelta(_), Value::Number(_)) => {
                self.put_integer(whole(value).ok_or_else(wrong)?, element)
            }
            (Kind::Complex, Value::Array(both)) => {
                let (re, im) = self.halves(element);
                let part = self.part();
                match both.as_slice() {
                    [first, second] => {
                        part.from_value(first, re)?;
                        part.from_value(second, im)
                    }
                    _ => Err(wrong()),
                }
            }
            (Kind::Float | Kind::Complex | Kind::Datetime(_) | Kind::Timedelta(_), Value::Null) => {
                self.parse_text("", element)
            }
            (Kind::Float | Kind::Complex | Kind::Bool, Value::Number(number)) => {
                self.parse_text(&number.to_string(), element)
            }
            (Kind::Bytes | Kind::Text, Value::String(text)) => self.put_string(text, element),
            (Kind::Void, Value::String(text)) => match self.by_character(text) {
                Some(bytes) => self.put_bytes(&bytes, element),
                None => self.parse_text(text, element),
            },
            (
                Kind::Float | Kind::Complex | Kind::Datetime(_) | Kind::Timedelta(_),
                Value::String(text),
            ) => self.parse_text(text, element),
            _ => Err(wrong()),
        }
    }

    /// Checks the length of `element` and sets all its bytes to zero, since padding and short strings are not written below.
    fn begin(&self, element: &mut [u8]) -> Result<(), DTypeError> {
        if !self.is_whole(element) {
            return Err(wrong_buffer(element.len(), self.itemsize));
        }
        element.fill(0);
        Ok(())
    }

    fn not_a_value(&self, value: &str) -> DTypeError {
        DTypeError::not(value, format!("a value of {}", self.short()))
    }

    fn length(&self, found: usize, unit: &str) -> DTypeError {
        let dtype = self.short();
        DTypeError::new(format!("{found} {unit} do not fit {dtype}")).for_want_of_room()
    }

    /// The name of the type for messages, shortened if it has fields.
    fn short(&self) -> String {
        match self.kind {
            Kind::Struct(_) => excerpt(&self.to_string()),
            _ => self.to_string(),
        }
    }

    fn put_integer(&self, number: i128, element: &mut [u8]) -> Result<(), DTypeError> {
        let bits = (self.itemsize * 8).clamp(8, 64);
        let (least, beyond) = match self.kind {
            Kind::Uint => (0, 1_i128 << bits),
            _ => (-(1_i128 << (bits - 1)), 1_i128 << (bits - 1)),
        };
        if number < least || number >= beyond {
            let (dtype, greatest) = (self.short(), beyond - 1);
            return Err(DTypeError::new(format!(
                "{number} is out of range for {dtype}, from {least} to {greatest}"
            ))
            .for_want_of_room());
        }
        put(element, &number.to_le_bytes(), self.order);
        Ok(())
    }

    fn put_float(&self, text: &str, element: &mut [u8]) -> Result<(), DTypeError> {
        if element.len() > 8 {
            let bytes = from_hex_object(text).ok_or_else(|| self.not_a_value(text))?;
            return self.put_bytes(&bytes, element);
        }
        let text = if text.is_empty() { "nan" } else { text };
        put(
            element,
            &Float::parse(text, element.len())?.bytes(),
            self.order,
        );
        Ok(())
    }

    /// Parses `1+2j`, also in parentheses, or `1`.
    fn put_complex(&self, text: &str, element: &mut [u8]) -> Result<(), DTypeError> {
        if element.len() > 16 {
            let bytes = from_hex_object(text).ok_or_else(|| self.not_a_value(text))?;
            return self.put_bytes(&bytes, element);
        }
        let text = text.trim_ascii();
        let inner = text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'));
        let (first, second) = match inner.unwrap_or(text) {
            "" => ("nan", "nan"),
            inner => split_complex(inner),
        };
        let (re, im) = self.halves(element);
        for (part, text) in [(re, first), (im, second)] {
            put(part, &Float::parse(text, part.len())?.bytes(), self.order);
        }
        Ok(())
    }

    fn halves<'a>(&self, element: &'a mut [u8]) -> (&'a mut [u8], &'a mut [u8]) {
        let middle = element.len() / 2;
        element.split_at_mut_checked(middle).unwrap_or_default()
    }

    /// The dtype of the real and the imaginary part.
    fn part(&self) -> Self {
        Self {
            kind: Kind::Float,
            order: self.order,
            itemsize: self.itemsize / 2,
        }
    }

    fn put_time(&self, text: &str, element: &mut [u8]) -> Result<(), DTypeError> {
        let digits = text.trim_ascii();
        let count = match &self.kind {
            _ if digits.is_empty() || digits.eq_ignore_ascii_case("nat") => NOT_A_TIME,
            Kind::Datetime(unit) => date::parsed(digits, *unit)?,
            _ => digits.parse().map_err(|_| self.not_a_value(text))?,
        };
        self.put_integer(count.into(), element)
    }

    fn put_string(&self, text: &str, element: &mut [u8]) -> Result<(), DTypeError> {
        if self.kind == Kind::Bytes {
            return self.put_bytes(text.as_bytes(), element);
        }
        let (places, _) = element.as_chunks_mut::<4>();
        let found = text.chars().count();
        if found > places.len() {
            return Err(self.length(found, "characters"));
        }
        for (place, c) in places.iter_mut().zip(text.chars()) {
            put(place, &u32::from(c).to_le_bytes(), self.order);
        }
        Ok(())
    }

    /// Copies raw bytes: exactly an element, or fewer for strings of bytes.
    fn put_bytes(&self, bytes: &[u8], element: &mut [u8]) -> Result<(), DTypeError> {
        let fits = match self.kind {
            Kind::Bytes => bytes.len() <= element.len(),
            _ => bytes.len() == element.len(),
        };
        if !fits {
            return Err(self.length(bytes.len(), "bytes"));
        }
        put(element, bytes, ByteOrder::Little);
        Ok(())
    }

    /// The bytes of a void given as text with one character for each byte.
    fn by_character(&self, text: &str) -> Option<Vec<u8>> {
        let bytes: Option<Vec<_>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
        bytes.filter(|bytes| self.is_whole(bytes))
    }
}

/// The error for a buffer of another length than an element.
fn wrong_buffer(found: usize, expected: u64) -> DTypeError {
    DTypeError::new(format!(
        "buffer of {found} bytes for an element of {expected}"
    ))
}

/// Writes the leading bytes of a little-endian number, as many as the element has, in byte order `order`.
fn put(element: &mut [u8], bytes: &[u8], order: ByteOrder) {
    for (place, byte) in element.iter_mut().zip(bytes) {
        *place = *byte;
    }
    if order == ByteOrder::Big {
        element.reverse();
    }
}

fn parse_bool(text: &str) -> Result<bool, DTypeError> {
    match text.trim_ascii() {
        "true" | "True" | "1" => Ok(true),
        "false" | "False" | "0" => Ok(false),
        other => Err(DTypeError::not(other, "true or false")),
    }
}

/// The integer, also of a float without a fraction; `None` for other numbers.
fn whole(value: &Value) -> Option<i128> {
    if let Some(number) = value.as_i64() {
        return Some(number.into());
    }
    if let Some(number) = value.as_u64() {
        return Some(number.into());
    }
    let float = value.as_f64().filter(|float| float.trunc() == *float)?;
    // Formatted with all digits and no exponent, so that the integer parser accepts it.
    format!("{float:.0}").parse().ok()
}

/// Splits before the sign of the imaginary part: the last sign that does not belong to an exponent.
fn split_complex(text: &str) -> (&str, &str) {
    let Some(both) = text.strip_suffix(['j', 'J']) else {
        return (text, "0");
    };
    let signs = both
        .rmatch_indices(['+', '-'])
        .map(|(at, _)| both.split_at(at));
    let mut signs = signs.filter(|(re, _)| !re.is_empty() && !re.ends_with(['e', 'E']));
    signs.next().unwrap_or(("0", both))
}

/// Writes all fields from an object or a list.
fn put_fields(of: &Struct, value: &Value, element: &mut [u8]) -> Result<(), DTypeError> {
    let (found, expected) = match value {
        Value::Object(members) => (members.len(), of.fields.len()),
        Value::Array(items) => (items.len(), of.fields.len()),
        other => {
            return Err(DTypeError::not(
                &other.to_string(),
                "an object or a list of fields",
            ));
        }
    };
    if found != expected {
        let expected = format!("an object or a list of {expected} fields, but of {found}");
        return Err(DTypeError::not(&value.to_string(), expected));
    }
    for (number, field) in of.fields.iter().enumerate() {
        let item = match value {
            Value::Array(items) => items.get(number),
            other => other.get(&field.name),
        };
        let put = match item {
            Some(item) => field.put(item, element),
            None => Err(DTypeError::not(
                &value.to_string(),
                "an object with this field",
            )),
        };
        put.map_err(|error| error.in_field(&field.name))?;
    }
    Ok(())
}

impl Field {
    fn put(&self, value: &Value, element: &mut [u8]) -> Result<(), DTypeError> {
        let (found, expected) = (element.len(), self.end()?);
        let bytes = self.range().and_then(|range| element.get_mut(range));
        let bytes = bytes.ok_or_else(|| wrong_buffer(found, expected))?;
        put_array(&self.dtype, &self.shape, value, bytes)
    }
}

/// Writes a nested list with as many items as the first axis. Elements without bytes are an empty list, whatever the shape.
fn put_array(
    dtype: &DType,
    shape: &[u64],
    value: &Value,
    bytes: &mut [u8],
) -> Result<(), DTypeError> {
    let Some((len, within)) = shape.split_first() else {
        return dtype.from_value(value, bytes);
    };
    let expected = if bytes.is_empty() { 0 } else { *len };
    let items = value.as_array().map(Vec::as_slice);
    let Some(items) = items.filter(|items| u64::try_from(items.len()) == Ok(expected)) else {
        let expected = format!("a list of {expected}");
        return Err(DTypeError::not(&value.to_string(), expected));
    };
    let each = bytes.len().checked_div(items.len()).unwrap_or(0);
    if each == 0 {
        return Ok(());
    }
    let mut pairs = items.iter().zip(bytes.chunks_exact_mut(each));
    pairs.try_for_each(|(item, bytes)| put_array(dtype, within, item, bytes))
}
