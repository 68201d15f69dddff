//! The new file, of content or of records.

use super::collector::Output;
use super::window;
use crate::encoder::{EncoderBuilder, SeekEncoder};
use crate::records::{RecordWriterBuilder, SeekRecordWriter};
use bloscpack_error::{Error, IoSide, Result};
use std::io::{Read, Seek, Write};

/// Zeros written at once.
const ZEROS: [u8; 4096] = [0; 4096];

/// How it is written.
pub(super) enum Builder {
    Content(EncoderBuilder),
    Records(RecordWriterBuilder),
}

enum Begun<W: Read + Write + Seek> {
    Content(Box<SeekEncoder<W>>),
    Records(Box<SeekRecordWriter<W>>),
}

/// It begins with the first bytes that are recovered, so that none comes to be without.
pub(super) struct Target<W: Read + Write + Seek> {
    waiting: Option<Box<(W, Builder)>>,
    begun: Option<Begun<W>>,
    /// Empty records that stand before the first one.
    held: u64,
}

impl<W: Read + Write + Seek> Target<W> {
    pub(super) fn new(target: W, builder: Builder) -> Self {
        Self {
            waiting: Some(Box::new((target, builder))),
            begun: None,
            held: 0,
        }
    }

    fn begun(&mut self) -> Result<&mut Begun<W>> {
        if let Some(waiting) = self.waiting.take() {
            let (target, builder) = *waiting;
            self.begun = Some(match builder {
                Builder::Content(builder) => {
                    Begun::Content(Box::new(builder.write_to_file(target)?))
                }
                Builder::Records(builder) => {
                    Begun::Records(Box::new(builder.write_to_file(target)?))
                }
            });
        }
        let failed = || Error::usage("the target has failed before");
        self.begun.as_mut().ok_or_else(failed)
    }

    fn records(&mut self) -> Result<&mut SeekRecordWriter<W>> {
        let held = std::mem::take(&mut self.held);
        let Begun::Records(writer) = self.begun()? else {
            return Err(Error::usage("content is written where records are"));
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
            Some(Begun::Content(encoder)) => encoder.finish().map(|_| ()),
            Some(Begun::Records(writer)) => writer.finish().map(|_| ()),
            None => Ok(()),
        }
    }
}

impl<W: Read + Write + Seek> Output for Target<W> {
    fn content(&mut self, bytes: &[u8]) -> Result<()> {
        match self.begun()? {
            Begun::Content(encoder) => encoder.write_all(bytes).writing(),
            Begun::Records(_) => Err(Error::usage("records are written where content is")),
        }
    }

    fn zeros(&mut self, mut count: u64) -> Result<()> {
        while count > 0 {
            let len = usize::try_from(count)
                .unwrap_or(usize::MAX)
                .min(ZEROS.len());
            self.content(ZEROS.get(..len).unwrap_or_default())?;
            count = count.saturating_sub(window::to_u64(len));
        }
        Ok(())
    }

    fn record(&mut self, record: &[u8]) -> Result<()> {
        self.records()?.push(record)
    }

    fn empty(&mut self, count: u64) -> Result<()> {
        if self.waiting.is_some() {
            self.held = self.held.saturating_add(count);
            return Ok(());
        }
        for _ in 0..count {
            self.record(&[])?;
        }
        Ok(())
    }
}
