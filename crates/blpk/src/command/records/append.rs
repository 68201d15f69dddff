//! `blpk records append`: appends records to a file.

use std::path::PathBuf;
use std::time::Instant;

use bloscpack::edit::{Editor, RecordEditor};
use clap::Args;

use super::plain::SeparatorArgs;
use super::plain::{RecordSplitter, longest};
use crate::args::{self, CodecArgs, FlushEvery, with_given};
use crate::edit::FileEdit;
use crate::failure::{About as _, Failure};
use crate::frame::{self, READ};
use crate::input::{Input, InterruptibleReader, STANDARD};
use crate::interrupt;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, quoted};

/// Append lines or other records to a file
///
/// By default each line is a record. New records are packed and compressed with the settings of FILE, unless others are given.
/// The append is atomic: readers see the old records until it is complete, and an error or Ctrl-C leaves either the old
/// records or the new.
///
/// A --format 3 file grows in place. A --format 2 file, whose offset table cannot grow, is rewritten each time. An input that
/// does not end, such as a pipe from a service, needs --flush-every, which makes records permanent at this interval. With
/// --rotate, such a log consists of several files; 'blpk records unpack --follow FILE' goes through all of them.
#[derive(Args, Debug)]
#[command(
    mut_arg("codec", |arg| arg.help("Compressor [default: as in FILE]").help_heading(None::<&str>)),
    mut_arg("level", |arg| arg.help("Compression level, 0 (none) to 9 [default: as in FILE, or the default of --codec]").help_heading(None::<&str>)),
)]
pub struct Append {
    #[command(flatten)]
    separator: SeparatorArgs,

    #[command(flatten)]
    codec: CodecArgs,

    /// Chunks to reserve space for if the offset table has to grow [default: ten times the number of chunks]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count)]
    max_app_chunks: Option<u64>,

    /// Complete the append after at most this time (200ms, 2s) or this many bytes (64K), and begin another
    #[arg(long, value_name = "TIME|BYTES", allow_negative_numbers = true, value_parser = args::flush_every)]
    flush_every: Option<FlushEvery>,

    /// Start a new FILE once it has this many bytes (1G), or after this time (12h, 7d) of the command; the records
    /// so far stay in FILE-000001, FILE-000002, ...
    #[arg(long, value_name = "TIME|BYTES", allow_negative_numbers = true, value_parser = args::rotate)]
    rotate: Option<FlushEvery>,

    /// File to append to; its name need not end with .blp
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// File with the records to append, or - for standard input
    #[arg(value_name = "IN", default_value = STANDARD)]
    input: PathBuf,
}

impl Append {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        frame::refuse(&self.file, READ)?;
        let input = Input::open(&self.input, session)?;
        let file = FileEdit::find(&self.file, Some(&input)).map_err(|failure| {
            let is_missing = failure.status() == Status::Failed && !self.file.exists();
            if is_missing {
                failure.hint("'blpk records pack' makes a new file")
            } else {
                failure
            }
        })?;
        let mut editor = self.open(&file, session)?;
        let progress = Progress::new(session, input.length());
        let reader = InterruptibleReader::begin(&input, &progress).about(&input.name())?;
        let longest = longest(editor.packing().is_some(), session);
        let separator = self.separator.separator();
        let mut records = RecordSplitter::new(reader, input.name(), separator, longest);
        let appended = self.append(&mut editor, &mut records, &progress, session);
        progress.finish();
        let appended = appended.about(&file)?;
        file.report_late_signal();
        session.done(format_args!(
            "{}, {}, appended to {}, which now has {},",
            input.name(),
            count(appended, "record"),
            file.name(),
            editor.len(),
        ));
        Ok(Status::Done)
    }

    fn open(&self, file: &FileEdit<'_>, session: &Session) -> Result<RecordEditor, Failure> {
        let builder = with_given!(Editor::builder(),
            compressor: self.codec.codec,
            level: self.codec.level(),
            max_app_chunks: self.max_app_chunks,
        );
        let editor = file.open_records(builder, session);
        editor.map_err(|failure| match failure.status() {
            Status::Unsupported if file.has_records(session) == Some(false) => {
                failure.hint("it contains no records; blpk append adds to its content")
            }
            _ => failure,
        })
    }

    /// Appends all records of the input, and returns their number.
    fn append(
        &self,
        editor: &mut RecordEditor,
        records: &mut RecordSplitter<InterruptibleReader<'_>>,
        progress: &Progress,
        session: &Session,
    ) -> Result<u64, Failure> {
        let (mut appended, mut begun) = (0, Instant::now());
        loop {
            let mut appender = editor.append()?;
            let is_more = records.pass_some(self.flush_every, |record| appender.push(record))?;
            if !is_more {
                progress.finish();
            }
            interrupt::check()?;
            appended += appender.finish()?;
            let is_due = match self.rotate {
                None => false,
                Some(FlushEvery::Bytes(most)) => editor.file_len()? >= most,
                Some(FlushEvery::Time(most)) => begun.elapsed() >= most,
            };
            if is_due && !editor.is_empty() {
                let part = editor.rotate()?;
                begun = Instant::now();
                let part = self.file.with_file_name(part);
                session.verbose(format_args!("{} has the records so far", quoted(&part)));
            }
            if !is_more {
                return Ok(appended);
            }
        }
    }
}
