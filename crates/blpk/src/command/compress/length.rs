//! Compresses an input whose length may be known, unknown, or wrong.

use std::io::{self, Read as _, Seek as _};

use bloscpack::{
    Code, EncoderBuilder, Error,
    error::{IoSide as _, Side},
};

use crate::command::encoding::{Content, Encoded, encode};
use crate::failure::{About as _, Failure};
use crate::input::Input;
use crate::output::{SyncingFile, Target};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

/// Compresses all of the input. `given` is its length according to the user.
pub fn compress(
    builder: &dyn Fn() -> EncoderBuilder,
    given: Option<u64>,
    input: &Input,
    output: &mut Target,
    session: &Session,
) -> Result<Encoded, Failure> {
    let found = input.length();
    let progress = Progress::new(session, given.or(found));
    let done = attempt(builder(), given, input, &progress, output);
    let is_wrong = done.as_ref().is_err_and(is_wrong_length);
    let done = match output.seekable().filter(|_| is_wrong && given.is_none()) {
        // The length of the file has changed. An output that can seek can begin again without it.
        Some(file) => {
            start_over(input, file).about(&input.name())?;
            progress.restart();
            let mut reader = input.reader(&progress);
            encode(builder(), Content::Reader(&mut reader), output)
        }
        None => done,
    };
    let done = done.map_err(|error| match given.or(found) {
        Some(claimed) if is_wrong_length(&error) => {
            wrong_length(&input.name(), claimed, given.is_some(), &error)
        }
        _ => error.into(),
    });
    done.about(&output.made_from(input))
}

/// Compresses all of the input, with the length that is claimed for it.
fn attempt(
    builder: EncoderBuilder,
    given: Option<u64>,
    input: &Input,
    progress: &Progress,
    output: &mut Target,
) -> bloscpack::Result<Encoded> {
    let mut reader = input.reader(progress);
    let located = input.located(progress);
    if let Some((file, len)) = located.filter(|(_, len)| given.is_none_or(|given| given == *len)) {
        let done = encode(builder.size(len), Content::File(file, len), output)?;
        input.seek_to_end().reading()?;
        return Ok(done);
    }
    let mut first = Vec::new();
    let claimed = match (given, input.length()) {
        // Files below /proc claim to be empty, but are not.
        (None, Some(_)) => {
            let len = reader.by_ref().take(1).read_to_end(&mut first).reading()?;
            (len == 0).then_some(0)
        }
        (given, _) => given,
    };
    let builder = match claimed {
        Some(bytes) => builder.size(bytes),
        None => builder,
    };
    let mut reader = first.as_slice().chain(reader);
    encode(builder, Content::Reader(&mut reader), output)
}

/// Goes back to the beginning of both.
fn start_over(input: &Input, mut output: &SyncingFile) -> io::Result<()> {
    input.rewind()?;
    output.get_ref().set_len(0)?;
    output.rewind()
}

/// Whether the input is longer or shorter than claimed.
fn is_wrong_length(error: &Error) -> bool {
    let is_end = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    let is_cut = error.side() == Some(Side::Source) && error.io_error().is_some_and(is_end);
    is_cut || error.code() == Code::WrongSize
}

fn wrong_length(name: &str, claimed: u64, given: bool, error: &Error) -> Failure {
    let found = if error.code() == Code::WrongSize {
        error.to_string()
    } else {
        format!("expected {claimed} bytes, got fewer")
    };
    if given {
        return Failure::new(Status::Failed, format!("{name}: wrong --size: {found}"));
    }
    Failure::new(
        Status::Failed,
        format!("{name} changed while being read: {found}"),
    )
    .hint("compress into a file, or pipe the input in, so that its length is not needed")
}
