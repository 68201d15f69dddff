//! Bytes of elements, from their order to the least first and back.

use super::{ByteOrder, DType, Field, Kind};

impl DType {
    /// Turns the numbers in these elements, which have this type's byte order, to the least byte
    /// first. The same once more turns them back.
    ///
    /// Numbers in fields are turned each by its own order, the parts of complex numbers and the
    /// characters of text one by one; bytes and void stay as they are. What is left of an element that
    /// is not whole stays, too. Of fields that overlap each turns the bytes that it shares, so that
    /// neither is right: turn none of which [`DType::descr`] says so.
    ///
    /// ```
    /// let mut elements = [0, 0, 0, 1, 0, 0, 2, 0];
    /// bloscpack_dtype::DType::parse(">i4")?.to_little(&mut elements);
    /// assert_eq!(elements, [1, 0, 0, 0, 0, 2, 0, 0]);
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    pub fn to_little(&self, elements: &mut [u8]) {
        if let Kind::Struct(of) = &self.kind {
            let fields: Vec<_> = of.fields.iter().filter(|field| field.turns()).collect();
            let Ok(itemsize @ 1..) = usize::try_from(self.itemsize) else {
                return;
            };
            if !fields.is_empty() {
                let elements = elements.chunks_exact_mut(itemsize);
                elements.for_each(|element| fields.iter().for_each(|field| field.turn(element)));
            }
        } else if self.order == ByteOrder::Big {
            turn(elements, self.number());
        }
    }

    /// Whether [`DType::to_little`] changes anything: whether a number of an element has its greatest
    /// byte first.
    ///
    /// ```
    /// assert!(bloscpack_dtype::DType::parse("[('a', '<i4'), ('b', '>i4')]")?.is_big());
    /// # Ok::<(), bloscpack_dtype::DTypeError>(())
    /// ```
    #[must_use]
    pub fn is_big(&self) -> bool {
        match &self.kind {
            Kind::Struct(of) => of.fields.iter().any(Field::turns),
            _ => self.order == ByteOrder::Big,
        }
    }

    /// Bytes of each number that an element is made of.
    fn number(&self) -> u64 {
        match &self.kind {
            Kind::Complex => self.itemsize / 2,
            Kind::Text => 4,
            _ => self.itemsize,
        }
    }
}

impl Field {
    fn turns(&self) -> bool {
        self.dtype.is_big()
    }

    fn turn(&self, element: &mut [u8]) {
        let (Ok(start), Ok(len)) = (usize::try_from(self.offset), self.len()) else {
            return;
        };
        let end = usize::try_from(len)
            .ok()
            .and_then(|len| start.checked_add(len));
        if let Some(bytes) = end.and_then(|end| element.get_mut(start..end)) {
            self.dtype.to_little(bytes);
        }
    }
}

/// Turns each number of so many bytes.
fn turn(bytes: &mut [u8], len: u64) {
    match len {
        2 => turn_array::<2>(bytes),
        4 => turn_array::<4>(bytes),
        8 => turn_array::<8>(bytes),
        12 => turn_array::<12>(bytes),
        16 => turn_array::<16>(bytes),
        _ => {}
    }
}

/// Lengths that are known to the compiler become single instructions.
fn turn_array<const N: usize>(bytes: &mut [u8]) {
    let (numbers, _) = bytes.as_chunks_mut::<N>();
    numbers.iter_mut().for_each(|number| number.reverse());
}
