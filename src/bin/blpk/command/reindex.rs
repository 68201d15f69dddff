//! `blpk reindex`: a table of offsets filled in.

use std::path::PathBuf;

use bloscpack::{Category, Editor};
use clap::Args;

use crate::change::Target;
use crate::message::{self, Failure};
use crate::session::Session;
use crate::status::Status;

/// Fill in a table of offsets that its writer has left empty
///
/// All chunks must be there. The table lets readers find a chunk without reading those before it. FILE
/// may have any name.
#[derive(Args, Debug)]
pub struct Reindex {
    /// File to change
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Reindex {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let target = Target::find(&self.file, None)?;
        let mut editor = target.edit(Editor::builder(), session)?;
        let has_table = editor.header().offsets;
        let filled = editor.reindex().map_err(|error| {
            let failure = target.blame(&error, None);
            if has_table || error.category() != Category::Usage {
                return failure;
            }
            failure.hint("decompress the file and compress it into a file to get a table")
        })?;
        target.confirm();
        if !filled && !session.quiet {
            let name = target.name();
            message::note(format_args!("{name}: the offsets are filled in already"));
        } else {
            session.verbose(format_args!(
                "{}: {} offsets filled in",
                target.name(),
                editor.chunks()
            ));
        }
        Ok(Status::Done)
    }
}
