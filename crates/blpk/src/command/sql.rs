//! `blpk sql`: runs `blpk-sql`.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::failure::{About as _, Failure};
use crate::status::Status;

/// The name of the program.
const PROGRAM: &str = "blpk-sql";

/// Query datasets, files and frames with SQL
///
/// Runs blpk-sql, a separate program, with all other arguments. 'blpk sql --help' shows its help.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Sql {
    /// Arguments of blpk-sql: options, and a query
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    arguments: Vec<OsString>,
}

impl Sql {
    pub fn run(&self) -> Result<Status, Failure> {
        // Global options of blpk may stand before `sql`, and clap removes them from `self.arguments`.
        let mut arguments: Vec<OsString> = env::args_os().skip(1).collect();
        if let Some(at) = arguments.iter().position(|argument| argument == "sql") {
            arguments.remove(at);
        }
        let mut command = Command::new(program());
        command.args(arguments);
        let error = match run(&mut command) {
            Ok(status) => return Ok(status),
            Err(error) => error,
        };
        if error.kind() != io::ErrorKind::NotFound {
            return Err(error).about(PROGRAM);
        }
        let failure = Failure::usage(format!("{PROGRAM} is not installed"));
        let install = "cargo install --locked --path sql/blpk-sql";
        Err(failure.hint(format!("in a clone of bloscpack: {install}")))
    }
}

/// The program in the folder of this one, or else on the path.
fn program() -> PathBuf {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let beside = env::current_exe().ok();
    let beside = beside.and_then(|blpk| Some(blpk.parent()?.join(&name)));
    beside
        .filter(|path| path.is_file())
        .unwrap_or_else(|| name.into())
}

/// Replaces this process by the other program, which then receives the signals.
#[cfg(unix)]
fn run(command: &mut Command) -> io::Result<Status> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

/// Runs the other program, and exits with its status.
#[cfg(not(unix))]
fn run(command: &mut Command) -> io::Result<Status> {
    std::process::exit(command.status()?.code().unwrap_or(1));
}
