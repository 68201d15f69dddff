//! Reads and writes Parquet files.

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

/// The maximum number of rows in a row group.
const GROUP_ROWS: usize = 1 << 20;
/// The approximate maximum size of a row group, which is in memory until it is complete.
const GROUP_BYTES: usize = 64 << 20;
/// The magic number at both ends of a file.
const MAGIC: &[u8] = b"PAR1";
/// The maximum number of rows that are decoded at once.
const AT_ONCE: u64 = 1 << 16;

/// Writes a Parquet file, compressed with Zstandard, in row groups of up to 2^20 rows and about 64 MiB, which are held in
/// memory.
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
/// Returns `Code::Unsupported` for a type that Parquet lacks, `Code::Usage` for values that it cannot store, and errors of the
/// source and of the writer.
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

/// Writes a Parquet file with settings of the `parquet` crate, which this crate re-exports. A row group is held in memory, so
/// it is ended at about 64 MiB in any case.
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
/// Returns the errors of [`write_parquet`], and `Code::Unsupported` for a compression that this build lacks.
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

/// Opens a Parquet file. Columns of strings are read once to find the longest.
pub(crate) fn open_parquet(
    bytes: impl ReadAt + 'static,
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

fn reader<S: ReadAt + 'static>(
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

/// Refuses a footer with false lengths, by which the `parquet` crate would allocate memory.
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
