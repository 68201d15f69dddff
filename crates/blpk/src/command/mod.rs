//! The subcommands, one file each.

mod append;
mod cat;
mod completions;
mod compress;
mod convert;
mod dataset;
mod decompress;
mod export;
mod import;
mod info;
mod ls;
mod man;
mod patch;
mod records;
mod recover;
mod reindex;
mod verify;

use clap::Subcommand;

use crate::message::Failure;
use crate::session::Session;
use crate::status::Status;

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(visible_alias = "c")]
    Compress(compress::Compress),
    #[command(visible_alias = "d")]
    Decompress(decompress::Decompress),
    Cat(cat::Cat),
    #[command(visible_alias = "a")]
    Append(append::Append),
    Patch(patch::Patch),
    Reindex(reindex::Reindex),
    #[command(visible_alias = "i")]
    Info(info::Info),
    Ls(ls::Ls),
    Import(import::Import),
    Export(export::Export),
    Convert(convert::Convert),
    #[command(subcommand)]
    Dataset(dataset::Dataset),
    Verify(verify::Verify),
    Recover(recover::Recover),
    #[command(subcommand)]
    Records(records::Records),
    Completions(completions::Completions),
    Man(man::Man),
}

/// Does it.
pub fn run(command: &Command, session: &Session) -> Result<Status, Failure> {
    match command {
        Command::Compress(command) => command.run(session),
        Command::Decompress(command) => command.run(session),
        Command::Cat(command) => command.run(session),
        Command::Append(command) => command.run(session),
        Command::Patch(command) => command.run(session),
        Command::Reindex(command) => command.run(session),
        Command::Info(command) => command.run(session),
        Command::Ls(command) => command.run(session),
        Command::Import(command) => command.run(session),
        Command::Export(command) => command.run(session),
        Command::Dataset(command) => command.run(session),
        Command::Convert(command) => command.run(session),
        Command::Verify(command) => command.run(session),
        Command::Recover(command) => command.run(session),
        Command::Records(command) => command.run(session),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    }
}
