//! How the chunks of a new dataset or frame are made and put into files: the options of `import` and `convert`.

use std::num::NonZeroU64;

use bloscpack::{
    Checksum, Compressor, Filter,
    dataset::{CArrayBuilder, CTableBuilder, DatasetLayout},
    frame::NdArrayBuilder,
};
use clap::Args;

use crate::args;
use crate::layout::ArrayLayout;
use crate::message::Failure;
use crate::size;

const BLOSC: &str = "Blosc settings";
const DATASET: &str = "Settings of datasets and frames";

/// What is said of a new dataset or frame.
#[derive(Args, Debug)]
pub struct Making {
    /// Compressor
    #[arg(help_heading = BLOSC, short, long, value_name = "CODEC", ignore_case = true, value_parser = args::codec())]
    pub codec: Option<Compressor>,

    /// Compression level, 0 (none) to 9
    #[arg(help_heading = BLOSC, short, long, visible_alias = "clevel", value_name = "0..9", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,

    /// Do not shuffle; the same as --shuffle none
    #[arg(help_heading = BLOSC, short = 's', long, conflicts_with = "shuffle")]
    no_shuffle: bool,

    /// Filter before compression
    #[arg(help_heading = BLOSC, long, value_name = "FILTER", value_parser = args::filter())]
    shuffle: Option<Filter>,

    /// Checksum of each chunk: of datasets, in the layouts blz-doc and carray-doc
    #[arg(help_heading = DATASET, short = 'k', long, value_name = "CHECKSUM", value_parser = args::checksum(), ignore_case = true)]
    pub checksum: Option<Checksum>,

    /// Rows of a chunk
    #[arg(help_heading = DATASET, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub chunklen: Option<u64>,

    /// Elements of a chunk along each axis, such as 100,64,64: in the layouts carray-doc, caterva and b2nd
    #[arg(help_heading = DATASET, long, value_name = "N,N,...", value_delimiter = ',', conflicts_with = "chunklen",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub chunkshape: Option<Vec<u64>>,

    /// Elements of a block, which is decompressed at once, along each axis: in the layouts caterva and b2nd
    #[arg(help_heading = DATASET, long, value_name = "N,N,...", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..))]
    pub blockshape: Option<Vec<u32>>,

    /// Make a directory with a file for each chunk: in the layouts caterva and b2nd
    #[arg(help_heading = DATASET, long)]
    pub sparse: bool,

    /// Bytes left free behind each chunk, to change it in its place: in the layouts blz-doc and carray-doc
    #[arg(help_heading = DATASET, long, value_name = "SIZE", value_parser = spare)]
    spare: Option<u32>,

    /// Chunks of a file: in the layouts blz-doc and carray-doc
    #[arg(help_heading = DATASET, long, value_name = "N", value_parser = superchunk)]
    superchunk: Option<NonZeroU64>,
}

fn spare(text: &str) -> Result<u32, String> {
    let bytes = size::parse(text)?;
    u32::try_from(bytes).map_err(|_| format!("at most {} bytes are left free", u32::MAX))
}

fn superchunk(text: &str) -> Result<NonZeroU64, String> {
    let count = args::count(text)?;
    NonZeroU64::new(count).ok_or_else(|| "a file holds at least 1 chunk".into())
}

/// Elements along each axis, of as many axes as the array has.
fn axes(option: &str, said: &[u64], shape: &[u64]) -> Result<Vec<u32>, Failure> {
    if said.len() != shape.len() {
        let (found, expected) = (said.len(), shape.len());
        let title = format!("{option} tells {found} axes, where the array has {expected}");
        return Err(Failure::usage(title));
    }
    let narrow = |len: &u64| {
        u32::try_from(*len).map_err(|_| {
            Failure::usage(format!(
                "{option}: {len} elements along an axis are too many"
            ))
        })
    };
    said.iter().map(narrow).collect()
}

impl Making {
    /// Refuses what this layout has no place for.
    pub fn fit(&self, layout: ArrayLayout) -> Result<(), Failure> {
        match layout {
            ArrayLayout::Dataset(layout) => self.fit_dataset(layout),
            ArrayLayout::Frame(_) => self.fit_frame(layout),
        }
    }

    fn fit_frame(&self, layout: ArrayLayout) -> Result<(), Failure> {
        let (what, hint) = if self.checksum.is_some_and(|kind| kind != Checksum::None) {
            ("-k: frames have no place for checksums", "leave -k out")
        } else if self.chunklen.is_some() {
            ("--chunklen", "--chunkshape N,N,... tells all axes")
        } else if self.spare.is_some() || self.superchunk.is_some() {
            (
                "--spare or --superchunk",
                "--sparse makes a file for each chunk",
            )
        } else if self.codec == Some(Compressor::Snappy) {
            ("-c snappy: Blosc2 has no place for it", "-c lz4 or zstd")
        } else {
            return Ok(());
        };
        let title = format!("the layout {layout} does not go with {what}");
        Err(Failure::usage(title).hint(hint))
    }

    fn fit_dataset(&self, layout: DatasetLayout) -> Result<(), Failure> {
        if self.is_of_frames() {
            let title = format!("the layout {layout} does not go with --blockshape or --sparse");
            return Err(Failure::usage(title).hint("--layout b2nd or caterva"));
        }
        let framed = [DatasetLayout::BlzDocument, DatasetLayout::CarrayDocument];
        let checksum = self.checksum.is_some_and(|kind| kind != Checksum::None);
        let what = if checksum {
            "-k: it has no place for checksums"
        } else if self.spare.is_some() {
            "--spare: each chunk fills its file"
        } else if self.superchunk.is_some() {
            "--superchunk: each file has one chunk"
        } else {
            return Ok(());
        };
        if framed.contains(&layout) {
            return Ok(());
        }
        Err(
            Failure::usage(format!("the layout {layout} does not go with {what}"))
                .hint("--layout blz-doc or carray-doc"),
        )
    }

    /// Whether something is said that only datasets have.
    pub fn is_of_datasets(&self) -> bool {
        let shape = self.chunklen.is_some() || self.chunkshape.is_some();
        shape || self.spare.is_some() || self.superchunk.is_some()
    }

    /// Whether something is said that only Blosc2 frames have.
    pub fn is_of_frames(&self) -> bool {
        self.blockshape.is_some() || self.sparse
    }

    /// The filter that `-s` and `--shuffle` come to.
    pub fn filter(&self) -> Option<Filter> {
        self.shuffle.or(self.no_shuffle.then_some(Filter::None))
    }

    /// What is said, of an array or a column.
    pub fn array(&self, mut builder: CArrayBuilder) -> CArrayBuilder {
        if let Some(codec) = self.codec {
            builder = builder.compressor(codec).level(codec.default_level());
        }
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        if let Some(filter) = self.filter() {
            builder = builder.filter(filter);
        }
        if let Some(checksum) = self.checksum {
            builder = builder.checksum(checksum);
        }
        if let Some(bytes) = self.spare {
            builder = builder.spare(bytes);
        }
        if let Some(chunks) = self.superchunk {
            builder = builder.superchunk(chunks);
        }
        if let Some(rows) = self.chunklen {
            builder = builder.chunk_rows(rows);
        }
        if let Some(shape) = &self.chunkshape {
            builder = builder.chunk_shape(shape);
        }
        builder
    }

    /// What is said, of an array in a frame that has this shape.
    pub fn frame(
        &self,
        mut builder: NdArrayBuilder,
        shape: &[u64],
    ) -> Result<NdArrayBuilder, Failure> {
        if let Some(codec) = self.codec {
            builder = builder.compressor(codec).level(codec.default_level());
        }
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        if let Some(filter) = self.filter() {
            builder = builder.filters(filter);
        }
        if let Some(chunk) = &self.chunkshape {
            let chunk = axes("--chunkshape", chunk, shape)?;
            // The blocks of another shape need not fit in.
            builder = builder.automatic_shapes().chunk_shape(&chunk);
        }
        if let Some(block) = &self.blockshape {
            let wide: Vec<u64> = block.iter().map(|len| u64::from(*len)).collect();
            builder = builder.block_shape(&axes("--blockshape", &wide, shape)?);
        }
        Ok(builder)
    }

    /// What is said of all columns together.
    pub fn table(&self, builder: CTableBuilder) -> Result<CTableBuilder, Failure> {
        if self.chunkshape.is_some() {
            let title = "--chunkshape is for arrays; the columns of a table share --chunklen";
            return Err(Failure::usage(title));
        }
        Ok(match self.chunklen {
            Some(rows) => builder.chunk_rows(rows),
            None => builder,
        })
    }
}
