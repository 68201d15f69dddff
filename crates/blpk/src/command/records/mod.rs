//! `blpk records`: objects of any length, one to a chunk or many small ones, found by number.

mod append;
mod blame;
mod get;
mod joined;
mod pack;
mod separator;
mod split;
mod unpack;

pub use blame::reading;
pub use joined::{Joined, Paced};
pub use separator::Separator;

use clap::Subcommand;

use crate::message::Failure;
use crate::session::Session;
use crate::status::Status;

/// Objects of any length, each found by its number
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
