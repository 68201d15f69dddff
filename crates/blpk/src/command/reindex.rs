//! `blpk reindex`: fills in the table of offsets.

use std::path::PathBuf;

use bloscpack::{Category, edit::Editor};
use clap::Args;

use crate::edit::FileEdit;
use crate::failure::{Failure, Subject as _};
use crate::frame;
use crate::message;
use crate::session::Session;
use crate::status::Status;
use crate::text::count;

/// Fill in an empty table of offsets
///
/// The file must contain all of its chunks. With the table, readers find a chunk without reading those before it. FILE
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
            "a frame always has its index; blpk verify checks the frame",
        )?;
        let file = FileEdit::find(&self.file, None)?;
        let builder = Editor::builder();
        let has_records = file.has_records(session) == Some(true);
        let (has_table, filled, chunks) = if has_records {
            let mut editor = file.open_records(builder, session)?;
            let has_table = editor.header().offsets;
            (has_table, editor.reindex(), editor.chunks())
        } else {
            let mut editor = file.open(builder, session)?;
            let has_table = editor.header().offsets;
            (has_table, editor.reindex(), editor.chunks())
        };
        let filled = filled.map_err(|error| {
            let is_missing = !has_table && error.category() == Category::Usage;
            let failure = file.explain(error.into());
            if !is_missing {
                failure
            } else if has_records {
                failure.hint("unpack the records, then pack them into a file")
            } else {
                failure.hint("decompress it, then compress it into a file")
            }
        })?;
        file.report_late_signal();
        let name = file.name();
        if !filled && !session.quiet {
            message::note(format_args!("{name}: the offsets are already filled in"));
        } else {
            session.verbose(format_args!(
                "{name}: filled in {}",
                count(chunks, "offset")
            ));
        }
        Ok(Status::Done)
    }
}
