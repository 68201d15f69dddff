//! The boundary to the Arrow and Parquet crates, where their errors become errors of this workspace.

use crate::error::one_line;
use crate::format::Format;
use arrow_schema::ArrowError;
use bloscpack_error::{Code, Error};
#[cfg(feature = "arrow")]
use parquet::errors::ParquetError;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps the first error of a source or a writer, which the crates turn into text.
#[derive(Debug, Clone, Default)]
pub(super) struct Tap(Arc<Mutex<Option<io::Error>>>);

impl Tap {
    pub fn note<T>(&self, done: io::Result<T>) -> io::Result<T> {
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

    /// The kept error, or else the one of the Arrow crate.
    pub fn arrow(&self, error: ArrowError) -> Error {
        let code = match &error {
            ArrowError::NotYetImplemented(_) => Code::Unsupported,
            _ => Code::Damaged,
        };
        self.or(Format::Arrow, code, error)
    }

    /// The kept error, or else the one of the Parquet crate.
    #[cfg(feature = "arrow")]
    pub fn parquet(&self, error: ParquetError) -> Error {
        let text = error.to_string();
        let disabled = text.contains("Disabled feature") || text.contains("not supported");
        let code = match &error {
            ParquetError::NYI(_) => Code::Unsupported,
            _ if disabled => Code::Unsupported,
            ParquetError::EOF(_) => Code::CutShort,
            _ => Code::Damaged,
        };
        self.or(Format::Parquet, code, error)
    }

    /// The kept error, or else this one.
    fn or<E>(&self, format: Format, code: Code, error: E) -> Error
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        self.take().unwrap_or_else(|| {
            let message = format!("{format}: {}", one_line(&error));
            Error::because(code, message, error)
        })
    }
}

/// A writer that keeps its first error.
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
