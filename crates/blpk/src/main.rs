//! The command `blpk`: compress, decompress and inspect Bloscpack files.
//!
//! `main` parses the arguments, hands them to one file of `command/` and turns the outcome into an
//! exit status. It uses nothing but the public API of the library.

mod args;
mod change;
mod command;
mod dataset;
mod elements;
mod frame;
mod input;
mod interrupt;
mod layout;
mod message;
mod output;
mod progress;
mod session;
mod size;
mod status;
mod what;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::session::Session;

fn main() -> ExitCode {
    // Before parsing, so that the messages of the parser obey `--color` too.
    args::color_choice(std::env::args_os()).write_global();
    let cli = Cli::try_parse().unwrap_or_else(|error| args::advise(error).exit());
    interrupt::install();
    let session = Session::new(&cli.global);
    match command::run(&cli.command, &session) {
        Ok(status) => status.into(),
        Err(failure) => {
            failure.report();
            failure.status().into()
        }
    }
}
