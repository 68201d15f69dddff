//! Elements as numbers, for drawing.

use bloscpack::dtype::{ByteOrder, DType, Kind};

/// The element as a float; `None` if it is not a number or is NaT ("not a time"). Need not be exact.
pub fn number(dtype: &DType, element: &[u8]) -> Option<f64> {
    let mut bytes = [0; 8];
    let to = bytes.get_mut(..element.len())?;
    to.copy_from_slice(element);
    if dtype.order() == ByteOrder::Big {
        to.reverse();
    }
    let found = match (dtype.kind(), element.len()) {
        (Kind::Float, 8) => f64::from_le_bytes(bytes),
        (Kind::Float, 4) => f32::from_le_bytes(*bytes.first_chunk()?).into(),
        (Kind::Bool | Kind::Uint, _) => unsigned(u64::from_le_bytes(bytes)),
        (Kind::Int | Kind::Timedelta(_) | Kind::Datetime(_), len) => signed(bytes, len)?,
        _ => dtype.value(element).as_f64()?,
    };
    found.is_finite().then_some(found)
}

/// Whether elements of this dtype can be drawn.
pub fn is_number(dtype: &DType) -> bool {
    let is_short = dtype.itemsize() <= 8;
    is_short
        && matches!(
            dtype.kind(),
            Kind::Bool
                | Kind::Int
                | Kind::Uint
                | Kind::Float
                | Kind::Datetime(_)
                | Kind::Timedelta(_)
        )
}

#[expect(clippy::cast_precision_loss, reason = "it is drawn")]
fn unsigned(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "it is drawn")]
fn signed(bytes: [u8; 8], len: usize) -> Option<f64> {
    let unused = 64 - 8 * u32::try_from(len).ok()?;
    let number = i64::from_le_bytes(bytes).checked_shl(unused)? >> unused;
    (number != i64::MIN).then_some(number as f64)
}
