//! `blpk reindex`: fills in the offset table.

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

/// Fill in an empty offset table
///
/// The offset table gives the position of each chunk, so readers find a chunk without reading the chunks before it. The
/// file must contain all of its chunks.
#[derive(Args, Debug)]
pub struct Reindex {
    /// File to change; its name need not end with .blp
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
