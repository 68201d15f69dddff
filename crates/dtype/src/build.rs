//! Constructors of [`DType`], and the alignment of its elements.

use super::layout::{MAX_ITEMSIZE, checked, laid_out, too_long};
use super::{ByteOrder, DType, DTypeError, Field, Kind, Struct, TimeUnit};

const fn plain(kind: Kind, itemsize: u64) -> DType {
    DType {
        kind,
        order: ByteOrder::Little,
        itemsize,
    }
}

/// The common dtypes, little-endian. The numbers are bits.
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
    pub const EMPTY: Self = plain(Kind::Void, 0);
}

impl DType {
    /// Makes a dtype, and checks it.
    ///
    /// | kind | `itemsize` in bytes |
    /// |---|---|
    /// | bool | 1 |
    /// | integers | 1, 2, 4, 8 |
    /// | floats | 2, 4, 8, 12, 16 |
    /// | complex numbers | 8, 16, 24, 32 |
    /// | times, objects | 8 |
    /// | text | a multiple of 4 |
    /// | bytes, void | any |
    /// | fields | at least the end of each field |
    ///
    /// `order` is ignored for kinds without numbers and for single bytes. [`Struct::aligned`] becomes false if the offset of a
    /// field or the item size does not fit the field's alignment.
    ///
    /// ```
    /// use bloscpack_dtype::{ByteOrder, DType, Kind};
    ///
    /// let dtype = DType::new(Kind::Int, ByteOrder::Big, 4)?;
    /// assert_eq!(dtype.to_string(), ">i4");
    /// assert!(DType::new(Kind::Int, ByteOrder::Big, 3).is_err());
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Fails for another size, for 2 GiB and more, for a time unit of 0 or more than 2^31 - 1 steps, for fields with an empty
    /// or repeated name or title, and for fields over one of the [limits](crate#limits).
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
        if !fits {
            let what = what(&kind);
            return Err(DTypeError::invalid(format!("{what} of {itemsize} bytes")));
        }
        if itemsize > MAX_ITEMSIZE {
            return Err(too_long(itemsize));
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

    /// A string of `len` bytes: `|S10`.
    ///
    /// ```
    /// assert_eq!(bloscpack_dtype::DType::bytes(10)?.to_string(), "|S10");
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Fails for 2 GiB and more.
    pub fn bytes(len: u64) -> Result<Self, DTypeError> {
        Self::new(Kind::Bytes, ByteOrder::Little, len)
    }

    /// A string of `chars` code points of four bytes each: `<U7`.
    ///
    /// ```
    /// let dtype = bloscpack_dtype::DType::text(7)?;
    /// assert_eq!((dtype.to_string().as_str(), dtype.itemsize()), ("<U7", 28));
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Fails for 2 GiB and more.
    pub fn text(chars: u64) -> Result<Self, DTypeError> {
        // A size that saturates is refused as too large.
        Self::new(Kind::Text, ByteOrder::Little, chars.saturating_mul(4))
    }

    /// `len` opaque bytes: `|V7`.
    ///
    /// ```
    /// assert_eq!(bloscpack_dtype::DType::void(7)?.to_string(), "|V7");
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Fails for 2 GiB and more.
    pub fn void(len: u64) -> Result<Self, DTypeError> {
        Self::new(Kind::Void, ByteOrder::Little, len)
    }

    /// Points in time: a count of units since 1970-01-01, `datetime64[ns]`.
    ///
    /// ```
    /// use bloscpack_dtype::{DType, TimeBase, TimeUnit};
    ///
    /// let dtype = DType::datetime(TimeUnit::one(TimeBase::Nano))?;
    /// assert_eq!(dtype.to_string(), "datetime64[ns]");
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the unit's count is 0 or exceeds 2^31 - 1.
    pub fn datetime(unit: TimeUnit) -> Result<Self, DTypeError> {
        Self::new(Kind::Datetime(unit), ByteOrder::Little, 8)
    }

    /// Durations: a count of units, `timedelta64[ms]`.
    ///
    /// ```
    /// use bloscpack_dtype::{DType, TimeBase, TimeUnit};
    ///
    /// let dtype = DType::timedelta(TimeUnit::one(TimeBase::Milli))?;
    /// assert_eq!(dtype.to_string(), "timedelta64[ms]");
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the unit's count is 0 or exceeds 2^31 - 1.
    pub fn timedelta(unit: TimeUnit) -> Result<Self, DTypeError> {
        Self::new(Kind::Timedelta(unit), ByteOrder::Little, 8)
    }

    /// A structured dtype. Each field is a name, a dtype and a shape; the shape is empty for a single value.
    ///
    /// Fields are packed without gaps, or, if `aligned`, padded as by a C compiler on a 64-bit machine. For other offsets or
    /// titles, fill a [`Struct`] and call [`DType::new`].
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    ///
    /// let fields = || vec![("a", DType::I8, vec![]), ("b", DType::F64, vec![2])];
    /// let packed = DType::structured(fields(), false)?;
    /// assert_eq!(packed.to_string(), "[('a', 'i1'), ('b', '<f8', (2,))]");
    /// assert_eq!(packed.itemsize(), 17);
    /// assert_eq!(DType::structured(fields(), true)?.itemsize(), 24);
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`DType::new`].
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

    /// Changes the byte order, also of all fields. Single bytes and types without numbers stay little-endian.
    ///
    /// ```
    /// use bloscpack_dtype::{ByteOrder, DType};
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

    /// The fields of a structured dtype; `None` for other kinds. The slice may be empty.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    ///
    /// let dtype = DType::parse("[('a', '<i4'), ('b', '<f8')]")?;
    /// let names: Vec<_> = dtype.fields().into_iter().flatten().map(|field| field.name.as_str()).collect();
    /// assert_eq!(names, ["a", "b"]);
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    #[must_use]
    pub fn fields(&self) -> Option<&[Field]> {
        match &self.kind {
            Kind::Struct(of) => Some(&of.fields),
            _ => None,
        }
    }

    /// Whether elements are Python objects. [`has_object`](Self::has_object) also looks into fields.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.kind == Kind::Object
    }

    /// Whether elements or any of their fields are Python objects.
    ///
    /// ```
    /// let dtype = bloscpack_dtype::DType::parse("[('a', '<i4'), ('b', [('c', 'O')])]")?;
    /// assert!(dtype.has_object() && !dtype.is_object());
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    #[must_use]
    pub fn has_object(&self) -> bool {
        let mut fields = self.fields().unwrap_or_default().iter();
        self.is_object() || fields.any(|field| field.dtype.has_object())
    }

    /// The alignment of elements in C on a 64-bit machine, as NumPy reports it.
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
        Kind::Struct(_) => "a struct",
        Kind::Object => "an object",
    }
}
