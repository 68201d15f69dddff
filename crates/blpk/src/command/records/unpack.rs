//! `blpk records unpack`: writes the records of a file or stream as plain bytes.

use std::cell::RefCell;
use std::io::Read;
use std::path::PathBuf;

use bloscpack::{error::IoSide as _, follow::RecordFollower, records::RecordReader};
use clap::Args;

use super::failed_to_read;
use super::plain::SeparatorArgs;
use super::plain::{FlushingReader, RecordOutput};
use crate::args;
use crate::command::{bloscpack_file, follow};
use crate::failure::{About as _, Failure, Subject as _};
use crate::input::{self, Input, STANDARD};
use crate::output::{MadeFrom, Replaces, Target, is_standard_output};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::count;
use bloscpack_open::internal::size;

/// Write the records of a file as lines or other plain bytes
///
/// By default a line break follows each record; -0 and --lengths write other separators. A record that contains the separator
/// would be read as two: it is an error unless -f is given.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Unpack {
    #[command(flatten)]
    separator: SeparatorArgs,

    /// Extract the complete chunks of unterminated or unfinished data
    #[arg(long)]
    allow_unterminated: bool,

    /// Keep writing the records that are appended to FILE; waits for a file that does not exist yet, and continues with a file
    /// that replaces it
    #[arg(short = 'F', long, conflicts_with = "allow_unterminated")]
    follow: bool,

    /// With --follow, begin with record N, counted from 0, to continue after N complete records
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, requires = "follow")]
    from: Option<u64>,

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
  blpk records unpack --follow --from 1000 app.blp
  blpk records unpack --lengths objects.blp objects.bin";

impl Unpack {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if self.follow {
            return self.follow(session);
        }
        let input = bloscpack_file::open(&self.file, session)?;
        let output = Target::file(
            &self.output,
            Replaces::Plain,
            MadeFrom::Input(&input),
            session,
        )?;
        let out = RefCell::new(RecordOutput::new(output, self.separator.separator()));
        let progress = Progress::new(session, input.length());
        let options = session
            .options()
            .threads(session.threads)
            .allow_unterminated(self.allow_unterminated);
        let located = input.located(&progress);
        let (done, records, read) = match located {
            // Reading a file never has to wait for its writer, so nothing is flushed before it.
            Some((file, _)) => {
                let reader = RecordReader::from_source(file, options);
                let reader = reader.map_err(|error| input.explain(error.into()))?;
                unpack(reader, &out, &input, session)
            }
            None => {
                let reader = FlushingReader {
                    reader: input.reader(&progress),
                    out: &out,
                };
                unpack(
                    RecordReader::with_options(reader, options),
                    &out,
                    &input,
                    session,
                )
            }
        };
        let done = done.about(&out.borrow().output().made_from(&input));
        progress.finish();
        let made = out.into_inner().finish(done, session)?;
        session.done(format_args!(
            "{}, {}, {} unpacked to {}, {},",
            input.name(),
            size::pretty(read),
            count(records, "record"),
            made.name,
            size::pretty(made.length),
        ));
        Ok(Status::Done)
    }

    /// Writes the records of the file, then all appended records, until the output is closed.
    fn follow(&self, session: &Session) -> Result<Status, Failure> {
        // A file gets its name only when it is complete.
        if !is_standard_output(&self.output) {
            let title = "--follow writes to standard output, because the output is never complete";
            return Err(Failure::usage(title).hint("redirect standard output"));
        }
        let options = follow::options(&self.file, self.from.unwrap_or(0), session)?;
        let follower = options.records(&self.file);
        let content = "blpk cat --follow prints content";
        let mut follower = follow::opened(follower, &self.file, content)?;
        let name = input::name(&self.file);
        let output = Target::file(&self.output, Replaces::Plain, MadeFrom::Nothing, session)?;
        let mut out = RecordOutput::new(output, self.separator.separator());
        let done = loop {
            match write_new(&mut follower, &mut out, &name, session) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(failure) => break Err(failure).about(&out.output().made_from(&name)),
            }
        };
        out.finish(done, session)?;
        Ok(Status::Done)
    }
}

/// Writes the new records of the file, and waits for more. Returns false if the output is closed.
fn write_new(
    follower: &mut RecordFollower,
    out: &mut RecordOutput,
    name: &str,
    session: &Session,
) -> Result<bool, Failure> {
    loop {
        let number = follower.number();
        let Some(record) = follower.try_next().reading()? else {
            break;
        };
        if !session.force && out.is_ambiguous(&record) {
            return Err(out.ambiguous(name, number));
        }
        out.put(&record)?;
    }
    out.flush()?;
    Ok(follow::wait(follower, out.output(), name, session).reading()?)
}

/// Writes all records. Returns how that ended, the number of records, and the bytes that were read.
fn unpack<R: Read>(
    mut reader: RecordReader<R>,
    out: &RefCell<RecordOutput>,
    input: &Input,
    session: &Session,
) -> (Result<(), Failure>, u64, u64) {
    let done = copy(&mut reader, out, input, session);
    session.warnings(&input.name(), reader.warnings());
    (done, reader.records(), reader.total_in())
}

fn copy<R: Read>(
    reader: &mut RecordReader<R>,
    out: &RefCell<RecordOutput>,
    input: &Input,
    session: &Session,
) -> Result<(), Failure> {
    let mut number = 0;
    loop {
        match reader.next_record() {
            Ok(None) => return Ok(()),
            Ok(Some(record)) => {
                let mut out = out.borrow_mut();
                if !session.force && out.is_ambiguous(record) {
                    return Err(out.ambiguous(&input.name(), number));
                }
                out.put(record)?;
                number += 1;
            }
            Err(error) => {
                let is_content = || reader.read_header().is_ok_and(|header| !header.varlen);
                return Err(failed_to_read(error, is_content));
            }
        }
    }
}
