//! `blpk records append`: records behind those of a file.

use std::path::PathBuf;
use std::time::Instant;

use bloscpack::{Compressor, Editor, Error, RecordEditor};
use clap::Args;

use super::blame;
use super::separator::Separators;
use super::split::{Halt, Split, longest};
use crate::args;
use crate::change::Target;
use crate::frame::{self, READ};
use crate::input::{Awaited, Input, STANDARD};
use crate::interrupt;
use crate::message::Failure;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

/// Append records to a file: by default one for each line
///
/// They are packed and compressed as those that are there, unless options say otherwise. As with
/// 'blpk append', the file is at every moment the old one or the new one. A file of --format 3 only
/// grows; one of --format 2, whose table of offsets has no room, is written anew each time. FILE may
/// have any name.
#[derive(Args, Debug)]
pub struct Append {
    #[command(flatten)]
    separators: Separators,

    /// Compressor [default: that of the file]
    #[arg(short, long, value_name = "CODEC", ignore_case = true, value_parser = args::codec())]
    codec: Option<Compressor>,

    /// Compression level, 0 (none) to 9 [default: that of the file; with another codec, its own]
    #[arg(short, long, visible_alias = "clevel", value_name = "0..9", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u8).range(0..=9))]
    level: Option<u8>,

    /// Chunks to leave room for if the table of offsets has to grow [default: ten times their number, at least 64]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count)]
    max_app_chunks: Option<u64>,

    /// File to append to
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// File with the records to append, or - for standard input
    #[arg(value_name = "IN", default_value = STANDARD)]
    input: PathBuf,
}

/// Why nothing was appended.
enum Failed {
    Splitting(Halt),
    Library(Error),
}

impl From<Halt> for Failed {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Read(error) => Self::Library(error.into()),
            halt => Self::Splitting(halt),
        }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl Append {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let begun = Instant::now();
        frame::refuse(&self.file, READ)?;
        let input = Input::open(&self.input)?;
        let target = Target::find(&self.file, Some(&input)).map_err(|failure| {
            let is_there = self.file.symlink_metadata().is_ok();
            match is_there {
                true => failure,
                false => failure.hint("'blpk records pack' makes a new file"),
            }
        })?;
        let mut editor = self.open(&target, session)?;
        let progress = Progress::new(session, input.length());
        let source = Awaited::begin(&input, &progress);
        let source = source.map_err(|error| Failure::io(input.name(), &error))?;
        let most = longest(editor.packing().is_some(), session);
        let mut split = Split::new(source, self.separators.separator(), most);
        let done = append(&mut editor, &mut split, &progress);
        progress.finish();
        let appended = done.map_err(|failed| match failed {
            Failed::Splitting(halt) => {
                blame::splitting(&halt, &input.name()).detail(target.untouched())
            }
            Failed::Library(error) => target.blame(&error, Some((&input, split.get_ref()))),
        })?;
        target.confirm();
        session.verbose(format_args!(
            "{}, {appended} records, appended to {}, which has {} now, in {:.2?}",
            input.name(),
            target.name(),
            editor.len(),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    fn open(&self, target: &Target<'_>, session: &Session) -> Result<RecordEditor, Failure> {
        let mut builder = Editor::builder();
        if let Some(codec) = self.codec {
            builder = builder.compressor(codec);
        }
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        if let Some(spare) = self.max_app_chunks {
            builder = builder.max_app_chunks(spare);
        }
        let editor = target.edit_records(builder, session);
        editor.map_err(|failure| match failure.status() {
            Status::Unsupported if target.has_records(session) == Some(false) => {
                failure.hint("it has no records: blpk append adds to its content")
            }
            _ => failure,
        })
    }
}

/// Appends all records of the input, and gives their number.
fn append(
    editor: &mut RecordEditor,
    split: &mut Split<Awaited<'_>>,
    progress: &Progress,
) -> Result<u64, Failed> {
    let mut appender = editor.append()?;
    while let Some(record) = split.next()? {
        appender.push(record)?;
    }
    progress.finish();
    interrupt::check().map_err(Error::from)?;
    Ok(appender.finish()?)
}
