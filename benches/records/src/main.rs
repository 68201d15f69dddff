//! Compares records with Parquet, SQLite and zstd, on real data that `data.sh` fetches.
//!
//! ```text
//! cargo run --release -- bench|sweep FOLDER [words|log|json].. [--rounds N] [--only WORD]
//! cargo run --release -- sizes FOLDER [words|log|json]..
//! cargo run --release -- packings FOLDER [words|log|json].. [--mib N]
//! ```
//!
//! `bench` is the comparison. The others are the measurements that the format and its settings were
//! chosen by: `sweep` compares chunk sizes, `sizes` the effect of block and chunk size on whole files,
//! against zstd and Parquet, and `packings` layouts of a chunk that holds many records, on the first N
//! (16) MiB of each file. `--only` runs only *quick* and the contenders whose names contain the word.
//! All output is Markdown tables.

mod bench;
#[path = "../../clock/mod.rs"]
mod clock;
mod data;
mod packings;
mod peers;
mod sizes;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use bench::{Bench, Contender};
use data::Records;

const USAGE: &str = "usage: bloscpack-records bench|sweep|sizes|packings FOLDER [words|log|json].. \
[--rounds N] [--only WORD] [--mib N]";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The command line.
struct Request {
    what: String,
    folder: PathBuf,
    names: Vec<String>,
    mib: usize,
    rounds: usize,
    only: String,
}

impl Request {
    fn parse(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let (what, folder) = (args.next()?, args.next()?.into());
        let (mut names, mut mib, mut rounds) = (vec![], 16, 3);
        let mut only = String::new();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--mib" => mib = args.next()?.parse().ok()?,
                "--rounds" => rounds = args.next()?.parse().ok()?,
                "--only" => only = args.next()?,
                _ => names.push(arg),
            }
        }
        if names.is_empty() {
            names = ["words", "log", "json"].map(String::from).to_vec();
        }
        Some(Self {
            what,
            folder,
            names,
            mib,
            rounds,
            only,
        })
    }
}

impl Request {
    /// A measurement of the contenders that `--only` selects.
    fn bench(&self, mut contenders: Vec<Contender>) -> Bench {
        contenders.retain(|contender| contender.has_view(&self.only));
        Bench {
            contenders,
            rounds: self.rounds,
        }
    }
}

fn main() -> ExitCode {
    let Some(request) = Request::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&request) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bloscpack-records: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(request: &Request) -> Result<()> {
    for name in &request.names {
        let records = Records::read(&request.folder.join(name))?;
        match request.what.as_str() {
            "bench" => request.bench(bench::all()?).run(name, &records)?,
            "sweep" => request.bench(bench::sweep()).run(name, &records)?,
            "packings" => packings::run(name, &records.head(request.mib << 20))?,
            "sizes" => sizes::run(name, &records)?,
            what => return Err(format!("no such measurement: {what}").into()),
        }
    }
    Ok(())
}
