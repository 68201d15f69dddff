//! [`ColumnReader`]: reads the values of a column.
//!
//! | stored as | read as |
//! |---|---|
//! | an array | elements; missing where the mask is false, or the element equals the sentinel |
//! | `uint8` for a `bool` with a sentinel | `bool`; values above 1 are missing |
//! | positions and bytes of text | text; missing where the mask is false, or the text equals the sentinel |
//! | codes and a dictionary | text; missing for the null code |
//! | batches, or one object for each chunk | MessagePack values; nil is missing |

use super::array;
use super::items::Items;
use super::schema::{ColumnKind, ItemKind, Layout, Nulls, StoreColumn};
use super::sentinel::Sentinel;
use crate::FrameStore;
use crate::error::{at, damaged, over_limit, unsupported};
use bloscpack_array::msgpack::Value;
use bloscpack_dtype::DType;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};
use bloscpack_frames::NdArray;
use serde_json::Value as Json;
use std::ops::Range;

/// Bytes of text that are read at once at most.
const MAX_TEXT: u64 = 1 << 30;
/// Bytes of the longest row, the same as of the longest chunk.
const MAX_ROW: u64 = 1 << 31;
/// The maximum number of extension types within each other.
const MAX_DEPTH: usize = 16;
/// The first item of a list that is a tuple in Python.
const TUPLE: &str = "__tuple__";
/// The extension types of python-blosc2.
const FRAME: i8 = 42;
const REFERENCE: i8 = 43;
const COMPLEX: i8 = 44;
const SET: i8 = 45;
const ARRAY: i8 = 46;

/// Values of a column: the rows of one read or write.
///
/// The element of a missing value has no meaning. It is what the file stores at that position.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ColumnData {
    /// Elements of a fixed length.
    Fixed {
        /// The elements, row after row: rows × row shape × element size bytes, little-endian. Timestamps are int64 counts of
        /// their unit.
        bytes: Vec<u8>,
        /// For each row, whether it has a value. `None` if no row is missing.
        present: Option<Vec<bool>>,
    },
    /// Values of varying length, one for each row; [`Value::Nil`] for a missing one.
    Varying(Vec<Value>),
}

/// Reads the values of a column.
pub(super) struct ColumnReader {
    name: String,
    path: String,
    mask: Option<NdArray>,
    values: Values,
}

/// The open arrays or frames of a column, by its layout.
enum Values {
    Fixed(Box<Fixed>),
    Text {
        positions: Box<NdArray>,
        bytes: Box<NdArray>,
        sentinel: Option<String>,
    },
    Items(Box<Items>, ItemKind),
    Codes {
        codes: Box<NdArray>,
        none: i64,
        words: Vec<Value>,
    },
}

/// A column of elements of a fixed length.
struct Fixed {
    array: NdArray,
    dtype: DType,
    row_shape: Vec<u64>,
    sentinel: Option<Sentinel>,
    is_wide_bool: bool,
}

impl ColumnReader {
    /// Opens the column at a path: its values, and its mask if it has one.
    pub fn open(tree: &FrameStore, column: &StoreColumn, path: &str) -> Result<Self> {
        let mask_path = format!("{path}.notnull");
        let has_mask = column.nulls == Nulls::Mask && tree.kind(&mask_path).is_some();
        let mask = has_mask.then(|| typed(tree, &mask_path, &DType::BOOL));
        Ok(Self {
            name: column.name.clone(),
            path: path.to_owned(),
            mask: mask.transpose()?,
            values: Values::open(tree, column, path)?,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values at these positions.
    pub fn read(&mut self, range: &Range<u64>) -> Result<ColumnData> {
        let mask = self
            .mask
            .as_ref()
            .map(|mask| slice(mask, range, &self.path));
        let mask: Option<Vec<bool>> = mask
            .transpose()?
            .map(|bytes| bytes.iter().map(|byte| *byte != 0).collect());
        let mut values = match &mut self.values {
            Values::Fixed(fixed) => return fixed.read(range, mask, &self.path),
            Values::Text {
                positions,
                bytes,
                sentinel,
            } => texts(positions, bytes, sentinel.as_deref(), range, &self.path)?,
            Values::Items(items, kind) => {
                let values = checked(items.read(range)?, &self.path)?;
                values.into_iter().map(|value| bools(value, kind)).collect()
            }
            Values::Codes { codes, none, words } => {
                let codes = slice(codes, range, &self.path)?;
                let (codes, _) = codes.as_chunks::<4>();
                let word =
                    |code: &[u8; 4]| word(i32::from_le_bytes(*code), *none, words, &self.path);
                codes.iter().map(word).collect::<Result<_>>()?
            }
        };
        for (value, present) in values.iter_mut().zip(mask.unwrap_or_default()) {
            if !present {
                *value = Value::Nil;
            }
        }
        Ok(ColumnData::Varying(values))
    }
}

impl Values {
    /// Opens the arrays or frames of a column.
    fn open(tree: &FrameStore, column: &StoreColumn, path: &str) -> Result<Self> {
        if let ColumnKind::Unsupported(what) = &column.kind {
            return Err(unsupported(path, what));
        }
        Ok(match (&column.layout, &column.kind) {
            (Layout::Array | Layout::WideBool, ColumnKind::Fixed { dtype, row_shape }) => {
                Self::Fixed(Box::new(Fixed::open(tree, column, path, dtype, row_shape)?))
            }
            (Layout::Text, _) => Self::Text {
                positions: Box::new(typed(tree, path, &DType::I64)?),
                bytes: Box::new(typed(tree, &format!("{path}.utf8"), &DType::U8)?),
                sentinel: match &column.nulls {
                    Nulls::Sentinel(Json::String(text)) => Some(text.clone()),
                    _ => None,
                },
            },
            (Layout::Codes(none), _) => Self::Codes {
                codes: Box::new(typed(tree, path, &DType::I32)?),
                none: *none,
                words: words(tree, &format!("{path}_dict"))?,
            },
            (_, ColumnKind::Varying(kind)) => {
                Self::Items(Box::new(Items::open(tree, path)?), kind.clone())
            }
            _ => Self::Items(Box::new(Items::open(tree, path)?), ItemKind::Any),
        })
    }
}

impl Fixed {
    /// Opens the array of a column, and checks its dtype and row shape against the schema.
    fn open(
        tree: &FrameStore,
        column: &StoreColumn,
        path: &str,
        dtype: &DType,
        row_shape: &[u64],
    ) -> Result<Self> {
        let is_wide_bool = column.layout == Layout::WideBool;
        let array = array(tree, path)?;
        let found = (
            array.dtype(),
            array.shape().split_first().map_or(&[][..], |(_, row)| row),
        );
        let stored = match (is_wide_bool, &dtype.kind()) {
            (true, _) => DType::U8,
            (_, bloscpack_dtype::Kind::Datetime(_)) => DType::I64,
            _ => dtype.clone(),
        };
        if found != (Some(&stored), row_shape) || array.shape().is_empty() {
            let dtype = found.0.map(ToString::to_string).unwrap_or_default();
            let what = format!(
                "{dtype} of shape {:?}, expected {stored} and rows of {row_shape:?}",
                array.shape()
            );
            return Err(damaged(path, what));
        }
        if column.row_bytes() > MAX_ROW {
            let what = format!(
                "rows of {} bytes, over the limit of {MAX_ROW}",
                column.row_bytes()
            );
            return Err(over_limit(path, what));
        }
        let sentinel = match &column.nulls {
            Nulls::Sentinel(_) if is_wide_bool => None,
            Nulls::Sentinel(json) => {
                let sentinel = Sentinel::of(json, dtype);
                let what = || damaged(path, format!("{json} stands for a missing {dtype}"));
                Some(sentinel.ok_or_else(what)?)
            }
            _ => None,
        };
        Ok(Self {
            array,
            dtype: dtype.clone(),
            row_shape: row_shape.to_vec(),
            sentinel,
            is_wide_bool,
        })
    }

    /// The elements at these positions, with those missing that equal the sentinel.
    fn read(&self, range: &Range<u64>, mask: Option<Vec<bool>>, path: &str) -> Result<ColumnData> {
        let mut bytes = slice(&self.array, range, path)?;
        let mut present = mask;
        if self.is_wide_bool {
            present = Some(bytes.iter().map(|byte| *byte <= 1).collect());
            bytes
                .iter_mut()
                .for_each(|byte| *byte = u8::from(*byte == 1));
        }
        if let Some(sentinel) = &self.sentinel {
            let row = self
                .row_shape
                .iter()
                .try_fold(self.dtype.itemsize(), |len, axis| len.checked_mul(*axis));
            let row = in_memory(row.unwrap_or(u64::MAX))?;
            let rows = bytes.chunks_exact(row.max(1));
            present = Some(rows.map(|row| !sentinel.is(row, &self.dtype)).collect());
        }
        Ok(ColumnData::Fixed { bytes, present })
    }
}

/// Opens an array of one axis with this dtype. Any other is damage.
pub(crate) fn typed(tree: &FrameStore, path: &str, dtype: &DType) -> Result<NdArray> {
    let array = array(tree, path)?;
    if array.dtype() == Some(dtype) && array.shape().len() == 1 {
        Ok(array)
    } else {
        let found = array.dtype().map(ToString::to_string).unwrap_or_default();
        let what = format!(
            "{found} of shape {:?}, expected {dtype} of one axis",
            array.shape()
        );
        Err(damaged(path, what))
    }
}

/// The bytes of these rows of an array. Rows past its end are damage: the table promises more.
pub(crate) fn slice(array: &NdArray, range: &Range<u64>, path: &str) -> Result<Vec<u8>> {
    let mut slice: Vec<_> = array.shape().iter().map(|axis| 0..*axis).collect();
    let rows = slice.first().map_or(0, |rows| rows.end);
    if range.end > rows {
        let what = format!("{rows} rows where the table has more");
        return Err(damaged(path, what));
    }
    if let Some(first) = slice.first_mut() {
        *first = range.clone();
    }
    array.read_slice(&slice).map_err(at(path))
}

/// The text at these positions. `positions` has one more element than rows: row `i` is the bytes `positions[i]..positions[i +
/// 1]`.
fn texts(
    positions: &NdArray,
    bytes: &NdArray,
    sentinel: Option<&str>,
    range: &Range<u64>,
    path: &str,
) -> Result<Vec<Value>> {
    let ends = slice(positions, &(range.start..range.end.saturating_add(1)), path)?;
    let (ends, _) = ends.as_chunks::<8>();
    let ends = ends
        .iter()
        .map(|end| u64::from_le_bytes(*end))
        .collect::<Vec<_>>();
    let (Some(first), Some(last)) = (ends.first(), ends.last()) else {
        return Ok(Vec::new());
    };
    let there = bytes.shape().first().copied().unwrap_or(0);
    if !ends.is_sorted() || *last > there {
        return Err(damaged(
            path,
            format!("text up to byte {last} of {there}, or in no order"),
        ));
    }
    if last - first > MAX_TEXT {
        let what = format!("{} bytes of text in {} rows", last - first, ends.len() - 1);
        return Err(over_limit(path, what));
    }
    let content = bytes
        .read_slice(std::slice::from_ref(&(*first..*last)))
        .map_err(at(path))?;
    let mut rest = content.as_slice();
    let mut values = Vec::new();
    for (start, end) in ends.iter().zip(ends.iter().skip(1)) {
        let (text, after) = rest
            .split_at_checked(in_memory(end - start)?)
            .unwrap_or((rest, &[]));
        rest = after;
        let text = str::from_utf8(text).map_err(|_| damaged(path, "text that is not UTF-8"))?;
        values.push(if sentinel == Some(text) {
            Value::Nil
        } else {
            Value::Text(text.to_owned())
        });
    }
    Ok(values)
}

/// The strings of a dictionary, by code.
pub(crate) fn words(tree: &FrameStore, path: &str) -> Result<Vec<Value>> {
    let mut items = Items::open(tree, path)?;
    let all = 0..items.len();
    let words = items.read(&all)?;
    if words.iter().all(|word| word.as_text().is_some()) {
        Ok(words)
    } else {
        Err(damaged(path, "a dictionary of other values than text"))
    }
}

/// The string of a code; nil for the null code `none`.
fn word(code: i32, none: i64, words: &[Value], path: &str) -> Result<Value> {
    if i64::from(code) == none {
        return Ok(Value::Nil);
    }
    let word = usize::try_from(code).ok().and_then(|code| words.get(code));
    word.cloned().ok_or_else(|| {
        damaged(
            path,
            format!("code {code} of {} words", to_u64(words.len())),
        )
    })
}

/// Replaces values with python-blosc2's extension types by plain ones. Refuses those that are frames or refer to something.
fn checked(values: Vec<Value>, path: &str) -> Result<Vec<Value>> {
    let plain = values.into_iter().map(|value| plain(value, MAX_DEPTH));
    plain.collect::<Result<_>>().map_err(at(path))
}

/// A value without extension types and tuples: a tuple as a list, a complex number as a list of its two parts, a set as a list,
/// and an array of NumPy as the map of `dtype`, `shape` and `data` that it is stored as.
fn plain(value: Value, depth: usize) -> Result<Value> {
    Ok(match value {
        Value::List(mut values) => {
            if values.first().and_then(Value::as_text) == Some(TUPLE) {
                values.remove(0);
            }
            let values = values.into_iter().map(|value| plain(value, depth));
            Value::List(values.collect::<Result<_>>()?)
        }
        Value::Map(pairs) => {
            let pairs = pairs
                .into_iter()
                .map(|(key, value)| Ok((plain(key, depth)?, plain(value, depth)?)));
            Value::Map(pairs.collect::<Result<_>>()?)
        }
        Value::Ext(number, bytes) => {
            let depth = depth.checked_sub(1);
            let depth = depth
                .ok_or_else(|| Error::new(Code::Damaged, "values within each other, too deep"))?;
            match (number, bytes.as_chunks::<8>()) {
                (COMPLEX, (parts @ [_, _], [])) => {
                    let parts = parts
                        .iter()
                        .map(|part| Value::Float(f64::from_be_bytes(*part)));
                    Value::List(parts.collect())
                }
                (SET | ARRAY, _) => plain(Value::decode(&bytes)?, depth)?,
                _ => {
                    let what = match number {
                        FRAME => {
                            "a frame within a value, which only python-blosc2 reads".to_owned()
                        }
                        REFERENCE => {
                            "a reference or a lazy expression, which is not followed".to_owned()
                        }
                        _ => format!(
                            "a value of the extension type {number}, which only python-blosc2 reads"
                        ),
                    };
                    return Err(Error::new(Code::Unsupported, what));
                }
            }
        }
        value => value,
    })
}

/// python-blosc2 stores booleans that may be missing, in lists, as the integers 0 and 1.
fn bools(value: Value, kind: &ItemKind) -> Value {
    match (value, kind) {
        (Value::Int(number @ 0..=1), ItemKind::Bool) => Value::Bool(number == 1),
        (Value::List(values), ItemKind::List(kind)) => {
            Value::List(values.into_iter().map(|value| bools(value, kind)).collect())
        }
        (value, _) => value,
    }
}
