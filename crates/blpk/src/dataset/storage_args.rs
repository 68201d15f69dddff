//! How a new dataset or frame is compressed and stored: options of `import` and `convert`.

use std::num::NonZeroU64;

use bloscpack::{Checksum, Compressor};
use bloscpack_open::{
    datasets::{CArrayBuilder, CTableBuilder, DatasetLayout},
    frames::NdArrayBuilder,
};
use clap::Args;

use crate::args::{self, CodecArgs, FilterArgs, with_given};
use crate::failure::Failure;
use crate::layout::{ArrayLayout, ZarrVersion};
use bloscpack::wire::internal::to_u64;
use bloscpack_open::internal::size;

const DATASET: &str = "Dataset and frame settings";

/// The settings of a new dataset or frame.
#[derive(Args, Clone, Debug)]
pub struct StorageArgs {
    #[command(flatten)]
    pub codec: CodecArgs,

    #[command(flatten)]
    pub filter: FilterArgs,

    /// Checksum of each chunk; for datasets in the layouts blz-doc and carray-doc
    #[arg(help_heading = DATASET, short = 'k', long, value_name = "CHECKSUM", value_parser = args::checksum(), ignore_case = true)]
    pub checksum: Option<Checksum>,

    /// Rows per chunk
    #[arg(help_heading = DATASET, long, value_name = "N", value_parser = positive)]
    pub chunklen: Option<NonZeroU64>,

    /// Elements per chunk along each axis, such as 100,64,64; in the layouts carray-doc, caterva, b2nd and zarr
    #[arg(help_heading = DATASET, long, value_name = "N,N,...", value_delimiter = ',', conflicts_with = "chunklen", value_parser = positive)]
    chunkshape: Option<Vec<NonZeroU64>>,

    /// Elements per block, the smallest unit of decompression, along each axis; in the layouts caterva and b2nd
    #[arg(help_heading = DATASET, long, value_name = "N,N,...", value_delimiter = ',', value_parser = positive)]
    blockshape: Option<Vec<NonZeroU64>>,

    /// Make a directory with one file per chunk; in the layouts caterva and b2nd
    #[arg(help_heading = DATASET, long)]
    pub sparse: bool,

    /// Unused bytes after each chunk, which let it grow in place; in the layouts blz-doc and carray-doc
    #[arg(help_heading = DATASET, long, value_name = "SIZE", value_parser = spare)]
    spare: Option<u32>,

    /// Chunks per file; in the layouts blz-doc and carray-doc, and of a shard in zarr3
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

fn lengths(axes: &[NonZeroU64]) -> Vec<u64> {
    axes.iter().copied().map(NonZeroU64::get).collect()
}

/// Elements along each axis, for as many axes as the array has.
fn axes(option: &str, given: &[NonZeroU64], shape: &[u64]) -> Result<Vec<u32>, Failure> {
    if given.len() != shape.len() {
        let (found, expected) = (axes_text(given.len()), axes_text(shape.len()));
        let title = format!("{option} has {found}, but the array has {expected}");
        return Err(Failure::usage(title));
    }
    let narrow = |len: &NonZeroU64| {
        let title = || format!("{option}: {len} elements along one axis are too many");
        u32::try_from(len.get()).map_err(|_| Failure::usage(title()))
    };
    given.iter().map(narrow).collect()
}

/// `1 axis`, `2 axes`.
fn axes_text(number: usize) -> String {
    let noun = if number == 1 { "axis" } else { "axes" };
    format!("{} {noun}", to_u64(number))
}

impl StorageArgs {
    /// Refuses settings that this layout does not have.
    pub fn check(&self, layout: ArrayLayout) -> Result<(), Failure> {
        let has_checksum = self.checksum.is_some_and(|kind| kind != Checksum::None);
        let (spare, files) = (self.spare.is_some(), self.chunks_per_superchunk.is_some());
        let for_frames = self.blockshape.is_some() || self.sparse;
        let is_snappy = self.codec.codec == Some(Compressor::Snappy);
        let snappy = (is_snappy, "-c snappy", "use -c lz4 or zstd");
        // Whether they were given, their names, and advice.
        let unsupported: &[(bool, &str, &str)] = match layout {
            ArrayLayout::Dataset(DatasetLayout::BlzDocument | DatasetLayout::CarrayDocument) => {
                &[(
                    for_frames,
                    "--blockshape or --sparse",
                    "use --layout b2nd or caterva",
                )]
            }
            ArrayLayout::Dataset(_) => {
                let documented = "use --layout blz-doc or carray-doc";
                &[
                    (
                        for_frames,
                        "--blockshape or --sparse",
                        "use --layout b2nd or caterva",
                    ),
                    (has_checksum, "checksums (-k)", documented),
                    (
                        spare,
                        "--spare, because each chunk fills its file",
                        documented,
                    ),
                    (
                        files,
                        "--chunks-per-superchunk, because each file contains one chunk",
                        documented,
                    ),
                ]
            }
            ArrayLayout::Frame(_) => &[
                (has_checksum, "checksums", "omit -k"),
                (
                    self.chunklen.is_some(),
                    "--chunklen",
                    "use --chunkshape N,N,... with a length for each axis",
                ),
                (
                    spare || files,
                    "--spare or --chunks-per-superchunk",
                    "use --sparse for one file per chunk",
                ),
                snappy,
            ],
            ArrayLayout::Zarr(version) => &[
                (has_checksum, "checksums", "omit -k"),
                (
                    for_frames || spare,
                    "--blockshape, --sparse or --spare",
                    "omit it",
                ),
                (
                    files && version == ZarrVersion::V2,
                    "shards, which --chunks-per-superchunk makes",
                    "use --layout zarr3",
                ),
                snappy,
            ],
            ArrayLayout::Store(_) => &[
                (
                    has_checksum,
                    "checksums of chunks",
                    "omit -k: each frame has a digest",
                ),
                (
                    spare || files || self.sparse,
                    "--spare, --chunks-per-superchunk or --sparse",
                    "each array is a file of its own",
                ),
                snappy,
            ],
        };
        match unsupported.iter().find(|(is_given, ..)| *is_given) {
            Some((_, setting, hint)) => {
                let title = format!("the layout {layout} does not support {setting}");
                Err(Failure::usage(title).hint(*hint))
            }
            None => Ok(()),
        }
    }

    /// Whether anything was given.
    pub fn is_given(&self) -> bool {
        let codec = self.codec.codec.is_some() || self.codec.level().is_some();
        codec || self.filter.filter().is_some() || self.checksum.is_some() || self.is_divided()
    }

    /// Whether anything was given about chunks, blocks or files, which only datasets and frames have.
    pub fn is_divided(&self) -> bool {
        let shapes = self.chunklen.is_some() || self.chunkshape.is_some();
        let files = self.sparse || self.spare.is_some() || self.chunks_per_superchunk.is_some();
        shapes || files || self.blockshape.is_some()
    }

    /// Refuses settings that tables do not have.
    pub fn refuse_axes(&self) -> Result<(), Failure> {
        if self.chunkshape.is_some() || self.blockshape.is_some() {
            let title = "--chunkshape and --blockshape are for arrays";
            Err(Failure::usage(title).hint("use --chunklen for all columns of a table"))
        } else {
            Ok(())
        }
    }

    /// Sets on an array or a column what was given.
    pub fn array(&self, builder: CArrayBuilder) -> CArrayBuilder {
        let codec = self.codec.codec;
        let builder = with_given!(builder,
            compressor: codec,
            level: self.codec.level().or(codec.map(Compressor::default_level)),
            filter: self.filter.filter(),
            checksum: self.checksum,
            spare: self.spare,
            superchunk: self.chunks_per_superchunk,
            chunk_rows: self.chunklen.map(NonZeroU64::get),
        );
        match &self.chunkshape {
            Some(shape) => builder.chunk_shape(&lengths(shape)),
            None => builder,
        }
    }

    /// Sets on an array of this shape in a frame what was given.
    pub fn frame(&self, builder: NdArrayBuilder, shape: &[u64]) -> Result<NdArrayBuilder, Failure> {
        let codec = self.codec.codec;
        let mut builder = with_given!(builder,
            compressor: codec,
            level: self.codec.level().or(codec.map(Compressor::default_level)),
            filters: self.filter.filter(),
        );
        if let Some(chunk) = &self.chunkshape {
            let chunk = axes("--chunkshape", chunk, shape)?;
            // The blocks of another chunk shape need not fit.
            builder = builder.automatic_shapes().chunk_shape(&chunk);
        }
        if let Some(block) = &self.blockshape {
            builder = builder.block_shape(&axes("--blockshape", block, shape)?);
        }
        Ok(builder)
    }

    /// Sets on a Zarr array what was given.
    pub fn zarr(&self, new: &mut bloscpack_open::zarr::NewArray) -> Result<(), Failure> {
        let codec = self.codec.codec;
        new.settings = with_given!(new.settings,
            compressor: codec,
            level: self.codec.level().or(codec.map(Compressor::default_level)),
            filter: self.filter.filter(),
        );
        if let Some(shape) = &self.chunkshape {
            let chunk = axes("--chunkshape", shape, &new.shape)?;
            new.chunk_shape = chunk.into_iter().map(u64::from).collect();
        }
        if let (Some(rows), Some(first)) = (self.chunklen, new.chunk_shape.first_mut()) {
            *first = rows.get();
        }
        if self.chunks_per_superchunk.is_some() && new.dtype.fields().is_some() {
            let title = "zarr-python opens no shards of elements that have fields";
            return Err(Failure::usage(title).hint("omit --chunks-per-superchunk"));
        }
        new.chunks_per_shard = self.chunks_per_superchunk.map_or(1, NonZeroU64::get);
        Ok(())
    }

    /// Sets on a table what was given for all columns together.
    pub fn table(&self, builder: CTableBuilder) -> Result<CTableBuilder, Failure> {
        self.refuse_axes()?;
        Ok(with_given!(builder, chunk_rows: self.chunklen.map(NonZeroU64::get)))
    }
}
