//! The offsets of fields, and the limits that they must keep.

use super::{DTypeError, Field, Kind, Struct};
use std::collections::HashSet;
use std::fmt::Display;

/// NumPy's limit on the dimensions of an array.
const MAX_DIMENSIONS: usize = 64;
/// NumPy counts the bytes of an element in a C `int`.
pub(super) const MAX_ITEMSIZE: u64 = i32::MAX.unsigned_abs() as u64;
/// Levels of nested fields: more than real types have, and few enough for recursion.
const MAX_DEPTH: usize = 32;
/// Fields of a type, including nested ones.
const MAX_FIELDS: usize = 65_536;
/// How often fields may contain each byte of an element, on average. Without a limit, thousands of fields could each cover the
/// whole element, and a row of a few bytes would become gigabytes of text.
const MAX_OVERLAP: u64 = 64;

impl Field {
    /// The number of elements; `None` if it exceeds 64 bits.
    pub(super) fn count(&self) -> Option<u64> {
        let mut axes = self.shape.iter();
        axes.try_fold(1_u64, |product, len| product.checked_mul(*len))
    }

    /// The number of bytes; an error if NumPy could not represent the shape.
    pub(super) fn len(&self) -> Result<u64, DTypeError> {
        if self.shape.len() > MAX_DIMENSIONS {
            let found = self.shape.len();
            let what = format!("{found} dimensions exceed the limit of {MAX_DIMENSIONS}");
            return Err(self.wrong(what));
        }
        // NumPy stores each axis in a C `int`, even if another axis is 0.
        let fits = self.shape.iter().all(|len| *len <= MAX_ITEMSIZE);
        let count = if fits { self.count() } else { None };
        // Elements without bytes are limited, too: a reader may iterate over them.
        let count = count.filter(|count| *count <= MAX_ITEMSIZE);
        let len = count.and_then(|count| count.checked_mul(self.dtype.itemsize));
        let len = len.filter(|len| *len <= MAX_ITEMSIZE);
        len.ok_or_else(|| self.wrong(format!("more than {MAX_ITEMSIZE} bytes or elements")))
    }

    /// The position after its last byte in an element.
    pub(super) fn end(&self) -> Result<u64, DTypeError> {
        let end = self.offset.checked_add(self.len()?);
        end.ok_or_else(|| self.wrong("its end is past 2^64 bytes"))
    }

    fn wrong(&self, reason: impl Display) -> DTypeError {
        DTypeError::invalid(reason).in_field(&self.name)
    }
}

/// The error for an item size over [`MAX_ITEMSIZE`].
pub(super) fn too_long(itemsize: u64) -> DTypeError {
    DTypeError::new(format!(
        "item size in bytes of {itemsize} exceeds the limit of {MAX_ITEMSIZE}"
    ))
}

/// Sets the offsets of fields, packed or aligned as in C, and returns the fields with the item size.
pub(super) fn laid_out(
    mut fields: Vec<Field>,
    aligned: bool,
) -> Result<(Vec<Field>, u64), DTypeError> {
    let (mut end, mut alignment) = (0_u64, 1_u64);
    for field in &mut fields {
        if aligned {
            let its = field.dtype.alignment();
            (end, alignment) = (end.next_multiple_of(its), alignment.max(its));
        }
        field.offset = end;
        end = field.end()?;
        if end > MAX_ITEMSIZE {
            return Err(too_long(end));
        }
    }
    Ok((fields, end.next_multiple_of(alignment)))
}

/// Checks names, ends and limits of fields in elements of `itemsize` bytes. Clears `aligned` if it is wrong.
pub(super) fn checked(mut of: Box<Struct>, itemsize: u64) -> Result<Box<Struct>, DTypeError> {
    names_differ(&of.fields)?;
    for field in &of.fields {
        let end = field.end()?;
        if end > itemsize {
            return Err(field.wrong(format!("ends at byte {end} of an element of {itemsize}")));
        }
    }
    let fields = count(&of);
    if fields > MAX_FIELDS {
        let why = format!("{fields} fields exceed the limit of {MAX_FIELDS}");
        return Err(DTypeError::invalid(why));
    }
    if depth(&of) > MAX_DEPTH {
        let why = format!("fields nested deeper than {MAX_DEPTH} levels");
        return Err(DTypeError::invalid(why));
    }
    if contained(&of) > itemsize * MAX_OVERLAP {
        let why = format!("fields overlap more than {MAX_OVERLAP} times");
        return Err(DTypeError::invalid(why));
    }
    of.aligned = of.aligned && is_aligned(&of.fields, itemsize);
    Ok(of)
}

fn names_differ(fields: &[Field]) -> Result<(), DTypeError> {
    let mut names = HashSet::new();
    for field in fields {
        if field.name.is_empty() {
            return Err(DTypeError::invalid("field without a name"));
        }
        for name in [Some(&field.name), field.title.as_ref()]
            .into_iter()
            .flatten()
        {
            if !names.insert(name) {
                return Err(DTypeError::invalid("two fields have this name").in_field(name));
            }
        }
    }
    Ok(())
}

/// Whether the offset of each field, and the item size, are multiples of the field's alignment.
fn is_aligned(fields: &[Field], itemsize: u64) -> bool {
    fields.iter().all(|field| {
        let alignment = field.dtype.alignment();
        field.offset.is_multiple_of(alignment) && itemsize.is_multiple_of(alignment)
    })
}

/// The number of fields, including nested ones.
fn count(of: &Struct) -> usize {
    let within = |field: &Field| inner(field).map_or(0, count);
    of.fields.iter().map(|field| 1 + within(field)).sum()
}

fn depth(of: &Struct) -> usize {
    let within = |field: &Field| inner(field).map_or(0, depth);
    1 + of.fields.iter().map(within).max().unwrap_or(0)
}

/// The sum of the bytes of all fields; a byte counts once for each field that contains it. The sum saturates far above the
/// limit.
fn contained(of: &Struct) -> u64 {
    let each = |field: &Field| {
        let one = inner(field).map_or(field.dtype.itemsize, contained);
        match field.count() {
            Some(count) => one.saturating_mul(count),
            None => u64::MAX,
        }
    };
    of.fields
        .iter()
        .map(each)
        .fold(0, |sum, bytes| sum.saturating_add(bytes))
}

fn inner(field: &Field) -> Option<&Struct> {
    match &field.dtype.kind {
        Kind::Struct(of) => Some(of),
        _ => None,
    }
}
