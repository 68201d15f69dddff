//! `blpk import`: converts a file of another format into a new dataset or frame.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "help texts contain NumPy types in brackets"
)]

use std::path::PathBuf;

use bloscpack_convert::Goal;
use clap::Args;

use super::convert::Convert;
use crate::args;
use crate::dataset::{source::ImportArgs, storage_args::StorageArgs};
use crate::failure::Failure;
use crate::session::Session;
use crate::status::Status;

/// Make a dataset or frame from .npy, CSV, ...
///
/// import is blpk convert with fewer options. IN is .npy, .npz, .csv, .tsv or .jsonl; with the feature arrow, which
/// blpk --version shows, also .arrow or .parquet. If OUT has no ending, it is a bcolz directory.
///
/// A NumPy array becomes an array; with --table, an array whose elements have fields becomes a table. The arrays of a .npz
/// become the columns of a table; a single one becomes an array. All other formats become tables. In a table of
/// python-blosc2 (.b2z, .b2d), missing values stay missing, and text has any length unless --types sets one.
///
/// OUT appears under its name when it is complete. With -f it atomically replaces an existing dataset, frame or store.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Import {
    #[command(flatten)]
    storage: StorageArgs,

    /// Layout of OUT: a dataset (bcolz, blz, blz-doc, carray-doc), a frame (caterva, or b2nd, which stores the dtype), a store of
    /// python-blosc2 (b2z, an archive; b2d, a directory) or Zarr (zarr2; zarr3 or zarr) [default: by the ending of OUT, else bcolz]
    #[arg(long, value_name = "LAYOUT", value_parser = args::layouts())]
    layout: Option<Goal>,

    /// Expected final number of rows, which determines the default chunk length
    #[arg(long, value_name = "N", value_parser = args::count)]
    expected_rows: Option<u64>,

    #[command(flatten)]
    reading: ImportArgs,

    /// Write an index for selections by value, as blpk dataset index does; only in the layouts bcolz and blz
    #[arg(long)]
    index: bool,

    /// Make a table with a column for each field of a NumPy array
    #[arg(long)]
    table: bool,

    /// File to read, or - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// Directory or file to make
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk import prices.csv prices --types day=datetime64[D]
  blpk import prices.parquet prices.b2z
  blpk import grid.npy grid --layout carray-doc --chunkshape 64,64 -c zstd
  blpk import cube.npy cube.b2nd --chunkshape 100,100,50";

impl Import {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let convert = Convert {
            to: None,
            layout: self.layout,
            format: None,
            chunk_size: None,
            storage: self.storage.clone(),
            reading: self.reading.clone(),
            column: None,
            columns: Vec::new(),
            rows: None,
            slice: None,
            dtype: None,
            table: self.table,
            arrays: false,
            nan_as_null: false,
            expected_rows: self.expected_rows,
            index: self.index,
            json: false,
            first: self.input.clone(),
            second: self.output.clone(),
            more: Vec::new(),
            verb: Some("imported"),
        };
        convert.run(session)
    }
}
