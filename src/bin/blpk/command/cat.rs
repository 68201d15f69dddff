//! `blpk cat`: bytes of the uncompressed content on standard output.

use std::path::{Path, PathBuf};

use bloscpack::{Decoder, Survey};
use clap::Args;

use super::decompress::blame;
use crate::input::{Input, STANDARD};
use crate::message::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;

/// Print the uncompressed bytes of a file, or some of them
#[derive(Args, Debug)]
pub struct Cat {
    /// Bytes A to B, B not included; either may be left out
    #[arg(long, value_name = "A..B", value_parser = span, conflicts_with = "chunk")]
    range: Option<Span>,

    /// The bytes of chunk N, counted from 0 across the members of a concatenation
    #[arg(long, value_name = "N")]
    chunk: Option<u64>,

    /// File to read, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    path: PathBuf,
}

/// A stretch of the content, perhaps to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u64,
    end: Option<u64>,
}

impl Cat {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let input = Input::open_binary(&self.path, session)?;
        let mut output = Output::create(Path::new(STANDARD), &[&input], session)?;
        let span = match self.chunk {
            Some(number) => Some(chunk(number, &input, session)?),
            None => self.range,
        };
        let progress = Progress::new(session, input.length());
        let mut builder = Decoder::builder()
            .threads(session.threads)
            .limits(session.limits);
        if let Some(span) = span {
            builder = builder.range(span.start..span.end.unwrap_or(u64::MAX));
        }
        let mut decoder = builder.read_from(input.source(&progress));
        let done = decoder.copy_to(&mut output);
        progress.finish();
        for warning in decoder.warnings() {
            session.warning(format_args!("{}: {warning}", input.name()));
        }
        let copied = done.map_err(|error| blame(&error, &input, &output))?;
        confirm(span, copied, &input)?;
        output.commit()?;
        Ok(Status::Done)
    }
}

/// Whether all that was asked for was there.
fn confirm(span: Option<Span>, copied: u64, input: &Input) -> Result<(), Failure> {
    let Some(Span {
        start,
        end: Some(end),
    }) = span
    else {
        return Ok(());
    };
    if copied < end - start {
        let title = format!(
            "{}: the range {start}..{end} reaches past the end; {copied} bytes of it exist",
            input.name()
        );
        return Err(Failure::usage(title));
    }
    Ok(())
}

/// Where chunk `number` lies in the content. Reads the headers of all chunks, nothing else.
fn chunk(number: u64, input: &Input, session: &Session) -> Result<Span, Failure> {
    if input.length().is_none() {
        return Err(Failure::usage("--chunk needs a regular file").hint("use --range on a pipe"));
    }
    let progress = Progress::new(session, input.length());
    let survey = input
        .survey(&progress, &session.limits)
        .map_err(|error| Failure::library(input.name(), &error))?;
    input
        .rewind()
        .map_err(|error| Failure::io(input.name(), &error))?;
    locate(number, &survey).ok_or_else(|| {
        let chunks: u64 = survey.members.iter().map(|member| member.chunks).sum();
        let title = format!("{}: there is no chunk {number}", input.name());
        Failure::usage(title).hint(format!("it has {chunks} chunks, counted from 0"))
    })
}

/// All chunks of a member are of one size, but for the last.
fn locate(number: u64, survey: &Survey) -> Option<Span> {
    let mut before = 0;
    let mut start = 0;
    for member in &survey.members {
        let index: u64 = number - before;
        if index < member.chunks {
            let first = member.first_chunk.as_ref()?.nbytes;
            let from = start + index * u64::from(first);
            let last = index + 1 == member.chunks;
            let end = if last {
                start + member.uncompressed
            } else {
                from + u64::from(first)
            };
            return Some(Span {
                start: from,
                end: Some(end),
            });
        }
        before += member.chunks;
        start += member.uncompressed;
    }
    None
}

fn span(text: &str) -> Result<Span, String> {
    let (start, end) = text
        .split_once("..")
        .ok_or("a range is written A..B, A.. or ..B")?;
    let bound = |text: &str| (!text.is_empty()).then(|| size::parse(text)).transpose();
    let start = bound(start)?.unwrap_or(0);
    let end = bound(end)?;
    if end.is_some_and(|end| end < start) {
        return Err("a range must not end before it starts".into());
    }
    Ok(Span { start, end })
}

#[cfg(test)]
mod tests {
    use super::{Span, span};

    #[test]
    fn ranges() {
        let whole = |start, end| Ok(Span { start, end });
        assert_eq!(span("3..7"), whole(3, Some(7)));
        assert_eq!(span("3.."), whole(3, None));
        assert_eq!(span("..7"), whole(0, Some(7)));
        assert_eq!(span(".."), whole(0, None));
        assert_eq!(span("1K..1M"), whole(1024, Some(1 << 20)));
        assert_eq!(span("5..5"), whole(5, Some(5)));
        for wrong in ["", "5", "7..3", "a..b", "1..=2", "1...2", "-1..2"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
