//! The border to the Arrow and Parquet crates: their errors become errors of ours, and nothing is read that is not there.

use crate::error::ExchangeError;
use crate::format::Format;
use crate::int::{in_memory, to_u64};
use arrow_schema::ArrowError;
use blosc1::Fault;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The first error of a source of bytes or a writer, which the crates turn into text.
#[derive(Debug, Clone, Default)]
pub(super) struct Tap(Arc<Mutex<Option<io::Error>>>);

impl Tap {
    fn note<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let copy = io::Error::new(error.kind(), error.to_string());
            let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(error);
            copy
        })
    }

    fn take(&self) -> Option<Error> {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.take().map(Error::from)
    }

    /// The error as the Arrow crate reports it.
    pub fn arrow(&self, error: ArrowError) -> Error {
        let fault = match &error {
            ArrowError::NotYetImplemented(_) => Fault::Unsupported,
            _ => Fault::Damaged,
        };
        self.or(Format::Arrow, fault, error)
    }

    /// The error as the Parquet crate reports it.
    pub fn parquet(&self, error: ParquetError) -> Error {
        let text = error.to_string();
        let disabled = text.contains("Disabled feature") || text.contains("not supported");
        let fault = match &error {
            ParquetError::NYI(_) => Fault::Unsupported,
            _ if disabled => Fault::Unsupported,
            ParquetError::EOF(_) => Fault::CutShort,
            _ => Fault::Damaged,
        };
        self.or(Format::Parquet, fault, error)
    }

    /// The first error of the bytes or the writer, if there was one; else that of the crate.
    fn or<E>(&self, format: Format, fault: Fault, error: E) -> Error
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        self.take().unwrap_or_else(|| {
            let source = error.into();
            ExchangeError::Library {
                format,
                fault,
                source,
            }
            .into()
        })
    }
}

/// A writer whose first error is kept.
pub(super) struct TappedWriter<W> {
    pub to: W,
    pub tap: Tap,
}

impl<W: Write> Write for TappedWriter<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self.to.write(buf) {
            // The caller tries again.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            done => self.tap.note(done),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tap.note(self.to.flush())
    }
}

/// A source of bytes whose first error is kept, and of which nothing is read that is not there.
#[derive(Debug)]
pub(super) struct Chunks<S> {
    bytes: Arc<S>,
    size: u64,
    pub tap: Tap,
}

impl<S> Clone for Chunks<S> {
    fn clone(&self) -> Self {
        Self {
            bytes: Arc::clone(&self.bytes),
            size: self.size,
            tap: self.tap.clone(),
        }
    }
}

impl<S: ReadAt> Chunks<S> {
    pub fn new(bytes: S) -> Result<Self> {
        let size = bytes.size()?;
        Ok(Self {
            bytes: Arc::new(bytes),
            size,
            tap: Tap::default(),
        })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// These bytes, if they are there: before any memory is taken for them.
    pub fn read(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let end = at.checked_add(len);
        if end.is_none_or(|end| end > self.size) {
            let what = format!("{len} bytes at {at} of a file of {} bytes", self.size);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        let mut bytes = vec![0; in_memory(len).map_err(Error::from)?];
        self.tap.note(self.bytes.read_exact_at(at, &mut bytes))?;
        Ok(bytes)
    }
}

impl<S: ReadAt + Send + Sync> Length for Chunks<S> {
    fn len(&self) -> u64 {
        self.size
    }
}

impl<S: ReadAt + Send + Sync> ChunkReader for Chunks<S> {
    type T = io::BufReader<BytesFrom<S>>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let from = BytesFrom {
            chunks: self.clone(),
            at: start,
        };
        Ok(io::BufReader::new(from))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        Ok(self.read(start, to_u64(length))?.into())
    }
}

/// The bytes from a position on.
pub(super) struct BytesFrom<S> {
    chunks: Chunks<S>,
    at: u64,
}

impl<S: ReadAt> Read for BytesFrom<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let done = self.chunks.bytes.read_at(self.at, buf);
        let len = self.chunks.tap.note(done)?;
        self.at += to_u64(len);
        Ok(len)
    }
}
