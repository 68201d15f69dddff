//! Writes the tables.

use crate::{Result, TABLES};
use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bloscpack::Compressor;
use bloscpack_open::datasets::CTableBuilder;
use bloscpack_open::exchange::{ImportOptions, import_table, of_record_batches};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use tpchgen::generators as of;
use tpchgen_arrow as arrow_of;

/// Rows per chunk, in all columns.
const CHUNK: u64 = 1 << 16;

/// Writes each table as `NAME`, a ctable, and as `NAME.snappy.parquet` and `NAME.zstd.parquet`.
pub fn make(dir: &Path, scale: f64) -> Result<()> {
    fs::create_dir_all(dir)?;
    for name in TABLES {
        let batches = batches(name, scale)?;
        let numbers = batches
            .iter()
            .map(|batch| convert(batch, &without_decimals));
        let numbers = numbers.collect::<Result<Vec<_>>>()?;
        parquet(
            &dir.join(format!("{name}.snappy.parquet")),
            &numbers,
            Compression::SNAPPY,
        )?;
        let zstd = Compression::ZSTD(ZstdLevel::default());
        parquet(&dir.join(format!("{name}.zstd.parquet")), &numbers, zstd)?;
        ctable(&dir.join(name), &numbers)?;
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        println!("{name}: {rows} rows");
    }
    Ok(())
}

fn batches(name: &str, scale: f64) -> Result<Vec<RecordBatch>> {
    let size = 1 << 16;
    macro_rules! all {
        ($generator:ident, $table:ident) => {
            arrow_of::$table::new(of::$generator::new(scale, 1, 1))
                .with_batch_size(size)
                .collect::<std::result::Result<Vec<_>, _>>()?
        };
    }
    Ok(match name {
        "customer" => all!(CustomerGenerator, CustomerArrow),
        "lineitem" => all!(LineItemGenerator, LineItemArrow),
        "nation" => all!(NationGenerator, NationArrow),
        "orders" => all!(OrderGenerator, OrderArrow),
        "part" => all!(PartGenerator, PartArrow),
        "partsupp" => all!(PartSuppGenerator, PartSuppArrow),
        "region" => all!(RegionGenerator, RegionArrow),
        _ => all!(SupplierGenerator, SupplierArrow),
    })
}

/// Replaces decimals, which NumPy does not have, by floats.
fn without_decimals(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Decimal128(..) => DataType::Float64,
        other => other.clone(),
    }
}

/// Replaces text by byte strings, which take a quarter of the space of NumPy's text and are read as text.
fn as_bytes(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8View | DataType::Utf8 => DataType::Binary,
        other => other.clone(),
    }
}

fn convert(batch: &RecordBatch, to: &dyn Fn(&DataType) -> DataType) -> Result<RecordBatch> {
    let schema = batch.schema();
    let fields = schema
        .fields()
        .iter()
        .map(|field| Field::new(field.name(), to(field.data_type()), false));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = batch
        .columns()
        .iter()
        .map(|array| cast(array, &to(array.data_type())));
    let arrays = arrays.collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(RecordBatch::try_new(schema, arrays)?)
}

fn schema_of(batches: &[RecordBatch]) -> Result<SchemaRef> {
    Ok(batches.first().ok_or("a table without rows")?.schema())
}

fn parquet(path: &Path, batches: &[RecordBatch], compression: Compression) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    let mut writer =
        ArrowWriter::try_new(File::create(path)?, schema_of(batches)?, Some(properties))?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(())
}

fn ctable(path: &Path, batches: &[RecordBatch]) -> Result<()> {
    let batches = batches.iter().map(|batch| convert(batch, &as_bytes));
    let batches = batches.collect::<Result<Vec<_>>>()?;
    let mut rows = of_record_batches(&schema_of(&batches)?, batches, &ImportOptions::new())?;
    let builder = CTableBuilder::of_schema(rows.schema(), |_, column| {
        column.compressor(Compressor::Lz4)
    });
    let builder = builder.chunk_rows(CHUNK).index(true);
    let mut table = builder.replace(true).create(path)?;
    import_table(&mut *rows, &mut table, &mut |_| ())?;
    table.flush()?;
    Ok(())
}
