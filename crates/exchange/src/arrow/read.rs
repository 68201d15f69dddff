//! Reads Arrow files.

use super::chunks::Chunks;
use super::footer::footer;
use super::guard::guarded;
use super::measure::Plans;
use super::pieces::ArrowSource;
use super::types::noted;
use crate::error::{self, over_limit, unsupported};
use crate::format::Format;
use crate::options::ImportOptions;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, MetadataVersion, RecordBatch as BatchHead};
use arrow_schema::{Schema as ArrowSchema, SchemaRef};
use bloscpack_array::BoxedSource;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use std::sync::Arc;

/// The magic number at both ends of a file.
const MAGIC: &[u8] = b"ARROW1";
/// The maximum decompressed size of a batch in bytes.
const MAX_BATCH: u64 = 2 << 30;

/// Opens an Arrow file. Columns of strings are read once to find the longest.
pub(crate) fn open_arrow(
    bytes: impl ReadAt + 'static,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    guarded(Format::Arrow, || {
        let mut file = ArrowFile::open(bytes)?;
        let mut plans = Plans::of(Format::Arrow, &file.schema, options)?;
        let rows = file.rows()?;
        let unknown = plans.unknown();
        if !unknown.is_empty() {
            let decoder = file.decoder()?.with_projection(unknown);
            for block in &file.blocks {
                if let Some(rows) = file.batch(&decoder, block)? {
                    plans.see(&rows)?;
                }
            }
        }
        let schema = noted(&file.schema, plans.columns()?)?;
        let decoder = file.decoder()?;
        let mut blocks = std::mem::take(&mut file.blocks).into_iter();
        let batches = Box::new(move || match blocks.next() {
            Some(block) => file.batch(&decoder, &block),
            None => Ok(None),
        });
        let source = ArrowSource::new(Format::Arrow, schema, options, rows, batches);
        Ok(Box::new(source) as BoxedSource<'static>)
    })
}

/// An Arrow file. Every length in it is checked before memory is allocated.
struct ArrowFile<S> {
    chunks: Chunks<S>,
    schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    blocks: Vec<Block>,
}

/// The error for a damaged part of a file.
fn damaged(part: &'static str, found: impl std::fmt::Display) -> Error {
    error::damaged(Format::Arrow, part, found)
}

impl<S: ReadAt> ArrowFile<S> {
    fn open(bytes: S) -> Result<Self> {
        let chunks = Chunks::new(bytes)?;
        let footer = footer(&chunks, Format::Arrow, MAGIC)?;
        let footer =
            arrow_ipc::root_as_footer(&footer).map_err(|error| damaged("footer", error))?;
        let schema = footer
            .schema()
            .ok_or_else(|| damaged("footer", "no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(unsupported(
                Format::Arrow,
                "byte order",
                "that of another machine",
            ));
        }
        let schema: ArrowSchema = arrow_ipc::convert::fb_to_schema(schema);
        let dictionaries = footer.dictionaries().into_iter().flatten();
        let blocks = footer.recordBatches().into_iter().flatten();
        Ok(Self {
            schema: Arc::new(schema),
            version: footer.version(),
            dictionaries: dictionaries.copied().collect(),
            blocks: blocks.copied().collect(),
            chunks,
        })
    }

    /// A decoder that has read the dictionaries.
    fn decoder(&self) -> Result<FileDecoder> {
        let mut decoder = FileDecoder::new(Arc::clone(&self.schema), self.version);
        for block in &self.dictionaries {
            let buffer = self.buffer(block)?;
            decoder
                .read_dictionary(block, &buffer)
                .map_err(|error| self.chunks.tap.arrow(error))?;
        }
        Ok(decoder)
    }

    fn batch(&self, decoder: &FileDecoder, block: &Block) -> Result<Option<RecordBatch>> {
        let buffer = self.buffer(block)?;
        let rows = decoder.read_record_batch(block, &buffer);
        rows.map_err(|error| self.chunks.tap.arrow(error))
    }

    /// The bytes of a block, message and body, after its decompressed size was checked.
    fn buffer(&self, block: &Block) -> Result<Buffer> {
        let (at, head, body) = places(block)?;
        let len = head
            .checked_add(body)
            .ok_or_else(|| damaged("block", format!("parts of {head} and {body} bytes")))?;
        let all = self.chunks.read(at, len)?;
        let (message, body) = all
            .split_at_checked(in_memory(head)?)
            .ok_or_else(|| Error::bug(format!("{len} bytes without the first {head}")))?;
        if let Some(batch) = batch_head(message)? {
            check_decompressed(&batch, body)?;
        }
        Ok(Buffer::from(all.as_slice()))
    }

    /// The number of rows that all batches claim.
    fn rows(&self) -> Result<u64> {
        let mut rows = 0u64;
        for block in &self.blocks {
            let (at, head, _) = places(block)?;
            let message = self.chunks.read(at, head)?;
            let batch = batch_head(&message)?;
            // A message other than a batch has no rows.
            let len = batch.map_or(0, |batch| batch.length());
            let sum = u64::try_from(len)
                .ok()
                .and_then(|len| rows.checked_add(len));
            rows = sum.ok_or_else(|| damaged("batch", format!("{len} rows after {rows}")))?;
        }
        Ok(rows)
    }
}

/// The position of a block, and the lengths of its message and its body.
fn places(block: &Block) -> Result<(u64, u64, u64)> {
    let sound = |part: i64| {
        u64::try_from(part).map_err(|_| damaged("block", format!("position or length {part}")))
    };
    Ok((
        sound(block.offset())?,
        sound(block.metaDataLength().into())?,
        sound(block.bodyLength())?,
    ))
}

/// The header of the batch in a message; for a dictionary, of its values.
fn batch_head(message: &[u8]) -> Result<Option<BatchHead<'_>>> {
    // A marker and a length, or in old files the length alone.
    let skip = match message.get(..4) {
        Some([0xff, 0xff, 0xff, 0xff]) => 8,
        _ => 4,
    };
    let len = message.len();
    let message = message.get(skip..);
    let message = message.ok_or_else(|| damaged("block", format!("a head of {len} bytes")))?;
    let message = arrow_ipc::root_as_message(message).map_err(|error| damaged("block", error))?;
    let values = message.header_as_dictionary_batch();
    let values = values.and_then(|dictionary| dictionary.data());
    Ok(message.header_as_record_batch().or(values))
}

/// Refuses compressed buffers that claim to decompress to more than [`MAX_BATCH`] bytes, before memory is allocated for them.
fn check_decompressed(batch: &BatchHead<'_>, body: &[u8]) -> Result<()> {
    if batch.compression().is_none() {
        return Ok(());
    }
    let mut total = 0u64;
    let buffers = batch.buffers().into_iter().flatten();
    for buffer in buffers.filter(|buffer| buffer.length() > 0) {
        let start = usize::try_from(buffer.offset()).ok();
        let rest = start.and_then(|start| body.get(start..));
        let len = rest.and_then(|rest| rest.first_chunk::<8>());
        let Some(len) = len.map(|len| i64::from_le_bytes(*len)) else {
            let (at, len) = (buffer.offset(), body.len());
            return Err(damaged("buffer", format!("at byte {at} of {len}")));
        };
        // The bytes that follow are not compressed.
        if len == -1 {
            continue;
        }
        let len = u64::try_from(len)
            .map_err(|_| damaged("buffer", format!("a decompressed length of {len}")))?;
        // The sum so far is below the limit, and this length below 2^63.
        total += len;
        if total > MAX_BATCH {
            return Err(over_limit(
                Format::Arrow,
                "bytes of a batch",
                total,
                MAX_BATCH,
            ));
        }
    }
    Ok(())
}
