//! The description, in metadata, of a NumPy array whose memory is the content of a file.
//!
//! ```text
//! {"dtype": "'<f8'", "shape": [20, 30], "order": "C", "container": "numpy"}    Bloscpack 0.7.2 and later
//! {"dtype": "<f8",   "shape": [20, 30], "order": "C", "container": "numpy"}    until 0.7.1
//! ```
//!
//! `dtype` is the `repr` of NumPy's `dtype.str`, or of its `dtype.descr` if elements have fields.
//! Older files have the plain string, or nested JSON lists for fields. Released readers trust
//! `shape` and crash if it does not match the content, so an append must update it.

mod dtype;
#[cfg(test)]
mod tests;

use super::error::FormatError;
use super::members::{Members, with_value};
use super::metadata::Metadata;
use bloscpack_dtype::literal::Literal;

/// The most dimensions of an array, as in NumPy.
const MAX_DIMENSIONS: usize = 64;
/// The longest value in bytes that is parsed, more than thousands of fields need. A hostile value
/// may take fifty times its length.
const MAX_DESCRIPTION: usize = 1 << 20;

/// The order in which the elements of an array follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last index varies fastest: rows along the first axis are contiguous.
    C,
    /// The first index varies fastest, as in Fortran.
    F,
}

/// An array, as the metadata of a Bloscpack file describes it.
///
/// ```
/// use bloscpack_wire::{Metadata, NumpyArray, NumpyOrder, with_shape};
///
/// let text = r#"{"dtype": "'<f8'", "shape": [20, 30], "order": "C", "container": "numpy"}"#;
/// let metadata = Metadata::from_json(text)?;
/// let array = NumpyArray::of(&metadata)?.unwrap();
/// assert_eq!((array.itemsize, array.order), (8, NumpyOrder::C));
/// assert_eq!(array.content_len(), 4800);
///
/// // One more row: 30 elements of 8 bytes.
/// let shape = array.grown(240).unwrap();
/// assert_eq!(shape, [21, 30]);
/// let text = r#"{"dtype": "'<f8'", "shape": [21,30], "order": "C", "container": "numpy"}"#;
/// assert_eq!(with_shape(&metadata, &shape)?.text(), text);
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumpyArray {
    /// Bytes of an element; may be 0.
    pub itemsize: u64,
    /// Elements along each axis, at most 64 axes. Without an axis, the array is one element.
    pub shape: Vec<u64>,
    /// The order of the elements; C if the description does not state one.
    pub order: Order,
}

impl NumpyArray {
    /// The keys of the description. All other keys of the metadata are the user's.
    pub const KEYS: [&str; 4] = ["container", "dtype", "shape", "order"];

    /// Whether `container` is "numpy", even if the other keys are not valid.
    #[must_use]
    pub fn is_described_by(metadata: &Metadata) -> bool {
        let container = metadata.get_text("container");
        container.is_some_and(|value| is_string(value, "numpy"))
    }

    /// Checks that a content of `found` bytes has the length of the array.
    ///
    /// # Errors
    /// Returns [`FormatError::MetadataData`] if it does not.
    pub fn check_content(&self, found: u64) -> Result<(), FormatError> {
        let (expected, shape) = (self.content_len(), &self.shape);
        if expected == found {
            return Ok(());
        }
        let why = format!(
            "an array of shape {shape:?} has {expected} bytes, but the content has {found}"
        );
        Err(FormatError::MetadataData { why })
    }

    /// Reads the description; `None` if `container` is not "numpy".
    ///
    /// # Errors
    /// Returns [`FormatError::MetadataData`] if `container` is "numpy" but the type, shape or order
    /// is missing or not valid (only the order may be missing), the type contains Python objects,
    /// or the array has 2^64 bytes or more.
    pub fn of(metadata: &Metadata) -> Result<Option<Self>, FormatError> {
        let text = metadata.text();
        let [mut container, mut dtype, mut shape, mut order] = [None; 4];
        // If a key occurs twice, the last value counts.
        for member in Members::of(text) {
            for (name, place) in [
                ("container", &mut container),
                ("dtype", &mut dtype),
                ("shape", &mut shape),
                ("order", &mut order),
            ] {
                if member.is(name) {
                    *place = Some(member.text);
                }
            }
        }
        if !container.is_some_and(|value| is_string(value, "numpy")) {
            return Ok(None);
        }
        let array = Self {
            itemsize: described("dtype", dtype, parse_itemsize)?,
            shape: described("shape", shape, parse_shape)?,
            order: order.map_or(Ok(Order::C), |value| {
                described("order", Some(value), parse_order)
            })?,
        };
        // As in NumPy, axes of length 0 are skipped, so no partial product overflows either.
        let mut axes = array.shape.iter().filter(|len| **len > 0);
        axes.try_fold(array.itemsize, |product, len| product.checked_mul(*len))
            .ok_or_else(|| bad("shape", "more bytes than can be counted"))?;
        Ok(Some(array))
    }

    /// Bytes of the whole array, which must be the length of the content.
    pub fn content_len(&self) -> u64 {
        product(self.itemsize, &self.shape)
    }

    /// The shape after `bytes` more bytes of content: the first axis grows, in order F the last.
    /// Zero bytes leave any shape unchanged.
    ///
    /// # Errors
    /// Returns the reason as a sentence if the array cannot grow by that many bytes: it has no
    /// axes, a row has no bytes, the bytes are not whole rows, or the array would have 2^64 bytes
    /// or more.
    pub fn grown(&self, bytes: u64) -> Result<Vec<u64>, String> {
        let mut shape = self.shape.clone();
        if bytes == 0 {
            return Ok(shape);
        }
        let (axis, others) = match self.order {
            Order::C => shape.split_first_mut(),
            Order::F => shape.split_last_mut(),
        }
        .ok_or("the array has no dimensions, so it cannot grow")?;
        let row = product(self.itemsize, others);
        let (shape_now, unit) = (&self.shape, self.itemsize);
        let what = format!("{row} bytes (shape {shape_now:?}, {unit} bytes per element)");
        if row == 0 {
            return Err(format!("a row of the array has {what}, so it cannot grow"));
        }
        if !bytes.is_multiple_of(row) {
            return Err(format!(
                "{bytes} more bytes are not a whole number of rows: a row of the array has {what}"
            ));
        }
        // The sum counts rows. The bytes of that many rows may not fit 64 bits.
        let rows = u128::from(*axis) + u128::from(bytes / row);
        let grown = u64::try_from(rows).ok();
        let grown = grown.filter(|rows| rows.checked_mul(row).is_some());
        *axis = grown.ok_or_else(|| format!("the array would have {rows} rows, each of {what}"))?;
        Ok(shape)
    }
}

/// The same metadata with this shape, and no other byte changed.
///
/// If the key occurs twice, both values are replaced, so that every reader finds the new one.
///
/// # Errors
/// Returns [`FormatError::MetadataData`] if the metadata is not an object with a `shape`.
pub fn with_shape(metadata: &Metadata, shape: &[u64]) -> Result<Metadata, FormatError> {
    let lens: Vec<_> = shape.iter().map(u64::to_string).collect();
    let value = format!("[{}]", lens.join(","));
    let renewed = with_value(metadata.text(), "shape", &value);
    Metadata::from_json(renewed.ok_or_else(|| bad("shape", "it is missing"))?)
}

/// Bytes of an array of these axes. For an array of [`NumpyArray::of`], which has checked it, it
/// never saturates.
fn product(itemsize: u64, axes: &[u64]) -> u64 {
    axes.iter()
        .fold(itemsize, |product, len| product.saturating_mul(*len))
}

/// The error for one value of the description.
fn bad(name: &str, why: &str) -> FormatError {
    let why = format!("{name} of the NumPy array: {why}");
    FormatError::MetadataData { why }
}

/// Parses one value of the description, which must be present and not too long.
fn described<T>(
    name: &str,
    value: Option<&str>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<T, FormatError> {
    let value = value.ok_or_else(|| bad(name, "it is missing"))?;
    if value.len() > MAX_DESCRIPTION {
        let why = format!("{} bytes, over the limit of {MAX_DESCRIPTION}", value.len());
        return Err(bad(name, &why));
    }
    parse(value).map_err(|why| bad(name, &why))
}

fn is_string(value: &str, expected: &str) -> bool {
    serde_json::from_str::<String>(value).is_ok_and(|found| found == expected)
}

/// Bytes of an element of this dtype. A string that is a Python literal is read as one, as in the
/// reference implementation; any other string is a dtype itself.
fn parse_itemsize(value: &str) -> Result<u64, String> {
    let value = serde_json::from_str(value).map_err(|error| error.to_string())?;
    let is_literal = |text: &str| text.starts_with(['\'', '"', '[', '(']) || text.starts_with("u'");
    let dtype = match &value {
        serde_json::Value::String(text) if is_literal(text.trim_ascii_start()) => {
            Literal::parse(text)
        }
        other => Literal::from_json(other),
    };
    dtype::itemsize(&dtype.map_err(|error| error.to_string())?)
}

/// A list of up to 64 whole numbers.
fn parse_shape(value: &str) -> Result<Vec<u64>, String> {
    let shape: Vec<u64> = serde_json::from_str(value)
        .map_err(|_| "it should be a list of whole numbers".to_owned())?;
    match shape.len() {
        0..=MAX_DIMENSIONS => Ok(shape),
        found => Err(format!(
            "{found} dimensions, over the limit of {MAX_DIMENSIONS}"
        )),
    }
}

fn parse_order(value: &str) -> Result<Order, String> {
    match value {
        r#""C""# => Ok(Order::C),
        r#""F""# => Ok(Order::F),
        other => {
            let found: String = other.chars().take(20).collect();
            Err(format!("{found} where \"C\" or \"F\" should be"))
        }
    }
}
