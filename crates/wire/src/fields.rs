//! Little-endian fields at fixed places of a header.

/// `N` bytes at `at`; zeros past the end, where no caller reads: headers are arrays, or their
/// length is checked.
fn bytes<const N: usize>(from: &[u8], at: usize) -> [u8; N] {
    from.get(at..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .unwrap_or([0; N])
}

/// The byte at a position; 0 past the end.
pub fn u8_at(from: &[u8], at: usize) -> u8 {
    u8::from_le_bytes(bytes(from, at))
}

/// The little-endian number at a position; 0 if it reaches past the end.
pub fn u32_at(from: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes(from, at))
}

/// The little-endian number at a position; 0 if it reaches past the end.
pub(super) fn u64_at(from: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes(from, at))
}

/// The little-endian number at a position; 0 if it reaches past the end.
pub(super) fn i32_at(from: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(bytes(from, at))
}

/// The little-endian number at a position; 0 if it reaches past the end.
pub fn i64_at(from: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(bytes(from, at))
}

/// Copies a field to its place. The caller ensures that the place exists; otherwise nothing is
/// copied.
pub fn put(to: &mut [u8], at: usize, field: &[u8]) {
    if let Some(place) = to
        .get_mut(at..)
        .and_then(|rest| rest.get_mut(..field.len()))
    {
        place.copy_from_slice(field);
    }
}

/// A signed field in which -1 means unknown: `None` for that, the value up to `max`, or the number
/// as an error.
pub(super) fn known<T: TryFrom<i64>>(field: i64, max: i64) -> Result<Option<T>, i64> {
    match field {
        -1 => Ok(None),
        0.. if field <= max => T::try_from(field).map(Some).map_err(|_| field),
        _ => Err(field),
    }
}
