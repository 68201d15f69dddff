//! Several chunks behind the header of the carray proposal.

use super::{Contents, Framing};
use crate::error::Result;
use crate::storage::Object;

pub(super) fn read(_file: &dyn Object) -> Result<Contents> {
    todo!()
}

pub(super) fn write(_framing: &Framing, _chunks: &[impl AsRef<[u8]>]) -> Result<Vec<u8>> {
    todo!()
}
