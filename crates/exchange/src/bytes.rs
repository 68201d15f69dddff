//! [`write_bytes`]: the elements of a column without a header.

use super::format::Format;
use super::refuse::{refuse_missing, refuse_varying};
use bloscpack_array::{Progress, Source, for_each};
use bloscpack_error::Result;
use std::io::Write;

/// Writes the elements of the only column, in C order and in the byte order of its dtype, without a header.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CArray;
/// use bloscpack_exchange::{ArraySource, write_bytes};
///
/// let array = CArray::open("testdata/datasets/bcolz/py2_int64")?;
/// let mut bytes = Vec::new();
/// write_bytes(&mut ArraySource::new(&array)?.range(3..5)?, &mut bytes, &mut |_| ())?;
/// assert_eq!(bytes, array.read_rows(3..5)?);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns `Code::Usage` unless there is exactly one column, `Code::CannotStore` for missing values and values of varying
/// length, and errors of the source and of the writer.
pub fn write_bytes(
    source: &mut dyn Source,
    mut to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    source.schema().only("bytes are those of one column")?;
    refuse_varying(source.schema(), Format::Bytes)?;
    for_each(source, progress, |schema, batch| {
        refuse_missing(schema, &batch, Format::Bytes)?;
        Ok(batch
            .columns
            .iter()
            .try_for_each(|bytes| to.write_all(bytes))?)
    })?;
    Ok(to.flush()?)
}
