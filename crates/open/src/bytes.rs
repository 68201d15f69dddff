//! [`Bytes`]: the source or stream of a Bloscpack file, with the options to read it.

use super::error::has_dtype;
use super::warnings::Warnings;
use bloscpack::Options;
use bloscpack::survey::form;
use bloscpack_error::{Error, Result};
use bloscpack_storage::SharedSource;
use bloscpack_storage::SourceReader;
use bloscpack_wire::Form;
use std::io::{self, Read};
use std::sync::Mutex;

/// The bytes of a Bloscpack file that was opened.
pub(crate) struct Bytes {
    input: Input,
    /// The options of the codec's readers.
    pub options: Options,
    /// Whether chunks hold content, records or packed records; `None` if the beginning of the file does not show it.
    pub form: Option<Form>,
    pub warnings: Warnings,
}

enum Input {
    /// A source that can be read at any position, as often as needed.
    Positions(SharedSource),
    /// A stream, `None` after it was read. The lock only lets threads share the container.
    Stream(Mutex<Option<Box<dyn Read + Send>>>),
}

impl Bytes {
    pub(crate) fn of_source(
        source: SharedSource,
        options: &Options,
        warnings: Vec<String>,
    ) -> Result<Self> {
        let form = form(SourceReader::new(&source), &reading(options))?;
        Self::new(Input::Positions(source), form, options, warnings)
    }

    pub(crate) fn of_stream(reader: impl Read + Send + 'static, options: &Options) -> Result<Self> {
        let mut begin = Recorded {
            reader,
            read: Vec::new(),
        };
        let form = form(&mut begin, &reading(options))?;
        let reader = io::Cursor::new(begin.read).chain(begin.reader);
        let input = Input::Stream(Mutex::new(Some(Box::new(reader))));
        Self::new(input, form, options, Vec::new())
    }

    fn new(
        input: Input,
        form: Option<Form>,
        options: &Options,
        warnings: Vec<String>,
    ) -> Result<Self> {
        if options.dtype.is_some() {
            return Err(has_dtype());
        }
        Ok(Self {
            input,
            options: reading(options),
            form,
            warnings: warnings.into_iter().collect(),
        })
    }

    /// The source, if it can be read at any position.
    pub(crate) fn source(&self) -> Option<&SharedSource> {
        match &self.input {
            Input::Positions(source) => Some(source),
            Input::Stream(_) => None,
        }
    }

    /// A reader from the beginning. A stream can be read once.
    pub(crate) fn reader(&self) -> Result<Box<dyn Read + Send>> {
        match &self.input {
            Input::Positions(source) => Ok(Box::new(SourceReader::new(source.clone()))),
            Input::Stream(reader) => {
                let reader = reader.lock().ok().and_then(|mut reader| reader.take());
                reader.ok_or_else(|| Error::usage("this input can only be read once"))
            }
        }
    }

    pub(crate) fn warn<T: ToString>(&self, warnings: &[T]) {
        self.warnings.add(warnings.iter().map(T::to_string));
    }
}

/// The options of the codec's readers: threads, limits and hashers. What to read is selected elsewhere.
fn reading(options: &Options) -> Options {
    Options::new()
        .threads(options.workers())
        .limits(options.limits)
        .hashers(options.hashers.clone())
}

/// A reader that keeps a copy of everything that it reads.
struct Recorded<R> {
    reader: R,
    read: Vec<u8>,
}

impl<R: Read> Read for Recorded<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buf)?;
        self.read.extend(buf.iter().take(count));
        Ok(count)
    }
}
