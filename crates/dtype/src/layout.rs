//! Where the fields of an element lie, and what makes that sound.

use super::error::{DTypeError, excerpt};
use super::{Field, Kind, Struct};
use std::collections::HashSet;

/// NumPy's own bound on the dimensions of an array.
const MAX_DIMENSIONS: usize = 64;
/// NumPy counts the bytes of an element in a C `int`.
pub(super) const MAX_ITEMSIZE: u64 = i32::MAX.unsigned_abs() as u64;
/// Fields within fields: more than anybody has, and what the stack still bears.
const MAX_DEPTH: usize = 32;
/// Fields of a type, with those of its fields.
const MAX_FIELDS: usize = 65_536;
/// How often the fields may show each byte of an element. A hostile type could show all of an
/// element in each of thousands of fields, and make a row of a few bytes into gigabytes of text.
const MAX_OVERLAP: u64 = 64;

impl Field {
    /// How many elements it has; `None` if that cannot be counted.
    pub(super) fn count(&self) -> Option<u64> {
        let mut axes = self.shape.iter();
        axes.try_fold(1_u64, |product, len| product.checked_mul(*len))
    }

    /// Its bytes.
    pub(super) fn len(&self) -> Result<u64, DTypeError> {
        if self.shape.len() > MAX_DIMENSIONS {
            let found = self.shape.len();
            let what = format!("{found} dimensions, over the limit of {MAX_DIMENSIONS}");
            return Err(self.wrong(&what));
        }
        // Whatever their product: NumPy has each in a C `int`.
        let fits = self.shape.iter().all(|len| *len <= MAX_ITEMSIZE);
        let count = if fits { self.count() } else { None };
        // Also of elements without bytes, which somebody may count.
        let count = count.filter(|count| *count <= MAX_ITEMSIZE);
        let len = count.and_then(|count| count.checked_mul(self.dtype.itemsize));
        let len = len.filter(|len| *len <= MAX_ITEMSIZE);
        len.ok_or_else(|| self.wrong(&format!("more than {MAX_ITEMSIZE} bytes or elements")))
    }

    fn wrong(&self, what: &str) -> DTypeError {
        DTypeError::new(format!("the field {} has {what}", excerpt(&self.name)))
    }
}

/// Puts the fields one behind the other, or where C would, and says how many bytes they all have.
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
        end = end.saturating_add(field.len()?);
        if end > MAX_ITEMSIZE {
            let why = format!("fields of more than {MAX_ITEMSIZE} bytes an element");
            return Err(DTypeError::new(why));
        }
    }
    Ok((fields, end.next_multiple_of(alignment)))
}

/// Makes sure that the fields can be those of elements of so many bytes.
pub(super) fn checked(mut of: Box<Struct>, itemsize: u64) -> Result<Box<Struct>, DTypeError> {
    names_differ(&of.fields)?;
    for field in &of.fields {
        let end = field.offset.saturating_add(field.len()?);
        if end > itemsize {
            let what = format!("its end at byte {end} of elements of {itemsize}");
            return Err(field.wrong(&what));
        }
    }
    let fields = count(&of);
    if fields > MAX_FIELDS {
        let why = format!("{fields} fields, over the limit of {MAX_FIELDS}");
        return Err(DTypeError::new(why));
    }
    if depth(&of) > MAX_DEPTH {
        let why = format!("fields nested deeper than {MAX_DEPTH}");
        return Err(DTypeError::new(why));
    }
    if shown(&of) > itemsize.saturating_mul(MAX_OVERLAP) {
        let why = format!("fields that overlap more than {MAX_OVERLAP} times");
        return Err(DTypeError::new(why));
    }
    of.aligned = of.aligned && is_aligned(&of.fields, itemsize);
    Ok(of)
}

fn names_differ(fields: &[Field]) -> Result<(), DTypeError> {
    let mut names = HashSet::new();
    for field in fields {
        if field.name.is_empty() {
            return Err(DTypeError::new("a field without a name"));
        }
        for name in [Some(&field.name), field.title.as_ref()]
            .into_iter()
            .flatten()
        {
            if !names.insert(name) {
                let why = format!("{} is the name of two fields", excerpt(name));
                return Err(DTypeError::new(why));
            }
        }
    }
    Ok(())
}

/// Whether everything begins where a C compiler could have put it.
fn is_aligned(fields: &[Field], itemsize: u64) -> bool {
    fields.iter().all(|field| {
        let alignment = field.dtype.alignment();
        field.offset.is_multiple_of(alignment) && itemsize.is_multiple_of(alignment)
    })
}

/// All fields, with those within.
fn count(of: &Struct) -> usize {
    let within = |field: &Field| inner(field).map_or(0, count);
    of.fields.iter().map(|field| 1 + within(field)).sum()
}

fn depth(of: &Struct) -> usize {
    let within = |field: &Field| inner(field).map_or(0, depth);
    1 + of.fields.iter().map(within).max().unwrap_or(0)
}

/// Bytes that the fields show, of which overlapping ones count as often as they are shown.
fn shown(of: &Struct) -> u64 {
    let each = |field: &Field| {
        let one = inner(field).map_or(field.dtype.itemsize, shown);
        one.saturating_mul(field.count().unwrap_or(u64::MAX))
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
