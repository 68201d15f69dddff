//! The subcommands, one file each.

mod append;
mod bloscpack_file;
mod cat;
mod compress;
mod convert;
mod damage;
mod dataset;
mod decompress;
mod export;
mod follow;
mod import;
mod info;
mod ls;
mod pages;
mod patch;
mod records;
mod recover;
mod reindex;
mod sql;
mod verify;

use clap::Subcommand;

use crate::failure::Failure;
use crate::session::Session;
use crate::status::Status;

/// The subcommands.
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
    Sql(sql::Sql),
    Completions(pages::Completions),
    Man(pages::Man),
}

/// Runs a subcommand. `definition` is that of the whole command line, which two of them print.
pub fn run(
    command: &Command,
    session: &Session,
    definition: fn() -> clap::Command,
) -> Result<Status, Failure> {
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
        Command::Sql(command) => command.run(),
        Command::Completions(command) => command.run(definition()),
        Command::Man(command) => command.run(definition()),
    }
}

/// The examples below `--help`, which are also in the manual page.
pub const EXAMPLES: &str = "\
Examples:
  blpk compress data.bin                   write data.bin.blp
  blpk c --auto=size data.bin a.blp        as small as a sample promises
  blpk c -t 4 -c zstd -l 9 data.bin a.blp  4-byte elements, zstd, level 9
  blpk decompress data.bin.blp             write data.bin
  producer | blpk c | blpk d | consumer    standard input to standard output
  blpk cat --range 1M..2M data.bin.blp     part of the uncompressed content
  producer | blpk append data.bin.blp      add to the content
  blpk verify backup                       check everything below a folder
  blpk records pack --small app.log a.blp  a record for each line
  blpk records get a.blp 17 1000..1010     records by number
  blpk import prices.csv prices            CSV into a table in a directory
  blpk export prices prices.jsonl          a table into JSON lines
  blpk sql \"select count(*) from 'prices'\"   with blpk-sql, installed separately
  blpk import cube.npy cube.b2nd           an n-dimensional array in one file
  blpk cat --slice '3,:,10:20' cube.b2nd   some of its elements";
