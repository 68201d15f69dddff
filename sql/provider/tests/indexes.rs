//! Statistics skip rows and never change an answer.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use bloscpack::dtype::DType;
use bloscpack_open::datasets::{CArray, CTable};
use common::metric;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::physical_plan::collect;
use datafusion::prelude::SessionConfig;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const ROWS: i64 = 3000;
const CHUNK: u64 = 100;

/// The elements of a column with `ROWS` rows; `of` returns the bytes of one element.
fn bytes<const N: usize>(of: impl Fn(i64) -> [u8; N]) -> Vec<u8> {
    (0..ROWS).flat_map(of).collect()
}

fn text(row: i64) -> [u8; 6] {
    let mut element = [0; 6];
    let text = format!("{:05}", row * 7 % 1000);
    element[..5].copy_from_slice(text.as_bytes());
    element
}

/// Sorted, scattered and special values of several types; each column has an index.
fn table(at: &Path, shift: i64) {
    let column = |dtype: &str| CArray::builder(DType::parse(dtype).unwrap());
    let mut table = CTable::builder()
        .column("sorted", column("<i8"))
        .column("big", column(">f8"))
        .column("time", column("<M8[s]"))
        .column("name", column("S6"))
        .chunk_rows(CHUNK)
        .create(at)
        .unwrap();
    let float = |row: i64| match row % 97 {
        0 => f64::NAN,
        1 => -0.0,
        2 => 0.0,
        3 => f64::NEG_INFINITY,
        _ => f64::from(i32::try_from((row + shift) / 10).unwrap()),
    };
    let time = |row: i64| {
        if row % 50 == 7 {
            i64::MIN
        } else {
            row / 3 + shift
        }
    };
    table
        .append(&[
            &bytes(|row| (row + shift).to_le_bytes()),
            &bytes(|row| float(row).to_be_bytes()),
            &bytes(|row| time(row).to_le_bytes()),
            &bytes(text),
        ])
        .unwrap();
    table.flush().unwrap();
    for name in ["sorted", "big", "time", "name"] {
        table.update_index(name, |_| Ok(())).unwrap();
    }
    table.flush().unwrap();
}

fn index(at: &Path, column: &str) -> PathBuf {
    at.join(column).join("meta/index")
}

/// The answer as text, and the number of skipped rows.
async fn answer(at: &Path, condition: &str) -> (String, usize) {
    let context =
        bloscpack_datafusion::context(SessionConfig::new().with_target_partitions(2)).unwrap();
    let at = at.to_str().unwrap();
    let query = format!("SELECT * FROM '{at}' WHERE {condition} ORDER BY sorted");
    let plan = context
        .sql(&query)
        .await
        .unwrap()
        .create_physical_plan()
        .await
        .unwrap();
    let batches: Vec<RecordBatch> = collect(Arc::clone(&plan), context.task_ctx())
        .await
        .unwrap();
    let skipped = metric(&plan, "rows_skipped");
    (
        pretty_format_batches(&batches).unwrap().to_string(),
        skipped,
    )
}

const CONDITIONS: [&str; 24] = [
    "sorted = 1234",
    "sorted < 17 OR sorted > 2990",
    "sorted BETWEEN 500 AND 510 AND name = '00500'",
    "sorted IN (3, 2999, 5000)",
    "NOT (sorted > 5)",
    "big > 290",
    "big = cast('NaN' AS double)",
    "big < -1",
    "big <= 0.0",
    "big >= 0.0 AND big < 1",
    "big = 0.0",
    "big = -0.0",
    "big <> 5",
    "NOT (big < 290)",
    "big IS NULL",
    "time IS NULL AND sorted < 200",
    "time IS NOT NULL AND sorted > 2950",
    "time < timestamp '1970-01-01 00:00:10'",
    "time >= timestamp '1970-01-01 00:16:00'",
    "NOT (time > timestamp '1970-01-01 00:00:20')",
    "name LIKE '0000%'",
    "name > '00998'",
    "name = ''",
    "sorted + 1 = 18",
];

#[tokio::test]
async fn an_index_changes_no_answer() {
    let folder = TempDir::new().unwrap();
    let (with, without) = (folder.path().join("with"), folder.path().join("without"));
    table(&with, 0);
    table(&without, 0);
    for name in ["sorted", "big", "time", "name"] {
        fs::remove_file(index(&without, name)).unwrap();
    }
    for condition in CONDITIONS {
        let (expected, none) = answer(&without, condition).await;
        let (found, _) = answer(&with, condition).await;
        assert_eq!(found, expected, "{condition}");
        assert_eq!(none, 0);
    }
    // All chunks except the one with the value.
    assert_eq!(answer(&with, "sorted = 1234").await.1, 2900);
    assert_eq!(
        answer(&with, "big > 290").await.1,
        0,
        "each chunk has a NaN, which is greater"
    );
    assert_eq!(
        answer(&with, "time >= timestamp '1970-01-01 00:16:00'")
            .await
            .1,
        2800
    );
}

#[tokio::test]
async fn the_first_rows_in_an_order_leave_out_the_rest() {
    let folder = TempDir::new().unwrap();
    let at = folder.path().join("table");
    table(&at, 0);
    let context =
        bloscpack_datafusion::context(SessionConfig::new().with_target_partitions(1)).unwrap();
    let query = format!(
        "SELECT sorted FROM '{}' ORDER BY sorted LIMIT 3",
        at.display()
    );
    let plan = context
        .sql(&query)
        .await
        .unwrap()
        .create_physical_plan()
        .await
        .unwrap();
    let batches = collect(Arc::clone(&plan), context.task_ctx())
        .await
        .unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);
    let text = pretty_format_batches(&batches).unwrap().to_string();
    assert!(
        ["| 0 ", "| 1 ", "| 2 "]
            .iter()
            .all(|row| text.contains(row)),
        "{text}"
    );
}

/// Compares the answer with the expected one, for each of these contents of the index of `sorted`.
async fn check_lies(at: &Path, lies: impl IntoIterator<Item = Vec<u8>>) {
    let condition = "sorted IN (1234, 2999)";
    let file = index(at, "sorted");
    let truth = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let (expected, _) = answer(at, condition).await;
    assert!(expected.contains("1234") && expected.contains("2999"));
    for (number, lie) in lies.into_iter().enumerate() {
        fs::write(&file, &lie).unwrap();
        let (found, _) = answer(at, condition).await;
        assert_eq!(found, expected, "lie {number}");
    }
    fs::write(&file, truth).unwrap();
}

#[tokio::test]
async fn damaged_indexes_are_not_believed() {
    let folder = TempDir::new().unwrap();
    let at = folder.path().join("table");
    table(&at, 0);
    let truth = fs::read(index(&at, "sorted")).unwrap();
    let flipped = (0..truth.len()).map(|byte| {
        let mut lie = truth.clone();
        lie[byte] ^= 1 << (byte % 8);
        lie
    });
    let cut = (0..truth.len()).step_by(7).map(|len| truth[..len].to_vec());
    check_lies(&at, flipped.chain(cut)).await;
}

#[tokio::test]
async fn indexes_of_something_else_are_not_believed() {
    let folder = TempDir::new().unwrap();
    let (at, other) = (folder.path().join("table"), folder.path().join("other"));
    table(&at, 0);
    table(&other, 1_000_000);
    let of = |at: &Path, column| fs::read(index(at, column)).unwrap();
    let lies = ["sorted", "big", "time", "name"].map(|column| of(&other, column));
    let columns = ["big", "time", "name"].map(|column| of(&at, column));
    check_lies(&at, lies.into_iter().chain(columns)).await;
}

#[tokio::test]
async fn data_that_another_program_changed_is_read() {
    let folder = TempDir::new().unwrap();
    let (at, other) = (folder.path().join("table"), folder.path().join("other"));
    table(&at, 0);
    table(&other, 1_000_000);
    // A chunk of the other table, whose numbers are far from the ones in the index.
    let chunk = |at: &Path| at.join("sorted/data/__12.blp");
    fs::copy(chunk(&other), chunk(&at)).unwrap();
    let (found, skipped) = answer(&at, "sorted = 1001234").await;
    assert!(found.contains("1001234"), "{found}");
    assert_eq!(skipped, 2900, "the other chunks are as the index has them");
}

#[tokio::test]
async fn rows_that_are_only_claimed_take_no_memory() {
    let folder = TempDir::new().unwrap();
    let at = folder.path().join("table");
    table(&at, 0);
    for name in ["sorted", "big", "time", "name"] {
        let sizes = at.join(name).join("meta/sizes");
        let text = fs::read_to_string(&sizes).unwrap();
        let claimed = text.replace("[3000]", "[1000000000000000]");
        assert_ne!(text, claimed);
        fs::write(&sizes, claimed).unwrap();
    }
    let context = bloscpack_datafusion::context(SessionConfig::new()).unwrap();
    let query = format!("SELECT * FROM '{}' WHERE sorted = 17", at.display());
    let failed = match context.sql(&query).await {
        Ok(frame) => frame.collect().await.unwrap_err(),
        Err(error) => error,
    };
    assert!(failed.to_string().contains("sorted"), "{failed}");
}

/// NaN is null if the dataset or the options say so. The expected answers are DuckDB's, for the same CSV with empty cells.
/// They must be equal with and without an index, in whose statistics NaN is an ordinary value.
#[tokio::test]
async fn nan_that_stands_for_missing_values_is_null() {
    use bloscpack_datafusion::{TableOptions, context_with};

    let folder = TempDir::new().unwrap();
    let float = |row: i64| match row {
        0..1000 if row % 3 == 0 => f64::NAN,
        1000..1500 => f64::NAN,
        _ => row as f64,
    };
    for (noted, indexed) in [(true, false), (true, true), (false, false), (false, true)] {
        let at = folder.path().join(format!("{noted}-{indexed}"));
        let mut table = CTable::builder()
            .column("sorted", CArray::of::<i64>())
            .column("y", CArray::of::<f64>())
            .chunk_rows(CHUNK)
            .create(&at)
            .unwrap();
        let floats = bytes(|row| float(row).to_le_bytes());
        table.append(&[&bytes(i64::to_le_bytes), &floats]).unwrap();
        if noted {
            table.set_has_missing("y").unwrap();
        }
        table.flush().unwrap();
        if indexed {
            table.update_index("y", |_| Ok(())).unwrap();
            table.flush().unwrap();
        }
        let options = if noted {
            TableOptions::new()
        } else {
            TableOptions::new().nan_as_null()
        };
        let config = SessionConfig::new().with_target_partitions(2);
        let context = context_with(config, Arc::default(), &options).unwrap();
        let at = at.to_str().unwrap();
        for (what, answer) in [
            (
                "count(*), count(y), min(y), max(y), avg(y) FROM 't'",
                "3000 | 2166  | 1.0    | 2999.0 | 1711.4113573407203",
            ),
            ("count(*) FROM 't' WHERE y > 2899", "100"),
            ("count(*) FROM 't' WHERE y > 899 AND y < 2000", "566"),
            ("count(*) FROM 't' WHERE y IS NULL", "834"),
            (
                "count(*) FROM 't' WHERE y IS NOT NULL AND sorted < 1500",
                "666",
            ),
            ("count(*) FROM 't' WHERE NOT y > 100", "67"),
            ("count(*) FROM 't' WHERE isnan(y)", "0"),
        ] {
            let query = format!("SELECT {what}").replace("'t'", &format!("'{at}'"));
            let found = context.sql(&query).await.unwrap().collect().await.unwrap();
            let found = pretty_format_batches(&found).unwrap().to_string();
            let row = found.lines().nth(3).unwrap();
            let cells = |text: &str| {
                let cells = text
                    .split('|')
                    .map(str::trim)
                    .filter(|cell| !cell.is_empty());
                cells.map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(cells(row), cells(answer), "{what}, {noted}, {indexed}");
        }
    }
}

/// Chunks of zeros of either sign, of NaNs of either sign, and of numbers. In the column of integers, every second chunk
/// contains the least integer.
fn edges(at: &Path) {
    let column = |dtype: &str| CArray::builder(DType::parse(dtype).unwrap());
    let mut table = CTable::builder()
        .column("row", column("<i8"))
        .column("x", column("<f8"))
        .column("i", column("<i8"))
        .chunk_rows(CHUNK)
        .create(at)
        .unwrap();
    let chunk = |row: i64| row / i64::try_from(CHUNK).unwrap();
    let float = |row: i64| match chunk(row) % 4 {
        0 => 0.0,
        1 => -0.0,
        2 if row % 2 == 0 => f64::NAN,
        2 => -f64::NAN,
        _ => f64::from(i32::try_from(chunk(row)).unwrap()),
    };
    let integer = |row: i64| if chunk(row) % 2 == 0 { i64::MIN } else { row };
    table
        .append(&[
            &bytes(|row| row.to_le_bytes()),
            &bytes(|row| float(row).to_le_bytes()),
            &bytes(|row| integer(row).to_le_bytes()),
        ])
        .unwrap();
    table.flush().unwrap();
    for name in ["row", "x", "i"] {
        table.update_index(name, |_| Ok(())).unwrap();
    }
    table.flush().unwrap();
}

/// The result of a query that returns one number, or the error.
async fn number(at: &Path, partitions: usize, query: &str) -> Result<i64, String> {
    let config = SessionConfig::new().with_target_partitions(partitions);
    let context = bloscpack_datafusion::context(config).unwrap();
    let query = query.replace("edges", &format!("'{}'", at.display()));
    let frame = context
        .sql(&query)
        .await
        .map_err(|error| error.to_string())?;
    let batches = frame.collect().await.map_err(|error| error.to_string())?;
    let text = pretty_format_batches(&batches).unwrap().to_string();
    let value = text.lines().nth(3).unwrap().trim_matches(['|', ' ']);
    Ok(value.parse().unwrap_or_else(|_| panic!("{query}: {text}")))
}

/// DuckDB's answers.
const EDGES: [(&str, i64); 22] = [
    ("SELECT count(*) FROM edges WHERE x = 0.0", 1600),
    ("SELECT count(*) FROM edges WHERE x IN (-0.0, 50)", 1600),
    (
        "SELECT count(*) FROM edges WHERE x IN (-0.0, 50, 51, 52, 53, 54)",
        1600,
    ),
    ("SELECT count(*) FROM edges WHERE x NOT IN (-0.0, 7)", 1300),
    (
        "SELECT count(*) FROM edges WHERE x NOT IN (-0.0, 7, 8, 9, 10, 11)",
        1200,
    ),
    ("SELECT count(*) FROM edges WHERE x < -0.0", 0),
    ("SELECT count(*) FROM edges WHERE x > 1e300", 700),
    ("SELECT count(*) FROM edges WHERE x <= 0", 1600),
    ("SELECT count(*) FROM edges WHERE -x > 0", 700),
    (
        "SELECT count(*) FROM edges WHERE x = -cast('NaN' AS double)",
        700,
    ),
    ("SELECT count(*) FROM edges WHERE 1 / x < 0", 800),
    (
        "SELECT count(*) FROM edges WHERE x IN (SELECT x FROM edges WHERE row < 100)",
        1600,
    ),
    (
        "SELECT count(*) FROM edges a JOIN edges b ON a.x = b.x WHERE b.row IN (0, 100, 200, 201)",
        4600,
    ),
    (
        "SELECT count(*) FROM edges b JOIN edges a ON a.x = b.x WHERE b.row IN (0, 100, 200, 201)",
        4600,
    ),
    (
        "SELECT count(*) FROM edges a RIGHT JOIN (SELECT * FROM edges WHERE row < 300) b ON a.x IS NOT DISTINCT FROM b.x \
         WHERE a.row > 100",
        369800,
    ),
    (
        "SELECT count(*) FROM edges a LEFT JOIN (SELECT * FROM edges WHERE row < 300) b ON a.x = b.x WHERE -b.x > 1",
        70000,
    ),
    (
        "SELECT count(*) FROM edges a LEFT JOIN (SELECT * FROM edges WHERE row < 300) b ON a.x = b.x WHERE b.i IS NULL",
        700,
    ),
    (
        "SELECT count(*) FROM edges WHERE row < 150 OR x NOT IN (SELECT x FROM edges WHERE row < 300 AND i < 0)",
        850,
    ),
    ("SELECT count(DISTINCT x) FROM edges", 9),
    (
        "SELECT count(*) FROM (SELECT x, max(row) FROM edges GROUP BY x) AS groups",
        9,
    ),
    (
        "SELECT count(*) FROM (SELECT max(x) AS most FROM edges GROUP BY row % 7) AS groups WHERE most > 1e300",
        7,
    ),
    (
        "SELECT sum(row) FROM (SELECT row FROM edges ORDER BY x DESC, row LIMIT 2) AS first",
        401,
    ),
];

#[tokio::test]
async fn zeros_and_nan_have_one_meaning() {
    let folder = TempDir::new().unwrap();
    let (with, without) = (folder.path().join("with"), folder.path().join("without"));
    for at in [&with, &without] {
        edges(at);
    }
    for name in ["row", "x", "i"] {
        fs::remove_file(index(&without, name)).unwrap();
    }
    for (query, expected) in EDGES {
        for at in [&with, &without] {
            for partitions in [1, 2] {
                // A join's filters arrive at varying times.
                for _ in 0..5 {
                    assert_eq!(number(at, partitions, query).await, Ok(expected), "{query}");
                }
            }
        }
    }
}

#[tokio::test]
async fn integers_that_overflow_are_an_error() {
    let folder = TempDir::new().unwrap();
    let (with, without) = (folder.path().join("with"), folder.path().join("without"));
    for at in [&with, &without] {
        edges(at);
    }
    for name in ["row", "x", "i"] {
        fs::remove_file(index(&without, name)).unwrap();
    }
    let queries = [
        "SELECT count(*) FROM edges WHERE -i < 0",
        "SELECT count(*) FROM edges WHERE i - 1 < 0",
        "SELECT count(*) FROM edges WHERE i + i > 0",
        "SELECT count(*) FROM edges WHERE i * 2 > 0",
        "SELECT count(*) FROM edges WHERE abs(i) > 0",
        "SELECT sum(i) FROM edges",
        "SELECT max(total) FROM (SELECT sum(i) AS total FROM edges GROUP BY x) AS groups",
        "SELECT max(total) FROM (SELECT sum(i) OVER (ORDER BY row) AS total FROM edges) AS windows",
    ];
    for query in queries {
        for at in [&with, &without] {
            let failed = number(at, 2, query).await.unwrap_err();
            let is_named = ["verflow", "out of range", "too large"]
                .iter()
                .any(|word| failed.contains(word));
            assert!(is_named, "{query}: {failed}");
        }
    }
    // Only rows that satisfy the other conditions can overflow, with or without an index.
    for at in [&with, &without] {
        let query = "SELECT count(*) FROM edges WHERE -i < 0 AND row >= 100 AND row < 200";
        assert_eq!(number(at, 2, query).await, Ok(100));
    }
}
