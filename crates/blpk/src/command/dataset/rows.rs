//! `blpk dataset trim` and `resize`: fewer rows, or more rows of default values.

use std::path::PathBuf;

use bloscpack_open::datasets::Dataset;
use clap::Args;

use crate::args;
use crate::edit::DatasetEdit;
use crate::failure::{About as _, Failure};
use crate::session::Session;
use crate::status::Status;
use crate::text::count;

/// Remove rows from the end of a dataset
#[derive(Args, Debug)]
pub struct Trim {
    /// Dataset to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Number of rows to keep
    #[arg(value_name = "ROWS", allow_negative_numbers = true, value_parser = args::count)]
    rows: u64,
}

/// Remove rows from the end of a dataset, or append rows of default values
#[derive(Args, Debug)]
pub struct Resize {
    /// Dataset to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// New number of rows
    #[arg(value_name = "ROWS", allow_negative_numbers = true, value_parser = args::count)]
    rows: u64,
}

impl Trim {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let edit = DatasetEdit::find(&self.path)?;
        let mut dataset = edit.open(session)?;
        let before = dataset.rows().about(&edit)?;
        if self.rows > before {
            let title = format!("{} has only {}", edit.name(), count(before, "row"));
            return Err(Failure::usage(title).hint("blpk dataset resize appends default values"));
        }
        let done = match &mut dataset {
            Dataset::Array(array) => array.trim(self.rows),
            Dataset::Table(table) => table.trim(self.rows),
        };
        finish(done, &edit, &mut dataset, before, session)
    }
}

impl Resize {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let edit = DatasetEdit::find(&self.path)?;
        let mut dataset = edit.open(session)?;
        let before = dataset.rows().about(&edit)?;
        let done = match &mut dataset {
            Dataset::Array(array) => array.resize(self.rows),
            Dataset::Table(table) => table.resize(self.rows),
        };
        finish(done, &edit, &mut dataset, before, session)
    }
}

fn finish(
    done: bloscpack::Result<()>,
    edit: &DatasetEdit<'_>,
    dataset: &mut Dataset,
    before: u64,
    session: &Session,
) -> Result<Status, Failure> {
    done.about(edit)?;
    edit.flush(dataset)?;
    let after = dataset.rows().about(edit)?;
    session.verbose(format_args!(
        "{} had {}, and now has {after}",
        edit.name(),
        count(before, "row"),
    ));
    Ok(Status::Done)
}
