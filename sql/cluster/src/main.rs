//! The command `blpk-cluster`: the scheduler and the executors of a cluster for `blpk-sql`.

mod args;
mod executor;
mod scheduler;
mod watch;

use args::{Args, Role};
use clap::Parser as _;
use std::error::Error;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Keeps the memory of batches for the next ones: fresh pages cost more than the work on what lies in them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let log = env_logger::Env::default().default_filter_or("warn");
    env_logger::Builder::from_env(log).init();
    let done = match Args::try_parse() {
        Ok(args) => run(args),
        Err(help) if !help.use_stderr() => printed(&help).map_err(Into::into),
        Err(error) => error.exit(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("blpk-cluster: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints requested help. Ignores a closed pipe.
fn printed(help: &clap::Error) -> io::Result<()> {
    match help.print() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

fn run(args: Args) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match args.role {
            Role::Scheduler(args) => scheduler::run(args).await,
            Role::Executor(args) => executor::run(args).await,
        }
    })
}

/// Prints the address at which this process is reachable.
fn announce(host: &str, port: u16) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{host}:{port}")?;
    out.flush()
}

/// An address as the host of a URL.
fn host_of(address: IpAddr) -> String {
    let text = SocketAddr::new(address, 0).to_string();
    text.trim_end_matches(":0").to_owned()
}
