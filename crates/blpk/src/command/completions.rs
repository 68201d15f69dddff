//! `blpk completions`: lets a shell complete the arguments of `blpk`.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::output;
use crate::status::Status;

/// Print the completions for a shell
///
/// For example: blpk completions bash > ~/.local/share/bash-completion/completions/blpk
#[derive(Args, Debug)]
pub struct Completions {
    /// Shell to print the completions for
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(&self, mut definition: Command) -> Result<Status, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut definition, "blpk", &mut script);
        output::print(&String::from_utf8_lossy(&script))?;
        Ok(Status::Done)
    }
}
