//! The size of an element in bytes, from the spelling of its dtype.

use bloscpack_dtype::{literal::Literal, of_literal};

/// Bytes of an element of this dtype: a string, or a list of fields. Refuses Python objects.
pub(super) fn itemsize(dtype: &Literal) -> Result<u64, String> {
    let dtype = of_literal(dtype, false).map_err(|error| error.to_string())?;
    if dtype.has_object() {
        let why = "is an object dtype (Python pointers) and cannot be stored";
        return Err(format!("{:?} {why}", dtype.to_string()));
    }
    Ok(dtype.itemsize())
}
