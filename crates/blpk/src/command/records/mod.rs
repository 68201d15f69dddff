//! `blpk records`: objects of any length, found by number; one per chunk, or many small ones.

mod append;
mod get;
mod pack;
mod plain;
mod unpack;

use bloscpack::{Category, Error};
use clap::Subcommand;

use crate::failure::Failure;
use crate::session::Session;
use crate::status::Status;

/// Store lines or other objects, and read them by number
#[derive(Debug, Subcommand)]
pub enum Records {
    Pack(pack::Pack),
    Unpack(unpack::Unpack),
    Get(get::Get),
    Append(append::Append),
}

impl Records {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        match self {
            Self::Pack(command) => command.run(session),
            Self::Unpack(command) => command.run(session),
            Self::Get(command) => command.run(session),
            Self::Append(command) => command.run(session),
        }
    }
}

/// Advice for a file whose chunks are not records.
const CONTENT: &str = "it contains no records; blpk decompress and blpk cat read it";

/// The failure to read records, with advice if the file has content instead.
fn failed_to_read(error: Error, is_content: impl FnOnce() -> bool) -> Failure {
    let (is_unended, category) = (error.is_unended(), error.category());
    let failure = Failure::from(error);
    if is_unended {
        failure.hint("blpk records unpack --allow-unterminated extracts the complete chunks")
    } else if category == Category::Unsupported && is_content() {
        failure.hint(CONTENT)
    } else {
        failure
    }
}
