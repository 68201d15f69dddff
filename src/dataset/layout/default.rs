//! Default values: JSON in `meta/storage`, bytes in memory.
use crate::wire::DType;
pub(super) fn parse(_: &str, dtype: &DType, _: u64) -> Option<Vec<u8>> {
    Some(vec![0; usize::try_from(dtype.itemsize()).ok()?])
}
pub(super) fn text(_: &DType, _: &[u8]) -> String {
    "0".to_owned()
}
