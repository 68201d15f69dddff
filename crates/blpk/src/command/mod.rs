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
mod refs;
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
    Refs(refs::Refs),
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

/// Runs a subcommand. `man` and `completions` print from `definition`, the definition of the whole command line.
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
        Command::Refs(command) => command.run(session),
        Command::Verify(command) => command.run(session),
        Command::Recover(command) => command.run(session),
        Command::Records(command) => command.run(session),
        Command::Sql(command) => command.run(),
        Command::Completions(command) => command.run(definition()),
        Command::Man(command) => command.run(definition()),
    }
}

/// The examples of `--help` and of the manual page.
pub const EXAMPLES: &str = "\
Examples:
  blpk convert prices.csv prices.b2z        a table for python-blosc2; the ending decides
  blpk convert old.zip/cube cube.zarr       an array in a ZIP archive into Zarr
  blpk cat --rows 10..20 prices.b2z         some rows of a table
  blpk cat --slice '3,:,10:20' cube.b2nd    some elements of an array
  blpk sql \"select count(*) from 'prices'\"  with blpk-sql, installed separately
  blpk compress data.bin                    write data.bin.blp
  blpk decompress data.bin.blp              write data.bin
  producer | blpk c | blpk d | consumer     standard input to standard output
  blpk cat --range 1M..2M data.bin.blp      some bytes of the content
  producer | blpk append data.bin.blp       add to the content
  blpk records pack --small app.log a.blp   a record for each line
  blpk records get a.blp 17 1000..1010      records by number
  blpk verify backup                        check everything below a folder
  blpk recover bad.blp good.blp             save the sound chunks";
