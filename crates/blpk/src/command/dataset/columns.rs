//! `blpk dataset add-column` and `delete-column`.

use std::path::{Path, PathBuf};

use bloscpack::{
    dataset::{CTable, Dataset},
    exchange::Source,
};
use clap::Args;

use crate::command::import::Reading;
use crate::dataset::edit::Target;
use crate::dataset::making::Making;
use crate::dataset::source::{self, Watched};
use crate::dataset::{BLOCK, no_columns};
use crate::input;
use crate::layout::ArrayLayout;
use crate::message::Failure;
use crate::session::Session;
use crate::status::Status;

/// Add a column to a table
///
/// IN has as many rows as the table, and one column: .npy, .csv, .arrow or .parquet. It is held in
/// memory meanwhile.
#[derive(Args, Debug)]
pub struct AddColumn {
    #[command(flatten)]
    making: Making,

    #[command(flatten)]
    reading: Reading,

    /// Put it at this place among the columns, counted from 0 [default: behind the last]
    #[arg(long, value_name = "N")]
    at: Option<usize>,

    /// Table to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Name of the column
    #[arg(value_name = "NAME")]
    name: String,

    /// File with its rows, or - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
}

/// Remove a column of a table
#[derive(Args, Debug)]
pub struct DeleteColumn {
    /// Leave its files where they are, where nobody looks at them any more
    #[arg(long)]
    keep: bool,

    /// Table to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Name of the column
    #[arg(value_name = "NAME")]
    name: String,
}

fn table<'a>(dataset: &'a mut Dataset, path: &Path) -> Result<&'a mut CTable, Failure> {
    match dataset {
        Dataset::Table(table) => Ok(table),
        Dataset::Array(_) => Err(no_columns(path)),
    }
}

impl AddColumn {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let target = Target::find(&self.path)?;
        let mut dataset = target.edit(session)?;
        self.making.fit(ArrayLayout::Dataset(dataset.layout()))?;
        let table = table(&mut dataset, &self.path)?;
        let (mut source, format) =
            self.reading
                .open(&self.input, &self.reading.options(), session)?;
        let builder = match source.schema().columns.as_slice() {
            [_] => source.schema().array_builder(),
            columns => {
                let title = format!(
                    "{} has {} columns, where one is to be added",
                    input::name(&self.input),
                    columns.len()
                );
                return Err(Failure::usage(title));
            }
        };
        let builder = builder.map_err(|error| target.blame(&error))?;
        let mut watched = Watched::new(&mut *source, session);
        let (mut data, name) = (Vec::new(), input::name(&self.input));
        let failed = |error: bloscpack::Error| source::failure(&name, format, &error);
        while let Some(batch) = watched.next_batch(BLOCK).map_err(failed)? {
            batch
                .columns
                .iter()
                .for_each(|column| data.extend_from_slice(column));
        }
        let done = table.add_column(&self.name, self.making.array(builder), &data, self.at);
        done.map_err(|error| target.blame(&error))?;
        target.flush(table)?;
        Ok(Status::Done)
    }
}

impl DeleteColumn {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let target = Target::find(&self.path)?;
        let mut dataset = target.edit(session)?;
        let table = table(&mut dataset, &self.path)?;
        let done = table.delete_column(&self.name, self.keep);
        done.map_err(|error| target.blame(&error))?;
        target.flush(table)?;
        Ok(Status::Done)
    }
}
