//! `blpk import`: a file of another format into a new dataset or frame.
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

/// Make a dataset or frame of .npy, CSV, ...
///
/// The same as blpk convert, with fewer options. IN is .npy, .npz, .csv, .tsv or .jsonl; with the feature arrow, which blpk --version shows,
/// also .arrow or .parquet. A NumPy array becomes an array; with --table, an array whose elements have fields becomes a table. The arrays of
/// a .npz become the columns of a table; a single one, an array. The other formats become tables. Of a name without an ending, a bcolz
/// directory is made. In a table of python-blosc2 (.b2z, .b2d) missing values stay missing, and text has any length, unless --types gives
/// one. OUT appears under its name when it is complete. With -f it atomically replaces an existing dataset, frame or store.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Import {
    #[command(flatten)]
    storage: StorageArgs,

    /// Layout of a dataset: bcolz, blz, blz-doc or carray-doc; of a frame: caterva, or b2nd, which stores the dtype; or of a
    /// store of python-blosc2: b2z, an archive, or b2d, a directory; or zarr2 or zarr3 (zarr)
    /// [default: by the ending of OUT, otherwise bcolz]
    #[arg(long, value_name = "LAYOUT", value_parser = args::layouts())]
    layout: Option<Goal>,

    /// Expected final number of rows, which determines the default chunk length
    #[arg(long, value_name = "N", value_parser = args::count)]
    expected_rows: Option<u64>,

    #[command(flatten)]
    reading: ImportArgs,

    /// Store the minimum, maximum and nulls of each superchunk, as blpk dataset index does; in the layouts bcolz and blz
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
