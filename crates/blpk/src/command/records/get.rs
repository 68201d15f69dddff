//! `blpk records get`: records by their numbers.

use std::ops::Range;
use std::path::{Path, PathBuf};

use bloscpack::{Category, Error, IndexedRecordReader, wire::Form};
use clap::Args;

use super::blame;
use super::joined::Joined;
use super::separator::{Separator, Separators};
use crate::args;
use crate::frame::{self, READ};
use crate::input::{Bytes, Input, STANDARD, look};
use crate::message::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

/// Print records by their numbers, counted from 0
///
/// Only their chunks are read. Records are printed as they are, in the order in which they are asked
/// for, each with a line break behind it or what the options say.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Get {
    #[command(flatten)]
    separators: Separators,

    /// Print nothing between and behind the records
    #[arg(long, conflicts_with_all = ["null", "lengths"])]
    raw: bool,

    /// File with records, or - for standard input, which then must be a regular file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Number of a record, or A..B, A.., ..B: all from A on, B not included
    #[arg(value_name = "N", required = true, value_parser = numbers)]
    numbers: Vec<Numbers>,
}

const EXAMPLES: &str = "\
Examples:
  blpk records get app.blp 0 17 1000..1010
  blpk records get --raw images.blp 3 > three.png";

/// Records that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    One(u64),
    /// Perhaps to the last.
    Span(u64, Option<u64>),
}

impl Numbers {
    /// Which these are of so many, if there are all of them.
    fn of(self, records: u64) -> Option<Range<u64>> {
        let (start, end) = match self {
            Self::One(number) => (number, number.checked_add(1)?),
            Self::Span(start, end) => (start, end.unwrap_or(records)),
        };
        (start <= end && end <= records).then_some(start..end)
    }
}

/// As it is told where they are not there.
impl std::fmt::Display for Numbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(number) => write!(f, "there is no record {number}"),
            Self::Span(start, Some(end)) => write!(f, "there are no records {start}..{end}"),
            Self::Span(start, None) => write!(f, "there are no records {start}.."),
        }
    }
}

impl Get {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        frame::refuse(&self.file, READ)?;
        let input = Input::open_binary(&self.file, session)?;
        let Some(file) = input.at_positions() else {
            let title =
                "records are found by number only in a regular file, read from its beginning";
            return Err(Failure::usage(title).hint("blpk records unpack reads a pipe"));
        };
        let output = Output::create(Path::new(STANDARD), &[&input], session)?;
        let builder = IndexedRecordReader::builder().limits(session.limits);
        let reader = builder.open(file);
        let reader = reader.map_err(|error| blame_opening(&error, &input, &output, session))?;
        for warning in reader.warnings() {
            session.warning(format_args!("{}: {warning}", input.name()));
        }
        let ranges = self.ranges(&reader, &input)?;
        let mut out = Joined::new(output, self.separator());
        let done = copy(ranges, &reader, &mut out);
        if let Err(error) = done {
            // What is sound before the fault is let out.
            let _ = out.flush();
            return Err(blame::reading(&error, &input, out.output()));
        }
        out.into_output().commit()?;
        Ok(Status::Done)
    }

    fn separator(&self) -> Separator {
        if self.raw {
            Separator::Nothing
        } else {
            self.separators.separator()
        }
    }

    /// What is asked for, if all of it is there.
    fn ranges(
        &self,
        reader: &IndexedRecordReader<&Bytes>,
        input: &Input,
    ) -> Result<Vec<Range<u64>>, Failure> {
        let records = reader.len();
        let all = self.numbers.iter().map(|numbers| {
            numbers.of(records).ok_or_else(|| {
                let title = format!("{}: {numbers}", input.name());
                Failure::usage(title).hint(match records {
                    1 => "it has 1 record, with the number 0".to_owned(),
                    _ => format!("it has {records} records, counted from 0"),
                })
            })
        });
        all.collect()
    }
}

fn copy(
    ranges: Vec<Range<u64>>,
    reader: &IndexedRecordReader<&Bytes>,
    out: &mut Joined,
) -> Result<(), Error> {
    for range in ranges {
        for record in reader.range(range) {
            out.put(&record?)?;
        }
    }
    Ok(out.flush()?)
}

/// Why the file could not be opened as records.
fn blame_opening(error: &Error, input: &Input, output: &Output, session: &Session) -> Failure {
    let failure = blame::reading(error, input, output);
    let progress = Progress::new(session, None);
    let is_content = || {
        let form = look(&mut input.source(&progress), &session.limits);
        form.is_ok_and(|(_, form)| form == Some(Form::Content))
    };
    if error.category() == Category::Unsupported && is_content() {
        return failure.hint(blame::CONTENT);
    }
    failure
}

fn numbers(text: &str) -> Result<Numbers, String> {
    let Some((start, end)) = text.split_once("..") else {
        let number = args::count(text).map(Numbers::One);
        return number.map_err(|error| format!("{error}, or a range of them such as 5..10"));
    };
    let bound = |text: &str| (!text.is_empty()).then(|| args::count(text)).transpose();
    let (start, end) = (bound(start)?.unwrap_or(0), bound(end)?);
    if end.is_some_and(|end| end < start) {
        return Err("a range must not end before it starts".into());
    }
    Ok(Numbers::Span(start, end))
}

#[cfg(test)]
mod tests {
    use super::{Numbers, numbers};

    #[test]
    fn numbers_and_ranges() {
        assert_eq!(numbers("7"), Ok(Numbers::One(7)));
        assert_eq!(numbers("3..7"), Ok(Numbers::Span(3, Some(7))));
        assert_eq!(numbers("3.."), Ok(Numbers::Span(3, None)));
        assert_eq!(numbers("..7"), Ok(Numbers::Span(0, Some(7))));
        assert_eq!(numbers(".."), Ok(Numbers::Span(0, None)));
        for wrong in ["", "-1", "7..3", "a..b", "1..=2", "1...2", "1K", "0x1"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_what_is_there() {
        let of = |text, records| numbers(text).unwrap().of(records);
        assert_eq!(of("4", 5), Some(4..5));
        assert_eq!(of("5", 5), None);
        assert_eq!(of("18446744073709551615", 5), None);
        assert_eq!(of("2..", 5), Some(2..5));
        assert_eq!(of("5..", 5), Some(5..5));
        assert_eq!(of("6..", 5), None);
        assert_eq!(of("..5", 5), Some(0..5));
        assert_eq!(of("..6", 5), None);
        assert_eq!(of("..", 0), Some(0..0));
    }
}
