//! `blpk records unpack`: the records of a file or stream, as plain bytes.

use std::cell::RefCell;
use std::path::PathBuf;

use bloscpack::{Category, records::RecordReader};
use clap::Args;

use super::output::{FlushingReader, RecordOutput};
use super::separator::SeparatorArgs;
use super::{CONTENT, failed_to_read};
use crate::failure::Failure;
use crate::frame::{self, READ};
use crate::input::{Input, InputReader, STANDARD};
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;
use crate::text::count;

/// Write the records of a file as plain bytes: by default one per line
///
/// Each record is followed by a line break, unless options say otherwise. A record that contains a line break would be
/// read as two; it is an error unless -f is given.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Unpack {
    #[command(flatten)]
    separator: SeparatorArgs,

    /// Extract the complete chunks of unterminated or unfinished data
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

impl Unpack {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        frame::refuse(&self.file, READ)?;
        let input = Input::open_binary(&self.file, session)?;
        let output = Output::create(&self.output, &[&input], session)?;
        let name = output.name().to_owned();
        let out = RefCell::new(RecordOutput::new(output, self.separator.separator()));
        let progress = Progress::new(session, input.length());
        let mut reader = RecordReader::builder()
            .threads(session.threads)
            .limits(session.limits)
            .allow_unterminated(self.allow_unterminated)
            .read_from(FlushingReader {
                reader: input.reader(&progress),
                out: &out,
            });
        let done = copy(&mut reader, &out, &input, session);
        progress.finish();
        session.warnings(&input.name(), reader.warnings());
        let (records, read) = (reader.records(), reader.total_in());
        drop(reader);
        let ((), written) = out.into_inner().finish(done)?;
        session.done(format_args!(
            "{}, {}, {} unpacked to {name}, {},",
            input.name(),
            size::pretty(read),
            count(records, "record"),
            size::pretty(written),
        ));
        Ok(Status::Done)
    }
}

/// Writes all records.
fn copy(
    reader: &mut RecordReader<FlushingReader<'_, InputReader<'_>>>,
    out: &RefCell<RecordOutput>,
    input: &Input,
    session: &Session,
) -> Result<(), Failure> {
    let mut number = 0;
    loop {
        let error = match reader.next_record() {
            Ok(None) => return Ok(()),
            Ok(Some(record)) => {
                let mut out = out.borrow_mut();
                if !session.force && out.is_ambiguous(record) {
                    return Err(out.ambiguous(&input.name(), number));
                }
                out.put(record)
                    .map_err(|error| out.output().failed(&error))?;
                number += 1;
                continue;
            }
            Err(error) => error,
        };
        let failure = failed_to_read(&error, input, out.borrow().output());
        let is_unsupported = error.category() == Category::Unsupported;
        let mut is_content = || reader.read_header().is_ok_and(|header| !header.varlen);
        return Err(match is_unsupported && is_content() {
            true => failure.hint(CONTENT),
            false => failure,
        });
    }
}
