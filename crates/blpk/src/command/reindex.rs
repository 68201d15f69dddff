//! `blpk reindex`: a table of offsets filled in.

use std::path::PathBuf;

use bloscpack::{Category, Editor};
use clap::Args;

use crate::change::Target;
use crate::frame;
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
        frame::refuse(
            &self.file,
            "a frame is never without its index; blpk verify tells whether it is sound",
        )?;
        let target = Target::find(&self.file, None)?;
        let builder = Editor::builder();
        let has_records = target.has_records(session) == Some(true);
        let (has_table, filled, chunks) = if has_records {
            let mut editor = target.edit_records(builder, session)?;
            let has_table = editor.header().offsets;
            (has_table, editor.reindex(), editor.chunks())
        } else {
            let mut editor = target.edit(builder, session)?;
            let has_table = editor.header().offsets;
            (has_table, editor.reindex(), editor.chunks())
        };
        let filled = filled.map_err(|error| {
            let failure = target.blame(&error, None);
            if has_table || error.category() != Category::Usage {
                return failure;
            }
            failure.hint(match has_records {
                true => "unpack the records and pack them into a file to get a table",
                false => "decompress the file and compress it into a file to get a table",
            })
        })?;
        target.confirm();
        let name = target.name();
        if !filled && !session.quiet {
            message::note(format_args!("{name}: the offsets are filled in already"));
        } else {
            session.verbose(format_args!("{name}: {chunks} offsets filled in"));
        }
        Ok(Status::Done)
    }
}
