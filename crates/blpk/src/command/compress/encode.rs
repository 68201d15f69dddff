//! Compresses an input whose length may be known, unknown, or not what it seems.

use std::io::{self, Read as _, Seek as _};
use std::ops::Range;
use std::sync::Arc;

use bloscpack::{Category, EncoderBuilder, blosc::Tuned};

use crate::input::{Input, Places, Source};
use crate::message::Failure;
use crate::output::{Growing, Output};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

/// The bytes of a regular file, and which there are.
type Located = (Arc<Places>, Range<u64>);

/// What is said about the length beforehand.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// Nothing.
    Unknown,
    /// By the file system, which may be wrong.
    Found(u64),
    /// By the user, who means it.
    Given(u64),
}

impl Length {
    fn claim(self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::Found(bytes) | Self::Given(bytes) => Some(bytes),
        }
    }
}

/// The input is not as long as was said.
#[derive(Clone, Copy, Debug)]
struct Mismatch {
    claimed: u64,
    read: u64,
    longer: bool,
}

/// Why nothing whole came of an attempt.
enum Halt {
    Length(Mismatch),
    Library(bloscpack::Error),
    /// The library met an error of reading.
    Places(bloscpack::Error),
    Read(io::Error),
}

impl From<bloscpack::Error> for Halt {
    fn from(error: bloscpack::Error) -> Self {
        Self::Library(error)
    }
}

/// Compresses all of the input, and gives its length, and what the encoder chose if it was to.
pub fn encode(
    builder: &dyn Fn() -> EncoderBuilder,
    length: Length,
    input: &Input,
    output: &mut Output,
    session: &Session,
) -> Result<(u64, Option<Tuned>), Failure> {
    let progress = Progress::new(session, length.claim());
    let mut source = input.source(&progress);
    let places = input.places(&progress);
    let halt = match attempt(builder(), length, places, &mut source, output) {
        Ok(done) => return Ok(done),
        Err(halt) => halt,
    };
    // A file that grew or shrank meanwhile: an output that can seek can still change its mind.
    if let (Halt::Length(_), Length::Found(_), Some(file)) = (&halt, length, output.seekable()) {
        start_over(input, file).map_err(|error| Failure::io(input.name(), &error))?;
        progress.restart();
        source = input.source(&progress);
        return attempt(builder(), Length::Unknown, None, &mut source, output)
            .map_err(|halt| blame(halt, Length::Unknown, &source, output));
    }
    Err(blame(halt, length, &source, output))
}

/// Goes back to the beginning of both.
fn start_over(input: &Input, mut output: &Growing) -> io::Result<()> {
    input.rewind()?;
    output.get_ref().set_len(0)?;
    output.rewind()
}

/// Compresses all of the source once.
fn attempt(
    mut builder: EncoderBuilder,
    length: Length,
    places: Option<Located>,
    source: &mut Source<'_>,
    output: &mut Output,
) -> Result<(u64, Option<Tuned>), Halt> {
    let mut claim = length.claim();
    // A length of zero is what files below /proc have, which are not empty.
    if matches!(length, Length::Found(0)) && !source.is_at_end().map_err(Halt::Read)? {
        claim = None;
    }
    if let Some(bytes) = claim {
        builder = builder.size(bytes);
    }
    let most = claim.unwrap_or(u64::MAX);
    // An encoder that is dropped, not finished, leaves nothing that looks whole.
    let places = places.filter(|_| matches!(length, Length::Found(_)));
    if let Some(file) = output.seekable() {
        let mut encoder = builder.write_to_file(file)?;
        match places {
            Some(places) => by_places(places, source, |at, bytes| encoder.read_at(at, bytes))?,
            None => encoder.read_from(&mut source.take(most))?,
        };
        confirm(source, claim)?;
        let tuned = encoder.tune()?.cloned();
        encoder.finish()?;
        return Ok((source.total(), tuned));
    }
    let mut encoder = builder.write_to(output)?;
    match places {
        Some(places) => by_places(places, source, |at, bytes| encoder.read_at(at, bytes))?,
        None => encoder.read_from(&mut source.take(most))?,
    };
    confirm(source, claim)?;
    let tuned = encoder.tune()?.cloned();
    encoder.finish()?;
    Ok((source.total(), tuned))
}

/// Lets all threads read a regular file, and the source stand where they have ended.
fn by_places(
    (places, bytes): Located,
    source: &mut Source<'_>,
    read: impl FnOnce(Arc<Places>, Range<u64>) -> bloscpack::Result<u64>,
) -> Result<u64, Halt> {
    let claimed = bytes.end.saturating_sub(bytes.start);
    let done = read(Arc::clone(&places), bytes);
    if let Some(read) = places.ended_early() {
        let longer = false;
        return Err(Halt::Length(Mismatch {
            claimed,
            read,
            longer,
        }));
    }
    let count = match done {
        Err(error) if places.has_failed() => return Err(Halt::Places(error)),
        done => done?,
    };
    source.pass(count).map_err(Halt::Read)?;
    Ok(count)
}

/// Whether the source was as long as was said.
fn confirm(source: &mut Source<'_>, claim: Option<u64>) -> Result<(), Halt> {
    let Some(claimed) = claim else { return Ok(()) };
    let read = source.total();
    let longer = read == claimed && !source.is_at_end().map_err(Halt::Read)?;
    if longer || read != claimed {
        return Err(Halt::Length(Mismatch {
            claimed,
            read,
            longer,
        }));
    }
    Ok(())
}

/// Finds out whose fault it is, and tells.
fn blame(halt: Halt, length: Length, source: &Source<'_>, output: &Output) -> Failure {
    output.explain(match halt {
        Halt::Length(mismatch) => mismatch.failure(&source.name(), length),
        Halt::Read(error) => Failure::io(source.name(), &error),
        Halt::Places(error) => Failure::library(source.name(), &error),
        Halt::Library(error) => {
            let writing = !source.has_failed() && error.category() == Category::Failed;
            let name = if writing {
                output.name().to_owned()
            } else {
                source.name()
            };
            Failure::library(name, &error)
        }
    })
}

impl Mismatch {
    fn failure(self, name: &str, length: Length) -> Failure {
        let claimed = self.claimed;
        let found = if self.longer {
            "has more".to_owned()
        } else {
            format!("ended after {}", self.read)
        };
        if let Length::Given(_) = length {
            let title = format!("{name}: --size says {claimed} bytes, but it {found}");
            return Failure::new(Status::Failed, title);
        }
        let title =
            format!("{name} changed while it was read: it had {claimed} bytes, but {found}");
        Failure::new(Status::Failed, title)
            .hint("compress into a file, or pipe the input in, so that no length is needed")
    }
}
