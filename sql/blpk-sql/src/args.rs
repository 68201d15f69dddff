//! The command line.

use crate::failure::Failure;
use bloscpack_open::datasets::DatasetLayout;
use bloscpack_open::exchange::{self, Ending};
use bloscpack_open::internal::size;
use clap::{Parser, ValueEnum};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

/// SQL over bcolz, Bloscpack and Blosc2 data
///
/// A quoted path or URL is a table: blpk sql "select count(*) from 'prices'"
#[derive(Debug, Parser)]
#[command(name = "blpk-sql", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Args {
    /// Statements, separated by semicolons; by default, read from standard input or a prompt
    pub query: Option<String>,

    /// Give a path or URL a name
    #[arg(long, value_name = "NAME=PATH", value_parser = table)]
    pub table: Vec<(String, String)>,

    /// Read the statements from a file
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub file: Option<PathBuf>,

    /// Format of the result; by default given by the ending of OUT, or a table on a terminal and CSV elsewhere
    #[arg(long, value_enum)]
    pub format: Option<Format>,

    /// Write the result of the last statement to a file, or as a ctable to a directory
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Replace an existing OUT
    #[arg(short, long, short_alias = 'F')]
    pub force: bool,

    /// Read NaN as null in data that does not itself mark NaN as a missing value
    #[arg(long)]
    pub nan_as_null: bool,

    /// Run the statements on the executors of a cluster, which see the data at the same paths and URLs
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "df://HOST:PORT", conflicts_with = "memory")]
    pub cluster: Option<String>,

    /// Memory for sorting, joining and grouping, such as 512M; larger data goes to temporary files
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub memory: Option<u64>,

    /// Threads, by default one per processor; with --cluster, partitions of each table
    #[arg(long, short = 'n', value_name = "N")]
    pub threads: Option<usize>,

    /// Option of an object store, as for blpk
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "KEY=VALUE")]
    pub store: Vec<String>,

    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  blpk sql \"select count(*) from 'prices'\"              a bcolz directory
  blpk sql --table p=prices 'select max(close) from p'  with a name
  blpk sql -o dear.parquet \"select * from 'prices' where close > 100\"
  blpk sql -o dear --format ctable \"select * from 'prices' where close > 100\"
  blpk sql \"explain analyze select * from 'prices' where day = 17\"
  blpk sql                                              a prompt

Exit status: that of blpk; 2 for a query that is wrong, 3 for damaged data.";

/// The format of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for display
    Table,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// One JSON object per row
    Jsonl,
    /// An Arrow file
    Arrow,
    /// A Parquet file
    Parquet,
    /// A new bcolz table in a directory
    Ctable,
}

impl Args {
    /// The format of the result. An error if the ending of OUT contradicts it.
    pub fn form(&self) -> Result<Format, Failure> {
        let Some((path, ending)) = self.output.as_deref().and_then(named) else {
            let on_terminal = self.output.is_none() && io::stdout().is_terminal();
            let default = if on_terminal {
                Format::Table
            } else {
                Format::Csv
            };
            return Ok(self.format.unwrap_or(default));
        };
        let form = match ending {
            Ending::Format(exchange::Format::Csv) => Some(Format::Csv),
            Ending::Format(exchange::Format::Tsv) => Some(Format::Tsv),
            Ending::Format(exchange::Format::JsonLines) => Some(Format::Jsonl),
            Ending::Format(exchange::Format::Arrow) => Some(Format::Arrow),
            Ending::Format(exchange::Format::Parquet) => Some(Format::Parquet),
            Ending::Dataset(DatasetLayout::Bcolz) => Some(Format::Ctable),
            _ => None,
        };
        let name = path.display();
        match (form, self.format) {
            (Some(form), given) if given.unwrap_or(form) == form => Ok(form),
            (Some(_), _) => Err(Failure::usage(format!(
                "the name of '{name}' is that of {ending}; choose another name, or omit --format"
            ))),
            (None, _) => Err(Failure::usage(format!(
                "the name of '{name}' is that of {ending}, which blpk sql does not write; use .csv, .tsv, .jsonl, .arrow, .parquet or .bcolz, and blpk import or convert for other kinds"
            ))),
        }
    }

    /// The statements; `None` if the prompt reads them.
    pub fn text(&self) -> Result<Option<String>, Failure> {
        if let Some(query) = &self.query {
            return Ok(Some(query.clone()));
        }
        if let Some(file) = &self.file {
            let text = std::fs::read_to_string(file);
            let name = file.display();
            let text = text.map_err(|error| Failure::failed(format!("'{name}': {error}")))?;
            return Ok(Some(text));
        }
        if io::stdin().is_terminal() {
            return Ok(None);
        }
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        Ok(Some(text))
    }
}

/// A path with an ending that has a meaning.
fn named(path: &Path) -> Option<(&Path, Ending)> {
    Some((path, Ending::of_path(path)?))
}

fn table(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.to_owned(), path.to_owned()))
        }
        _ => Err("expected NAME=PATH, such as prices=data/prices.bcolz".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn names_of_tables_have_paths() {
        assert_eq!(table("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert!(table("prices").is_err());
    }
}
