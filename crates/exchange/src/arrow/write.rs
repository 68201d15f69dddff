//! Writes Arrow files and streams.

use super::guard::guarded;
use super::tap::{Tap, TappedWriter};
use super::to::record_batch;
use super::types::{TypeMapping, schema_of};
use crate::format::Format;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use bloscpack_array::{Progress, Source, check_empty_rows, for_each};
use bloscpack_error::Result;
use std::io::{BufWriter, Write};
use std::sync::Arc;

/// Writes an Arrow file, also called Feather.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CTable;
/// use bloscpack_exchange::{Format, ImportOptions, Source, open_at, write_arrow};
///
/// let table = CTable::open("testdata/datasets/bcolz/table_mixed")?;
/// let mut file = Vec::new();
/// write_arrow(&mut table.source()?, &mut file, &mut |_| ())?;
/// let back = open_at(file, Format::Arrow, &ImportOptions::new())?;
/// assert_eq!(back.schema(), table.source()?.schema());
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns `Code::Unsupported` for a type that Arrow lacks, `Code::Usage` for values that it cannot store and for more than
/// 2^20 rows without bytes, and errors of the source and of the writer.
pub fn write_arrow(
    source: &mut dyn Source,
    to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    check_empty_rows(source)?;
    let tap = Tap::default();
    let to = TappedWriter {
        to: BufWriter::new(to),
        tap: tap.clone(),
    };
    let mapping = TypeMapping::default();
    let schema = Arc::new(schema_of(source.schema(), mapping)?);
    guarded(Format::Arrow, || {
        let wrong = |error| tap.arrow(error);
        let mut writer = FileWriter::try_new(to, &schema).map_err(wrong)?;
        for_each(source, progress, |columns, batch| {
            let rows = record_batch(&schema, columns, batch, mapping)?;
            writer.write(&rows).map_err(wrong)
        })?;
        writer.finish().map_err(wrong)?;
        Ok(writer.get_mut().flush()?)
    })
}

/// Writes an Arrow stream, which readers can begin to read before its end is written.
///
/// # Errors
/// Returns the errors of [`write_arrow`].
pub fn write_arrow_stream(
    source: &mut dyn Source,
    to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    check_empty_rows(source)?;
    let tap = Tap::default();
    let to = TappedWriter {
        to: BufWriter::new(to),
        tap: tap.clone(),
    };
    let mapping = TypeMapping::default();
    let schema = Arc::new(schema_of(source.schema(), mapping)?);
    guarded(Format::Arrow, || {
        let wrong = |error| tap.arrow(error);
        let mut writer = StreamWriter::try_new(to, &schema).map_err(wrong)?;
        for_each(source, progress, |columns, batch| {
            let rows = record_batch(&schema, columns, batch, mapping)?;
            writer.write(&rows).map_err(wrong)
        })?;
        writer.finish().map_err(wrong)?;
        Ok(writer.get_mut().flush()?)
    })
}
