//! Writes Blosc2 frames with an array.

use std::path::Path;

use bloscpack::{Compressor, dtype::DType};
use bloscpack_error::{Category, Code, Error, IoSide as _, Result};
use bloscpack_open::{
    Inner, Kind, Region,
    array::Array,
    datasets::{Attributes, CArray},
    exchange::{OneArray, UserAttributes},
    frames::{ArrayKind, NdArray, NdArrayBuilder},
};
use bloscpack_wire::internal::to_u64;

use crate::file::codec_of;
use crate::store::NO_LAYER;
use crate::{Work, check_itemsize, with_given};

/// The number of bytes that are read and written at once, unless a chunk has more: 64 MiB.
pub const BAND: usize = 64 << 20;
/// The most bytes of a chunk whose shape is taken from a Zarr array: rounded up to whole blocks, a chunk has less than 2 GiB.
const LARGEST_CHUNK: u64 = 512 << 20;

/// The shape of an array's chunks, unless a chunk of a frame cannot be that large.
fn chunk_of(array: &dyn Array) -> Option<Vec<u32>> {
    let grid = array.grid();
    let lens = grid.shape().iter().zip(grid.chunk_shape());
    let lens = lens.map(|(len, chunk)| u32::try_from(*chunk.min(len)).ok().map(|len| len.max(1)));
    let lens = lens.collect::<Option<Vec<_>>>()?;
    let sides = lens.iter().map(|len| u64::from(*len));
    let bytes = sides.fold(array.dtype().itemsize(), u64::saturating_mul);
    (bytes <= LARGEST_CHUNK).then_some(lens)
}

impl Work<'_> {
    /// Makes a frame at a path: a file, or a sparse frame if the path is a folder.
    pub(crate) fn frame(&self, kind: ArrayKind, path: &Path) -> Result<()> {
        let whole = self.settings.is_whole();
        let builder = match (self.source.inner(), self.carray()?) {
            (Inner::Frame(_), _) => {
                // Reading says what is wrong with the array in the frame.
                let missing = self.source.columns(&self.settings.selection()).err();
                return Err(missing.unwrap_or_else(|| Error::bug("a frame without an array")));
            }
            (Inner::NdArray(source), _) if whole => self.like_frame(source, kind)?,
            (_, Some(source)) => self.like_dataset(source, kind)?,
            _ => {
                let Some(source) = self.array()? else {
                    return self.frame_of_rows(kind, path);
                };
                let (dtype, shape) = (source.dtype(), source.grid().shape());
                let builder = self.new_frame(kind, (dtype, shape), &self.attributes()?, None)?;
                let storage = &self.settings.storage;
                let is_given = storage.chunkshape.is_some() || storage.blockshape.is_some();
                match chunk_of(&*source) {
                    Some(chunk) if whole && !is_given && self.source.kind() == Kind::Zarr => {
                        builder.chunk_shape(&chunk)
                    }
                    _ => builder,
                }
            }
        };
        let source = self.array()?;
        let source = source.ok_or_else(|| Error::bug("an array that is none any more"))?;
        let mut made = create(builder, path)?;
        let total = made.nbytes();
        for part in made.boxes(BAND) {
            self.advance(0, total)?;
            let bytes = source.read_slice(&part).reading()?;
            made.write_slice(&part, &bytes)?;
            self.advance(to_u64(bytes.len()), total)?;
        }
        made.flush()
    }

    /// A builder for a new array of this kind.
    fn new_frame(
        &self,
        kind: ArrayKind,
        (dtype, shape): (&DType, &[u64]),
        attributes: &Attributes,
        codec: Option<Compressor>,
    ) -> Result<NdArrayBuilder> {
        let itemsize = u32::try_from(dtype.itemsize()).ok();
        let itemsize = itemsize.filter(|bytes| *bytes > 0).ok_or_else(|| {
            let found = dtype.itemsize();
            let message = format!("a frame cannot contain elements of {found} bytes");
            Error::new(Code::Unsupported, message)
        })?;
        let builder = NdArray::builder(shape, itemsize)
            .kind(kind)
            .options(self.settings.options.clone());
        let builder = match kind {
            ArrayKind::Caterva => builder,
            ArrayKind::B2nd => builder.dtype(dtype.clone()),
        };
        let builder = self.with_attributes(builder, attributes)?;
        let builder = with_given!(builder,
            compressor: codec,
            level: codec.map(Compressor::default_level),
        );
        self.settings
            .storage
            .frame(builder.filters_by_data(), shape)
    }

    /// A builder with the settings of an existing array, unless others are given.
    fn like_frame(&self, source: &NdArray, kind: ArrayKind) -> Result<NdArrayBuilder> {
        let builder = match source.like() {
            Err(error) if error.category() == Category::Unsupported => {
                (self.warn)(&format!("{error}; using the default compression"));
                source.like_plain()
            }
            builder => builder,
        };
        let options = self.settings.options.clone();
        let mut builder = builder?.kind(kind).options(options);
        match (kind, &self.settings.dtype) {
            (ArrayKind::B2nd, Some(given)) => {
                check_itemsize(given, source)?;
                builder = builder.dtype(given.clone());
            }
            (ArrayKind::Caterva, Some(_)) => {
                let message = "the layout caterva cannot store a dtype";
                return Err(Error::usage(message).with_hint("omit it, or use the layout b2nd"));
            }
            (ArrayKind::Caterva, None) if source.dtype_text().is_some() => {
                (self.warn)("its dtype is dropped: the layout caterva cannot store it");
            }
            _ => {}
        }
        self.settings.storage.frame(builder, source.shape())
    }

    /// A builder with dtype, shape, attributes and codec of an array in a dataset, unless others are given.
    fn like_dataset(&self, source: &CArray, kind: ArrayKind) -> Result<NdArrayBuilder> {
        // Blosc2 does not have Snappy: such arrays get its default codec.
        let codec = Some(codec_of(source)).filter(|codec| *codec != Compressor::Snappy);
        let like = (source.dtype(), source.shape());
        self.new_frame(kind, like, source.attributes(), codec)
    }

    /// Makes a frame from rows, for any other input.
    fn frame_of_rows(&self, kind: ArrayKind, path: &Path) -> Result<()> {
        let attributes = self.attributes()?;
        let mut source = self.fixed()?;
        let mut source = OneArray::new(&mut *source)?;
        self.warn_about_zones(source.schema());
        let (dtype, shape) = (&source.column().dtype, source.shape());
        let mut made = create(
            self.new_frame(kind, (dtype, shape), &attributes, None)?,
            path,
        )?;
        let chunk = made.chunk_shape().first().copied().unwrap_or(1).max(1);
        let row = source.column().row_bytes().max(1);
        // A chunk that does not fit into memory is an error when it is read.
        let chunk = usize::try_from(u64::from(chunk).saturating_mul(row)).unwrap_or(usize::MAX);
        let at_once = chunk.saturating_mul((BAND / chunk).max(1));
        let shape = source.shape().to_vec();
        let mut begin = 0;
        while let Some(elements) = source.next_elements(at_once).reading()? {
            let rows = begin..begin + to_u64(elements.len()) / row;
            begin = rows.end;
            made.write_slice(&Region::of_rows(rows, &shape).ranges, &elements)?;
        }
        made.flush()
    }

    /// Adds the attributes as metalayers, which python-blosc2 shows as `vlmeta`.
    fn with_attributes(
        &self,
        builder: NdArrayBuilder,
        attributes: &Attributes,
    ) -> Result<NdArrayBuilder> {
        let (values, lost) = UserAttributes::values(attributes);
        self.warn_about_lost(&lost, NO_LAYER);
        values.iter().try_fold(builder, |builder, (key, value)| {
            let mut bytes = Vec::new();
            let encoded = value.encode(&mut bytes);
            encoded.map_err(|error| Error::usage(format!("attribute {key:?}: {error}")))?;
            Ok(builder.vlmetalayer(key, bytes))
        })
    }
}

/// Creates an array in a new frame.
fn create(builder: NdArrayBuilder, path: &Path) -> Result<NdArray> {
    if path.is_dir() {
        builder.create_sparse(path)
    } else {
        builder.create(path)
    }
}
