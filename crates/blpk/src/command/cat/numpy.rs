//! `blpk cat --rows` and `--slice` of Bloscpack files whose metadata tells of a NumPy array.

use std::io::Write;
use std::path::Path;

use super::Cat;
use crate::command::decompress::blame;
use crate::dataset::BLOCK;
use crate::dataset::selection::Selection;
use crate::input::{Input, STANDARD};
use crate::message::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

impl Cat {
    /// Prints elements of the array that a file holds, in C order.
    pub(super) fn numpy(&self, session: &Session) -> Result<Status, Failure> {
        let input = Input::open_binary(&self.path, session)?;
        let mut output = Output::create(Path::new(STANDARD), &[&input], session)?;
        let selection = Selection {
            columns: &[],
            rows: self.rows,
            slice: self.slice.as_ref(),
        };
        selection.of_file(&input, session, |source| {
            let total = source.rows().saturating_mul(source.schema().row_bytes());
            let progress = Progress::new(session, Some(total));
            loop {
                let batch = source.next_batch(BLOCK);
                let Some(batch) = batch.map_err(|error| blame(&error, &input, &output))? else {
                    break;
                };
                for column in &batch.columns {
                    progress.advance(u64::try_from(column.len()).unwrap_or(0));
                    let done = output.write_all(column);
                    done.map_err(|error| output.explain(Failure::io(output.name(), &error)))?;
                }
            }
            progress.finish();
            Ok(())
        })?;
        output.commit()?;
        Ok(Status::Done)
    }
}
