//! A Parquet file of one column, through the crate `parquet`.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::properties::WriterProperties;

use super::Store;
use crate::Result;
use crate::data::Records;

/// How a column of bytes is written before it is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The writer's default: a dictionary, and plain once it is full.
    Default,
    /// The same without a dictionary: a length of four bytes before each value.
    Plain,
    /// All lengths, bit-packed, then all values.
    DeltaLength,
    /// Without the prefix that a value shares with the previous one.
    Delta,
}

impl Encoding {
    pub const ALL: [Self; 4] = [Self::Default, Self::Plain, Self::DeltaLength, Self::Delta];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plain => "plain",
            Self::DeltaLength => "delta-length",
            Self::Delta => "delta",
        }
    }
}

/// How a file is written; the rest is the writer's default.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub encoding: Encoding,
    pub compression: Compression,
    /// Bytes of a page before it is compressed.
    pub page: Option<usize>,
}

impl Settings {
    /// Zstd of this level in pages of the usual size.
    pub fn zstd(encoding: Encoding, level: i32) -> Result<Self> {
        Ok(Self {
            encoding,
            compression: Compression::ZSTD(ZstdLevel::try_new(level)?),
            page: None,
        })
    }

    /// Suited to single rows: small pages, no dictionary to read first, a fast compressor.
    pub const fn small_pages(bytes: usize) -> Self {
        Self {
            encoding: Encoding::Plain,
            compression: Compression::LZ4_RAW,
            page: Some(bytes),
        }
    }

    fn properties(self) -> WriterProperties {
        use parquet::basic::Encoding as Coded;
        let mut properties = WriterProperties::builder()
            .set_compression(self.compression)
            .set_dictionary_enabled(self.encoding == Encoding::Default);
        properties = match self.encoding {
            Encoding::Default | Encoding::Plain => properties,
            Encoding::DeltaLength => properties.set_encoding(Coded::DELTA_LENGTH_BYTE_ARRAY),
            Encoding::Delta => properties.set_encoding(Coded::DELTA_BYTE_ARRAY),
        };
        if let Some(page) = self.page {
            // The size is checked once per batch.
            properties = properties
                .set_data_page_size_limit(page)
                .set_write_batch_size(16);
        }
        properties.build()
    }
}

/// Records per batch, for the writer and for a scan.
const BATCH: usize = 64 << 10;

/// The bytes of a file.
pub fn write(records: &Records, settings: Settings) -> Result<Vec<u8>> {
    let schema = Arc::new(Schema::new(vec![Field::new(
        "record",
        DataType::Binary,
        false,
    )]));
    let mut writer = ArrowWriter::try_new(vec![], schema.clone(), Some(settings.properties()))?;
    for from in (0..records.len()).step_by(BATCH) {
        let range = from..records.len().min(from + BATCH);
        let column: ArrayRef = Arc::new(BinaryArray::from_iter_values(
            range.map(|index| records.get(index)),
        ));
        writer.write(&RecordBatch::try_new(schema.clone(), vec![column])?)?;
    }
    Ok(writer.into_inner()?)
}

/// A file in memory, with its footer and page index.
pub struct Reader {
    file: Bytes,
    metadata: ArrowReaderMetadata,
    /// The pages of all row groups, and the end of the last rows.
    pages: Vec<Page>,
    rows: usize,
    cache: Option<Cache>,
}

#[derive(Clone, Copy)]
struct Page {
    /// The row group, and the first of its rows.
    group: usize,
    group_row: usize,
    /// The first row.
    row: usize,
}

impl Reader {
    /// Reads one row at a time, as the crate does, or keeps up to `cache` bytes of decoded pages in a
    /// cache that this bench adds, because the reader has none.
    pub fn open(file: Vec<u8>, cache: Option<usize>) -> Result<Self> {
        let file = Bytes::from(file);
        let options = ArrowReaderOptions::new().with_offset_index_policy(PageIndexPolicy::Required);
        let metadata = ArrowReaderMetadata::load(&file, options)?;
        let parquet = metadata.metadata();
        let index = parquet.page_index().ok_or("no page index")?;
        let (mut pages, mut rows) = (vec![], 0);
        for (group, row_group) in parquet.row_groups().iter().enumerate() {
            let locations = index.page_locations(group, 0).ok_or("no offset index")?;
            pages.extend(locations.iter().map(|location| Page {
                group,
                group_row: rows,
                row: rows + location.first_row_index as usize,
            }));
            rows += row_group.num_rows() as usize;
        }
        let cache = cache.map(Cache::new);
        Ok(Self {
            file,
            metadata,
            pages,
            rows,
            cache,
        })
    }

    fn builder(&self) -> ParquetRecordBatchReaderBuilder<Bytes> {
        let (file, metadata) = (self.file.clone(), self.metadata.clone());
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
    }

    /// Reads some rows of one row group, and decodes only the pages that contain them.
    fn rows(&self, page: Page, from: usize, len: usize) -> Result<ParquetRecordBatchReader> {
        let selection = vec![
            RowSelector::skip(from - page.group_row),
            RowSelector::select(len),
        ];
        let reader = self
            .builder()
            .with_row_groups(vec![page.group])
            .with_row_selection(RowSelection::from(selection))
            .with_batch_size(len);
        Ok(reader.build()?)
    }

    fn column(batch: &RecordBatch) -> Result<&BinaryArray> {
        let column = batch.column(0).as_any().downcast_ref();
        Ok(column.ok_or("not a column of bytes")?)
    }
}

impl Store for Reader {
    fn scan(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<()> {
        for batch in self.builder().with_batch_size(BATCH).build()? {
            let batch = batch?;
            Self::column(&batch)?.iter().flatten().for_each(&mut *each);
        }
        Ok(())
    }

    fn gets(&mut self, numbers: &[usize], each: &mut dyn FnMut(&[u8])) -> Result<()> {
        for &number in numbers {
            let index = self.pages.partition_point(|page| page.row <= number) - 1;
            let page = self.pages[index];
            let Some(cache) = &mut self.cache else {
                let batch = self.rows(page, number, 1)?.next().ok_or("no such row")??;
                each(Self::column(&batch)?.value(0));
                continue;
            };
            if let Some(column) = cache.pages.get(&index) {
                each(column.value(number - page.row));
                continue;
            }
            let end = self.pages.get(index + 1).map_or(self.rows, |next| next.row);
            let batch = self
                .rows(page, page.row, end - page.row)?
                .next()
                .ok_or("no such page")??;
            let column = Self::column(&batch)?.clone();
            each(column.value(number - page.row));
            if let Some(cache) = &mut self.cache {
                cache.put(index, column);
            }
        }
        Ok(())
    }
}

/// A cache of decoded pages with a limit in bytes; the oldest page is dropped first.
struct Cache {
    pages: HashMap<usize, BinaryArray>,
    order: VecDeque<usize>,
    bytes: usize,
    bound: usize,
}

impl Cache {
    fn new(bound: usize) -> Self {
        Self {
            pages: HashMap::new(),
            order: VecDeque::new(),
            bytes: 0,
            bound,
        }
    }

    fn put(&mut self, index: usize, column: BinaryArray) {
        self.bytes += column.get_array_memory_size();
        self.pages.insert(index, column);
        self.order.push_back(index);
        while self.bytes > self.bound
            && let Some(oldest) = self.order.pop_front()
            && let Some(column) = self.pages.remove(&oldest)
        {
            self.bytes -= column.get_array_memory_size();
        }
    }
}
