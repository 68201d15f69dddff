//! [`Storage`]: compression and chunk shapes of the output.

use std::num::NonZeroU64;

use bloscpack::{Checksum, Compressor, Filter};
use bloscpack_error::{Error, Result};
use bloscpack_open::{
    datasets::{CArrayBuilder, CTableBuilder, DatasetLayout},
    frames::NdArrayBuilder,
    zarr::{Format as ZarrFormat, NewArray},
};
use bloscpack_wire::internal::to_u64;

use crate::{Goal, with_given};

/// The hint for chunk lengths that are given for a Bloscpack file.
const OF_FILE: &str = "the chunks of a Bloscpack file have a size in bytes";

/// Compression and chunk shapes of the output. A field that is `None` or false keeps the setting of the source, or the default
/// of the format. [`check`](Self::check) refuses fields that a goal does not support.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Storage {
    /// The compressor. Without a level, it gets its default level.
    pub compressor: Option<Compressor>,
    /// The compression level, 0 to 9.
    pub level: Option<u8>,
    /// The filter before the compressor.
    pub filter: Option<Filter>,
    /// The checksum of each chunk, in Bloscpack files and the layouts `blz-doc` and `carray-doc`.
    pub checksum: Option<Checksum>,
    /// The number of rows in a chunk, in datasets, Zarr, and tables in stores.
    pub chunklen: Option<NonZeroU64>,
    /// The shape of a chunk, in the layouts `carray-doc`, `caterva` and `b2nd`, and in Zarr.
    pub chunkshape: Option<Vec<NonZeroU64>>,
    /// The shape of a block, in the layouts `caterva` and `b2nd`.
    pub blockshape: Option<Vec<NonZeroU64>>,
    /// Whether a frame becomes a directory with a file for each chunk.
    pub sparse: bool,
    /// Unused bytes after each chunk, in the layouts `blz-doc` and `carray-doc`.
    pub spare: Option<u32>,
    /// The number of chunks in a file of the layouts `blz-doc` and `carray-doc`, and in a shard of Zarr 3.
    pub chunks_per_superchunk: Option<NonZeroU64>,
}

fn lengths(axes: &[NonZeroU64]) -> Vec<u64> {
    axes.iter().copied().map(NonZeroU64::get).collect()
}

/// A shape that was given as an option; an error if the array has another number of axes.
fn axes(option: &str, given: &[NonZeroU64], shape: &[u64]) -> Result<Vec<u32>> {
    if given.len() != shape.len() {
        let (found, expected) = (axes_text(given.len()), axes_text(shape.len()));
        let message = format!("{option} has {found}, but the array has {expected}");
        return Err(Error::usage(message));
    }
    let narrow = |len: &NonZeroU64| {
        let message = || format!("{option}: {len} elements along one axis are too many");
        u32::try_from(len.get()).map_err(|_| Error::usage(message()))
    };
    given.iter().map(narrow).collect()
}

/// A number of axes as text: `1 axis`, `2 axes`.
fn axes_text(number: usize) -> String {
    let noun = if number == 1 { "axis" } else { "axes" };
    format!("{} {noun}", to_u64(number))
}

impl Storage {
    /// Checks that a goal supports the fields that are set.
    ///
    /// # Errors
    /// Returns `Code::Usage` that names the setting.
    pub fn check(&self, goal: Goal) -> Result<()> {
        if matches!(goal, Goal::Format(_) | Goal::Records) && self.is_given() {
            let message =
                "a file of another format has none of the settings of datasets and frames";
            return Err(Error::usage(message).with_hint("omit them"));
        }
        let has_files = matches!(
            goal,
            Goal::Dataset(DatasetLayout::BlzDocument | DatasetLayout::CarrayDocument)
        );
        let is_frame = matches!(goal, Goal::Frame(_));
        // The setting, whether it is set, whether it is supported, and the hint.
        let settings = [
            (
                "checksums",
                self.checksum.is_some_and(|kind| kind != Checksum::None),
                has_files || goal == Goal::File,
                "Bloscpack files and the layouts blz-doc and carray-doc do",
            ),
            (
                "chunklen",
                self.chunklen.is_some(),
                !is_frame && goal != Goal::File,
                if is_frame {
                    "use chunkshape, with a length for each axis"
                } else {
                    OF_FILE
                },
            ),
            (
                "chunkshape",
                self.chunkshape.is_some(),
                goal != Goal::File,
                OF_FILE,
            ),
            (
                "blockshape",
                self.blockshape.is_some(),
                is_frame || matches!(goal, Goal::Store(_)),
                "the layouts b2nd and caterva do",
            ),
            (
                "sparse",
                self.sparse,
                is_frame,
                "the layouts b2nd and caterva do",
            ),
            (
                "spare",
                self.spare.is_some(),
                has_files,
                "the layouts blz-doc and carray-doc do",
            ),
            (
                "chunks-per-superchunk",
                self.chunks_per_superchunk.is_some(),
                has_files || goal == Goal::Zarr(ZarrFormat::V3),
                "the layouts blz-doc and carray-doc do, and the shards of zarr3",
            ),
            (
                "snappy",
                self.compressor == Some(Compressor::Snappy),
                matches!(goal, Goal::Dataset(_) | Goal::File),
                "use lz4 or zstd",
            ),
        ];
        let wrong = settings
            .into_iter()
            .find(|(_, is_given, is_supported, _)| *is_given && !is_supported);
        match wrong {
            Some((setting, _, _, hint)) => {
                let message = format!("the layout {goal} does not support {setting}");
                Err(Error::usage(message).with_hint(hint))
            }
            None => Ok(()),
        }
    }

    /// Whether any field is set.
    #[must_use]
    pub fn is_given(&self) -> bool {
        let codec = self.compressor.is_some() || self.level.is_some() || self.filter.is_some();
        let shapes =
            self.chunklen.is_some() || self.chunkshape.is_some() || self.blockshape.is_some();
        let files = self.sparse || self.spare.is_some() || self.chunks_per_superchunk.is_some();
        codec || self.checksum.is_some() || shapes || files
    }

    /// Refuses shapes, which tables do not have.
    pub(crate) fn refuse_axes(&self) -> Result<()> {
        if self.chunkshape.is_some() || self.blockshape.is_some() {
            let message = "chunkshape and blockshape are for arrays";
            Err(Error::usage(message).with_hint("use chunklen for all columns of a table"))
        } else {
            Ok(())
        }
    }

    /// Applies the settings to a new array, or to a column of a table.
    #[must_use]
    pub fn array(&self, builder: CArrayBuilder) -> CArrayBuilder {
        let codec = self.compressor;
        let builder = with_given!(builder,
            compressor: codec,
            level: self.level.or(codec.map(Compressor::default_level)),
            filter: self.filter,
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

    /// Applies the settings to a new array of this shape in a frame.
    pub(crate) fn frame(&self, builder: NdArrayBuilder, shape: &[u64]) -> Result<NdArrayBuilder> {
        let codec = self.compressor;
        let mut builder = with_given!(builder,
            compressor: codec,
            level: self.level.or(codec.map(Compressor::default_level)),
            filters: self.filter,
        );
        if let Some(chunk) = &self.chunkshape {
            let chunk = axes("chunkshape", chunk, shape)?;
            // The source's block shape may not fit into another chunk shape.
            builder = builder.automatic_shapes().chunk_shape(&chunk);
        }
        if let Some(block) = &self.blockshape {
            builder = builder.block_shape(&axes("blockshape", block, shape)?);
        }
        Ok(builder)
    }

    /// Applies the settings to a new Zarr array.
    pub(crate) fn zarr(&self, new: &mut NewArray) -> Result<()> {
        let codec = self.compressor;
        new.settings = with_given!(new.settings,
            compressor: codec,
            level: self.level.or(codec.map(Compressor::default_level)),
            filter: self.filter,
        );
        if let Some(shape) = &self.chunkshape {
            let chunk = axes("chunkshape", shape, &new.shape)?;
            new.chunk_shape = chunk.into_iter().map(u64::from).collect();
        }
        if let (Some(rows), Some(first)) = (self.chunklen, new.chunk_shape.first_mut()) {
            *first = rows.get();
        }
        if self.chunks_per_superchunk.is_some() && new.dtype.fields().is_some() {
            let message = "zarr-python opens no shards of elements that have fields";
            return Err(Error::usage(message).with_hint("omit chunks-per-superchunk"));
        }
        new.chunks_per_shard = self.chunks_per_superchunk.map_or(1, NonZeroU64::get);
        Ok(())
    }

    /// Applies the settings that all columns of a table share.
    pub(crate) fn table(&self, builder: CTableBuilder) -> Result<CTableBuilder> {
        self.refuse_axes()?;
        Ok(with_given!(builder, chunk_rows: self.chunklen.map(NonZeroU64::get)))
    }
}
