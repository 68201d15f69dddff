//! Columns from a file of Arrow's.

use super::from::bytes_of;
use super::guard::{Chunks, guarded};
use super::measure::Plans;
use super::types::noted;
use crate::options::ImportOptions;
use crate::schema::{Batch, Schema};
use crate::source::{BoxedSource, Source, to_u64, to_usize};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, MetadataVersion, RecordBatch as BatchHead};
use arrow_schema::{Schema as ArrowSchema, SchemaRef};
use blosc1::Fault;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use std::sync::Arc;

/// The magic at both ends of a file.
const MAGIC: &[u8] = b"ARROW1";
/// Length of the footer, and magic.
const TAIL: u64 = 10;
/// Bytes that a batch may be decompressed to.
const MAX_BATCH: u64 = 2 << 30;

/// Gives one batch of rows after the other.
pub(super) type Batches = Box<dyn FnMut() -> Result<Option<RecordBatch>>>;

/// Columns of batches, cut into pieces of the wanted size.
pub(super) struct ArrowSource {
    pub what: &'static str,
    pub schema: Schema,
    pub fills: Vec<Option<String>>,
    pub rows: u64,
    pub batches: Batches,
    /// The batch under way, and how many of its rows were given.
    current: Option<(RecordBatch, usize)>,
    done: u64,
}

impl ArrowSource {
    pub fn new(
        what: &'static str,
        schema: Schema,
        options: &ImportOptions,
        rows: u64,
        batches: Batches,
    ) -> Self {
        let fills = schema.columns.iter();
        let fills = fills.map(|column| options.filling(column)).collect();
        Self {
            what,
            schema,
            fills,
            rows,
            batches,
            current: None,
            done: 0,
        }
    }

    fn next(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let (rows, from) = loop {
            match self.current.take() {
                Some((rows, from)) if from < rows.num_rows() => break (rows, from),
                _ => match (self.batches)()? {
                    Some(rows) => self.current = Some((rows, 0)),
                    None => return Ok(None),
                },
            }
        };
        let most = to_usize((to_u64(bytes) / self.schema.row_bytes().max(1)).max(1));
        let len = rows.num_rows().saturating_sub(from).min(most);
        let piece = rows.slice(from, len);
        self.current = Some((rows, from.saturating_add(len)));
        let columns = self.schema.columns.iter().zip(&self.fills);
        let columns = columns
            .zip(piece.columns())
            .map(|((column, fill), array)| {
                let bytes = bytes_of(array, &column.dtype, &column.row_shape, fill.as_deref());
                bytes.map_err(|error| {
                    let row = self.done.saturating_add(to_u64(error.row));
                    let (what, name) = (self.what, &column.name);
                    let what = format!("{what}: column {name:?}, row {row}: {}", error.why);
                    crate::error::exchange(Fault::Damaged, what)
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let rows = to_u64(len);
        self.done = self.done.saturating_add(rows);
        Ok(Some(Batch { rows, columns }))
    }
}

impl Source for ArrowSource {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let what = self.what;
        guarded(what, || self.next(bytes)).inspect_err(|_| {
            // Nothing follows an error.
            self.current = None;
            self.batches = Box::new(|| Ok(None));
        })
    }
}

/// Opens a file of Arrow's. Where strings are only as long as the longest, all of them are looked at.
pub(crate) fn open_arrow(
    bytes: impl ReadAt + Send + Sync + 'static,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    guarded("Arrow", || {
        let mut file = ArrowFile::open(bytes)?;
        let mut plans = Plans::of(&file.schema, options)?;
        let rows = file.rows()?;
        let unknown = plans.unknown();
        if !unknown.is_empty() {
            let decoder = file.decoder()?.with_projection(unknown);
            for block in &file.blocks {
                if let Some(rows) = file.batch(&decoder, block)? {
                    plans.see(&rows);
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
        let source = ArrowSource::new("Arrow", schema, options, rows, batches);
        Ok(Box::new(source) as BoxedSource<'static>)
    })
}

/// A file of Arrow's, of which nothing is read that is not there.
struct ArrowFile<S> {
    chunks: Chunks<S>,
    schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    blocks: Vec<Block>,
}

fn damaged(what: impl std::fmt::Display) -> Error {
    crate::error::exchange(Fault::Damaged, format!("Arrow: {what}"))
}

impl<S: ReadAt> ArrowFile<S> {
    fn open(bytes: S) -> Result<Self> {
        let chunks = Chunks::new(bytes)?;
        let footer = footer(&chunks)?;
        let footer = arrow_ipc::root_as_footer(&footer)
            .map_err(|error| damaged(format!("the footer: {error}")))?;
        let schema = footer
            .schema()
            .ok_or_else(|| damaged("a footer without a schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            let what = "Arrow: a file of a machine with another order of bytes";
            return Err(crate::error::exchange(Fault::Unsupported, what));
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
                .map_err(|error| self.chunks.tap.arrow(&error))?;
        }
        Ok(decoder)
    }

    fn batch(&self, decoder: &FileDecoder, block: &Block) -> Result<Option<RecordBatch>> {
        let buffer = self.buffer(block)?;
        let rows = decoder.read_record_batch(block, &buffer);
        rows.map_err(|error| self.chunks.tap.arrow(&error))
    }

    /// The message of a block and its body, which does not say of itself that it is larger than may be.
    fn buffer(&self, block: &Block) -> Result<Buffer> {
        let (at, head, body) = places(block)?;
        let all = self.chunks.read(at, head.saturating_add(body))?;
        let (message, body) = all
            .split_at_checked(to_usize(head))
            .ok_or_else(|| damaged("a block shorter than its head"))?;
        if let Some(batch) = batch_head(message)? {
            check_decompressed(&batch, body)?;
        }
        Ok(Buffer::from(all.as_slice()))
    }

    /// How many rows all batches say to have.
    fn rows(&self) -> Result<u64> {
        let mut rows = 0u64;
        for block in &self.blocks {
            let (at, head, _) = places(block)?;
            let message = self.chunks.read(at, head)?;
            let batch = batch_head(&message)?;
            let len = batch.map_or(Ok(0), |batch| u64::try_from(batch.length()));
            let len = len.map_err(|_| damaged("a batch of less than no rows"))?;
            rows = rows.saturating_add(len);
        }
        Ok(rows)
    }
}

/// The position of a block, and the lengths of its two parts.
fn places(block: &Block) -> Result<(u64, u64, u64)> {
    let sound = |part: i64| u64::try_from(part).map_err(|_| damaged("a block at a place below 0"));
    Ok((
        sound(block.offset())?,
        sound(block.metaDataLength().into())?,
        sound(block.bodyLength())?,
    ))
}

fn footer<S: ReadAt>(chunks: &Chunks<S>) -> Result<Vec<u8>> {
    let size = chunks.size();
    let start = chunks.read(0, to_u64(MAGIC.len()).min(size))?;
    if !MAGIC.starts_with(&start) || start.is_empty() {
        let what =
            "not an Arrow file: wrong magic at its beginning (convert a stream to a file first)";
        return Err(crate::error::exchange(Fault::Unsupported, what));
    }
    let cut =
        |_| crate::error::exchange(Fault::CutShort, "Arrow: cut short: the footer is missing");
    let end = size.saturating_sub(TAIL);
    let tail = chunks.read(end, TAIL).map_err(cut)?;
    let Some(([a, b, c, d], magic)) = tail.split_first_chunk::<4>() else {
        return Err(damaged("the footer"));
    };
    if magic != MAGIC {
        return Err(crate::error::exchange(
            Fault::CutShort,
            "Arrow: cut short: the file does not end with a footer",
        ));
    }
    let len = u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
    let start = end.checked_sub(len);
    let start =
        start.ok_or_else(|| damaged(format!("a footer of {len} bytes in a file of {size}")))?;
    Ok(chunks.read(start, len)?)
}

/// The batch in the message of a block; for a dictionary, its values.
fn batch_head(message: &[u8]) -> Result<Option<BatchHead<'_>>> {
    // A mark and a length, or in old files the length alone.
    let skip = match message.get(..4) {
        Some([0xff, 0xff, 0xff, 0xff]) => 8,
        _ => 4,
    };
    let message = message.get(skip..).unwrap_or_default();
    let message = arrow_ipc::root_as_message(message).map_err(damaged)?;
    let values = message.header_as_dictionary_batch();
    let values = values.and_then(|dictionary| dictionary.data());
    Ok(message.header_as_record_batch().or(values))
}

/// Refuses compressed buffers that say to become larger than may be, before memory is taken for them.
fn check_decompressed(batch: &BatchHead<'_>, body: &[u8]) -> Result<()> {
    if batch.compression().is_none() {
        return Ok(());
    }
    let mut total = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let rest = body.get(start..).unwrap_or_default();
        let Some(len) = rest.first_chunk::<8>().filter(|_| buffer.length() > 0) else {
            continue;
        };
        // -1 means uncompressed bytes.
        let len = u64::try_from(i64::from_le_bytes(*len)).unwrap_or(0);
        total = total.saturating_add(len);
    }
    if total > MAX_BATCH {
        let what = format!("Arrow: a batch of {total} bytes exceeds the limit of {MAX_BATCH}");
        return Err(crate::error::exchange(Fault::OverLimit, what));
    }
    Ok(())
}
