//! `blpk patch`: plain bytes over the content of a file.

use std::path::PathBuf;
use std::time::Instant;

use bloscpack::Editor;
use clap::Args;

use crate::change::Target;
use crate::frame;
use crate::input::{Awaited, Input, STANDARD};
use crate::message::Failure;
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;

/// Overwrite bytes of the content of a file
///
/// The length of the content stays; only the chunks that are touched are compressed anew, as they
/// were. As with 'append', the file is at every moment the old one or the new one. A damaged chunk
/// can be overwritten as a whole. FILE may have any name.
#[derive(Args, Debug)]
pub struct Patch {
    /// First byte of the uncompressed content to overwrite, such as 0 or 1.5M
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
        let begun = Instant::now();
        frame::refuse(
            &self.file,
            "an array is changed in the library, by NdArray::write_slice",
        )?;
        let input = Input::open(&self.input)?;
        let target = Target::find(&self.file, Some(&input))?;
        let mut editor = target.edit(Editor::builder(), session)?;
        let progress = Progress::new(session, input.length());
        let source = Awaited::begin(&input, &progress);
        let mut source = source.map_err(|error| Failure::io(input.name(), &error))?;
        let done = editor.patch(self.at, &mut source);
        progress.finish();
        let patched = done.map_err(|error| target.blame(&error, Some((&input, &source))))?;
        target.confirm();
        session.verbose(format_args!(
            "{}, {}, written over {} from byte {} on, in {:.2?}",
            input.name(),
            size::pretty(patched),
            target.name(),
            self.at,
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }
}
