//! The bytes of a Bloscpack file.

use super::error::has_dtype;
use super::options::OpenOptions;
use bloscpack::survey::form;
use bloscpack_error::{Error, Result};
use bloscpack_storage::Cursor;
use bloscpack_storage::SharedSource;
use bloscpack_wire::Form;
use std::io::{self, Read};
use std::sync::Mutex;

/// The bytes of a Bloscpack file.
pub(crate) struct Bytes {
    input: Input,
    pub options: OpenOptions,
    /// The form of the chunks, if the beginning of the file contains it.
    pub form: Option<Form>,
    pub warnings: Vec<String>,
}

enum Input {
    Positions(SharedSource),
    /// `None` after it was read. The lock only lets threads share the container.
    Stream(Mutex<Option<Box<dyn Read + Send>>>),
}

impl Bytes {
    pub(crate) fn of_source(
        source: SharedSource,
        options: &OpenOptions,
        warnings: Vec<String>,
    ) -> Result<Self> {
        let form = form(Cursor::new(&source), &options.reading())?;
        Self::new(Input::Positions(source), form, options, warnings)
    }

    pub(crate) fn of_stream(
        reader: impl Read + Send + 'static,
        options: &OpenOptions,
    ) -> Result<Self> {
        let mut begin = Recorded {
            reader,
            read: Vec::new(),
        };
        let form = form(&mut begin, &options.reading())?;
        let reader = io::Cursor::new(begin.read).chain(begin.reader);
        let input = Input::Stream(Mutex::new(Some(Box::new(reader))));
        Self::new(input, form, options, Vec::new())
    }

    fn new(
        input: Input,
        form: Option<Form>,
        options: &OpenOptions,
        warnings: Vec<String>,
    ) -> Result<Self> {
        if options.dtype.is_some() {
            return Err(has_dtype());
        }
        Ok(Self {
            input,
            options: options.clone(),
            form,
            warnings,
        })
    }

    /// The source, if it can be read at any position.
    pub(crate) fn source(&self) -> Option<&SharedSource> {
        match &self.input {
            Input::Positions(source) => Some(source),
            Input::Stream(_) => None,
        }
    }

    /// Reads it from its beginning.
    pub(crate) fn reader(&mut self) -> Result<Box<dyn Read + Send>> {
        match &mut self.input {
            Input::Positions(source) => Ok(Box::new(Cursor::new(source.clone()))),
            Input::Stream(reader) => {
                let reader = reader.get_mut().ok().and_then(Option::take);
                reader.ok_or_else(|| Error::usage("this input can only be read once"))
            }
        }
    }

    pub(crate) fn warn<T: ToString>(&mut self, warnings: &[T]) {
        self.warnings.extend(warnings.iter().map(T::to_string));
    }
}

/// A reader that keeps everything that was read.
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
