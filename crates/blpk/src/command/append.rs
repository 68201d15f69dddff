//! `blpk append`: plain bytes behind the content of a file.

use std::path::PathBuf;
use std::time::Instant;

use bloscpack::{Editor, Metadata};
use clap::Args;

use super::decompress::has_extension;
use crate::args::{self, Joining};
use crate::change::Target;
use crate::frame;
use crate::input::{self, Awaited, Input, STANDARD, is_standard_input};
use crate::interrupt;
use crate::message::{Failure, quoted};
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;

/// Append to the content of a file
///
/// What is appended is compressed as what is there, unless options say otherwise. Until all of it
/// is safe, readers see the file as it was; neither a failure nor Ctrl-C nor a power cut leaves
/// anything between the old file and the new one. Meanwhile a journal, FILE.blpk-journal, lies
/// beside the file; if one is left behind, it belongs to the file, and the next change removes it.
///
/// FILE must end with .blp unless -e is given, as in the Python tool; patch and reindex take any name.
///
/// To replace the metadata alone, append nothing: blpk append -m FILE.json FILE /dev/null
#[derive(Args, Debug)]
pub struct Append {
    #[command(flatten)]
    joining: Joining,

    /// Bytes of a chunk before compression, or 'max'; where FILE has one chunk, not fewer than that
    /// has, and without effect where it has more
    #[arg(short = 'z', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = args::chunk_size)]
    chunk_size: Option<u32>,

    /// Take FILE whatever its name
    #[arg(short = 'e', long)]
    no_check_extension: bool,

    /// File with metadata, which must be JSON, in place of what FILE has
    #[arg(short, long, value_name = "FILE.json")]
    metadata: Option<PathBuf>,

    /// Chunks to leave room for if the table of offsets has to grow [default: ten times their number, at least 64]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count)]
    max_app_chunks: Option<u64>,

    /// File to append to
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// File with the bytes to append, or - for standard input
    #[arg(value_name = "IN", default_value = STANDARD)]
    input: PathBuf,
}

impl Append {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let begun = Instant::now();
        frame::refuse(
            &self.file,
            "an array grows in the library, by NdArray::append; blpk export, blpk import makes another one",
        )?;
        self.check_extension()?;
        let input = Input::open(&self.input)?;
        let metadata = input::read_metadata(self.metadata.as_deref(), &self.input)?;
        let target = Target::find(&self.file, Some(&input))?;
        let mut builder = self.joining.apply(Editor::builder());
        if let Some(bytes) = self.chunk_size {
            builder = builder.chunk_size(bytes);
        }
        if let Some(spare) = self.max_app_chunks {
            builder = builder.max_app_chunks(spare);
        }
        let editor = target.edit(builder, session);
        let mut editor = editor.map_err(|failure| match failure.status() {
            Status::Unsupported if target.has_records(session) == Some(true) => {
                failure.hint("blpk records append does that")
            }
            _ => failure,
        })?;
        self.warn(&editor, session);
        let appended = append(&mut editor, metadata.as_ref(), &input, &target, session)?;
        target.confirm();
        session.verbose(format_args!(
            "{}, {}, appended to {}, which has {} in {} {} now, in {:.2?}",
            input.name(),
            size::pretty(appended),
            target.name(),
            size::pretty(editor.content_len()),
            editor.chunks(),
            if editor.chunks() == 1 {
                "chunk"
            } else {
                "chunks"
            },
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    /// As in the Python tool, a file must have the extension unless `-e` says otherwise.
    fn check_extension(&self) -> Result<(), Failure> {
        let is_name = !is_standard_input(&self.file);
        if self.no_check_extension || !is_name || has_extension(&self.file) {
            return Ok(());
        }
        let title = format!("file {} does not end with '.blp'", quoted(&self.file));
        let swapped = has_extension(&self.input);
        Err(Failure::usage(title).hint(if swapped {
            "the file to append to comes first, then what is appended"
        } else {
            "to append to it all the same, give -e"
        }))
    }

    /// Says what cannot be done as asked.
    fn warn(&self, editor: &Editor, session: &Session) {
        let Some(asked) = self.chunk_size.map(u64::from) else {
            return;
        };
        let name = quoted(&self.file);
        match (editor.chunks(), editor.header().chunk_size.map(u64::from)) {
            (0, _) => {}
            (1, _) if asked >= editor.content_len() => {}
            (1, _) => session.warning(format_args!(
                "-z {asked} is too small: the chunk of {name} has {len} bytes, and the others get as many",
                len = editor.content_len()
            )),
            (_, Some(there)) if asked != there => session.warning(format_args!(
                "-z {asked} has no effect: {name} has chunks of {there} bytes"
            )),
            _ => {}
        }
    }
}

/// Appends all of the input, and gives its length.
fn append(
    editor: &mut Editor,
    metadata: Option<&Metadata>,
    input: &Input,
    target: &Target<'_>,
    session: &Session,
) -> Result<u64, Failure> {
    let progress = Progress::new(session, input.length());
    let source = Awaited::begin(input, &progress);
    let mut source = source.map_err(|error| Failure::io(input.name(), &error))?;
    let done = editor.append().and_then(|mut appender| {
        if let Some(metadata) = metadata {
            appender.set_metadata(metadata)?;
        }
        appender.read_from(&mut source)?;
        progress.finish();
        interrupt::check()?;
        appender.finish()
    });
    done.map_err(|error| target.blame(&error, Some((input, &source))))
}
