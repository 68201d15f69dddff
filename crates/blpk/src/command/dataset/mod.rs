//! `blpk dataset ...`: arrays and tables in directories, changed in place.

mod append;
mod attrs;
mod columns;
mod index;
mod repair;
mod rows;
mod set;

use clap::Subcommand;

use crate::failure::Failure;
use crate::session::Session;
use crate::status::Status;

/// Change arrays and tables in directories
///
/// Each change is atomic: an error, Ctrl-C or a power cut leaves either the old dataset or the new one, and readers see
/// the old one until the change is complete.
#[derive(Debug, Subcommand)]
pub enum Dataset {
    Append(append::Append),
    Trim(rows::Trim),
    Resize(rows::Resize),
    Set(set::Set),
    Attrs(attrs::Attrs),
    AddColumn(columns::AddColumn),
    DeleteColumn(columns::DeleteColumn),
    Index(index::Index),
    Repair(repair::Repair),
}

impl Dataset {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        match self {
            Self::Append(command) => command.run(session),
            Self::Trim(command) => command.run(session),
            Self::Resize(command) => command.run(session),
            Self::Set(command) => command.run(session),
            Self::Attrs(command) => command.run(session),
            Self::AddColumn(command) => command.run(session),
            Self::DeleteColumn(command) => command.run(session),
            Self::Index(command) => command.run(session),
            Self::Repair(command) => command.run(session),
        }
    }
}
