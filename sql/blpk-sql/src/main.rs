//! The command `blpk-sql`: SQL over the data of the Bloscpack family. `blpk sql` runs it.
//!
//! | module | task |
//! |---|---|
//! | `args` | the command line |
//! | `failure` | messages for the user, and the exit status |
//! | `tables` | a session with the tables of the command line |
//! | `output` | results as a table on the terminal, as text, or as files |
//! | `query` | statements, one after another |
//! | `prompt` | statements from a terminal |

mod args;
mod failure;
mod output;
mod progress;
mod prompt;
mod query;
mod tables;

use args::Args;
use clap::Parser as _;
use failure::{Failure, Status};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;

/// Keeps the memory of batches for the next ones: fresh pages cost more than the work on what lies in them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let done = match Args::try_parse() {
        Ok(args) => run(args),
        Err(help) if !help.use_stderr() => printed(&help).map_err(Failure::from),
        Err(error) => error.exit(),
    };
    match done {
        Ok(()) => Status::Done.into(),
        Err(failure) => failure.report(),
    }
}

/// Prints requested help. Ignores a closed pipe.
fn printed(help: &clap::Error) -> io::Result<()> {
    match help.print() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

fn run(args: Args) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    // Refuse an impossible format before the work.
    args.form()?;
    let args = Arc::new(args);
    let done = runtime.block_on(async {
        let context = tables::context(&args).await?;
        match args.text()? {
            Some(text) => query::run(&context, &text, &args).await,
            None => prompt::run(&context, &args).await,
        }
    });
    // An interrupted query may take a while to notice.
    runtime.shutdown_background();
    done
}
