//! `blpk patch`: overwrites a part of a file's content with plain bytes.

use std::io::Read as _;
use std::path::PathBuf;

use bloscpack::{edit::Editor, error::IoSide as _, wire::NumpyArray};
use clap::Args;

use super::bloscpack_file::{LOOK, known_format};
use crate::edit::FileEdit;
use crate::failure::{About as _, Failure};
use crate::frame;
use crate::input::{Input, InterruptibleReader, STANDARD};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use bloscpack_open::internal::size;

/// Overwrite part of the content of a file
///
/// The new bytes must lie within the content, whose length stays the same. Only the chunks that change are compressed
/// again, with their own settings; a damaged chunk can only be overwritten completely. The change is atomic: readers see
/// the old content until it is complete, and an error or Ctrl-C leaves either the old content or the new.
#[derive(Args, Debug)]
pub struct Patch {
    /// Position of the first byte to overwrite in the uncompressed content, such as 0 or 1.5M
    #[arg(long, value_name = "OFFSET", allow_negative_numbers = true, value_parser = size::parse)]
    at: u64,

    /// File to change; its name need not end with .blp
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// File with the new bytes, or - for standard input
    #[arg(value_name = "IN", default_value = STANDARD)]
    input: PathBuf,
}

impl Patch {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        frame::refuse(
            &self.file,
            "the library changes arrays in frames (NdArray::write_slice)",
        )?;
        let input = Input::open(&self.input, session)?;
        let file = FileEdit::find(&self.file, Some(&input))?;
        let mut editor = file.open(Editor::builder(), session)?;
        let progress = Progress::new(session, input.length());
        let reader = InterruptibleReader::begin(&input, &progress);
        let mut reader = reader.about(&input.name())?;
        let (source, mut start) = (input.name(), Vec::new());
        let change = file.changed_from(&source);
        let read = reader.by_ref().take(LOOK).read_to_end(&mut start);
        read.reading().about(&change)?;
        let is_array = editor.metadata().is_some_and(NumpyArray::is_described_by);
        if let Some(format) = known_format(&start).filter(|_| is_array) {
            let name = file.name();
            let title = format!("{source} is {format}, and not elements of the array in {name}");
            let hint = "give the bytes of the elements alone, as numpy.ndarray.tofile writes them";
            return Err(Failure::usage(title).hint(hint)).about(&change);
        }
        let done = editor.patch(self.at, start.chain(reader));
        progress.finish();
        let patched = done.about(&change)?;
        file.report_late_signal();
        session.done(format_args!(
            "{source}, {}, written to {} at byte {},",
            size::pretty(patched),
            file.name(),
            self.at,
        ));
        Ok(Status::Done)
    }
}
