//! [`Walk`]: all headers of an input, without the bodies of its chunks.

use super::buffered_input::BufferedInput;
use bloscpack_error::Result;
use bloscpack_wire::{Ending, Event, Hashers, Limits, ParseError, Parser};
use std::io::{self, Read, Seek, SeekFrom};

/// For fewer bytes than this, reading is faster than seeking.
const WORTH_SEEKING: u64 = 16 << 10;
/// Bytes that are read at once if the bodies are skipped by seeking.
const BUFFER_LEN: usize = 16 << 10;
/// Bytes that are read at once at the beginning of the input.
const START_LEN: usize = 4 << 10;
/// Bytes that are read at once after a skipped body: usually enough for a digest and the header of the next chunk.
pub(super) const AHEAD: usize = 512;

/// Skips this many bytes without reading them, or those up to the end, and returns how many it skipped.
type Skip<R> = Box<dyn FnMut(&mut R, u64) -> io::Result<u64>>;

/// Reads an input from header to header.
pub(super) struct Walk<R> {
    input: BufferedInput<R>,
    skip: Option<Skip<R>>,
    parser: Parser,
    skipped: u64,
    /// The most that is read next.
    ahead: usize,
}

impl<R: Read> Walk<R> {
    /// A walk that reads all of the input.
    pub(super) fn of(reader: R, limits: &Limits, hashers: &Hashers) -> Self {
        Self::new(BufferedInput::new(reader), None, limits, hashers)
    }

    /// A walk that reads no further ahead than one page.
    pub(super) fn of_start(reader: R, limits: &Limits, hashers: &Hashers) -> Self {
        let input = BufferedInput::with_buffer(reader, START_LEN);
        Self::new(input, None, limits, hashers)
    }

    /// A walk that seeks past the bodies of chunks.
    pub(super) fn of_file(mut file: R, limits: &Limits, hashers: &Hashers) -> Result<Self>
    where
        R: Seek,
    {
        let from = file.stream_position()?;
        let end = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(from))?;
        let skip = move |file: &mut R, count: u64| {
            let here = file.stream_position()?;
            // A seek past the end would hide that the bytes are missing.
            let count = count.min(end.max(here) - here);
            file.seek(SeekFrom::Start(here + count))?;
            Ok(count)
        };
        let input = BufferedInput::with_buffer(file, BUFFER_LEN);
        Ok(Self::new(input, Some(Box::new(skip)), limits, hashers))
    }

    fn new(
        input: BufferedInput<R>,
        skip: Option<Skip<R>>,
        limits: &Limits,
        hashers: &Hashers,
    ) -> Self {
        Self {
            input,
            skip,
            parser: Parser::new(*limits, hashers.clone()),
            skipped: 0,
            ahead: START_LEN,
        }
    }

    /// Passes every event of the parser to `visit`, and returns how the input ended.
    ///
    /// # Errors
    /// Returns any error of the reader, and an error in the structure before the end.
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

    /// As [`run`](Self::run), up to the event at which `visit` returns true.
    pub(super) fn run_until(
        &mut self,
        mut visit: impl FnMut(Event<'_>, &Parser) -> bool,
    ) -> Result<()> {
        loop {
            let mut unused = self.input.unused()?;
            let event = self.parser.parse(&mut unused)?;
            let left = unused.len();
            let is_hungry = matches!(event, Event::NeedInput);
            let is_enough = visit(event, &self.parser);
            self.input.keep(left);
            if is_enough || (is_hungry && !self.read_more()?) {
                return Ok(());
            }
        }
    }

    /// Reads or skips more input. Returns false at its end.
    fn read_more(&mut self) -> Result<bool> {
        let left = self.parser.body_left();
        if let Some(skip) = self.skip.as_mut().filter(|_| left >= WORTH_SEEKING) {
            let count = skip(self.input.get_mut(), left)?;
            self.skipped += self.parser.skip(count);
            self.ahead = AHEAD;
            if count > 0 {
                // The parser may return an event without more input.
                return Ok(true);
            }
        }
        let most = std::mem::replace(&mut self.ahead, usize::MAX);
        self.input.fill_up_to(most)
    }

    /// Bytes of the input so far.
    pub(super) fn len(&self) -> u64 {
        self.input.total() + self.skipped
    }
}
