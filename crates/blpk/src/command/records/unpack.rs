//! `blpk records unpack`: the records of a file or stream, as plain bytes.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Instant;

use bloscpack::{Category, Error, RecordReader};
use clap::Args;

use super::blame;
use super::joined::{Joined, Paced};
use super::separator::Separators;
use crate::frame::{self, READ};
use crate::input::{Input, STANDARD, Source};
use crate::message::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;

/// Write the records of a file as plain bytes: by default as lines
///
/// Behind each record comes a line break, or what the options say. A record that has one inside
/// could not be told from two; it is an error, unless -f is given.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Unpack {
    #[command(flatten)]
    separators: Separators,

    /// Take what there is of unterminated or unfinished data
    #[arg(long)]
    allow_unterminated: bool,

    /// File with records, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// File to write, or - for standard output
    #[arg(value_name = "OUT", default_value = STANDARD)]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk records unpack app.blp | grep warning
  blpk records unpack --lengths objects.blp objects.bin";

/// A reader that lets out what is held back before it waits.
type Reader<'a> = RecordReader<Paced<'a, Source<'a>>>;

/// Why not all records came out.
enum Failed {
    Library(Error),
    /// The input has no records.
    Content(Error),
    /// The record with this number could not be told from two.
    Ambiguous(u64),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl Unpack {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let begun = Instant::now();
        frame::refuse(&self.file, READ)?;
        let input = Input::open_binary(&self.file, session)?;
        let output = Output::create(&self.output, &[&input], session)?;
        let separator = self.separators.separator();
        let out = RefCell::new(Joined::new(output, separator));
        let progress = Progress::new(session, input.length());
        let source = Paced {
            input: input.source(&progress),
            out: &out,
        };
        let mut reader = RecordReader::builder()
            .threads(session.threads)
            .limits(session.limits)
            .allow_unterminated(self.allow_unterminated)
            .read_from(source);
        let done = copy(&mut reader, &out, session.force);
        progress.finish();
        for warning in reader.warnings() {
            session.warning(format_args!("{}: {warning}", input.name()));
        }
        let (records, read) = (reader.records(), reader.total_in());
        let done = done.map_err(|failed| failed.with(&mut reader));
        drop(reader);
        let mut out = out.into_inner();
        if let Err(failed) = done {
            // What is sound before the fault is let out.
            let _ = out.flush();
            return Err(failed.blame(&input, &out));
        }
        let output = out.into_output();
        let name = output.name().to_owned();
        let written = output.commit()?;
        session.verbose(format_args!(
            "{}, {}, {records} records unpacked into {name}, {}, in {:.2?}",
            input.name(),
            size::pretty(read),
            size::pretty(written),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }
}

/// Writes all records.
fn copy(reader: &mut Reader<'_>, out: &RefCell<Joined>, force: bool) -> Result<(), Failed> {
    let mut number = 0;
    while let Some(record) = reader.next_record()? {
        let mut out = out.borrow_mut();
        if !force && out.is_ambiguous(record) {
            return Err(Failed::Ambiguous(number));
        }
        out.put(record).map_err(Error::from)?;
        number += 1;
    }
    Ok(out.borrow_mut().flush().map_err(Error::from)?)
}

impl Failed {
    /// With what the reader knows of the input.
    fn with(self, reader: &mut Reader<'_>) -> Self {
        match self {
            Self::Library(error) if error.category() == Category::Unsupported => {
                let header = reader.read_header();
                if header.is_ok_and(|header| !header.varlen) {
                    return Self::Content(error);
                }
                Self::Library(error)
            }
            other => other,
        }
    }

    /// Finds out whose fault it is, and tells.
    fn blame(self, input: &Input, out: &Joined) -> Failure {
        match self {
            Self::Library(error) => blame::reading(&error, input, out.output()),
            Self::Content(error) => {
                blame::reading(&error, input, out.output()).hint(blame::CONTENT)
            }
            Self::Ambiguous(number) => out.output().explain(out.ambiguous(input, number)),
        }
    }
}
