//! Compares answers.

use crate::{Result, TABLES};
use bloscpack_datafusion::TableOptions;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use std::path::Path;
use std::time::Instant;

/// The 22 queries, by their numbers.
pub const QUERIES: [&str; 22] = [
    include_str!("../queries/q01.sql"),
    include_str!("../queries/q02.sql"),
    include_str!("../queries/q03.sql"),
    include_str!("../queries/q04.sql"),
    include_str!("../queries/q05.sql"),
    include_str!("../queries/q06.sql"),
    include_str!("../queries/q07.sql"),
    include_str!("../queries/q08.sql"),
    include_str!("../queries/q09.sql"),
    include_str!("../queries/q10.sql"),
    include_str!("../queries/q11.sql"),
    include_str!("../queries/q12.sql"),
    include_str!("../queries/q13.sql"),
    include_str!("../queries/q14.sql"),
    include_str!("../queries/q15.sql"),
    include_str!("../queries/q16.sql"),
    include_str!("../queries/q17.sql"),
    include_str!("../queries/q18.sql"),
    include_str!("../queries/q19.sql"),
    include_str!("../queries/q20.sql"),
    include_str!("../queries/q21.sql"),
    include_str!("../queries/q22.sql"),
];

/// A session over the ctables.
pub async fn ctables(dir: &Path, threads: usize) -> Result<SessionContext> {
    let config = SessionConfig::new().with_target_partitions(threads);
    with_tables(bloscpack_datafusion::context(config)?, dir).await
}

/// A session of a cluster over the ctables.
pub async fn cluster(url: &str, dir: &Path) -> Result<SessionContext> {
    let context = blpk_cluster::connect(url, None, &TableOptions::new()).await?;
    with_tables(context, dir).await
}

async fn with_tables(context: SessionContext, dir: &Path) -> Result<SessionContext> {
    for name in TABLES {
        let path = dir.join(name);
        let path = path.to_str().ok_or("the path is not text")?;
        let create = format!("CREATE EXTERNAL TABLE {name} STORED AS BCOLZ LOCATION '{path}'");
        context.sql(&create).await?.collect().await?;
    }
    Ok(context)
}

/// A session over the Parquet files with this compression.
pub async fn parquet(dir: &Path, compression: &str, threads: usize) -> Result<SessionContext> {
    let mut config = SessionConfig::new().with_target_partitions(threads);
    // This engine reads Parquet fastest with this setting.
    config.options_mut().execution.parquet.pushdown_filters = false;
    let context = SessionContext::new_with_config(config);
    for name in TABLES {
        let path = dir.join(format!("{name}.{compression}.parquet"));
        let path = path.to_str().ok_or("the path is not text")?.to_owned();
        context
            .register_parquet(name, path, ParquetReadOptions::default())
            .await?;
    }
    Ok(context)
}

/// Runs all queries over both formats and fails if an answer differs. With `url`, a cluster reads the ctables.
pub async fn check(dir: &Path, url: Option<&str>) -> Result<()> {
    let ours = match url {
        Some(url) => cluster(url, dir).await?,
        None => ctables(dir, 2).await?,
    };
    let theirs = parquet(dir, "snappy", 2).await?;
    let mut wrong = 0;
    for (number, query) in (1..).zip(QUERIES) {
        let expected = theirs.sql(query).await?.collect().await?;
        let begun = Instant::now();
        let found = ours.sql(query).await?.collect().await?;
        let took = begun.elapsed();
        let rows: usize = expected.iter().map(RecordBatch::num_rows).sum();
        match difference(&expected, &found)? {
            None => println!("q{number:02}: {rows} rows, equal, {took:.2?}"),
            Some(why) => {
                println!("q{number:02}: {why}");
                wrong += 1;
            }
        }
    }
    match wrong {
        0 => Ok(()),
        _ => Err(format!("{wrong} of {} answers differ", QUERIES.len()).into()),
    }
}

/// The first difference between two answers, if any.
fn difference(expected: &[RecordBatch], found: &[RecordBatch]) -> Result<Option<String>> {
    let (expected, found) = (values(expected)?, values(found)?);
    if expected.len() != found.len() {
        return Ok(Some(format!("{} rows of {}", found.len(), expected.len())));
    }
    let rows = expected.iter().zip(&found).enumerate();
    let mut different = rows.filter(|(_, (expected, found))| {
        expected.len() != found.len() || !expected.iter().zip(*found).all(|(a, b)| is_same(a, b))
    });
    let first = different.next();
    Ok(first
        .map(|(row, (expected, found))| format!("row {row}: {found:?} instead of {expected:?}")))
}

/// The rows of an answer.
fn values(batches: &[RecordBatch]) -> Result<Vec<Vec<ScalarValue>>> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let values = batch
                .columns()
                .iter()
                .map(|array| ScalarValue::try_from_array(array, row));
            rows.push(values.collect::<datafusion::common::Result<Vec<_>>>()?);
        }
    }
    Ok(rows)
}

/// Whether two values are equal. Sums of floats may differ slightly, because threads add them in any order.
fn is_same(a: &ScalarValue, b: &ScalarValue) -> bool {
    match (a, b) {
        (ScalarValue::Float64(Some(a)), ScalarValue::Float64(Some(b))) => {
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
        }
        _ => a == b || a.to_string() == b.to_string(),
    }
}
