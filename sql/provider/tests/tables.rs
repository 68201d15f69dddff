//! Each kind of input as a table.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use bloscpack::dtype::DType;
use bloscpack::records::RecordWriter;
use bloscpack::storage::{DiskStore, Key};
use bloscpack_open::array::Flat;
use bloscpack_open::datasets::{CArray, CTable};
use bloscpack_open::frames::NdArray;
use bloscpack_open::zarr::{Conversion, Format, create_group};
use common::metric;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type, TimeUnit};
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn context() -> SessionContext {
    bloscpack_datafusion::context(SessionConfig::new().with_target_partitions(3)).unwrap()
}

async fn query(text: &str) -> Result<RecordBatch> {
    let frame = context().sql(text).await?;
    let schema = Arc::clone(frame.schema().inner());
    let batches = frame.collect().await?;
    Ok(concat_batches(&schema, &batches)?)
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// 10,000 rows in chunks of 100: `id` is the row's number, `half` is half of it, and `name` is its text.
fn table(folder: &TempDir) -> String {
    let at = path(folder, "table");
    let mut table = CTable::builder()
        .column("id", CArray::of::<i64>())
        .column("half", CArray::of::<f64>())
        .column("name", CArray::builder(DType::parse("<U8").unwrap()))
        .chunk_rows(100)
        .create(&at)
        .unwrap();
    let ids: Vec<u8> = (0..10_000i64).flat_map(i64::to_le_bytes).collect();
    let halves: Vec<u8> = (0..10_000)
        .flat_map(|id| (f64::from(id) / 2.0).to_le_bytes())
        .collect();
    let names: Vec<u8> = (0..10_000)
        .flat_map(|id| {
            format!("{id:\0<8}")
                .chars()
                .flat_map(|c| u32::from(c).to_le_bytes())
                .collect::<Vec<_>>()
        })
        .collect();
    table.append(&[&ids, &halves, &names]).unwrap();
    table.flush().unwrap();
    at
}

async fn run(text: &str) -> (Arc<dyn ExecutionPlan>, usize) {
    let context = context();
    let plan = context
        .sql(text)
        .await
        .unwrap()
        .create_physical_plan()
        .await
        .unwrap();
    let batches = collect(Arc::clone(&plan), context.task_ctx())
        .await
        .unwrap();
    (plan, batches.iter().map(RecordBatch::num_rows).sum())
}

#[tokio::test]
async fn a_table_has_its_columns() {
    let folder = TempDir::new().unwrap();
    let at = table(&folder);
    let all = query(&format!(
        "SELECT * FROM '{at}' WHERE id % 1000 = 7 ORDER BY id"
    ))
    .await
    .unwrap();
    let types: Vec<_> = all
        .schema()
        .fields()
        .iter()
        .map(|field| field.data_type().clone())
        .collect();
    assert_eq!(
        types,
        [DataType::Int64, DataType::Float64, DataType::Utf8View]
    );
    let ids: Vec<_> = all.column(0).as_primitive::<Int64Type>().values().to_vec();
    assert_eq!(
        ids,
        (0..10)
            .map(|thousand| thousand * 1000 + 7)
            .collect::<Vec<_>>()
    );
    assert_eq!(all.column(1).as_primitive::<Float64Type>().value(3), 1503.5);
    assert_eq!(all.column(2).as_string_view().value(9), "9007");
    let external = context();
    let create = format!("CREATE EXTERNAL TABLE t STORED AS BCOLZ LOCATION '{at}'");
    external
        .sql(&create)
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();
    let counted = external
        .sql("SELECT count(*) FROM t WHERE name LIKE '99%'")
        .await
        .unwrap();
    let counted = counted.collect().await.unwrap();
    assert_eq!(
        counted[0].column(0).as_primitive::<Int64Type>().value(0),
        111
    );
}

#[tokio::test]
async fn no_more_is_read_than_is_needed() {
    let folder = TempDir::new().unwrap();
    let at = table(&folder);
    let (plan, _) = run(&format!("SELECT count(*) FROM '{at}'")).await;
    assert_eq!(metric(&plan, "rows_read"), 0);
    assert!(
        !displayable(&*plan)
            .indent(false)
            .to_string()
            .contains("bloscpack=")
    );

    // The query works without the files of `half`.
    for file in fs::read_dir(Path::new(&at).join("half/data")).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let (_, rows) = run(&format!("SELECT id FROM '{at}' WHERE name = '17'")).await;
    assert_eq!(rows, 1);
    // Nor are they read if no row is left.
    let (_, rows) = run(&format!("SELECT half FROM '{at}' WHERE id < 0")).await;
    assert_eq!(rows, 0);
    let (plan, rows) = run(&format!("SELECT id FROM '{at}' LIMIT 5")).await;
    assert_eq!(rows, 5);
    assert!(
        metric(&plan, "rows_read") <= 10,
        "{}",
        metric(&plan, "rows_read")
    );
}

#[tokio::test]
async fn a_store_of_python_blosc2_is_a_table() {
    let at = testkit::testdata("stores/table.b2z");
    let at = at.display();
    let chosen = format!("SELECT s, n, l FROM '{at}' WHERE k = 'a' ORDER BY n DESC");
    let rows = query(&chosen).await.unwrap();
    let text = |row: usize| rows.column(0).as_string_view().value(row).to_owned();
    let number = |row: usize| rows.column(1).as_primitive::<Int64Type>().value(row);
    assert_eq!(
        (rows.num_rows(), text(0), text(1)),
        (2, String::new(), "one".to_owned())
    );
    assert_eq!((number(0), number(1)), (4, 1));
    let list = rows.column(2).as_list::<i32>().value(0);
    assert_eq!(list.as_primitive::<Int64Type>().values(), &[1, 2, 3]);

    let counts = format!("SELECT count(*), count(n) FROM '{at}'");
    let counted = query(&counts).await.unwrap();
    let count = |column: usize| counted.column(column).as_primitive::<Int64Type>().value(0);
    assert_eq!((count(0), count(1)), (3, 2));
}

#[tokio::test]
async fn an_array_is_a_column_or_its_fields() {
    let at = testkit::testdata("datasets/bcolz/py2_int64");
    let extremes = format!(
        "SELECT min(value), max(value), count(*) FROM '{}'",
        at.display()
    );
    let values = query(&extremes).await.unwrap();
    let array = CArray::open(&at).unwrap();
    let expected = array.to_vec::<i64>(0..array.rows()).unwrap();
    let found = |column: usize| values.column(column).as_primitive::<Int64Type>().value(0);
    assert_eq!(found(0), *expected.iter().min().unwrap());
    assert_eq!(found(1), *expected.iter().max().unwrap());
    assert_eq!(found(2), i64::try_from(expected.len()).unwrap());

    let folder = TempDir::new().unwrap();
    let at = path(&folder, "pairs");
    let dtype = DType::parse("[('a', '>i4'), ('b', 'S3'), ('t', '<M8[s]')]").unwrap();
    let mut array = CArray::builder(dtype).create(&at).unwrap();
    let mut bytes = Vec::new();
    for (a, b, t) in [(1i32, b"x\0\0", 0i64), (-2, b"abc", i64::MIN)] {
        bytes.extend(a.to_be_bytes());
        bytes.extend(b);
        bytes.extend(t.to_le_bytes());
    }
    array.append(&bytes).unwrap();
    array.flush().unwrap();
    let rows = query(&format!("SELECT t, b FROM '{at}' ORDER BY a"))
        .await
        .unwrap();
    assert_eq!(
        *rows.column(0).data_type(),
        DataType::Timestamp(TimeUnit::Second, None)
    );
    assert!(rows.column(0).is_null(0) && rows.column(0).is_valid(1));
    assert_eq!(
        rows.column(1)
            .as_string_view()
            .iter()
            .flatten()
            .collect::<Vec<_>>(),
        ["abc", "x"]
    );
}

#[tokio::test]
async fn a_grid_has_coordinates() {
    let folder = TempDir::new().unwrap();
    let at = path(&folder, "grid.b2nd");
    let shape = [7u64, 11, 5];
    let mut array = NdArray::of_type::<i64>(&shape)
        .chunk_shape(&[3, 4, 5])
        .create(&at)
        .unwrap();
    let values: Vec<i64> = (0..7 * 11 * 5).collect();
    array.write(&[0..7, 0..11, 0..5], &values).unwrap();
    array.flush().unwrap();
    let wrong =
        format!("SELECT count(*) FROM '{at}' WHERE value <> axis_0 * 55 + axis_1 * 5 + axis_2");
    assert_eq!(
        query(&wrong)
            .await
            .unwrap()
            .column(0)
            .as_primitive::<Int64Type>()
            .value(0),
        0
    );
    let all = query(&format!("SELECT count(*), sum(value) FROM '{at}'"))
        .await
        .unwrap();
    assert_eq!(all.column(0).as_primitive::<Int64Type>().value(0), 385);
    assert_eq!(
        all.column(1).as_primitive::<Int64Type>().value(0),
        values.iter().sum::<i64>()
    );

    // A condition on a coordinate keeps only the chunks that contain it. Here one of the 3 x 4 x 5 chunks is in the middle.
    let text = format!("SELECT value FROM '{at}' WHERE axis_1 BETWEEN 5 AND 6 AND axis_0 = 4");
    let (plan, rows) = run(&text).await;
    assert_eq!(rows, 10);
    assert_eq!(
        metric(&plan, "rows_skipped"),
        385 - 60,
        "{}",
        displayable(&*plan).indent(false)
    );
}

#[tokio::test]
async fn a_long_axis_takes_no_memory() {
    let folder = TempDir::new().unwrap();
    let at = path(&folder, "long.b2nd");
    let shape = [1u64 << 40, 3];
    let array = NdArray::of_type::<i64>(&shape).chunk_shape(&[1 << 26, 3]);
    array.create(&at).unwrap().flush().unwrap();
    let text = format!("SELECT axis_1 FROM '{at}' WHERE axis_0 = 123456789012 AND value = 0");
    let plan = context()
        .sql(&text)
        .await
        .unwrap()
        .create_physical_plan()
        .await
        .unwrap();
    assert_eq!(*plan.schema().field(0).data_type(), dictionary());
    let count = format!("SELECT count(*) FROM '{at}'");
    let count = query(&count).await.unwrap();
    assert_eq!(
        count.column(0).as_primitive::<Int64Type>().value(0),
        3 << 40
    );
}

fn dictionary() -> DataType {
    DataType::Dictionary(DataType::Int32.into(), DataType::Int64.into())
}

#[tokio::test]
async fn records_are_text_or_have_keys() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, records: &[&str]| {
        let at = path(&folder, name);
        let mut writer = RecordWriter::builder()
            .packed(1 << 16)
            .write_to(File::create(&at).unwrap())
            .unwrap();
        for record in records {
            writer.push(record.as_bytes()).unwrap();
        }
        writer.finish().unwrap().flush().unwrap();
        at
    };
    let lines = write("lines.blp", &["one", "zwölf", ""]);
    let text = query(&format!(
        "SELECT value FROM '{lines}' WHERE value <> 'one' ORDER BY value"
    ))
    .await
    .unwrap();
    assert_eq!(
        text.column(0)
            .as_string_view()
            .iter()
            .flatten()
            .collect::<Vec<_>>(),
        ["", "zwölf"]
    );
    let objects = write(
        "objects.blp",
        &[
            r#"{"id": 1, "tag": "a"}"#,
            r#"{"id": 2}"#,
            r#"{"tag": "b", "id": 3}"#,
        ],
    );
    let found = query(&format!(
        "SELECT id FROM '{objects}' WHERE tag IS NOT NULL ORDER BY id DESC"
    ))
    .await
    .unwrap();
    assert_eq!(
        found.column(0).as_primitive::<Int64Type>().values(),
        &[3, 1]
    );
}

#[tokio::test]
async fn errors_say_where() {
    let folder = TempDir::new().unwrap();
    let at = table(&folder);
    let chunk = Path::new(&at).join("half/data/__17.blp");
    let mut bytes = fs::read(&chunk).unwrap();
    let middle = bytes.len() - 20;
    bytes[middle..].fill(0xff);
    File::create(&chunk).unwrap().write_all(&bytes).unwrap();
    let failed = query(&format!("SELECT sum(half) FROM '{at}'"))
        .await
        .unwrap_err();
    let DataFusionError::External(error) = failed.find_root() else {
        panic!("{failed}")
    };
    let error = error.downcast_ref::<bloscpack::Error>().unwrap();
    assert_eq!(error.category(), bloscpack::Category::Damaged);
    assert!(error.to_string().contains("half/data/__17.blp"), "{error}");
    // The other columns are sound.
    query(&format!("SELECT sum(id) FROM '{at}'")).await.unwrap();

    fs::remove_file(Path::new(&at).join("id/data/__5.blp")).unwrap();
    let failed = query(&format!("SELECT sum(id) FROM '{at}'"))
        .await
        .unwrap_err()
        .to_string();
    assert!(failed.contains("id/data/__5.blp"), "{failed}");

    let failed = query(&format!("SELECT nothing FROM '{at}'"))
        .await
        .unwrap_err()
        .to_string();
    assert!(failed.contains("nothing"), "{failed}");
    let failed = query("SELECT * FROM './nowhere/at/all'")
        .await
        .unwrap_err()
        .to_string();
    assert!(failed.contains("nowhere/at/all"), "{failed}");

    let at = path(&folder, "bytes");
    let mut array = CArray::builder(DType::parse("S2").unwrap())
        .create(&at)
        .unwrap();
    array.append(b"\xff\xfe").unwrap();
    array.flush().unwrap();
    let failed = query(&format!("SELECT * FROM '{at}'"))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        failed.contains("value") && failed.contains("UTF-8"),
        "{failed}"
    );
}

#[tokio::test]
async fn tables_without_rows_or_columns_have_answers() {
    let folder = TempDir::new().unwrap();
    let at = path(&folder, "none");
    CTable::builder()
        .column("x", CArray::of::<i32>())
        .create(&at)
        .unwrap()
        .flush()
        .unwrap();
    let none = query(&format!("SELECT count(*), max(x) FROM '{at}' WHERE x > 0"))
        .await
        .unwrap();
    assert_eq!(none.column(0).as_primitive::<Int64Type>().value(0), 0);
    assert!(none.column(1).is_null(0));
}

/// The name, the shape and the names of the axes of an array in a group.
type Member<'a> = (&'a str, &'a [u64], Option<[&'a str; 2]>);

#[tokio::test]
async fn zarr_arrays_and_groups_are_tables() {
    let folder = TempDir::new().unwrap();
    let make = |name: &str, members: &[Member<'_>]| {
        let at = path(&folder, name);
        fs::create_dir(&at).unwrap();
        let store = Arc::new(DiskStore::open(&at).unwrap());
        let mut files = Vec::new();
        for (member, shape, axes) in members {
            let len: u64 = shape.iter().product();
            let elements: Vec<u8> = (0..len).flat_map(|n| (n as f64).to_le_bytes()).collect();
            let array = Flat::new(elements, DType::F64, shape, false).unwrap();
            let mut conversion = Conversion::of(array, Format::V3).unwrap();
            conversion.new.chunk_shape = shape.iter().map(|len| len.div_ceil(2)).collect();
            conversion.new.dimension_names = axes.map(|axes| axes.map(str::to_owned).to_vec());
            let key = Key::parse(member).unwrap();
            let written = conversion.write(store.clone(), key, 1, &mut |_| Ok(()));
            files.push(written.unwrap().0);
        }
        if members.len() > 1 {
            create_group(&*store, Format::V3, "{}", &files, &Default::default()).unwrap();
        }
        at
    };
    let group = make("group.zarr", &[("a", &[10], None), ("b", &[10], None)]);
    let found = query(&format!("SELECT sum(a + b) AS s FROM '{group}'")).await;
    let sums = found.unwrap();
    assert_eq!(
        sums.column(0).as_primitive::<Float64Type>().values(),
        &[90.0]
    );

    let grid = make("grid.zarr", &[("", &[4, 6], Some(["lat", "lon"]))]);
    let text = format!("SELECT sum(value) AS s FROM '{grid}' WHERE lon >= 3 AND lat = 2");
    let sums = query(&text).await.unwrap();
    assert_eq!(
        sums.column(0).as_primitive::<Float64Type>().values(),
        &[48.0]
    );
    // Without names, the axes are numbered.
    let grid = make("plain.zarr", &[("", &[4, 6], None)]);
    let text = format!("SELECT sum(value) AS s FROM '{grid}' WHERE axis_1 >= 3 AND axis_0 = 2");
    let sums = query(&text).await.unwrap();
    assert_eq!(
        sums.column(0).as_primitive::<Float64Type>().values(),
        &[48.0]
    );
}
