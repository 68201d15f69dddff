//! The command line.

use bloscpack_open::internal::size;
use clap::{Args as Group, Parser, Subcommand};
use std::net::IpAddr;
use std::path::PathBuf;

/// A cluster for blpk sql: one scheduler, and executors that read the data
///
/// There is no authentication: anyone who can reach the ports can run queries and read other users' results and all files
/// that the executors may read. Use the loopback interface or a private network.
#[derive(Debug, Parser)]
#[command(name = "blpk-cluster", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub role: Role,
}

const EXAMPLES: &str = "\
Examples:
  blpk-cluster scheduler
  blpk-cluster executor --scheduler 127.0.0.1:50050
  blpk sql --cluster df://127.0.0.1:50050 \"select count(*) from 'prices'\"

The first line of standard output is the address, as soon as the process can be reached.
RUST_LOG=info logs what happens.";

#[derive(Debug, Subcommand)]
pub enum Role {
    /// Plan queries and send their parts to executors
    Scheduler(SchedulerArgs),
    /// Read data and compute
    Executor(ExecutorArgs),
}

#[derive(Debug, Group)]
pub struct Place {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,

    /// Name or address by which other machines reach this process; by default the address it listens on
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
}

#[derive(Debug, Group)]
pub struct SchedulerArgs {
    #[command(flatten)]
    pub place: Place,

    /// Port; 0 for a free one
    #[arg(long, value_name = "N", default_value_t = 50050)]
    pub port: u16,

    /// Seconds of silence after which an executor is dropped
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(5..))]
    pub timeout: u64,
}

#[derive(Debug, Group)]
pub struct ExecutorArgs {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    pub scheduler: (String, u16),

    #[command(flatten)]
    pub place: Place,

    /// Port; 0 for a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,

    /// Memory for sorting, joining and grouping, such as 512M; larger data goes to temporary files
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub memory: Option<u64>,

    /// Number of concurrent tasks; by default one per processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub vcores: u32,

    /// Directory for results that other processes fetch, and for temporary files; by default a temporary one
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,

    /// Option of an object store, as for blpk
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "KEY=VALUE")]
    pub store: Vec<String>,
}

fn address(text: &str) -> Result<(String, u16), String> {
    let text = text.strip_prefix("df://").unwrap_or(text);
    let parts = text.rsplit_once(':');
    let parts = parts.and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    parts
        .filter(|(host, _)| !host.is_empty())
        .ok_or_else(|| "expected HOST:PORT, such as 127.0.0.1:50050".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Args, address};
    use clap::CommandFactory as _;

    #[test]
    fn addresses_have_ports() {
        assert_eq!(address("df://[::1]:5"), Ok(("[::1]".to_owned(), 5)));
        for wrong in ["localhost", ":5", "host:port", "host:99999"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn arguments_do_not_contradict_one_another() {
        Args::command().debug_assert();
    }
}
