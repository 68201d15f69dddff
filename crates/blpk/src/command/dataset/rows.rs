//! `blpk dataset trim` and `resize`: fewer rows, or more of the default.

use std::path::PathBuf;

use bloscpack::dataset::Dataset;
use clap::Args;

use crate::args;
use crate::dataset::edit::Target;
use crate::message::Failure;
use crate::session::Session;
use crate::status::Status;

/// Cut off the rows of a dataset from number ROWS on
#[derive(Args, Debug)]
pub struct Trim {
    /// Dataset to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// How many rows are left
    #[arg(value_name = "ROWS", allow_negative_numbers = true, value_parser = args::count)]
    rows: u64,
}

/// Cut off rows of a dataset, or append rows of default values
#[derive(Args, Debug)]
pub struct Resize {
    /// Dataset to change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// How many rows there are then
    #[arg(value_name = "ROWS", allow_negative_numbers = true, value_parser = args::count)]
    rows: u64,
}

impl Trim {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let target = Target::find(&self.path)?;
        let mut dataset = target.edit(session)?;
        let before = dataset.rows().map_err(|error| target.blame(&error))?;
        if self.rows > before {
            let title = format!("{} has only {before} rows", target.name());
            return Err(Failure::usage(title).hint("blpk dataset resize appends default values"));
        }
        let done = match &mut dataset {
            Dataset::Array(array) => array.trim(self.rows),
            Dataset::Table(table) => table.trim(self.rows),
        };
        finish(done, &target, &mut dataset, before, session)
    }
}

impl Resize {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let target = Target::find(&self.path)?;
        let mut dataset = target.edit(session)?;
        let before = dataset.rows().map_err(|error| target.blame(&error))?;
        let done = match &mut dataset {
            Dataset::Array(array) => array.resize(self.rows),
            Dataset::Table(table) => table.resize(self.rows),
        };
        finish(done, &target, &mut dataset, before, session)
    }
}

fn finish(
    done: bloscpack::Result<()>,
    target: &Target<'_>,
    dataset: &mut Dataset,
    before: u64,
    session: &Session,
) -> Result<Status, Failure> {
    done.map_err(|error| target.blame(&error))?;
    target.flush(dataset)?;
    let after = dataset.rows().map_err(|error| target.blame(&error))?;
    session.verbose(format_args!(
        "{} had {before} rows, and has {after} now",
        target.name(),
    ));
    Ok(Status::Done)
}
