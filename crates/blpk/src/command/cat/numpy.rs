//! `blpk cat --rows` and `--slice` of Bloscpack files with a NumPy array, which their metadata describes.

use std::io::Write;
use std::path::Path;

use super::Cat;
use crate::command::bloscpack_file::failed_to_read;
use crate::dataset::BATCH;
use crate::dataset::selection::Selection;
use crate::failure::Failure;
use crate::input::{Input, STANDARD};
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use bloscpack::wire::internal::to_u64;

impl Cat {
    /// Prints elements of the array in a file, in C order.
    pub(super) fn numpy(&self, session: &Session) -> Result<Status, Failure> {
        let input = Input::open_binary(&self.path, session)?;
        let mut output = Output::create(Path::new(STANDARD), &[&input], session)?;
        let selection = Selection {
            columns: &[],
            rows: self.rows,
            slice: self.slice.as_ref(),
        };
        selection.of_file(&input, session, |source| {
            // A file may claim any number of rows. This total is only shown.
            let total = source.rows().saturating_mul(source.schema().row_bytes());
            let progress = Progress::new(session, Some(total));
            let failed = |error, output: &Output| failed_to_read(&error, &input, output);
            while let Some(batch) = source
                .next_batch(BATCH)
                .map_err(|error| failed(error, &output))?
            {
                for column in &batch.columns {
                    progress.advance(to_u64(column.len()));
                    let done = output.write_all(column);
                    done.map_err(|error| output.failed(&error))?;
                }
            }
            progress.finish();
            Ok(())
        })?;
        output.commit()?;
        Ok(Status::Done)
    }
}
