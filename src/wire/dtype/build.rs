//! How a type is made, and what makes it a sound one.

use super::error::{DTypeError, excerpt};
use super::{ByteOrder, DType, Field, Kind, Struct, TimeUnit};
use std::collections::HashSet;

/// NumPy's own bound on the dimensions of an array.
const MAX_DIMENSIONS: usize = 64;
/// NumPy counts the bytes of an element in a C `int`.
const MAX_ITEMSIZE: u64 = i32::MAX.unsigned_abs() as u64;
/// Fields within fields: more than anybody has, and what the stack still bears.
const MAX_DEPTH: usize = 32;
/// Fields of a type, with those of its fields.
const MAX_FIELDS: usize = 65_536;
/// How often the fields may show each byte of an element. A hostile type could show all of an
/// element in each of thousands of fields, and make a row of a few bytes into gigabytes of text.
const MAX_OVERLAP: u64 = 64;

const fn plain(kind: Kind, itemsize: u64) -> DType {
    DType {
        kind,
        order: ByteOrder::Little,
        itemsize,
    }
}

/// Types of which there is only one size, or the usual ones, with the least byte first.
#[allow(missing_docs, reason = "the names say it")]
impl DType {
    pub const BOOL: Self = plain(Kind::Bool, 1);
    pub const I8: Self = plain(Kind::Int, 1);
    pub const I16: Self = plain(Kind::Int, 2);
    pub const I32: Self = plain(Kind::Int, 4);
    pub const I64: Self = plain(Kind::Int, 8);
    pub const U8: Self = plain(Kind::Uint, 1);
    pub const U16: Self = plain(Kind::Uint, 2);
    pub const U32: Self = plain(Kind::Uint, 4);
    pub const U64: Self = plain(Kind::Uint, 8);
    pub const F16: Self = plain(Kind::Float, 2);
    pub const F32: Self = plain(Kind::Float, 4);
    pub const F64: Self = plain(Kind::Float, 8);
    pub const C64: Self = plain(Kind::Complex, 8);
    pub const C128: Self = plain(Kind::Complex, 16);
    pub const OBJECT: Self = plain(Kind::Object, 8);
}

impl DType {
    /// A type of this kind, whose elements have so many bytes.
    ///
    /// What has no byte order becomes little, and fields that are not where C would put them are not
    /// `aligned`, whatever is asked for.
    ///
    /// ```
    /// use bloscpack::wire::dtype::{ByteOrder, DType, Kind};
    ///
    /// let dtype = DType::new(Kind::Int, ByteOrder::Big, 4)?;
    /// assert_eq!(dtype.to_string(), ">i4");
    /// assert!(DType::new(Kind::Int, ByteOrder::Big, 3).is_err());
    /// # Ok::<(), bloscpack::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such type: a size that the kind does not have, or one of 2 GiB and more; fields
    /// that do not fit, that have no name or the same, or of which there are more than 65,536, nested
    /// deeper than 32 or overlapping more than 64 times.
    pub fn new(kind: Kind, order: ByteOrder, itemsize: u64) -> Result<Self, DTypeError> {
        let fits = match &kind {
            Kind::Bool => itemsize == 1,
            Kind::Int | Kind::Uint => matches!(itemsize, 1 | 2 | 4 | 8),
            Kind::Float => matches!(itemsize, 2 | 4 | 8 | 12 | 16),
            Kind::Complex => matches!(itemsize, 8 | 16 | 24 | 32),
            Kind::Datetime(_) | Kind::Timedelta(_) | Kind::Object => itemsize == 8,
            Kind::Text => itemsize.is_multiple_of(4),
            Kind::Bytes | Kind::Void | Kind::Struct(_) => true,
        };
        if !fits || itemsize > MAX_ITEMSIZE {
            let what = what(&kind);
            return Err(DTypeError::new(format!(
                "{what} of {itemsize} bytes an element"
            )));
        }
        let ordered = has_order(&kind) && itemsize != 1;
        let order = if ordered { order } else { ByteOrder::Little };
        let kind = match kind {
            Kind::Datetime(unit) => Kind::Datetime(unit.checked()?),
            Kind::Timedelta(unit) => Kind::Timedelta(unit.checked()?),
            Kind::Struct(fields) => Kind::Struct(checked(fields, itemsize)?),
            other => other,
        };
        Ok(Self {
            kind,
            order,
            itemsize,
        })
    }

    /// Bytes of a fixed length, `|S10`.
    ///
    /// ```
    /// assert_eq!(bloscpack::DType::bytes(10)?.to_string(), "|S10");
    /// # Ok::<(), bloscpack::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// If they are 2 GiB and more.
    pub fn bytes(len: u64) -> Result<Self, DTypeError> {
        Self::new(Kind::Bytes, ByteOrder::Little, len)
    }

    /// Text of so many characters, `<U7`.
    ///
    /// ```
    /// let dtype = bloscpack::DType::text(7)?;
    /// assert_eq!((dtype.to_string().as_str(), dtype.itemsize()), ("<U7", 28));
    /// # Ok::<(), bloscpack::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// If they are 2 GiB and more.
    pub fn text(chars: u64) -> Result<Self, DTypeError> {
        Self::new(Kind::Text, ByteOrder::Little, chars.saturating_mul(4))
    }

    /// Bytes of which nothing is known, `|V7`.
    ///
    /// # Errors
    /// If they are 2 GiB and more.
    pub fn void(len: u64) -> Result<Self, DTypeError> {
        Self::new(Kind::Void, ByteOrder::Little, len)
    }

    /// Moments, as so many of a unit since 1970.
    ///
    /// ```
    /// use bloscpack::wire::dtype::{DType, TimeBase, TimeUnit};
    ///
    /// let dtype = DType::datetime(TimeUnit::one(TimeBase::Nano))?;
    /// assert_eq!(dtype.to_string(), "datetime64[ns]");
    /// # Ok::<(), bloscpack::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// If the unit counts no or too many steps.
    pub fn datetime(unit: TimeUnit) -> Result<Self, DTypeError> {
        Self::new(Kind::Datetime(unit), ByteOrder::Little, 8)
    }

    /// Spans, as so many of a unit.
    ///
    /// # Errors
    /// If the unit counts no or too many steps.
    pub fn timedelta(unit: TimeUnit) -> Result<Self, DTypeError> {
        Self::new(Kind::Timedelta(unit), ByteOrder::Little, 8)
    }

    /// Fields side by side, each with its name, type, and how many of them along each axis: one
    /// behind the other, or `aligned` as C would lay them out on a machine of 64 bits.
    ///
    /// ```
    /// use bloscpack::DType;
    ///
    /// let fields = || vec![("a", DType::I8, vec![]), ("b", DType::F64, vec![2])];
    /// let packed = DType::structured(fields(), false)?;
    /// assert_eq!(packed.to_string(), "[('a', 'i1'), ('b', '<f8', (2,))]");
    /// assert_eq!(packed.itemsize(), 17);
    /// assert_eq!(DType::structured(fields(), true)?.itemsize(), 24);
    /// # Ok::<(), bloscpack::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// As [`DType::new`].
    pub fn structured<N: Into<String>>(
        fields: Vec<(N, Self, Vec<u64>)>,
        aligned: bool,
    ) -> Result<Self, DTypeError> {
        let fields = fields.into_iter().map(|(name, dtype, shape)| Field {
            name: name.into(),
            title: None,
            dtype,
            shape,
            offset: 0,
        });
        let (fields, itemsize) = laid_out(fields.collect(), aligned)?;
        Self::new(
            Kind::Struct(Box::new(Struct { fields, aligned })),
            ByteOrder::Little,
            itemsize,
        )
    }

    /// The same type with the bytes of its numbers in this order, also those of its fields.
    ///
    /// ```
    /// use bloscpack::wire::dtype::{ByteOrder, DType};
    ///
    /// assert_eq!(DType::F64.with_order(ByteOrder::Big).to_string(), ">f8");
    /// assert_eq!(DType::U8.with_order(ByteOrder::Big), DType::U8);
    /// ```
    #[must_use]
    pub fn with_order(mut self, order: ByteOrder) -> Self {
        if let Kind::Struct(of) = &mut self.kind {
            for field in &mut of.fields {
                let dtype = std::mem::replace(&mut field.dtype, Self::BOOL);
                field.dtype = dtype.with_order(order);
            }
        } else if has_order(&self.kind) && self.itemsize != 1 {
            self.order = order;
        }
        self
    }

    /// The fields of an element, if it has some.
    #[must_use]
    pub fn fields(&self) -> Option<&[Field]> {
        match &self.kind {
            Kind::Struct(of) => Some(&of.fields),
            _ => None,
        }
    }

    /// Whether elements are Python objects.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.kind == Kind::Object
    }

    /// Whether elements or any of their fields are Python objects.
    ///
    /// ```
    /// let dtype = bloscpack::DType::parse("[('a', '<i4'), ('b', [('c', 'O')])]")?;
    /// assert!(dtype.has_object() && !dtype.is_object());
    /// # Ok::<(), bloscpack::DTypeError>(())
    /// ```
    #[must_use]
    pub fn has_object(&self) -> bool {
        let mut fields = self.fields().unwrap_or_default().iter();
        self.is_object() || fields.any(|field| field.dtype.has_object())
    }

    /// The alignment that a C compiler gives it on a machine of 64 bits, as NumPy says it.
    pub(super) fn alignment(&self) -> u64 {
        match &self.kind {
            Kind::Complex => complex_alignment(self.itemsize),
            Kind::Float if self.itemsize == 12 => 4,
            Kind::Text => 4,
            Kind::Bytes | Kind::Void => 1,
            Kind::Struct(of) if of.aligned => {
                let fields = of.fields.iter().map(|field| field.dtype.alignment());
                fields.max().unwrap_or(1)
            }
            Kind::Struct(_) => 1,
            _ => self.itemsize,
        }
    }
}

const fn complex_alignment(itemsize: u64) -> u64 {
    match itemsize {
        24 => 4,
        _ => itemsize / 2,
    }
}

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
        let len = count.and_then(|count| count.checked_mul(self.dtype.itemsize));
        let len = len.filter(|len| *len <= MAX_ITEMSIZE);
        len.ok_or_else(|| self.wrong(&format!("more than {MAX_ITEMSIZE} bytes")))
    }

    fn wrong(&self, what: &str) -> DTypeError {
        DTypeError::new(format!("the field {} has {what}", excerpt(&self.name)))
    }
}

fn has_order(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Bool | Kind::Bytes | Kind::Void | Kind::Struct(_) | Kind::Object
    )
}

fn what(kind: &Kind) -> &'static str {
    match kind {
        Kind::Bool => "a bool",
        Kind::Int => "a signed integer",
        Kind::Uint => "an unsigned integer",
        Kind::Float => "a float",
        Kind::Complex => "a complex number",
        Kind::Bytes => "bytes",
        Kind::Text => "text",
        Kind::Datetime(_) | Kind::Timedelta(_) => "a time",
        Kind::Void => "void",
        Kind::Struct(_) => "fields",
        Kind::Object => "an object",
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
fn checked(mut of: Box<Struct>, itemsize: u64) -> Result<Box<Struct>, DTypeError> {
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
