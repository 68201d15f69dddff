//! `blpk patch`: plain bytes over a part of a file's content.

use std::path::PathBuf;

use bloscpack::edit::Editor;
use clap::Args;

use crate::edit::FileEdit;
use crate::failure::Failure;
use crate::frame;
use crate::input::{Input, InterruptibleReader, STANDARD};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use bloscpack::open::internal::size;

/// Overwrite part of the content of a file
///
/// The content keeps its length. Only the chunks that change are compressed again, with their own settings. As with
/// append, readers see the old content until the change is complete, and an error or Ctrl-C leaves either the old content
/// or the new. A damaged chunk can only be overwritten completely. FILE may have any name.
#[derive(Args, Debug)]
pub struct Patch {
    /// Position in the uncompressed content of the first byte to overwrite, such as 0 or 1.5M
    #[arg(long, value_name = "OFFSET", allow_negative_numbers = true, value_parser = size::parse)]
    at: u64,

    /// File to change
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
        let reader = reader.map_err(|error| Failure::io(input.name(), &error))?;
        let done = editor.patch(self.at, reader);
        progress.finish();
        let patched = done.map_err(|error| file.failed_from(&input.name(), &error))?;
        file.report_late_signal();
        session.done(format_args!(
            "{}, {}, written to {} at byte {},",
            input.name(),
            size::pretty(patched),
            file.name(),
            self.at,
        ));
        Ok(Status::Done)
    }
}
