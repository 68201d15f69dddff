//! The command `blpk`: reads, writes, converts, changes and checks files of the Bloscpack family.
//!
//! `main` parses the arguments, passes them to one file of `command/` and turns the outcome into an exit status. The
//! command uses only the public API of the library.
//!
//! Each module uses only those above it in this list:
//!
//! | modules | task |
//! |---|---|
//! | `text`, `status` | values and their texts |
//! | `message`, `interrupt`, `failure` | what the user reads when something goes wrong |
//! | `layout`, `args`, `session`, `progress` | options of all subcommands |
//! | `remote` | URLs instead of paths |
//! | `input`, `output`, `json_text` | bytes from files, pipes and URLs; atomic outputs; reports |
//! | `container` | inputs of any kind, opened by the library |
//! | `edit`, `dataset`, `frame`, `store` | files, datasets, frames and stores that are made or changed |
//! | `command` | the subcommands |
//! | `cli`, `help` | the definition of the command line, and its help pages |

mod args;
mod cli;
mod command;
mod container;
mod dataset;
mod edit;
mod failure;
mod frame;
mod grow;
mod help;
mod input;
mod interrupt;
mod json_text;
mod message;
mod output;
mod progress;
#[cfg_attr(not(feature = "remote"), path = "no_remote.rs")]
mod remote;
mod session;
mod spool;
mod status;
mod store;
mod strip;
mod text;

use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::session::Session;
use crate::status::Status;

fn main() -> ExitCode {
    #[cfg(feature = "arrow")]
    hide_caught_panics();
    // Before parsing: `--color` also applies to the messages of the parser.
    let mut args: Vec<_> = std::env::args_os().collect();
    cli::color_choice(args.iter().cloned()).write_global();
    if let Some(command) = cli::implied(&args) {
        args.truncate(1);
        args.push(command.into());
    }
    let cli = cli::parse(&args).unwrap_or_else(|error| cli::exit(error));
    interrupt::install();
    let session = Session::new(&cli.global);
    match command::run(&cli.command, &session, Cli::command) {
        Ok(status) => status.into(),
        Err(failure) => {
            failure.report();
            match failure.status() {
                Status::Interrupted => interrupt::end(),
                status => status.into(),
            }
        }
    }
}

/// Silences panics that become errors; the error is reported in one line.
#[cfg(feature = "arrow")]
fn hide_caught_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !bloscpack_open::exchange::catches_panics() {
            print(panic);
        }
    }));
}
