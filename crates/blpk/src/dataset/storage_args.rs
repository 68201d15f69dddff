//! How new data is compressed and stored: options of `import` and `convert`.

use std::num::NonZeroU64;

use bloscpack::Checksum;
use bloscpack_convert::Storage;
use bloscpack_open::internal::size;
use clap::Args;

use crate::args::{self, CodecArgs, FilterArgs};

const DATASET: &str = "Dataset and frame settings";

/// The settings of a new dataset or frame.
#[derive(Args, Clone, Debug)]
pub struct StorageArgs {
    #[command(flatten)]
    codec: CodecArgs,

    #[command(flatten)]
    filter: FilterArgs,

    /// Checksum of each chunk of a dataset; only in the layouts blz-doc and carray-doc
    #[arg(help_heading = DATASET, short = 'k', long, value_name = "CHECKSUM", value_parser = args::checksum(), ignore_case = true)]
    checksum: Option<Checksum>,

    /// Rows per chunk
    #[arg(help_heading = DATASET, long, value_name = "N", value_parser = positive)]
    chunklen: Option<NonZeroU64>,

    /// Elements per chunk along each axis, such as 100,64,64; only in the layouts carray-doc, caterva, b2nd and zarr
    #[arg(help_heading = DATASET, long, value_name = "N,N,...", value_delimiter = ',', conflicts_with = "chunklen", value_parser = positive)]
    chunkshape: Option<Vec<NonZeroU64>>,

    /// Elements per block, the smallest unit of decompression, along each axis; only in the layouts caterva and b2nd
    #[arg(help_heading = DATASET, long, value_name = "N,N,...", value_delimiter = ',', value_parser = positive)]
    blockshape: Option<Vec<NonZeroU64>>,

    /// Make a directory with one file per chunk; only in the layouts caterva and b2nd
    #[arg(help_heading = DATASET, long)]
    sparse: bool,

    /// Bytes to reserve after each chunk, for growth in place; only in the layouts blz-doc and carray-doc
    #[arg(help_heading = DATASET, long, value_name = "SIZE", value_parser = spare)]
    spare: Option<u32>,

    /// Chunks per file in the layouts blz-doc and carray-doc, or per shard in zarr3
    #[arg(help_heading = DATASET, long, value_name = "N", alias = "superchunk", value_parser = positive)]
    chunks_per_superchunk: Option<NonZeroU64>,
}

fn spare(text: &str) -> Result<u32, String> {
    let bytes = size::parse(text)?;
    u32::try_from(bytes).map_err(|_| format!("must be at most {} bytes", u32::MAX))
}

fn positive(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(args::count(text)?).ok_or_else(|| "must be at least 1".into())
}

impl StorageArgs {
    /// The given settings.
    pub fn storage(&self) -> Storage {
        let mut storage = Storage::default();
        storage.compressor = self.codec.codec;
        storage.level = self.codec.level();
        storage.filter = self.filter.filter();
        storage.checksum = self.checksum;
        storage.chunklen = self.chunklen;
        storage.chunkshape.clone_from(&self.chunkshape);
        storage.blockshape.clone_from(&self.blockshape);
        storage.sparse = self.sparse;
        storage.spare = self.spare;
        storage.chunks_per_superchunk = self.chunks_per_superchunk;
        storage
    }
}
