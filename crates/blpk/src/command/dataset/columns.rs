//! `blpk dataset add-column` and `delete-column`.

use std::path::PathBuf;

use bloscpack_open::exchange::{ImportOptions, Source};
use clap::Args;

use crate::args;
use crate::dataset::BATCH;
use crate::dataset::import_args::ImportArgs;
use crate::dataset::source::ProgressSource;
use crate::dataset::storage_args::StorageArgs;
use crate::edit::DatasetEdit;
use crate::failure::{About as _, Failure};
use crate::layout::ArrayLayout;
use crate::session::Session;
use crate::status::Status;
use crate::text::count;
use bloscpack::wire::internal::to_u64;

/// Add a column to a table
///
/// IN is of any format that blpk import reads, with as many rows as the table, and one column. It is read into memory.
#[derive(Args, Debug)]
pub struct AddColumn {
    #[command(flatten)]
    storage: StorageArgs,

    #[command(flatten)]
    reading: ImportArgs,

    /// Position among the columns, counted from 0 [default: after the last]
    #[arg(long, value_name = "N", value_parser = args::index)]
    at: Option<usize>,

    /// Table to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Name of the column
    #[arg(value_name = "NAME")]
    name: String,

    /// File with the rows of the column, or - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
}

/// Remove a column from a table
#[derive(Args, Debug)]
pub struct DeleteColumn {
    /// Keep the files of the column, which are no longer used
    #[arg(long, alias = "keep")]
    keep_files: bool,

    /// Table to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Name of the column
    #[arg(value_name = "NAME")]
    name: String,
}

impl AddColumn {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let edit = DatasetEdit::find(&self.path)?;
        let mut dataset = edit.open(session)?;
        self.storage.check(ArrayLayout::Dataset(dataset.layout()))?;
        let table = edit.table(&mut dataset)?;
        let options = ImportOptions::new();
        let (mut source, file) = self.reading.open(&self.input, options, session)?;
        let columns = source.schema().columns.len();
        if columns != 1 {
            let columns = count(to_u64(columns), "column");
            let title = format!("{} has {columns}, expected one", file.name);
            return Err(Failure::usage(title));
        }
        let builder = source.schema().array_builder().about(&edit)?;
        let mut source = ProgressSource::new(&mut *source, session);
        let mut data = Vec::new();
        while let Some(batch) = source.next_batch(BATCH).about(&file)? {
            batch
                .columns
                .iter()
                .for_each(|column| data.extend_from_slice(column));
        }
        let done = table.add_column(&self.name, self.storage.array(builder), &data, self.at);
        done.about(&edit)?;
        edit.flush(&mut dataset)?;
        Ok(Status::Done)
    }
}

impl DeleteColumn {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let edit = DatasetEdit::find(&self.path)?;
        let mut dataset = edit.open(session)?;
        let table = edit.table(&mut dataset)?;
        let done = table.delete_column(&self.name, self.keep_files);
        done.about(&edit)?;
        edit.flush(&mut dataset)?;
        Ok(Status::Done)
    }
}
