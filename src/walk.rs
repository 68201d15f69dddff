//! A walk over all headers of an input, past the bodies of its chunks.

use super::buffered_input::Source;
use bloscpack_error::Result;
use bloscpack_wire::{Ending, Event, Hashers, Limits, ParseError, Parser};
use std::io::{self, Read, Seek, SeekFrom};

/// Seeking is slower than reading for less than this.
const WORTH_SEEKING: u64 = 16 << 10;
/// How much is read at once where the bodies are passed over by seeking.
const BUFFER_LEN: usize = 16 << 10;

/// Passes over so many bytes without reading them, and tells how many it were.
type Pass<R> = Box<dyn FnMut(&mut R, u64) -> io::Result<u64>>;

pub(super) struct Walk<R> {
    source: Source<R>,
    pass: Option<Pass<R>>,
    parser: Parser,
    passed: u64,
}

impl<R: Read> Walk<R> {
    /// A walk that reads all of the input.
    pub(super) fn of(reader: R, limits: &Limits) -> Self {
        Self {
            source: Source::new(reader),
            pass: None,
            parser: Parser::new(*limits, Hashers::default()),
            passed: 0,
        }
    }

    /// A walk that seeks past the bodies of chunks.
    pub(super) fn of_file(mut file: R, limits: &Limits) -> Result<Self>
    where
        R: Seek,
    {
        let from = file.stream_position()?;
        let end = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(from))?;
        let pass = move |file: &mut R, count: u64| {
            let here = file.stream_position()?;
            // What lies behind the end was not passed over but is missing.
            let to = here.saturating_add(count).min(end.max(here));
            file.seek(SeekFrom::Start(to))
                .map(|_| to.saturating_sub(here))
        };
        Ok(Self {
            source: Source::with_buffer(file, BUFFER_LEN),
            pass: Some(Box::new(pass)),
            parser: Parser::new(*limits, Hashers::default()),
            passed: 0,
        })
    }

    /// Tells `visit` all that the parser tells, and how the input ended.
    ///
    /// # Errors
    /// Those of the reader, and what is wrong before the end.
    pub(super) fn run(
        &mut self,
        mut visit: impl FnMut(Event<'_>, &Parser),
    ) -> Result<std::result::Result<Ending, ParseError>> {
        self.run_until(|event, parser| {
            visit(event, parser);
            false
        })?;
        Ok(self.parser.finish())
    }

    /// As [`run`](Self::run), up to the event at which `visit` says that it has seen enough.
    pub(super) fn run_until(
        &mut self,
        mut visit: impl FnMut(Event<'_>, &Parser) -> bool,
    ) -> Result<()> {
        loop {
            let mut input = self.source.unused();
            let event = self.parser.parse(&mut input)?;
            let left = input.len();
            let hungry = matches!(event, Event::NeedInput);
            let enough = visit(event, &self.parser);
            self.source.keep(left);
            if enough || (hungry && !self.read_more()?) {
                return Ok(());
            }
        }
    }

    /// Gets more input; false at its end.
    fn read_more(&mut self) -> Result<bool> {
        let left = self.parser.body_left();
        if let Some(pass) = self.pass.as_mut().filter(|_| left >= WORTH_SEEKING) {
            let passed = pass(self.source.get_mut(), left)?;
            self.passed = self.passed.saturating_add(self.parser.skip(passed));
            if passed > 0 {
                // The parser may have something to tell without any more input.
                return Ok(true);
            }
        }
        Ok(self.source.fill()?)
    }

    /// Bytes of the input so far.
    pub(super) fn len(&self) -> u64 {
        self.source.total().saturating_add(self.passed)
    }
}
