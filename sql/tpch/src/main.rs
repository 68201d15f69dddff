//! TPC-H as ctables and as Parquet, with the same answers.
//!
//! `make` writes the eight tables in both formats. `check` runs the 22 queries over both in the same engine, and fails if an
//! answer differs; with `--cluster`, a cluster reads the ctables. `serve` times queries.

mod bench;
mod check;
#[path = "../../../benches/clock/mod.rs"]
mod clock;
mod make;

use clap::{Parser, Subcommand};
use std::error::Error;
use std::path::PathBuf;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The tables.
const TABLES: [&str; 8] = [
    "customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier",
];

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the tables in a directory
    Make {
        #[arg(long, default_value_t = 0.1)]
        scale: f64,
        dir: PathBuf,
    },
    /// Compare the answers
    Check {
        /// Let a cluster read the ctables
        #[arg(long, value_name = "df://HOST:PORT")]
        cluster: Option<String>,
        dir: PathBuf,
    },
    /// Print the text of a query, such as `Q6`
    Query { name: String },
    /// Time queries over one format of the tables, `ctable`, `snappy` or `zstd`, as lines of input name them
    Serve {
        #[arg(long, default_value_t = 2)]
        threads: usize,
        form: String,
        dir: PathBuf,
    },
}

#[tokio::main]
async fn main() -> Result<()> {
    match Args::parse().command {
        Command::Make { scale, dir } => make::make(&dir, scale),
        Command::Check { cluster, dir } => check::check(&dir, cluster.as_deref()).await,
        Command::Query { name } => {
            println!("{}", bench::query(&name)?);
            Ok(())
        }
        Command::Serve { threads, form, dir } => bench::serve(&dir, &form, threads).await,
    }
}
