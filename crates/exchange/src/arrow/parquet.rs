//! Files of Parquet's.

use super::chunks::Chunks;
use super::footer::footer;
use super::guard::guarded;
use super::measure::Plans;
use super::pieces::ArrowSource;
use super::tap::{Tap, TappedWriter};
use super::thrift;
use super::to::record_batch;
use super::types::{TypeMapping, noted, schema_of};
use crate::error::damaged;
use crate::format::Format;
use crate::options::ImportOptions;
use bloscpack_array::{BATCH, BoxedSource, Progress, Source, for_each};
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_storage::ReadAt;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::{BufWriter, Write};
use std::sync::Arc;

/// Rows of a group at the most.
const GROUP_ROWS: usize = 1 << 20;
/// Bytes of a group at the most, about: it is held in memory until it is complete.
const GROUP_BYTES: usize = 64 << 20;
/// The magic at both ends of a file.
const MAGIC: &[u8] = b"PAR1";
/// Rows that are decoded at once at the most.
const AT_ONCE: u64 = 1 << 16;

/// Writes a file of Parquet's, compressed with Zstandard.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CTable;
/// use bloscpack_exchange::{Format, ImportOptions, Source, open_at, write_parquet};
///
/// let table = CTable::open("testdata/datasets/bcolz/table_mixed")?;
/// let mut file = Vec::new();
/// write_parquet(&mut table.source()?, &mut file, &mut |_| ())?;
/// let back = open_at(file, Format::Parquet, &ImportOptions::new())?;
/// assert_eq!(back.schema(), table.source()?.schema());
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns wrong usage for what Parquet has no type for, and errors of the source and of the writer.
pub fn write_parquet(
    source: &mut dyn Source,
    to: impl Write + Send,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .build();
    write_parquet_with(source, to, properties, progress)
}

/// Writes a file of Parquet's with settings of its own crate. Whatever they are, a group has no more than about 64 MiB, since
/// it is held in memory until it is complete.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CTable;
/// use bloscpack_exchange::parquet::{basic::Compression, file::properties::WriterProperties};
/// use bloscpack_exchange::{write_parquet_with};
///
/// let table = CTable::open("testdata/datasets/bcolz/table_mixed")?;
/// let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
/// let mut file = Vec::new();
/// write_parquet_with(&mut table.source()?, &mut file, properties, &mut |_| ())?;
/// assert!(file.starts_with(b"PAR1"));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`write_parquet`], and those of a compression that this build does not have.
pub fn write_parquet_with(
    source: &mut dyn Source,
    to: impl Write + Send,
    properties: WriterProperties,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let tap = Tap::default();
    let to = TappedWriter {
        to: BufWriter::new(to),
        tap: tap.clone(),
    };
    let mapping = TypeMapping {
        parquet: true,
        ..TypeMapping::default()
    };
    let schema = Arc::new(schema_of(source.schema(), mapping)?);
    guarded(Format::Parquet, || {
        let wrong = |error| tap.parquet(error);
        let writer = ArrowWriter::try_new(to, Arc::clone(&schema), Some(properties));
        let mut writer = writer.map_err(wrong)?;
        for_each(source, progress, |columns, batch| {
            let rows = record_batch(&schema, columns, batch, mapping)?;
            writer.write(&rows).map_err(wrong)?;
            if writer.in_progress_size() > GROUP_BYTES {
                writer.flush().map_err(wrong)
            } else {
                Ok(())
            }
        })?;
        let mut to = writer.into_inner().map_err(wrong)?;
        Ok(to.flush()?)
    })
}

/// Opens a file of Parquet's. Where strings are only as long as the longest, all of them are looked at.
pub(crate) fn open_parquet(
    bytes: impl ReadAt + Send + Sync + 'static,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    guarded(Format::Parquet, || {
        let chunks = Chunks::new(bytes)?;
        check_footer(&chunks)?;
        let metadata = ArrowReaderMetadata::load(&chunks, ArrowReaderOptions::new());
        let metadata = metadata.map_err(|error| chunks.tap.parquet(error))?;
        let mut plans = Plans::of(Format::Parquet, metadata.schema(), options)?;
        let rows = metadata.metadata().file_metadata().num_rows();
        let rows = u64::try_from(rows)
            .map_err(|_| damaged(Format::Parquet, "footer", format!("{rows} rows")))?;
        let unknown = plans.unknown();
        if !unknown.is_empty() {
            let roots = ProjectionMask::roots(metadata.parquet_schema(), unknown);
            let mut reader = reader(&chunks, &metadata, 1024, Some(roots))?;
            for rows in &mut reader {
                plans.see(&rows.map_err(|error| chunks.tap.arrow(error))?)?;
            }
        }
        let schema = noted(metadata.schema(), plans.columns()?)?;
        let at_once = (to_u64(BATCH) / schema.row_bytes().max(1)).clamp(1, AT_ONCE);
        let mut reader = reader(&chunks, &metadata, in_memory(at_once)?, None)?;
        let batches = Box::new(move || {
            let rows = reader.next().transpose();
            rows.map_err(|error| chunks.tap.arrow(error))
        });
        let source = ArrowSource::new(Format::Parquet, schema, options, rows, batches);
        Ok(Box::new(source) as BoxedSource<'static>)
    })
}

fn reader<S: ReadAt + Send + Sync + 'static>(
    chunks: &Chunks<S>,
    metadata: &ArrowReaderMetadata,
    at_once: usize,
    columns: Option<ProjectionMask>,
) -> Result<ParquetRecordBatchReader> {
    let builder =
        ParquetRecordBatchReaderBuilder::new_with_metadata(chunks.clone(), metadata.clone());
    let builder = builder.with_batch_size(at_once);
    let builder = match columns {
        Some(columns) => builder.with_projection(columns),
        None => builder,
    };
    builder.build().map_err(|error| chunks.tap.parquet(error))
}

/// Refuses a footer with false lengths, for which the crate would allocate memory.
fn check_footer<S: ReadAt>(chunks: &Chunks<S>) -> Result<()> {
    let footer = footer(chunks, Format::Parquet, MAGIC)?;
    if thrift::is_sound(&footer) {
        Ok(())
    } else {
        let len = footer.len();
        let found = format!("its {len} bytes contradict each other");
        Err(damaged(Format::Parquet, "footer", found))
    }
}
