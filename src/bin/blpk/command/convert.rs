//! `blpk convert`: a dataset or a file packed anew, in another layout or with other settings.

mod dataset;
mod file;
mod numpy;

use std::path::PathBuf;

use bloscpack::dataset::DatasetLayout;
use bloscpack::{Checksum, Layout};
use clap::Args;

use crate::args;
use crate::dataset::is_directory;
use crate::dataset::making::Making;
use crate::message::{Failure, quoted};
use crate::session::Session;
use crate::status::Status;

/// Pack a dataset or a file anew, in another layout or with other settings
///
/// With --layout OUT is a dataset, made of a dataset or of a Bloscpack file that holds an array of
/// NumPy; with --format it is a Bloscpack file, made of another one or of an array. Without either it
/// is what PATH is. Attributes and metadata go along; settings are those of PATH where nothing else is
/// said, at the codec's own level where nothing tells it. For example:
///   blpk convert prices.bcolz prices --layout blz-doc -c zstd -k sha256
///   blpk convert --format 2 old.blp new.blp
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Convert {
    /// How the new dataset lies in its directory: bcolz, blz, blz-doc or carray-doc
    #[arg(long, value_name = "LAYOUT", value_parser = args::dataset_layout(), conflicts_with = "format")]
    layout: Option<DatasetLayout>,

    /// Header layout of the new Bloscpack file
    #[arg(long, value_name = "1|2|3", value_parser = clap::value_parser!(u8).range(1..=3))]
    format: Option<u8>,

    /// Bytes of a chunk of a Bloscpack file before compression, or 'max'
    #[arg(short = 'z', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = args::chunk_size)]
    chunk_size: Option<u32>,

    #[command(flatten)]
    making: Making,

    /// Only this column of a table, which becomes an array
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// Dataset or Bloscpack file to read
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Directory or file to make
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

impl Convert {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let to_dataset = match (self.layout, self.format) {
            (Some(_), _) => true,
            (None, Some(_)) => false,
            (None, None) => is_directory(&self.path),
        };
        match to_dataset {
            true => self.fit_dataset()?,
            false => self.fit_file()?,
        }
        if self.column.is_some() && !is_directory(&self.path) {
            let title = format!("{} is no table", quoted(&self.path));
            return Err(Failure::usage(title));
        }
        match (is_directory(&self.path), to_dataset) {
            (true, true) => self.dataset(session),
            (true, false) => self.array_to_file(session),
            (false, true) => self.file_to_array(session),
            (false, false) => self.file(session),
        }
    }

    fn fit_dataset(&self) -> Result<(), Failure> {
        if self.chunk_size.is_some() {
            let title = "-z is for Bloscpack files; --chunklen tells the rows of a chunk";
            return Err(Failure::usage(title));
        }
        match self.layout {
            Some(layout) => self.making.fit(layout),
            None => Ok(()),
        }
    }

    fn fit_file(&self) -> Result<(), Failure> {
        if self.making.is_of_datasets() {
            let title = "--chunklen, --chunkshape, --spare and --superchunk are for datasets";
            return Err(Failure::usage(title).hint("-z tells the bytes of a chunk"));
        }
        let checksum = self
            .making
            .checksum
            .is_some_and(|kind| kind != Checksum::None);
        if self.format == Some(1) && checksum {
            let title = "--format 1 has no place for checksums: leave -k out";
            return Err(Failure::usage(title));
        }
        Ok(())
    }

    /// The header layout of the new file.
    fn header(&self) -> Layout {
        match self.format {
            Some(1) => Layout::V1,
            Some(2) => Layout::V2,
            _ => Layout::V3,
        }
    }
}
