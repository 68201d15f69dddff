//! Copies the content of packed records, without separators.

use crate::Part;
use crate::bytes::Bytes;
use crate::elements::{cut, within};
use crate::error::{needs_file, no_chunk};
use bloscpack::records::{IndexedRecordReader, RecordReader};
use bloscpack_error::{Error, Result, Side};
use bloscpack_wire::internal::to_u64;
use std::cell::RefCell;
use std::io::{self, BufWriter, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// The size of the output buffer. A longer record is written directly.
const BUFFER_LEN: usize = 256 << 10;

/// Writes the selected part of the records, and returns the number of bytes.
pub(crate) fn copy(file: &Bytes, part: &Part, to: &mut dyn Write) -> Result<u64> {
    let out = Out {
        to: RefCell::new(BufWriter::with_capacity(BUFFER_LEN, to)),
        error: RefCell::new(None),
    };
    let done = match part {
        Part::Chunk(chunk) => by_chunk(file, *chunk, &out),
        _ => in_order(file, part, &out),
    };
    // Buffered bytes are sound, even after an error.
    let _ = out.flush();
    let (to, error) = (out.to.into_inner(), out.error.into_inner());
    // After an error, the buffer is not written again.
    drop(to.into_parts());
    match error {
        Some(error) => Err(Error::from(error).on(Side::Target)),
        None => {
            let (copied, passed) = done?;
            part.check(copied, passed)
        }
    }
}

/// A buffered output that readers can flush.
struct Out<'a> {
    to: RefCell<BufWriter<&'a mut dyn Write>>,
    /// The first write error, which a reader cannot pass on as an error of the target.
    error: RefCell<Option<io::Error>>,
}

impl Out<'_> {
    fn flush(&self) -> io::Result<()> {
        self.keep(self.to.borrow_mut().flush())
    }

    fn put(&self, bytes: &[u8]) -> Result<u64> {
        let done = self.to.borrow_mut().write_all(bytes);
        self.keep(done)?;
        Ok(to_u64(bytes.len()))
    }

    fn keep(&self, done: io::Result<()>) -> io::Result<()> {
        done.map_err(|error| {
            let kind = error.kind();
            self.error.borrow_mut().get_or_insert(error);
            kind.into()
        })
    }
}

/// Flushes the output before it waits for input, so each record arrives as soon as it was read.
struct FlushingReader<'a, 'b, R> {
    reader: R,
    out: &'a Out<'b>,
}

impl<R: Read> Read for FlushingReader<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.out.flush()?;
        self.reader.read(buffer)
    }
}

/// Writes the records of one chunk.
fn by_chunk(file: &Bytes, chunk: u64, out: &Out<'_>) -> Result<(u64, u64)> {
    let source = file.source().ok_or_else(needs_file)?;
    let reader = IndexedRecordReader::with_options(source.clone(), file.options.clone())?;
    file.warn(reader.warnings());
    let chunks = reader.chunks();
    let range = reader.chunk_range(chunk)?;
    let range = range.ok_or_else(|| no_chunk(chunk, chunks))?;
    let mut copied = 0;
    for record in reader.range(range) {
        copied += out.put(&record?)?;
    }
    Ok((copied, copied))
}

/// Reads all records from the beginning, with all threads.
fn in_order(file: &Bytes, part: &Part, out: &Out<'_>) -> Result<(u64, u64)> {
    let wanted = match part {
        Part::Bytes(bounds) => bounds.range(),
        _ => 0..u64::MAX,
    };
    if let Some(source) = file.source() {
        // Reading a file never has to wait for its writer, so nothing is flushed before it.
        let source = Arc::new(Arc::clone(source));
        let reader = RecordReader::from_source(source, file.options.clone())?;
        return copy_and_warn(file, wanted, reader, out);
    }
    let reader = file.reader()?;
    let reader = FlushingReader { reader, out };
    let reader = RecordReader::with_options(reader, file.options.clone());
    copy_and_warn(file, wanted, reader, out)
}

fn copy_and_warn(
    file: &Bytes,
    wanted: Range<u64>,
    mut reader: RecordReader<impl Read>,
    out: &Out<'_>,
) -> Result<(u64, u64)> {
    let done = copy_range(wanted, &mut reader, out);
    file.warn(reader.warnings());
    done
}

/// Copies a range of the records' bytes. Returns how many bytes were copied, and how many were passed in total.
fn copy_range(
    wanted: Range<u64>,
    reader: &mut RecordReader<impl Read>,
    out: &Out<'_>,
) -> Result<(u64, u64)> {
    let (mut at, mut copied) = (0, 0);
    while at < wanted.end
        && let Some(record) = reader.next_record()?
    {
        let len = to_u64(record.len());
        copied += out.put(cut(record, within(&wanted, at, len))?)?;
        at += len;
    }
    Ok((copied, at))
}
