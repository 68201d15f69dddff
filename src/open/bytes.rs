//! The bytes of a Bloscpack file.

use super::error::SelectionError;
use super::options::OpenOptions;
use crate::shared_source::SharedSource;
use crate::walk::Walk;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::Cursor;
use bloscpack_wire::{Event, Form, MetadataPlace};
use std::io::{self, Read};
use std::sync::Mutex;

/// The bytes of a Bloscpack file.
pub(super) struct Bytes {
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
    pub(super) fn of_source(
        source: SharedSource,
        options: &OpenOptions,
        warnings: Vec<String>,
    ) -> Result<Self> {
        let form = look(Cursor::new(&source), options)?;
        Self::new(Input::Positions(source), form, options, warnings)
    }

    pub(super) fn of_stream(
        reader: impl Read + Send + 'static,
        options: &OpenOptions,
    ) -> Result<Self> {
        let mut begin = Recorded {
            reader,
            read: Vec::new(),
        };
        let form = look(&mut begin, options)?;
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
            return Err(SelectionError::HasDType.into());
        }
        Ok(Self {
            input,
            options: options.clone(),
            form,
            warnings,
        })
    }

    /// The source, if it can be read at any position.
    pub(super) fn source(&self) -> Option<&SharedSource> {
        match &self.input {
            Input::Positions(source) => Some(source),
            Input::Stream(_) => None,
        }
    }

    /// Reads it from its beginning.
    pub(super) fn reader(&mut self) -> Result<Box<dyn Read + Send>> {
        match &mut self.input {
            Input::Positions(source) => Ok(Box::new(Cursor::new(source.clone()))),
            Input::Stream(reader) => {
                let reader = reader.get_mut().ok().and_then(Option::take);
                reader.ok_or_else(|| Error::usage("this input can only be read once"))
            }
        }
    }

    pub(super) fn warn<T: ToString>(&mut self, warnings: &[T]) {
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

/// Reads up to the metadata, which says what the chunks contain.
///
/// Damaged or truncated input has no form; the code that reads all of it reports why.
fn look(input: impl Read, options: &OpenOptions) -> Result<Option<Form>> {
    let mut form = None;
    let mut walk = Walk::of_start(input, &options.limits, &options.hashers);
    let looked = walk.run_until(|event, parser| {
        form = match event {
            Event::NeedInput => return false,
            Event::Header(header) if !header.varlen => Some(Form::Content),
            Event::Header(header) if header.metadata == MetadataPlace::Absent => {
                Form::of(&header, None).ok()
            }
            Event::Header(_) => return false,
            Event::Metadata(metadata, _) => Form::of(parser.header(), Some(&metadata)).ok(),
            _ => None,
        };
        true
    });
    match looked.reading() {
        Err(error) if !error.is_format() => Err(error),
        _ => Ok(form),
    }
}
