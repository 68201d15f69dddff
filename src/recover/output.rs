//! [`OutputFile`]: the new file, of content or of records.

use super::collector::ContentOutput;
use crate::checked::{in_memory, slice, to_u64};
use crate::encoder::{EncoderBuilder, SeekEncoder};
use crate::records::{RecordWriterBuilder, SeekRecordWriter};
use bloscpack_error::{Error, IoSide, Result};
use std::io::{Read, Seek, Write};

/// Zeros written at once.
const ZEROS: [u8; 4096] = [0; 4096];

/// The options of the new file.
pub(super) enum OutputBuilder {
    Content(EncoderBuilder),
    Records(RecordWriterBuilder),
}

enum OpenOutput<W: Read + Write + Seek> {
    Content(Box<SeekEncoder<W>>),
    Records(Box<SeekRecordWriter<W>>),
}

/// The new file. It begins with the first bytes that are recovered: without any, nothing is written.
pub(super) struct OutputFile<W: Read + Write + Seek> {
    waiting: Option<Box<(W, OutputBuilder)>>,
    begun: Option<OpenOutput<W>>,
    /// Number of empty records before the first one.
    held: u64,
}

impl<W: Read + Write + Seek> OutputFile<W> {
    pub(super) fn new(target: W, builder: OutputBuilder) -> Self {
        Self {
            waiting: Some(Box::new((target, builder))),
            begun: None,
            held: 0,
        }
    }

    fn begun(&mut self) -> Result<&mut OpenOutput<W>> {
        if let Some(waiting) = self.waiting.take() {
            let (target, builder) = *waiting;
            self.begun = Some(match builder {
                OutputBuilder::Content(builder) => {
                    OpenOutput::Content(Box::new(builder.write_to_file(target)?))
                }
                OutputBuilder::Records(builder) => {
                    OpenOutput::Records(Box::new(builder.write_to_file(target)?))
                }
            });
        }
        let failed = || Error::bug("the target has failed before");
        self.begun.as_mut().ok_or_else(failed)
    }

    fn records(&mut self) -> Result<&mut SeekRecordWriter<W>> {
        let held = std::mem::take(&mut self.held);
        let OpenOutput::Records(writer) = self.begun()? else {
            return Err(Error::bug("content is written among records"));
        };
        for _ in 0..held {
            writer.push([])?;
        }
        Ok(writer)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        if self.held > 0 {
            self.records()?;
        }
        self.begun()?;
        match self.begun {
            Some(OpenOutput::Content(encoder)) => encoder.finish().map(|_| ()),
            Some(OpenOutput::Records(writer)) => writer.finish().map(|_| ()),
            None => Ok(()),
        }
    }
}

impl<W: Read + Write + Seek> ContentOutput for OutputFile<W> {
    fn content(&mut self, bytes: &[u8]) -> Result<()> {
        match self.begun()? {
            OpenOutput::Content(encoder) => encoder.write_all(bytes).writing(),
            OpenOutput::Records(_) => Err(Error::bug("records are written among content")),
        }
    }

    fn zeros(&mut self, mut count: u64) -> Result<()> {
        while count > 0 {
            let len = count.min(to_u64(ZEROS.len()));
            self.content(slice(&ZEROS, 0..in_memory(len)?)?)?;
            count -= len;
        }
        Ok(())
    }

    fn record(&mut self, record: &[u8]) -> Result<()> {
        self.records()?.push(record)
    }

    fn empty(&mut self, count: u64) -> Result<()> {
        if self.waiting.is_some() {
            self.held += count;
            return Ok(());
        }
        for _ in 0..count {
            self.record(&[])?;
        }
        Ok(())
    }
}
