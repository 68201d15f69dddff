//! [`Elements`]: the order of the elements of a dtype.

use bloscpack_dtype::{ByteOrder, DType, Kind};
use bloscpack_wire::internal::to_u64;
use std::cmp::Ordering;

/// Bytes of the longest `S` or `U` element that has an index.
const MAX_TEXT: u64 = 64;

/// A dtype whose elements have an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elements {
    family: Family,
    itemsize: usize,
    order: ByteOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Uint,
    Int,
    Float,
    /// The minimum integer is NaT.
    Time,
    Bytes,
    Text,
}

/// Statistics of some elements.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub count: u64,
    pub nulls: u64,
    /// The least and the greatest element; `None` if all are NaT.
    pub bounds: Option<(Vec<u8>, Vec<u8>)>,
    pub ascending: bool,
    pub descending: bool,
}

/// The sort key of an element. A NaN has a key, a NaT has none.
enum Key<K> {
    Value(K),
    Nan(K),
    Nat,
}

impl Elements {
    /// The order of a dtype's elements.
    ///
    /// # Errors
    /// Returns the reason why an array of this dtype cannot have an index.
    pub(crate) fn of(dtype: &DType) -> Result<Self, &'static str> {
        let itemsize = dtype.itemsize();
        let family = match dtype.kind() {
            Kind::Bool | Kind::Uint => Family::Uint,
            Kind::Int => Family::Int,
            Kind::Float if itemsize <= 8 => Family::Float,
            Kind::Datetime(_) | Kind::Timedelta(_) => Family::Time,
            Kind::Bytes if itemsize <= MAX_TEXT => Family::Bytes,
            Kind::Text if itemsize <= MAX_TEXT => Family::Text,
            Kind::Bytes | Kind::Text => return Err("its elements have more than 64 bytes"),
            Kind::Float => return Err("the format of its floats depends on the machine"),
            _ => return Err("its elements have no order"),
        };
        let itemsize = usize::try_from(itemsize).ok().filter(|bytes| *bytes > 0);
        let itemsize = itemsize.ok_or("its elements have no bytes")?;
        Ok(Self {
            family,
            itemsize,
            order: dtype.order(),
        })
    }

    pub(super) fn itemsize(&self) -> usize {
        self.itemsize
    }

    /// Whether elements may be NaT, which has no order.
    pub(super) fn has_nat(&self) -> bool {
        self.family == Family::Time
    }

    /// Whether elements may be null.
    pub(super) fn has_nulls(&self) -> bool {
        matches!(self.family, Family::Time | Family::Float)
    }

    /// Computes the statistics of elements. Bytes after the last whole element are ignored.
    pub(super) fn measure(&self, elements: &[u8]) -> Measured {
        use Key::Value;
        match (self.family, self.itemsize) {
            (Family::Uint, 1) => self.numbers(elements, |bytes| Value(u8::from_le_bytes(bytes))),
            (Family::Uint, 2) => self.numbers(elements, |bytes| Value(u16::from_le_bytes(bytes))),
            (Family::Uint, 4) => self.numbers(elements, |bytes| Value(u32::from_le_bytes(bytes))),
            (Family::Uint, _) => self.numbers(elements, |bytes| Value(u64::from_le_bytes(bytes))),
            (Family::Int, 1) => self.numbers(elements, |bytes| Value(i8::from_le_bytes(bytes))),
            (Family::Int, 2) => self.numbers(elements, |bytes| Value(i16::from_le_bytes(bytes))),
            (Family::Int, 4) => self.numbers(elements, |bytes| Value(i32::from_le_bytes(bytes))),
            (Family::Int, _) => self.numbers(elements, |bytes| Value(i64::from_le_bytes(bytes))),
            (Family::Float, 2) => self.numbers(elements, half),
            (Family::Float, 4) => self.numbers(elements, single),
            (Family::Float, _) => self.numbers(elements, double),
            (Family::Time, _) => self.numbers(elements, time),
            (Family::Bytes, len) => {
                scan(elements.chunks_exact(len).map(|text| (text, Value(text))))
            }
            (Family::Text, len) => {
                let key = |text| Value(CodePoints(text, self.order));
                scan(elements.chunks_exact(len).map(|text| (text, key(text))))
            }
        }
    }

    /// Computes the statistics of numbers of `N` bytes. `key` gets each number's bytes, little-endian.
    fn numbers<const N: usize, K: Ord + Copy>(
        &self,
        elements: &[u8],
        key: impl Fn([u8; N]) -> Key<K>,
    ) -> Measured {
        let is_big = self.order == ByteOrder::Big;
        scan(elements.as_chunks().0.iter().map(|element: &[u8; N]| {
            let mut little = *element;
            if is_big {
                little.reverse();
            }
            (&element[..], key(little))
        }))
    }
}

/// Maps a half to an integer with the same total order, as `total_cmp` does for longer floats.
fn half(bytes: [u8; 2]) -> Key<i16> {
    let bits = i16::from_le_bytes(bytes);
    let key = bits ^ ((bits >> 15).cast_unsigned() >> 1).cast_signed();
    // Infinity is 0x7c00; NaNs have the same exponent and a fraction.
    if bits & 0x7fff > 0x7c00 {
        Key::Nan(key)
    } else {
        Key::Value(key)
    }
}

fn single(bytes: [u8; 4]) -> Key<i32> {
    let bits = i32::from_le_bytes(bytes);
    let key = bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed();
    if f32::from_le_bytes(bytes).is_nan() {
        Key::Nan(key)
    } else {
        Key::Value(key)
    }
}

fn double(bytes: [u8; 8]) -> Key<i64> {
    let bits = i64::from_le_bytes(bytes);
    let key = bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed();
    if f64::from_le_bytes(bytes).is_nan() {
        Key::Nan(key)
    } else {
        Key::Value(key)
    }
}

fn time(bytes: [u8; 8]) -> Key<i64> {
    match i64::from_le_bytes(bytes) {
        i64::MIN => Key::Nat,
        count => Key::Value(count),
    }
}

/// A text of NumPy's `U`, compared by code points. Zeros at its end sort before all characters and need not be removed.
#[derive(Clone, Copy)]
struct CodePoints<'a>(&'a [u8], ByteOrder);

impl CodePoints<'_> {
    fn iter(&self) -> impl Iterator<Item = u32> {
        let read = match self.1 {
            ByteOrder::Little => u32::from_le_bytes,
            ByteOrder::Big => u32::from_be_bytes,
        };
        self.0.as_chunks().0.iter().map(move |bytes| read(*bytes))
    }
}

impl Ord for CodePoints<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl PartialOrd for CodePoints<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for CodePoints<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for CodePoints<'_> {}

/// Computes statistics of elements with their keys.
fn scan<'a, K: Ord + Copy>(elements: impl Iterator<Item = (&'a [u8], Key<K>)>) -> Measured {
    let (mut count, mut nulls) = (0usize, 0usize);
    let (mut ascending, mut descending) = (true, true);
    let mut last = None;
    // The least and the greatest element with their keys.
    let mut bounds: Option<[(K, &[u8]); 2]> = None;
    for (bytes, key) in elements {
        count += 1;
        let key = match key {
            Key::Value(key) => key,
            Key::Nan(key) => {
                nulls += 1;
                key
            }
            Key::Nat => {
                nulls += 1;
                (ascending, descending) = (false, false);
                continue;
            }
        };
        let before = last.replace(key).unwrap_or(key);
        ascending &= before <= key;
        descending &= before >= key;
        match &mut bounds {
            None => bounds = Some([(key, bytes); 2]),
            Some([min, max]) => {
                if key < min.0 {
                    *min = (key, bytes);
                }
                if key > max.0 {
                    *max = (key, bytes);
                }
            }
        }
    }
    Measured {
        count: to_u64(count),
        nulls: to_u64(nulls),
        bounds: bounds.map(|[(_, min), (_, max)]| (min.to_vec(), max.to_vec())),
        ascending,
        descending,
    }
}
