//! Rows of an array: of a carray, of a frame, or of a NumPy array in a Bloscpack file.

use super::index::ColumnIndex;
use super::once::{Once, fields_of};
use super::{Rows, Zones, at, batch_of};
use bloscpack::indexed::IndexedReader;
use bloscpack::storage::ReadAt;
use bloscpack::{Error, Result};
use bloscpack_open::datasets::CArray;
use bloscpack_open::exchange::{ArraySource, BatchConverter, FileSource, NdSource, Schema, Source};
use bloscpack_open::{Container, Inner};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// An array, whose elements may have fields.
pub(super) struct ElementRows {
    array: Elements,
    /// As it is stored: one column.
    stored: Schema,
    converter: BatchConverter,
    schema: SchemaRef,
    chunk_rows: u64,
    len: u64,
    /// Read when a condition names the column.
    index: OnceLock<Option<ColumnIndex>>,
}

/// Where the elements are.
enum Elements {
    /// A carray or a frame.
    Container(Box<dyn Container>),
    File(Box<FileSource<Arc<dyn ReadAt + Send + Sync>>>),
}

/// Rows that are read together where chunks do not say how many.
const ROWS: u64 = 1 << 16;

impl ElementRows {
    pub(super) fn new(container: Box<dyn Container>) -> Result<Self> {
        let chunk_rows = chunk_rows(&*container);
        let array = match container.inner() {
            Inner::Bloscpack(Some(source)) => {
                let reader = IndexedReader::open(Arc::clone(source))?;
                Elements::File(Box::new(FileSource::new(reader)?))
            }
            Inner::Array(_) | Inner::NdArray(_) => Elements::Container(container),
            _ => {
                let kind = container.kind();
                return Err(Error::usage(format!(
                    "this {kind} contains neither rows nor elements"
                )));
            }
        };
        let (stored, len) = array.described()?;
        let converter = BatchConverter::new(fields_of(&stored)?)?.string_views()?;
        let schema = converter.schema();
        // The metadata that Arrow notes is for files.
        let schema = Arc::new(schema.as_ref().clone().with_metadata(Default::default()));
        Ok(Self {
            array,
            stored,
            converter,
            schema,
            chunk_rows,
            len,
            index: OnceLock::new(),
        })
    }
}

fn chunk_rows(container: &dyn Container) -> u64 {
    let rows = match container.inner() {
        Inner::Array(array) => array.chunk_shape().first().copied(),
        Inner::NdArray(array) => array.chunk_shape().first().copied().map(u64::from),
        _ => None,
    };
    rows.unwrap_or(ROWS)
}

impl ElementRows {
    /// The carray, if it is one.
    fn carray(&self) -> Option<&CArray> {
        match &self.array {
            Elements::Container(container) => match container.inner() {
                Inner::Array(array) => Some(array),
                _ => None,
            },
            Elements::File(_) => None,
        }
    }

    fn index(&self) -> Option<&ColumnIndex> {
        // Without an index, every row is read.
        let read = || {
            ColumnIndex::read(self.carray()?, &self.converter)
                .ok()
                .flatten()
        };
        self.index.get_or_init(read).as_ref()
    }
}

impl Elements {
    /// The column as it is stored, and the number of rows.
    fn described(&self) -> Result<(Schema, u64)> {
        let described = |source: &dyn Source| (source.schema().clone(), source.rows());
        Ok(match self {
            Self::File(file) => described(&**file),
            Self::Container(container) => match container.inner() {
                Inner::Array(array) => described(&ArraySource::new(array)),
                Inner::NdArray(array) => described(&NdSource::new(array)?),
                _ => return Err(something_else()),
            },
        })
    }

    /// The bytes of these rows.
    fn read(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        let container = match self {
            Self::File(file) => return file.read(&[rows]),
            Self::Container(container) => container,
        };
        match container.inner() {
            Inner::Array(array) => array.read_rows(rows),
            Inner::NdArray(array) => {
                let mut slice: Vec<_> = array.shape().iter().map(|len| 0..*len).collect();
                // A single element, without an axis, is a row.
                if let Some(first) = slice.first_mut() {
                    *first = rows;
                }
                array.read_slice(&slice)
            }
            _ => Err(something_else()),
        }
    }
}

fn something_else() -> Error {
    Error::bug("an array that is something else")
}

impl Rows for ElementRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn chunk_rows(&self, _: usize) -> u64 {
        self.chunk_rows
    }

    fn row_bytes(&self, _: usize) -> u64 {
        self.stored.row_bytes()
    }

    fn zones(&self, _: usize) -> Option<&Zones> {
        self.index().map(|index| &index.zones)
    }

    fn zone_holds(&self, _: usize, zone: usize) -> Result<bool> {
        match (self.index(), self.carray()) {
            (Some(index), Some(array)) => index.holds(array, zone),
            _ => Ok(false),
        }
    }

    fn are_columns_apart(&self) -> bool {
        false
    }

    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch> {
        if columns.is_empty() {
            return batch_of(&self.schema, columns, Vec::new(), rows);
        }
        let count = rows.end - rows.start;
        let bytes = self.array.read(rows.clone())?;
        let split = Once::new(&self.stored, count, bytes).split()?;
        let all = self.converter.convert(split)?;
        let wanted = columns
            .iter()
            .map(|index| at(all.columns(), *index).cloned());
        batch_of(&self.schema, columns, wanted.collect::<Result<_>>()?, rows)
    }
}
