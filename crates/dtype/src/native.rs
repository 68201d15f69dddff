//! [`Element`]: the Rust types of array elements.

use crate::{ByteOrder, DType, Kind};
use thiserror::Error;

/// A Rust type that array elements are read and written as: `i8` to `i64`, `u8` to `u64`, `f32` and `f64`.
///
/// Values are in the byte order of the machine. Functions that read or write typed elements convert arrays in the other
/// order. Datetimes and timedeltas are `i64`, bools are `u8`; other dtypes (halves, complex numbers, strings, fields) have no
/// Rust type and are handled as bytes. The trait is sealed.
///
/// ```
/// use bloscpack_dtype::{DType, Element};
///
/// assert_eq!(f64::DTYPE.to_string(), "float64");
/// assert!(i64::is(&DType::parse(">i8")?) && !u64::is(&DType::I64));
/// # Ok::<(), bloscpack_dtype::DTypeError>(())
/// ```
pub trait Element: bytemuck::Pod + private::Sealed {
    /// The dtype of new arrays of these values: little-endian on every machine.
    const DTYPE: DType;

    /// Whether elements of `dtype` can be read as this type. The byte order does not matter.
    fn is(dtype: &DType) -> bool;
}

mod private {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty, $dtype:expr => $kind:pat),* $(,)?) => {$(
        impl private::Sealed for $type {}

        impl Element for $type {
            const DTYPE: DType = $dtype;

            fn is(dtype: &DType) -> bool {
                matches!(dtype.kind(), $kind) && usize::try_from(dtype.itemsize()) == Ok(size_of::<Self>())
            }
        }
    )*};
}
elements! {
    i8, DType::I8 => Kind::Int,
    i16, DType::I16 => Kind::Int,
    i32, DType::I32 => Kind::Int,
    i64, DType::I64 => Kind::Int | Kind::Datetime(_) | Kind::Timedelta(_),
    u8, DType::U8 => Kind::Uint | Kind::Bool,
    u16, DType::U16 => Kind::Uint,
    u32, DType::U32 => Kind::Uint,
    u64, DType::U64 => Kind::Uint,
    f32, DType::F32 => Kind::Float,
    f64, DType::F64 => Kind::Float,
}

/// Checks that elements of this dtype can be read as `T`.
///
/// # Errors
/// Fails if [`Element::is`] is false.
pub fn check<T: Element>(dtype: &DType) -> Result<(), WrongElement> {
    if T::is(dtype) {
        return Ok(());
    }
    Err(WrongElement {
        dtype: dtype.clone(),
        asked: std::any::type_name::<T>(),
    })
}

/// The error for elements that were requested as another Rust type than they have.
///
/// ```
/// use bloscpack_dtype::{DType, WrongElement};
///
/// let error = WrongElement { dtype: DType::F64, asked: "i64" };
/// assert_eq!(error.to_string(), "elements are float64, not i64");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("elements are {dtype}, not {asked}")]
pub struct WrongElement {
    /// The dtype of the array.
    pub dtype: DType,
    /// The name of the Rust type that was requested.
    pub asked: &'static str,
}

/// Whether elements of this dtype are in the opposite byte order of this machine. False for single bytes.
pub fn is_turned<T: Element>(dtype: &DType) -> bool {
    let native = if cfg!(target_endian = "big") {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    };
    dtype.order() != native && size_of::<T>() > 1
}

/// Converts values between the byte orders of this dtype and of the machine, in place.
pub fn turn<T: Element>(dtype: &DType, values: &mut [T]) {
    if is_turned::<T>(dtype) {
        for value in bytemuck::cast_slice_mut::<T, u8>(values).chunks_exact_mut(size_of::<T>()) {
            value.reverse();
        }
    }
}
