//! [`Element`]: types of Rust that elements of an array are.

use crate::DType;
use crate::{ByteOrder, Kind};
use std::fmt;

/// A type whose values are elements of an array: the integers and floats of Rust, of the same width.
///
/// Big-endian arrays are read and written in their order; moments and spans of time are `i64`.
pub trait Element: bytemuck::Pod + private::Sealed {
    /// The dtype of such elements, little-endian.
    const DTYPE: DType;

    /// Whether elements of this dtype are such values.
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

/// Refuses elements of another type.
pub fn check<T: Element>(dtype: &DType) -> Result<(), WrongElement> {
    if T::is(dtype) {
        return Ok(());
    }
    Err(WrongElement {
        dtype: dtype.clone(),
        asked: std::any::type_name::<T>(),
    })
}

/// An array was asked for elements of a type that it does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongElement {
    /// The dtype of the array.
    pub dtype: DType,
    /// The name of the Rust type that was asked for.
    pub asked: &'static str,
}

impl fmt::Display for WrongElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the elements are {}, not {}", self.dtype, self.asked)
    }
}

impl std::error::Error for WrongElement {}

/// Whether elements of this dtype lie the other way round than in this machine.
pub fn is_turned<T: Element>(dtype: &DType) -> bool {
    let native = if cfg!(target_endian = "big") {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    };
    dtype.order() != native && size_of::<T>() > 1
}

/// Turns elements that are as the array has them into those of this machine, or back.
pub fn turn<T: Element>(dtype: &DType, values: &mut [T]) {
    if is_turned::<T>(dtype) {
        for value in bytemuck::cast_slice_mut::<T, u8>(values).chunks_exact_mut(size_of::<T>()) {
            value.reverse();
        }
    }
}
