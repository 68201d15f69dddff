//! `blpk completions`: what a shell needs to complete our arguments.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::message::Failure;
use crate::output;
use crate::status::Status;

/// Print the completions for a shell
///
/// For example: blpk completions bash > ~/.local/share/bash-completion/completions/blpk
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(&self) -> Result<Status, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "blpk", &mut script);
        output::print(&String::from_utf8_lossy(&script))?;
        Ok(Status::Done)
    }
}
