//! How many bytes an element has, from the spelling of its dtype.

use bloscpack_dtype::{literal::Literal, of_literal};

/// Bytes of an element with this dtype: a string, or a list of fields.
pub(super) fn itemsize(dtype: &Literal) -> Result<u64, String> {
    let dtype = of_literal(dtype, false).map_err(|error| error.to_string())?;
    if dtype.has_object() {
        let why = "means pointers, which are worth nothing in a file";
        return Err(format!("{:?} {why}", dtype.to_string()));
    }
    Ok(dtype.itemsize())
}
