//! Conversion of elements to little-endian and back.

use super::{ByteOrder, DType, Field, Kind};

impl DType {
    /// Converts elements between this dtype's byte order and little-endian, in place: a second call converts them back. Does
    /// nothing for little-endian dtypes.
    ///
    /// Every big-endian number is swapped: in fields by the order of each field, the parts of complex numbers, and the
    /// characters of text. Bytes, void and an incomplete element at the end are left unchanged.
    ///
    /// Do not call it for overlapping big-endian fields: bytes that they share are swapped more than once. [`DType::descr`]
    /// returns an error for such dtypes.
    ///
    /// ```
    /// let mut elements = [0, 0, 0, 1, 0, 0, 2, 0];
    /// bloscpack_dtype::DType::parse(">i4")?.to_little(&mut elements);
    /// assert_eq!(elements, [1, 0, 0, 0, 0, 2, 0, 0]);
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    pub fn to_little(&self, elements: &mut [u8]) {
        if let Kind::Struct(of) = &self.kind {
            let fields: Vec<_> = of
                .fields
                .iter()
                .filter(|field| field.is_swapped())
                .collect();
            let Ok(itemsize @ 1..) = usize::try_from(self.itemsize) else {
                return;
            };
            if !fields.is_empty() {
                let elements = elements.chunks_exact_mut(itemsize);
                elements.for_each(|element| fields.iter().for_each(|field| field.swap(element)));
            }
        } else if self.order == ByteOrder::Big {
            swap(elements, self.number());
        }
    }

    /// Whether any number of an element is big-endian, also in fields. If not, [`DType::to_little`] changes nothing.
    ///
    /// ```
    /// assert!(bloscpack_dtype::DType::parse("[('a', '<i4'), ('b', '>i4')]")?.is_big());
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    #[must_use]
    pub fn is_big(&self) -> bool {
        match &self.kind {
            Kind::Struct(of) => of.fields.iter().any(Field::is_swapped),
            _ => self.order == ByteOrder::Big,
        }
    }

    /// Bytes of each number in an element.
    fn number(&self) -> u64 {
        match &self.kind {
            Kind::Complex => self.itemsize / 2,
            Kind::Text => 4,
            _ => self.itemsize,
        }
    }
}

impl Field {
    fn is_swapped(&self) -> bool {
        self.dtype.is_big()
    }

    fn swap(&self, element: &mut [u8]) {
        // `DType::new` has checked that each field is inside the element.
        if let Some(bytes) = self.range().and_then(|range| element.get_mut(range)) {
            self.dtype.to_little(bytes);
        }
    }
}

/// Reverses the bytes of each number of `len` bytes.
fn swap(bytes: &mut [u8], len: u64) {
    match len {
        2 => swap_array::<2>(bytes),
        4 => swap_array::<4>(bytes),
        8 => swap_array::<8>(bytes),
        12 => swap_array::<12>(bytes),
        16 => swap_array::<16>(bytes),
        _ => {}
    }
}

/// The constant length lets the compiler use a single swap instruction.
fn swap_array<const N: usize>(bytes: &mut [u8]) {
    let (numbers, _) = bytes.as_chunks_mut::<N>();
    numbers.iter_mut().for_each(|number| number.reverse());
}
